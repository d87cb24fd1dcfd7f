//! The atomics of the shared ledger: those of the standard library, and in the models of `make loom`
//! those of loom, which tries the orders in which threads may see them.

#[cfg(all(test, loom))]
pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64};
#[cfg(not(all(test, loom)))]
pub(super) use std::sync::atomic::{AtomicU32, AtomicU64};
