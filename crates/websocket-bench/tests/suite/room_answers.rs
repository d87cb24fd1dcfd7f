//! Servers that answer a change of rooms badly: what becomes of the client, and of the run.

use crate::support::{assert_valid, bench, finish, url};
use record::{End, RunRecord, StepRecord};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use ws_proto::{CloseFrame, DecodeError, Decoder, Event, Opcode, Sender, accept_for, encode_frame};

/// What a server does that a client asks to change rooms.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Misdeed {
    /// It does not answer to the end of a subscription.
    KeepsSilent,
    /// It confirms the next subscription, and closes the connection in the same segment.
    ConfirmsAndCloses,
    /// It confirms another topic.
    ConfirmsAnother,
    /// It confirms the first subscription of a connection alone.
    ConfirmsOnce,
    /// It confirms a thousand times.
    ConfirmsOften,
    /// It ends the connection when it is asked to end a subscription.
    HangsUp,
}

struct Client {
    stream: TcpStream,
    is_subscribed: bool,
    subscriptions: u32,
}

struct Server {
    misdeed: Misdeed,
    /// By connection. All frames are written under the lock.
    clients: Mutex<Vec<Client>>,
}

fn start(misdeed: Misdeed) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let server = Arc::new(Server {
        misdeed,
        clients: Mutex::default(),
    });
    thread::spawn(move || {
        for stream in listener.incoming() {
            let server = Arc::clone(&server);
            thread::spawn(move || server.serve(stream.unwrap()));
        }
    });
    addr
}

fn text(message: &Value) -> Vec<u8> {
    let mut frame = Vec::new();
    let message = message.to_string();
    encode_frame(&mut frame, Opcode::Text, None, message.as_bytes());
    frame
}

/// The client may be gone.
fn write(mut stream: &TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

impl Server {
    /// Until the connection ends.
    fn serve(&self, mut stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if stream.read_exact(&mut byte).is_err() {
                return;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let key = head.split_once("Sec-WebSocket-Key: ").unwrap().1;
        let accept = accept_for(key.lines().next().unwrap());
        let number = {
            let mut clients = self.clients.lock().unwrap();
            write(
                &stream,
                format!(
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
                     Connection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
                )
                .as_bytes(),
            );
            clients.push(Client {
                stream: stream.try_clone().unwrap(),
                is_subscribed: false,
                subscriptions: 0,
            });
            clients.len() - 1
        };
        let mut decoder = Decoder::new(Sender::Client, 1 << 20);
        let mut buffer = [0; 4096];
        let mut ends = false;
        while !ends {
            let Ok(count @ 1..) = stream.read(&mut buffer) else {
                break;
            };
            let fed = decoder.feed(&buffer[..count], |event| {
                match event {
                    Event::Message { payload, .. } => {
                        let request = serde_json::from_slice(payload).unwrap();
                        self.answer(&stream, number, &request);
                    }
                    Event::Close(payload) => {
                        let mut frame = Vec::new();
                        encode_frame(&mut frame, Opcode::Close, None, payload);
                        write(&stream, &frame);
                        ends = true;
                    }
                    Event::Ping(_) | Event::Pong(_) => {}
                }
                Ok::<_, DecodeError>(())
            });
            fed.unwrap();
        }
        self.clients.lock().unwrap()[number].is_subscribed = false;
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }

    fn answer(&self, stream: &TcpStream, number: usize, request: &Value) {
        let mut clients = self.clients.lock().unwrap();
        let topic = &request["topic"];
        match request["type"].as_str() {
            Some("subscribe") => {
                let client = &mut clients[number];
                client.subscriptions += 1;
                let is_change = client.subscriptions > 1;
                if is_change && self.misdeed == Misdeed::ConfirmsOnce {
                    return;
                }
                client.is_subscribed = true;
                write(stream, &self.confirmation(topic, is_change));
            }
            Some("unsubscribe") => {
                clients[number].is_subscribed = false;
                match self.misdeed {
                    Misdeed::KeepsSilent => {}
                    Misdeed::HangsUp => drop(stream.shutdown(std::net::Shutdown::Both)),
                    _ => write(
                        stream,
                        &text(&json!({"type": "unsubscribed", "topic": topic})),
                    ),
                }
            }
            Some("publish") => {
                let says = |word| {
                    text(&json!({"type": word, "topic": topic, "payload": request["payload"]}))
                };
                for client in clients.iter().filter(|client| client.is_subscribed) {
                    write(&client.stream, &says("message"));
                }
                write(stream, &says("publishResult"));
            }
            other => panic!("{other:?}"),
        }
    }

    fn confirmation(&self, topic: &Value, is_change: bool) -> Vec<u8> {
        let good = text(&json!({"type": "subscribed", "topic": topic}));
        match self.misdeed {
            Misdeed::ConfirmsAndCloses if is_change => {
                let mut both = good;
                let close = CloseFrame {
                    code: 1001,
                    reason: String::new(),
                };
                encode_frame(&mut both, Opcode::Close, None, &close.encode());
                both
            }
            Misdeed::ConfirmsAnother if is_change => {
                text(&json!({"type": "subscribed", "topic": "room-7"}))
            }
            Misdeed::ConfirmsOften if is_change => good.repeat(1000),
            _ => good,
        }
    }
}

/// 20 messages a second for three seconds in one room, which half of ten clients leave and enter.
const PLAN: &str = r#"
    audience = { room = { equal = 1 } }
    [connection]
    timeout = "500ms"
    [[populations]]
    [[populations]]
    life = { changes_room = { stays = "300ms", away = "50ms" } }
    reconnect = { first = "50ms", most = "100ms" }
    [clients.steps]
    first = 10
    count = 1
    [load.open]
    rate = 20.0
    duration = "3s"
    [limits]
    time = "5s"
"#;

fn against(misdeed: Misdeed) -> StepRecord {
    let record = measured(misdeed, PLAN);
    let end = match misdeed {
        Misdeed::ConfirmsAndCloses | Misdeed::HangsUp => End::ServerLost,
        _ => End::StepsDone,
    };
    assert_eq!(record.outcome.end, end, "{misdeed:?}");
    let step = record.steps[0].clone();
    // Those that stay hear everything, whatever becomes of the others.
    assert_eq!(step.samples, step.samples_planned, "{misdeed:?}");
    step
}

fn measured(misdeed: Misdeed, plan: &str) -> RunRecord {
    let folder = tempfile::tempdir().unwrap();
    let (file, json) = (
        folder.path().join("plan.toml"),
        folder.path().join("run.json"),
    );
    fs::write(&file, plan).unwrap();
    let mut command = bench();
    command.arg("run").arg(&file).arg(url(start(misdeed)));
    // Faults make a run invalid.
    finish(command.arg("--json").arg(&json)).exits(3);
    assert_valid(&json)
}

/// The clients that change rooms are in none when the first step ends, and ask to be subscribed before the
/// second.
#[test]
fn a_step_begins_although_subscriptions_before_it_were_not_confirmed() {
    let plan = PLAN
        .replace("away = \"50ms\"", "away = \"1h\"")
        .replace("{ first = \"50ms\", most = \"100ms\" }", "\"never\"")
        .replace("count = 1", "add = 0\n    count = 2")
        .replace("duration = \"3s\"", "duration = \"1s\"");
    let record = measured(Misdeed::ConfirmsOnce, &plan);
    assert_eq!(record.outcome.end, End::StepsDone, "{:?}", record.outcome);
    let [first, second] = &record.steps[..] else {
        panic!("{:?}", record.outcome);
    };
    assert!(first.faults.is_empty(), "{}", first.faults);
    assert!(second.faults.unanswered > 0, "{}", second.faults);
    assert_eq!(second.faults.total(), second.faults.unanswered);
    assert_eq!((first.clients, second.clients), (10, 10));
    assert_eq!(second.samples, second.samples_planned);
}

#[test]
fn bad_answers_to_a_change_of_rooms_are_counted_and_the_run_goes_on() {
    for misdeed in [
        Misdeed::KeepsSilent,
        Misdeed::ConfirmsAndCloses,
        Misdeed::ConfirmsAnother,
        Misdeed::ConfirmsOften,
        Misdeed::HangsUp,
    ] {
        let step = against(misdeed);
        let churn = step.churn.as_ref().unwrap();
        let rooms = churn.rooms.as_ref().unwrap();
        let faults = &step.faults;
        let told = format!("{misdeed:?}: {faults} {churn:?}");
        assert_eq!(faults.lost, 0, "{told}");
        assert!(rooms.left > 0, "{told}");
        match misdeed {
            Misdeed::KeepsSilent | Misdeed::ConfirmsAnother => {
                assert!(rooms.unanswered > 0 && churn.attempts > 0, "{told}");
                assert_eq!(faults.unanswered, rooms.unanswered, "{told}");
                assert_eq!(faults.disconnected, 0, "{told}");
                let is_told = misdeed == Misdeed::ConfirmsAnother;
                assert_eq!(faults.misdirected > 0, is_told, "{told}");
            }
            Misdeed::ConfirmsAndCloses | Misdeed::HangsUp => {
                assert!(churn.attempts > 0 && churn.reconnected > 0, "{told}");
                assert_eq!(faults.disconnected, churn.disconnected, "{told}");
                assert!(faults.disconnected > 0, "{told}");
                assert_eq!((faults.unanswered, faults.misdirected), (0, 0), "{told}");
            }
            Misdeed::ConfirmsOnce => unreachable!("it has a test of its own"),
            Misdeed::ConfirmsOften => {
                assert!(rooms.joined > 0 && rooms.unanswered == 0, "{told}");
                // All but the first of each thousand; of the last, as far as they came.
                assert!(faults.misdirected >= (rooms.joined - 5) * 999, "{told}");
                assert_eq!(faults.total(), faults.misdirected, "{told}");
            }
        }
    }
}
