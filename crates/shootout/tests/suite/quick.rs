//! `shootout run --quick` over all servers: which it takes, in which order, and when it ends.

use crate::support::machine::{apt, needs};
use crate::support::{Done, Project, Server};

const STEPS: &str = "run --quick --yes --out out --workload broadcast --set clients.first=20 \
                     --set clients.add=20 --set clients.count=1 --set load.samples=10";

/// Adds a server of a language that is so cheap.
fn add(project: &Project, name: &str, language: &str, seconds: u32, more: &str) {
    project.add(&Server {
        name,
        more,
        ..Server::default()
    });
    let manifest = project.path(&format!("servers/{name}/server.toml"));
    let text = std::fs::read_to_string(&manifest).unwrap();
    let own = format!("language = \"{language}\"\nquick-seconds = {seconds}");
    std::fs::write(manifest, text.replace("language = \"Shell\"", &own)).unwrap();
}

/// Three languages, one with two servers, and an apt-get that brings what the dear one lacks.
fn project() -> (Project, String) {
    let project = Project::new();
    let packaged = needs("a", "pkg-a", "debian = [\"pkg-a\"]");
    add(&project, "a-dear", "A", 100, &packaged);
    add(&project, "b-slow", "B", 60, "");
    add(&project, "b-swift", "B", 50, "");
    add(&project, "c-cheap", "C", 20, "");
    let path = apt(&project, "pkg-a", "");
    (project, path)
}

fn run(project: &Project, path: &str, before: u64, arguments: &str) -> Done {
    let mut command = project.command(arguments);
    command.env("PATH", path);
    command.env("SHOOTOUT_SECONDS_BEFORE", before.to_string());
    Done::from(command.output().unwrap())
}

/// Where each of these stands in the text; all have to, in this order.
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn what_is_ready_is_measured_and_shown_before_anything_is_installed() {
    let (project, path) = project();
    let done = run(&project, &path, 0, STEPS);
    done.expect(0, &["3 rows", "1 further server"]);
    in_order(
        &done.stderr,
        &[
            "[1/3] c-cheap",
            "[2/3] b-swift",
            "so far:",
            "c-cheap",
            "[3/3] a-dear",
            "setup: installing pkg-a",
            "a-dear broadcast text: 20 clients",
        ],
    );
    assert!(!done.stderr.contains("b-slow"), "{}", done.stderr);
    for name in ["a-dear", "b-swift", "c-cheap"] {
        assert!(done.stdout.contains(name), "{name}: {}", done.stdout);
    }
}

#[test]
fn servers_that_all_keep_up_are_told_apart_by_what_a_delivery_costs() {
    let (project, path) = project();
    let short = "run --quick --out out --servers b-slow,b-swift --set clients.first=20 \
                 --set load.duration=300ms --set warm_up=0s";
    let done = project.on_schedule(|| run(&project, &path, 0, short));
    done.expect(
        0,
        &[
            "b-slow cost text: ",
            " a message, 20 clients, p95 ",
            "the one planned step was measured",
        ],
    );
    let head = "cost over JSON: the CPU time of the server for each message delivered, 20 clients";
    assert!(done.stdout.contains(head), "{}", done.stdout);
    let costs: Vec<f64> = ["b-slow", "b-swift"]
        .map(|name| {
            let row = project.measurement(&format!("{name}.default.cost.text.1"));
            let delivered = row.run.unwrap().steps[0].delivery.as_ref().unwrap().count;
            assert_eq!(delivered, 12 * 20);
            row.server_steps[0].cpu_ns as f64 / delivered as f64
        })
        .into();
    let first = if costs[0] <= costs[1] {
        "b-slow"
    } else {
        "b-swift"
    };
    let row = |place: &str| {
        let mut lines = done.stdout.lines();
        lines
            .find(|line| line.starts_with(place))
            .unwrap_or_default()
    };
    assert!(row("1").contains(first), "{costs:?}: {}", done.stdout);
}

#[test]
fn after_ten_minutes_the_rest_is_named_and_resume_does_it() {
    let (project, path) = project();
    let done = run(&project, &path, 595, STEPS);
    done.expect(0, &["c-cheap"]);
    in_order(
        &done.stderr,
        &[
            "c-cheap broadcast text: 20 clients",
            "so far:",
            "not measured, --quick ends after ten minutes: b-swift broadcast text, a-dear broadcast \
             text; go on with: shootout run --resume out",
        ],
    );
    assert!(!done.stderr.contains("installing"), "{}", done.stderr);
    assert!(!done.stdout.contains("b-swift"), "{}", done.stdout);
    let again = run(&project, &path, 0, "run --resume out --yes");
    again.expect(0, &["c-cheap broadcast text: kept", "b-swift", "a-dear"]);
}

#[test]
fn servers_that_are_named_are_all_measured() {
    let (project, path) = project();
    let named = format!("{STEPS} --servers b-slow,b-swift");
    let done = run(&project, &path, 595, &named);
    done.expect(0, &["2 rows", "b-slow", "b-swift"]);
    assert!(!done.stderr.contains("so far"), "{}", done.stderr);
}
