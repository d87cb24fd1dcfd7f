//! A round that measures another again, in the pages.

use super::tests::{Site, carrying, row, save};
use run_record::Measurement;
use std::fs;

/// Rows of the first round, each of which carried 4,000 clients.
fn names(rows: usize) -> Vec<String> {
    (0..rows).map(|n| format!("server-{n}")).collect()
}

/// A site of a round and of one that measures it again, a day later and with another kernel, in which
/// every row carried 5,000.
fn site(rows: usize, change: impl Fn(&mut Measurement)) -> Site {
    Site::new(&[], |results| {
        let rows = names(rows);
        let first: Vec<Measurement> = rows.iter().map(|name| carrying(name, 5)).collect();
        save(results, "2026-01", "2026-01-02", &first);
        let again = rows.iter().map(|name| {
            let mut one = carrying(name, 6);
            one.run.as_mut().unwrap().environment.kernel = "Linux 9.9.9".to_owned();
            change(&mut one);
            one
        });
        let again: Vec<Measurement> = again.collect();
        save(results, "2026-01-again", "2026-01-03", &again);
        let about = "label = \"self-reported\"\nrepeats = \"2026-01\"\n";
        fs::write(results.join("2026-01-again/round.toml"), about).unwrap();
    })
}

const UNKNOWN: &str = "on another day has not been measured yet";

#[test]
fn figures_that_were_measured_again_say_where_the_next_is_to_lie() {
    let site = site(20, |_| {});
    assert_eq!(site.summary.warnings, Vec::<String>::new());
    let page = site.page("workloads/broadcast.html");
    let words = "a figure is within a factor of 1.25 of the one here in 95 of 100 cases. So far apart \
                 are 20 figures (clients carried) that were measured again on another day, all on \
                 machines of this hardware (round 2026-01-again of 2026-01-03)";
    assert!(page.contains(words), "{page}");
    assert!(page.contains(">another day</th>"), "{page}");
    let of_row = row(&page, "server-3");
    assert!(of_row.contains(">4,000<") && of_row.contains("<td class=\"\">3,200 to 5,000</td>"));
    assert!(page.contains("; another day 3,200 to 5,000): <code>./shootout run"));
    let server = site.page("servers/server-3.html");
    assert!(server.contains("<td>3,200 to 5,000</td>"), "{server}");
    // It is neither the board nor the history.
    let front = site.page("index.html");
    assert!(front.contains("Round 2026-01, begun 2026-01-02"), "{front}");
    assert!(!server.contains("2026-01-again"), "{server}");
}

#[test]
fn too_few_figures_or_other_hardware_versions_and_plans_promise_nothing() {
    let few = site(18, |_| {}).page("workloads/broadcast.html");
    assert!(few.contains(UNKNOWN), "{few}");
    assert!(!few.contains(">another day</th>"), "{few}");
    type Change = fn(&mut Measurement);
    let changes: [Change; 4] = [
        |one| one.run.as_mut().unwrap().environment.cpu_model = Some("Other".to_owned()),
        |one| one.server.library_version = Some("99.0".to_owned()),
        |one| one.run.as_mut().unwrap().plan.warm_up = run_record::Nanos(9_000_000_000),
        |one| one.pinning.as_mut().unwrap().server_cpus = vec![0, 1],
    ];
    for change in changes {
        let page = site(20, change).page("workloads/broadcast.html");
        assert!(page.contains(UNKNOWN), "{page}");
    }
}

#[test]
fn a_round_that_repeats_one_that_is_not_the_newest_changes_nothing() {
    let site = Site::new(&[], |results| {
        save(results, "2026-02", "2026-02-02", &[carrying("alpha", 5)]);
        let again: Vec<Measurement> = names(20).iter().map(|name| carrying(name, 6)).collect();
        save(results, "other-again", "2026-03-03", &again);
        let about = "label = \"self-reported\"\nrepeats = \"2026-01\"\n";
        fs::write(results.join("other-again/round.toml"), about).unwrap();
    });
    assert!(site.page("index.html").contains("Round 2026-02, begun"));
    assert!(site.page("workloads/broadcast.html").contains(UNKNOWN));
}
