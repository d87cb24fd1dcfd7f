//! Being told when a socket takes bytes again.

use crate::io::{Control, Token};
use crate::net::Transport;
use std::io;

/// Asks to be told when the socket takes bytes again, if any wait now and none did before; stops
/// asking when none do any more.
#[inline]
pub(super) fn watch(
    control: &mut dyn Control,
    slot: Token,
    transport: &Transport,
    was_waiting: bool,
) -> io::Result<()> {
    if transport.wants_write() == was_waiting {
        return Ok(());
    }
    rewatch(control, slot, transport)
}

/// Watches for the socket to take bytes again, if any wait.
#[cold]
pub(super) fn rewatch(
    control: &mut dyn Control,
    slot: Token,
    transport: &Transport,
) -> io::Result<()> {
    control.established(slot, transport.raw(), transport.wants_write())
}
