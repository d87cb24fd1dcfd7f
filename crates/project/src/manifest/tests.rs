//! Each way in which a manifest can be wrong gives one line with its place and the remedy.

use super::*;

mod about;
mod nodes;
mod starts;

const GOOD: &str = r#"manifest = 1
name = "go-example"
language = "Go"
library = "example/websocket"
homepage = "https://example.org"
class = "idiomatic"
summary = "An example."
json = "tree"
[[requires]]
what = "a shell"
probe = ["sh", "-c", "echo shell 1.2"]
matches = 'shell 1\.[0-9]'
debian = ["dash"]

[[build]]
run = ["make", "-C", "{dir}", "OUT={bin}/x"]

[run]
command = ["{bin}/x", "-p", "{port}"]
env = { THREADS = "{threads}" }
path = "/ws"
ready-timeout = "3s"

[version]
command = ["{bin}/x", "-version"]
matches = 'v(\S+)'

[supports]
dialects = ["text", "binary"]
workloads = ["echo", "broadcast"]

[[variant]]
name = "single"

[[variant]]
name = "clustered"
args = ["--cluster"]
env = { MORE = "1" }
multi-process = true
compression = true
dialects = ["text"]
"#;

fn parse(text: &str) -> Result<Manifest, Vec<String>> {
    Manifest::parse(
        text,
        Path::new("servers/go-example/server.toml"),
        "go-example",
    )
    .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// The manifest with `old` replaced by `new`; its only problem.
fn problem(old: &str, new: &str) -> String {
    problem_in(GOOD, old, new)
}

/// The same of another manifest.
fn problem_in(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old} is not in the example");
    let problems = parse(&text.replacen(old, new, 1)).expect_err("the manifest is wrong");
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].clone()
}

/// The same without the name of the file.
fn only_problem(text: &str, old: &str, new: &str) -> String {
    let problem = problem_in(text, old, new);
    let place = problem.trim_start_matches("servers/go-example/server.toml:");
    place.to_owned()
}

#[test]
fn variants_inherit_from_run_and_supports() {
    let manifest = parse(GOOD).unwrap();
    let clustered = manifest.variant("clustered").unwrap();
    assert_eq!(clustered.command, ["{bin}/x", "-p", "{port}", "--cluster"]);
    assert_eq!(clustered.env.len(), 2);
    assert_eq!(clustered.dialects, [Dialect::Text]);
    assert_eq!(clustered.path, "/ws");
    assert!(clustered.multi_process);
    assert!(clustered.compression && !manifest.variants[0].compression);
    assert_eq!(manifest.variant("single").unwrap().dialects.len(), 2);
    assert_eq!(manifest.ready_timeout, Duration::from_secs(3));
    assert_eq!(manifest.grace, Duration::from_secs(5));
}

#[test]
fn without_variants_there_is_a_default_one() {
    let text = GOOD.split("[[variant]]").next().unwrap();
    assert_eq!(parse(text).unwrap().variants[0].name, DEFAULT_VARIANT);
}

#[test]
fn typos_in_keys_name_the_nearest_key_and_the_place() {
    let prefix = "servers/go-example/server.toml:";
    assert_eq!(
        problem("summary =", "sumary ="),
        format!("{prefix}7:1: unknown key \"sumary\"; did you mean \"summary\"?")
    );
    assert_eq!(
        problem("ready-timeout", "ready_timeout"),
        format!("{prefix}22:1: unknown key \"ready_timeout\"; did you mean \"ready-timeout\"?")
    );
    let table = problem("[[variant]]", "[[varient]]");
    assert!(
        table.ends_with("unknown key \"varient\"; did you mean \"variant\"?")
            && table.contains(":32:"),
        "{table}"
    );
}

#[test]
fn wrong_values_name_their_place() {
    for (old, new, expected) in [
        (
            "name = \"go-example\"",
            "name = \"go-exmaple\"",
            "2:8: the name \"go-exmaple\" is not the folder's",
        ),
        (
            "manifest = 1",
            "manifest = 2",
            "1:12: manifest version 2 is not known",
        ),
        (
            "\"idiomatic\"",
            "\"idiomtic\"",
            "6:9: unknown value \"idiomtic\"; did you mean \"idiomatic\"?",
        ),
        (
            "summary = \"An example.\"",
            "summary = \"An example.\"\nquick-seconds = 0",
            "8:17: quick-seconds is from 1 to 3600",
        ),
        (
            "path = \"/ws\"",
            "path = 7",
            "21:8: invalid type: integer `7`, expected a string",
        ),
        ("path = \"/ws\"", "path = \"ws\"", "21:8: \"ws\" is no path"),
        (
            "\"3s\"",
            "\"3 parsecs\"",
            "22:17: \"3 parsecs\" is no duration",
        ),
        (
            "'v(\\S+)'",
            "'v(\\S+'",
            "26:11: not a regular expression: unclosed group",
        ),
        ("'v(\\S+)'", "'v'", "26:11: group 1 is the version"),
        (
            "\"-p\", \"{port}\"",
            "\"-p\", \"{prot}\"",
            "19:29: unknown placeholder \"prot\"; did you mean \"port\"?",
        ),
        (
            "OUT={bin}/x",
            "OUT={bin}/{port}",
            "16:31: {port} has no value before the server is started",
        ),
        (
            "name = \"clustered\"",
            "name = \"single\"",
            "36:8: a second variant named \"single\"",
        ),
        (
            "name = \"clustered\"",
            "name = \"../x\"",
            "36:8: \"../x\" is no variant name",
        ),
        (
            "debian = [\"dash\"]",
            "",
            "10:8: a requirement says how to get it",
        ),
        (
            "debian = [\"dash\"]",
            "debian = [\"dash; rm\"]",
            "13:11: \"dash; rm\" is not a Debian package name",
        ),
        (
            "dialects = [\"text\", \"binary\"]",
            "dialects = []",
            "29:12: name at least one",
        ),
        (
            "command = [\"{bin}/x\", \"-p\", \"{port}\"]",
            "command = []",
            "19:11: a command needs a program",
        ),
    ] {
        let found = problem(old, new);
        assert!(
            found.starts_with(&format!("servers/go-example/server.toml:{expected}")),
            "{new}: {found}"
        );
    }
}

#[test]
fn missing_keys_and_broken_syntax_are_named() {
    assert!(problem("language = \"Go\"\n", "").contains("missing key \"language\""));
    assert!(problem("[run]", "[run").starts_with("servers/go-example/server.toml:18:"));
}

#[test]
fn waivers_name_a_check_and_a_variant_that_exist() {
    let id = conformance::check_ids()[0];
    let waiver = |check: &str, variant: &str| {
        format!(
            "{GOOD}\n[[waiver]]\ncheck = \"{check}\"\nvariants = [\"{variant}\"]\nreason = \"why\"\n"
        )
    };
    let manifest = parse(&waiver(id, "single")).unwrap();
    assert!(manifest.waivers[0].covers(id, "single"));
    assert!(!manifest.waivers[0].covers(id, "clustered"));
    let unknown = parse(&waiver(&format!("{id}x"), "single")).unwrap_err();
    assert!(
        unknown[0].contains(&format!("unknown check \"{id}x\"; did you mean \"{id}\"?")),
        "{unknown:?}"
    );
    let unknown = parse(&waiver(id, "cluster")).unwrap_err();
    assert!(
        unknown[0].contains("unknown variant \"cluster\"; did you mean \"clustered\"?"),
        "{unknown:?}"
    );
}

#[test]
fn all_wrong_values_are_told_at_once() {
    let text = GOOD
        .replace("\"3s\"", "\"soon\"")
        .replace("\"/ws\"", "\"ws\"");
    assert_eq!(parse(&text).unwrap_err().len(), 2);
}
