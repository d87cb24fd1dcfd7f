//! The plan of one row: that of the run, as the server, the machine and the repetition have it.

use super::{NamedPlan, Schedule};
use crate::manifest::Dialect;
use plan::{Clients, Plan};
use plan_file::{Given, PlanFileError};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// What decides the plan of a row beside that of the run.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Clients of its steps, no more of them than the machine holds.
    pub schedule: Schedule,
    /// Message format.
    pub dialect: Dialect,
    /// Number of the repetition, from 1.
    pub repetition: u32,
    /// Source addresses of the clients.
    pub local_addrs: &'a [IpAddr],
    /// Threads that the generator may use.
    pub threads: usize,
    /// The file of the server's certificate, where it has TLS.
    pub authority: Option<&'a Path>,
    /// The addresses of its nodes; none where it has one.
    pub nodes: &'a [SocketAddr],
}

impl NamedPlan {
    /// The plan of a row, and which keys of its generator are given. Every repetition has another
    /// seed, and all rows of a round have the same one.
    pub fn of_row(&self, terms: &Terms<'_>) -> (Plan, Given) {
        let mut plan = self.plan.clone();
        if let Clients::Steps(steps) = &mut plan.clients {
            *steps = terms.schedule.steps();
        }
        plan.message.dialect = terms.dialect.record();
        let fixed = |key: &str| self.fixed.contains(key);
        if !fixed("target.local_addrs") {
            plan.target.local_addrs = terms.local_addrs.to_vec();
        }
        if let Some(authority) = terms.authority {
            plan.target.ca_file = Some(authority.to_owned());
        }
        plan.target.nodes = terms.nodes.to_vec();
        let generator = &mut plan.generator;
        if !fixed("generator.threads") {
            generator.threads = u32::try_from(terms.threads).unwrap_or(u32::MAX);
        }
        let seed = generator.seed.wrapping_add(u64::from(terms.repetition) - 1);
        // The numbers of TOML have 63 bits.
        generator.seed = seed & (u64::MAX >> 1);
        let given = Given {
            threads: Some(generator.threads),
            io: fixed("generator.io").then_some(generator.io),
            timestamps: fixed("generator.timestamps").then_some(generator.timestamps),
            seed: Some(generator.seed),
        };
        (plan, given)
    }
}

/// The file that `websocket-bench run` gets: the exact input of a row, but for the server's address.
///
/// # Errors
/// When the plan has no TOML file.
pub fn plan_file((plan, given): &(Plan, Given)) -> Result<String, PlanFileError> {
    plan_file::printed(plan, *given)
}
