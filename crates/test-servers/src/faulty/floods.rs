//! Peers that send far more than was asked for, and peers that take no bytes.

use super::conversation::{Conversation, Said, frame};
use super::{Behaviour, End, Ends};
use std::io;
use std::time::Duration;
use ws_proto::Opcode;

const OTHER_RUN: &[u8] = br#"{"type":"echo","payload":{"stamp":"0123456789abcdef"}}"#;

/// Nothing that was asked for comes.
const STALLED: Ends = Ends::invalid("not complete after").connect(UNANSWERED);

/// A `connect` run asks for nothing but pongs, and takes whatever else comes.
const UNANSWERED: End = End::invalid("did not answer a ping");

/// An unsolicited pong is allowed; the hold may be over before a second ping is due.
const ANSWERED_ONCE: End = End::new(
    &[0, 3],
    "did not answer a ping|the one planned step was measured",
);

const LARGE: &str = "--payload-padding 4000000";

pub(super) const BEHAVIOURS: &[Behaviour] = &[
    Behaviour::new(
        "ping-flood",
        "pings at full speed and reads no pong",
        STALLED,
        |c| {
            c.opened()?;
            c.flood(&frame(Opcode::Ping, b"are you there?"))
        },
    )
    .busy(),
    Behaviour::new(
        "large-ping-flood",
        "pings with 125 bytes at full speed and reads no pong",
        STALLED,
        |c| {
            c.opened()?;
            c.flood(&frame(Opcode::Ping, &[b'p'; 125]))
        },
    )
    .busy(),
    Behaviour::new(
        "ping-flood-and-reads",
        "pings at full speed, reads the pongs and answers nothing",
        STALLED,
        |c| {
            c.opened()?;
            let mut reader = c.socket().try_clone()?;
            std::thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
            c.flood(&frame(Opcode::Ping, b""))
        },
    )
    .busy(),
    Behaviour::new(
        "pong-flood",
        "sends pongs that answer nothing at full speed",
        STALLED,
        |c| {
            c.opened()?;
            c.flood(&frame(Opcode::Pong, b"12345678"))
        },
    )
    .busy(),
    Behaviour::new(
        "message-flood",
        "sends messages of another run at full speed",
        Ends::invalid("misdirected").connect(UNANSWERED),
        |c| {
            c.opened()?;
            c.flood(&frame(Opcode::Text, OTHER_RUN))
        },
    )
    .busy(),
    Behaviour::new(
        "early-message-flood",
        "sends messages of another run at full speed from the start",
        Ends::early("misdirected|not complete after").connect(UNANSWERED),
        |c| {
            c.open()?;
            c.flood(&frame(Opcode::Text, OTHER_RUN))
        },
    )
    .busy(),
    Behaviour::new(
        "empty-message-flood",
        "sends empty messages at full speed",
        Ends::invalid("malformed").connect(UNANSWERED),
        |c| {
            c.opened()?;
            c.flood(&frame(Opcode::Text, b""))
        },
    )
    .busy(),
    Behaviour::new(
        "error-flood",
        "sends error answers at full speed",
        Ends::invalid("refused").connect(UNANSWERED),
        |c| {
            c.opened()?;
            c.flood(&frame(Opcode::Text, br#"{"type":"error","payload":"no"}"#))
        },
    )
    .busy(),
    Behaviour::new(
        "answer-flood",
        "sends each answer again and again",
        Ends::invalid("duplicate").connect(ANSWERED_ONCE),
        |c| {
            let said = c.opened()?;
            c.reply(&said)?;
            match said {
                Said::Request(request) => c.flood(&request.frame(reply_to(&request))),
                _ => c.flood(&frame(Opcode::Pong, b"12345678")),
            }
        },
    )
    .busy(),
    Behaviour::new(
        "close-flood",
        "sends close frames at full speed",
        Ends::invalid("closed the connection after the WebSocket was open with 1001"),
        |c| {
            c.opened()?;
            c.flood(&frame(Opcode::Close, &1001u16.to_be_bytes()))
        },
    )
    .busy(),
    Behaviour::new(
        "takes-nothing",
        "reads nothing after the upgrade",
        STALLED,
        |c| {
            c.open()?;
            c.hang()
        },
    )
    .with(LARGE),
    Behaviour::new(
        "takes-a-byte-a-second",
        "reads a byte in a second",
        STALLED,
        |c| {
            c.open()?;
            let mut byte = [0];
            loop {
                io::Read::read_exact(&mut c.socket(), &mut byte)?;
                std::thread::sleep(Duration::from_secs(1));
            }
        },
    )
    .with(LARGE),
    Behaviour::new(
        "takes-large-messages",
        "serves messages of 4 MB, which is allowed",
        Ends::SERVED,
        serve,
    )
    .with(LARGE),
];

const fn reply_to(request: &crate::threaded::Request) -> crate::threaded::Reply {
    if request.broadcast {
        crate::threaded::Reply::Broadcast
    } else {
        crate::threaded::Reply::Echo
    }
}

fn serve(c: &mut Conversation) -> io::Result<()> {
    c.open()?;
    c.serve()
}
