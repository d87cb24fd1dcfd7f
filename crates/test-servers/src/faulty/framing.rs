//! Frames that RFC 6455 forbids, each in answer to the first request or ping of a connection, and
//! close frames.

use super::conversation::{Conversation, frame};
use super::{Behaviour, End, Ends};
use std::io;
use ws_proto::Opcode;

const FORBIDDEN_CODE: Ends = Ends::invalid("close code [0-9]+ may not be sent");

pub(super) const BEHAVIOURS: &[Behaviour] = &[
    Behaviour::new(
        "reserved-bit-1",
        "sets the first reserved bit",
        Ends::invalid("reserved bits 0b100"),
        |c| c.spoil(&[0xC1, 1, b'x']),
    ),
    Behaviour::new(
        "reserved-bit-2",
        "sets the second reserved bit",
        Ends::invalid("reserved bits 0b010"),
        |c| c.spoil(&[0xA1, 1, b'x']),
    ),
    Behaviour::new(
        "reserved-bit-3",
        "sets the third reserved bit",
        Ends::invalid("reserved bits 0b001"),
        |c| c.spoil(&[0x91, 1, b'x']),
    ),
    Behaviour::new(
        "reserved-data-opcode",
        "sends a data frame of a reserved opcode",
        Ends::invalid("reserved opcode 0x3"),
        |c| c.spoil(&[0x83, 1, b'x']),
    ),
    Behaviour::new(
        "reserved-control-opcode",
        "sends a control frame of a reserved opcode",
        Ends::invalid("reserved opcode 0xb"),
        |c| c.spoil(&[0x8B, 0]),
    ),
    Behaviour::new(
        "masked",
        "masks a frame",
        Ends::invalid("masked frame from a server"),
        |c| c.spoil(&[0x81, 0x81, 1, 2, 3, 4, b'x']),
    ),
    Behaviour::new(
        "fragmented-ping",
        "sends a ping that is not final",
        Ends::invalid("fragmented control frame"),
        |c| c.spoil(&[0x09, 0]),
    ),
    Behaviour::new(
        "long-ping",
        "sends a ping of 126 bytes",
        Ends::invalid("control frame of more than 125 bytes"),
        |c| c.spoil(&[&[0x89, 126, 0, 126][..], &[b'x'; 126]].concat()),
    ),
    Behaviour::new(
        "length-not-shortest-16",
        "writes a length of 5 in 16 bits",
        Ends::invalid("not in its shortest form"),
        |c| c.spoil(&[0x81, 126, 0, 5, 1, 2, 3, 4, 5]),
    ),
    Behaviour::new(
        "length-not-shortest-64",
        "writes a length of 300 in 64 bits",
        Ends::invalid("not in its shortest form"),
        |c| c.spoil(&[0x81, 127, 0, 0, 0, 0, 0, 0, 1, 44, b'x']),
    ),
    Behaviour::new(
        "length-2-to-63",
        "announces a frame of 2^63 bytes",
        Ends::invalid("not in its shortest form"),
        |c| c.spoil(&[0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]),
    ),
    Behaviour::new(
        "length-2-to-62",
        "announces a frame of 2^62 bytes",
        Ends::invalid("the longest that this plan allows is [0-9]+"),
        |c| c.spoil(&[0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0]),
    ),
    Behaviour::new(
        "binary",
        "answers in binary where text was asked",
        Ends::invalid("a Binary message where Text was due")
            .connect(End::invalid("did not answer a ping")),
        |c| c.spoil(&frame(Opcode::Binary, b"\x1b[31m")),
    ),
    Behaviour::new(
        "text-not-utf-8",
        "sends a text that is not UTF-8",
        Ends::invalid("malformed"),
        |c| c.spoil(&frame(Opcode::Text, b"{\"type\":\"\xff\xfe\xc0\x80\"}")),
    ),
    Behaviour::new(
        "text-with-a-surrogate",
        "sends a text with half of a surrogate pair",
        Ends::invalid("malformed"),
        |c| c.spoil(&frame(Opcode::Text, b"{\"type\":\"\xed\xa0\x80\"}")),
    ),
    Behaviour::new(
        "close-of-one-byte",
        "closes with a payload of one byte",
        Ends::invalid("close frame with a payload of one byte"),
        |c| close(c, &[3]),
    ),
    Behaviour::new("close-code-0", "closes with code 0", FORBIDDEN_CODE, |c| {
        close(c, &0u16.to_be_bytes())
    }),
    Behaviour::new(
        "close-code-999",
        "closes with code 999",
        FORBIDDEN_CODE,
        |c| close(c, &999u16.to_be_bytes()),
    ),
    Behaviour::new(
        "close-code-1004",
        "closes with code 1004",
        FORBIDDEN_CODE,
        |c| close(c, &1004u16.to_be_bytes()),
    ),
    Behaviour::new(
        "close-code-1005",
        "closes with code 1005",
        FORBIDDEN_CODE,
        |c| close(c, &1005u16.to_be_bytes()),
    ),
    Behaviour::new(
        "close-code-1006",
        "closes with code 1006",
        FORBIDDEN_CODE,
        |c| close(c, &1006u16.to_be_bytes()),
    ),
    Behaviour::new(
        "close-code-1015",
        "closes with code 1015",
        FORBIDDEN_CODE,
        |c| close(c, &1015u16.to_be_bytes()),
    ),
    Behaviour::new(
        "close-code-5000",
        "closes with code 5000",
        FORBIDDEN_CODE,
        |c| close(c, &5000u16.to_be_bytes()),
    ),
    Behaviour::new(
        "close-reason-not-utf-8",
        "closes with a reason that is not UTF-8",
        Ends::invalid("close reason is not UTF-8"),
        |c| close(c, b"\x03\xe8\xff\xfe"),
    ),
    Behaviour::new(
        "close-reason-with-escapes",
        "closes with terminal escapes as the reason",
        Ends::invalid("with 1008 .*owned"),
        |c| close(c, b"\x03\xf0\x1b]0;owned\x07\x1b[2J\xc2\x9b31m\xe2\x80\xae"),
    ),
    Behaviour::new(
        "close-going-away",
        "closes with 1001 and a reason",
        Ends::invalid("1001 .*going away for lunch"),
        |c| close(c, b"\x03\xe9going away for lunch"),
    ),
    Behaviour::new(
        "close-without-a-code",
        "closes with an empty payload",
        Ends::invalid("closed the connection after the WebSocket was open"),
        |c| close(c, b""),
    ),
    Behaviour::new(
        "close-then-more",
        "closes and goes on sending",
        Ends::invalid("closed the connection after the WebSocket was open with 1001"),
        |c| {
            c.opened()?;
            c.frame(Opcode::Close, &1001u16.to_be_bytes())?;
            for _ in 0..1000 {
                c.frame(Opcode::Text, b"{\"type\":\"echo\",\"payload\":1}")?;
            }
            c.listen()
        },
    ),
    Behaviour::new(
        "close-and-stays",
        "closes and never ends the TCP connection",
        Ends::invalid("closed the connection after the WebSocket was open with 1000"),
        |c| {
            c.opened()?;
            c.frame(Opcode::Close, &1000u16.to_be_bytes())?;
            c.hang()
        },
    ),
];

fn close(c: &mut Conversation, payload: &[u8]) -> io::Result<()> {
    c.opened()?;
    c.frame(Opcode::Close, payload)?;
    c.finish();
    c.listen()
}
