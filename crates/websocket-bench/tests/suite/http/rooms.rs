//! A backend that publishes to rooms over HTTP, with Fastify.

use super::logins::{addr, all_with, dialect, users};
use crate::dialects::{Server, relay};
use crate::support::{assert_valid, dialect_file, only_step, run};
use record::{Faults, StepRecord};

const CLIENTS: u64 = 60;
const ROOMS: u64 = 4;
const SAMPLES: u64 = 40;

/// The dialect of `login.js` where clients are in rooms.
fn with_topics(base: &str) -> String {
    let subscribed = r#"
[[open.receive]]
means = "subscribed"
when = { "/type" = "subscribed" }
topic = "/topic"

[send]
subscribe = '{"token":"{token}","topic":"{topic}"}'
"#;
    let mut text = dialect(base);
    for (all, rooms) in [
        ("[send]\n", subscribed),
        (
            "means = \"delivery\"",
            "means = \"message\"\ntopic = \"/topic\"",
        ),
        (r#"'{"data""#, r#"'{"topic":"{topic}","data""#),
        (r#""news","data""#, r#""news","topic":"{topic}","data""#),
    ] {
        assert_eq!(text.matches(all).count(), 1, "{all}");
        text = text.replace(all, rooms);
    }
    text
}

/// The only step of a run in two processes, whose clients connect to `url`, and make their requests at `base`.
fn step(url: &str, base: &str, more: &str) -> StepRecord {
    let folder = tempfile::tempdir().unwrap();
    let file = dialect_file(folder.path(), &with_topics(base));
    let users = users(folder.path(), "password of");
    let plan = folder.path().join("plan.toml");
    let text = format!(
        r#"audience = {{ room = {{ equal = {ROOMS} }} }}
[target]
url = "{url}?ticket={{ticket}}"
[clients.steps]
first = {CLIENTS}
count = 1
[connection]
data = "{users}"
timeout = "60s"
[message]
dialect = "{file}"
[load.closed]
samples = {SAMPLES}
in_flight = 2
[limits]
time = "9s"
sample_timeout = "10s"
"#
    );
    std::fs::write(&plan, text).unwrap();
    let json = folder.path().join("run.json");
    let ran = run(&format!(
        "run {} --processes 2 --json {} {more}",
        plan.display(),
        json.display()
    ));
    assert!(json.exists(), "{ran:#?}");
    only_step(&assert_valid(&json)).clone()
}

#[test]
fn publications_reach_their_rooms_from_two_processes_and_one_left_out_is_lost_once() {
    let server = Server::start("login.js", &[]);
    let whole = step(&server.url, "", "");
    assert!(whole.faults.is_empty(), "{}", whole.faults);
    assert_eq!((whole.clients, whole.samples), (CLIENTS, SAMPLES));
    let due = SAMPLES * CLIENTS / ROOMS;
    assert_eq!(whole.delivery.unwrap().count, due);
    let http = whole.http.unwrap();
    http.steps
        .iter()
        .for_each(|of| all_with(of, CLIENTS, "200"));
    all_with(http.publications.as_ref().unwrap(), SAMPLES, "202");

    let (between, seen) = relay::leaving_out(addr(&server.url), b"\"news\"", None, 333);
    let base = format!("http://{}", addr(&server.url));
    let lossy = step(&format!("ws://{between}/hub"), &base, "");
    let one = Faults {
        lost: 1,
        ..Faults::default()
    };
    assert_eq!(lossy.faults, one);
    assert!(seen() > 333, "{}", seen());
    let published = lossy.http.unwrap().publications.unwrap();
    assert_eq!((published.failed, published.statuses["202"]), (0, SAMPLES));
}
