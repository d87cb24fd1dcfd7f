//! Which row of one side belongs to which of the other, and what keeps two from being compared.

use super::plans;
use super::side::{Contestant, Invocation, Load, Side};
use crate::report::ranking::is_over_the_same;
use crate::stats;
use record::{Environment, Network, Recorder};
use std::collections::BTreeSet;
use std::time::SystemTime;

/// A row of each side, where there is one.
pub(super) type Pair<'s> = (Option<&'s Contestant>, Option<&'s Contestant>);

/// Pairs rows by server, variant, workload and dialect. Where each side has a single row, these two
/// are a pair, whatever their names.
pub(super) fn pairs<'s>(a: &'s Side, b: &'s Side) -> Vec<Pair<'s>> {
    if let ([one], [other]) = (a.rows.as_slice(), b.rows.as_slice()) {
        return vec![(Some(one), Some(other))];
    }
    let same = |one: &Contestant, other: &Contestant| {
        one.server == other.server
            && one.workload_name == other.workload_name
            && (one.workload, one.dialect) == (other.workload, other.dialect)
    };
    let mut pairs: Vec<Pair<'s>> = a
        .rows
        .iter()
        .map(|one| (Some(one), b.rows.iter().find(|other| same(one, other))))
        .collect();
    let only_b = |other: &&Contestant| !a.rows.iter().any(|one| same(one, other));
    pairs.extend(b.rows.iter().filter(only_b).map(|row| (None, Some(row))));
    pairs
}

/// Why two rows cannot be compared; `None` when they can.
pub(super) fn problem(a: &Contestant, b: &Contestant) -> Option<String> {
    if (a.workload, a.dialect) != (b.workload, b.dialect) {
        return Some("the two sides were sent different requests".into());
    }
    for (side, row) in [("A", a), ("B", b)] {
        if let Some(reason) = row.without.first() {
            return Some(format!(
                "{side} has a repetition without a result, and the others alone would flatter it: \
                 {reason}"
            ));
        }
        if row.invocations.is_empty() {
            return Some(format!("{side} has no result"));
        }
    }
    if let Some(places) = all(a, b).find_map(|at| other_place(&a.invocations[0], at)) {
        return Some(format!("not measured in the same place: {places}"));
    }
    let first = &a.invocations[0].run.plan;
    all(a, b)
        .map(|invocation| plans::differences(first, &invocation.run.plan))
        .find(|differences| !differences.is_empty())
        .map(|differences| format!("measured under different plans: {}", differences.join("; ")))
}

/// What must be known beside the figures of two rows.
pub(super) fn remarks(a: &Contestant, b: &Contestant) -> Vec<String> {
    let mut remarks = Vec::new();
    if a.version != b.version && a.server == b.server {
        let shown = |version: &Option<String>| version.clone().unwrap_or("unknown".into());
        remarks.push(format!(
            "the library's version is {} / {}",
            shown(&a.version),
            shown(&b.version)
        ));
    }
    if let (Some(one), Some(other)) = (&a.runtime, &b.runtime)
        && one != other
        && a.server == b.server
    {
        remarks.push(format!("the runtime is {one} / {other}"));
    }
    let (one, other) = (&a.invocations[0], &b.invocations[0]);
    let mut machines = plans::machines(&one.run.environment, &other.run.environment);
    if one.pinning != other.pinning {
        machines.push("which cores server and generator were given".into());
    }
    if one.run.tool != other.run.tool {
        let (one, other) = (&one.run.tool.version, &other.run.tool.version);
        machines.push(format!("the generator's version {one} / {other}"));
    }
    if !machines.is_empty() {
        remarks.push(format!(
            "not measured in the same place, so that a difference need not be the server's: {}",
            machines.join("; ")
        ));
    }
    if stats::enough(a.invocations.len(), b.invocations.len()) && one_after_the_other(a, b) {
        remarks.push(
            "one side was measured after the other, not in turn: a change of the machine in \
             between would look like one of the server (shootout run --repeat goes round the rows)"
                .into(),
        );
    }
    remarks
}

/// The differences between the processors and the network that server and generator had. With any, a difference of
/// the figures says nothing about the servers.
fn other_place(one: &Invocation, other: &Invocation) -> Option<String> {
    let (a, b) = (&one.run.environment, &other.run.environment);
    if (&a.cpu_model, a.cores) != (&b.cpu_model, b.cores) {
        let shown = |at: &Environment| {
            let model = at.cpu_model.as_deref().unwrap_or("an unknown model");
            format!("{} cores of {model}", at.cores)
        };
        return Some(format!(
            "{} / {}; measure both on one machine",
            shown(a),
            shown(b)
        ));
    }
    if !is_over_the_same(one.network.as_ref(), other.network.as_ref()) {
        let shown = |at: &Invocation| {
            let network = at.network.as_ref();
            network.map_or_else(|| "loopback".to_owned(), Network::to_string)
        };
        return Some(format!(
            "{} / {}; measure both over one network",
            shown(one),
            shown(other)
        ));
    }
    let shown = |at: &Invocation| match &at.pinning {
        None => "not pinned".to_owned(),
        Some(pinning) => format!(
            "server on {:?}, generator on {:?}",
            pinning.server_cpus, pinning.generator_cpus
        ),
    };
    let count = |at: &Invocation| {
        let pinning = at.pinning.as_ref()?;
        Some((pinning.server_cpus.len(), pinning.generator_cpus.len()))
    };
    if count(one) != count(other) {
        return Some(format!(
            "{} / {}; measure both with the same --server-cpus and --generator-cpus",
            shown(one),
            shown(other)
        ));
    }
    let (a, b) = (&a.allowed_cpus, &b.allowed_cpus);
    (a.len() != b.len()).then(|| {
        format!("the generator had the cores {a:?} / {b:?}; give it as many on both sides")
    })
}

fn one_after_the_other(a: &Contestant, b: &Contestant) -> bool {
    let times = |row: &Contestant| {
        let times = row.invocations.iter();
        let times = times.filter_map(|at| humantime::parse_rfc3339(&at.run.started).ok());
        let times: BTreeSet<SystemTime> = times.collect();
        Some((*times.first()?, *times.last()?))
    };
    match (times(a), times(b)) {
        (Some(a), Some(b)) => a.1 < b.0 || b.1 < a.0,
        _ => false,
    }
}

/// The latencies of each repetition at one load.
pub(super) struct Common {
    pub(super) load: Load,
    pub(super) a: Vec<Recorder>,
    pub(super) b: Vec<Recorder>,
}

/// The latencies at the largest number of clients that all repetitions of both rows have.
pub(super) fn common(a: &Contestant, b: &Contestant) -> Option<Common> {
    let measure = a.invocations[0].run.plan.limits.of;
    let of = |row: &Contestant| -> Vec<_> {
        let loads = row.invocations.iter().map(|at| at.loads(measure));
        loads.collect()
    };
    let (mut one, mut other) = (of(a), of(b));
    let load = one
        .iter()
        .chain(&other)
        .map(|loads| loads.keys().copied().collect::<BTreeSet<Load>>())
        .reduce(|common, loads| &common & &loads)?
        .pop_last()?;
    let at = |side: &mut Vec<std::collections::BTreeMap<Load, Recorder>>| {
        let recorders = side.iter_mut().filter_map(|loads| loads.remove(&load));
        recorders.collect()
    };
    Some(Common {
        load,
        a: at(&mut one),
        b: at(&mut other),
    })
}

fn all<'s>(a: &'s Contestant, b: &'s Contestant) -> impl Iterator<Item = &'s Invocation> {
    a.invocations.iter().chain(&b.invocations)
}
