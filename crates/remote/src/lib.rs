//! The distributed run: sites of [`ws_load::cluster`] in other processes and on other machines, and
//! gRPC between them and their coordinator.
//!
//! Purpose: carry commands and reports, compare the clocks of two machines, notice within seconds when
//! either side is lost, and admit only peers with the right credentials. It does not interpret
//! commands or reports, and plans and measures nothing. It prints nothing: lines for the user go to
//! the caller ([`Tell`]).
//!
//! It is a crate of its own so that the load generator cannot import gRPC.

mod address;
mod allow;
mod broken_off;
mod clocks;
mod coordinator;
mod credentials;
mod data_file;
mod dial;
mod error;
mod outbox;
mod revision;
pub mod wire;
mod worker;

pub use address::{Address, NoAddress};
pub use allow::{AllowList, Allowed, NotAllowed};
pub use coordinator::{Gathered, Hub, Invitation, gather};
pub use credentials::{Credentials, TOKEN_VARIABLE, Token};
pub use data_file::digest;
pub use error::RemoteError;
pub use worker::{Left, WorkerOptions, join, serve};

use std::sync::Arc;
use std::time::Duration;

/// Takes messages for the user, one line at a time.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Time between two probes.
const BEAT: Duration = Duration::from_secs(1);
/// Silence after which the other side counts as lost: three beats, so that one late wake-up on a loaded
/// machine is no loss. It does not apply to a process that was started here: its end is seen when it
/// comes, and on a busy machine it may wait long for a core.
const SILENCE: Duration = Duration::from_secs(3);
/// How long a process that was started here may take for its start and for each answer before the
/// run: dozens of them start at once, on a machine that may be busy.
const CHILD_PATIENCE: Duration = Duration::from_secs(60);
/// How long a connection and each answer of the conversation's beginning may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the other side may take to close its connections after the end of a run: a server has
/// 3 s to answer close frames.
const FAREWELL: Duration = Duration::from_secs(5);
/// Largest message that a coordinator takes: whole histograms of 1024 threads are below it.
const LARGEST_REPORTS: usize = 256 << 20;
/// Largest message that a worker takes, and most bytes of commands that wait to be obeyed: a plan with
/// a system's certificate authorities is below 1 MiB, and what a coordinator relays in a second of
/// 200,000 samples below 8.
const LARGEST_COMMANDS: usize = 32 << 20;

/// A transport thread beside the threads of a site.
fn runtime() -> Result<tokio::runtime::Runtime, RemoteError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("transport")
        .enable_all()
        .build()
        .map_err(RemoteError::Runtime)
}
