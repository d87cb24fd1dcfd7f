//! Text that is not UTF-8 (RFC 6455, section 8.1).

use crate::check::{Check, Scope};
use crate::context::{Checked, Context, refused};
use crate::raw::fragments;
use crate::target::Dialect;
use ws_proto::Opcode;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "rfc6455-8.1-invalid-utf8",
        section: "RFC 6455, 8.1",
        description: "Sends echoes whose payload holds stray, overlong, cut, surrogate and too \
                      large UTF-8 sequences, each on its own connection.",
        expectation: "the server fails each connection (with 1007)",
        scope: Scope::Only(Dialect::Text),
        run: |context| {
            for bad in INVALID {
                sent_in(context, bad, |message| vec![message])?;
            }
            Ok(())
        },
    },
    Check {
        id: "rfc6455-8.1-invalid-utf8-in-fragments",
        section: "RFC 6455, 8.1",
        description: "The same in fragments that cut the bad sequence.",
        expectation: "the server fails each connection (with 1007)",
        scope: Scope::Only(Dialect::Text),
        run: |context| {
            for bad in INVALID {
                sent_in(context, bad, |message| {
                    let (start, end) = message.split_at(PREFIX.len() + 1);
                    vec![&start[..3], &start[3..], end]
                })?;
            }
            Ok(())
        },
    },
];

const PREFIX: &[u8] = br#"{"type":"echo","payload":""#;

/// A stray byte, overlong forms, a cut sequence, a surrogate, and a code point past the last.
const INVALID: [&[u8]; 6] = [
    &[0xFF],
    &[0xC0, 0xAF],
    &[0xE0, 0x80, 0xAF],
    &[0xE2, 0x82],
    &[0xED, 0xA0, 0x80],
    &[0xF4, 0x90, 0x80, 0x80],
];

fn sent_in(context: &mut Context<'_>, bad: &[u8], divide: impl Fn(&[u8]) -> Vec<&[u8]>) -> Checked {
    let mut client = context.connect()?;
    let message = [PREFIX, bad, br#""}"#].concat();
    for fragment in fragments(Opcode::Text, &divide(&message)) {
        client.send_raw(&fragment)?;
    }
    refused(&mut client).map_err(|failure| failure.at(format_args!("bytes {bad:02x?}")))
}
