//! Soketi, whose public channel a backend publishes to by Pusher's HTTP API.

use crate::dialects::relay;
use crate::dialects::soketi::{SECRET, Soketi, data};
use crate::support::{assert_valid, dialect_file, run};
use record::{Faults, StepRecord};
use std::net::SocketAddr;

const CLIENTS: u64 = 500;
const DIALECT: &str = include_str!("soketi.toml");

fn step(url: &str, base: &str, more: &str) -> StepRecord {
    let folder = tempfile::tempdir().unwrap();
    let text = DIALECT.replace("url = \"/apps", &format!("url = \"{base}/apps"));
    let file = dialect_file(folder.path(), &text);
    let json = folder.path().join("run.json");
    let ran = run(&format!(
        "broadcast {url} --dialect {file} --data {} --initial-clients {CLIENTS} --total-steps 1 \
         --sample-size 10 --connect-timeout 60s --json {} {more}",
        data(SECRET),
        json.display()
    ));
    let mut record = assert_valid(&json);
    assert_eq!(record.steps.len(), 1, "{ran:#?}");
    record.steps.remove(0)
}

#[test]
fn publications_over_http_reach_five_hundred_clients_and_one_left_out_is_lost() {
    let server = match Soketi::start() {
        Ok(server) => server,
        Err(reason) => return test_servers::skipped(&reason),
    };
    let url = server.url();
    let whole = step(&url, "", "--concurrent 4 --limit-rtt 20s");
    assert!(whole.faults.is_empty(), "{}", whole.faults);
    assert_eq!(whole.delivery.unwrap().count, 10 * CLIENTS);
    assert_eq!(whole.ack.unwrap().count, 10);
    let http = whole.http.unwrap();
    assert_eq!(http.publications.unwrap().statuses["200"], 10);

    let authority = url.split('/').nth(2).unwrap();
    let addr: SocketAddr = authority.parse().unwrap();
    let (between, seen) = relay::leaving_out(addr, b"\"event\":\"say\"", None, 777);
    let url = url.replace(authority, &between.to_string());
    let base = format!("http://{addr}");
    let lossy = step(
        &url,
        &base,
        "--concurrent 1 --sample-timeout 10s --limit-rtt 9s",
    );
    let one = Faults {
        lost: 1,
        ..Faults::default()
    };
    assert_eq!(lossy.faults, one);
    assert!(seen() > 777, "{}", seen());
}
