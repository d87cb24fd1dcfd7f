//! Tables and files.

use super::fixture::{measured, unmeasured, waived};
use super::*;
use record::{AutobahnCase, End, Json, JsonReading, Measurement, Status, VERSION};

fn save(dir: &Path, name: &str, measurement: &Measurement) {
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join(name), measurement.to_json().unwrap()).unwrap();
}

fn report(dirs: &[PathBuf], out: &Path) -> (Result<ReportSummary, ReportError>, String, String) {
    let (html, markdown) = (out.join("report.html"), out.join("report.md"));
    let summary = write(dirs, &[autobahn()], &html, &markdown);
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    (summary, read(html), read(markdown))
}

#[test]
fn the_text_table_is_aligned_and_its_notes_are_numbered() {
    let text = text::table(&[
        waived(
            measured("alpha", 4, 9_000, End::OverLimit),
            "close-echo",
            "answers without a code",
        ),
        measured("beta-longer-name", 3, 120, End::MachineLimit),
        unmeasured("gamma", Status::BuildFailed, "make\x1b[31m failed"),
    ]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "broadcast over JSON: clients with 95 percent of broadcasts at their last listener within \
         500 ms (2 of 3 rows ok)"
    );
    let column = |title: &str| lines[1].find(title).unwrap();
    for line in &lines[2..5] {
        let server: Vec<char> = line.chars().collect();
        assert_eq!(server[column("server") - 1], ' ');
        assert_ne!(server[column("server")], ' ');
        assert_ne!(server[column("status")], ' ');
    }
    assert!(lines[2].starts_with("1  beta-longer-name") && lines[2].ends_with("ok [1]"));
    assert!(
        lines[2].contains(" ≥ 3,000 ") && lines[2].contains(" 357 µs "),
        "{text}"
    );
    assert!(lines[3].starts_with("2  alpha") && lines[3].ends_with("ok [2]"));
    assert!(
        lines[3].contains("   3,000 ") && lines[3].contains(" 26.7 ms "),
        "{text}"
    );
    assert!(lines[4].starts_with("–  gamma") && lines[4].ends_with("build-failed [3]"));
    assert_eq!(
        lines[6],
        "[2] check close-echo (RFC 6455, 5.5.1) waived: answers without a code \
         <https://example.org/why>"
    );
    assert_eq!(
        lines[5],
        "[1] no more than 20,000 open files; raise it with ulimit -n"
    );
    assert_eq!(lines[7], "[3] gamma: build-failed: make\\u{1b}[31m failed");
}

#[test]
fn a_percentile_above_the_limit_that_a_row_kept_says_whose_it_is() {
    // The step was over the limit of 500 ms at first and within it when it was tried again.
    let mut twice = measured("alpha", 3, 9_000, End::StepsDone);
    let over = measured("alpha", 3, 300_000, End::OverLimit).run.unwrap();
    let run = twice.run.as_mut().unwrap();
    run.steps.insert(2, over.steps[2].clone());
    run.outcome.carried_clients = Some(3_000);
    let note = "alpha: the p95 of 728 ms is above the limit of 500 ms, since it is that of all 2 measurements \
                with 3,000 clients, of which 1 kept the limit";
    let text = text::table(&[twice]);
    assert!(text.contains(note), "{text}");
    let within = text::table(&[measured("alpha", 3, 9_000, End::StepsDone)]);
    assert!(!within.contains("above the limit of"), "{within}");
}

#[test]
fn other_steps_are_noted_and_keep_no_row_from_being_compared() {
    let mut small = measured("small", 3, 9_000, End::OverLimit);
    if let Some(run) = &mut small.run {
        run.plan.clients = plan::Clients::steps(100, 100, Some(40));
    }
    let large = |name| measured(name, 3, 9_000, End::OverLimit);
    let text = text::table(&[small.clone(), large("large"), large("other")]);
    let note = "measured with 100 clients and 100 more each step, where the other rows have 1,000 \
                and 1,000";
    assert_eq!(text.matches(note).count(), 1, "{text}");
    let row = text.lines().find(|line| line.contains("small")).unwrap();
    assert!(row.ends_with("ok [1]"), "{text}");
    assert!(!text.contains("different plans"), "{text}");
    assert!(!text::table(&[small.clone()]).contains(note));
    let mut padded = small;
    if let Some(run) = &mut padded.run {
        run.plan.message.padding = 7;
    }
    assert!(text::table(&[padded, large("large")]).contains("different plans"));
}

#[test]
fn a_chart_is_as_high_as_the_labels_of_its_curves() {
    let dir = tempfile::tempdir().unwrap();
    let heights = |rows: u64| {
        let run = dir.path().join(format!("run-{rows}"));
        for row in 0..rows {
            let measurement = measured(&format!("row-{row}"), 3, 9_000, End::OverLimit);
            save(&run, &format!("{row}.json"), &measurement);
        }
        let (_, html, _) = report(&[run], dir.path());
        (html.contains("0 0 780 430"), html.contains("0 0 780 536"))
    };
    assert_eq!(heights(4), (true, false));
    assert_eq!(heights(30), (false, true));
}

#[test]
fn markdown_shows_every_text_as_it_is() {
    let mut odd = measured("a|b_<c>", 3, 9_000, End::OverLimit);
    odd.server.library_version = Some("*1*\n2".into());
    let text = markdown::table(&[odd]);
    assert!(
        text.contains("| a\\|b\\_&lt;c&gt; | default | \\*1\\* 2 |"),
        "{text}"
    );
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(table.len() == 3 && table.iter().all(|line| columns(line) == columns(table[0])));
}

#[test]
fn what_runs_a_row_and_how_it_reads_json_are_columns_where_a_record_has_them() {
    let before = || measured("beta", 3, 9_000, End::OverLimit);
    let titles = |all: &[Measurement]| {
        let text = markdown::table(all);
        let head = text.lines().find(|line| line.starts_with("| # |"));
        head.unwrap().to_owned()
    };
    assert!(titles(&[before()]).contains("| version | clients |"));
    let mut told = measured("alpha", 3, 9_000, End::OverLimit);
    told.server.runtime = Some("Go 1.26.8".into());
    told.server.json = Some(JsonReading::Sax);
    let both = [told.clone(), before()];
    assert!(titles(&both).contains("| version | runtime | JSON | clients |"));
    let text = markdown::table(&both);
    assert!(
        text.contains("| alpha | default | 1.2.3 | Go 1.26.8 | sax |"),
        "{text}"
    );
    assert!(
        text.contains("| beta | default | 1.2.3 | – | – |"),
        "{text}"
    );
    let html = |all: &[Measurement]| {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("run");
        for one in all {
            save(&dir, &format!("{}.json", one.server.name), one);
        }
        report(&[dir], scratch.path()).1
    };
    assert!(html(&both).contains("Go 1.26.8"));
    // No message of the binary dialect is JSON.
    let binary = |mut one: Measurement| {
        one.dialect = plan::Dialect::Binary;
        one
    };
    assert!(titles(&both.map(binary)).contains("| version | runtime | clients |"));
}

#[test]
fn an_old_version_has_its_year_and_a_note_with_the_reason() {
    let mut old = measured("alpha", 3, 9_000, End::OverLimit);
    old.server.released = Some(2023);
    assert!(markdown::table(&[old.clone()]).contains("| 1.2.3 (2023) |"));
    old.server.old_because = Some("Debian 12 has no newer one".into());
    let text = markdown::table(&[old.clone()]);
    let note = "libalpha 1.2.3 is of 2023: Debian 12 has no newer one";
    assert!(
        text.contains("| 1.2.3 (2023) |") && text.contains(note),
        "{text}"
    );
    old.started = "2025-12-31T23:59:59Z".into();
    let text = markdown::table(&[old]);
    assert!(text.contains("| 1.2.3 |") && !text.contains(note), "{text}");
}

#[test]
fn several_directories_are_several_runs_the_newest_first() {
    let scratch = tempfile::tempdir().unwrap();
    let (old, new) = (
        scratch.path().join("old-run"),
        scratch.path().join("new-run"),
    );
    save(&old, "a.json", &measured("alpha", 3, 9_000, End::OverLimit));
    let mut later = measured("alpha", 5, 9_000, End::OverLimit);
    later.started = "2026-02-02T03:04:05Z".into();
    save(&new, "a.json", &later);
    let (summary, html, markdown) = report(&[old, new], scratch.path());
    let summary = summary.unwrap();
    assert_eq!((summary.runs, summary.measurements), (2, 2));
    assert!(summary.headlines[0].contains("alpha carried 4,000 clients"));
    assert!(markdown.find("Run new-run").unwrap() < markdown.find("Run old-run").unwrap());
    assert!(html.contains("alpha · new-run") && html.contains("alpha · old-run"));
}

#[test]
fn files_that_are_no_measurement_are_named_and_harm_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("run");
    save(
        &dir,
        "good.json",
        &measured("alpha", 3, 9_000, End::OverLimit),
    );
    let mut newer = measured("beta", 3, 9_000, End::OverLimit);
    newer.version = VERSION + 1;
    save(&dir, "newer.json", &newer);
    let mut corrupt = measured("delta", 3, 9_000, End::OverLimit);
    let step = &mut corrupt.run.as_mut().unwrap().steps[0];
    step.completion.as_mut().unwrap().histogram = "AAAA".into();
    save(&dir, "corrupt.json", &corrupt);
    for (name, text) in [
        ("session.json", "not even JSON"),
        (
            "run.json",
            r#"{"format":"websocket-shootout/run","version":1}"#,
        ),
        ("package.json", r#"{"name":"<i>foreign</i>"}"#),
        (
            "torn.json",
            r#"{"format":"websocket-shootout/measurement","vers"#,
        ),
        ("other.json", r#"{"format":"someone/else","version":1}"#),
        ("notes.txt", "text"),
    ] {
        fs::write(dir.join(name), text).unwrap();
    }
    let (summary, html, markdown) = report(&[dir], scratch.path());
    let summary = summary.unwrap();
    assert_eq!(summary.measurements, 1);
    let named: Vec<&str> = summary
        .warnings
        .iter()
        .map(|warning| {
            warning
                .split("run/")
                .nth(1)
                .unwrap()
                .split(':')
                .next()
                .unwrap()
        })
        .collect();
    assert_eq!(
        named,
        [
            "corrupt.json",
            "newer.json",
            "other.json",
            "package.json",
            "torn.json"
        ]
    );
    assert!(
        summary.warnings[1].contains("newer shootout (format version 3, this one reads up to 2)")
    );
    for name in named {
        assert!(html.contains(name) && markdown.contains(name));
    }
}

#[test]
fn what_cannot_be_reported_names_thing_and_remedy() {
    let scratch = tempfile::tempdir().unwrap();
    let missing = scratch.path().join("missing");
    let (none, ..) = report(&[missing], scratch.path());
    assert!(matches!(none, Err(ReportError::UnreadableDirectory { .. })));
    let empty = scratch.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let (nothing, ..) = report(std::slice::from_ref(&empty), scratch.path());
    let message = nothing.unwrap_err().to_string();
    assert!(message.contains("empty: no measurement") && message.contains("shootout run"));
    save(
        &empty,
        "a.json",
        &measured("alpha", 3, 9_000, End::OverLimit),
    );
    let nowhere = scratch.path().join("no-such-directory");
    let (unwritable, ..) = report(&[empty], &nowhere);
    assert!(matches!(unwritable, Err(ReportError::Unwritable { .. })));
}

#[test]
fn rows_of_different_plans_are_not_passed_off_as_comparable() {
    let mut quick = measured("alpha", 3, 9_000, End::OverLimit);
    let other = measured("beta", 3, 9_000, End::OverLimit);
    let remark = "measured under different plans";
    assert!(!text::table(&[quick.clone(), other.clone()]).contains(remark));
    quick.run.as_mut().unwrap().plan.load = plan::Load::closed(4, 20);
    let both = [quick, other];
    assert!(text::table(&both).contains(remark));
    assert!(markdown::table(&both).contains(remark));
}

#[test]
fn figures_that_are_partly_of_broken_steps_say_so() {
    let repetitions = [4, 5, 6].map(|steps| measured("alpha", steps, 9_000, End::OverLimit));
    let text = text::table(&repetitions);
    assert!(text.contains("4,000 (3,000–5,000)"), "{text}");
    assert!(
        text.contains("at 4,000 clients are those of 3 repetitions together, 1 of which did not"),
        "{text}"
    );
}

#[test]
fn what_autobahn_said_of_the_reports_servers_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("run");
    save(
        &results,
        "alpha.json",
        &measured("alpha", 3, 9_000, End::OverLimit),
    );
    let (summary, html, markdown) = report(&[results], folder.path());
    summary.unwrap();
    assert!(html.contains("6.4.1 (failed)"));
    assert!(
        markdown.contains("1 of 2 ok, 0 non-strict, 0 informational, 1 failed"),
        "{markdown}"
    );
    let others = folder.path().join("others");
    save(
        &others,
        "beta.json",
        &measured("beta", 3, 9_000, End::OverLimit),
    );
    let (_, html, markdown) = report(&[others], folder.path());
    assert!(!html.contains("Autobahn") && !markdown.contains("Autobahn"));
}

/// A summary of a server of the fixture.
fn autobahn() -> AutobahnRecord {
    let mut summary = AutobahnRecord::new(
        unmeasured("alpha", Status::Ok, "").server,
        "25.10.1",
        &["6.*"],
        "2026-01-02T03:04:05Z".into(),
    );
    for (id, behavior) in [("6.1.1", "OK"), ("6.4.1", "FAILED")] {
        summary.count(AutobahnCase {
            id: id.into(),
            behavior: behavior.into(),
            behavior_close: "OK".into(),
        });
    }
    summary
}

#[test]
fn intervals_and_shared_places_are_shown_with_their_rule() {
    let rows = |name: &str, us: [u64; 5]| -> Vec<Measurement> {
        (1..)
            .zip(us)
            .map(|(number, us)| {
                let steps = 3 + us % 2;
                super::fixture::repeated(measured(name, steps, us, End::OverLimit), number)
            })
            .collect()
    };
    let mut all = rows("alpha", [9_000, 9_201, 9_400, 9_601, 9_801]);
    all.extend(rows("beta", [9_100, 9_301, 9_500, 9_701, 9_800]));
    let text = text::table(&all);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[2].starts_with("1–2  alpha") && lines[3].starts_with("1–2  beta"),
        "{text}"
    );
    assert!(lines[2].contains(" 3,000 (2,000–3,000) "), "{text}");
    assert!(lines[3].contains(" 2,000 (2,000–3,000) "), "{text}");
    assert_eq!(
        text.matches("rows that share places are not told apart")
            .count(),
        1
    );
    let markdown = markdown::table(&all);
    assert!(
        markdown
            .contains("beta follows with 2,000, which the repetitions do not tell apart from it"),
        "{markdown}"
    );
    let same = rows("gamma", [9_000, 9_200, 9_400, 9_600, 9_800]);
    let text = text::table(&same);
    assert!(
        text.contains(" 2,000  ") && text.contains(" ms ("),
        "{text}"
    );
}
