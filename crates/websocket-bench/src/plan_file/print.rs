//! A plan as the file that means it.

use crate::args;
use crate::draft::{Draft, Given};
use run_record::{
    Audience, Clients, Connection, Io, Limits, Load, Message, Population, Target, Timestamps,
};
use serde::Serialize;

/// A plan in the order of its parts. TOML has what is no table first.
#[derive(Serialize)]
struct Printed<'a> {
    name: Option<&'a str>,
    reason: Option<&'a str>,
    audience: Audience,
    target: Target,
    connection: &'a Connection,
    populations: &'a [Population],
    clients: &'a Clients,
    load: &'a Load,
    message: &'a Message,
    limits: &'a Limits,
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<Generator>,
}

/// What was given of the generator.
#[derive(Serialize)]
struct Generator {
    threads: Option<u32>,
    io: Option<Io>,
    timestamps: Option<Timestamps>,
    seed: Option<u64>,
}

impl Generator {
    fn of(given: Given) -> Option<Self> {
        let generator = Self {
            threads: given.threads,
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
            seed: given.seed,
        };
        let is_given = generator.threads.is_some()
            || generator.io.is_some()
            || generator.timestamps.is_some()
            || generator.seed.is_some();
        is_given.then_some(generator)
    }
}

/// The TOML file of a draft. Paths in it are absolute, so that it means the same in any folder.
///
/// # Errors
/// In words, when a number is larger than those of TOML.
pub(crate) fn printed(draft: &Draft) -> Result<String, String> {
    let plan = &draft.plan;
    let mut target = plan.target.clone();
    if let Some(file) = &mut target.ca_file {
        *file = std::path::absolute(&*file)
            .map_err(|error| format!("cannot tell where {} is: {error}", file.display()))?;
    }
    let printed = Printed {
        name: plan.name.as_deref(),
        reason: plan.reason.as_deref(),
        audience: plan.audience,
        target,
        connection: &plan.connection,
        populations: &plan.populations,
        clients: &plan.clients,
        load: &plan.load,
        message: &plan.message,
        limits: &plan.limits,
        generator: Generator::of(draft.given),
    };
    if let Some(seed) = draft
        .given
        .seed
        .filter(|seed| i64::try_from(*seed).is_err())
    {
        return Err(format!(
            "this plan has no TOML file, whose numbers have 63 bits: --seed {seed} is larger"
        ));
    }
    toml::to_string(&printed).map_err(|error| format!("this plan has no TOML file: {error}"))
}
