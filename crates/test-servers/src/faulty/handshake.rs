//! Faulty answers to the upgrade, and unusual ones that the rules allow.

use super::conversation::{Conversation, frame};
use super::{Behaviour, End, Ends};
use std::io;
use std::time::Duration;
use ws_proto::Opcode;

const NOT_HTTP: Ends = Ends::unopened("the answer to the upgrade is not HTTP");
const SILENT: Ends = Ends::unopened("silent before it answered the WebSocket upgrade");
const TOO_LONG: Ends = Ends::unopened("the head of the answer to the upgrade is longer than");
const CLOSED: Ends =
    Ends::unopened("(closed|reset) the connection before it answered the WebSocket upgrade");
/// The client may learn of the end before it has sent its request.
const CLOSED_AT_ONCE: Ends = Ends::unopened("(closed|reset) the connection before");

pub(super) const BEHAVIOURS: &[Behaviour] = &[
    Behaviour::new(
        "never-answers",
        "reads the upgrade request and says nothing",
        SILENT,
        |c| {
            c.head()?;
            c.listen()
        },
    ),
    Behaviour::new(
        "closes-at-accept",
        "ends each connection right after the accept",
        CLOSED_AT_ONCE,
        |c| {
            c.finish();
            c.listen()
        },
    ),
    Behaviour::new(
        "resets-at-accept",
        "resets each connection right after the accept",
        CLOSED_AT_ONCE,
        |c| c.reset(),
    ),
    Behaviour::new(
        "half-a-head",
        "sends half of the 101 and falls silent",
        SILENT,
        |c| {
            let head = c.head()?.accept();
            c.send(&head.as_bytes()[..head.len() / 2])?;
            c.listen()
        },
    ),
    Behaviour::new(
        "dripped-head",
        "sends the 101 byte by byte, one in 200 ms",
        SILENT,
        |c| {
            let head = c.head()?.accept();
            c.drip(head.as_bytes(), Duration::from_millis(200))
        },
    ),
    Behaviour::new(
        "ends-in-the-head",
        "ends the connection within the 101",
        CLOSED,
        |c| {
            let head = c.head()?.accept();
            c.send(&head.as_bytes()[..head.len() / 2])?;
            c.finish();
            c.listen()
        },
    ),
    Behaviour::new(
        "status-200",
        "answers 200",
        Ends::unopened("HTTP 200 OK"),
        |c| status(c, "200 OK", ""),
    ),
    Behaviour::new(
        "status-301",
        "answers 301 with a place to go to",
        Ends::unopened("HTTP 301 Moved"),
        |c| {
            status(
                c,
                "301 Moved Permanently",
                "Location: ws://127.0.0.1:1/elsewhere\r\n",
            )
        },
    ),
    Behaviour::new(
        "status-400",
        "answers 400",
        Ends::unopened("HTTP 400 Bad Request"),
        |c| status(c, "400 Bad Request", ""),
    ),
    Behaviour::new(
        "status-401",
        "answers 401",
        Ends::unopened("HTTP 401 Unauthorized"),
        |c| status(c, "401 Unauthorized", "WWW-Authenticate: Bearer\r\n"),
    ),
    Behaviour::new(
        "status-403",
        "answers 403",
        Ends::unopened("HTTP 403 Forbidden"),
        |c| status(c, "403 Forbidden", ""),
    ),
    Behaviour::new(
        "status-404",
        "answers 404",
        Ends::unopened("HTTP 404 Not Found"),
        |c| status(c, "404 Not Found", ""),
    ),
    Behaviour::new(
        "status-426",
        "answers 426",
        Ends::unopened("HTTP 426 Upgrade Required"),
        |c| status(c, "426 Upgrade Required", "Sec-WebSocket-Version: 99\r\n"),
    ),
    Behaviour::new(
        "status-429",
        "answers 429",
        Ends::unopened("HTTP 429 Too Many"),
        |c| status(c, "429 Too Many Requests", "Retry-After: 3600\r\n"),
    ),
    Behaviour::new(
        "status-500",
        "answers 500",
        Ends::unopened("HTTP 500 Internal"),
        |c| status(c, "500 Internal Server Error", ""),
    ),
    Behaviour::new(
        "status-503",
        "answers 503",
        Ends::unopened("HTTP 503 Service"),
        |c| status(c, "503 Service Unavailable", ""),
    ),
    Behaviour::new(
        "status-999",
        "answers with a status that there is not",
        Ends::unopened("HTTP 999"),
        |c| status(c, "999 What", ""),
    ),
    Behaviour::new(
        "404-without-end",
        "answers 404 with a body that does not end",
        Ends::unopened("HTTP 404 Not Found"),
        |c| {
            c.answer(b"HTTP/1.1 404 Not Found\r\nContent-Length: 99999999999\r\n\r\n")?;
            c.flood(b"<html>")
        },
    )
    .busy(),
    Behaviour::new(
        "reason-with-escapes",
        "answers 403 with terminal escapes as the reason",
        Ends::unopened("403|not HTTP"),
        |c| {
            c.answer(
                b"HTTP/1.1 403 \x1b]0;owned\x07\x1b[2J\xc2\x9b31m\r\nContent-Length: 0\r\n\r\n",
            )
        },
    ),
    Behaviour::new(
        "http-1.0",
        "switches protocols in HTTP/1.0",
        Ends::unopened("HTTP/1.0"),
        |c| changed(c, |head| head.replace("HTTP/1.1", "HTTP/1.0")),
    ),
    Behaviour::new(
        "http-0.9",
        "answers with a page and no head",
        NOT_HTTP,
        |c| c.answer(b"<html>\x1b[31mhello</html>\n"),
    ),
    Behaviour::new("ssh", "speaks SSH", NOT_HTTP, |c| {
        c.answer(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
    }),
    Behaviour::new(
        "tls-on-ws",
        "speaks TLS where nothing was said of it",
        NOT_HTTP,
        |c| c.answer(b"\x15\x03\x01\x00\x02\x02\x46"),
    ),
    Behaviour::new("zeroes", "sends zero bytes", NOT_HTTP, |c| {
        c.answer(&[0; 4096])
    }),
    Behaviour::new(
        "wrong-accept",
        "answers with the accept key of another request",
        Ends::unopened("wrong Sec-WebSocket-Accept"),
        |c| changed(c, |head| head.replace("Accept: ", "Accept: X")),
    ),
    Behaviour::new(
        "accept-with-escapes",
        "answers with control characters as the accept key",
        Ends::unopened("wrong Sec-WebSocket-Accept"),
        |c| {
            changed(c, |head| {
                head.replace("Accept: ", "Accept: \u{9b}31m\u{202e}")
            })
        },
    ),
    Behaviour::new(
        "missing-accept",
        "answers 101 without an accept key",
        Ends::unopened("wrong Sec-WebSocket-Accept: .* got nothing"),
        |c| changed(c, |head| head.replace("Sec-WebSocket-Accept", "X-Accept")),
    ),
    Behaviour::new(
        "two-accepts",
        "answers 101 with the right accept key and another",
        Ends::unopened("Sec-WebSocket-Accept"),
        |c| header(c, "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA="),
    ),
    Behaviour::new(
        "missing-upgrade",
        "answers 101 without Upgrade",
        Ends::unopened("lacks `Upgrade: websocket`"),
        |c| changed(c, |head| head.replace("Upgrade: websocket\r\n", "")),
    ),
    Behaviour::new(
        "missing-connection",
        "answers 101 without Connection",
        Ends::unopened("lacks `Connection: Upgrade`"),
        |c| changed(c, |head| head.replace("Connection: Upgrade\r\n", "")),
    ),
    Behaviour::new(
        "unasked-extension",
        "turns compression on",
        Ends::unopened("extension `permessage-deflate`"),
        |c| header(c, "Sec-WebSocket-Extensions: permessage-deflate"),
    ),
    Behaviour::new(
        "extension-with-escapes",
        "turns on an extension whose name is control characters",
        Ends::unopened("the extension `"),
        |c| header(c, "Sec-WebSocket-Extensions: \u{9b}2J\u{202e}"),
    ),
    Behaviour::new(
        "unasked-subprotocol",
        "chooses a subprotocol",
        Ends::unopened("the subprotocol `chat`"),
        |c| header(c, "Sec-WebSocket-Protocol: chat"),
    ),
    Behaviour::new(
        "subprotocol-with-escapes",
        "chooses a subprotocol whose name is control characters",
        Ends::unopened("the subprotocol `"),
        |c| header(c, "Sec-WebSocket-Protocol: \u{9b}2J\u{85}\u{2066}"),
    ),
    Behaviour::new(
        "long-subprotocol",
        "chooses a subprotocol with a name of 8 KB",
        Ends::unopened("the subprotocol `xxx"),
        |c| header(c, &format!("Sec-WebSocket-Protocol: {}", "x".repeat(8192))),
    ),
    Behaviour::new(
        "escapes-in-headers",
        "sends a header with terminal escapes in it",
        NOT_HTTP,
        |c| header(c, "X-Colour: \x1b[31mred\x07"),
    ),
    Behaviour::new("long-header", "sends a header of 1 MB", TOO_LONG, |c| {
        changed(c, |head| {
            head.replace(
                "\r\n\r\n",
                &format!("\r\nX-Long: {}\r\n\r\n", "x".repeat(1 << 20)),
            )
        })
    }),
    Behaviour::new(
        "endless-headers",
        "sends headers without end",
        Ends::unopened("the answer to the upgrade has more than [0-9]+ headers"),
        |c| {
            c.answer(b"HTTP/1.1 101 Switching Protocols\r\n")?;
            c.flood(b"X-More: and more\r\n")
        },
    )
    .busy(),
    Behaviour::new(
        "thousand-interim-answers",
        "sends 100 a thousand times before the 101",
        Ends::unopened("more than [0-9]+ interim answers|longer than"),
        |c| interim(c, &b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000)),
    ),
    Behaviour::new(
        "early-refusal",
        "answers 503 before it has read the request",
        Ends::unopened("HTTP 503"),
        |c| {
            c.send(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")?;
            c.listen()
        },
    ),
    Behaviour::new(
        "continue-before-101",
        "sends 100 before the 101, which is allowed",
        Ends::SERVED,
        |c| interim(c, b"HTTP/1.1 100 Continue\r\n\r\n"),
    ),
    Behaviour::new(
        "hints-before-101",
        "sends 103 before the 101, which is allowed",
        Ends::SERVED,
        |c| {
            interim(
                c,
                b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n",
            )
        },
    ),
    Behaviour::new(
        "connection-in-two-headers",
        "spreads Connection over two headers, which is allowed",
        Ends::SERVED,
        |c| {
            changed(c, |head| {
                head.replace(
                    "Connection: Upgrade",
                    "Connection: keep-alive\r\nConnection: upgrade",
                )
            })?;
            c.serve()
        },
    ),
    Behaviour::new(
        "small-pieces",
        "sends the 101 in pieces of one byte, which is allowed",
        Ends::SERVED,
        |c| {
            let head = c.head()?.accept();
            c.drip(&head.as_bytes()[..head.len() - 1], Duration::from_millis(1))?;
            c.join(b"\n");
            c.serve()
        },
    ),
    Behaviour::new(
        "frames-behind-the-101",
        "sends frames in the segment of the 101, which is allowed",
        Ends::SERVED,
        |c| {
            let mut bytes = c.head()?.accept().into_bytes();
            bytes.extend(frame(Opcode::Ping, b"at once"));
            bytes.extend(frame(Opcode::Pong, b"unasked"));
            c.join(&bytes);
            c.serve()
        },
    ),
    Behaviour::new(
        "garbage-behind-the-101",
        "sends bytes that are no frame in the segment of the 101",
        Ends::all(End::early("reserved bits")),
        |c| {
            let mut bytes = c.head()?.accept().into_bytes();
            bytes.extend([0xff; 64]);
            c.send(&bytes)?;
            c.listen()
        },
    ),
];

fn status(c: &mut Conversation, status: &str, headers: &str) -> io::Result<()> {
    c.answer(format!("HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\n\r\n").as_bytes())?;
    c.listen()
}

/// A 101 that is not as it should be, and what a server does after a good one.
fn changed(c: &mut Conversation, change: impl FnOnce(&str) -> String) -> io::Result<()> {
    let head = c.head()?.accept();
    c.join(change(&head).as_bytes());
    Ok(())
}

fn header(c: &mut Conversation, line: &str) -> io::Result<()> {
    changed(c, |head| {
        head.replace("\r\n\r\n", &format!("\r\n{line}\r\n\r\n"))
    })?;
    c.serve()
}

fn interim(c: &mut Conversation, answers: &[u8]) -> io::Result<()> {
    let head = c.head()?.accept();
    c.send(answers)?;
    c.join(head.as_bytes());
    c.serve()
}
