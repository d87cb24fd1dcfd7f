//! Messages that are no requests (docs/protocol.md, Errors).

use super::broadcast::everyone_once;
use crate::check::{Check, Scope};
use crate::client::{Client, Incoming};
use crate::context::Context;
use crate::dialect::{Fault, Owed};
use crate::failure::{Checked, Failure};
use crate::message::Kind;
use crate::raw::{FIN, frame, unmasked};
use crate::target::Dialect;
use std::time::Duration;
use ws_proto::{CloseFrame, Opcode};

const SECTION: &str = "protocol, Errors";
const EXPECTATION: &str = "an error answer, or a close with 1003, 1007 or 1008 (Phoenix: or 1011; \
                           Action Cable: or no answer, and the connection goes on)";

/// Time that a bad message may take to do harm, where no answer says that it was read.
const ANSWERED: Duration = Duration::from_millis(200);

/// The same where the protocol expects no answer.
const UNANSWERED: Duration = Duration::from_millis(50);

const fn fault_check(
    id: &'static str,
    description: &'static str,
    run: fn(&mut Context<'_>) -> Checked,
) -> Check {
    Check {
        id,
        section: SECTION,
        description,
        expectation: EXPECTATION,
        scope: Scope::Json,
        needs: None,
        run,
    }
}

pub(super) static CHECKS: &[Check] = &[
    fault_check(
        "protocol-error-malformed-json",
        "Sends text messages that are not JSON, an empty one among them.",
        |context| faulty(context, Fault::MalformedJson),
    ),
    fault_check(
        "protocol-error-not-an-object",
        "Sends JSON of another structure than a message has: arrays, strings, numbers, null.",
        |context| faulty(context, Fault::NotAnObject),
    ),
    fault_check(
        "protocol-error-missing-type",
        "Sends messages without a type (Phoenix: an event; Action Cable: a command or action).",
        |context| faulty(context, Fault::MissingType),
    ),
    fault_check(
        "protocol-error-unknown-type",
        "Sends unknown types, types that are no strings, and a broadcastResult.",
        |context| faulty(context, Fault::UnknownType),
    ),
    fault_check(
        "protocol-error-missing-payload",
        "Sends an echo and a broadcast without a payload.",
        |context| faulty(context, Fault::MissingPayload),
    ),
    Check {
        id: "protocol-error-unknown-topic",
        section: SECTION,
        description: "Sends requests to topics (Action Cable: identifiers) that the client did not \
                      join, and joins one that does not exist.",
        expectation: EXPECTATION,
        scope: Scope::Joined,
        needs: None,
        run: |context| faulty(context, Fault::UnknownTopic),
    },
    Check {
        id: "protocol-error-empty-binary",
        section: SECTION,
        description: "Sends an empty binary message.",
        expectation: EXPECTATION,
        scope: Scope::Only(Dialect::Binary),
        needs: None,
        run: |context| bad_binary(context, b""),
    },
    Check {
        id: "protocol-error-unknown-byte-0",
        section: SECTION,
        description: "Sends binary messages whose byte 0 is x, 0, E and r.",
        expectation: EXPECTATION,
        scope: Scope::Only(Dialect::Binary),
        needs: None,
        run: |context| {
            for byte in [b'x', 0, b'E', b'r'] {
                bad_binary(context, &[byte, 0, 0, 0, 1, b'!'])?;
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
        needs: None,
        run: isolated,
    },
];

fn faulty(context: &mut Context<'_>, fault: Fault) -> Checked {
    let owed = context.speech().owed(fault);
    for message in context.speech().faulty(fault) {
        rejected(context, Opcode::Text, message.as_bytes(), owed)?;
    }
    Ok(())
}

fn bad_binary(context: &mut Context<'_>, message: &[u8]) -> Checked {
    let owed = context.speech().owed(Fault::UnknownType);
    rejected(context, Opcode::Binary, message, owed)
}

pub(super) fn rejected(
    context: &mut Context<'_>,
    opcode: Opcode,
    message: &[u8],
    owed: Owed,
) -> Checked {
    let mut client = context.connect()?;
    rejected_of(context, &mut client, (opcode, message), owed)
}

/// The same of a client that has said more before.
pub(super) fn rejected_of(
    context: &mut Context<'_>,
    client: &mut Client,
    (opcode, message): (Opcode, &[u8]),
    owed: Owed,
) -> Checked {
    client.send(opcode, message)?;
    match owed {
        Owed::Answer(codes) => answered(client, codes),
        Owed::AnswerOrNothing(codes) => passed_over(context, client, codes),
    }
    .map_err(|failure| {
        let shown = String::from_utf8_lossy(message).into_owned();
        failure.at(format_args!("{shown:?}"))
    })
}

/// What a message that is not JSON is owed, or in binary an empty one.
pub(super) fn owed_for_malformed(context: &mut Context<'_>, client: &mut Client) -> Checked {
    match context.speech().owed(Fault::MalformedJson) {
        Owed::Answer(codes) => answered(client, codes),
        Owed::AnswerOrNothing(codes) => passed_over(context, client, codes),
    }
}

fn answered(client: &mut Client, codes: &[u16]) -> Checked {
    let wait = client.timeout;
    match client.next_within(wait) {
        None => Err(Failure(format!("no answer within {wait:?}"))),
        Some(incoming) => is_answer(&incoming, codes),
    }
}

/// The code of a close frame (RFC 6455, 7.1.5).
fn code(frame: Option<&CloseFrame>) -> u16 {
    const NONE: u16 = 1005;
    frame.map_or(NONE, |frame| frame.code)
}

fn is_answer(incoming: &Incoming, codes: &[u16]) -> Checked {
    match incoming {
        Incoming::Message {
            reply: Ok(reply), ..
        } if reply.kind == Kind::Error => Ok(()),
        Incoming::Close(Ok(frame)) if codes.contains(&code(frame.as_ref())) => Ok(()),
        other => Err(Failure(format!("got {other}"))),
    }
}

/// A proper answer, or none, and then the connection serves as before.
fn passed_over(context: &mut Context<'_>, client: &mut Client, codes: &[u16]) -> Checked {
    if let Some(incoming) = client.next_within(UNANSWERED) {
        return is_answer(&incoming, codes);
    }
    let late = context
        .before_an_echo(client)
        .map_err(|failure| failure.at("behind it, on the same connection"))?;
    late.map_or(Ok(()), |incoming| is_answer(&incoming, codes))
}

fn isolated(context: &mut Context<'_>) -> Checked {
    let mut bystanders = context.connect_many(2)?;
    let mut bad: Vec<Vec<u8>> = match context.dialect {
        Dialect::Binary => {
            let binary = FIN | Opcode::Binary as u8;
            let messages: [&[u8]; 3] = [b"", b"x", b"r\0\0\0\x01!"];
            messages.map(|m| frame(binary, m)).into()
        }
        dialect => {
            let text = FIN | Opcode::Text as u8;
            let faults = Fault::ALL.into_iter();
            let texts = faults.flat_map(|fault| dialect.speech().faulty(fault));
            texts.map(|t| frame(text, t.as_bytes())).collect()
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
        // Other checks test whether and how it is answered.
        let may_be_silent = matches!(
            context.speech().owed(Fault::MalformedJson),
            Owed::AnswerOrNothing(_)
        );
        client.next_within(if may_be_silent { UNANSWERED } else { ANSWERED });
    }
    let part = "on a connection that did nothing wrong";
    for bystander in &mut bystanders {
        context
            .quiet(bystander)
            .map_err(|failure| failure.at(part))?;
    }
    everyone_once(context, &mut bystanders, 1, 16).map_err(|failure| failure.at(part))
}
