//! Lines on stdout. When the reader goes away (`| head`), the work goes on, and the exit code says
//! so.

use crate::exit::Exit;
use std::fmt::Arguments;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Prints a line.
macro_rules! say {
    ($($line:tt)*) => {
        $crate::stdout::line(format_args!($($line)*))
    };
}

pub(crate) fn line(line: Arguments<'_>) {
    let written = writeln!(anstream::stdout().lock(), "{line}");
    if written.is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        CLOSED.store(true, Ordering::Relaxed);
    }
}

/// The exit code of a command whose reader went away; a code other than 0 stays.
pub(crate) fn exit(exit: Exit) -> Exit {
    if exit == Exit::Ok && CLOSED.load(Ordering::Relaxed) {
        Exit::Closed
    } else {
        exit
    }
}
