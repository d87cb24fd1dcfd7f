//! What is told of a server beside its figures: its runtime, how it reads JSON, how old its library is.

use super::*;

const RUNTIME: &str = "[runtime]\nname = \"Go\"\nmatches = 'go(\\d\\S*)'\n\n[supports]";

/// The manifest with a runtime that the version's command tells.
fn with_runtime() -> String {
    GOOD.replace("[supports]", RUNTIME)
}

fn runtime(manifest: &Manifest, variant: &str) -> (String, Vec<String>) {
    let runtime = manifest.variant(variant).unwrap().runtime.clone().unwrap();
    (runtime.name, runtime.receipt.command)
}

#[test]
fn a_runtime_is_told_by_the_command_of_the_version_or_by_its_own() {
    assert!(parse(GOOD).unwrap().variants[0].runtime.is_none());
    let told = parse(&with_runtime()).unwrap();
    let go = |command: &[&str]| {
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        ("Go".to_owned(), command)
    };
    assert_eq!(runtime(&told, "single"), go(&["{bin}/x", "-version"]));
    let own = with_runtime().replace(
        "name = \"Go\"\n",
        "name = \"Go\"\ncommand = [\"go\", \"version\", \"{bin}/x\"]\n",
    );
    let own = parse(&own).unwrap();
    let asked = go(&["go", "version", "{bin}/x"]);
    assert_eq!(
        (runtime(&own, "single"), runtime(&own, "clustered")),
        (asked.clone(), asked)
    );
}

#[test]
fn a_variant_has_its_own_runtime_or_its_own_command_of_the_version() {
    let variant = |key: &str| {
        let text = with_runtime().replace("multi-process = true", key);
        runtime(&parse(&text).unwrap(), "clustered")
    };
    let (name, command) = variant("version = { command = [\"y\"], matches = 'v(.)' }");
    assert_eq!((name.as_str(), command), ("Go", vec!["y".to_owned()]));
    let (name, command) = variant("runtime = { name = \"TinyGo\", matches = '(.)' }");
    assert_eq!(name, "TinyGo");
    assert_eq!(command, ["{bin}/x", "-version"]);
}

#[test]
fn a_runtime_needs_a_name_a_version_and_known_keys() {
    let problem = |old, new| only_problem(&with_runtime(), old, new);
    assert_eq!(
        problem("name = \"Go\"", "name = \" \""),
        "29:8: a runtime needs a name"
    );
    assert!(problem("'go(\\d\\S*)'", "'go'").starts_with("30:11: group 1 is the version"));
    assert_eq!(
        problem("matches = 'go(", "match = 'go("),
        "30:1: unknown key \"match\"; did you mean \"matches\"?"
    );
    assert!(problem("matches = 'go(\\d\\S*)'\n", "").contains("missing key \"matches\""));
    assert!(
        problem("name = \"Go\"", "name = \"Go\"\ncommand = [\"{port}\"]")
            .contains("{port} has no value before the server is started")
    );
    assert!(
        problem("[runtime]", "[runtme]")
            .ends_with("unknown key \"runtme\"; did you mean \"runtime\"?")
    );
}

#[test]
fn a_server_that_reads_text_may_say_how() {
    assert_eq!(parse(GOOD).unwrap().json, Some(JsonReading::Tree));
    let without = GOOD.replace("json = \"tree\"\n", "\n");
    assert_eq!(parse(&without).unwrap().json, None);
    assert_eq!(
        only_problem(GOOD, "json = \"tree\"", "json = \"trea\""),
        "8:8: unknown value \"trea\"; did you mean \"tree\"?"
    );
    assert_eq!(
        only_problem(GOOD, "json = \"tree\"", "jsn = \"tree\""),
        "8:1: unknown key \"jsn\"; did you mean \"json\"?"
    );
    let binary = GOOD
        .replace(
            "dialects = [\"text\", \"binary\"]",
            "dialects = [\"binary\"]",
        )
        .replace("dialects = [\"text\"]", "dialects = [\"binary\"]");
    assert_eq!(
        only_problem(&binary, "path = \"/ws\"", "path = \"/ws\""),
        "8:8: no variant has a dialect of text messages: leave \"json\" out"
    );
    assert_eq!(
        parse(&binary.replace("json = \"tree\"", "")).unwrap().json,
        None
    );
}

#[test]
fn the_age_of_a_version_is_a_year_with_or_without_a_reason() {
    let with = |lines: &str| GOOD.replace("json = \"tree\"", &format!("json = \"tree\"\n{lines}"));
    let manifest = parse(&with("released = 2022\nold-because = \"Debian 12's\"")).unwrap();
    assert_eq!(manifest.released, Some(2022));
    assert_eq!(manifest.old_because.as_deref(), Some("Debian 12's"));
    assert_eq!(parse(&with("released = 2022")).unwrap().old_because, None);
    let problem = |lines: &str| {
        let problems = parse(&with(lines)).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems[0].replace("servers/go-example/server.toml:", "")
    };
    assert_eq!(
        problem("released = 22"),
        "9:12: released is a year, from 2000 to 2100"
    );
    assert!(problem("released = \"2022\"").starts_with("9:12: invalid type"));
    assert_eq!(
        problem("old-because = \"Debian's\""),
        "9:15: \"old-because\" explains a year: give \"released\", too"
    );
    assert_eq!(
        problem("released = 2022\nold-because = \" \""),
        "10:15: \"old-because\" needs a reason"
    );
    assert_eq!(
        problem("release = 2022"),
        "9:1: unknown key \"release\"; did you mean \"released\"?"
    );
    assert_eq!(
        problem("released = 2022\nold_because = \"x\""),
        "10:1: unknown key \"old_because\"; did you mean \"old-because\"?"
    );
}
