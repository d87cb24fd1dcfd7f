//! MQTT with name and password, with deliveries of QoS 1, and with packets that are cut anywhere.

use super::broker::Broker;
use super::mosquitto::Mosquitto;
use super::{bench, relay, step};
use record::Faults;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const CLIENTS: u64 = 500;
/// More than a broker leaves unacknowledged (mosquitto: 20 for each client).
const SAMPLES: u64 = 60;

/// A plan of broadcasts with its files.
struct Case {
    folder: TempDir,
    plan: PathBuf,
}

impl Case {
    fn new(url: &str, clients: u64, version: &str, more: &str) -> Self {
        let plan = format!(
            "target = {{ url = \"{url}\" }}\n\
             connection = {{ data = \"users.csv\", timeout = \"60s\" }}\n\
             clients.steps = {{ first = {clients}, count = 1 }}\n\
             load.closed = {{ in_flight = 4, samples = {SAMPLES} }}\n\
             limits = {{ time = \"20s\" }}\n\
             message.dialect = \"{version}\"\n{more}\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.toml");
        fs::write(&file, plan).unwrap();
        let case = Self { folder, plan: file };
        case.users("user,password\nann,pepper-1\nbob,pepper-2\n");
        case
    }

    /// Writes the data file.
    fn users(&self, rows: &str) {
        fs::write(self.folder.path().join("users.csv"), rows).unwrap();
    }

    fn run<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let run = ["run", self.plan.to_str().unwrap()];
        [&run[..], more].concat()
    }
}

/// What clients say of themselves.
const LOGIN: &str = "message.mqtt = { username = \"{user}\", password = \"{password}\", \
                     client_id = \"bench-{client}\", subscribe_qos = 1 }";

#[test]
fn clients_that_give_their_password_get_deliveries_with_qos_1() {
    let users = [("ann", "pepper-1"), ("bob", "pepper-2")];
    let broker = match Mosquitto::start_with_users(&users) {
        Ok(broker) => broker,
        Err(reason) => return test_servers::skipped(&reason),
    };
    for version in ["mqtt", "mqtt5"] {
        let case = Case::new(broker.url(), CLIENTS, version, LOGIN);
        let whole = step(&case.run(&[]), 0);
        assert!(whole.faults.is_empty(), "{}", whole.faults);
        assert_eq!(whole.delivery.unwrap().count, CLIENTS * SAMPLES);
        assert_eq!(whole.ack.unwrap().count, SAMPLES);
    }

    let case = Case::new(broker.url(), CLIENTS, "mqtt", LOGIN);
    case.users("user,password\nann,pepper-7\n");
    let (code, out, words) = bench(&case.run(&[]));
    assert_eq!(code, Some(1), "{out}{words}");
    let refused = "it does not take message.mqtt.username and message.mqtt.password of this client";
    assert!(words.contains(refused), "{words}{}", broker.log());
    assert!(!(out + &words).contains("pepper"), "{words}");
}

#[test]
fn one_delivery_with_qos_1_that_is_left_out_is_lost_once() {
    let broker = match Mosquitto::start_with_users(&[("ann", "pepper-1"), ("bob", "pepper-2")]) {
        Ok(broker) => broker,
        Err(reason) => return test_servers::skipped(&reason),
    };
    let server = broker.url().split('/').nth(2).unwrap().parse().unwrap();
    for version in ["mqtt", "mqtt5"] {
        let (between, seen) = relay::leaving_out(server, b"websocket-bench/all", None, 7777);
        let url = format!("ws://{between}/mqtt");
        let case = Case::new(&url, CLIENTS, version, LOGIN);
        let more = [
            "--set",
            "load.closed.in_flight=1",
            "--set",
            "limits.time='9s'",
            "--set",
            "limits.sample_timeout='10s'",
        ];
        let step = step(&case.run(&more), 3);
        let one = Faults {
            lost: 1,
            ..Faults::default()
        };
        assert_eq!(step.faults, one, "{version}");
        assert!(seen() > 7777, "{}", seen());
    }
}

#[test]
fn packets_that_are_cut_anywhere_are_put_together() {
    for qos in [0, 1] {
        let (addr, broker) = Broker::start(qos, None);
        let terms = format!("message.mqtt = {{ subscribe_qos = {qos} }}");
        let case = Case::new(&format!("ws://{addr}/"), 20, "mqtt", &terms);
        let whole = step(&case.run(&[]), 0);
        assert!(whole.faults.is_empty(), "{}", whole.faults);
        assert_eq!(whole.delivery.unwrap().count, 20 * SAMPLES);
        assert_eq!(whole.ack.unwrap().count, SAMPLES);
        let expected = u64::from(qos) * 20 * SAMPLES;
        // The last ones may be under way when the run ends.
        assert!(broker.acknowledged() <= expected);
        assert!(broker.acknowledged() >= expected - expected.min(4 * 20));
    }
}

#[test]
fn a_delivery_that_came_and_comes_again_is_a_duplicate() {
    let (addr, _) = Broker::start(1, Some(333));
    let terms = "message.mqtt = { subscribe_qos = 1 }";
    let case = Case::new(&format!("ws://{addr}/"), 20, "mqtt", terms);
    let step = step(&case.run(&[]), 3);
    let one = Faults {
        duplicate: 1,
        ..Faults::default()
    };
    assert_eq!(step.faults, one);
}

#[test]
fn terms_that_make_no_sense_are_refused_by_their_key() {
    for (dialect, terms, words) in [
        (
            "mqtt",
            "password = \"pepper\", username = \"u\"",
            "message.mqtt.password is a text as it stands",
        ),
        (
            "mqtt",
            "password = \"{password}\"",
            "has no message.mqtt.username beside it",
        ),
        (
            "mqtt",
            "client_id = \"bench\"",
            "message.mqtt.client_id is the same for all clients",
        ),
        (
            "mqtt",
            "username = \"{stamp}\"",
            "message.mqtt.username has a placeholder",
        ),
        ("mqtt", "username = \"{nickname}\"", "nickname"),
        (
            "mqtt5",
            "subscribe_qos = 2",
            "message.mqtt.subscribe_qos is neither 0 nor 1",
        ),
        (
            "text",
            "subscribe_qos = 1",
            "message.mqtt belongs to the dialects mqtt and mqtt5",
        ),
        ("mqtt", "user = \"x\"", "unknown key message.mqtt.user"),
    ] {
        let terms = format!("message.mqtt = {{ {terms} }}");
        let case = Case::new("ws://127.0.0.1:1/", 1, dialect, &terms);
        let (code, out, shown) = bench(&case.run(&[]));
        assert_eq!(code, Some(1), "{terms}: {out}{shown}");
        let shown = shown.replace('`', "");
        assert!(shown.contains(words), "{words}: {shown}");
        assert!(!shown.contains("pepper"), "{shown}");
    }
    let qos_1 = "message.mqtt = { subscribe_qos = 1 }\naudience = \"sender\"";
    let case = Case::new("ws://127.0.0.1:1/", 1, "mqtt", qos_1);
    let (code, _, shown) = bench(&case.run(&[]));
    assert_eq!(code, Some(1), "{shown}");
    assert!(
        shown.contains("subscribe_qos` is for broadcasts and rooms"),
        "{shown}"
    );
}
