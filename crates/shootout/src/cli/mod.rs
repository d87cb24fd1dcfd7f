//! The command line: words, defaults and help, in one definition.
//!
//! Checks what can be checked without looking at the project; executes nothing.

mod compare;
mod explain;
mod run;

pub use compare::CompareArgs;
pub use explain::ExplainArgs;
pub use run::{CpuList, RunArgs};

use clap::{Parser, Subcommand};
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  shootout list                         the servers and their variants
  shootout list --workloads             the workloads that they can be measured with
  shootout doctor                       what is missing, and the one command that installs it
  shootout run --quick                  one server of each language, within ten minutes
  shootout run                          every server that can be built on this machine
  shootout run --servers a,b --repeat 3 two servers, three times, interleaved
  shootout run --resume                 continues the newest run
  shootout compare before/ after/       is it slower now? exit code 2 if so
  shootout explain my-server            why does it cost what it costs?
  shootout verify my-server             is it correct? every check of the protocol
  shootout site results --out site      the board: a static site of all rounds
  shootout check results/local/a        do its figures follow from its records?
  shootout pack results/2026-11         its records, smaller
  shootout autobahn my-server           the Autobahn|Testsuite against its raw echo

Exit codes:
  0    everything that was asked for has a result
  1    wrong usage, or this machine lacks something. doctor: something is missing. setup: a package
       is still missing. build, verify: a build or a check failed, or something is missing that
       setup installs or that a server named on the command line needs. check: something does
       not hold
  2    compare: a regression
  3    run: a row has no valid result, its status says why; a row that cannot be built here counts
       only when its server was named. compare: not comparable. explain: a part is not in the
       records
  130  interrupted; what was finished is kept
  141  stdout was closed by its reader (`| head`); all else was done

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
    /// Lists the servers and their variants, or the workloads
    List {
        /// The workloads that `run --workload` takes, with the reason of each
        #[arg(long)]
        workloads: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows what each server lacks, the command that installs it, and this machine's limits
    #[command(after_help = "Example:\n  shootout doctor my-server")]
    Doctor {
        /// Servers [default: all]
        servers: Vec<String>,
    },
    /// Installs the Debian packages that are missing, after asking
    #[command(
        after_help = "All packages are installed with one command. A package that cannot be \
                      installed does not stop the others. What no Debian package provides is \
                      listed at the end with its remedy, and does not fail this command.\n\n\
                      Without a terminal it installs only with --yes, and prints the command \
                      otherwise.\n\nExample:\n  shootout setup --yes my-server"
    )]
    Setup {
        /// Servers [default: all]
        servers: Vec<String>,
        /// Installs without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Builds servers and prints their libraries' versions
    #[command(
        after_help = "Each variant is built on its own: one that lacks its tools does not stop the \
                      others. A server is built again when its sources or tools have changed. \
                      Logs: target/shootout/logs/\n\nExample:\n  shootout build --force my-server"
    )]
    Build {
        /// Servers [default: all]
        servers: Vec<String>,
        /// Builds even when nothing has changed
        #[arg(short, long)]
        force: bool,
    },
    /// Builds and starts servers and runs every conformance check
    #[command(
        after_help = "Each check tests a section of RFC 6455 or a rule of docs/protocol.md.\n\n\
                      Example:\n  shootout verify my-server --variants clustered"
    )]
    Verify {
        /// Servers [default: all]
        servers: Vec<String>,
        /// Only these variants
        #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
        variants: Vec<String>,
        /// Only one variant of each server, drawn at random
        #[arg(long, conflicts_with = "variants")]
        one_each: bool,
        /// Begins with the servers that are named and goes on with the others, in an order drawn at
        /// random, until this time has passed, as 10m
        #[arg(long, value_name = "TIME")]
        within: Option<humantime::Duration>,
        /// Lists the passed checks too, with the seconds that each took
        #[arg(long)]
        all: bool,
        /// Uses the servers as they are, without building them
        #[arg(long)]
        skip_build: bool,
        /// Variants verified at the same time [default: as many as there are cores]
        #[arg(short, long, value_name = "N")]
        jobs: Option<NonZeroUsize>,
        /// Writes the generated tables: docs/conformance.md, where the results take the place of
        /// older ones of the same variants, and the list in servers/README.md
        #[arg(long, conflicts_with = "check_table")]
        write_table: bool,
        /// Fails when docs/conformance.md differs from the results, or servers/README.md
        /// from the manifests; a new server that is missing from a table is only reported
        #[arg(long)]
        check_table: bool,
    },
    /// Runs the Autobahn|Testsuite against the raw echo of servers
    #[command(
        after_help = "Runs sections 1-7, 9 and 10; for variants with compression also 12 and 13, which \
                      take some minutes. The suite needs Python 2.7 and is installed into \
                      target/shootout/autobahn only. The summaries are written to \
                      results/autobahn/ and shown in the report. Failed cases are a result and \
                      do not fail this command.\n\nExample:\n  shootout autobahn my-server"
    )]
    Autobahn {
        /// Servers [default: all]
        servers: Vec<String>,
        /// Only these variants
        #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
        variants: Vec<String>,
    },
    /// Measures servers and ranks them
    Run(Box<RunArgs>),
    /// Writes a report over one or more runs: one HTML file and the same tables as Markdown
    #[command(
        after_help = "Example:\n  shootout report results/local/* --html all.html --markdown all.md"
    )]
    Report {
        /// Result directories [default: the newest under results/local/]
        dirs: Vec<PathBuf>,
        /// The HTML page [default: report.html in the first directory]
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
        /// The Markdown [default: report.md in the first directory]
        #[arg(long, value_name = "FILE")]
        markdown: Option<PathBuf>,
    },
    /// Makes the board: a static site of all rounds, servers and workloads
    #[command(
        after_help = "The pages open from disk and from any web server; each holds what it needs and \
                      loads nothing. A round is a directory in RESULTS that holds measurements, or one \
                      whose directories, the runs of the round, hold them. The newest round is \
                      ranked; the others are the history of each server. Figures of \
                      different machines or kernels are never put in one ranking. Without a round the \
                      site shows conformance, Autobahn and 2016.\n\n\
                      DIR is new, empty, or holds an earlier site, whose pages are replaced.\n\n\
                      Example:\n  shootout site results --out site"
    )]
    Site {
        /// The results directory [default: results/ of the project]
        results: Option<PathBuf>,
        /// Where the site is written [default: site]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Checks that the figures of a result directory follow from its records, and that these are fit
    /// to be published
    #[command(
        after_help = "Recomputes every percentile, mean and count from its histogram, every verdict \
                      and ranked figure from what was counted, and the tables of report.md from \
                      the records. Requires conformance checks of the same build, separate cores \
                      for server and generator, a machine that did little else, one machine, \
                      one plan and no missing row. Also requires a complete certificate of the \
                      generator, made on the same machine within a day: `websocket-bench selftest \
                      --json DIR/selftest.json`. It finds what was changed afterwards in one place. \
                      It cannot detect records that were wholly invented. In a directory of \
                      directories, each is checked.\n\nExample:\n  \
                      shootout check results/local/2026-11-22T10-00-00Z"
    )]
    Check {
        /// Result directories [default: the newest under results/local/]
        dirs: Vec<PathBuf>,
    },
    /// Makes result directories small for a repository, without a loss
    #[command(
        after_help = "Each record becomes a .json.gz, which every command reads as it reads the \
                      record; `gunzip` brings that back. The plan of a row is removed when its \
                      record has the same.\n\nExample:\n  shootout pack results/2026-11"
    )]
    Pack {
        /// Result directories
        #[arg(required = true)]
        dirs: Vec<PathBuf>,
    },
    /// Compares two runs, records or servers: is B slower than A, and how sure is that
    Compare(CompareArgs),
    /// Shows what a message costs a row, and how that differs from the other rows of the run
    Explain(ExplainArgs),
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
