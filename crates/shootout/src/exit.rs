//! Exit codes, which are an interface: scripts branch on them.
//!
//! Does not decide which one a command ends with.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything asked for was done and has a result.
    Ok,
    /// Wrong usage, or this machine lacks something; for `doctor` and `verify`: something is
    /// missing or fails.
    Failed,
    /// A comparison shows a regression.
    Regression,
    /// Some row of a run has no valid result, or cannot be compared.
    Invalid,
    /// The user ended it; what was finished is kept.
    Interrupted,
    /// The reader of stdout went away; everything was done.
    Closed,
}

impl Exit {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Regression => 2,
            Self::Invalid => 3,
            Self::Interrupted => 130,
            // As a shell shows a program that SIGPIPE ended: 128 + 13.
            Self::Closed => 141,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
