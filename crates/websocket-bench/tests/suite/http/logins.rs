//! Clients that log in and negotiate before they connect, and a backend that publishes, with Fastify.

use crate::dialects::{Server, relay};
use crate::support::{assert_valid, dialect_file, run};
use record::{Faults, HttpRequests, StepRecord};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

const CLIENTS: u64 = 500;

/// The dialect of `login.js`, whose requests over HTTP go to `base`.
pub(super) fn dialect(base: &str) -> String {
    format!(
        r#"
name = "logged-in"
summary = "A login and a ticket before each connection, and news of a backend."

[[open.http]]
url = "{base}/login"
body = '{{"user":"{{user}}","password":"{{password}}"}}'
capture = {{ token = {{ json = "/access_token" }} }}

[[open.http]]
url = "{base}/negotiate"
headers = {{ Authorization = "Bearer {{token}}" }}
capture = {{ ticket = {{ json = "/connection/ticket" }} }}

[[open.receive]]
means = "ready"
when = {{ "/type" = "welcome" }}

[send]
echo = '{{"token":"{{token}}","payload":{{payload}}}}'

[send.http]
url = "{base}/publish"
headers = {{ X-Api-Key = "{{backend}}" }}
body = '{{"data":{{payload}}}}'
status = [202]

[[receive]]
means = "echo"
when = {{ "/type" = "echo" }}
payload = "/payload"
example = '{{"type":"echo","payload":{{payload}}}}'

[[receive]]
means = "delivery"
when = {{ "/type" = "news" }}
payload = "/data"
example = '{{"type":"news","data":{{payload}}}}'
"#
    )
}

pub(super) fn users(folder: &Path, password: &str) -> String {
    let rows = (0..50).map(|user| format!("u{user},{password} u{user},the key of the backend\n"));
    let text: String = std::iter::once("user,password,backend\n".to_owned())
        .chain(rows)
        .collect();
    let path = folder.join("users.csv");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The only step of a run of 500 clients that connect to `url`, and make their requests at `base`.
fn step(workload: &str, url: &str, base: &str, more: &str) -> StepRecord {
    step_of(CLIENTS, workload, url, &dialect(base), more)
}

/// The same with another number of clients, with a dialect as text.
pub(super) fn step_of(
    clients: u64,
    workload: &str,
    url: &str,
    dialect: &str,
    more: &str,
) -> StepRecord {
    let folder = tempfile::tempdir().unwrap();
    let file = dialect_file(folder.path(), dialect);
    let users = users(folder.path(), "password of");
    let json = folder.path().join("run.json");
    let ran = run(&format!(
        "{workload} {url}?ticket={{ticket}} --dialect {file} --data {users} --initial-clients {clients} \
         --total-steps 1 --connect-timeout 60s --json {} {more}",
        json.display()
    ));
    assert!(json.exists(), "{ran:#?}");
    let mut record = assert_valid(&json);
    assert_eq!(record.steps.len(), 1, "{ran:#?}");
    let text = std::fs::read_to_string(json).unwrap() + &ran.stdout + &ran.stderr;
    assert!(!text.contains("password of u"), "{text}");
    record.steps.remove(0)
}

pub(super) fn all_with(requests: &HttpRequests, count: u64, status: &str) {
    assert_eq!((requests.requests, requests.failed), (count, 0));
    let due = BTreeMap::from([(status.to_owned(), count)]);
    assert_eq!(requests.statuses, due);
    assert_eq!(requests.took.as_ref().unwrap().count, count);
}

pub(super) fn addr(url: &str) -> SocketAddr {
    url.split('/').nth(2).unwrap().parse().unwrap()
}

#[test]
fn five_hundred_clients_log_in_and_hear_what_a_backend_publishes() {
    let server = Server::start("login.js", &[]);
    let base = format!("http://{}", addr(&server.url));
    let echoed = step(
        "echo",
        &server.url,
        "",
        "--sample-size 1000 --concurrent 4 --limit-rtt 20s",
    );
    assert!(echoed.faults.is_empty(), "{}", echoed.faults);
    assert_eq!((echoed.clients, echoed.samples), (CLIENTS, 1000));
    let http = echoed.http.unwrap();
    assert_eq!(http.steps.len(), 2);
    http.steps
        .iter()
        .for_each(|of| all_with(of, CLIENTS, "200"));
    assert_eq!(http.publications, None);

    let news = step(
        "broadcast",
        &server.url,
        &base,
        "--sample-size 10 --concurrent 4 --limit-rtt 20s",
    );
    assert!(news.faults.is_empty(), "{}", news.faults);
    assert_eq!(news.delivery.unwrap().count, 10 * CLIENTS);
    assert_eq!(news.ack.unwrap().count, 10);
    all_with(news.http.unwrap().publications.as_ref().unwrap(), 10, "202");

    let shared = step(
        "broadcast",
        &server.url,
        "",
        "--sample-size 10 --concurrent 4 --limit-rtt 20s --processes 2",
    );
    assert!(shared.faults.is_empty(), "{}", shared.faults);
    assert_eq!(shared.delivery.unwrap().count, 10 * CLIENTS);
    let http = shared.http.unwrap();
    http.steps
        .iter()
        .for_each(|of| all_with(of, CLIENTS, "200"));
    all_with(http.publications.as_ref().unwrap(), 10, "202");
}

#[test]
fn one_message_that_is_left_out_is_lost_once() {
    let server = Server::start("login.js", &[]);
    let base = format!("http://{}", addr(&server.url));
    for (workload, mark, samples, passed) in [
        ("echo", &b"\"echo\""[..], 1000, 777),
        ("broadcast", &b"\"news\""[..], 10, 777),
    ] {
        let (between, seen) = relay::leaving_out(addr(&server.url), mark, None, passed);
        let url = format!("ws://{between}/hub");
        let more =
            format!("--sample-size {samples} --concurrent 1 --sample-timeout 10s --limit-rtt 9s");
        let step = step(workload, &url, &base, &more);
        let one = Faults {
            lost: 1,
            ..Faults::default()
        };
        assert_eq!(step.faults, one, "{workload}");
        assert!(seen() > passed, "{workload}: {}", seen());
    }
}

#[test]
fn a_wrong_password_ends_the_run_with_the_step_and_what_the_server_said_and_no_secret() {
    let server = Server::start("login.js", &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = dialect_file(folder.path(), &dialect(""));
    let users = users(folder.path(), "a-guess-of");
    let ran = run(&format!(
        "echo {}?ticket={{ticket}} --dialect {file} --data {users} --initial-clients 5 --total-steps 1",
        server.url
    ));
    assert_eq!(ran.code, 1, "{ran:#?}");
    let begin = "step 1 of [[open.http]] (POST /login) was answered 401: `";
    assert!(ran.stderr.contains(begin), "{ran:#?}");
    assert!(
        ran.stderr.contains("has not the password <redacted>"),
        "{ran:#?}"
    );
    assert!(!ran.stderr.contains("a-guess-of"), "{ran:#?}");
    assert!(!ran.stderr.contains("may not enter"), "{ran:#?}");
}
