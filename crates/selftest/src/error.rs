//! Why a part of the certificate, or a plan drawn at random, could not be carried out here.

use plan::PlanError;
use record::Told;
use std::io;
use std::path::PathBuf;
use ws_load::RunError;

/// Why a part of the certificate, or a plan drawn at random, could not be carried out here.
#[derive(Debug, thiserror::Error)]
pub enum Unmade {
    /// The system does not say where this program is.
    #[error("where is this program? {0}")]
    Program(#[source] io::Error),
    /// The generator cannot be started as a process of its own.
    #[error("{} does not start: {error}", program.display())]
    Generator {
        /// Its program.
        program: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A server that the generator is held against cannot be started.
    #[error("the test server does not start: {0}")]
    Server(#[source] io::Error),
    /// The server of a drawn plan cannot be started.
    #[error("the server of the plan does not start: {0}")]
    ServerOfPlan(#[source] io::Error),
    /// A generator that is a process of its own ended without a step. Holds what it said.
    #[error("the generator measured nothing: {0}")]
    NothingMeasured(String),
    /// A run in this process ended without a step. Holds how it ended.
    #[error("{0}")]
    NoStep(Told),
    /// A run could not be begun.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A plan that nothing can be measured with.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A plan that cannot be written as a file. Holds why.
    #[error("{0}")]
    Unprintable(Box<dyn std::error::Error + Send + Sync>),
    /// The file of a kept plan is none.
    #[error(transparent)]
    NoKeptPlan(#[from] serde_json::Error),
    /// A file of the folder that drawn plans are carried out in.
    #[error(transparent)]
    Folder(#[from] io::Error),
    /// The server that was to be frozen went on.
    #[error("the server was not frozen within the run")]
    NotFrozen,
    /// The generator sent nothing through the gate that was to let it in.
    #[error("no request of the generator came through the gate")]
    NothingPassed,
}
