//! What a run is going to do, in words, before it begins.

use super::left_out;
use crate::machine::{Capacity, Cores};
use crate::options::RowOrder;
use crate::rows::{Row, Rows, alike};
use crate::session::Session;
use board::report::measure_name;
use board::terminal::{listed, one_line};
use plan::{Clients, Load, Plan};
use project::workload::{NamedPlan, Schedule};
use project::{NO_PROXY, Project, contestant};

/// The proxies of these rows, each once.
fn through(rows: &[Row]) -> Vec<&str> {
    let mut names = Vec::new();
    for row in rows {
        let name = row.proxy.as_ref();
        let name = name.map_or(NO_PROXY, |folder| folder.proxy.name.as_str());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_unstable_by_key(|name| (*name != NO_PROXY, *name));
    names
}

pub(super) fn plan(
    project: &Project,
    session: &Session,
    rows: &Rows,
    cores: &Cores,
    capacity: &Capacity,
) {
    let o = &session.options;
    let mut is_cut = false;
    let mut measured = Vec::new();
    for workload in &o.workloads {
        let of_it = rows.rows.iter();
        let of_it = of_it.filter(|row| row.workload.name == workload.name);
        let of_it: Vec<&Row> = of_it.collect();
        if of_it.is_empty() {
            continue;
        }
        one(workload, &of_it, capacity);
        measured.push(workload);
        let asked = workload.schedule(None);
        is_cut |= asked != asked.within(capacity.clients);
    }
    if is_cut {
        anstream::eprintln!("the limit of this machine: {}", capacity.limit);
    }
    tell_cores(cores, &measured);
    if let Some(network) = &o.network {
        anstream::eprintln!("network: {network}");
    }
    if let RowOrder::Drawn(number) = o.order {
        anstream::eprintln!(
            "order: drawn by lot in each repetition; --order {number} draws it again"
        );
    }
    let through = through(&rows.rows);
    if through != [NO_PROXY] {
        anstream::eprintln!("each through: {}", through.join(", "));
    }
    let left_out = left_out(o, rows, capacity);
    if !left_out.is_empty() {
        let why = if o.quick {
            "--quick leaves out"
        } else {
            "left out"
        };
        anstream::eprintln!("{why}: {}", left_out.join("; "));
    }
    let own = o
        .workloads
        .iter()
        .any(|workload| workload.dialect().is_none() && workload.plan.dialects.is_empty());
    if o.dialects.is_empty() && own {
        anstream::eprintln!(
            "each in text, or in what it speaks instead; for the binary dialect too: --dialects \
             text,binary"
        );
    }
    for (workloads, (contestants, reason)) in unfit(rows) {
        anstream::eprintln!(
            "not applicable under {}, {reason}: {}",
            one_line(&workloads.join(", ")),
            few(&contestants)
        );
    }
    anstream::eprintln!("results: {}/", project.shown(&session.dir));
}

/// Which cores each side has, in words. Workloads for several nodes may have others.
fn tell_cores(cores: &Cores, workloads: &[&NamedPlan]) {
    let words = |cores: &Cores| match &cores.pinning {
        Some(pinning) => format!(
            "server {}, generator {}",
            listed(&pinning.server_cpus),
            listed(&pinning.generator_cpus)
        ),
        None => "server and generator share them; nothing is pinned".to_owned(),
    };
    let of_nodes = workloads.iter().filter(|workload| workload.is_for_nodes());
    let of_nodes: Vec<&str> = of_nodes.map(|workload| workload.name.as_str()).collect();
    let for_nodes = cores.for_nodes();
    if of_nodes.len() < workloads.len() || for_nodes == *cores {
        anstream::eprintln!("cores: {}", words(cores));
    }
    if !of_nodes.is_empty() && for_nodes != *cores {
        anstream::eprintln!(
            "cores in {}, for servers of several nodes: {}",
            one_line(&of_nodes.join(", ")),
            words(&for_nodes)
        );
    }
}

/// What one workload is, and what its rows are measured with.
fn one(workload: &NamedPlan, rows: &[&Row], capacity: &Capacity) {
    let mut dialects: Vec<&str> = Vec::new();
    for row in rows {
        if !dialects.contains(&row.dialect.name()) {
            dialects.push(row.dialect.name());
        }
    }
    let plan = &workload.plan;
    anstream::eprintln!(
        "{}: {} in {}, {}, {}, padding {}{}",
        match rows.len() {
            1 => "1 row".to_owned(),
            n => format!("{n} rows"),
        },
        one_line(&workload.name),
        dialects.join(", "),
        load(plan),
        clients(plan, workload.schedule(None).within(capacity.clients)),
        plan.message.padding_in_words(),
        limit(plan),
    );
    for (servers, schedule) in other_steps(workload, rows, capacity) {
        anstream::eprintln!(
            "other steps, as the manifest says: {} to {} clients by {}: {}",
            schedule.initial_clients,
            schedule.last_clients(),
            schedule.step_size,
            servers.join(", ")
        );
    }
}

/// Contestants that are not measured, and why.
type Unfit<'r> = (Vec<String>, &'r str);

/// Rows that are not measured: the workloads that have the same contestants for the same reason.
fn unfit(rows: &Rows) -> Vec<(Vec<&str>, Unfit<'_>)> {
    let mut groups: Vec<((&str, &str), Vec<String>)> = Vec::new();
    for (row, reason) in &rows.unfit {
        let why = (row.workload.name.as_str(), reason.as_str());
        let name = contestant(&row.entry.name, &row.named_variant());
        match groups.iter_mut().find(|(other, _)| *other == why) {
            // Each dialect is a row of its own.
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => groups.push((why, vec![name])),
        }
    }
    let groups = groups.into_iter();
    alike(groups.map(|((workload, reason), names)| (workload, (names, reason))))
}

/// The first names, and how many others there are.
pub(super) fn few(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What ends the run of a row, as a clause.
fn limit(plan: &Plan) -> String {
    let of = match plan.load {
        Load::Watch(_) => return format!(", {} faults", plan.faults.len()),
        Load::Connect(_) => "the handshake",
        Load::Closed(_) | Load::Open(_) => measure_name(plan.limited()),
    };
    let limits = &plan.limits;
    format!(
        ", until p{} of {of} is above {}",
        limits.percentile, limits.time
    )
}

/// When is sent, as a clause.
fn load(plan: &Plan) -> String {
    match &plan.load {
        Load::Closed(closed) => {
            format!("{} at a time, {} a step", closed.in_flight, closed.samples)
        }
        Load::Open(open) => format!("{} a second for {} a step", open.rate, open.duration),
        Load::Connect(connect) => match connect.rate {
            Some(rate) => format!("{rate} a second opened, held for {}", connect.hold),
            None => format!("held for {}", connect.hold),
        },
        Load::Watch(watch) => format!("{} a second for {}", watch.rate, watch.duration),
    }
}

fn clients(plan: &Plan, steps: Schedule) -> String {
    let (first, last) = (steps.initial_clients, steps.last_clients());
    match &plan.clients {
        Clients::Search(_) => format!("a search from {first} clients"),
        Clients::Steps(_) if u64::from(first) == last => format!("{first} clients"),
        Clients::Steps(_) => format!("{first} to {last} clients by {}", steps.step_size),
    }
}

/// Servers whose steps are not the usual ones.
fn other_steps<'r>(
    workload: &NamedPlan,
    rows: &[&'r Row],
    capacity: &Capacity,
) -> Vec<(Vec<&'r str>, Schedule)> {
    let usual = workload.schedule(None).within(capacity.clients);
    let mut servers: Vec<(&str, Schedule)> = rows
        .iter()
        .map(|row| {
            let held = row.schedule().within(capacity.clients);
            (row.entry.name.as_str(), held)
        })
        .filter(|(_, schedule)| *schedule != usual)
        .collect();
    servers.dedup();
    servers.sort_by_key(|(name, _)| *name);
    servers.dedup();
    alike(servers)
}
