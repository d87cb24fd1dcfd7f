//! The page in a real browser: it runs without an error, loads nothing, and its figures are those
//! of the records.

use crate::browser::{open, opened_at};
use crate::fixture::{echo, measured, repeated, unmeasured, variant, waived};
use crate::fixture_under::{plans, under};
use record::{End, Measurement, Status};
use std::fs;
use test_browser::{console, dump, requests};

/// The cells of a row of the first ranking: exact value, or text where there is none.
fn cells(dom: &str, server: &str) -> Vec<String> {
    let body = dom
        .split("<tbody>")
        .nth(1)
        .unwrap()
        .split("</tbody>")
        .next()
        .unwrap();
    let row = body
        .split("<tr")
        .find(|row| row.contains(&format!(">{server}</a>")))
        .unwrap_or_else(|| panic!("no row of {server}"));
    row.split("<td")
        .skip(1)
        .map(|cell| match cell.split_once("data-value=\"") {
            Some((_, value)) => value.split('"').next().unwrap().to_owned(),
            None => text_of(&format!("<td{cell}")),
        })
        .collect()
}

fn text_of(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    text.trim().to_owned()
}

fn everything() -> Vec<Measurement> {
    let mut crashed = measured("delta", 2, 15_000, End::ServerLost);
    crashed.status = Status::Crashed;
    crashed.reason = Some("ended by signal 11".into());
    crashed.log_tail = Some("first line\nlast line of delta".into());
    vec![
        waived(
            measured("alpha", 6, 18_000, End::OverLimit),
            "close-echo",
            "no code",
        ),
        measured("beta", 4, 90, End::MachineLimit),
        repeated(measured("beta", 4, 110, End::MachineLimit), 2),
        variant(measured("gamma", 3, 60_000, End::OverLimit), "clustered"),
        crashed,
        unmeasured(
            "epsilon",
            Status::MissingToolchain,
            "no compiler: apt-get install it",
        ),
        echo(measured("alpha", 5, 400, End::StepsDone)),
    ]
}

#[test]
fn it_opens_without_error_or_request_and_shows_what_was_recorded() {
    let measurements = everything();
    let opened = open(&measurements);
    assert_eq!(console(&opened.shown.log), Vec::<&str>::new());
    assert_eq!(requests(&opened.shown.net), Vec::<String>::new());
    assert!(
        opened.shown.dom.contains("<button"),
        "the script did not run"
    );

    let alpha = &measurements[0];
    let step = &alpha.run.as_ref().unwrap().steps[4];
    let completion = step.completion.as_ref().unwrap();
    let delivery = step.delivery.as_ref().unwrap();
    let (server, idle) = (&alpha.server_steps[4], alpha.idle.unwrap());
    let per_client = |busy: Option<u64>, idle: Option<u64>| {
        ((busy.unwrap() - idle.unwrap()) as f64 / step.clients as f64).to_string()
    };
    let memory = per_client(server.memory.proportional_bytes, idle.proportional_bytes);
    let sockets = per_client(server.memory.sockets_bytes, idle.sockets_bytes);
    assert_eq!(
        cells(&opened.shown.dom, "alpha"),
        [
            "1".to_owned(),
            "alpha".into(),
            "default".into(),
            "1.2.3".into(),
            alpha
                .run
                .as_ref()
                .unwrap()
                .outcome
                .carried_clients
                .unwrap()
                .to_string(),
            completion.p50_ns.to_string(),
            completion.p95_ns.to_string(),
            completion.p99_ns.to_string(),
            delivery.p95_ns.to_string(),
            memory,
            sockets,
            (server.cpu_ns as f64 / delivery.count as f64).to_string(),
            "ok1".into(),
        ]
    );

    // Of two repetitions the mean.
    let p95 = measurements[1..3].iter().map(|measurement| {
        let step = &measurement.run.as_ref().unwrap().steps[3];
        step.completion.as_ref().unwrap().p95_ns
    });
    let mean = p95.sum::<u64>() as f64 / 2.0;
    let beta = cells(&opened.shown.dom, "beta");
    assert_eq!(beta[0], "2");
    assert_eq!(beta[6], mean.to_string());

    assert_eq!(cells(&opened.shown.dom, "delta")[0], "–");
    assert!(cells(&opened.shown.dom, "epsilon")[12].starts_with("missing-toolchain"));
    for text in [
        "Broadcast over JSON: alpha carried 5,000 clients",
        "≥ 4,000",
        "ended by signal 11",
        "last line of delta",
        "no compiler: apt-get install it",
        "Linux 9.9.9-test",
        "server on 0, generator on 1",
        "no more than 20,000 open files",
        "limit 500 ms",
    ] {
        assert!(
            opened.shown.dom.contains(text),
            "the page does not say {text:?}"
        );
    }
    let point = format!("({} ns), 100 samples", completion.p95_ns);
    assert!(
        opened.shown.dom.contains(&point),
        "no point of the chart tells {point:?}"
    );
}

#[test]
fn the_file_alone_loads_nothing() {
    let html = open(&everything()).html;
    for loader in [
        "src=",
        "@import",
        "url(http",
        "<link rel=\"stylesheet",
        "<iframe",
        "fetch(",
    ] {
        assert!(!html.contains(loader), "{loader}");
    }
    for tag in html.split("href=\"").skip(1) {
        let target = tag.split('"').next().unwrap();
        let link = target.starts_with('#') || target.starts_with("https://") || target == "data:,";
        assert!(link, "{target}");
    }
    let loaded = html
        .split("<link ")
        .skip(1)
        .filter(|tag| !tag.contains("href=\"data:,\""));
    assert_eq!(loaded.count(), 0);
}

#[test]
fn text_of_the_records_never_becomes_markup() {
    let attack =
        "<script>console.error('taken')</script>\"'><img src=x onerror=console.error('taken')>";
    let mut odd = measured("odd", 3, 9_000, End::OverLimit);
    odd.server.name = attack.into();
    odd.server.variant = attack.into();
    odd.server.library_version = Some(attack.into());
    odd.server.variant_summary = Some(attack.into());
    odd.server.homepage = "javascript:console.error('taken')".into();
    odd.reason = Some(attack.into());
    odd.status = Status::Crashed;
    odd.log_tail = Some(format!("</pre>{attack}"));
    odd.run.as_mut().unwrap().outcome.detail = attack.into();
    odd.run.as_mut().unwrap().environment.kernel = attack.into();
    let mut odd = waived(odd, attack, attack);
    let check = odd.conformance.as_mut().unwrap().checks.last_mut().unwrap();
    check.link = Some("javascript:console.error('taken')".into());
    let opened = open(&[odd]);
    assert_eq!(console(&opened.shown.log), Vec::<&str>::new());
    for (name, text) in [("file", &opened.html), ("document", &opened.shown.dom)] {
        assert_eq!(text.matches("<script").count(), 1, "{name}");
        assert!(!text.contains("<img"), "{name}");
        assert!(!text.contains("\"javascript:"), "{name}");
    }
}

#[test]
fn an_error_on_the_console_and_a_request_would_be_noticed() {
    let scratch = tempfile::tempdir().unwrap();
    let page = scratch.path().join("bad.html");
    fs::write(
        &page,
        "<script>console.error('seen')</script><img src=\"http://127.0.0.1:9/picture\">",
    )
    .unwrap();
    let net = scratch.path().join("net.json");
    let output = dump(&page, &net, scratch.path());
    assert!(
        console(&String::from_utf8_lossy(&output.stderr))
            .iter()
            .any(|line| line.contains("seen"))
    );
    let requested = requests(&fs::read_to_string(net).unwrap());
    assert_eq!(requested, ["http://127.0.0.1:9/picture"]);
}

/// Three servers under each workload of the folder, one row that failed, one that does not apply.
fn under_every_workload() -> Vec<Measurement> {
    let mut all = Vec::new();
    for plan in plans() {
        for (name, us) in [
            ("rust-a-server-with-a-long-name", 6_001),
            ("go-quick", 4_500),
            ("js-slow", 9_000),
        ] {
            all.push(variant(under(&plan, name, us), "clustered-with-redis"));
        }
        for (name, status, reason) in [
            ("c-broken", Status::Faulty, "faults: 3 lost"),
            (
                "d-other",
                Status::NotApplicable,
                "its manifest declares no such thing",
            ),
        ] {
            let mut without = unmeasured(name, status, reason);
            without.workload = plan.workload();
            without.workload_name.clone_from(&plan.name);
            all.push(without);
        }
    }
    all
}

#[test]
fn a_page_with_every_workload_opens_on_wide_and_narrow_screens_and_nothing_is_cut_off() {
    let measurements = under_every_workload();
    for width in [1300, 390] {
        let (opened, cut_off) = opened_at(&measurements, width);
        assert_eq!(cut_off, Vec::<String>::new(), "at {width} pixels");
        assert_eq!(console(&opened.shown.log), Vec::<&str>::new());
        assert_eq!(requests(&opened.shown.net), Vec::<String>::new());
        for chart in [
            "Memory of the server over time",
            "Cores that the server used over time",
        ] {
            let drawn = format!("aria-label=\"{chart}\"");
            assert_eq!(opened.html.matches(&drawn).count(), plans().len());
        }
        for plan in plans() {
            let reason = plan
                .reason
                .unwrap()
                .replace('&', "&#38;")
                .replace('\'', "&#39;");
            assert!(opened.html.contains(&reason), "{reason}");
        }
        assert_eq!(
            opened.html.matches("Ranked by ").count(),
            rules(&opened.html)
        );
    }
}

/// The first chart of the page of two servers under the ticker, five repetitions each.
fn first_chart(slow_us: u64) -> String {
    let plan = plans()
        .into_iter()
        .find(|plan| plan.name.as_deref() == Some("ticker"));
    let plan = plan.unwrap();
    let mut measurements = Vec::new();
    for number in 1..=5 {
        for (name, us) in [("quick", 4_500), ("slow", slow_us)] {
            let us = us + us / 10 * u64::from(number);
            measurements.push(repeated(under(&plan, name, us), number));
        }
    }
    let opened = open(&measurements);
    assert_eq!(console(&opened.shown.log), Vec::<&str>::new());
    let from = opened.html.find("<svg class=\"chart\"").unwrap();
    opened.html[from..]
        .split("</figure>")
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn times_far_apart_are_points_on_a_logarithmic_axis_and_others_bars_from_zero() {
    let far = first_chart(900_000);
    let near = first_chart(9_000);
    for (chart, bars, markers) in [(&far, 0, 2), (&near, 2, 0)] {
        assert_eq!(chart.matches("class=\"bar\"").count(), bars, "{chart}");
        assert_eq!(
            chart.matches("class=\"marker\"").count(),
            markers,
            "{chart}"
        );
        assert_eq!(chart.matches("class=\"interval\"").count(), 2, "{chart}");
        assert!(
            chart.contains("95 % interval of 6 repetitions or more"),
            "{chart}"
        );
    }
    assert!(
        far.contains(">100 ms</text>") && far.contains("ten times the one before"),
        "{far}"
    );
    assert!(
        near.contains(">0</text>") && near.contains("Shorter bars are better"),
        "{near}"
    );
}

/// Paragraphs and captions that may tell a rule: one for each ranking, one for each chart of a score.
fn rules(html: &str) -> usize {
    let charts = html.matches("Rows without a figure are not drawn").count();
    plans().len() + charts
}

#[test]
fn what_is_cut_off_would_be_noticed() {
    let mut wide = measured("alpha", 3, 9_000, End::OverLimit);
    wide.workload_name = Some("a".repeat(400));
    let (_, cut_off) = opened_at(&[wide], 390);
    assert!(!cut_off.is_empty());
}
