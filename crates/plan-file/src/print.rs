//! A plan as the file that means it.

use run_record::{
    Audience, Clients, Connection, Io, Limits, Load, Message, Plan, Population, Target, Timestamps,
};
use serde::Serialize;

/// A plan in the order of its parts. TOML has what is no table first.
#[derive(Serialize)]
struct Printed<'a> {
    name: Option<&'a str>,
    reason: Option<&'a str>,
    audience: Audience,
    target: &'a Target,
    connection: &'a Connection,
    populations: &'a [Population],
    clients: &'a Clients,
    load: &'a Load,
    message: &'a Message,
    limits: &'a Limits,
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<Given>,
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
/// In words, when a number is larger than those of TOML.
pub fn printed(plan: &Plan, given: Given) -> Result<String, String> {
    let mut plan = plan.clone();
    for file in plan.files_mut() {
        *file = std::path::absolute(&*file)
            .map_err(|error| format!("cannot tell where {} is: {error}", file.display()))?;
    }
    let here = std::path::absolute(".")
        .map_err(|error| format!("cannot tell where this folder is: {error}"))?;
    plan.start_references_from(&here);
    let printed = Printed {
        name: plan.name.as_deref(),
        reason: plan.reason.as_deref(),
        audience: plan.audience,
        target: &plan.target,
        connection: &plan.connection,
        populations: &plan.populations,
        clients: &plan.clients,
        load: &plan.load,
        message: &plan.message,
        limits: &plan.limits,
        generator: (given != Given::default()).then_some(given),
    };
    if let Some(seed) = given.seed.filter(|seed| i64::try_from(*seed).is_err()) {
        return Err(format!(
            "this plan has no TOML file, whose numbers have 63 bits: --seed {seed} is larger"
        ));
    }
    toml::to_string(&printed).map_err(|error| format!("this plan has no TOML file: {error}"))
}
