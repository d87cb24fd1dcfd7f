//! The board in a real browser: every page at three widths, sorted, filtered and followed, without an
//! error, a request or a violation of WCAG A and AA.

use crate::made_site::{Made, pages};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_browser::Walk;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What axe-core finds of the levels A and AA on the page that is open.
pub(crate) const AXE: &str = "axe.run(document, {resultTypes: ['violations'], runOnly: \
    ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}).then((found) => found.violations.map((one) => \
    one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160) + ' ' + node.failureSummary).join(' | ')))";

/// The library as one script, or why there is none.
pub(crate) fn axe() -> Result<String, String> {
    let ran = Command::new(root().join("scripts/axe-core"))
        .output()
        .map_err(|error| error.to_string())?;
    match ran.status.success() {
        true => fs::read_to_string(root().join("target/axe-core/node_modules/axe-core/axe.min.js"))
            .map_err(|error| error.to_string()),
        false => Err(String::from_utf8_lossy(&ran.stderr).trim().to_owned()),
    }
}

pub(crate) fn strings(value: Value) -> Vec<String> {
    serde_json::from_value(value).unwrap()
}

/// Opens every page: nothing is cut off, nothing complains, and nothing violates WCAG.
fn walked(width: u32, scheme: &str) {
    let script = axe();
    let made = Made::new(&format!("walk-{width}"));
    let mut walk = Walk::start(&made.scratch);
    walk.width(width);
    let media =
        serde_json::json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
    walk.ask("Emulation.setEmulatedMedia", media);
    let mut found = Vec::new();
    for page in pages(&made.out) {
        walk.open(&page, "");
        let place = page.display();
        assert_eq!(walk.cut_off(), Vec::<String>::new(), "{place}");
        assert_eq!(walk.complaints(), Vec::<String>::new(), "{place}");
        if let Ok(script) = &script {
            walk.run(&format!("{script}; 0"));
            let here = strings(walk.run(AXE));
            found.extend(here.into_iter().map(|one| format!("{place}: {one}")));
        }
    }
    if let Err(reason) = script {
        return test_servers::skipped(&format!("axe-core cannot be had: {reason}"));
    }
    // The check itself: an image without a text, and a grey that cannot be read.
    walk.run(
        "document.querySelector('main').insertAdjacentHTML('beforeend', \
         '<img src=\"data:,\"><p style=\"color:#777;background:#888\">pale</p>'); 0",
    );
    let planted = strings(walk.run(AXE)).join("\n");
    assert!(
        planted.contains("image-alt") && planted.contains("color-contrast"),
        "{planted}"
    );
    walk.stop();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_page_is_whole_and_accessible_on_a_wide_screen() {
    walked(1300, "light");
}

#[test]
fn every_page_is_whole_and_accessible_on_a_tablet() {
    walked(768, "light");
}

#[test]
fn every_page_is_whole_and_accessible_on_a_phone_in_the_dark() {
    walked(390, "dark");
}

/// Names of the rows of contestants that the page shows, in order.
const SHOWN: &str = "[...document.querySelector('table.board').tBodies].at(-1).querySelectorAll('tr:not([hidden])').values()\
    .map((row) => row.dataset.name).toArray()";

#[test]
fn rows_are_sorted_filtered_and_picked_and_links_keep_the_selection() {
    let made = Made::new("use");
    let ticker = made.out.join("workloads/ticker.html");
    let mut walk = Walk::start(&made.scratch);
    walk.width(1300);
    walk.open(&ticker, "");
    let by_place = strings(walk.run(SHOWN));
    assert_eq!(by_place, ["go-quick", "rust-steady", "js-slow", "c-broken"]);

    // By the keyboard: the head of a column is reached and pressed.
    let head = "[...document.querySelectorAll('table.board thead button')].find((one) => one.textContent === 'server')";
    walk.run(&format!("{head}.focus(); 0"));
    walk.press("Enter");
    let by_name = strings(walk.run(SHOWN));
    assert_eq!(by_name, ["c-broken", "go-quick", "js-slow", "rust-steady"]);
    assert_eq!(
        walk.run(&format!("{head}.closest('th').getAttribute('aria-sort')")),
        "ascending"
    );
    walk.press("Enter");
    assert_eq!(strings(walk.run(SHOWN))[0], "rust-steady");

    walk.run(
        "{ const select = document.querySelector('.controls select[name=language]'); select.value = 'Go'; \
         select.dispatchEvent(new Event('change')); } 0",
    );
    assert_eq!(strings(walk.run(SHOWN)), ["go-quick"]);
    assert_eq!(
        walk.run("document.querySelector('.controls output').textContent"),
        "2 of 5 rows shown, 0 picked"
    );
    let panels = "document.querySelectorAll('.panels figure:not([hidden])').length";
    let with_filter = walk.run(panels).as_u64().unwrap();
    walk.run("document.querySelector('.controls button').click(); 0");
    assert_eq!(strings(walk.run(SHOWN)).len(), 4);
    assert!(walk.run(panels).as_u64().unwrap() > with_filter);

    // Two rows are picked with the keyboard, and only these stay.
    for name in ["go-quick", "js-slow"] {
        walk.run(&format!(
            "document.querySelector('input[aria-label=\"compare {name}\"]').focus(); 0"
        ));
        walk.press(" ");
    }
    walk.run("document.querySelector('input[name=only]').click(); 0");
    assert_eq!(strings(walk.run(SHOWN)), ["js-slow", "go-quick"]);
    let coloured = "document.querySelectorAll('figure.all path.picked').length";
    assert_eq!(walk.run(coloured), 2);

    // Hovering over a row lights its curve.
    walk.run(
        "document.querySelector('tr[data-name=\"go-quick\"]').dispatchEvent(new PointerEvent('pointerover', {bubbles: true})); 0",
    );
    assert_eq!(
        walk.run("document.querySelector('figure.all path.lit title').textContent"),
        "go-quick"
    );
    assert_eq!(
        walk.run("document.querySelector('.lit-name').textContent"),
        "go-quick"
    );

    // A link keeps the selection, and so does the address of the page.
    walk.complaints();
    walk.run("document.querySelector('nav a').click(); 0");
    walk.loaded();
    assert!(
        walk.run("location.pathname")
            .as_str()
            .unwrap()
            .ends_with("/index.html")
    );
    assert_eq!(strings(walk.run(SHOWN)), ["js-slow", "go-quick"]);
    walk.run("[...document.querySelectorAll('.list a')].find((one) => one.textContent === 'echo').click(); 0");
    walk.loaded();
    assert_eq!(strings(walk.run(SHOWN)), ["js-slow", "go-quick"]);
    let address = walk.run("location.hash").as_str().unwrap().to_owned();
    walk.open(&ticker, &address);
    assert_eq!(strings(walk.run(SHOWN)), ["js-slow", "go-quick"]);
    assert_eq!(walk.complaints(), Vec::<String>::new());
    walk.stop();
}

#[test]
fn without_its_script_a_page_has_all_rows_and_no_dead_control() {
    let made = Made::new("plain");
    let mut walk = Walk::start(&made.scratch);
    walk.width(390);
    walk.ask(
        "Emulation.setScriptExecutionDisabled",
        serde_json::json!({"value": true}),
    );
    walk.open(&made.out.join("workloads/ticker.html"), "");
    assert_eq!(strings(walk.run(SHOWN)).len(), 4);
    assert_eq!(
        walk.run("document.querySelectorAll('button, input, select').length"),
        0
    );
    // Place, server, figure and p95 are in sight on a narrow screen.
    let right = walk.run(
        "document.querySelector('table.board tbody:last-of-type tr').cells[3].getBoundingClientRect().right",
    );
    assert!(right.as_f64().unwrap() <= 390.0, "p95 ends at {right}");
    // Names of ticks are as grey as other words, in the dark too.
    let fill = "getComputedStyle(document.querySelector('svg.panel')).fill";
    assert_eq!(
        walk.run(fill),
        walk.run("getComputedStyle(document.querySelector('.caption')).color")
    );
    walk.stop();
}

#[test]
fn every_link_of_every_page_leads_to_a_page_or_to_the_web() {
    let made = Made::new("links");
    for page in pages(&made.out) {
        let html = fs::read_to_string(&page).unwrap();
        for link in html.split(" href=\"").skip(1) {
            let link = link.split('"').next().unwrap();
            if link.starts_with("https://") || link.starts_with("http://") || link == "data:," {
                continue;
            }
            if let Some(id) = link.strip_prefix('#') {
                assert!(
                    html.contains(&format!("id=\"{id}\"")),
                    "{}: {link}",
                    page.display()
                );
                continue;
            }
            assert!(
                page.parent().unwrap().join(link).is_file(),
                "{}: {link}",
                page.display()
            );
        }
    }
}

#[test]
fn a_complaint_of_a_page_would_be_noticed() {
    let scratch = tempfile::tempdir().unwrap();
    let page = scratch.path().join("bad.html");
    fs::write(
        &page,
        "<body><script>console.error('seen'); throw new Error('thrown')</script><img src=\"http://127.0.0.1:9/x\">\
         <p style=\"width:3000px\">wide</p>",
    )
    .unwrap();
    let mut walk = Walk::start(scratch.path());
    walk.width(390);
    walk.open(&page, "");
    let told = walk.complaints().join("\n");
    for what in ["seen", "thrown", "asked for http://127.0.0.1:9/x"] {
        assert!(told.contains(what), "{told}");
    }
    assert!(!walk.cut_off().is_empty());
    walk.stop();
}
