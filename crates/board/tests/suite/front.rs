//! The front page in a real browser, and the page that puts its rows side by side.

use crate::made_site::Made;
use crate::site::{AXE, axe, strings};
use serde_json::json;
use test_browser::Walk;

const WIDTHS: [u32; 3] = [1300, 768, 390];

/// Names of the contestants that the table of costs shows, in order.
const SHOWN: &str = "[...document.querySelector('table.costs').tBodies].at(-1).querySelectorAll('tr:not([hidden])').values()\
    .map((row) => row.dataset.name).toArray()";

/// The rows that are side by side.
const BESIDE: &str =
    "[...document.querySelectorAll('table.sides thead a')].map((one) => one.textContent)";

fn front(name: &str) -> (Made, Walk) {
    let made = Made::new(name);
    let mut walk = Walk::start(&made.scratch);
    walk.width(1300);
    walk.open(&made.out.join("index.html"), "");
    (made, walk)
}

fn set(walk: &mut Walk, what: &str, event: &str, value: &str) {
    walk.run(&format!(
        "{{ const one = document.querySelector('{what}'); one.value = '{value}'; one.dispatchEvent(new Event('{event}')); }} 0"
    ));
}

#[test]
fn the_cheapest_is_first_and_rows_are_sorted_and_filtered_by_any_column() {
    let (_made, mut walk) = front("front-sort");
    let cheapest = strings(walk.run(SHOWN));
    assert_eq!(cheapest[..3], ["go-quick", "rust-steady", "js-slow"]);
    let picture = walk.run(
        "document.querySelector('tr[data-name=js-slow] .track').getBoundingClientRect().top < 900",
    );
    assert_eq!(picture, true, "the bars are on the first screen");

    let heads = strings(walk.run(
        "[...document.querySelectorAll('table.costs thead button')].map((one) => one.textContent)",
    ));
    assert_eq!(heads.len(), 9, "{heads:?}");
    for head in &heads {
        let button = format!(
            "[...document.querySelectorAll('table.costs thead button')].find((one) => one.textContent === '{head}')"
        );
        walk.run(&format!("{button}.focus(); 0"));
        walk.press("Enter");
        let up = strings(walk.run(SHOWN));
        let order = walk.run(&format!("{button}.closest('th').getAttribute('aria-sort')"));
        assert_eq!(order, "ascending", "{head}");
        walk.press("Enter");
        let down = strings(walk.run(SHOWN));
        assert_eq!(up.len(), down.len(), "{head}");
        let yardstick = walk.run("document.querySelector('table.costs tbody tr').dataset.name");
        assert_eq!(yardstick, "bare-fanout", "{head}");
    }

    set(&mut walk, ".controls select[name=slow]", "change", "kept");
    let kept = strings(walk.run(SHOWN));
    assert!(
        kept.contains(&"go-quick".to_owned()) && !kept.contains(&"rust-steady".to_owned()),
        "{kept:?}"
    );
    walk.run("document.querySelector('.controls button').click(); 0");

    let cost = walk.run("document.querySelector('tr[data-name=rust-steady] .cost').dataset.value");
    set(
        &mut walk,
        ".controls select[name=limit]",
        "change",
        &heads[1],
    );
    set(
        &mut walk,
        ".controls input[name=most]",
        "input",
        cost.as_str().unwrap(),
    );
    let cheap = strings(walk.run(SHOWN));
    assert_eq!(cheap.len(), 2, "{cheap:?}");
    assert!(!cheap.contains(&"js-slow".to_owned()), "{cheap:?}");
    // The address keeps it.
    let address = walk.run("location.hash").as_str().unwrap().to_owned();
    assert!(address.contains("most="), "{address}");
    walk.run("document.querySelector('.controls button').click(); 0");

    // A thing that is built sorts the table by what counts for it.
    walk.run("document.querySelector('[data-sort] button').click(); 0");
    let sorted = walk.run("document.querySelector('table.costs th[aria-sort]').textContent");
    assert_eq!(sorted, "p99 in rooms, ms");
    assert_eq!(walk.complaints(), Vec::<String>::new());
    walk.stop();
}

#[test]
fn picked_rows_are_put_side_by_side() {
    let (made, mut walk) = front("front-side");
    for name in ["go-quick", "js-slow"] {
        walk.run(&format!(
            "document.querySelector('input[aria-label=\"compare {name}\"]').focus(); 0"
        ));
        walk.press(" ");
    }
    let link = "document.querySelector('[data-side] a')";
    assert_eq!(
        walk.run(&format!("{link}.textContent")),
        "Put the picked rows side by side"
    );
    walk.complaints();
    walk.run(&format!("{link}.click(); 0"));
    walk.loaded();
    assert_eq!(strings(walk.run(BESIDE)), ["go-quick", "js-slow"]);
    let rows = walk.run("document.querySelectorAll('table.sides tbody tr').length");
    assert!(rows.as_u64().unwrap() > 50, "{rows}");

    // A third is chosen on the page itself, and the address keeps it.
    set(
        &mut walk,
        "#choice label:nth-child(3) select",
        "change",
        "rust-steady/default",
    );
    assert_eq!(
        strings(walk.run(BESIDE)),
        ["go-quick", "js-slow", "rust-steady"]
    );
    let address = walk.run("location.hash").as_str().unwrap().to_owned();
    for width in WIDTHS {
        walk.width(width);
        walk.open(&made.out.join("side-by-side.html"), &address);
        assert_eq!(strings(walk.run(BESIDE)).len(), 3);
        assert_eq!(walk.cut_off(), Vec::<String>::new(), "at {width}");
    }
    assert_eq!(walk.complaints(), Vec::<String>::new());

    walk.open(&made.out.join("side-by-side.html"), "");
    assert_eq!(
        walk.run("document.querySelector('table.sides') === null"),
        true
    );
    let told = walk.run("document.querySelector('#told').textContent");
    assert!(
        told.as_str().unwrap().contains("Choose two to four"),
        "{told}"
    );
    walk.stop();
}

#[test]
fn without_a_script_the_bars_are_there_and_the_other_page_says_what_it_needs() {
    let (made, mut walk) = front("front-plain");
    walk.ask(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": true}),
    );
    for width in WIDTHS {
        walk.width(width);
        walk.open(&made.out.join("index.html"), "");
        let wide = "[...document.querySelectorAll('.track .bar')].every((one) => one.getBoundingClientRect().width > 5)";
        assert_eq!(walk.run(wide), true, "at {width}");
        assert_eq!(walk.cut_off(), Vec::<String>::new(), "at {width}");
        assert_eq!(
            walk.run("document.querySelectorAll('button, input, select').length"),
            0
        );
        let shown = "document.querySelector('details.filters').getBoundingClientRect().height";
        assert_eq!(walk.run(shown), 0, "at {width}");
    }
    walk.open(&made.out.join("side-by-side.html"), "");
    let told = walk.run("document.querySelector('main').innerText");
    assert!(
        told.as_str()
            .unwrap()
            .contains("This page needs JavaScript"),
        "{told}"
    );
    walk.stop();
}

#[test]
fn front_page_and_figures_side_by_side_do_not_violate_wcag_at_any_width_or_scheme() {
    let script = match axe() {
        Ok(script) => script,
        Err(reason) => return test_servers::skipped(&format!("axe-core cannot be had: {reason}")),
    };
    let (made, mut walk) = front("front-axe");
    let picked = "#pick=go-quick%252Fdefault%2Cjs-slow%252Fdefault";
    let mut found = Vec::new();
    for (width, scheme) in WIDTHS
        .into_iter()
        .flat_map(|width| [(width, "light"), (width, "dark")])
    {
        walk.width(width);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        walk.ask("Emulation.setEmulatedMedia", media);
        for page in ["index.html", "side-by-side.html"] {
            walk.open(&made.out.join(page), picked);
            walk.run(
                "document.querySelectorAll('details').forEach((one) => { one.open = true; }); 0",
            );
            walk.run(&format!("{script}; 0"));
            let here = strings(walk.run(AXE));
            found.extend(
                here.into_iter()
                    .map(|one| format!("{page} at {width}, {scheme}: {one}")),
            );
        }
    }
    walk.stop();
    assert_eq!(found, Vec::<String>::new());
}
