//! Below the WebSocket: certificates, handshakes and records.

use super::conversation::{Conversation, frame};
use super::{Behaviour, Certificate, End, Ends};
use std::io::{self, Read as _};
use ws_proto::Opcode;

const LOST: Ends = Ends::invalid("closed the connection after the WebSocket was open");

/// The head of a record of application data that is shorter than a seal.
const NO_RECORD: &[u8] = &[0x17, 3, 3, 0, 32];

pub(super) const BEHAVIOURS: &[Behaviour] = &[
    tls(
        "tls-correct",
        "serves over TLS, which is allowed",
        Ends::SERVED,
        serve,
    ),
    tls(
        "tls-large-messages",
        "serves messages of 70 KB over TLS, which is allowed",
        Ends::SERVED,
        serve,
    )
    .with("--payload-padding 70000"),
    tls(
        "tls-records-of-a-byte",
        "sends every byte in a record of its own, which is allowed",
        Ends::SERVED,
        |c| c.serve_with(|c, bytes| bytes.iter().try_for_each(|byte| c.send(&[*byte]))),
    ),
    tls(
        "tls-wrong-name",
        "shows a certificate for another name, with escapes in it",
        Ends::unopened("certificate"),
        serve,
    )
    .over_tls(Certificate::WrongName),
    tls(
        "tls-expired",
        "shows a certificate whose time is over",
        Ends::unopened("certificate.*expired"),
        serve,
    )
    .over_tls(Certificate::Expired),
    tls(
        "tls-self-signed",
        "shows a certificate that it signed itself",
        Ends::unopened("certificate"),
        serve,
    )
    .over_tls(Certificate::SelfSigned),
    tls(
        "tls-plain-http",
        "answers in plain HTTP",
        Ends::unopened("what it says is not TLS; is the URL to begin with ws:// there"),
        |c| {
            raw_hello(c)?;
            c.raw(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
            c.finish();
            c.hang()
        },
    ),
    tls(
        "tls-silent",
        "never finishes the handshake",
        Ends::unopened("silent before it answered"),
        |c| {
            raw_hello(c)?;
            c.hang()
        },
    ),
    tls(
        "tls-alert",
        "refuses the handshake with an alert",
        Ends::unopened("refused TLS with the alert HandshakeFailure"),
        |c| {
            raw_hello(c)?;
            c.raw(&[0x15, 3, 3, 0, 2, 2, 40])?;
            c.finish();
            c.hang()
        },
    ),
    tls(
        "tls-reset-in-the-handshake",
        "resets within the handshake",
        Ends::unopened("(closed|reset) the connection before it answered"),
        |c| {
            raw_hello(c)?;
            c.reset()
        },
    ),
    tls(
        "tls-end-in-the-handshake",
        "ends within the handshake",
        Ends::unopened("(closed|reset) the connection before it answered"),
        |c| {
            raw_hello(c)?;
            c.finish();
            c.hang()
        },
    ),
    tls(
        "tls-garbage-in-the-handshake",
        "answers the hello with garbage",
        Ends::unopened("what it says is not TLS; is the URL to begin with ws:// there"),
        |c| {
            raw_hello(c)?;
            c.raw(&[0x1b; 4096])?;
            c.hang()
        },
    ),
    tls(
        "tls-endless-handshake",
        "sends a handshake message without end",
        Ends::unopened("what it says is not TLS"),
        |c| {
            raw_hello(c)?;
            let mut record = vec![0x16, 3, 3, 0x40, 0, 2, 0xff, 0xff, 0xff];
            record.resize(5 + 0x4000, 0);
            loop {
                c.raw(&record)?;
            }
        },
    )
    .busy(),
    tls(
        "tls-close-notify-then-more",
        "ends TLS and sends records after that",
        LOST,
        |c| {
            c.opened()?;
            c.tls()?.close_notify()?;
            c.raw(&[NO_RECORD, &[0; 32]].concat())?;
            c.hang()
        },
    ),
    tls(
        "tls-close-notify-then-a-flood",
        "ends TLS and sends bytes at full speed after that",
        LOST,
        |c| {
            c.opened()?;
            c.tls()?.close_notify()?;
            loop {
                c.raw(&[0; 16384])?;
            }
        },
    )
    .busy(),
    tls(
        "tls-close-notify-and-stays",
        "ends TLS and never the connection",
        LOST,
        |c| {
            c.opened()?;
            c.tls()?.close_notify()?;
            c.hang()
        },
    ),
    tls(
        "tls-end-without-notify",
        "ends the connection and not TLS",
        LOST,
        |c| {
            c.opened()?;
            c.finish();
            c.hang()
        },
    ),
    tls(
        "tls-garbage",
        "sends bytes that are no record",
        Ends::invalid("what it says is not TLS; .*after the WebSocket was open"),
        |c| {
            c.opened()?;
            c.raw(&[0x1b; 512])?;
            c.hang()
        },
    ),
    tls(
        "tls-wrong-seal",
        "sends a record whose seal is wrong",
        Ends::invalid("cannot decrypt .*after the WebSocket was open"),
        |c| {
            c.opened()?;
            c.raw(&[NO_RECORD, &[0; 32]].concat())?;
            c.hang()
        },
    ),
    tls(
        "tls-reset",
        "resets an open connection",
        Ends::invalid("reset the connection after the WebSocket was open"),
        |c| {
            c.opened()?;
            c.reset()
        },
    ),
    tls(
        "tls-ping-flood",
        "pings at full speed over TLS and reads no pong",
        STALLED,
        |c| {
            c.opened()?;
            c.flood(&frame(Opcode::Ping, &[b'p'; 125]))
        },
    )
    .busy(),
    tls(
        "tls-endless-fragments",
        "adds fragments to a message without end, over TLS",
        Ends::invalid("the longest that this plan allows is [0-9]+"),
        |c| {
            c.opened()?;
            c.send(&[0x01, 0])?;
            c.flood(&[0x00, 1, b'x'])
        },
    )
    .busy(),
];

const STALLED: Ends =
    Ends::invalid("not complete after").connect(End::invalid("did not answer a ping"));

const fn tls(name: &'static str, does: &'static str, ends: Ends, play: super::Play) -> Behaviour {
    Behaviour::new(name, does, ends, play).over_tls(Certificate::Good)
}

fn serve(c: &mut Conversation) -> io::Result<()> {
    c.open()?;
    c.serve()
}

/// Waits for the first bytes of the client's hello.
fn raw_hello(c: &Conversation) -> io::Result<()> {
    c.socket().read(&mut [0; 4096]).map(|_| ())
}
