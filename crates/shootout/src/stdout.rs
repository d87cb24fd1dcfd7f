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

/// Words of a server or of a record, on one line and without control characters.
pub(crate) fn one_line(words: &str) -> String {
    ws_proto::escaped(&words.replace(['\n', '\t'], " "))
}

/// The lines of a grid of cells, each column as wide as its widest cell. `right` names the columns
/// whose cells stand at the right.
pub(crate) fn aligned<L: AsRef<[String]>>(
    grid: &[L],
    right: impl Fn(usize) -> bool,
) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for line in grid {
        let line = line.as_ref();
        widths.resize(widths.len().max(line.len()), 0);
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let padded = |(column, cell): (usize, &String)| match (right(column), widths[column]) {
        (true, width) => format!("{cell:>width$}"),
        (false, width) => format!("{cell:<width$}"),
    };
    let lines = grid.iter().map(|line| {
        let cells: Vec<String> = line.as_ref().iter().enumerate().map(padded).collect();
        cells.join("  ").trim_end().to_owned()
    });
    lines.collect()
}

/// The exit code of a command whose reader went away; a code other than 0 stays.
pub(crate) fn exit(exit: Exit) -> Exit {
    if exit == Exit::Ok && CLOSED.load(Ordering::Relaxed) {
        Exit::Closed
    } else {
        exit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_on_one_line_and_steer_no_terminal() {
        let words = "made\nred\x1b[31m\tand turned\u{202e}round";
        assert_eq!(
            one_line(words),
            "made red\\u{1b}[31m and turned\\u{202e}round"
        );
    }
}
