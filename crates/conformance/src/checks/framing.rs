//! Frames that a server must refuse (RFC 6455, sections 5.1 and 5.2).

use crate::check::{Check, Scope};
use crate::context::{Context, refused};
use crate::failure::Checked;
use crate::message::Kind;
use crate::raw::{FIN, frame, unmasked};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "rfc6455-5.1-unmasked-frame",
        section: "RFC 6455, 5.1",
        description: "Sends a valid echo in a frame without a mask.",
        expectation: "the server closes the connection",
        scope: Scope::Each,
        needs: None,
        run: |context| {
            let mut client = context.connect()?;
            let (opcode, message) = context.fresh(Kind::Echo);
            client.send_raw(&unmasked(FIN | opcode as u8, &message))?;
            refused(&mut client)
        },
    },
    Check {
        id: "rfc6455-5.2-reserved-bits",
        section: "RFC 6455, 5.2",
        description: "Sends an echo with RSV1, RSV2 or RSV3 set, each on its own connection.",
        expectation: "the server fails each connection",
        scope: Scope::Each,
        needs: None,
        run: |context| {
            let (opcode, message) = context.fresh(Kind::Echo);
            let opcode = opcode as u8;
            each_refused(
                context,
                &[0x40, 0x20, 0x10].map(|rsv| FIN | rsv | opcode),
                &message,
            )
        },
    },
    Check {
        id: "rfc6455-5.2-reserved-opcodes",
        section: "RFC 6455, 5.2",
        description: "Sends frames of the opcodes 3, 7, B and F, each on its own connection.",
        expectation: "the server fails each connection",
        scope: Scope::Once,
        needs: None,
        run: |context| each_refused(context, &[3, 7, 0xB, 0xF].map(|opcode| FIN | opcode), b"x"),
    },
];

/// Sends one frame per first byte, each on its own connection.
fn each_refused(context: &mut Context<'_>, firsts: &[u8], payload: &[u8]) -> Checked {
    for &first in firsts {
        let mut client = context.connect()?;
        client.send_raw(&frame(first, payload))?;
        refused(&mut client)
            .map_err(|failure| failure.at(format_args!("first byte {first:#04x}")))?;
    }
    Ok(())
}
