//! The options of `shootout explain`.

use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
Says what a delivered message takes under each load of the run: CPU time, the kernel's part of
it, context switches, TCP segments, bytes and reads. Each figure is compared with the median of the
other rows that have a place under that load, at the same number of clients. A figure that is a
quarter more or a fifth less has a line of its own. This is no statistical test; for one, use
shootout compare.

User and kernel time are kept in hundredths of a second for each process: a short step tells little.
docs/result-format.md says how switches of threads that end are counted.

Examples:
  shootout explain my-server                  in the newest run
  shootout explain my-server:clustered --results results/local/X --json explained.json

Exit codes:
  0    every load of the row is explained
  1    wrong usage, no such row, or a directory that cannot be read
  3    for a load the row has no messages, or its records do not hold all that is explained: an
       earlier version wrote them. What they hold is printed
  141  stdout was closed by its reader; the code was 0 otherwise";

/// Options of `shootout explain`.
#[derive(Clone, Debug, Args)]
#[command(after_help = HELP)]
pub struct ExplainArgs {
    /// The row, NAME or NAME:VARIANT
    #[arg(value_name = "ROW")]
    pub row: String,
    /// The result directory of one run [default: the newest under results/local/]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Writes the figures as JSON, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
