//! Servers that crate `test-servers` does not have, with a thread per connection: one that stops
//! reading, a slow one, Phoenix and Action Cable.

use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use ws_proto::{DecodeError, Decoder, Event, Opcode, Sender, accept_for, encode_frame};

/// Who gets a message.
enum To {
    Sender(Vec<u8>),
    All(Value),
}

/// What a message is answered with.
type Answer = dyn Fn(&[u8]) -> Vec<To> + Send + Sync;

struct Server {
    /// Header lines without which the upgrade is refused.
    requires: &'static [&'static str],
    /// Header lines of the answer besides the usual ones.
    adds: &'static str,
    greeting: Option<&'static str>,
    answer: Box<Answer>,
    clients: Mutex<Vec<TcpStream>>,
}

/// Answers this many echoes and then reads nothing more, not even a close frame.
pub(crate) fn deaf_after(echoes: u32) -> SocketAddr {
    counted_until_deaf(echoes).0
}

/// The same, and how many messages have come so far, answered or not.
pub(crate) fn counted_until_deaf(echoes: u32) -> (SocketAddr, Arc<AtomicU32>) {
    let heard = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&heard);
    let addr = start(Server {
        requires: &[],
        adds: "",
        greeting: None,
        answer: Box::new(move |message| {
            if heard.fetch_add(1, Ordering::Relaxed) < echoes {
                vec![To::Sender(message.to_vec())]
            } else {
                Vec::new()
            }
        }),
        clients: Mutex::default(),
    });
    (addr, count)
}

/// Answers each echo so much later. Calls `on_request` when it comes, and `on_answer` with the time
/// that it really took.
// timed: a lower bound: this server sleeps before it answers, and tells the test how long it slept.
pub(crate) fn slow(
    delay: Duration,
    on_request: impl Fn() + Send + Sync + 'static,
    on_answer: impl Fn(Duration) + Send + Sync + 'static,
) -> SocketAddr {
    start(Server {
        requires: &[],
        adds: "",
        greeting: None,
        answer: Box::new(move |message| {
            let came = Instant::now();
            on_request();
            thread::sleep(delay);
            on_answer(came.elapsed());
            vec![To::Sender(message.to_vec())]
        }),
        clients: Mutex::default(),
    })
}

/// Phoenix channels, serializer 1.0.0.
pub(crate) fn phoenix() -> SocketAddr {
    start(Server {
        requires: &["GET /socket/websocket HTTP/1.1"],
        adds: "",
        greeting: None,
        answer: Box::new(|message| {
            let push: Value = serde_json::from_slice(message).unwrap();
            let body = &push["payload"]["body"];
            let reply = |response: Value| {
                let payload = json!({"status": "ok", "response": response});
                let reply = json!({"topic": push["topic"], "event": "phx_reply", "payload": payload, "ref": push["ref"]});
                To::Sender(reply.to_string().into_bytes())
            };
            match push["event"].as_str() {
                Some("phx_join") => vec![reply(json!({}))],
                Some("broadcast") => {
                    let payload = json!({"type": "broadcast", "body": body});
                    vec![
                        To::All(
                            json!({"topic": push["topic"], "event": "broadcast", "payload": payload, "ref": null}),
                        ),
                        reply(json!({"type": "broadcastResult", "body": body})),
                    ]
                }
                Some("heartbeat") => vec![reply(json!({}))],
                other => panic!("{other:?} was pushed"),
            }
        }),
        clients: Mutex::default(),
    })
}

/// Action Cable for clients of one origin.
pub(crate) fn action_cable() -> SocketAddr {
    start(Server {
        requires: &[
            "GET /cable HTTP/1.1",
            "Origin: http://bench.example/",
            "Sec-WebSocket-Protocol: actioncable-v1-json",
        ],
        adds: "Sec-WebSocket-Protocol: actioncable-v1-json\r\n",
        greeting: Some(r#"{"type":"welcome"}"#),
        answer: Box::new(|message| {
            let command: Value = serde_json::from_slice(message).unwrap();
            let identifier = &command["identifier"];
            if command["command"] == "subscribe" {
                let confirm = json!({"identifier": identifier, "type": "confirm_subscription"});
                return vec![To::Sender(confirm.to_string().into_bytes())];
            }
            let data: Value = serde_json::from_str(command["data"].as_str().unwrap()).unwrap();
            assert_eq!(data["action"], "broadcast");
            let says = |action: &str| {
                let message = json!({"action": action, "payload": data["payload"]});
                json!({"identifier": identifier, "message": message})
            };
            vec![
                To::Sender(says("broadcastResult").to_string().into_bytes()),
                To::All(says("broadcast")),
            ]
        }),
        clients: Mutex::default(),
    })
}

/// Its threads end with the connections.
fn start(server: Server) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let server = Arc::new(server);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let server = Arc::clone(&server);
            thread::spawn(move || server.serve(stream.unwrap()));
        }
    });
    addr
}

impl Server {
    fn serve(&self, mut stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        if !self.upgrade(&mut stream) {
            return;
        }
        let mut decoder = Decoder::new(Sender::Client, 1 << 20);
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let fed = decoder.feed(&buffer[..count], |event| {
                if let Event::Message { payload, .. } = event {
                    self.pass_on(&stream, (self.answer)(payload));
                }
                Ok::<_, DecodeError>(())
            });
            fed.unwrap();
        }
    }

    fn upgrade(&self, stream: &mut TcpStream) -> bool {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        if !self
            .requires
            .iter()
            .all(|line| head.lines().any(|is| is == *line))
        {
            stream
                .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                .unwrap();
            return false;
        }
        let key = head.split_once("Sec-WebSocket-Key: ").unwrap().1;
        let accept = accept_for(key.lines().next().unwrap());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{}\
             Sec-WebSocket-Accept: {accept}\r\n\r\n",
            self.adds
        );
        stream.write_all(answer.as_bytes()).unwrap();
        let mut clients = self.clients.lock().unwrap();
        if let Some(greeting) = self.greeting {
            send(stream, greeting.as_bytes());
        }
        clients.push(stream.try_clone().unwrap());
        true
    }

    /// All under one lock, so that frames of several threads never mix on a connection.
    fn pass_on(&self, sender: &TcpStream, answers: Vec<To>) {
        let clients = self.clients.lock().unwrap();
        for answer in answers {
            match answer {
                To::Sender(text) => send(sender, &text),
                To::All(message) => {
                    let text = message.to_string();
                    clients
                        .iter()
                        .for_each(|client| send(client, text.as_bytes()));
                }
            }
        }
    }
}

fn send(mut stream: &TcpStream, text: &[u8]) {
    let mut frame = Vec::new();
    encode_frame(&mut frame, Opcode::Text, None, text);
    stream.write_all(&frame).unwrap();
}
