//! What a server's page says of it beside its figures: its runtime, how it reads JSON, how old its library
//! is.

use super::tests::{Site, carrying, save};
use record::{JsonReading, Measurement};

/// One whose record says all of it.
fn told() -> Measurement {
    let mut all = carrying("alpha", 5);
    all.server.runtime = Some("Go <1.26>".into());
    all.server.json = Some(JsonReading::Raw);
    all.server.released = Some(2022);
    all.server.old_because = Some("nobody has a newer one".into());
    all
}

fn page(one: Measurement, day: &str) -> String {
    let site = Site::new(&[("alpha", "")], |results| {
        save(results, "one", day, std::slice::from_ref(&one));
    });
    site.page("servers/alpha.html")
}

#[test]
fn the_page_of_a_server_has_its_runtime_and_how_it_reads_json() {
    let page = page(told(), "2026-01-02");
    assert!(page.contains(">runtime</th>"), "{page}");
    assert!(page.contains("<td>Go &#60;1.26&#62;</td>"), "{page}");
    assert!(
        page.contains("<dt>JSON</dt><dd>tree: the payload"),
        "{page}"
    );
}

#[test]
fn an_old_version_has_its_year_and_the_reason_where_the_record_is_younger_by_more_than_two_years() {
    let why = "libalpha 1.2.3 is of 2022: nobody has a newer one";
    let old = page(told(), "2025-01-02");
    assert!(
        old.contains("<td>1.2.3 (2022)</td>") && old.contains(why),
        "{old}"
    );
    let new = page(told(), "2024-12-31");
    assert!(
        new.contains("<td>1.2.3</td>") && !new.contains(why),
        "{new}"
    );
}

#[test]
fn a_record_from_before_has_nothing_of_it() {
    let page = page(carrying("alpha", 5), "2026-01-02");
    assert!(!page.contains("runtime</th>"), "{page}");
    assert!(page.contains("<td>1.2.3</td>"), "{page}");
}
