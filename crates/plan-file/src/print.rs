//! A plan as the file that means it.

use crate::error::PlanFileError;
use plan::{
    Audience, Clients, Connection, Dialect, Fault, Io, Limits, Load, Message, Nanos, Plan,
    Population, RankedBy, Target, Timestamps,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A plan in the order of its parts. TOML has what is no table first.
#[derive(Serialize)]
struct Printed<'a> {
    name: Option<&'a str>,
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranked_by: Option<RankedBy>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    nodes: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    via: &'a [String],
    #[serde(skip_serializing_if = "<[Dialect]>::is_empty")]
    dialects: &'a [Dialect],
    audience: Audience,
    #[serde(skip_serializing_if = "is_none")]
    warm_up: Nanos,
    target: &'a Target,
    connection: &'a Connection,
    populations: &'a [Population],
    clients: &'a Clients,
    load: &'a Load,
    message: &'a Message,
    limits: &'a Limits,
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<Given>,
    #[serde(rename = "fault", skip_serializing_if = "<[Fault]>::is_empty")]
    faults: &'a [Fault],
}

fn is_none(time: &Nanos) -> bool {
    *time == Nanos(0)
}

/// What a plan says of its generator; the rest is chosen for the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Given {
    /// Worker threads.
    pub threads: Option<u32>,
    /// How sockets are read.
    pub io: Option<Io>,
    /// What the end of a latency is taken from.
    pub timestamps: Option<Timestamps>,
    /// Seed of every random choice.
    pub seed: Option<u64>,
}

/// The TOML file of a plan, with what is given of its generator. Paths in it are absolute, so that it
/// means the same in any folder.
///
/// # Errors
/// When a number is larger than those of TOML, or a path starts nowhere.
pub fn printed(plan: &Plan, given: Given) -> Result<String, PlanFileError> {
    let mut plan = plan.clone();
    for file in plan.files_mut() {
        *file = absolute(file)?;
    }
    plan.start_references_from(&absolute(Path::new("."))?);
    // Each part is named, so that none is forgotten.
    let Plan {
        name,
        reason,
        ranked_by,
        nodes,
        via,
        dialects,
        target,
        connection,
        populations,
        clients,
        warm_up,
        load,
        audience,
        message,
        limits,
        generator: _,
        faults,
    } = &plan;
    let printed = Printed {
        name: name.as_deref(),
        reason: reason.as_deref(),
        ranked_by: *ranked_by,
        nodes: *nodes,
        via,
        dialects,
        audience: *audience,
        warm_up: *warm_up,
        target,
        connection,
        populations,
        clients,
        load,
        message,
        limits,
        generator: (given != Given::default()).then_some(given),
        faults,
    };
    if let Some(seed) = given.seed.filter(|seed| i64::try_from(*seed).is_err()) {
        return Err(PlanFileError::LargeSeed { seed });
    }
    Ok(toml::to_string(&printed)?)
}

fn absolute(path: &Path) -> Result<PathBuf, PlanFileError> {
    std::path::absolute(path).map_err(|source| PlanFileError::Nowhere {
        path: path.to_owned(),
        source,
    })
}
