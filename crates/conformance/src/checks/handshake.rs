//! The opening handshake (RFC 6455, sections 4.1 and 4.2).

use crate::check::{Check, Scope};
use crate::client::{NoHead, Opening, is_no_101, origin, read_head};
use crate::context::Context;
use crate::failure::{Checked, Failure};
use crate::stream::Stream;
use ws_proto::{HandshakeError, parse_response};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "rfc6455-4.2.2-accept-key",
        section: "RFC 6455, 4.2.2",
        description: "Opens three connections with different keys.",
        expectation: "each 101 answer carries the Sec-WebSocket-Accept that belongs to its key",
        scope: Scope::Once,
        needs: None,
        run: |context| {
            judge_head(context, |e| {
                matches!(
                    e,
                    HandshakeError::Accept { .. } | HandshakeError::AcceptTwice
                )
            })
        },
    },
    Check {
        id: "rfc6455-4.2.2-upgrade-headers",
        section: "RFC 6455, 4.2.2",
        description: "Opens three connections.",
        expectation: "each 101 answer carries `Upgrade: websocket` and `Connection: Upgrade`",
        scope: Scope::Once,
        needs: None,
        run: |context| {
            judge_head(context, |e| {
                matches!(e, HandshakeError::Upgrade | HandshakeError::Connection)
            })
        },
    },
    Check {
        id: "rfc6455-4.1-no-unasked-extension",
        section: "RFC 6455, 4.1",
        description: "Opens connections without asking for an extension.",
        expectation: "no 101 answer names an extension",
        scope: Scope::Once,
        needs: None,
        run: |context| judge_head(context, |e| matches!(e, HandshakeError::Extension(_))),
    },
    Check {
        id: "rfc6455-4.1-no-unasked-subprotocol",
        section: "RFC 6455, 4.1",
        description: "Opens connections without asking for a subprotocol (Action Cable: asking \
                      for its own).",
        expectation: "no 101 answer names a subprotocol (Action Cable: each names its own)",
        scope: Scope::Once,
        needs: None,
        run: |context| judge_head(context, |e| matches!(e, HandshakeError::Subprotocol { .. })),
    },
    Check {
        id: "rfc6455-4.2.1-plain-request",
        section: "RFC 6455, 4.2.1",
        description: "Sends an HTTP request that asks for no upgrade.",
        expectation: "any answer but 101, or the end of the connection",
        scope: Scope::Once,
        needs: None,
        run: |context| request_is_refused(context, &[]),
    },
    Check {
        id: "rfc6455-4.2.2-version",
        section: "RFC 6455, 4.2.2",
        description: "Asks for version 12 of the protocol.",
        expectation: "any answer but 101 (RFC 6455 asks for 426), or the end of the connection",
        scope: Scope::Once,
        needs: None,
        run: |context| {
            let key = format!("Sec-WebSocket-Key: {}", context.key());
            request_is_refused(context, &[UPGRADE, &key, "Sec-WebSocket-Version: 12"])
        },
    },
    Check {
        id: "rfc6455-4.2.1-missing-key",
        section: "RFC 6455, 4.2.1",
        description: "Asks for an upgrade without a Sec-WebSocket-Key.",
        expectation: "any answer but 101, or the end of the connection",
        scope: Scope::Once,
        needs: None,
        run: |context| request_is_refused(context, &[UPGRADE, "Sec-WebSocket-Version: 13"]),
    },
];

const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade";

/// Fails when the head of an answer has the fault that this check looks for; other faults have
/// checks of their own.
fn judge_head(context: &mut Context<'_>, is_mine: fn(&HandshakeError) -> bool) -> Checked {
    for _ in 0..3 {
        let key = context.key();
        let head = Opening::start(context.target, context.dialect, &key)
            .map_err(Failure::from)?
            .into_head()
            .map_err(|error| Failure(error.to_string()))?;
        if let Err(error) = parse_response(&head, &key, context.speech().subprotocol())
            && (is_mine(&error) || is_no_101(&error))
        {
            return Err(Failure::new(error.to_string()));
        }
    }
    Ok(())
}

fn request_is_refused(context: &Context<'_>, headers: &[&str]) -> Checked {
    let target = context.target;
    let mut stream =
        Stream::connect(target).map_err(|error| Failure(format!("could not connect: {error}")))?;
    let path = context.speech().path(&target.path);
    let mut head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n", target.host);
    if let Some(origin) = origin(target, context.dialect) {
        head.push_str(&format!("Origin: {origin}\r\n"));
    }
    if let Some(subprotocol) = context.speech().subprotocol() {
        head.push_str(&format!("Sec-WebSocket-Protocol: {subprotocol}\r\n"));
    }
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    // A server that ends the connection early has refused the request; the read finds that.
    let _ = stream.send(head.as_bytes());
    match read_head(&mut stream, target.timeout) {
        Ok((head, _)) if head.starts_with(b"HTTP/1.1 101") => {
            Err(Failure::new("the server answered 101"))
        }
        Ok(_) => Ok(()),
        Err(silent @ NoHead::Silent(_)) => Err(Failure(silent.to_string())),
        Err(NoHead::Ended(_)) => Ok(()),
    }
}
