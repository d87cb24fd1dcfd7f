//! `mutants.toml` speaks of lines that are there. That each of its mutants survives, and no other, is
//! shown by `make mutants`.

use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Explained {
    #[serde(default)]
    survivor: Vec<Survivor>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Survivor {
    package: String,
    file: String,
    change: String,
    line: String,
    /// Which of several lines of the same text.
    #[serde(default = "first")]
    nth: usize,
    reason: String,
}

const fn first() -> usize {
    1
}

#[test]
fn each_explained_mutant_changes_a_line_that_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let explained = std::fs::read_to_string(root.join("mutants.toml")).unwrap();
    let explained: Explained = toml::from_str(&explained).unwrap();
    for survivor in &explained.survivor {
        let Survivor { file, line, .. } = survivor;
        assert!(
            file.starts_with(&format!("crates/{}/src/", survivor.package)),
            "{file} is not of {}",
            survivor.package
        );
        let source = std::fs::read_to_string(root.join(file)).unwrap();
        let found = source.lines().filter(|of| of.trim() == line).count();
        assert!(
            found > 0 && survivor.nth > 0,
            "{file} has no line `{line}` (the one whose mutant is: {})",
            survivor.change
        );
        // What the change replaces is in the line, unless it replaces a whole function.
        if let Some((from, _)) = survivor
            .change
            .strip_prefix("replace ")
            .and_then(|c| c.split_once(" with "))
            && !survivor.change.contains("->")
        {
            let from = from.strip_prefix("match guard ").unwrap_or(from);
            assert!(line.contains(from), "`{line}` has no `{from}`");
        }
        assert!(
            survivor.reason.len() > 20,
            "{file}: `{line}` without a reason"
        );
    }
    let mut names: Vec<_> = explained
        .survivor
        .iter()
        .map(|s| (&s.file, &s.change, &s.line, s.nth))
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names.len(),
        explained.survivor.len(),
        "one is explained twice"
    );
}
