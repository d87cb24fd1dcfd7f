//! The checks, one file per section of RFC 6455 or rule of the protocol.

mod ack;
mod at_once;
mod broadcast;
mod close;
mod control;
mod deflate;
mod echo;
mod errors;
mod fragmentation;
mod framing;
mod half_closed;
mod handshake;
mod leavers;
mod limits;
mod membership;
mod memory;
mod phoenix;
mod residue;
mod rooms;
mod slow_client;
mod text;
mod utf8;

use crate::check::Check;

static ALL: &[&[Check]] = &[
    handshake::CHECKS,
    echo::CHECKS,
    text::CHECKS,
    broadcast::CHECKS,
    ack::CHECKS,
    membership::CHECKS,
    rooms::CHECKS,
    // Before messages of many megabytes: in memory that these have left, a server could hide what it keeps.
    memory::CHECKS,
    phoenix::CHECKS,
    framing::CHECKS,
    fragmentation::CHECKS,
    control::CHECKS,
    close::CHECKS,
    utf8::CHECKS,
    errors::CHECKS,
    deflate::CHECKS,
    leavers::CHECKS,
    limits::CHECKS,
    at_once::CHECKS,
    slow_client::CHECKS,
    residue::CHECKS,
    half_closed::CHECKS,
];

/// Every check, always in the same order: first what all others need, last what may break a server.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    ALL.iter().copied().flatten()
}

/// The ids of all checks, in the same order.
pub fn check_ids() -> Vec<&'static str> {
    checks().map(|check| check.id).collect()
}
