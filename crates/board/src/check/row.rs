//! One measurement: whether it is fit to be published, and whether what is concluded in it follows from
//! what was counted.

use super::{run, server, watched};
use crate::quiet::{self, BEFORE};
use crate::status;
use record::{Measurement, Status};

pub(super) fn check(file: &str, of: &Measurement) -> Vec<String> {
    let mut wrong = Vec::new();
    let name = format!(
        "{}.{}.{}.{}.{}.json",
        of.server.name,
        of.server.variant,
        of.workload_name(),
        of.dialect.name(),
        of.repetition
    );
    if name != file {
        wrong.push(format!("holds the measurement {name}"));
    }
    wrong.extend(status(of));
    // A row that the generator ended may have a place by what it carried.
    let (Some(run), Status::Ok | Status::GeneratorLimited) = (&of.run, of.status) else {
        return wrong;
    };
    wrong.extend(conditions(of));
    wrong.extend(run::check(run));
    wrong.extend(server::check(of, run));
    wrong.extend(server::proxy(of, run));
    wrong.extend(watched::faults(of, &run.plan));
    wrong
}

fn status(of: &Measurement) -> Option<String> {
    let Some(run) = &of.run else {
        return (of.status == Status::Ok).then(|| "is `ok` without a run".to_owned());
    };
    if of.status != Status::Ok {
        return None;
    }
    let made = status::judged(run);
    if made != Status::Ok {
        return Some(format!("status is ok, and by its run {}", made.name()));
    }
    if let Some(Err(objection)) = of.network.as_ref().map(status::network) {
        return Some(format!("status is ok, and {}", objection.reason));
    }
    if let Err(objection) = status::faults(&of.faults) {
        return Some(format!("status is ok, and {}", objection.reason));
    }
    let told = of.reason.as_ref().or(of.log_tail.as_ref())?;
    Some(format!("status is ok, and its reason: {told}"))
}

fn counts_losses(of: &Measurement) -> bool {
    of.run
        .as_ref()
        .is_some_and(|run| run.plan.watch().is_some())
}

/// What a published figure needs.
fn conditions(of: &Measurement) -> Vec<String> {
    let mut wrong = Vec::new();
    match &of.conformance {
        None => {
            wrong.push("has no conformance checks of this build; measure it with `shootout run`, which makes them".into())
        }
        Some(checks) if checks.checks.is_empty() => {
            wrong.push("was measured although no check was made".into())
        }
        Some(checks) if !checks.passed() => {
            wrong.push("was measured although a check failed".into())
        }
        Some(_) => {}
    }
    match &of.pinning {
        // What is counted there is what clients lose, not what a core carries.
        None if counts_losses(of) => {}
        None => wrong.push(
            "server and generator were not pinned to cores of their own; see `shootout run --help`"
                .into(),
        ),
        Some(pinning) => {
            let shared = |cpu: &&usize| pinning.generator_cpus.contains(cpu);
            if let Some(cpu) = pinning.server_cpus.iter().find(shared) {
                wrong.push(format!("server and generator share core {cpu}"));
            }
        }
    }
    match of.busy_before {
        None => wrong.push("does not say what else the machine did; measure it again".into()),
        Some(busy) if busy > BEFORE => wrong.push(format!(
            "the machine was busy to {:.0}% before it; at most {:.0}% is permitted",
            busy * 100.0,
            BEFORE * 100.0
        )),
        Some(_) => {}
    }
    match of.busy_during {
        None => {
            wrong.push("does not say what other programs did meanwhile; measure it again".into());
        }
        during => wrong.extend(quiet::disturbance(during)),
    }
    wrong
}
