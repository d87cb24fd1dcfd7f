use super::tests::{Site, carrying, row, save};
use crate::report::fixture::{repeated, variant};
use crate::report::fixture_under::{plans, under};
use record::{Measurement, Status};
use std::path::Path;

const CEILING: (&str, &str) = ("bare", "role = \"ceiling\"");

/// A server under the workload of this name.
fn one(workload: &str, server: &str, us: u64) -> Measurement {
    let plan = plans().into_iter();
    let mut plan = plan.filter(|plan| plan.name.as_deref() == Some(workload));
    under(&plan.next().unwrap(), server, us)
}

/// Four repetitions of it.
fn four(workload: &str, server: &str, us: u64) -> Vec<Measurement> {
    let each = |number: u32| repeated(one(workload, server, us + u64::from(number)), number);
    (1..=4).map(each).collect()
}

/// The site of one round with these measurements.
fn site(all: &[Measurement]) -> Site {
    Site::new(&[CEILING, ("alpha", ""), ("beta", "")], |results| {
        save(results, "2026-01", "2026-01-02", all);
    })
}

/// The cell of a row with this label.
fn cell<'p>(row: &'p str, label: &str) -> &'p str {
    let (_, rest) = row.split_once(&format!("data-label=\"{label}\"")).unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    rest.split("</td>").next().unwrap()
}

#[test]
fn the_cheapest_is_first_and_each_bar_is_a_multiple_of_the_yardstick() {
    let mut all = four("ticker", "bare", 1_000);
    all.extend(four("ticker", "alpha", 4_000));
    all.extend(four("ticker", "beta", 2_000));
    let front = site(&all).page("index.html");
    assert!(row(&front, "bare").contains("<b>1.00×</b>"), "{front}");
    assert!(
        row(&front, "alpha").contains("<b>4.00×</b>")
            || row(&front, "alpha").contains("<b>3.99×</b>")
    );
    assert!(
        row(&front, "beta").contains("class=\"cost cheapest\""),
        "{front}"
    );
    assert!(row(&front, "alpha").contains("class=\"cost\""), "{front}");
    let at = |name: &str| {
        front
            .find(&format!("<tr data-key=\"{name}/default\""))
            .unwrap()
    };
    assert!(at("bare") < at("beta") && at("beta") < at("alpha"));
    assert!(
        front.contains("500 clients, 100 broadcasts a second"),
        "{front}"
    );
}

#[test]
fn a_workload_that_is_ranked_by_cost_goes_before_a_ticker() {
    let mut all = vec![one("ticker", "alpha", 1_000), one("ticker", "beta", 2_000)];
    all.push(one("cost", "alpha", 3_000));
    let front = site(&all).page("index.html");
    assert!(
        front.contains("500 clients, 40 broadcasts a second"),
        "{front}"
    );
    assert!(front.contains("1× is the cheapest"), "{front}");
    assert!(row(&front, "alpha").contains("<b>1.00×</b>"), "{front}");
    // Of beta there is no figure in it, and so no bar.
    assert!(!row(&front, "beta").contains("class=\"bar\""), "{front}");
}

#[test]
fn each_column_has_its_unit_and_a_dash_where_there_is_no_figure() {
    let all = [
        one("ticker", "alpha", 1_000),
        one("ticker", "beta", 2_000),
        one("connect", "alpha", 2_000),
        one("reconnect-storm", "alpha", 3_000),
        one("slow-readers", "alpha", 1_001),
        one("slow-readers", "beta", 1_002),
    ];
    let front = site(&all).page("index.html");
    for head in [
        ">CPU per message, µs</th>",
        ">memory per connection, KiB</th>",
        ">p99 in rooms, ms</th>",
        ">all back, s</th>",
        ">slow readers, MiB</th>",
    ] {
        assert!(front.contains(head), "{head}: {front}");
    }
    let (alpha, beta) = (row(&front, "alpha"), row(&front, "beta"));
    // Its process has 4,096 + 2,000 bytes for each connection, and its sockets have 1,536.
    assert_eq!(cell(alpha, "memory per connection"), "7.45");
    assert_eq!(cell(beta, "memory per connection"), "–");
    assert_eq!(cell(alpha, "p99 in rooms"), "–");
    assert!(cell(alpha, "all back").starts_with("0."), "{alpha}");
    assert!(
        cell(alpha, "slow readers").starts_with("some cut off, "),
        "{alpha}"
    );
    assert!(cell(beta, "slow readers").starts_with("kept, "), "{beta}");
    assert!(beta.contains("data-slow=\"kept\""), "{beta}");
}

#[test]
fn a_server_is_one_row_by_its_cheapest_variant_and_another_is_named() {
    let all = [
        one("ticker", "alpha", 3_000),
        variant(one("ticker", "alpha", 1_000), "quick"),
        one("connect", "alpha", 2_000),
        one("ticker", "alpha~again", 500),
    ];
    let front = site(&all).page("index.html");
    assert_eq!(front.matches("<tr data-key=\"alpha").count(), 1, "{front}");
    let (_, quick) = front.split_once("<tr data-key=\"alpha/quick\"").unwrap();
    let memory = cell(quick, "memory per connection");
    assert_eq!(memory, "7.45<br><small>alpha</small>");
}

#[test]
fn columns_of_two_machines_say_which() {
    let mut elsewhere = one("connect", "alpha", 2_000);
    elsewhere.run.as_mut().unwrap().environment.kernel = "Linux 1.1.1-other".into();
    let all = [one("ticker", "alpha", 1_000), elsewhere];
    let front = site(&all).page("index.html");
    assert!(
        front.contains("Two columns may be from two machines"),
        "{front}"
    );
    let (_, of_memory) = front.split_once("memory per connection: ").unwrap();
    let words = of_memory.split("A dash").next().unwrap();
    assert!(words.contains("Linux 1.1.1-other"), "{words}");
    let alone = site(&[one("ticker", "alpha", 1_000)]).page("index.html");
    assert!(
        alone.contains("All columns are from one machine"),
        "{alone}"
    );
}

#[test]
fn a_round_without_a_broadcast_at_a_fixed_rate_has_rows_and_no_bar() {
    let closed = |results: &Path| {
        let all = [carrying("alpha", 5), carrying("beta", 3)];
        save(results, "local", "2026-01-02", &all);
    };
    let front = Site::new(&[("alpha", ""), ("beta", "")], closed).page("index.html");
    assert!(front.contains("no broadcast at a fixed rate"), "{front}");
    assert!(!front.contains("class=\"bar\"") && !front.contains("class=\"answer\""));
    assert!(
        row(&front, "alpha").contains("servers/alpha.html"),
        "{front}"
    );
    let idle = site(&[one("connect", "alpha", 2_000)]).page("index.html");
    assert_eq!(cell(row(&idle, "alpha"), "memory per connection"), "7.45");
    assert!(idle.contains("no broadcast at a fixed rate"), "{idle}");
}

#[test]
fn a_row_without_a_result_has_its_status_in_the_place_of_a_bar() {
    let mut late = one("ticker", "beta", 2_000);
    late.status = Status::Timeout;
    let front = site(&[one("ticker", "alpha", 3_000), late]).page("index.html");
    let beta = row(&front, "beta");
    assert!(
        beta.contains(">timeout</td>") && !beta.contains("class=\"bar\""),
        "{beta}"
    );
    let slow = [
        one("ticker", "alpha", 3_000),
        one("ticker", "beta", 900_000),
    ];
    let front = site(&slow).page("index.html");
    assert!(row(&front, "beta").contains("too busy"), "{front}");
}

#[test]
fn what_is_built_has_its_three_best_rows_and_their_workload() {
    let mut all: Vec<Measurement> = Vec::new();
    for (server, us) in [
        ("alpha", 1_000),
        ("beta", 2_000),
        ("gamma", 3_000),
        ("delta", 4_000),
    ] {
        all.extend(
            ["ticker", "rooms", "connect", "echo"].map(|workload| one(workload, server, us)),
        );
    }
    let front = site(&all).page("index.html");
    let (_, builds) = front.split_once("id=\"builds\"").unwrap();
    let (_, rooms) = builds.split_once("Chat in rooms").unwrap();
    let (rooms, rest) = rooms.split_once("</section>").unwrap();
    assert!(
        rooms.contains("p99 ") && rooms.contains("workloads/rooms.html"),
        "{rooms}"
    );
    assert!(
        rooms.contains("alpha") && rooms.contains("gamma") && !rooms.contains("delta"),
        "{rooms}"
    );
    let (_, bad) = rest.split_once("bad networks").unwrap();
    assert!(bad.contains("No figures in this round."), "{bad}");
    let (_, languages) = front.split_once("id=\"languages\"").unwrap();
    assert!(languages.contains("data-value=\"4\">4</td>"), "{languages}");
}

#[test]
fn workloads_with_figures_are_listed_before_those_without() {
    let front = site(&[carrying("alpha", 5)]).page("index.html");
    let (_, list) = front.split_once("<ul class=\"list\">").unwrap();
    let at = |name: &str| list.find(&format!("workloads/{name}.html")).unwrap();
    assert!(at("broadcast") < at("ticker"));
    assert_eq!(list.matches("No figures yet.").count(), 1, "{list}");
}

#[test]
fn the_page_of_figures_side_by_side_holds_every_row() {
    let all = [one("ticker", "alpha", 1_000), one("connect", "beta", 2_000)];
    let page = site(&all).page("side-by-side.html");
    let (_, rest) = page.split_once("const figures = ").unwrap();
    let json = rest.split(";\n").next().unwrap();
    let figures: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(figures["rows"]["alpha/default"]["name"], "alpha");
    let groups = figures["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    for group in groups {
        let heads = group["heads"].as_array().unwrap().len();
        for cells in group["cells"].as_object().unwrap().values() {
            assert_eq!(cells.as_array().unwrap().len(), heads, "{group}");
        }
    }
    assert!(page.contains("<noscript>"), "{page}");
}

#[test]
fn the_page_of_a_server_says_where_it_stands() {
    let names = ["a", "b", "c", "d", "e"];
    let site = |wanted: &[&str]| {
        let mut all = Vec::new();
        for (index, name) in wanted.iter().enumerate() {
            let us = 1_000 << index;
            all.extend([one("ticker", name, us), one("rooms", name, us)]);
        }
        Site::new(&names.map(|name| (name, "")), |results| {
            save(results, "2026-01", "2026-01-02", &all);
        })
    };
    let five = site(&names);
    let cheapest = five.page("servers/a.html");
    let costs = "A delivered broadcast costs 1.00 times what it costs with the cheapest server; the \
                 median server costs 4.00 times.";
    assert!(cheapest.contains(costs), "{cheapest}");
    assert!(
        cheapest.contains("Much better than the median server: p99 in rooms "),
        "{cheapest}"
    );
    assert!(!cheapest.contains("Much worse"), "{cheapest}");
    let middle = five.page("servers/c.html");
    assert!(!middle.contains("Much "), "{middle}");
    let dearest = five.page("servers/e.html");
    assert!(
        dearest.contains("Much worse than the median server: p99 in rooms "),
        "{dearest}"
    );
    assert!(!dearest.contains("Much better"), "{dearest}");
    // Of four servers there is no median to speak of.
    let few = site(&names[..4]).page("servers/d.html");
    assert!(
        few.contains(
            "A delivered broadcast costs 8.00 times what it costs with the cheapest server."
        ),
        "{few}"
    );
    assert!(!few.contains("Much "), "{few}");
}
