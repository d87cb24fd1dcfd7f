//! Each dialect with 500 clients: without a fault where there is none, and one message that is left out
//! between server and clients is counted as lost, once.

use super::go_server::GoServer;
use super::mosquitto::Mosquitto;
use super::rabbitmq::RabbitMq;
use super::soketi::{self, Soketi};
use super::{Server, bench, relay, token};
use record::{Faults, Json, RunRecord, StepRecord};
use std::any::Any;
use std::net::SocketAddr;
use test_servers::Framework;
use test_servers::liar::{LiarServer, Lie};

const CLIENTS: u64 = 500;
/// Messages of samples before the one that is left out.
const PASSED: u64 = 777;

/// A running server and its URL, or what is missing here.
type Started = Result<(Box<dyn Any>, String), String>;

struct Case {
    dialect: &'static str,
    workload: &'static str,
    /// What a delivery, or the answer to an echo, has in it once, and nothing else has.
    mark: &'static [u8],
    start: fn() -> Started,
}

impl Case {
    fn messages(&self) -> u64 {
        match (self.workload, self.dialect) {
            ("echo", _) => self.samples(),
            (_, "pusher" | "wamp") => self.samples() * (CLIENTS - 1),
            _ => self.samples() * CLIENTS,
        }
    }

    fn samples(&self) -> u64 {
        match self.workload {
            "echo" => 2 * CLIENTS,
            _ => 10,
        }
    }

    /// The only step of a run with those flags besides.
    fn run(&self, url: &str, more: &[&str]) -> StepRecord {
        let samples = self.samples().to_string();
        let line = [
            self.workload,
            url,
            "--server-type",
            self.dialect,
            "--initial-clients",
            "500",
            "--total-steps",
            "1",
            "--sample-size",
            &samples,
            "--concurrent",
            "4",
            "--connect-timeout",
            "60s",
            "--limit-rtt",
            "5s",
            "--json",
            "-",
        ];
        let data = match self.dialect {
            "pusher" => vec!["--data".to_owned(), soketi::data(soketi::SECRET)],
            "home-assistant" => vec!["--data".to_owned(), token("sesame")],
            _ => Vec::new(),
        };
        let data: Vec<&str> = data.iter().map(String::as_str).collect();
        let (_, record, words) = bench(&[&line[..], more, &data].concat());
        let record = RunRecord::from_json(&record);
        let mut record = record.unwrap_or_else(|error| panic!("{error}: {words}"));
        assert_eq!(record.steps.len(), 1, "{words}");
        record.steps.remove(0)
    }

    /// Carries out both runs.
    fn prove(&self) {
        let (_server, url) = match (self.start)() {
            Ok(started) => started,
            Err(reason) => return test_servers::skipped(&reason),
        };
        let name = self.dialect;
        let whole = self.run(&url, &[]);
        assert!(whole.faults.is_empty(), "{name}: {}", whole.faults);
        assert_eq!((whole.clients, whole.samples), (CLIENTS, self.samples()));
        match self.workload {
            "echo" => assert!(whole.generator.messages >= self.messages()),
            _ => assert_eq!(whole.delivery.unwrap().count, self.messages(), "{name}"),
        }

        let authority = url.split('/').nth(2).unwrap();
        let server: SocketAddr = authority.parse().unwrap();
        let separator = (self.dialect == "centrifugo").then_some(&b"\n"[..]);
        let (between, seen) = relay::leaving_out(server, self.mark, separator, PASSED);
        let url = url.replace(authority, &between.to_string());
        // One at a time, so that no delivery comes together with that of another sample.
        let step = self.run(&url, &["--sample-timeout", "10s", "--concurrent", "1"]);
        let one = Faults {
            lost: 1,
            ..Faults::default()
        };
        assert_eq!(step.faults, one, "{name}");
        assert!(
            seen() > PASSED && seen() <= self.messages(),
            "{name}: {}",
            seen()
        );
    }
}

fn node(script: &str) -> Started {
    let server = Server::start(script, &[]);
    let url = server.url.clone();
    Ok((Box::new(server), url))
}

fn honest(framework: Framework, path: &str) -> Started {
    let server = LiarServer::start_as(Lie::None, framework).unwrap();
    let url = format!("ws://{}{path}", server.addr());
    Ok((Box::new(server), url))
}

fn broker() -> Started {
    let broker = Mosquitto::start()?;
    let url = broker.url().to_owned();
    Ok((Box::new(broker), url))
}

#[test]
fn of_text() {
    Case {
        dialect: "text",
        workload: "broadcast",
        mark: b"\"broadcast\"",
        start: || honest(Framework::Plain, "/ws"),
    }
    .prove();
}

#[test]
fn of_binary() {
    Case {
        dialect: "binary",
        workload: "broadcast",
        // The type byte and the size of a payload without padding.
        mark: b"b\0\0\0\x08",
        start: || honest(Framework::Plain, "/ws"),
    }
    .prove();
}

#[test]
fn of_phoenix() {
    Case {
        dialect: "phoenix",
        workload: "broadcast",
        mark: b"\"type\":\"broadcast\"",
        start: || honest(Framework::Phoenix, "/socket/websocket"),
    }
    .prove();
}

#[test]
fn of_phoenix_2() {
    Case {
        dialect: "phoenix-2",
        workload: "broadcast",
        mark: b"\"type\":\"broadcast\"",
        start: || honest(Framework::Phoenix, "/socket/websocket?vsn=2.0.0"),
    }
    .prove();
}

#[test]
fn of_action_cable() {
    Case {
        dialect: "actioncable",
        workload: "broadcast",
        mark: b"\"broadcast\"",
        start: || honest(Framework::ActionCable, "/cable"),
    }
    .prove();
}

#[test]
fn of_socket_io() {
    Case {
        dialect: "socketio",
        workload: "broadcast",
        mark: b"42[\"broadcast\",",
        start: || node("socketio.js"),
    }
    .prove();
}

#[test]
fn of_graphql_ws() {
    Case {
        dialect: "graphql-ws",
        workload: "echo",
        mark: b"\"next\"",
        start: || node("graphql.js"),
    }
    .prove();
}

#[test]
fn of_lines() {
    Case {
        dialect: "lines",
        workload: "echo",
        mark: b" ",
        start: || node("lines.js"),
    }
    .prove();
}

#[test]
fn of_stomp() {
    Case {
        dialect: "stomp",
        workload: "broadcast",
        mark: b"MESSAGE\n",
        start: || {
            let broker = RabbitMq::start()?;
            let url = format!("ws://{}/ws", broker.addr());
            Ok((Box::new(broker), url))
        },
    }
    .prove();
}

#[test]
fn of_mqtt() {
    Case {
        dialect: "mqtt",
        workload: "broadcast",
        mark: b"websocket-bench/all",
        start: broker,
    }
    .prove();
}

#[test]
fn of_mqtt_5() {
    Case {
        dialect: "mqtt5",
        workload: "broadcast",
        mark: b"websocket-bench/all",
        start: broker,
    }
    .prove();
}

#[test]
fn of_centrifugo() {
    Case {
        dialect: "centrifugo",
        workload: "broadcast",
        mark: b"\"pub\":",
        start: || {
            let server = GoServer::start("centrifuge")?;
            let url = server.url().to_owned();
            Ok((Box::new(server), url))
        },
    }
    .prove();
}

#[test]
fn of_pusher() {
    Case {
        dialect: "pusher",
        workload: "broadcast",
        mark: b"\"client-broadcast\"",
        start: || {
            let server = Soketi::start()?;
            let url = server.url();
            Ok((Box::new(server), url))
        },
    }
    .prove();
}

fn wamp() -> Started {
    let router = GoServer::start("wamp")?;
    let url = router.url().to_owned();
    Ok((Box::new(router), url))
}

#[test]
fn of_wamp() {
    Case {
        dialect: "wamp",
        workload: "broadcast",
        mark: b"[36,",
        start: wamp,
    }
    .prove();
}

#[test]
fn of_calls_by_wamp() {
    Case {
        dialect: "wamp",
        workload: "echo",
        mark: b"[50,",
        start: wamp,
    }
    .prove();
}

#[test]
fn of_home_assistant() {
    Case {
        dialect: "home-assistant",
        workload: "broadcast",
        mark: b"\"type\":\"event\"",
        start: || node("home-assistant.js"),
    }
    .prove();
}
