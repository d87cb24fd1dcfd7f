use super::{Files, Line, compared, merged};
use plan::Dialect;
use project::manifest::Manifest;
use record::{CheckOutcome, CheckVerdict, Conformance};
use std::path::Path;

const ECHO: &str = "rfc6455-5.5.1-close-echo";

fn manifest(name: &str) -> Manifest {
    let text = format!(
        "manifest = 1\nname = \"{name}\"\nlanguage = \"L\"\nlibrary = \"l\"\n\
         homepage = \"h\"\nclass = \"idiomatic\"\nsummary = \"s\"\njson = \"tree\"\n\
         [run]\ncommand = [\"x\"]\npath = \"/\"\n\
         [version]\ncommand = [\"x\"]\nmatches = '(.)'\n\
         [supports]\ndialects = [\"text\", \"binary\"]\nworkloads = [\"broadcast\"]\n\
         [[variant]]\nname = \"one\"\n[[variant]]\nname = \"two\"\n"
    );
    Manifest::parse(&text, Path::new("server.toml"), name).unwrap()
}

fn outcome(id: &str, dialect: Dialect, verdict: CheckVerdict) -> CheckOutcome {
    CheckOutcome {
        id: id.into(),
        section: "RFC 6455".into(),
        dialect: Some(dialect),
        verdict,
        detail: (verdict != CheckVerdict::Pass).then(|| "the library | cannot".into()),
        link: Some("https://example.org/".into()),
    }
}

fn line(server: &str, variant: &str, binary: CheckVerdict) -> Line {
    let conformance = Conformance {
        checked: None,
        checks: vec![
            outcome(ECHO, Dialect::Text, CheckVerdict::Pass),
            outcome(ECHO, Dialect::Binary, binary),
        ],
    };
    Line::new(
        &manifest(server),
        variant,
        "1.0",
        "2026-01-02",
        &conformance,
    )
}

#[test]
fn a_check_shows_the_worst_of_its_dialects() {
    assert!(line("a", "one", CheckVerdict::Pass).passed.contains(ECHO));
    let skipped = line("a", "one", CheckVerdict::Skipped);
    assert!(skipped.passed.contains(ECHO) && skipped.skipped.is_empty());
    let waived = line("a", "one", CheckVerdict::Waived);
    assert_eq!(waived.waived[0].reason, "the library | cannot");
    assert!(waived.passed.is_empty());
    assert_eq!(line("a", "one", CheckVerdict::Fail).failed.len(), 1);
}

#[test]
fn fresh_lines_replace_their_own_and_lines_of_no_server_go() {
    let stored = vec![
        line("a", "one", CheckVerdict::Pass),
        line("b", "two", CheckVerdict::Pass),
        line("gone", "one", CheckVerdict::Pass),
    ];
    let fresh = vec![
        line("b", "two", CheckVerdict::Fail),
        line("b", "one", CheckVerdict::Pass),
    ];
    let lines = merged(stored, fresh, &[("a", "one"), ("b", "one"), ("b", "two")]);
    let names: Vec<String> = lines.iter().map(Line::name).collect();
    assert_eq!(names, ["a (one)", "b (one)", "b (two)"]);
    assert_eq!(lines[2].failed.len(), 1);
}

#[test]
fn drift_is_told_by_server_and_check_and_versions_may_move() {
    let stored = [
        line("a", "one", CheckVerdict::Pass),
        line("gone", "one", CheckVerdict::Pass),
    ];
    let mut newer = line("a", "one", CheckVerdict::Pass);
    newer.version = "2.0".into();
    newer.date = "2027-01-01".into();
    let found = compared(&stored[..1], &[newer], &[("a", "one")]);
    assert!(found.drift.is_empty() && found.unknown.is_empty());
    let fresh = [line("a", "one", CheckVerdict::Fail)];
    assert_eq!(
        compared(&stored, &fresh, &[("a", "one"), ("a", "two")]).drift,
        [
            format!("a (one): {ECHO}: passed in the table, failed now"),
            "gone (one): a line of no server".into(),
            "a (two): no line in the table".into(),
        ]
    );
}

#[test]
fn a_server_without_any_line_is_new_and_no_drift() {
    let stored = [line("a", "one", CheckVerdict::Pass)];
    let fresh = [line("b", "one", CheckVerdict::Pass)];
    let all = [("a", "one"), ("b", "one"), ("b", "two")];
    let found = compared(&stored, &fresh, &all);
    assert_eq!(found.drift, [""; 0]);
    assert_eq!(found.unknown, ["b"]);
}

#[test]
fn the_page_is_made_from_the_lines_and_changes_with_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("docs")).unwrap();
    let files = Files::new(folder.path());
    assert!(files.read().unwrap().is_empty());
    let lines = vec![
        line("a", "one", CheckVerdict::Waived),
        line("a", "two", CheckVerdict::Waived),
        line("b", "one", CheckVerdict::Fail),
    ];
    files.write(&lines).unwrap();
    assert_eq!(files.read().unwrap(), lines);
    assert!(files.page_is_current(&lines));
    assert!(!files.page_is_current(&lines[..1]));
    let page = std::fs::read_to_string(&files.page).unwrap();
    assert!(page.contains("| A | a | one, two | l | 1.0 |"), "{page}");
    assert!(
        page.contains(&format!("| {ECHO} | \\[1\\] | ✗ |")),
        "{page}"
    );
    assert!(
        page.contains("1. a, rfc6455-5.5.1-close-echo: the library \\| cannot"),
        "{page}"
    );
}

#[test]
fn a_broken_line_is_named_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("docs")).unwrap();
    let files = Files::new(folder.path());
    std::fs::write(&files.lines, "{}\n").unwrap();
    let error = files.read().unwrap_err().to_string();
    assert!(
        error.contains("conformance.jsonl, line 1: missing field"),
        "{error}"
    );
}
