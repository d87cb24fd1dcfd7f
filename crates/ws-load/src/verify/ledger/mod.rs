//! Who has received what: the ledger of one step.
//!
//! [`StepLedger`] is shared by all workers of a process: one entry per sample, touched a few times
//! per sample and worker. [`Window`] belongs to one worker: of a broadcast one bit per sample under
//! way and listener, touched for every message; of an echo nothing, since only its sender hears it.

mod step;
mod window;

pub(crate) use step::{Flight, Keeper, Read, Sent, StepLedger, Terms};
pub(crate) use window::{Confirmed, Listeners, Missing, Received, Window};
