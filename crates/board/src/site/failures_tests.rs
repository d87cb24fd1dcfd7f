//! The page of rows that lose messages.

use super::tests::{Site, carrying, row, save};
use crate::report::fixture_watched::{Fails, failing, plan};

fn site() -> Site {
    Site::new(&[("loses", ""), ("cuts", ""), ("resumes", "")], |results| {
        let plan = plan();
        let all = [
            failing(&plan, "loses", Fails::Silently, 6_000),
            failing(&plan, "cuts", Fails::Cutting, 6_000),
            failing(&plan, "resumes", Fails::Resuming, 6_000),
        ];
        save(results, "2026-01", "2026-01-02", &all);
    })
}

#[test]
fn each_row_has_its_findings_its_picture_and_its_command() {
    let page = site().page("failures.html");
    let loses = row(&page, "loses");
    for cell in [
        ">at-least-once<",
        ">breaks it: 3,000 messages lost silently<",
        ">99.25 %<",
        ">3,000<",
        ">590 ms<",
    ] {
        assert!(loses.contains(cell), "{cell}: {loses}");
    }
    assert!(row(&page, "resumes").contains(">keeps its claim<"));
    assert_eq!(page.matches("<svg class=\"watched\"").count(), 3);
    assert_eq!(
        page.matches("The command that measures it again").count(),
        3
    );
    assert!(
        page.contains("./shootout run --workload dying-node --servers loses"),
        "{page}"
    );
    let sentence = "start node:2 at 15.0 s: no message was lost.";
    assert_eq!(page.matches(sentence).count(), 3, "{page}");
    assert!(
        page.contains("kill node:2 at 10s, start node:2 at 15s, counted from"),
        "{page}"
    );
    assert!(page.contains("nothing of throughput"), "{page}");
}

#[test]
fn the_pages_that_list_workloads_lead_to_it() {
    let site = site();
    let front = site.page("index.html");
    assert!(
        front.contains("<h2 id=\"failures\">When a node dies</h2>"),
        "{front}"
    );
    assert!(
        front.contains("(<a href=\"failures.html\">over time</a>)"),
        "{front}"
    );
    let workload = site.page("workloads/dying-node.html");
    assert!(workload.contains("href=\"../failures.html\""), "{workload}");
    let head =
        "title=\"Ranked by the share of the deliveries of confirmed messages that did not come";
    assert!(workload.contains(head), "{workload}");
    assert!(
        row(&workload, "cuts").contains(">0.4 % lost<"),
        "{workload}"
    );
}

#[test]
fn a_round_without_such_rows_has_no_such_page() {
    let site = Site::new(&[("alpha", "")], |results| {
        save(results, "2026-01", "2026-01-02", &[carrying("alpha", 5)]);
    });
    assert!(!site.page("index.html").contains("failures"));
    assert!(!site.page("workloads/broadcast.html").contains("failures"));
    assert!(!site.has("failures.html"));
}
