//! What a run is going to do, in words, before it begins.

use super::left_out;
use crate::generator::measure_name;
use crate::machine::{self, Capacity, Cores};
use crate::options::Schedule;
use crate::project::Project;
use crate::rows::{Rows, alike};
use crate::session::Session;

pub(super) fn plan(
    project: &Project,
    session: &Session,
    rows: &Rows,
    cores: &Cores,
    capacity: &Capacity,
) {
    let o = &session.options;
    let usual = o.schedule(None).within(capacity.clients);
    let mut dialects: Vec<&str> = Vec::new();
    for row in &rows.rows {
        if !dialects.contains(&row.dialect.name()) {
            dialects.push(row.dialect.name());
        }
    }
    anstream::eprintln!(
        "{}: {} in {}, {} at a time, {} a step, {} to {} clients by {}, padding {}, until p{} of {} \
         is above {}",
        match rows.rows.len() {
            1 => "1 row".to_owned(),
            n => format!("{n} rows"),
        },
        o.workload.name(),
        dialects.join(", "),
        o.concurrent,
        o.sample_size,
        usual.initial_clients,
        usual.last_clients(),
        usual.step_size,
        o.payload_padding,
        o.limit_percentile,
        measure_name(o.measure),
        humantime::format_duration(o.limit_rtt),
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
    if o.total_steps != usual.total_steps {
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
    if o.dialects.is_empty() {
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

/// Servers whose steps are not the usual ones.
fn other_steps<'r>(
    session: &Session,
    rows: &'r Rows,
    capacity: &Capacity,
) -> Vec<(Vec<&'r str>, Schedule)> {
    let o = &session.options;
    let usual = o.schedule(None).within(capacity.clients);
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
