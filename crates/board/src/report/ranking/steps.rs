//! Steps of the same number of clients, put together over repetitions.

use super::extra::{self, Extra, all_of};
use super::usage::{self, PerConnection, User};
use plan::Limits;
use record::{Latency, Measurement, StepRecord, Verdict};
use std::collections::BTreeMap;

/// One number of clients, all repetitions that were measured with it together.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Clients connected.
    pub clients: u64,
    /// Repetitions that have this step.
    pub repetitions: usize,
    /// Repetitions that passed it.
    pub passed: usize,
    /// From the send to the receipt by the last listener, or to the echo.
    pub completion: Option<Latency>,
    /// The limited latency at the limit's percentile.
    pub limited_ns: Option<u64>,
    /// Memory of the process tree for one connection.
    pub memory: Option<PerConnection>,
    /// Kernel memory of the sockets for one connection, in bytes.
    pub sockets: Option<f64>,
    /// CPU time of the server for one message delivered, in nanoseconds.
    pub cpu_per_message_ns: Option<f64>,
    /// Memory of the proxy before it for one connection of a client.
    pub proxy_memory: Option<PerConnection>,
    /// CPU time of the proxy for one message delivered, in nanoseconds.
    pub proxy_cpu_ns: Option<f64>,
    /// What only some workloads have.
    pub extra: Extra,
}

/// Whether the latencies of a step are the server's: false where the generator was at its limit, or
/// where two tries disagree.
pub(super) const fn says_of_the_server(step: &StepRecord) -> bool {
    match step.verdict {
        Verdict::Pass | Verdict::Fail => true,
        Verdict::GeneratorLimited | Verdict::Noisy | Verdict::Interrupted => false,
    }
}

/// Steps of all repetitions by number of clients.
pub(super) fn merge(repetitions: &[&Measurement]) -> Vec<Step> {
    let mut by_clients: BTreeMap<u64, Vec<(&Measurement, &StepRecord)>> = BTreeMap::new();
    for measurement in repetitions {
        for step in measurement.run.iter().flat_map(|run| &run.steps) {
            by_clients
                .entry(step.clients)
                .or_default()
                .push((measurement, step));
        }
    }
    by_clients
        .into_iter()
        .map(|(clients, parts)| step(clients, &parts))
        .collect()
}

fn step(clients: u64, parts: &[(&Measurement, &StepRecord)]) -> Step {
    // Latencies that the generator caused are taken only where there are no others.
    let sound: Vec<(&Measurement, &StepRecord)> = parts
        .iter()
        .copied()
        .filter(|(_, step)| says_of_the_server(step))
        .collect();
    let telling = if sound.is_empty() { parts } else { &sound };
    let records: Vec<&StepRecord> = telling.iter().map(|(_, step)| *step).collect();
    Step {
        clients,
        repetitions: parts.len(),
        passed: parts.iter().filter(|(_, step)| step.passed()).count(),
        completion: extra::merged(&records, |step| step.completion.as_ref()),
        limited_ns: limited(telling),
        memory: usage::memory(User::Server, parts),
        sockets: usage::sockets(parts),
        cpu_per_message_ns: usage::cpu_per_message(User::Server, parts),
        proxy_memory: usage::memory(User::Proxy, parts),
        proxy_cpu_ns: usage::cpu_per_message(User::Proxy, parts),
        extra: extra::extra(&records),
    }
}

fn limited(parts: &[(&Measurement, &StepRecord)]) -> Option<u64> {
    if let [(_, step)] = parts {
        return step.limited_ns;
    }
    let limit: &Limits = &parts[0].0.run.as_ref()?.plan.limits;
    let known: Vec<&Latency> = parts
        .iter()
        .filter_map(|(_, step)| step.measured(limit.of))
        .collect();
    (!known.is_empty()).then(|| Some(all_of(&known)?.percentile(limit.percentile)))?
}
