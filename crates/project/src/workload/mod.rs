//! The workload of a run: a plan with a name, what the user has set over it, and the plan that a
//! row gets of it.
//!
//! How a file and `--set` are put together is in the crate `plan-file`. Here are the rules that
//! `shootout` adds: a server's manifest and the machine bound the clients, the generator gets the
//! threads and source addresses that there are, and nothing of it goes over what the user has set.

mod catalog;
mod fit;
mod row;
mod schedule;
mod scoped;
#[cfg(test)]
mod tests;

pub use catalog::{ALL, Listed, list, read_again, read_all, read_named};
pub use row::{Terms, plan_file};
pub use schedule::Schedule;
pub use scoped::ScopedSet;

use crate::Refusal;
use crate::manifest::{Dialect, Variant, Workload};
use plan::{Clients, Plan};
use plan_file::{PlanFile, Set, shown_key};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// Name of the workload that is run when none is named.
pub const USUAL: &str = "broadcast";
/// What `--quick` measures where none is named: what tells servers apart in seconds.
pub const QUICK: &str = "cost";
/// Steps of a `--quick` run of a plan that would go on to the limit.
const QUICK_STEPS: u32 = 5;
/// Longest name of a workload in file names.
const LONGEST_NAME: usize = 60;
/// Stands for the server where a plan without one is checked.
const ANY_SERVER: &str = "ws://127.0.0.1/";
/// The same for a plan with TLS.
const ANY_SECURE_SERVER: &str = "wss://127.0.0.1/";
const FIRST: &str = "clients.steps.first";
const ADD: &str = "clients.steps.add";
const COUNT: &str = "clients.steps.count";
/// Keys that `shootout` fills in where neither the file nor the user does.
const FILLED: [&str; 7] = [
    COUNT,
    "message.dialect",
    "target.local_addrs",
    "generator.threads",
    "generator.io",
    "generator.timestamps",
    "generator.seed",
];

/// A plan with a name, for any server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NamedPlan {
    /// What the user named: a file of workloads/ without its ending, or an absolute path.
    pub source: String,
    /// Every `--set` of the user, in order.
    pub set: Vec<String>,
    /// Name in records, file names and reports.
    pub name: String,
    /// The plan, without a server.
    pub plan: Plan,
    /// Keys of the plan that stay as they are, whatever manifest and machine say.
    pub fixed: BTreeSet<String>,
}

impl Default for NamedPlan {
    /// Broadcasts with everything at its default.
    fn default() -> Self {
        Self {
            source: USUAL.into(),
            set: Vec::new(),
            name: USUAL.into(),
            plan: Plan::default(),
            fixed: BTreeSet::new(),
        }
    }
}

impl NamedPlan {
    /// The plan in a file with every `set` over it. Without a name of its own it has that of the
    /// file.
    ///
    /// # Errors
    /// When no plan has such a key or value, when a `set` gives what `shootout` decides, or when the
    /// plan asks for what no server of a project is asked.
    pub fn new(source: String, mut file: PlanFile, set: Vec<String>) -> Result<Self, Refusal> {
        let mut places = Vec::new();
        let has_count = file.has(COUNT);
        for text in &set {
            let one: Set = text
                .parse()
                .map_err(|error| Refusal::new(format!("--set {}: {error}", shown_key(text))))?;
            let place = file.place(&one);
            if let Some(reason) = decided_elsewhere(&place) {
                let shown = shown_key(text);
                return Err(Refusal::new(format!("--set {shown}: {reason}")));
            }
            file.set(&one).map_err(Refusal::from_error)?;
            places.push(place);
        }
        let mut plan = file.plan().map_err(Refusal::from_error)?;
        refuse_what_no_server_is_asked(&plan, &file)?;
        let any = match plan.connection.tls {
            None => ANY_SERVER,
            Some(_) => ANY_SECURE_SERVER,
        };
        plan.target.url = any.into();
        plan.validate()
            .map_err(|error| Refusal::from_error(file.at(error.field(), error.to_string())))?;
        plan.target.url.clear();
        let is_set = |key: &str| {
            let mut places = places.iter();
            places.any(|place| key == place || key.starts_with(&format!("{place}.")))
        };
        let mut fixed: BTreeSet<String> = FILLED
            .into_iter()
            .filter(|key| file.has(key))
            .map(str::to_owned)
            .collect();
        let steps = [FIRST, ADD].into_iter();
        fixed.extend(
            steps
                .filter(|key| has_count || is_set(key))
                .map(str::to_owned),
        );
        let stem = Path::new(&source).file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy().into_owned();
        let name = plan.name.get_or_insert(stem).clone();
        Ok(Self {
            source,
            set,
            name,
            plan,
            fixed,
        })
    }

    /// A short look: no more than 5 steps of a plan that would go up to its limit.
    #[must_use]
    pub fn quick(mut self) -> Self {
        if let Clients::Steps(steps) = &mut self.plan.clients
            && steps.count.is_none()
        {
            steps.count = Some(QUICK_STEPS);
        }
        self
    }

    /// Whether it has fewer steps than its plan because of [`NamedPlan::quick`].
    pub fn is_shortened(&self) -> bool {
        self.plan.steps().is_some() && !self.fixed.contains(COUNT)
    }

    /// Which request a server is sent.
    pub const fn request(&self) -> Workload {
        self.plan.workload()
    }

    /// The message format that file or user gives; `None` where each variant may have its own.
    pub fn dialect(&self) -> Option<Dialect> {
        let given = self.fixed.contains("message.dialect");
        Dialect::of_record(self.plan.message.dialect).filter(|_| given)
    }

    /// The dialects in which `shootout run` measures this variant, unless its user names some. The plan's
    /// `message.dialect` comes first, then those of the plan's `dialects` that the variant speaks, then
    /// text, then the variant's first.
    pub fn dialects(&self, variant: &Variant) -> Vec<Dialect> {
        let is_spoken = |dialect: &Dialect| variant.dialects.contains(dialect);
        let listed = self.plan.dialects.iter();
        let listed = listed.filter_map(|dialect| Dialect::of_record(*dialect));
        let listed: Vec<Dialect> = listed.filter(is_spoken).collect();
        match self.dialect() {
            Some(dialect) => vec![dialect],
            None if !listed.is_empty() => listed,
            None if is_spoken(&Dialect::Text) => vec![Dialect::Text],
            None => variant.dialects.iter().take(1).copied().collect(),
        }
    }

    /// The name as a part of a file's name: letters, digits, `-` and `_`.
    pub fn file_name(&self) -> String {
        let safe = |c: char| match c {
            c if c.is_ascii_alphanumeric() || c == '_' => c,
            _ => '-',
        };
        let name: String = self.name.chars().take(LONGEST_NAME).map(safe).collect();
        if name.is_empty() {
            "workload".into()
        } else {
            name
        }
    }
}

/// Why the user may not set a key, if so.
fn decided_elsewhere(place: &str) -> Option<&'static str> {
    match place {
        "target" | "target.url" | "target.nodes" => {
            Some("each server is started at an address of its own")
        }
        "name" => Some("results of two plans would have one name; name a file of your own"),
        _ => None,
    }
}

fn refuse_what_no_server_is_asked(plan: &Plan, file: &PlanFile) -> Result<(), Refusal> {
    let (key, words) = if plan.message.definition.is_some()
        || Dialect::of_record(plan.message.dialect).is_none()
    {
        (
            "message",
            "manifests name dialects that servers here speak; for any other: websocket-bench run",
        )
    } else if has_secrets(plan) {
        (
            "connection",
            "has a secret, and the directory of a run holds its plans: write env:NAME or file:PATH in \
             its place",
        )
    } else {
        return Ok(());
    };
    Err(Refusal::from_error(file.at(key, words)))
}

/// True of a plan in which a secret is written out, and not where it is kept.
fn has_secrets(plan: &Plan) -> bool {
    let shown = plan.redacted();
    (&shown.connection, &shown.target) != (&plan.connection, &plan.target)
}
