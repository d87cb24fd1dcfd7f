//! What processes and their sockets use on this machine.
//!
//! Purpose: readings of /proc, of clocks and of sock_diag(7): which processes belong together,
//! which listen on a port, how much memory they and their sockets take. Reads only: it sends no
//! signal, keeps no series and knows neither servers nor records. Also says where the user's cache is.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "websocket-shootout needs Linux: it reads sockets with epoll or io_uring, and /proc; elsewhere run \
     it in a container or a virtual machine"
);

mod folders;
pub mod kernel;
mod listener;
mod others;
pub mod process;
mod sockets;
mod threads;
mod tree;

pub use folders::user_cache;
pub use kernel::busy_share;
pub use listener::listeners;
pub use others::Others;
pub use sockets::{Side, Sockets};
pub use threads::{ThreadCounts, Threads};
pub use tree::{Identity, Kin, Tree};
