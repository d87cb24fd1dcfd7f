//! What a run is going to do, in words, before it begins.

use super::left_out;
use crate::generator::measure_name;
use crate::machine::{self, Capacity, Cores};
use crate::manifest::Dialect;
use crate::measure::total_steps;
use crate::project::Project;
use crate::rows::{Rows, workload_name};
use crate::session::Session;

pub(super) fn plan(
    project: &Project,
    session: &Session,
    rows: &Rows,
    cores: &Cores,
    capacity: &Capacity,
) {
    let o = &session.options;
    let steps = total_steps(o, capacity.clients);
    let dialects: Vec<&str> = o.dialects.iter().map(|d| d.name()).collect();
    anstream::eprintln!(
        "{}: {} in {}, {} at a time, {} a step, {} to {} clients by {}, padding {}, until p{} of {} \
         is above {}",
        match rows.rows.len() {
            1 => "1 row".to_owned(),
            n => format!("{n} rows"),
        },
        workload_name(o.workload),
        dialects.join(", "),
        o.concurrent,
        o.sample_size,
        o.initial_clients,
        o.clients_after(steps),
        o.step_size,
        o.payload_padding,
        o.limit_percentile,
        measure_name(o.measure),
        humantime::format_duration(o.limit_rtt),
    );
    if o.total_steps.is_none_or(|asked| asked > steps) {
        anstream::eprintln!("this machine ends it at: {}", capacity.limit);
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
    if o.dialects == [Dialect::Text] {
        anstream::eprintln!("text only; for the binary dialect too: --dialects text,binary");
    }
    if !rows.unsupported.is_empty() {
        anstream::eprintln!("cannot be measured so: {}", rows.unsupported.join(", "));
    }
    anstream::eprintln!("results: {}/", project.shown(&session.dir));
}
