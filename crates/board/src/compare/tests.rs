//! The rules of a comparison, on made-up records.

use super::*;
use crate::report::fixture::{echo, measured, repeated, unmeasured, variant};
use crate::report::ranking::rank;
use crate::stats::Resampling;
use record::{End, Measurement, Status, Verdict};

/// How restarts of one server differ; the second has the same spread in another order.
const ONE: [f64; 6] = [1.00, 1.02, 0.99, 1.012, 1.03, 0.998];
const OTHER: [f64; 6] = [1.015, 0.995, 1.024, 1.001, 1.016, 0.985];

fn runs(name: &str, noise: &[f64], slower: f64) -> Vec<Measurement> {
    (1..)
        .zip(noise)
        .map(|(number, factor)| {
            let us = (9_000.0 * factor * slower) as u64;
            repeated(measured(name, 3, us, End::StepsDone), number)
        })
        .collect()
}

fn side(measurements: Vec<Measurement>) -> Side {
    let mut side = Side::default();
    for measurement in measurements {
        side.add_measurement(measurement);
    }
    side
}

fn asked(figures: &str, tolerance: f64) -> Question {
    Question {
        figures: figures
            .split(',')
            .map(|name| name.parse().unwrap())
            .collect(),
        tolerance,
        resampling: Resampling::default(),
    }
}

fn compared(a: Vec<Measurement>, b: Vec<Measurement>, figures: &str) -> Comparison {
    compare(&side(a), &side(b), &asked(figures, 0.0))
}

const ALL: &str = "p50,p95,p99,p99.9,clients";

#[test]
fn a_server_against_itself_shows_no_difference() {
    let found = compared(runs("a", &ONE, 1.0), runs("a", &OTHER, 1.0), ALL);
    assert_eq!(found.verdict, Overall::NoRegression);
    assert_eq!(found.comparisons, 3);
    let text = text::comparison(&found);
    assert_eq!(text.matches("no difference shown").count(), 3, "{text}");
    assert!(text.ends_with("\nNo difference shown.\n"), "{text}");
    let row = &found.rows[0];
    assert_eq!((row.clients, row.repetitions), (Some(3_000), (6, 6)));
    assert!(row.remarks.is_empty(), "{:?}", row.remarks);
}

/// Of an even number of repetitions a ranking shows the figures that a comparison compares.
#[test]
fn a_ranking_and_a_comparison_have_the_same_medians() {
    let run = runs("a", &ONE[..4], 1.0);
    let rows = rank(&run);
    let interval = rows[0].completion_interval(95.0).unwrap();
    let p95 = rows[0].latency(plan::Measure::Completion, 95.0);
    let carried = rows[0].carried.unwrap().median as f64;
    let found = compared(run.clone(), run.clone(), "p95,clients");
    let figures = &found.rows[0].figures;
    assert_eq!(figures[0].median_a, p95);
    assert!(interval.holds(p95.unwrap()), "{p95:?} in {interval:?}");
    assert_eq!(figures[1].median_a, Some(carried));
}

#[test]
fn a_slow_down_is_shown_with_its_interval_and_counts_beyond_the_tolerance() {
    let (a, b) = (runs("a", &ONE, 1.0), runs("a", &OTHER, 1.12));
    let found = compared(a.clone(), b.clone(), "p50,p95");
    assert_eq!(found.verdict, Overall::Regression);
    let p50 = &found.rows[0].figures[0];
    assert_eq!(p50.finding, Finding::Worse);
    // 2 of the 924 ways to deal 12 figures to two sides of 6, in the first of 2 comparisons.
    assert!((p50.p.unwrap() - 2.0 / 924.0).abs() < 1e-12);
    assert!((p50.p_corrected.unwrap() - 4.0 / 924.0).abs() < 1e-12);
    assert!(p50.interval.unwrap().holds(1.12));
    let text = text::comparison(&found);
    assert!(
        text.contains("B is 12 % slower (95 % interval 9.4 to 14 %)"),
        "{text}"
    );
    assert!(text.ends_with("\nRegression: a p50, a p95.\n"), "{text}");
    let tolerant = compare(&side(a.clone()), &side(b.clone()), &asked("p50", 0.1));
    assert_eq!(tolerant.verdict, Overall::NoRegression);
    let text = text::comparison(&tolerant);
    assert!(
        text.contains("not shown to be beyond the tolerance of 10 %"),
        "{text}"
    );
    assert!(text.ends_with("\nNo regression shown.\n"), "{text}");
    let turned = compared(b, a, "p50");
    assert_eq!(turned.verdict, Overall::NoRegression);
    let text = text::comparison(&turned);
    assert!(
        text.contains("B takes 11 % less time (95 % interval 8.5 to 12 %)"),
        "{text}"
    );
}

#[test]
fn one_repetition_says_nothing_about_noise_and_shows_both_figures() {
    let found = compared(runs("a", &ONE[..1], 1.0), runs("a", &ONE[..1], 1.5), "p95");
    assert_eq!(found.verdict, Overall::NotComparable);
    let text = text::comparison(&found);
    assert!(
        text.contains("one repetition a side: nothing can be said about noise"),
        "{text}"
    );
    assert!(
        text.contains("36.5 ms") && text.contains("54.7 ms") && text.contains("1.500"),
        "{text}"
    );
}

#[test]
fn too_few_repetitions_say_how_many_it_takes() {
    let three = compared(runs("a", &ONE[..3], 1.0), runs("a", &ONE[..3], 1.5), "p50");
    assert_eq!(three.verdict, Overall::NotComparable);
    assert!(text::comparison(&three).contains("it takes 4 a side"));
    let four = compared(runs("a", &ONE[..4], 1.0), runs("a", &ONE[..4], 1.5), "p50");
    assert_eq!(four.verdict, Overall::Regression);
    let four = compared(
        runs("a", &ONE[..4], 1.0),
        runs("a", &ONE[..4], 1.5),
        "p50,p95",
    );
    assert_eq!(four.verdict, Overall::NotComparable);
    let text = text::comparison(&four);
    assert!(
        text.contains("among 2 comparisons: it takes 5 a side"),
        "{text}"
    );
}

#[test]
fn a_percentile_needs_samples_beyond_it() {
    let found = compared(runs("a", &ONE, 1.0), runs("a", &OTHER, 1.0), "p99,p99.9");
    let findings: Vec<Finding> = found.rows[0]
        .figures
        .iter()
        .map(|one| one.finding)
        .collect();
    assert_eq!(findings, [Finding::NoDifference, Finding::LeftOut]);
    let text = text::comparison(&found);
    assert!(
        text.contains("it takes 1000 samples in each repetition; the fewest are 100"),
        "{text}"
    );
}

#[test]
fn latencies_are_those_of_the_most_clients_that_all_repetitions_have() {
    let mut a = runs("a", &ONE, 1.0);
    a[4].run.as_mut().unwrap().steps.truncate(2);
    let found = compared(a, runs("a", &OTHER, 1.0), "p50");
    assert_eq!(found.rows[0].clients, Some(2_000));
    let mut doubtful = runs("a", &OTHER, 1.0);
    doubtful[2].run.as_mut().unwrap().steps[2].verdict_reasons = vec!["95% of a core".into()];
    let found = compared(runs("a", &ONE, 1.0), doubtful, "p50");
    assert_eq!(found.rows[0].clients, Some(2_000));
    let mut b = runs("a", &OTHER, 1.0);
    b[0].run.as_mut().unwrap().steps[2].verdict = Verdict::GeneratorLimited;
    b[1].run.as_mut().unwrap().steps[1].samples = 99;
    let found = compared(runs("a", &ONE, 1.0), b, "p50");
    assert_eq!(found.rows[0].clients, Some(1_000));
    let mut none = runs("a", &OTHER, 1.0);
    none[0].run.as_mut().unwrap().steps.clear();
    let mut carried = runs("a", &ONE, 1.0);
    for measurement in carried.iter_mut().chain(&mut none) {
        measurement.run.as_mut().unwrap().outcome.end = End::OverLimit;
    }
    let found = compared(carried, none, "p50,clients");
    assert_eq!(found.rows[0].figures[1].finding, Finding::NoDifference);
    assert_eq!(found.verdict, Overall::NotComparable);
    assert!(found.rows[0].remarks[0].contains("no number of clients"));
}

fn carried(steps: &[u64], end: End) -> Vec<Measurement> {
    (1..)
        .zip(steps)
        .map(|(number, steps)| repeated(measured("a", *steps, 9_000, end), number))
        .collect()
}

#[test]
fn clients_carried_are_compared_where_the_server_was_the_limit() {
    let (more, fewer) = ([8, 9, 8, 9, 8], [6, 6, 7, 6, 6]);
    let found = compared(
        carried(&more, End::OverLimit),
        carried(&fewer, End::OverLimit),
        "clients",
    );
    assert_eq!(found.verdict, Overall::Regression);
    let text = text::comparison(&found);
    assert!(
        text.contains("B carries 29 % fewer clients (95 % interval 14 to 38 %)"),
        "{text}"
    );
    let found = compared(
        carried(&more, End::OverLimit),
        carried(&fewer, End::MachineLimit),
        "clients",
    );
    assert_eq!(found.rows[0].figures[0].finding, Finding::LeftOut);
    let found = compared(
        carried(&more, End::StepsDone),
        carried(&fewer, End::OverLimit),
        "clients",
    );
    assert_eq!(found.verdict, Overall::Regression);
    let found = compared(
        carried(&more, End::StepsDone),
        carried(&fewer, End::StepsDone),
        "clients",
    );
    assert_eq!(found.verdict, Overall::NotComparable);
    let same = compared(
        carried(&[8; 5], End::OverLimit),
        carried(&[8; 5], End::OverLimit),
        "clients",
    );
    assert_eq!((same.verdict, same.comparisons), (Overall::NoRegression, 0));
}

#[test]
fn different_plans_are_not_compared_and_different_ports_are() {
    let mut b = runs("a", &OTHER, 1.0);
    for measurement in &mut b {
        let plan = &mut measurement.run.as_mut().unwrap().plan;
        plan.target.url = "ws://127.0.0.1:9/ws".into();
        plan.generator.seed = 99;
        plan.clients = plan::Clients::steps(50, 10, Some(3));
    }
    let found = compared(runs("a", &ONE, 1.0), b.clone(), "p50");
    assert_eq!(found.verdict, Overall::NoRegression);
    b[3].run.as_mut().unwrap().plan.message.padding = 7;
    let found = compared(runs("a", &ONE, 1.0), b, "p50");
    assert_eq!(found.verdict, Overall::NotComparable);
    let text = text::comparison(&found);
    assert!(
        text.contains("different plans: message.padding 200 / 7"),
        "{text}"
    );
}

#[test]
fn rows_without_a_partner_or_a_result_never_pass_for_equal() {
    let both = |b: Vec<Measurement>| {
        let mut a = runs("a", &ONE, 1.0);
        a.extend(runs("b", &ONE, 1.0));
        let mut all = runs("a", &OTHER, 1.0);
        all.extend(b);
        compared(a, all, "p50")
    };
    assert_eq!(both(runs("b", &OTHER, 1.0)).verdict, Overall::NoRegression);
    let missing = both(Vec::new());
    assert_eq!(missing.verdict, Overall::NotComparable);
    assert!(
        text::comparison(&missing)
            .contains("b, broadcast over JSON\n  not comparable: only A has this row")
    );
    let mut crashed = runs("b", &OTHER, 1.0);
    crashed.push(repeated(unmeasured("b", Status::Crashed, "signal 11"), 7));
    let crashed = both(crashed);
    assert_eq!(crashed.verdict, Overall::NotComparable);
    assert!(text::comparison(&crashed).contains("repetition 7: crashed: signal 11"));
    let slower = both(runs("b", &OTHER, 1.5));
    assert_eq!(slower.verdict, Overall::Regression);
    assert!(text::comparison(&slower).ends_with("Regression: b p50.\n"));
    let absent = |all: &mut Vec<Measurement>| {
        all.push(unmeasured("c", Status::MissingToolchain, "no compiler"));
    };
    let (mut a, mut b) = (runs("a", &ONE, 1.0), runs("a", &OTHER, 1.0));
    absent(&mut a);
    absent(&mut b);
    let found = compared(a, b, "p50");
    assert_eq!(found.verdict, Overall::NoRegression);
    assert!(text::comparison(&found).contains("1 rows have no result on either side."));
}

#[test]
fn rows_are_matched_by_server_variant_workload_and_dialect() {
    let rows = || {
        let mut all = runs("a", &ONE, 1.0);
        all.extend(runs("a", &ONE, 1.0).into_iter().map(echo));
        all.extend(
            runs("a", &ONE, 1.0)
                .into_iter()
                .map(|one| variant(one, "clustered")),
        );
        all
    };
    let found = compared(rows(), rows(), "p50");
    assert!(found.rows.iter().all(|row| row.problem.is_none()));
    let names: Vec<&str> = found.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["a", "a", "a clustered"]);
    let lone = compared(runs("a", &ONE, 1.0), runs("b", &ONE, 1.0), "p50");
    assert_eq!(lone.rows[0].name, "a against b");
    assert_eq!(lone.verdict, Overall::NoRegression);
    let unlike = compared(
        runs("a", &ONE, 1.0),
        runs("a", &ONE, 1.0).into_iter().map(echo).collect(),
        "p50",
    );
    assert_eq!(unlike.verdict, Overall::NotComparable);
}

#[test]
fn what_else_differs_is_told() {
    let begun = |mut all: Vec<Measurement>, hour: u32| {
        for measurement in &mut all {
            measurement.server.library_version = Some(format!("1.{hour}"));
            measurement.server.runtime = Some(format!("Go 1.2{hour}"));
            let run = measurement.run.as_mut().unwrap();
            run.started = format!("2026-01-02T{hour:02}:04:05Z");
            run.environment.kernel = format!("Linux {hour}");
        }
        all
    };
    let found = compared(
        begun(runs("a", &ONE, 1.0), 3),
        begun(runs("a", &OTHER, 1.0), 4),
        "p50",
    );
    let text = text::comparison(&found);
    for told in [
        "the library's version is 1.3 / 1.4",
        "the runtime is Go 1.23 / Go 1.24",
        "kernel \"Linux 3\" / \"Linux 4\"",
        "one side was measured after the other, not in turn",
    ] {
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn the_same_records_give_the_same_findings() {
    let json = || {
        let found = compared(runs("a", &ONE, 1.0), runs("a", &OTHER, 1.05), ALL);
        serde_json::to_value(found).unwrap()
    };
    assert_eq!(json(), json());
    assert_eq!(json()["format"], COMPARISON_FORMAT);
    assert_eq!(
        json()["rows"][0]["figures"][0]["a"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    assert!(json()["rows"][0]["figures"][3]["ratio"].is_null());
}
