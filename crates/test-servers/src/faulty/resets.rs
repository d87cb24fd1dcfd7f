//! How connections end, at every stage.

use super::conversation::{Conversation, Said};
use super::{Behaviour, Ends};
use std::io;
use std::time::Duration;
use ws_proto::Opcode;

const CLOSED: Ends =
    Ends::unopened("(closed|reset) the connection before it answered the WebSocket upgrade");
const LOST_EARLY: Ends = Ends::early("(closed|reset) the connection after the WebSocket was open");
const LOST: Ends = Ends::invalid("(closed|reset) the connection after the WebSocket was open");

pub(super) const BEHAVIOURS: &[Behaviour] = &[
    Behaviour::new(
        "reset-after-a-byte",
        "resets at the first bytes of the request",
        CLOSED,
        |c| {
            c.first_bytes()?;
            c.reset()
        },
    ),
    Behaviour::new(
        "end-after-a-byte",
        "ends at the first bytes of the request",
        CLOSED,
        |c| {
            c.first_bytes()?;
            c.finish();
            c.listen()
        },
    ),
    Behaviour::new("reset-in-the-head", "resets within the 101", CLOSED, |c| {
        let head = c.head()?.accept();
        c.send(&head.as_bytes()[..head.len() / 2])?;
        c.reset()
    }),
    Behaviour::new(
        "reset-after-the-101",
        "resets after the 101",
        LOST_EARLY,
        |c| {
            c.open()?;
            c.reset()
        },
    ),
    Behaviour::new("end-after-the-101", "ends after the 101", LOST_EARLY, |c| {
        c.open()?;
        c.finish();
        c.listen()
    }),
    Behaviour::new(
        "close-after-the-101",
        "closes after the 101",
        LOST_EARLY,
        |c| {
            c.open()?;
            c.frame(Opcode::Close, b"\x03\xf5try again later")?;
            c.finish();
            c.listen()
        },
    ),
    Behaviour::new(
        "reset-at-the-first-message",
        "resets at the first request or ping",
        LOST,
        |c| {
            c.opened()?;
            c.reset()
        },
    ),
    Behaviour::new(
        "end-at-the-first-message",
        "ends at the first request or ping",
        LOST,
        |c| {
            c.opened()?;
            c.finish();
            c.listen()
        },
    ),
    Behaviour::new(
        "reset-after-an-answer",
        "resets after the first answer",
        LOST,
        |c| {
            let said = c.opened()?;
            c.reply(&said)?;
            std::thread::sleep(Duration::from_millis(20));
            c.reset()
        },
    ),
    Behaviour::new(
        "reset-of-one",
        "resets one connection of three and serves the others",
        LOST,
        |c| {
            if c.peer().id % 3 != 0 {
                c.open()?;
                return c.serve();
            }
            c.opened()?;
            c.reset()
        },
    )
    .with("--sample-size 60"),
    Behaviour::new(
        "reset-at-a-ping",
        "resets when it is pinged",
        Ends::SERVED.connect(LOST.connect),
        |c| {
            serve_to(c, |said| matches!(said, Said::Ping(_)))?;
            c.reset()
        },
    ),
    Behaviour::new(
        "reset-at-the-close",
        "resets when the client closes, which costs nothing",
        Ends::SERVED,
        |c| {
            serve_to(c, is_close)?;
            c.reset()
        },
    ),
    Behaviour::new(
        "slow-close",
        "answers a close after a second",
        Ends::SERVED,
        |c| {
            let close = serve_to(c, is_close)?;
            std::thread::sleep(Duration::from_secs(1));
            c.reply(&close)
        },
    ),
    Behaviour::new(
        "no-close",
        "answers no close and stays",
        Ends::SERVED,
        |c| {
            serve_to(c, is_close)?;
            c.hang()
        },
    ),
    Behaviour::new(
        "flood-at-the-close",
        "answers a close with messages at full speed",
        Ends::SERVED,
        |c| {
            serve_to(c, is_close)?;
            c.flood(&super::conversation::frame(Opcode::Text, b"{}"))
        },
    )
    .busy(),
    Behaviour::new(
        "slow-101",
        "answers the upgrade after half a second, which is allowed",
        Ends::SERVED,
        |c| {
            let head = c.head()?.accept();
            std::thread::sleep(Duration::from_millis(500));
            c.join(head.as_bytes());
            c.serve()
        },
    ),
];

fn is_close(said: &Said) -> bool {
    matches!(said, Said::Close(_))
}

/// Opens the connection and serves it up to what is `wanted`, which is left unanswered.
fn serve_to(c: &mut Conversation, wanted: fn(&Said) -> bool) -> io::Result<Said> {
    c.open()?;
    loop {
        let said = c.next()?;
        if wanted(&said) {
            return Ok(said);
        }
        c.reply(&said)?;
    }
}
