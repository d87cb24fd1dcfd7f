//! Rows that lose messages in ways that are known: tables, sentences and pictures.

use super::failures::{chart, sentences, timetable};
use super::fixture::repeated;
use super::fixture_under::under;
use super::fixture_watched::{Fails, failing, plan};
use super::*;
use plan::{Measure, Nanos};
use record::Json;

fn three() -> Vec<Measurement> {
    let plan = plan();
    vec![
        failing(&plan, "loses", Fails::Silently, 6_000),
        failing(&plan, "cuts", Fails::Cutting, 6_000),
        failing(&plan, "resumes", Fails::Resuming, 6_000),
    ]
}

/// The cells of the rows of a Markdown table by their titles, in the order of the rows.
fn cells(measurements: &[Measurement], titles: &[&str]) -> Vec<Vec<String>> {
    let text = markdown::table(measurements);
    let lines = text.lines().filter(|line| line.starts_with('|'));
    let mut lines = lines.map(|line| {
        let cells = line.trim_matches('|').split(" | ");
        cells.map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    });
    let heads = lines.next().unwrap();
    let at = |title: &&str| {
        let found = heads.iter().position(|head| head == title);
        found.unwrap_or_else(|| panic!("{title}: {heads:?}"))
    };
    let wanted: Vec<usize> = titles.iter().map(at).collect();
    let rows = lines.skip(1);
    rows.map(|row| wanted.iter().map(|at| row[*at].clone()).collect())
        .collect()
}

#[test]
fn what_is_lost_ranks_and_every_kind_of_it_has_a_column() {
    assert_eq!(
        cells(
            &three(),
            &[
                "server",
                "delivered",
                "silent",
                "cut",
                "away",
                "joining",
                "made good"
            ]
        ),
        [
            ["resumes", "100 %", "0", "0", "0", "0", "1,500"],
            ["cuts", "99.59 %", "0", "0", "1,500", "100", "0"],
            ["loses", "99.25 %", "3,000", "0", "0", "0", "0"],
        ]
    );
    assert_eq!(
        cells(
            &three(),
            &["#", "clients", "sent", "confirmed", "again", "status"]
        ),
        [
            ["1", "200", "2,000", "1,995", "0", "ok"],
            ["2", "200", "2,000", "1,995", "0", "ok"],
            ["3", "200", "2,000", "2,000", "0", "ok"],
        ]
    );
}

#[test]
fn a_limit_is_not_held_against_messages_that_are_watched() {
    let plan = plan().with(|plan| plan.limits.of = Measure::Delivery);
    let slow = failing(&plan, "cuts", Fails::Cutting, 600_000);
    let text = text::table(&[slow]);
    assert!(!text.contains("above the limit"), "{text}");
}

#[test]
fn the_times_until_all_is_well_are_columns_and_so_is_the_claim() {
    // They are away until the part that ends at 10.4 s, and back in the one that ends at 10.5 s.
    assert_eq!(
        cells(
            &three(),
            &["half back", "all back", "whole again", "claim", "kept"]
        ),
        [
            ["490 ms", "490 ms", "none", "resumes", "keeps its claim"],
            [
                "490 ms",
                "490 ms",
                "590 ms",
                "at-most-once",
                "keeps its claim"
            ],
            [
                "none",
                "none",
                "590 ms",
                "at-least-once",
                "breaks it: 3,000 messages lost silently"
            ],
        ]
    );
}

#[test]
fn repetitions_are_added_up_and_one_that_breaks_the_claim_decides() {
    let plan = plan();
    let one = failing(&plan, "resumes", Fails::Resuming, 6_000);
    let mut other = repeated(one.clone(), 2);
    let step = &mut other.run.as_mut().unwrap().steps[0];
    step.watched.as_mut().unwrap().of_confirmed.lost_away = 500;
    assert_eq!(
        cells(
            &[one, other],
            &["delivered", "sent", "away", "made good", "kept"]
        ),
        [[
            "99.937 %",
            "4,000",
            "500",
            "3,000",
            "breaks it: 500 while clients were away"
        ]]
    );
}

#[test]
fn clients_that_never_come_back_are_told_so() {
    let plan = plan();
    let mut one = failing(&plan, "cuts", Fails::Cutting, 6_000);
    let step = &mut one.run.as_mut().unwrap().steps[0];
    let timeline = &mut step.watched.as_mut().unwrap().timeline;
    timeline.ready[104..].fill(190);
    assert_eq!(
        cells(&[one.clone()], &["half back", "all back"]),
        [["490 ms", "never"]]
    );
    let rows = [one];
    let rows = ranking::rank(&rows);
    assert_eq!(
        sentences(&rows[0])[0],
        "kill node:2 at 10.0 s: 100 clients lost their connection; half were back after 490 ms, 95 % never, \
         all never; 2,100 deliveries were lost, of messages sent from 10.0 ms before it to 590 ms after it; \
         whole again after 590 ms (10 clients were not connected at the end)."
    );
}

#[test]
fn each_fault_has_a_sentence_and_one_that_did_not_happen_its_reason() {
    let mut rows = three();
    rows[0].faults[1].began_ns = None;
    rows[0].faults[1].failure = Some("the port was taken".into());
    let ranked = ranking::rank(&rows);
    let of = |name: &str| {
        let row = ranked.iter().find(|row| row.server().name == name);
        sentences(row.unwrap())
    };
    assert_eq!(
        of("loses"),
        [
            "kill node:2 at 10.0 s: 3,000 deliveries were lost, of messages sent from 10.0 ms before it to \
             590 ms after it; whole again after 590 ms.",
            "start node:2 did not happen: the port was taken.",
        ]
    );
    assert_eq!(
        of("resumes"),
        [
            "kill node:2 at 10.0 s: 100 clients lost their connection; half were back after 490 ms, 95 % \
             after 490 ms, all after 490 ms; no message was lost.",
            "start node:2 at 15.0 s: no message was lost.",
        ]
    );
}

#[test]
fn the_picture_marks_what_was_done_when_it_was_done() {
    let rows = three();
    let rows = ranking::rank(&rows);
    let svg = chart(&rows[0]).unwrap().to_string();
    assert!(
        svg.contains("<title>kill node:2 at 10.01 s</title>"),
        "{svg}"
    );
    assert!(
        svg.contains("<title>start node:2 at 15.01 s</title>"),
        "{svg}"
    );
    let mut plan = plan();
    plan.faults.swap(0, 1);
    plan.faults[0].jitter = Nanos::secs(2);
    assert_eq!(
        timetable(&plan),
        [
            "kill node:2 at 10s",
            "start node:2 at 15s and up to 2s later"
        ]
    );
}

#[test]
fn the_head_says_what_ranks_and_the_page_has_the_pictures() {
    let all = three();
    let text = text::table(&all);
    let head = "dying-node over JSON: the share of the deliveries of confirmed messages that did not come, \
                200 clients, 50 messages a second (3 of 3 rows ok)";
    assert_eq!(text.lines().next().unwrap(), head);
    let markdown = markdown::table(&all);
    let sentence = "resumes is first by the share of the deliveries of confirmed messages that did not come: \
                    0 % lost; cuts follows with 0.4 % lost";
    assert!(markdown.contains(sentence), "{markdown}");
    assert!(!markdown.contains("keep the limit"), "{markdown}");
    let scratch = tempfile::tempdir().unwrap();
    let run = scratch.path().join("run");
    fs::create_dir(&run).unwrap();
    for one in &all {
        let text = one.to_json().unwrap();
        fs::write(run.join(format!("{}.json", one.server.name)), text).unwrap();
    }
    let html = scratch.path().join("report.html");
    write(&[run], &[], &html, &scratch.path().join("report.md")).unwrap();
    let html = fs::read_to_string(html).unwrap();
    assert_eq!(html.matches("<svg class=\"watched\"").count(), 3);
    assert!(
        html.contains("loses: kill node:2 at 10.0 s: 3,000 deliveries were lost"),
        "{html}"
    );
    assert!(!html.contains("CPU time for one message delivered"));
}

#[test]
fn the_page_of_one_run_has_the_same_picture_with_the_faults_of_its_plan() {
    let one = failing(&plan(), "loses", Fails::Silently, 6_000);
    let html = run_page::page(&one.run.unwrap(), &[]).unwrap();
    assert_eq!(html.matches("<svg class=\"watched\"").count(), 1);
    assert!(
        html.contains("99.25 % of the deliveries of confirmed messages came."),
        "{html}"
    );
    assert!(
        html.contains("<title>kill node:2 (plan) at 10.00 s</title>"),
        "{html}"
    );
    let other = under(&plan_of_broadcasts(), "alpha", 6_000);
    let html = run_page::page(&other.run.unwrap(), &[]).unwrap();
    assert!(!html.contains("class=\"watched\""), "{html}");
}

fn plan_of_broadcasts() -> plan::Plan {
    plan::Plan::new("ws://127.0.0.1:3334/ws")
}
