//! A round that measures another again, in the pages.

use super::tests::{Site, carrying, certificate, row, save};
use crate::report::fixture_under::{plans, under};
use record::{Json, Measurement, Status};
use std::fs;
use std::path::Path;

/// Rows of the first round, each of which carried 4,000 clients.
fn names(rows: usize) -> Vec<String> {
    (0..rows).map(|n| format!("server-{n}")).collect()
}

/// Measurements with the certificate of their machine, whose generator carried so many times what it
/// usually does.
fn save_certified(results: &Path, round: &str, day: &str, all: &[Measurement], speed: f64) {
    save(results, round, day, all);
    let runs = all.iter().filter_map(|one| one.run.as_ref());
    for (number, run) in runs.enumerate() {
        let mut certificate = certificate(run);
        certificate.ceilings[0].messages_per_second *= speed;
        let text = certificate.to_json().unwrap();
        fs::write(
            results.join(round).join(format!("selftest-{number}.json")),
            text,
        )
        .unwrap();
    }
}

/// A site of a round and of one that measures it again, a day later and with another kernel, in which
/// every row carried 7,000.
fn site(rows: usize, speed: f64, change: impl Fn(&mut Measurement)) -> Site {
    Site::new(&[], |results| {
        let rows = names(rows);
        let first: Vec<Measurement> = rows.iter().map(|name| carrying(name, 5)).collect();
        save_certified(results, "2026-01", "2026-01-02", &first, 1.0);
        let again = rows.iter().map(|name| {
            let mut one = carrying(name, 8);
            one.run.as_mut().unwrap().environment.kernel = "Linux 9.9.9".to_owned();
            change(&mut one);
            one
        });
        let again: Vec<Measurement> = again.collect();
        save_certified(results, "2026-01-again", "2026-01-03", &again, speed);
        let about = "label = \"self-reported\"\nrepeats = \"2026-01\"\n";
        fs::write(results.join("2026-01-again/round.toml"), about).unwrap();
    })
}

const UNKNOWN: &str = "in another run has not been measured yet";

#[test]
fn figures_that_were_measured_again_say_where_the_next_is_to_lie() {
    let site = site(20, 1.1, |_| {});
    assert_eq!(site.summary.warnings, Vec::<String>::new());
    let page = site.page("workloads/broadcast.html");
    let words = "In another run on a machine like this a figure is within a factor of 1.40 of the one \
                 here in 95 of 100 cases, if it moves as 20 figures of this kind (clients carried) did \
                 that were measured twice on such machines (round 2026-01-again, whose note says how \
                 far apart).";
    assert!(page.contains(words), "{page}");
    assert!(page.contains(">another run</th>"), "{page}");
    let of_row = row(&page, "server-3");
    assert!(of_row.contains(">4,000<") && of_row.contains("<td class=\"\">2,000 to 7,000</td>"));
    assert!(page.contains("; another run 2,000 to 7,000): <code>./shootout run"));
    let server = site.page("servers/server-3.html");
    assert!(
        server.contains("<td>another run 2,000 to 7,000</td>"),
        "{server}"
    );
    assert!(!page.contains("On another machine"), "{page}");
    // It is neither the board nor the history.
    let front = site.page("index.html");
    assert!(front.contains("Round 2026-01, begun 2026-01-02"), "{front}");
    assert!(!server.contains("2026-01-again"), "{server}");
}

/// The ticker is ranked by a latency; one row of the round was measured on another machine, whose
/// figures were not measured again.
#[test]
fn a_kind_and_a_machine_without_pairs_promise_nothing() {
    let plans = plans();
    let ticker = plans
        .iter()
        .find(|plan| plan.name.as_deref() == Some("ticker"));
    let site = Site::new(&[], |results| {
        let rows = names(20);
        let mut first: Vec<Measurement> = rows.iter().map(|name| carrying(name, 5)).collect();
        first.push(under(ticker.unwrap(), "alpha", 2_000));
        first.push(on_another(carrying("alpha", 5)));
        save_certified(results, "2026-01", "2026-01-02", &first, 1.0);
        let again: Vec<Measurement> = rows.iter().map(|name| carrying(name, 8)).collect();
        save_certified(results, "again", "2026-01-03", &again, 1.0);
        let about = "label = \"self-reported\"\nrepeats = \"2026-01\"\n";
        fs::write(results.join("again/round.toml"), about).unwrap();
    });
    let page = site.page("workloads/broadcast.html");
    let (here, elsewhere) = page.split_once("id=\"r1\"").unwrap();
    assert!(here.contains(">another run</th>"), "{here}");
    let words = "(clients carried) moves in another run has not been measured yet";
    assert!(elsewhere.contains(words), "{elsewhere}");
    assert!(!elsewhere.contains("another run 2,000"), "{elsewhere}");
    let page = site.page("workloads/ticker.html");
    let words = "(limited latency) moves in another run has not been measured yet";
    assert!(page.contains(words), "{page}");
}

/// Of 20 pairs the farthest decides, of 19 too.
#[test]
fn a_row_that_carries_nothing_has_moved_and_one_that_was_not_measured_says_nothing() {
    type Change = fn(&mut Measurement);
    let cases: [(Change, &str); 2] = [
        (
            |one| one.run = carrying("server-0", 1).run,
            "is within a factor of 4.00 of the one here in 95 of 100 cases, if it moves as 20",
        ),
        (
            |one| (one.status, one.run) = (Status::MissingToolchain, None),
            "is within a factor of 1.40 of the one here in 95 of 100 cases, if it moves as 19",
        ),
    ];
    for (change, words) in cases {
        let site = site(20, 1.0, move |one| {
            if one.server.name == "server-0" {
                change(one);
            }
        });
        let page = site.page("workloads/broadcast.html");
        assert!(page.contains(words), "{page}");
    }
}

/// The page of a workload with 20 rows, of which one is lost in these of two runs.
fn page_with_lost(workload: &str, lost: [bool; 2], lose: fn(&mut Measurement)) -> String {
    let plans = plans();
    let mut plans = plans.iter();
    let plan = plans.find(|plan| plan.name.as_deref() == Some(workload));
    let plan = plan.unwrap();
    let site = Site::new(&[], |results| {
        for (round, is_lost) in ["2026-01", "again"].into_iter().zip(lost) {
            let rows = names(20).into_iter().map(|name| {
                let mut one = under(plan, &name, 2_000);
                if is_lost && name == "server-0" {
                    lose(&mut one);
                }
                one
            });
            let rows: Vec<Measurement> = rows.collect();
            save_certified(results, round, "2026-01-02", &rows, 1.0);
        }
        let about = "label = \"self-reported\"\nrepeats = \"2026-01\"\n";
        fs::write(results.join("again/round.toml"), about).unwrap();
    });
    site.page(&format!("workloads/{workload}.html"))
}

#[test]
fn figures_that_never_come_or_whose_server_failed_have_moved_farthest() {
    let never = |one: &mut Measurement| {
        let step = &mut one.run.as_mut().unwrap().steps[0];
        let cut = step.churn.as_mut().unwrap().cut.as_mut().unwrap();
        cut.back_100_ns = None;
    };
    let failed = |one: &mut Measurement| one.status = Status::Timeout;
    type Change = fn(&mut Measurement);
    let cases: [(&str, &str, Change); 2] = [
        ("reconnect-storm", "all back", never),
        ("ticker", "limited latency", failed),
    ];
    for (workload, kind, lose) in cases {
        let page = page_with_lost(workload, [false, true], lose);
        let words = format!(
            "In another run on a machine like this a figure may be any: of 20 of this kind ({kind}) \
             that were measured twice on such machines (round again), more than one in twenty came \
             to nothing, or never came, in one of the two."
        );
        assert!(page.contains(&words), "{page}");
        assert!(!page.contains("; another run"), "{page}");
        // What is no figure in both says nothing of figures.
        let page = page_with_lost(workload, [true, true], lose);
        let words =
            "is within a factor of 1.00 of the one here in 95 of 100 cases, if it moves as 19";
        assert!(page.contains(words), "{page}");
    }
}

fn on_another(mut one: Measurement) -> Measurement {
    one.run.as_mut().unwrap().environment.cpu_model = Some("Other".to_owned());
    one
}

#[test]
fn too_few_figures_or_other_versions_and_plans_promise_nothing() {
    let few = site(18, 1.0, |_| {}).page("workloads/broadcast.html");
    assert!(few.contains(UNKNOWN), "{few}");
    assert!(!few.contains(">another run</th>"), "{few}");
    type Change = fn(&mut Measurement);
    let changes: [Change; 3] = [
        |one| one.server.library_version = Some("99.0".to_owned()),
        |one| one.run.as_mut().unwrap().plan.warm_up = plan::Nanos(9_000_000_000),
        |one| one.pinning.as_mut().unwrap().server_cpus = vec![0, 1],
    ];
    for change in changes {
        let page = site(20, 1.0, change).page("workloads/broadcast.html");
        assert!(page.contains(UNKNOWN), "{page}");
    }
}

#[test]
fn figures_of_another_processor_or_a_slower_machine_speak_for_another_machine_alone() {
    type Change = fn(&mut Measurement);
    let cases: [(f64, &str, Change); 2] = [
        (1.0, "1.00", |one| *one = on_another(one.clone())),
        (0.8, "1.25", |_| {}),
    ];
    for (speed, apart, change) in cases {
        let site = site(20, speed, change);
        let page = site.page("workloads/broadcast.html");
        let words = "How far a figure of this kind (clients carried) moves in another run on a machine \
                     like this has not been measured. On another machine a figure is within a factor of \
                     1.40 of the one here in 95 of 100 cases, if it moves as 20 figures of its kind did \
                     that were measured on two whose ceilings were ";
        let words = format!(
            "{words}{apart} times apart, and if those that websocket-bench selftest finds are no \
             farther from those of this run."
        );
        assert!(page.contains(&words), "{page}");
        assert!(page.contains(">another machine</th>") && !page.contains(">another run</th>"));
        let of_row = row(&page, "server-3");
        assert!(
            of_row.contains("<td class=\"\">2,000 to 7,000</td>"),
            "{of_row}"
        );
        assert!(page.contains("; another machine 2,000 to 7,000): <code>./shootout run"));
        let server = site.page("servers/server-3.html");
        let cell = "<td>another machine 2,000 to 7,000</td>";
        assert!(server.contains(cell), "{server}");
    }
}

/// The machine of the board is gone; how far figures move was measured on another, in two runs.
#[test]
fn two_runs_on_another_machine_do_not_speak_for_that_of_the_round() {
    let site = Site::new(&[], |results| {
        let rows = names(20);
        let other = |name: &String, steps| on_another(carrying(name, steps));
        let mut first: Vec<Measurement> = rows.iter().map(|name| carrying(name, 5)).collect();
        first.push(on_another(carrying("alpha", 5)));
        save_certified(results, "2026-01", "2026-01-02", &first, 1.0);
        for (run, steps) in [("one", 6), ("two", 9)] {
            let all: Vec<Measurement> = rows.iter().map(|name| other(name, steps)).collect();
            save_certified(results, &format!("again/{run}"), "2026-01-03", &all, 1.0);
        }
        let about = "label = \"self-reported\"\nrepeats = \"2026-01\"\n";
        fs::write(results.join("again/round.toml"), about).unwrap();
    });
    let page = site.page("workloads/broadcast.html");
    let (of_round, of_other) = page.split_once("id=\"r1\"").unwrap();
    // Either run is on another machine than the round.
    let words =
        "within a factor of 1.60 of the one here in 95 of 100 cases, if it moves as 40 figures";
    assert!(of_round.contains(words), "{of_round}");
    assert!(of_round.contains("; another machine 2,000 to 8,000): <code>"));
    assert!(!of_round.contains("; another run"), "{of_round}");
    // The machine of both runs is that of the other row of the round.
    let words = "within a factor of 1.33 of the one here";
    assert!(of_other.contains(words), "{of_other}");
    assert!(
        of_other.contains("20 figures of this kind (clients carried) did that were measured twice")
    );
    assert!(
        of_other.contains("; another run 2,000 to 6,000, another machine 2,000 to 8,000): <code>")
    );
}

/// One machine has ceilings of half of the round's, another three quarters of them.
#[test]
fn machines_that_are_farther_apart_decide_where_they_are_enough() {
    let far = "20 figures of its kind did that were measured on two whose ceilings were 2.00 times apart, \
               and if those that websocket-bench selftest finds are no farther from those of this run. \
               Of 20 figures on machines that were at most 1.33 times apart the factor was 1.00.";
    let all = "36 figures of its kind did that were measured on two whose ceilings were 1.33 to 2.00 times \
               apart, and if those that websocket-bench selftest finds are no farther from those of this \
               run.</p>";
    for (rows, words) in [(20, far), (18, all)] {
        let site = Site::new(&[], |results| {
            let rows = names(rows);
            let first: Vec<Measurement> = rows.iter().map(|name| carrying(name, 5)).collect();
            save_certified(results, "2026-01", "2026-01-02", &first, 1.0);
            for (run, steps, speed) in [("near", 6, 0.75), ("far", 7, 0.5)] {
                let all: Vec<Measurement> = rows.iter().map(|name| carrying(name, steps)).collect();
                save_certified(results, &format!("again/{run}"), "2026-01-03", &all, speed);
            }
            let about = "label = \"self-reported\"\nrepeats = \"2026-01\"\n";
            fs::write(results.join("again/round.toml"), about).unwrap();
        });
        let page = site.page("workloads/broadcast.html");
        assert!(page.contains(words), "{page}");
        assert!(page.contains("within a factor of 1.20 of"), "{page}");
    }
}

#[test]
fn a_round_that_repeats_one_that_is_not_the_newest_changes_nothing() {
    let site = Site::new(&[], |results| {
        save(results, "2026-02", "2026-02-02", &[carrying("alpha", 5)]);
        let again: Vec<Measurement> = names(20).iter().map(|name| carrying(name, 8)).collect();
        save(results, "other-again", "2026-03-03", &again);
        let about = "label = \"self-reported\"\nrepeats = \"2026-01\"\n";
        fs::write(results.join("other-again/round.toml"), about).unwrap();
    });
    assert!(site.page("index.html").contains("Round 2026-02, begun"));
    assert!(site.page("workloads/broadcast.html").contains(UNKNOWN));
    let told = "repeats \"2026-01\", and there is no such round";
    assert!(
        site.summary.warnings[0].contains(told),
        "{:?}",
        site.summary.warnings
    );
}
