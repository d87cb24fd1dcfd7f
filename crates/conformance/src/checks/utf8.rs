//! Text that is not UTF-8 (RFC 6455, section 8.1).

use crate::check::{Check, Scope};
use crate::context::{Context, refused};
use crate::failure::Checked;
use crate::message::Kind;
use crate::raw::fragments;
use ws_proto::Opcode;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "rfc6455-8.1-invalid-utf8",
        section: "RFC 6455, 8.1",
        description: "Sends echoes whose payload holds stray, overlong, cut, surrogate and too \
                      large UTF-8 sequences, each on its own connection.",
        expectation: "the server fails each connection (with 1007)",
        scope: Scope::Json,
        needs: None,
        run: |context| {
            for bad in INVALID {
                sent_in(context, bad, |start, end| vec![[start, end].concat()])?;
            }
            Ok(())
        },
    },
    Check {
        id: "rfc6455-8.1-invalid-utf8-in-fragments",
        section: "RFC 6455, 8.1",
        description: "The same in fragments that cut the bad sequence.",
        expectation: "the server fails each connection (with 1007)",
        scope: Scope::Json,
        needs: None,
        run: |context| {
            for bad in INVALID {
                sent_in(context, bad, |start, end| {
                    let (first, second) = start.split_at(3);
                    vec![first.to_vec(), second.to_vec(), end.to_vec()]
                })?;
            }
            Ok(())
        },
    },
];

/// Stands for the bad bytes in a request that is written as text.
const PLACE: &str = "@@@@";

/// A stray byte, overlong forms, a cut sequence, a surrogate, and a code point past the last.
const INVALID: [&[u8]; 6] = [
    &[0xFF],
    &[0xC0, 0xAF],
    &[0xE0, 0x80, 0xAF],
    &[0xE2, 0x82],
    &[0xED, 0xA0, 0x80],
    &[0xF4, 0x90, 0x80, 0x80],
];

/// Sends an echo of the bad bytes. `divide` gets the message in two parts, cut behind the first bad
/// byte.
fn sent_in(
    context: &mut Context<'_>,
    bad: &[u8],
    divide: impl Fn(&[u8], &[u8]) -> Vec<Vec<u8>>,
) -> Checked {
    let mut client = context.connect()?;
    let request = context
        .speech()
        .json_request(Kind::Echo, &format!("\"{PLACE}\""));
    let (before, behind) = request.split_once(PLACE).unwrap_or_default();
    let start = [before.as_bytes(), &bad[..1]].concat();
    let end = [&bad[1..], behind.as_bytes()].concat();
    let parts = divide(&start, &end);
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    for fragment in fragments(Opcode::Text, &parts) {
        client.send_raw(&fragment)?;
    }
    refused(&mut client).map_err(|failure| failure.at(format_args!("bytes {bad:02x?}")))
}
