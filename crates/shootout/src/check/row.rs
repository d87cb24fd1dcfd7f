//! One measurement: whether what is concluded in it follows from what was counted.

use crate::quiet::{self, BEFORE};
use run_record::{Measurement, RunRecord, Status, StepRecord, Verdict, judge, latency_text};

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
    match (&of.run, of.status) {
        (None, Status::Ok) => wrong.push("is `ok` without a run".to_owned()),
        // A row that the generator ended may have a place by what it carried.
        (Some(run), Status::Ok | Status::GeneratorLimited) => {
            wrong.extend(conditions(of));
            wrong.extend(concluded(run));
            wrong.extend(used(of, run));
        }
        _ => {}
    }
    wrong
}

/// What a published figure needs.
fn conditions(of: &Measurement) -> Vec<String> {
    let mut wrong = Vec::new();
    match &of.conformance {
        None => {
            wrong.push("has no conformance checks of this build; leave out --skip-verify".into())
        }
        Some(checks) if !checks.passed() => {
            wrong.push("was measured although a check failed".into())
        }
        Some(_) => {}
    }
    match &of.pinning {
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

fn concluded(run: &RunRecord) -> Vec<String> {
    let mut wrong: Vec<String> = run
        .steps
        .iter()
        .enumerate()
        .flat_map(|(index, step)| {
            let place = format!("run.steps.{index}");
            step_concluded(step, run)
                .into_iter()
                .map(move |words| format!("{place}: {words}"))
        })
        .collect();
    let carried = RunRecord::carried(&run.steps);
    let search = matches!(run.plan.clients, run_record::Clients::Search(_));
    if !search && run.outcome.carried_clients != carried {
        wrong.push(format!(
            "run.outcome.carried_clients is {}, and by its steps {}",
            shown(run.outcome.carried_clients),
            shown(carried)
        ));
    }
    wrong
}

fn step_concluded(step: &StepRecord, run: &RunRecord) -> Vec<String> {
    let mut wrong = Vec::new();
    let limits = &run.plan.limits;
    let measured = step.measured(limits.of).and_then(|of| of.recorder().ok());
    let limited_ns = measured.map(|of| of.percentile(limits.percentile));
    if let (Some(stored), Some(made)) = (step.limited_ns, limited_ns)
        && stored != made
    {
        wrong.push(format!(
            "limited_ns is {}, and by its histogram {}",
            latency_text(stored).trim(),
            latency_text(made).trim()
        ));
    }
    let is_over = limited_ns.is_some_and(|ns| ns > limits.time.ns());
    if is_over && !step.over_limit {
        wrong.push("is over its limit and says that it is not".to_owned());
    }
    if step.samples > step.samples_planned {
        let (samples, planned) = (step.samples, step.samples_planned);
        wrong.push(format!("has {samples} samples of {planned}"));
    }
    // A rate near the generator's ceiling, which is known where the run was made alone, makes a
    // failure the generator's. It makes no pass.
    let made = judge(step, &run.plan, None).verdict;
    if step.verdict == Verdict::Pass && made != Verdict::Pass {
        let made = made.name();
        wrong.push(format!("verdict is pass, and by its figures {made}"));
    }
    wrong
}

/// What the server used, step by step.
fn used(of: &Measurement, run: &RunRecord) -> Vec<String> {
    if of.server_steps.len() != run.steps.len() {
        return vec![format!(
            "server_steps has {} steps, and the run {}",
            of.server_steps.len(),
            run.steps.len()
        )];
    }
    let cores = u64::from(run.environment.cores);
    let pairs = of.server_steps.iter().zip(&run.steps).enumerate();
    pairs
        .filter_map(|(index, (server, step))| {
            if server.clients != step.clients {
                let (server, step) = (server.clients, step.clients);
                return Some(format!(
                    "server_steps.{index} is of {server} clients, and the step of {step}"
                ));
            }
            // Clocks of processes are read one after the other.
            let most_ns = server.elapsed_ns.saturating_mul(cores) / 100 * 105 + 50_000_000;
            (server.cpu_ns > most_ns)
                .then(|| format!("server_steps.{index} has more CPU time than {cores} cores have"))
        })
        .collect()
}

fn shown(clients: Option<u64>) -> String {
    clients.map_or_else(|| "none".to_owned(), |count| count.to_string())
}
