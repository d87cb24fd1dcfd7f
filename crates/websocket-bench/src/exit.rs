//! Exit codes: part of the interface, listed in `--help`.

use run_record::{End, RunRecord, Verdict};
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
    /// wrong, or no step says anything.
    Invalid,
    /// Interrupted; what was measured before is written.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Measured => 0,
            Exit::Usage => 1,
            Exit::Expectation => 2,
            Exit::Invalid => 3,
            Exit::Interrupted => 130,
        })
    }
}

impl Exit {
    /// The code that a record deserves, expectations aside.
    pub(crate) fn of(record: &RunRecord) -> Self {
        match record.outcome.end {
            End::Interrupted => Self::Interrupted,
            // A search tries what fails, too; what passed had no faults.
            End::EdgeFound => Self::Measured,
            End::TimedOut | End::ServerLost | End::GeneratorLimited => Self::Invalid,
            _ if !record.faults().is_empty() => Self::Invalid,
            _ if record.steps.is_empty() => Self::Usage,
            _ if record
                .steps
                .iter()
                .all(|step| step.verdict == Verdict::Noisy) =>
            {
                Self::Invalid
            }
            _ => Self::Measured,
        }
    }
}

/// The text of `--help` about exit codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0    the run was measured (a step over the limit is a measurement)
  1    wrong usage, or no step could be measured
  2    an expectation of --expect failed
  3    the result is invalid: messages or connections were lost or came wrong, the generator
       and not the server was the limit, or every step was noisy
  130  interrupted; what was measured before is written";

/// The text of `selftest --help` about exit codes.
pub(crate) const SELFTEST_HELP: &str = "\
Exit codes:
  0    every part passed
  1    wrong usage, or the test could not be made here
  3    a part failed, or (without --short) the machine was too noisy to tell
  130  interrupted; what was proved before is printed and written";
