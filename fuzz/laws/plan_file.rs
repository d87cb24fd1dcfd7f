//! Laws of plans in files: any text as a plan, and any `--set` over it.

use plan_file::{PlanFile, Set, printed};

/// Longest message that a mistake may cost, in bytes: a line on a terminal or a few.
const LONGEST: usize = 2_000;

/// The text of a file; behind a NUL each line is a `--set`.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (text, sets) = text.split_once('\0').unwrap_or((text, ""));
    let mut file = match PlanFile::parse("p.toml", text, "/") {
        Ok(file) => file,
        Err(error) => return assert_words(&error.to_string(), "p.toml"),
    };
    for line in sets.lines() {
        let Ok(set) = line.parse::<Set>() else {
            continue;
        };
        if let Err(error) = file.set(&set) {
            return assert_words(&error.to_string(), "--set");
        }
    }
    let plan = match file.plan() {
        Ok(plan) => plan,
        Err(error) => return assert_words(&error.to_string(), "p.toml"),
    };
    if plan.validate().is_err() {
        return;
    }
    // TOML has no numbers beyond 63 bits.
    let Ok(first) = printed(&plan, file.given(&plan)) else {
        return;
    };
    let again =
        PlanFile::parse("again.toml", first.as_str(), "/").expect("what is printed is read");
    let plan_again = again.plan().expect("nothing is missing");
    assert_eq!(plan_again, plan, "{first}");
    let second = printed(&plan_again, again.given(&plan_again));
    assert_eq!(second.expect("it was printed before"), first);
}

/// A message names its place, in a length and in characters that a terminal takes.
fn assert_words(words: &str, place: &str) {
    assert!(words.contains(place), "{words}");
    assert!(words.len() <= LONGEST, "{} bytes", words.len());
    assert!(
        !words.chars().any(|c| c.is_control() && c != '\n'),
        "{words:?}"
    );
}
