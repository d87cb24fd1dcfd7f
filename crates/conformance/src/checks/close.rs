//! The closing handshake (RFC 6455, sections 5.5.1 and 7.1.1).

use crate::check::{Check, Scope};
use crate::client::{Client, Incoming};
use crate::context::Context;
use crate::failure::{Checked, Failure};
use ws_proto::{CloseFrame, Opcode};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "rfc6455-5.5.1-close-echo",
        section: "RFC 6455, 5.5.1",
        description: "Closes connections with 1000, with 3000 and 4000 and a reason.",
        expectation: "a close frame with the same code",
        scope: Scope::Once,
        needs: None,
        run: |context| {
            for (code, reason) in [(1000, ""), (3000, "done"), (4000, "até já")] {
                let mut client = context.connect()?;
                send_close(&mut client, code, reason)?;
                echoed(&mut client, code)
                    .map_err(|failure| failure.at(format_args!("close with {code}")))?;
            }
            Ok(())
        },
    },
    Check {
        id: "rfc6455-5.5.1-close-ends-connection",
        section: "RFC 6455, 5.5.1",
        description: "Closes connections with 1000 and without a code.",
        expectation: "the server ends the TCP connection",
        scope: Scope::Once,
        needs: None,
        run: ends,
    },
];

fn send_close(client: &mut Client, code: u16, reason: &str) -> Checked {
    let reason = reason.to_owned();
    client.send(Opcode::Close, &CloseFrame { code, reason }.encode())
}

fn echoed(client: &mut Client, code: u16) -> Checked {
    let wait = client.timeout;
    match client.next_within(wait) {
        Some(Incoming::Close(Ok(Some(frame)))) if frame.code == code => Ok(()),
        Some(other) => Err(Failure(format!("got {other}"))),
        None => Err(Failure(format!("no close frame within {wait:?}"))),
    }
}

fn ends(context: &mut Context<'_>) -> Checked {
    for code in [Some(1000), None] {
        let mut client = context.connect()?;
        match code {
            Some(code) => send_close(&mut client, code, "")?,
            None => client.send(Opcode::Close, b"")?,
        }
        let wait = client.timeout;
        loop {
            match client.next_within(wait) {
                Some(Incoming::End(_)) => break,
                Some(_) => {}
                None => {
                    return Err(Failure(format!(
                        "the TCP connection was still open {wait:?} after the closing handshake"
                    )));
                }
            }
        }
    }
    Ok(())
}
