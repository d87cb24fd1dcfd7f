//! The distributed run: sites of [`ws_load::site`] in other processes and on other machines, and
//! gRPC between them and their coordinator.
//!
//! Purpose: carry orders and words, tell how the clocks of two machines stand to one another, notice
//! within seconds when either side is gone, and let nobody in who may not come. It reads no order
//! and no word, plans nothing and measures nothing; it prints nothing, but hands what is worth
//! knowing to whoever started it.
//!
//! It is a crate of its own so that the engine cannot import gRPC.

mod address;
mod allow;
mod clocks;
mod coordinator;
mod credentials;
mod dial;
mod error;
mod outbox;
pub mod wire;
mod worker;

pub use address::Address;
pub use allow::{AllowList, Allowed};
pub use coordinator::{Gathered, Hub, Invitation, gather};
pub use credentials::{Credentials, TOKEN_VARIABLE, Token};
pub use error::RemoteError;
pub use worker::{Left, WorkerOptions, join, serve};

use std::sync::Arc;
use std::time::Duration;

/// Where words for the user go, one line at a time.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Between two signs of life.
const BEAT: Duration = Duration::from_secs(1);
/// Silence after which the other side is taken for lost: three beats, so that one late wake-up of a
/// loaded machine is no loss.
const SILENCE: Duration = Duration::from_secs(3);
/// How long a connection and each answer of the conversation's beginning may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the other side may take to close its connections after the end of a run: the engine gives
/// a server 3 s to answer close frames.
const FAREWELL: Duration = Duration::from_secs(5);
/// Largest message taken: whole histograms of 1024 threads are below it.
const LARGEST_MESSAGE: usize = 256 << 20;

/// A transport thread beside the threads of a site.
fn runtime() -> Result<tokio::runtime::Runtime, RemoteError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("transport")
        .enable_all()
        .build()
        .map_err(RemoteError::Runtime)
}
