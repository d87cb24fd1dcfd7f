//! Well-formed messages that are not what was asked for.

use super::conversation::{Conversation, Said, frame};
use super::{Behaviour, End, Ends};
use crate::threaded::{Reply, Request};
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use ws_proto::Opcode;

const UNANSWERED: End = End::invalid("did not answer a ping");

pub(super) const BEHAVIOURS: &[Behaviour] = &[
    Behaviour::new(
        "other-stamps",
        "answers with the stamp of another request",
        Ends::invalid("misdirected|duplicate|corrupt").connect(UNANSWERED),
        |c| {
            c.open()?;
            loop {
                match c.next()? {
                    Said::Request(mut request) => {
                        change(&mut request, "stamp", "0123456789abcdef");
                        c.reply(&Said::Request(request))?;
                    }
                    Said::Ping(_) => c.frame(Opcode::Pong, b"87654321")?,
                    said => c.reply(&said)?,
                }
            }
        },
    ),
    Behaviour::new(
        "duplicates",
        "answers everything twice",
        Ends::invalid("duplicate").connect(End::SERVED),
        |c| {
            c.open()?;
            loop {
                let said = c.next()?;
                c.reply(&said)?;
                c.reply(&said)?;
            }
        },
    ),
    Behaviour::new(
        "corrupts",
        "answers with another payload",
        Ends::invalid("corrupt").connect(End::SERVED),
        |c| {
            requests(c, |c, mut request| {
                change(&mut request, "padding", "x");
                c.reply(&Said::Request(request))
            })
        },
    ),
    Behaviour::new(
        "mute",
        "reads everything and answers nothing",
        Ends::invalid("not complete after").connect(UNANSWERED),
        |c| {
            c.open()?;
            c.listen()
        },
    ),
    Behaviour::new(
        "late",
        "answers after the limit, which is a measurement",
        LATE,
        |c| {
            requests(c, |c, request| {
                std::thread::sleep(Duration::from_millis(400));
                c.reply(&Said::Request(request))
            })
        },
    )
    .with("--limit-rtt 100ms"),
    Behaviour::new(
        "later-than-the-time-out",
        "answers after the time-out",
        Ends::invalid("not complete after").connect(UNANSWERED),
        |c| {
            c.open()?;
            loop {
                let said = c.next()?;
                std::thread::sleep(Duration::from_secs(6));
                c.reply(&said)?;
            }
        },
    ),
    Behaviour::new(
        "answers-another",
        "gives each answer to another client",
        Ends::invalid("misdirected|unanswered").connect(UNANSWERED),
        |c| {
            c.open()?;
            loop {
                let said = c.next()?;
                let other = {
                    let peers = c.hub().lock();
                    peers
                        .iter()
                        .find(|peer| peer.id != c.peer().id)
                        .map(Arc::clone)
                };
                let Some(other) = other else { continue };
                match said {
                    Said::Request(request) => other.send(&request.frame(last_reply(&request))),
                    Said::Ping(payload) => other.send_frame(Opcode::Pong, &payload),
                    said => c.reply(&said)?,
                }
            }
        },
    ),
    Behaviour::new(
        "result-first",
        "sends the result before the deliveries, which only conformance forbids",
        Ends::SERVED,
        |c| {
            requests(c, |c, request| {
                if !request.broadcast {
                    return c.reply(&Said::Request(request));
                }
                c.send(&request.frame(Reply::Result))?;
                std::thread::sleep(Duration::from_millis(5));
                let peers = c.hub().lock();
                let broadcast = request.broadcast(&peers);
                peers.iter().for_each(|peer| broadcast.send(peer));
                Ok(())
            })
        },
    ),
    Behaviour::new(
        "no-result",
        "delivers broadcasts and echoes nothing",
        Ends::invalid("not complete after").connect(End::SERVED),
        |c| {
            requests(c, |c, request| {
                if request.broadcast {
                    let peers = c.hub().lock();
                    let broadcast = request.broadcast(&peers);
                    peers.iter().for_each(|peer| broadcast.send(peer));
                }
                Ok(())
            })
        },
    ),
    Behaviour::new(
        "malformed-json",
        "answers with what is no JSON",
        MALFORMED,
        |c| words(c, b"<html>{\"type\":"),
    ),
    Behaviour::new(
        "json-with-raw-escapes",
        "answers with terminal escapes in a JSON string",
        MALFORMED,
        |c| words(c, b"{\"type\":\"\x1b]0;owned\x07\x1b[2J\"}"),
    ),
    Behaviour::new(
        "json-with-escapes",
        "answers with JSON escapes of terminal escapes",
        MALFORMED,
        |c| {
            words(
                c,
                br#"{"type":"\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e","payload":1}"#,
            )
        },
    ),
    Behaviour::new(
        "unknown-type",
        "answers with a type that there is not",
        MALFORMED,
        |c| words(c, br#"{"type":"hello","payload":{}}"#),
    ),
    Behaviour::new("long-type", "answers with a type of 1 KB", MALFORMED, |c| {
        words(
            c,
            format!(r#"{{"type":"{}"}}"#, "x".repeat(1000)).as_bytes(),
        )
    }),
    Behaviour::new(
        "deep-json",
        "answers with 20,000 arrays in one another",
        MALFORMED.connect(End::SERVED),
        |c| words(c, &[b'['; 20_000]),
    ),
    Behaviour::new("no-stamp", "answers without a stamp", MALFORMED, |c| {
        words(c, br#"{"type":"echo","payload":"\u001b[31m"}"#)
    }),
    Behaviour::new(
        "refuses",
        "answers every request with an error",
        Ends::invalid("refused").connect(End::SERVED),
        |c| words(c, br#"{"type":"error","payload":"\u001b[31mno"}"#),
    ),
    Behaviour::new(
        "another-type",
        "answers an echo as a broadcast and a broadcast as an echo",
        Ends::invalid("misdirected").connect(End::SERVED),
        |c| {
            requests(c, |c, mut request| {
                request.broadcast = !request.broadcast;
                c.reply(&Said::Request(request))
            })
        },
    ),
    Behaviour::new(
        "garbage-between",
        "sends garbage before each answer",
        Ends::invalid("malformed message: `.x07garbage`").connect(End::SERVED),
        |c| {
            c.open()?;
            loop {
                let said = c.next()?;
                if !matches!(said, Said::Close(_)) {
                    c.frame(Opcode::Text, b"\x07garbage")?;
                }
                c.reply(&said)?;
            }
        },
    ),
    Behaviour::new(
        "turns-bad",
        "serves two requests of a client, then answers garbage",
        Ends::invalid("malformed").connect(End::SERVED),
        |c| {
            let mut served = 0;
            requests(c, move |c, request| {
                served += 1;
                if served > 2 {
                    return c.frame(Opcode::Text, b"\x07garbage");
                }
                c.reply(&Said::Request(request))
            })
        },
    )
    .with("--sample-size 40"),
    Behaviour::new(
        "reorders",
        "holds a request back until the next and answers in turn",
        REORDERED,
        |c| {
            let mut held = None;
            requests(c, move |c, request| match held.take() {
                None => {
                    held = Some(request);
                    Ok(())
                }
                Some(first) => {
                    c.reply(&Said::Request(request))?;
                    c.reply(&Said::Request(first))
                }
            })
        },
    )
    .with("--sample-size 40 --concurrent 9"),
];

const MALFORMED: Ends =
    Ends::invalid("malformed message: `|first malformed message was `").connect(End::SERVED);

/// The limit is above what the opening of connections takes.
const LATE: Ends = Ends::all(End::new(&[0], "is above 100 ms")).connect(End::SERVED);

const REORDERED: Ends = Ends::invalid("reordered").connect(End::SERVED);

const fn last_reply(request: &Request) -> Reply {
    if request.broadcast {
        Reply::Result
    } else {
        Reply::Echo
    }
}

fn change(request: &mut Request, key: &str, value: &str) {
    if let Some(payload) = request.json_mut() {
        payload[key] = json!(value);
    }
}

/// Follows the protocol in everything but requests.
fn requests(
    c: &mut Conversation,
    mut on_request: impl FnMut(&Conversation, Request) -> io::Result<()>,
) -> io::Result<()> {
    c.open()?;
    loop {
        match c.next()? {
            Said::Request(request) => on_request(c, request)?,
            said => c.reply(&said)?,
        }
    }
}

/// The same words to every request.
fn words(c: &mut Conversation, text: &[u8]) -> io::Result<()> {
    let bytes = frame(Opcode::Text, text);
    requests(c, |c, _| c.send(&bytes))
}
