//! Every message is checked: what it is, which clients were to get it, and when it came.

mod envelope;
mod feeds;
mod first_answers;
pub mod for_benches;
mod ledger;
mod numbers;
mod streams;
mod verifier;
mod visits;

pub(crate) use envelope::Envelopes;
pub(crate) use first_answers::{Answers, Understanding};
pub(crate) use ledger::{Flight, Keeper, Read, Sent, StepLedger, Terms};
pub(crate) use verifier::{Asides, RoomConfirmed, Verifier};
