//! Work on the files of a directory, on every core.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// What is made of each file, in the order of the files.
///
/// # Panics
/// Where the work on one of them does.
pub(crate) fn side_by_side<T: Send>(files: &[PathBuf], work: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = files.len().div_ceil(threads).max(1);
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = files
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().map(|path| work(path)).collect()))
            .collect();
        let parts = workers.into_iter().map(|worker| worker.join());
        // A worker that panicked has said why: so does this one.
        parts
            .flat_map(|part: thread::Result<Vec<T>>| {
                part.unwrap_or_else(|panic| resume_unwind(panic))
            })
            .collect()
    })
}
