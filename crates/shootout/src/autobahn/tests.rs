use super::{SUITE_VERSION, sections, store, tally};
use board::autobahn::summaries;
use record::{AutobahnRecord, ServerIdentity};

fn record() -> AutobahnRecord {
    let server = ServerIdentity {
        name: "go-example".into(),
        variant: "default".into(),
        variant_summary: None,
        language: "Go".into(),
        library: "example".into(),
        homepage: "https://example.org/".into(),
        class: "idiomatic".into(),
        library_version: Some("1.2.3".into()),
        runtime: None,
        json: None,
        released: None,
        old_because: None,
    };
    AutobahnRecord::new(
        server,
        SUITE_VERSION,
        sections(false),
        "2026-01-01T00:00:00Z".into(),
    )
}

const INDEX: &str = r#"{"server": {
    "10.1.1": {"behavior": "OK", "behaviorClose": "OK", "duration": 1, "remoteCloseCode": 1000},
    "6.4.1": {"behavior": "NON-STRICT", "behaviorClose": "OK", "duration": 1},
    "7.7.1": {"behavior": "INFORMATIONAL", "behaviorClose": "INFORMATIONAL"},
    "9.1.1": {"behavior": "UNIMPLEMENTED", "behaviorClose": "OK"},
    "13.3.1": {"behavior": "UNIMPLEMENTED", "behaviorClose": "OK"},
    "2.10": {"behavior": "FAILED", "behaviorClose": "OK"},
    "2.9": {"behavior": "OK", "behaviorClose": "WRONG CODE"}
}}"#;

#[test]
fn every_case_is_counted_once_and_a_bad_close_is_a_failure() {
    let mut record = record();
    tally::count(INDEX, "server", &mut record).unwrap();
    assert_eq!(
        record.tally(),
        "1 of 7 ok, 1 non-strict, 2 informational, 3 failed"
    );
    let failed: Vec<&str> = record.failed.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(failed, ["2.9", "2.10", "9.1.1"]);
}

#[test]
fn a_report_about_another_server_or_no_report_is_refused() {
    let mut record = record();
    for index in [r#"{"other": {}}"#, "{}", "", r#"{"server": {"1.1": 3}}"#] {
        assert!(
            tally::count(index, "server", &mut record).is_err(),
            "{index}"
        );
    }
    assert_eq!(record.cases, 0);
}

#[test]
fn a_summary_is_read_as_it_was_stored_and_a_foreign_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut record = record();
    tally::count(INDEX, "server", &mut record).unwrap();
    store(folder.path(), &record).unwrap();
    std::fs::write(folder.path().join("other.json"), "{}").unwrap();
    let mut warnings = Vec::new();
    let read = summaries(folder.path(), &mut |warning| warnings.push(warning));
    assert_eq!(read, [record]);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("other.json"), "{warnings:?}");
}

#[test]
fn the_suite_that_is_named_is_the_one_that_is_pinned() {
    let pinned = format!("autobahntestsuite=={SUITE_VERSION}\n");
    assert!(include_str!("requirements.txt").contains(&pinned));
}
