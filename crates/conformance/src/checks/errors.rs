//! Messages that are no requests (docs/protocol.md, Errors).

use super::broadcast::everyone_once;
use crate::check::{Check, Scope};
use crate::client::{Client, Incoming};
use crate::context::{Checked, Context, Failure};
use crate::message::{Kind, Payload, Reply};
use crate::raw::{FIN, frame, unmasked};
use crate::target::Dialect;
use std::time::Duration;
use ws_proto::Opcode;

const SECTION: &str = "protocol, Errors";
const EXPECTATION: &str = "an error answer, or a close with 1003, 1007 or 1008";

/// Codes that a server may close with (docs/protocol.md, Errors).
const CODES: [u16; 3] = [1003, 1007, 1008];

/// Time for a bad message to do its harm, where no answer says that it was read.
const ANSWERED: Duration = Duration::from_millis(200);

const MALFORMED: &[&str] = &[
    "",
    "{",
    r#"{"type":"echo","payload":}"#,
    "echo",
    r#"{"type":"echo","payload":1}}"#,
];
const NOT_OBJECTS: &[&str] = &["[]", r#"["echo",1]"#, r#""echo""#, "1", "true", "null"];
const NO_TYPE: &[&str] = &["{}", r#"{"payload":1}"#, r#"{"payload":{"type":"echo"}}"#];
const UNKNOWN: &[&str] = &[
    r#"{"type":"shout","payload":1}"#,
    r#"{"type":"","payload":1}"#,
    r#"{"type":"Echo","payload":1}"#,
    r#"{"type":7,"payload":1}"#,
    r#"{"type":null,"payload":1}"#,
    r#"{"type":"broadcastResult","payload":1}"#,
];
const NO_PAYLOAD: &[&str] = &[r#"{"type":"echo"}"#, r#"{"type":"broadcast"}"#];

const fn text_check(
    id: &'static str,
    description: &'static str,
    run: fn(&mut Context<'_>) -> Checked,
) -> Check {
    Check {
        id,
        section: SECTION,
        description,
        expectation: EXPECTATION,
        scope: Scope::Only(Dialect::Text),
        run,
    }
}

pub(super) static CHECKS: &[Check] = &[
    text_check(
        "protocol-error-malformed-json",
        "Sends text messages that are not JSON, an empty one among them.",
        |context| texts_rejected(context, MALFORMED),
    ),
    text_check(
        "protocol-error-not-an-object",
        "Sends JSON arrays, strings, numbers, true and null.",
        |context| texts_rejected(context, NOT_OBJECTS),
    ),
    text_check(
        "protocol-error-missing-type",
        "Sends objects without a type.",
        |context| texts_rejected(context, NO_TYPE),
    ),
    text_check(
        "protocol-error-unknown-type",
        "Sends unknown types, types that are no strings, and a broadcastResult.",
        |context| texts_rejected(context, UNKNOWN),
    ),
    text_check(
        "protocol-error-missing-payload",
        "Sends an echo and a broadcast without a payload.",
        |context| texts_rejected(context, NO_PAYLOAD),
    ),
    Check {
        id: "protocol-error-empty-binary",
        section: SECTION,
        description: "Sends an empty binary message.",
        expectation: EXPECTATION,
        scope: Scope::Only(Dialect::Binary),
        run: |context| rejected(context, Opcode::Binary, b""),
    },
    Check {
        id: "protocol-error-unknown-byte-0",
        section: SECTION,
        description: "Sends binary messages whose byte 0 is x, 0, E and r.",
        expectation: EXPECTATION,
        scope: Scope::Only(Dialect::Binary),
        run: |context| {
            for byte in [b'x', 0, b'E', b'r'] {
                rejected(context, Opcode::Binary, &[byte, 0, 0, 0, 1, b'!'])?;
            }
            Ok(())
        },
    },
    Check {
        id: "protocol-error-isolated",
        section: SECTION,
        description: "Sends bad messages and bad frames, each on its own connection, while two \
                      other clients are connected.",
        expectation: "the others get nothing of it, and echo and broadcast go on for them",
        scope: Scope::Each,
        run: isolated,
    },
];

fn texts_rejected(context: &mut Context<'_>, messages: &[&str]) -> Checked {
    for message in messages {
        rejected(context, Opcode::Text, message.as_bytes())?;
    }
    Ok(())
}

fn rejected(context: &mut Context<'_>, opcode: Opcode, message: &[u8]) -> Checked {
    let mut client = context.connect()?;
    client.send(opcode, message)?;
    answered(&mut client).map_err(|failure| {
        let shown = String::from_utf8_lossy(message).into_owned();
        failure.at(format_args!("{shown:?}"))
    })
}

fn answered(client: &mut Client) -> Checked {
    let wait = client.timeout;
    let observed = match client.next_within(wait) {
        Some(Incoming::Message { opcode, payload }) => match Reply::parse(opcode, &payload) {
            Ok(Reply {
                kind: Kind::Error,
                payload: Payload::Json(words),
            }) if words.is_string() => return Ok(()),
            Ok(reply) => format!("got {reply}"),
            Err(what) => format!("got {what}"),
        },
        Some(Incoming::Close(Ok(Some(frame)))) if CODES.contains(&frame.code) => return Ok(()),
        Some(other) => format!("got {other}"),
        None => format!("no answer within {wait:?}"),
    };
    Err(Failure(observed))
}

fn isolated(context: &mut Context<'_>) -> Checked {
    let mut bystanders = context.connect_many(2)?;
    let texts = [MALFORMED, NOT_OBJECTS, NO_TYPE, UNKNOWN, NO_PAYLOAD].concat();
    let mut bad: Vec<Vec<u8>> = match context.dialect {
        Dialect::Text => {
            let text = FIN | Opcode::Text as u8;
            texts.iter().map(|t| frame(text, t.as_bytes())).collect()
        }
        _ => {
            let binary = FIN | Opcode::Binary as u8;
            let messages: [&[u8]; 3] = [b"", b"x", b"r\0\0\0\x01!"];
            messages.map(|m| frame(binary, m)).into()
        }
    };
    bad.push(unmasked(FIN | Opcode::Text as u8, b"{}"));
    bad.push(frame(FIN | 0x70 | Opcode::Text as u8, b"{}"));
    bad.push(frame(FIN | 0xB, b""));
    bad.push(frame(FIN | Opcode::Text as u8, b"\xFF"));
    bad.push(frame(FIN | Opcode::Close as u8, b"\x01"));
    for bytes in &bad {
        let mut client = context.connect()?;
        client.send_raw(bytes)?;
        // Whether and how it is answered is for the other checks.
        let wait = client.timeout.min(ANSWERED);
        client.next_within(wait);
    }
    let part = "on a connection that did nothing wrong";
    for bystander in &mut bystanders {
        context
            .quiet(bystander)
            .map_err(|failure| failure.at(part))?;
    }
    everyone_once(context, &mut bystanders, 1, 16).map_err(|failure| failure.at(part))
}
