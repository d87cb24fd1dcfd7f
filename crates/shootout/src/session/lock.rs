//! One run at a time writes into a directory.
//!
//! The lock is the kernel's (flock): it goes with the process that holds it, so that a killed run
//! leaves none behind.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

const FILE: &str = ".lock";

/// Why there is no lock.
pub(super) enum Locked {
    /// Another process has it: its id, where it has written it already.
    By(Option<u32>),
    /// The file cannot be written.
    Unwritable(io::Error),
}

/// Locks `dir` until the file is dropped.
pub(super) fn lock(dir: &Path) -> Result<File, Locked> {
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(dir.join(FILE))
        .map_err(Locked::Unwritable)?;
    if let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
        if error != Errno::WOULDBLOCK {
            return Err(Locked::Unwritable(error.into()));
        }
        let mut holder = String::new();
        let read = file.read_to_string(&mut holder);
        return Err(Locked::By(
            read.ok().and_then(|_| holder.trim().parse().ok()),
        ));
    }
    let write = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    write(&mut file).map_err(Locked::Unwritable)?;
    Ok(file)
}
