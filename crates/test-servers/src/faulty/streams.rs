//! Fragments, and frames that are cut, dripped or never whole.

use super::conversation::{Conversation, Said, frame};
use super::{Behaviour, End, Ends};
use crate::threaded::Reply;
use std::io;
use std::time::Duration;
use ws_proto::{FrameHeader, Opcode, encode_header};

/// Neither a message nor the connection ends.
const UNENDED: Ends =
    Ends::invalid("not complete after").connect(End::invalid("did not answer a ping"));

/// A message that cannot be an answer.
const TOO_LONG: Ends = Ends::invalid("the longest that this plan allows is [0-9]+");

const LOST: Ends = Ends::invalid("closed the connection after the WebSocket was open");

pub(super) const BEHAVIOURS: &[Behaviour] = &[
    Behaviour::new(
        "gigabyte-dripped",
        "announces a message of 2^30 bytes and sends it in drops",
        TOO_LONG,
        |c| {
            c.opened()?;
            c.send(&header(Opcode::Text, true, 1 << 30))?;
            loop {
                c.send(&[b'x'; 16])?;
                std::thread::sleep(Duration::from_millis(10));
            }
        },
    ),
    Behaviour::new(
        "gigabyte-at-once",
        "announces a message of 2^30 bytes and sends it at full speed",
        TOO_LONG,
        |c| {
            c.opened()?;
            c.send(&header(Opcode::Text, true, (1 << 30) - 1))?;
            c.flood(b"x")
        },
    )
    .busy(),
    Behaviour::new(
        "continuation-of-nothing",
        "sends a continuation with no message under way",
        Ends::invalid("continuation frame with no message"),
        |c| c.spoil(&frame(Opcode::Continuation, b"x")),
    ),
    Behaviour::new(
        "message-in-fragments",
        "begins a message within the fragments of another",
        Ends::invalid("new message before the end of the fragmented"),
        |c| {
            c.spoil(
                &[
                    fragment(Opcode::Text, false, b"{"),
                    frame(Opcode::Text, b"{}"),
                ]
                .concat(),
            )
        },
    ),
    Behaviour::new(
        "endless-empty-fragments",
        "begins a message and adds empty fragments to it without end",
        UNENDED,
        |c| {
            c.opened()?;
            c.send(&fragment(Opcode::Text, false, b""))?;
            c.flood(&fragment(Opcode::Continuation, false, b""))
        },
    )
    .busy(),
    Behaviour::new(
        "endless-fragments-of-a-byte",
        "begins a message and adds fragments of a byte without end",
        TOO_LONG,
        |c| {
            c.opened()?;
            c.send(&fragment(Opcode::Text, false, b"x"))?;
            c.flood(&fragment(Opcode::Continuation, false, b"x"))
        },
    )
    .busy(),
    Behaviour::new(
        "endless-large-fragments",
        "begins a message and adds fragments of 64 KB without end",
        TOO_LONG,
        |c| {
            c.opened()?;
            c.send(&fragment(Opcode::Text, false, b"x"))?;
            c.flood(&fragment(Opcode::Continuation, false, &[b'x'; 65535]))
        },
    )
    .busy(),
    Behaviour::new(
        "cut-in-a-code-point",
        "cuts messages in fragments within a code point, which is allowed",
        Ends::SERVED,
        |c| {
            in_fragments(c, |message| {
                let text = String::from_utf8_lossy(message).replacen(
                    '{',
                    "{\"note\":\"\u{e9}\u{1f600}\",",
                    1,
                );
                let bytes = text.as_bytes();
                let cut = text.find('\u{1f600}').unwrap_or_default() + 2;
                let (first, rest) = bytes.split_at(cut);
                [
                    fragment(Opcode::Text, false, first),
                    fragment(Opcode::Continuation, true, rest),
                ]
                .concat()
            })
        },
    ),
    Behaviour::new(
        "pings-in-fragments",
        "sends messages in many fragments with pings between them, which is allowed",
        Ends::SERVED,
        |c| {
            in_fragments(c, |message| {
                let mut bytes = fragment(Opcode::Text, false, b"");
                for byte in message {
                    bytes.extend(frame(Opcode::Ping, &[*byte]));
                    bytes.extend(fragment(Opcode::Continuation, false, &[*byte]));
                }
                bytes.extend(fragment(Opcode::Continuation, true, b""));
                bytes
            })
        },
    ),
    Behaviour::new(
        "drops-of-a-byte",
        "sends every frame in writes of one byte, which is allowed",
        Ends::SERVED,
        |c| c.serve_with(|c, bytes| c.drip(bytes, Duration::from_millis(1))),
    ),
    Behaviour::new(
        "reset-in-a-frame",
        "resets the connection within a frame",
        Ends::invalid("reset the connection after the WebSocket was open"),
        |c| {
            c.opened()?;
            c.send(&[0x81, 100, b'{'])?;
            // The bytes must arrive before the reset, which discards what was not read.
            std::thread::sleep(Duration::from_millis(50));
            c.reset()
        },
    ),
    Behaviour::new(
        "end-in-a-frame",
        "ends the connection within a frame",
        LOST,
        |c| {
            c.opened()?;
            c.send(&[0x81, 100, b'{'])?;
            c.finish();
            c.listen()
        },
    ),
    Behaviour::new(
        "end-in-a-header",
        "ends the connection within the header of a frame",
        LOST,
        |c| {
            c.opened()?;
            c.send(&[0x81])?;
            c.finish();
            c.listen()
        },
    ),
    Behaviour::new(
        "half-a-frame",
        "sends half of a frame and falls silent",
        UNENDED,
        |c| c.spoil(&[0x81, 100, b'{']),
    ),
];

fn header(opcode: Opcode, fin: bool, payload_len: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let header = FrameHeader {
        fin,
        opcode,
        mask: None,
        payload_len,
    };
    encode_header(&mut bytes, &header);
    bytes
}

fn fragment(opcode: Opcode, fin: bool, payload: &[u8]) -> Vec<u8> {
    let mut bytes = header(opcode, fin, payload.len() as u64);
    bytes.extend_from_slice(payload);
    bytes
}

/// Follows the protocol, with each message turned into bytes by `write`.
fn in_fragments(c: &mut Conversation, write: impl Fn(&[u8]) -> Vec<u8>) -> io::Result<()> {
    c.open()?;
    loop {
        match c.next()? {
            Said::Request(request) if request.broadcast => {
                let bytes = write(&request.message(Reply::Broadcast));
                c.hub().lock().iter().for_each(|peer| peer.send(&bytes));
                c.send(&write(&request.message(Reply::Result)))?;
            }
            Said::Request(request) => c.send(&write(&request.message(Reply::Echo)))?,
            other => c.reply(&other)?,
        }
    }
}
