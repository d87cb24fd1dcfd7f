//! Who has received what: the books of one step.
//!
//! [`StepLedger`] is shared by all workers of a process: one entry per sample, touched a few times
//! per sample and worker. [`Window`] belongs to one worker: one bit per sample under way and
//! listener, touched for every message.

mod step;
mod window;

pub(crate) use step::{Completion, Flight, Read, Sent, Shared, StepLedger, Terms};
pub(crate) use window::{Confirmed, Listeners, Missing, Received, Window};
