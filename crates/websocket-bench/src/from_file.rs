//! The plan of `run`: a file, every `--set` over it, the URL over both.

use crate::args::{self, RunArgs};
use crate::draft::{Draft, Given};
use plan_file::PlanFile;
use run_record::{Io, Timestamps};

/// The plan of `run`.
///
/// # Errors
/// In words, when the file cannot be read or something in it or over it is no plan.
pub(crate) fn draft(args: &RunArgs) -> Result<Draft, String> {
    let mut file = PlanFile::read(&args.plan)?;
    for set in &args.set {
        file.set(set)?;
    }
    if let Some(url) = &args.url {
        file.put(&["target", "url"], url)?;
    }
    let plan = file.plan()?;
    if plan.target.url.is_empty() {
        return Err(format!(
            "{} names no server: give its URL after the file, like ws://127.0.0.1:3334/ws",
            file.name()
        ));
    }
    plan.validate()
        .map_err(|error| file.places(error.field(), &error.to_string()))?;
    ws_load::check_message(&plan)
        .map_err(|error| file.places("message.definition", &error.to_string()))?;
    ws_load::check_url(&plan).map_err(|error| error.to_string())?;
    let given = Given::from(file.given(&plan));
    Ok(Draft { plan, given })
}

/// The TOML file of a draft.
///
/// # Errors
/// In words, when a number is larger than those of TOML.
pub(crate) fn printed(draft: &Draft) -> Result<String, String> {
    plan_file::printed(&draft.plan, draft.given.into())
}

impl From<plan_file::Given> for Given {
    fn from(given: plan_file::Given) -> Self {
        Self {
            threads: given.threads,
            seed: given.seed,
            io: match given.io {
                None => args::Io::Auto,
                Some(Io::Epoll) => args::Io::Epoll,
                Some(Io::Uring) => args::Io::Uring,
            },
            timestamps: match given.timestamps {
                None => args::Timestamps::Auto,
                Some(Timestamps::Kernel) => args::Timestamps::Kernel,
                Some(Timestamps::User) => args::Timestamps::User,
            },
        }
    }
}

impl From<Given> for plan_file::Given {
    fn from(given: Given) -> Self {
        Self {
            threads: given.threads,
            seed: given.seed,
            io: match given.io {
                args::Io::Auto => None,
                args::Io::Epoll => Some(Io::Epoll),
                args::Io::Uring => Some(Io::Uring),
            },
            timestamps: match given.timestamps {
                args::Timestamps::Auto => None,
                args::Timestamps::Kernel => Some(Timestamps::Kernel),
                args::Timestamps::User => Some(Timestamps::User),
            },
        }
    }
}
