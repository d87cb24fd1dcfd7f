//! Servers of the kinds that the page names and no library here serves: each demands what that kind
//! demands, and answers nothing else. A thread for each connection, in the memory of the test.

use crate::front::{Front, Verdict};
use crate::lines::{self, Entry, write};
use crate::raw_peer::{self, Script, frame};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use ws_proto::Opcode;

/// The token of the page.
pub(super) const TOKEN: &str = "sesame";

/// Who hears what is said to all.
#[derive(Clone, Default)]
struct Hub(Arc<Mutex<Vec<TcpStream>>>);

impl Hub {
    fn join(&self, client: &TcpStream) {
        self.0.lock().unwrap().push(client.try_clone().unwrap());
    }

    /// Locked to the end, so that all hear everything in one order.
    fn say(&self, text: &str) {
        let clients = self.0.lock().unwrap();
        clients.iter().for_each(|client| write(client, text));
    }

    fn say_json(&self, message: &Value) {
        self.say(&message.to_string());
    }
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or(Value::Null)
}

fn answer(client: &TcpStream, message: &Value) {
    write(client, &message.to_string());
}

/// A server that lets in handshakes with these lines, the first of which may be cut short.
fn speaking<F: FnMut(&str, &TcpStream) + Send>(
    wanted: &'static [&'static str],
    entry: Entry,
    connected: impl Fn() -> F + Send + Sync + 'static,
) -> SocketAddr {
    let has = |head: &str, line: &str| head.lines().any(|of_head| of_head.starts_with(line));
    let enters = move |head: &str, _: &TcpStream| {
        let is_let_in = wanted.iter().all(|line| has(head, line));
        is_let_in.then_some(entry)
    };
    lines::serving(enters, connected)
}

/// Prices that each client of the feed is told.
pub(super) const UPDATES: usize = 20;

/// Tells each client of one path its prices, and listens to nothing.
pub(super) fn feed() -> Front {
    let update = frame(Opcode::Text, br#"{"e":"trade","p":"64000.1"}"#);
    let (prices, _) = raw_peer::start(Script {
        greeting: update.repeat(UPDATES),
        ..Script::default()
    });
    on_path("/ws/btcusdt@trade", prices)
}

/// Lets through to a server what asks for its path alone.
fn on_path(path: &'static str, server: SocketAddr) -> Front {
    Front::before(server, move |head| {
        match head.starts_with(&format!("GET {path} ")) {
            true => Verdict::Pass(""),
            false => Verdict::Refuse("HTTP/1.1 404 No\r\n\r\n".to_owned()),
        }
    })
}

/// Tells each client of one path the trades of two symbols, numbered, but for one of these trades.
pub(super) fn trades(without: Option<usize>) -> Front {
    let trade = |number: usize| {
        let of = |symbol| json!({"e": "trade", "s": symbol, "t": number, "p": "64000.1"});
        ["BTCUSDT", "ETHUSDT"].map(|symbol| frame(Opcode::Text, of(symbol).to_string().as_bytes()))
    };
    let numbers = (1..=UPDATES).filter(|number| Some(*number) != without);
    let (trades, _) = raw_peer::start(Script {
        greeting: numbers.flat_map(trade).collect::<Vec<_>>().concat(),
        ..Script::default()
    });
    on_path("/ws/trades", trades)
}

/// Home Assistant's way to log in, with ids that must rise.
pub(super) fn login() -> SocketAddr {
    lines::start(|| {
        let mut last = None;
        move |line: &str, client: &TcpStream| {
            let said = parse(line);
            let id = said["id"].as_u64();
            if said["type"] == "auth" {
                let is_right = said["access_token"] == TOKEN;
                last = is_right.then_some(0);
                let kind = if is_right { "auth_ok" } else { "auth_invalid" };
                answer(client, &json!({"type": kind}));
            } else if last.is_some() && id > last {
                last = id;
                answer(client, &json!({"type": "pong", "id": id}));
            } else {
                answer(client, &json!({"type": "result", "success": false}));
            }
        }
    })
}

/// Answers one method, and tells of a new block before each second answer.
pub(super) fn json_rpc(method: &'static str) -> SocketAddr {
    lines::start(move || {
        let mut calls = 0;
        move |line: &str, client: &TcpStream| {
            let call = parse(line);
            calls += 1;
            if calls % 2 == 0 {
                answer(
                    client,
                    &json!({"jsonrpc": "2.0", "method": "eth_subscription", "params": {}}),
                );
            }
            let is_known =
                call["method"] == method && call["params"].is_array() && call["jsonrpc"] == "2.0";
            let key = if is_known { "result" } else { "error" };
            let value = if is_known {
                json!("0x7")
            } else {
                json!({"code": -32601})
            };
            answer(
                client,
                &json!({"jsonrpc": "2.0", "id": call["id"], key: value}),
            );
        }
    })
}

/// Hands each message with a user and a `text` to all, under the name that is given.
pub(super) fn chat(name: &'static str) -> SocketAddr {
    let hub = Hub::default();
    let enters = hub.clone();
    lines::start_with(
        move |client| enters.join(client),
        move || {
            let hub = hub.clone();
            move |line: &str, _: &TcpStream| {
                let said = parse(line);
                hub.say_json(&json!({"user": said["user"], name: said["text"]}));
            }
        },
    )
}

/// One channel of Phoenix, which wants a token and replies to what it broadcasts.
pub(super) fn phoenix() -> SocketAddr {
    let hub = Hub::default();
    speaking(
        &["GET /socket/websocket?vsn=2.0.0 "],
        Entry::default(),
        move || {
            let hub = hub.clone();
            let mut joined = false;
            move |line: &str, client: &TcpStream| {
                let push = parse(line);
                let status = match (push[2].as_str(), push[3].as_str()) {
                    (Some("phoenix"), Some("heartbeat")) => "ok",
                    (Some("chat:lobby"), Some("phx_join")) if push[4]["token"] == TOKEN => {
                        joined = true;
                        hub.join(client);
                        "ok"
                    }
                    (Some("chat:lobby"), Some("new_msg")) if joined => {
                        hub.say_json(&json!([null, null, "chat:lobby", "new_msg", push[4]]));
                        "ok"
                    }
                    _ => "error",
                };
                let reply = json!({"status": status, "response": {}});
                answer(
                    client,
                    &json!([push[0], push[1], push[2], "phx_reply", reply]),
                );
            }
        },
    )
}

/// One channel of Action Cable.
pub(super) fn action_cable() -> SocketAddr {
    const CHANNEL: &str = r#"{"channel":"ChatChannel"}"#;
    let entry = Entry {
        adds: "Sec-WebSocket-Protocol: actioncable-v1-json\r\n",
        greeting: r#"{"type":"welcome"}"#,
    };
    let wanted = &[
        "GET /cable ",
        "Origin: http",
        "Sec-WebSocket-Protocol: actioncable-v1-json",
    ];
    let hub = Hub::default();
    speaking(wanted, entry, move || {
        let hub = hub.clone();
        let mut is_subscribed = false;
        move |line: &str, client: &TcpStream| {
            let command = parse(line);
            if command["identifier"] != CHANNEL {
                return answer(client, &json!({"type": "reject_subscription"}));
            }
            if command["command"] == "subscribe" {
                is_subscribed = true;
                hub.join(client);
                answer(client, &json!({"type": "ping", "message": 1}));
                answer(
                    client,
                    &json!({"identifier": CHANNEL, "type": "confirm_subscription"}),
                );
            }
            let data = parse(command["data"].as_str().unwrap_or_default());
            if is_subscribed && data["action"] == "speak" {
                hub.say_json(&json!({"identifier": CHANNEL, "message": {"body": data["body"]}}));
            }
        }
    })
}

/// A hub of SignalR, whose messages end with 0x1e, and come in pairs where two are to be sent.
pub(super) fn signal_r() -> SocketAddr {
    let hub = Hub::default();
    speaking(&["GET /chathub "], Entry::default(), move || {
        let hub = hub.clone();
        let mut is_open = false;
        move |line: &str, client: &TcpStream| {
            let Some(said) = line.strip_suffix('\u{1e}').map(parse) else {
                return;
            };
            let is_right = said["protocol"] == "json" && said["version"] == 1;
            if !is_open && is_right {
                is_open = true;
                hub.join(client);
                write(client, "{}\u{1e}");
            } else if is_open && said["type"] == 1 && said["target"] == "Send" {
                let call =
                    json!({"type": 1, "target": "ReceiveMessage", "arguments": said["arguments"]});
                hub.say(&format!("{call}\u{1e}"));
                let done = json!({"type": 3, "invocationId": said["invocationId"], "result": null});
                write(client, &format!("{}\u{1e}{done}\u{1e}", json!({"type": 6})));
            }
        }
    })
}

/// Spring's simple broker: it confirms neither messages nor subscriptions.
pub(super) fn spring() -> SocketAddr {
    let entry = Entry {
        adds: "Sec-WebSocket-Protocol: v12.stomp\r\n",
        greeting: "",
    };
    let hub = Hub::default();
    speaking(&["Sec-WebSocket-Protocol: v12.stomp"], entry, move || {
        let hub = hub.clone();
        let mut is_connected = false;
        move |frame: &str, client: &TcpStream| {
            let (head, body) = frame.split_once("\n\n").unwrap_or_default();
            let (command, headers) = head.split_once('\n').unwrap_or_default();
            let has = |line: &str| headers.lines().any(|header| header == line);
            match command {
                "CONNECT" if has("accept-version:1.2") => {
                    is_connected = true;
                    write(client, "CONNECTED\nversion:1.2\nheart-beat:0,0\n\n\0");
                }
                "SUBSCRIBE" if is_connected && has("destination:/topic/chat") => hub.join(client),
                "SEND" if is_connected && has("destination:/app/chat") => hub.say(&format!(
                    "MESSAGE\ndestination:/topic/chat\nsubscription:0\n\n{body}"
                )),
                _ => write(client, "ERROR\nmessage:not here\n\n\0"),
            }
        }
    })
}

/// A schema with the subscription `news` and the mutation `say`, over graphql-transport-ws.
pub(super) fn graphql() -> SocketAddr {
    const SAY: &str = "mutation($text:String!){say(text:$text)}";
    let entry = Entry {
        adds: "Sec-WebSocket-Protocol: graphql-transport-ws\r\n",
        greeting: "",
    };
    let hub = Hub::default();
    speaking(
        &["Sec-WebSocket-Protocol: graphql-transport-ws"],
        entry,
        move || {
            let hub = hub.clone();
            let mut is_known = false;
            move |line: &str, client: &TcpStream| {
                let said = parse(line);
                let (id, payload) = (&said["id"], &said["payload"]);
                match (said["type"].as_str(), payload["query"].as_str()) {
                    (Some("connection_init"), _) if payload["token"] == TOKEN => {
                        is_known = true;
                        answer(client, &json!({"type": "connection_ack"}));
                        answer(client, &json!({"type": "ping"}));
                    }
                    (Some("subscribe"), Some("subscription{news}")) if is_known => hub.join(client),
                    (Some("subscribe"), Some(SAY)) if is_known => {
                        let news = json!({"data": {"news": payload["variables"]["text"]}});
                        hub.say_json(&json!({"id": "news", "type": "next", "payload": news}));
                        let done = json!({"data": {"say": true}});
                        answer(client, &json!({"id": id, "type": "next", "payload": done}));
                        answer(client, &json!({"id": id, "type": "complete"}));
                    }
                    (Some("pong"), _) => {}
                    _ => drop(client.shutdown(std::net::Shutdown::Both)),
                }
            }
        },
    )
}

/// A central system of OCPP 1.6. It asks each charge point once, and answers its meter values when that
/// call has been answered. It asks for a heartbeat each second.
pub(super) fn central_system() -> SocketAddr {
    let entry = Entry {
        adds: "Sec-WebSocket-Protocol: ocpp1.6\r\n",
        greeting: "",
    };
    speaking(
        &["GET /ocpp/CP-", "Sec-WebSocket-Protocol: ocpp1.6"],
        entry,
        || {
            let (mut is_booted, mut has_answered, mut waiting) = (false, false, Vec::new());
            move |line: &str, client: &TcpStream| {
                let said = parse(line);
                let result = |payload: Value| answer(client, &json!([3, said[1], payload]));
                match (said[0].as_u64(), said[2].as_str()) {
                    (Some(2), Some("BootNotification")) => {
                        is_booted = said[3]["chargePointModel"].is_string();
                        result(json!({"status": "Accepted", "interval": 1, "currentTime": "now"}));
                        answer(
                            client,
                            &json!([2, "ask-1", "TriggerMessage", {"requestedMessage": "Heartbeat"}]),
                        );
                    }
                    (Some(3), _) if said[1] == "ask-1" && said[2]["status"] == "Accepted" => {
                        has_answered = true;
                        for id in waiting.drain(..) {
                            answer(client, &json!([3, id, {}]));
                        }
                    }
                    (Some(3), _) => {}
                    (Some(2), Some("Heartbeat")) if is_booted => {
                        result(json!({"currentTime": "now"}))
                    }
                    (Some(2), Some("MeterValues")) if said[3]["meterValue"].is_array() => {
                        match has_answered {
                            true => result(json!({})),
                            false => waiting.push(said[1].clone()),
                        }
                    }
                    _ => answer(client, &json!([4, said[1], "ProtocolError", "", {}])),
                }
            }
        },
    )
}

/// Answers a question with three parts between a start and an end.
pub(super) fn model() -> SocketAddr {
    lines::start(|| {
        |line: &str, client: &TcpStream| {
            let asked = parse(line);
            let prompt = asked["prompt"].as_str();
            if prompt.is_none_or(|text| !text.ends_with(['?', '.'])) {
                return;
            }
            let id = &asked["id"];
            for index in 0..4 {
                answer(
                    client,
                    &json!({"type": "token", "id": id, "index": index, "text": "..."}),
                );
                // timed: so that not all tokens of all answers are read at once; nothing waits for it.
                thread::sleep(Duration::from_millis(1));
            }
            answer(client, &json!({"type": "done", "id": id, "tokens": 4}));
        }
    })
}

/// A shop that sells what it showed to the one who asks with the token that it gave; `forgets` the
/// tokens.
pub(super) fn session(forgets: bool) -> SocketAddr {
    let tokens = Arc::new(AtomicU64::new(100));
    lines::start(move || {
        let tokens = Arc::clone(&tokens);
        let (mut token, mut shown) = (String::new(), 0);
        move |line: &str, client: &TcpStream| {
            let asked = parse(line);
            let is_known = asked["token"] == token.as_str() && !forgets;
            let message = match asked["do"].as_str() {
                Some("login") => {
                    let number = tokens.fetch_add(1, Ordering::SeqCst);
                    (token, shown) = (format!("token-{number}"), number);
                    json!({"token": token})
                }
                Some("list") if is_known => json!({"items": [{"id": shown}, {"id": 1}]}),
                Some("buy") if is_known && asked["id"] == shown => json!({"bought": shown}),
                _ => json!({"error": "who are you?"}),
            };
            answer(client, &message);
        }
    })
}

/// Answers searches and purchases; `confuses` the two.
pub(super) fn shop(confuses: bool) -> SocketAddr {
    lines::start(move || {
        move |line: &str, client: &TcpStream| {
            let asked = parse(line);
            let message = match (asked["do"] == "buy") != confuses {
                true => json!({"id": asked["id"], "bought": true}),
                false => json!({"id": asked["id"], "found": ["a hat"]}),
            };
            answer(client, &message);
        }
    })
}
