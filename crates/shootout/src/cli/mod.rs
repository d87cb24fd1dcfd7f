//! The command line: words, defaults and help, in one definition.
//!
//! Checks what can be checked without looking at the project; does nothing.

mod compare;
mod run;

pub use compare::CompareArgs;
pub use run::{CpuList, RunArgs};

use clap::{Parser, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  shootout list                         what there is
  shootout doctor                       what is missing, and the one command that installs it
  shootout run --quick                  a first result, some 20 s for each server
  shootout run                          every server that can be built here, to this machine's limits
  shootout run --servers a,b --repeat 3 two servers, three times, interleaved
  shootout run --resume                 goes on where the last run was interrupted
  shootout compare before/ after/       is it slower now? exit code 2 if so
  shootout verify my-server             is it correct? check by check
  shootout autobahn my-server           what the Autobahn|Testsuite says of its framing

Exit codes:
  0    done, everything has a result
  1    wrong usage, or the environment does not allow it; doctor: something is missing;
       setup: a package is still missing; build, verify: a build or a check failed, a package is
       missing that setup brings, or a server that was named lacks anything it needs
  2    compare: a regression
  3    compare: not comparable; run: some row has no valid result, see its status (a row that
       cannot be built here is told, and counts only where its server was named)
  130  interrupted; what was finished is kept
  141  the reader of stdout went away (as `| head` does) before a command was done that would have
       ended with 0; its work was done all the same

A server is a folder under servers/ with a server.toml; see docs/adding-a-server.md.";

/// Builds, checks, measures and compares WebSocket servers.
#[derive(Debug, Parser)]
#[command(name = "shootout", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// The project's folder [default: the one around the working directory]
    #[arg(
        long,
        global = true,
        env = "SHOOTOUT_ROOT",
        value_name = "DIR",
        hide_env = true
    )]
    pub root: Option<PathBuf>,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Lists the servers and their variants
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Says what is missing for which server, the one command that installs it, and this machine's
    /// limits
    #[command(after_help = "Example:\n  shootout doctor my-server")]
    Doctor {
        /// Servers; all, when none is named
        servers: Vec<String>,
    },
    /// Installs the Debian packages that are missing, after asking
    #[command(
        after_help = "All packages are installed in one go; one that cannot be had keeps no other \
                            away. What no Debian package brings is listed at the end with its remedy \
                            and is no failure.\n\nElsewhere than on a terminal it installs only with \
                            --yes, and prints the command otherwise.\n\nExample:\n  shootout setup \
                            --yes my-server"
    )]
    Setup {
        /// Servers; all, when none is named
        servers: Vec<String>,
        /// Installs without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Builds servers and prints their libraries' versions
    #[command(
        after_help = "Each variant for itself: one that lacks its tools leaves the others as they \
                            are. A server is built again when its sources or tools have changed. \
                            Logs: target/shootout/logs/\n\nExample:\n  shootout build --force my-server"
    )]
    Build {
        /// Servers; all, when none is named
        servers: Vec<String>,
        /// Builds even when nothing has changed
        #[arg(short, long)]
        force: bool,
    },
    /// Builds and starts servers and runs every conformance check
    #[command(
        after_help = "Each check stands for a section of RFC 6455 or a rule of \
                            docs/protocol.md.\n\nExample:\n  shootout verify my-server --variants clustered"
    )]
    Verify {
        /// Servers; all, when none is named
        servers: Vec<String>,
        /// Only these variants
        #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
        variants: Vec<String>,
        /// Lists the passed checks too
        #[arg(long)]
        all: bool,
        /// Uses the servers as they were built before
        #[arg(long)]
        skip_build: bool,
        /// Puts what was seen into docs/conformance.md, in place of what was seen of the same
        /// variants before
        #[arg(long, conflicts_with = "check_table")]
        write_table: bool,
        /// Fails where docs/conformance.md says otherwise than what was seen
        #[arg(long)]
        check_table: bool,
    },
    /// Runs the Autobahn|Testsuite against the raw echo of servers
    #[command(
        after_help = "Sections 1-7, 9 and 10 of the suite, which needs a Python 2.7 \
                            and is installed apart, in target/shootout/autobahn. The summaries go \
                            to results/autobahn/, and the report shows them. Failed cases are a \
                            result and no failure of this command.\n\nExample:\n  shootout \
                            autobahn my-server"
    )]
    Autobahn {
        /// Servers; all, when none is named
        servers: Vec<String>,
    },
    /// Measures servers and ranks them
    Run(Box<RunArgs>),
    /// Writes a report over one or more runs: one HTML file and the same tables as Markdown
    #[command(
        after_help = "Example:\n  shootout report results/local/* --html all.html --markdown all.md"
    )]
    Report {
        /// Result directories; the newest under results/local/, when none is named
        dirs: Vec<PathBuf>,
        /// Where the page goes [default: report.html in the first directory]
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
        /// Where the Markdown goes [default: report.md in the first directory]
        #[arg(long, value_name = "FILE")]
        markdown: Option<PathBuf>,
    },
    /// Compares two runs, records or servers: whether B is slower than A, and how sure that is
    Compare(CompareArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
