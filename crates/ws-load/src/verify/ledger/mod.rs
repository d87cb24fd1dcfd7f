//! Who has received what: the ledger of one step.
//!
//! [`StepLedger`] is shared by all workers of a process: one entry per sample, touched a few times
//! per sample and worker. [`Window`] belongs to one worker. For broadcasts it has one bit per sample in
//! flight and listener, touched for every message; for echoes it has none, since only the sender
//! gets one.

mod step;
mod window;

pub(crate) use step::{Flight, Keeper, OfRoom, Read, Sent, StepLedger, Terms};
pub(crate) use window::{Confirmed, Listeners, Lost, Missing, Received, Seats, Window};
