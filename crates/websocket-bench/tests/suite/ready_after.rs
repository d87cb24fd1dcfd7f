//! Clients that nothing tells that they are ready, against a server that subscribes them late and says
//! nothing; and messages that count those of their connection.

use crate::lines::{self, write};
use crate::support::run_with_dialect;
use record::Faults;
use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// From its subscription until a client hears what is said. It is ready `READY_AFTER` later.
const LATE: Duration = Duration::from_millis(100);
const READY_AFTER: &str = "ready_after = \"1500ms\"\n";

const CHAT: &str = r#"
name = "chat"
summary = "What one says the subscribers hear; nothing confirms a subscription."

[open]
send = "join {sequence}"
READY_AFTER

[send]
broadcast = "say all {stamp} {padding}"
publish = "say {topic} {stamp} {padding}"
subscribe = "sub {topic} {sequence}"
acknowledged = false

[[receive]]
means = "message"
when = { "/topic" = { is = ["string"] } }
topic = "/topic"
stamp = "/stamp"
line = "/text"
example = '{"topic":"{topic}","stamp":"{stamp}","text":"{line}"}'

[[receive]]
means = "delivery"
when = { "/stamp" = { is = ["string"] } }
stamp = "/stamp"
line = "/text"
example = '{"stamp":"{stamp}","text":"{line}"}'

[[receive]]
means = "keep-alive"
text = "ping"
send = "pong"
"#;

#[derive(Default)]
struct Chat {
    /// By the port of a client: its socket and its topics.
    members: Mutex<HashMap<u16, (TcpStream, Vec<String>)>>,
    pongs: Mutex<u64>,
}

/// A server that asks each client whether it lives, and lets it hear what is said later than it asked.
fn chat() -> (SocketAddr, &'static Chat) {
    let chat: &'static Chat = Box::leak(Box::default());
    let port = |client: &TcpStream| client.peer_addr().map_or(0, |addr| addr.port());
    let addr = lines::start(move || {
        move |line: &str, client: &TcpStream| {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["pong"] => *chat.pongs.lock().unwrap() += 1,
                ["join", "1"] => {
                    write(client, "ping");
                    let member = (client.try_clone().unwrap(), Vec::new());
                    chat.members.lock().unwrap().insert(port(client), member);
                    enter(chat, port(client), "all");
                }
                ["sub", topic, "2"] => enter(chat, port(client), topic),
                ["say", topic, stamp, text] => {
                    let said = match topic {
                        "all" => format!(r#"{{"stamp":"{stamp}","text":"{text}"}}"#),
                        _ => format!(r#"{{"topic":"{topic}","stamp":"{stamp}","text":"{text}"}}"#),
                    };
                    let members = chat.members.lock().unwrap();
                    let heard = members
                        .values()
                        .filter(|member| member.1.iter().any(|of| of == topic));
                    heard.for_each(|(member, _)| write(member, &said));
                }
                _ => write(client, "what?"),
            }
        }
    });
    (addr, chat)
}

/// Has a client hear a topic.
// timed: the server is late on purpose; the clients wait fifteen times as long.
fn enter(chat: &'static Chat, port: u16, topic: &str) {
    let topic = topic.to_owned();
    thread::spawn(move || {
        thread::sleep(LATE);
        if let Some((_, topics)) = chat.members.lock().unwrap().get_mut(&port) {
            topics.push(topic);
        }
    });
}

const CLOSED: &str = "[clients.steps]\nfirst = 12\ncount = 1\n[load.closed]\nin_flight = 3\n\
                      samples = 30\n[limits]\ntime = \"20s\"\nsample_timeout = \"60s\"\n";

#[test]
fn clients_that_are_subscribed_late_lose_nothing_when_they_wait() {
    let dialect = CHAT.replace("READY_AFTER", READY_AFTER);
    let rooms = format!("[audience.room]\nmembers = 4\n{CLOSED}");
    for (plan, more) in [
        (CLOSED, ""),
        (CLOSED, "--processes 2"),
        (&rooms, "--set generator.threads=2"),
        (&rooms, "--processes 2"),
    ] {
        let (server, chat) = chat();
        let (ran, record) = run_with_dialect(&dialect, server, plan, more);
        ran.exits(0);
        assert_eq!(record.faults(), Faults::default(), "{more}\n{plan}");
        assert_eq!(record.steps[0].samples, 30);
        // Each was asked before it was ready.
        assert_eq!(*chat.pongs.lock().unwrap(), 12);
    }
}

#[test]
fn clients_that_come_back_hear_what_is_sent_once_they_are_ready() {
    let dialect = CHAT.replace("READY_AFTER", READY_AFTER);
    let leaving = "[[populations]]\n[[populations]]\n\
                   life = { comes_and_goes = { stays = \"500ms\", away = \"50ms\" } }\n\
                   [clients.steps]\nfirst = 12\ncount = 1\n[load.open]\nrate = 50\nduration = \"6s\"\n\
                   [limits]\ntime = \"20s\"\nsample_timeout = \"60s\"\n";
    for plan in [
        leaving.to_owned(),
        format!("[audience.room]\nmembers = 6\n{leaving}"),
    ] {
        let (server, _) = chat();
        let (ran, record) = run_with_dialect(&dialect, server, &plan, "");
        ran.exits(0);
        assert_eq!(record.faults(), Faults::default(), "{plan}");
        let churn = record.steps[0].churn.as_deref().unwrap();
        assert!(churn.reconnected > 0, "{churn:?}");
    }
}

#[test]
fn without_the_time_messages_are_lost() {
    let dialect = CHAT
        .replace(
            "READY_AFTER",
            "[[open.receive]]\nmeans = \"ready\"\ntext = \"ping\"\n\
             [[open.receive]]\nmeans = \"subscribed\"\nwhen = { \"/never\" = 1 }\ntopic = \"/never\"\n",
        )
        .replace(
            "text = \"ping\"\nsend = \"pong\"\n",
            "text = \"pang\"\nsend = \"pong\"\n",
        );
    let (server, _) = chat();
    let plan = CLOSED.replace("60s", "2s").replace("20s", "1s");
    let (ran, record) = run_with_dialect(&dialect, server, &plan, "");
    let ran = ran
        .exits(3)
        .says(&["the server or the dialect file is at fault"]);
    assert!(record.faults().lost > 0, "{ran:#?}");
}

const NUMBERED: &str = r#"
name = "numbered"
summary = "Commands with a number, from the first message of a connection on."

[open]
send = '{"id":{sequence},"type":"auth"}'

[[open.receive]]
means = "ready"
when = { "/id" = 1, "/ok" = true }

[[send.kinds]]
name = "ask"
message = '{"id":{sequence},"type":"ask"}'

[[send.kinds]]
name = "tell"
message = '{"id":{sequence},"type":"tell","again":{sequence}}'

[[receive]]
means = "echo"
kind = "ask"
when = { "/type" = "ask" }
sequence = "/id"
example = '{"id":{sequence},"type":"ask"}'

[[receive]]
means = "echo"
kind = "tell"
when = { "/type" = "tell" }
sequence = "/id"
example = '{"id":{sequence},"type":"tell"}'
"#;

/// A server that wants the numbers of each connection to rise by one, and answers two requests in the
/// order that it likes. Of the first `wrong` requests it answers with the number of the one before.
fn numbered(wrong: u64) -> SocketAddr {
    lines::start(move || {
        let (mut due, mut left) = (1, wrong);
        move |line: &str, client: &TcpStream| {
            let message: serde_json::Value = serde_json::from_str(line).unwrap();
            let (id, kind) = (
                message["id"].as_u64().unwrap(),
                message["type"].as_str().unwrap(),
            );
            assert_eq!(id, due, "{line}");
            assert!(
                message.get("again").is_none_or(|again| *again == id),
                "{line}"
            );
            due += 1;
            match kind {
                "auth" => write(client, &format!(r#"{{"id":{id},"ok":true}}"#)),
                kind => {
                    let id = if left > 0 { 1 } else { id };
                    left = left.saturating_sub(1);
                    write(client, &format!(r#"{{"id":{id},"type":"{kind}"}}"#));
                }
            }
        }
    })
}

#[test]
fn answers_belong_to_the_requests_of_their_connection_with_that_number() {
    let plan = "audience = \"sender\"\n[clients.steps]\nfirst = 6\nadd = 6\ncount = 2\n[load.closed]\n\
                in_flight = 12\nsamples = 120\n[limits]\ntime = \"20s\"\nsample_timeout = \"60s\"\n";
    for more in ["", "--processes 2", "--set generator.threads=2"] {
        let (ran, record) = run_with_dialect(NUMBERED, numbered(0), plan, more);
        ran.exits(0);
        assert_eq!(record.faults(), Faults::default(), "{more}");
        assert_eq!(record.steps[1].samples, 120, "{more}");
    }
    let plan = plan.replace("60s", "2s").replace("20s", "1s");
    let (ran, record) = run_with_dialect(NUMBERED, numbered(1), &plan, "");
    ran.exits(3);
    // The first answer of each connection has the number of a later request: it is a duplicate, and that
    // request's own answer is lost.
    let faults = record.faults();
    assert_eq!((faults.duplicate, faults.lost), (6, 6), "{faults}");
}
