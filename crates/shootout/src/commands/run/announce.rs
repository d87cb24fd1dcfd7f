//! What a run is going to do, in words, before it begins.

use super::left_out;
use crate::generator::measure_name;
use crate::machine::{self, Capacity, Cores};
use crate::manifest::Workload;
use crate::project::Project;
use crate::rows::{Rows, alike};
use crate::session::Session;
use crate::stdout::one_line;
use crate::workload::Schedule;
use run_record::{Clients, Load, Plan};

pub(super) fn plan(
    project: &Project,
    session: &Session,
    rows: &Rows,
    cores: &Cores,
    capacity: &Capacity,
) {
    let o = &session.options;
    let asked = o.workload.schedule(None);
    let usual = asked.within(capacity.clients);
    let mut dialects: Vec<&str> = Vec::new();
    for row in &rows.rows {
        if !dialects.contains(&row.dialect.name()) {
            dialects.push(row.dialect.name());
        }
    }
    let plan = &o.workload.plan;
    anstream::eprintln!(
        "{}: {} in {}, {}, {}, padding {}, until p{} of {} is above {}",
        match rows.rows.len() {
            1 => "1 row".to_owned(),
            n => format!("{n} rows"),
        },
        one_line(&o.workload.name),
        dialects.join(", "),
        load(plan),
        clients(plan, usual),
        plan.message.padding,
        plan.limits.percentile,
        match plan.workload() {
            Workload::Connect => "the handshake",
            _ => measure_name(plan.limited()),
        },
        plan.limits.time,
    );
    for (servers, schedule) in other_steps(session, rows, capacity) {
        anstream::eprintln!(
            "other steps, as the manifest says: {} to {} clients by {}: {}",
            schedule.initial_clients,
            schedule.last_clients(),
            schedule.step_size,
            servers.join(", ")
        );
    }
    if asked != usual {
        anstream::eprintln!("the limit of this machine: {}", capacity.limit);
    }
    match &cores.pinning {
        Some(pinning) => anstream::eprintln!(
            "cores: server {}, generator {}",
            machine::list(&pinning.server_cpus),
            machine::list(&pinning.generator_cpus)
        ),
        None => anstream::eprintln!("cores: server and generator share them; nothing is pinned"),
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
    if o.dialects.is_empty() && o.workload.dialect().is_none() {
        anstream::eprintln!(
            "each in text, or in what it speaks instead; for the binary dialect too: --dialects \
             text,binary"
        );
    }
    if !rows.unsupported.is_empty() {
        anstream::eprintln!(
            "not measured, the variants do not support it: {}",
            rows.unsupported.join(", ")
        );
    }
    anstream::eprintln!("results: {}/", project.shown(&session.dir));
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
        Load::Raw(raw) => format!("{} bytes", raw.payload),
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
    session: &Session,
    rows: &'r Rows,
    capacity: &Capacity,
) -> Vec<(Vec<&'r str>, Schedule)> {
    let o = &session.options;
    let usual = o.workload.schedule(None).within(capacity.clients);
    let mut servers: Vec<(&str, Schedule)> = rows
        .rows
        .iter()
        .map(|row| {
            (
                row.entry.name.as_str(),
                row.schedule(o).within(capacity.clients),
            )
        })
        .filter(|(_, schedule)| *schedule != usual)
        .collect();
    servers.dedup();
    servers.sort_by_key(|(name, _)| *name);
    servers.dedup();
    alike(servers)
}
