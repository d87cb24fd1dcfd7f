//! Child processes: started in a session of their own, found again, ended with all that they
//! started.
//!
//! Does not know what the children are for; servers are supervised in `supervise`.

mod group;
mod guardian;
mod leftover;
mod logged;
mod tail;

pub use group::{Group, become_subreaper, kill_all};
pub use guardian::guard;
pub use leftover::{COOKIE, Leftover, is_of_another_program, kill, marked, reap, signal};
pub use logged::{Job, JobError};
pub use tail::{describe_exit, shortened, tail};
