//! The distributed run: sites of [`ws_load::cluster`] in other processes and on other machines, and
//! gRPC between them and their coordinator.
//!
//! Purpose: carry commands and words, tell how the clocks of two machines stand to one another, notice
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
mod revision;
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
/// loaded machine is no loss. Of a process that was started here it says nothing: its end is known
/// when it comes, and it may have to wait for its turn for long.
const SILENCE: Duration = Duration::from_secs(3);
/// How long a process that was started here may take for its start and for each answer before the
/// run: dozens of them start at once, on a machine that may be busy.
const CHILD_PATIENCE: Duration = Duration::from_secs(60);
/// How long a connection and each answer of the conversation's beginning may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the other side may take to close its connections after the end of a run: the engine gives
/// a server 3 s to answer close frames.
const FAREWELL: Duration = Duration::from_secs(5);
/// Largest message that a coordinator takes: whole histograms of 1024 threads are below it.
const LARGEST_WORDS: usize = 256 << 20;
/// Largest message that a worker takes, and most bytes of commands that wait to be obeyed: a plan with
/// a system's certificate authorities is below 1 MiB, and what a coordinator relays in a second of
/// 200,000 samples below 8.
const LARGEST_ORDERS: usize = 32 << 20;

/// A transport thread beside the threads of a site.
fn runtime() -> Result<tokio::runtime::Runtime, RemoteError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("transport")
        .enable_all()
        .build()
        .map_err(RemoteError::Runtime)
}
