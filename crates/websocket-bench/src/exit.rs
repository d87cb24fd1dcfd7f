//! Exit codes: part of the interface, listed in `--help`.

use record::{End, RunRecord, Verdict};
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The run was measured.
    Measured,
    /// Wrong usage, or this machine or server does not allow a single step.
    Usage,
    /// A stated expectation failed.
    Expectation,
    /// The result is invalid: the generator was the limit, messages or connections were lost or came
    /// wrong, a worker was lost, or no step says anything.
    Invalid,
    /// Interrupted; what was measured before is written.
    Interrupted,
    /// The reader of stdout closed it, as `| head` does; what was measured is in the record.
    Closed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Measured => 0,
            Exit::Usage => 1,
            Exit::Expectation => 2,
            Exit::Invalid => 3,
            Exit::Interrupted => 130,
            // As a shell shows a program that SIGPIPE ended: 128 + 13.
            Exit::Closed => 141,
        })
    }
}

impl Exit {
    /// The code of a program whose stdout was closed by its reader; a worse result keeps its code.
    pub(crate) fn or_closed(self) -> Self {
        match self {
            Self::Measured => Self::Closed,
            other => other,
        }
    }

    /// The code that a record deserves, expectations aside.
    pub(crate) fn new(record: &RunRecord) -> Self {
        match record.outcome.end {
            End::Interrupted => Self::Interrupted,
            // A search tries what fails, too; what passed had no faults.
            End::EdgeFound => Self::Measured,
            _ if record.contradicts_dialect() => Self::Usage,
            End::TimedOut
            | End::NotUnderstood
            | End::DialectContradicted
            | End::ServerLost
            | End::GeneratorLimited
            | End::WorkerLost => Self::Invalid,
            // As in a run with requests: without a connection there is no result.
            End::ConnectFailed if none_opened(record) => Self::Usage,
            _ if !record.faults().is_empty() => Self::Invalid,
            // Nor where this machine let not even one step come to its end.
            End::MachineLimit if says_nothing(record) => Self::Usage,
            _ if record.steps.is_empty() => Self::Usage,
            _ if says_nothing(record) => Self::Invalid,
            _ => Self::Measured,
        }
    }
}

fn says_nothing(record: &RunRecord) -> bool {
    let mut steps = record.steps.iter();
    steps.all(|step| step.verdict == Verdict::Noisy)
}

/// True of a `connect` run in which not a single connection could be opened.
pub(crate) fn none_opened(record: &RunRecord) -> bool {
    let mut connections = record.steps.iter().map(|step| step.connections.as_deref());
    connections.all(|step| step.is_some_and(|step| step.opened == 0))
}

/// The text of `--help` about exit codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0    the run was measured (a step over the limit is a measurement)
  1    wrong usage; no step could be measured; no connection could be opened; the file of --dialect
       and the server disagree; a worker is missing or busy, has another version, or refuses the
       token or the server; or the address to listen on is in use
  2    an expectation of --expect failed
  3    the result is invalid: messages or connections were lost, messages were wrong, the generator
       was the limit and not the server, a worker was lost during the run, or every step was noisy
  130  interrupted; what was measured before is written
  141  the reader of stdout closed it (as `| head` does): with --json or --events FILE the run went
       on and is written there; without them it was ended";

/// The text of `worker --help` about exit codes.
pub(crate) const WORKER_HELP: &str = "\
Exit codes:
  0    the run of --coordinator is over, or a signal ended a worker without a run
  1    wrong usage; the address is in use, or is not on loopback and has no credentials; or the
       coordinator is missing, has another version, refuses the token, or has all its workers
  3    the coordinator was lost during the run
  130  a signal ended the worker during a run";

/// The text of `selftest --help` about exit codes.
pub(crate) const SELFTEST_HELP: &str = "\
Exit codes:
  0    every part passed
  1    wrong usage, or the test could not be made here
  3    a part failed, or (without --short) the machine was too noisy to tell
  130  interrupted; the parts that had ended are printed and written
  141  the reader of stdout closed it; the parts that had ended are written";
