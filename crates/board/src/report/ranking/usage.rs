//! What a server, or the proxy before it, uses for one connection and for one message.

use crate::stats::Median;
use plan::Workload;
use record::{Measurement, Memory, ServerStep, StepRecord};

/// Memory of the process tree for one connection: what the step has more than the idle server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PerConnection {
    /// Median over the repetitions; below zero when the server gave memory back.
    pub bytes: f64,
    /// What kind of memory was compared.
    pub kind: MemoryKind,
}

/// How the memory of several processes is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum MemoryKind {
    /// Shared pages are counted once.
    Proportional,
    /// Shared pages are counted in each process.
    Resident,
}

type Parts<'a> = [(&'a Measurement, &'a StepRecord)];

/// Whose use it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum User {
    Server,
    Proxy,
}

impl User {
    fn idle(self, of: &Measurement) -> Option<&Memory> {
        match self {
            Self::Server => of.idle.as_ref(),
            Self::Proxy => of.proxy.as_ref()?.idle.as_ref(),
        }
    }

    fn steps(self, of: &Measurement) -> &[ServerStep] {
        match self {
            Self::Server => &of.server_steps,
            Self::Proxy => of.proxy.as_ref().map_or(&[], |proxy| &proxy.steps),
        }
    }
}

/// Proportional memory where every repetition has it, else resident.
pub(super) fn memory(user: User, parts: &Parts<'_>) -> Option<PerConnection> {
    let of = |memory: fn(&Memory) -> Option<u64>| -> Vec<f64> {
        parts
            .iter()
            .filter_map(|(measurement, step)| growth(user, measurement, step, memory))
            .collect()
    };
    let resident = of(|memory| Some(memory.resident_bytes));
    let proportional = of(|memory| memory.proportional_bytes);
    let (kind, values) = if proportional.len() == resident.len() {
        (MemoryKind::Proportional, proportional)
    } else {
        (MemoryKind::Resident, resident)
    };
    let bytes = Median::Usual.of(&values)?;
    Some(PerConnection { bytes, kind })
}

/// Kernel memory of the sockets for one connection, in bytes: median over the repetitions.
pub(super) fn sockets(parts: &Parts<'_>) -> Option<f64> {
    let each = parts.iter().filter_map(|(measurement, step)| {
        growth(User::Server, measurement, step, |memory| {
            memory.sockets_bytes
        })
    });
    Median::Usual.of(&each.collect::<Vec<f64>>())
}

/// Memory of one repetition at a number of clients, that of its sockets and of the proxy before it
/// included, for one connection.
pub(super) fn whole_memory(
    measurement: &Measurement,
    clients: u64,
    kind: MemoryKind,
) -> Option<f64> {
    let steps = &measurement.run.as_ref()?.steps;
    let step = steps.iter().rfind(|step| step.clients == clients)?;
    let of = |user| {
        let growth = |of: fn(&Memory) -> Option<u64>| growth(user, measurement, step, of);
        let process = match kind {
            MemoryKind::Proportional => growth(|memory| memory.proportional_bytes),
            MemoryKind::Resident => growth(|memory| Some(memory.resident_bytes)),
        };
        let sockets = growth(|memory| memory.sockets_bytes);
        Some(process? + sockets.unwrap_or_default())
    };
    let server: f64 = of(User::Server)?;
    match measurement.proxy {
        None => Some(server),
        Some(_) => Some(server + of(User::Proxy)?),
    }
}

/// CPU time of all repetitions over messages delivered in all of them, in nanoseconds.
pub(super) fn cpu_per_message(user: User, parts: &Parts<'_>) -> Option<f64> {
    let (mut cpu_ns, mut messages) = (0, 0.0);
    for (measurement, step) in parts {
        let run = measurement.run.as_ref();
        if run.is_none_or(|run| run.plan.workload() == Workload::Connect) {
            continue;
        }
        if let (Some(server), Some(delivered)) = (used(user, measurement, step), delivered(step)) {
            cpu_ns += server.cpu_ns;
            messages += delivered;
        }
    }
    (messages > 0.0).then(|| cpu_ns as f64 / messages)
}

/// The messages that a step's CPU time went into: the timed ones, those of the warm-up within the step, and
/// those to clients that read slowly or do not stay. `None` where none was timed.
pub(super) fn delivered(step: &StepRecord) -> Option<f64> {
    let timed = step.delivery.as_ref().or(step.completion.as_ref())?;
    let sent = step.throughput.map_or(0, |of| of.sent);
    let with_warm_up = (sent as f64 / step.samples_planned.max(1) as f64).max(1.0);
    let untimed = [
        step.churn.as_ref().map(|churn| churn.messages),
        step.slow_readers.as_ref().map(|slow| slow.messages),
    ];
    let untimed: u64 = untimed.into_iter().flatten().sum();
    Some(timed.count as f64 * with_warm_up + untimed as f64)
}

/// The share of its cores that the server used in the last step, from 0 to 1; `None` where it was not held
/// to any.
pub(super) fn share_of_cores(of: &Measurement) -> Option<f64> {
    let step = of.server_steps.last()?;
    let cores = of.pinning.as_ref()?.server_cpus.len() as f64;
    let had = step.elapsed_ns as f64 * cores;
    (had > 0.0).then(|| step.cpu_ns as f64 / had)
}

fn growth(
    user: User,
    measurement: &Measurement,
    step: &StepRecord,
    of: impl Fn(&Memory) -> Option<u64>,
) -> Option<f64> {
    let idle = of(user.idle(measurement)?)?;
    let busy = of(&used(user, measurement, step)?.memory)?;
    (step.clients > 0).then(|| (busy as f64 - idle as f64) / step.clients as f64)
}

/// What was used in a step of the record. A search has several steps of as many clients.
fn used<'a>(user: User, measurement: &'a Measurement, step: &StepRecord) -> Option<&'a ServerStep> {
    let mut steps = measurement.run.as_ref()?.steps.iter();
    let number = steps.position(|one| std::ptr::eq(one, step))?;
    user.steps(measurement).get(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::measured;
    use crate::report::ranking::cost;
    use record::{End, ProxyUse};

    #[test]
    fn a_proxy_counts_where_the_whole_is_ranked_and_the_server_stands_alone() {
        let alone = measured("a", 1, 9_000, End::StepsDone);
        let mut through = alone.clone();
        through.proxy = Some(ProxyUse {
            name: "front".into(),
            homepage: String::new(),
            version: None,
            ends_tls: false,
            idle: through.idle,
            steps: through.server_steps.clone(),
            series: None,
        });
        assert_eq!(cost(&through), cost(&alone).map(|ns| 2.0 * ns));
        let step = &through.run.as_ref().unwrap().steps[0];
        let parts = [(&through, step)];
        let of = |user| (cpu_per_message(user, &parts), memory(user, &parts));
        assert!(of(User::Server).0.is_some() && of(User::Server).1.is_some());
        assert_eq!(of(User::Server), of(User::Proxy));
        let whole = |of| whole_memory(of, 1_000, MemoryKind::Resident).unwrap();
        assert_eq!(whole(&through), 2.0 * whole(&alone));
    }

    #[test]
    fn a_share_is_of_all_cores_that_the_server_was_held_to() {
        let mut of = measured("a", 2, 9_000, End::StepsDone);
        of.server_steps[1].cpu_ns = of.server_steps[1].elapsed_ns;
        assert_eq!(share_of_cores(&of), Some(1.0));
        of.pinning.as_mut().unwrap().server_cpus = vec![0, 2];
        assert_eq!(share_of_cores(&of), Some(0.5));
        of.pinning = None;
        assert_eq!(share_of_cores(&of), None);
    }

    #[test]
    fn messages_of_clients_that_do_not_stay_or_read_slowly_are_delivered_too() {
        let mut of = measured("a", 1, 9_000, End::StepsDone);
        let cost_of = |of: &Measurement| {
            let step = &of.run.as_ref().unwrap().steps[0];
            cpu_per_message(User::Server, &[(of, step)]).unwrap()
        };
        let alone = cost_of(&of);
        let step = &mut of.run.as_mut().unwrap().steps[0];
        let timed = delivered(step).unwrap();
        step.churn = Some(Box::new(record::Churn {
            messages: timed as u64,
            ..record::Churn::default()
        }));
        step.slow_readers = Some(record::SlowReaders {
            messages: 2 * timed as u64,
            ..record::SlowReaders::default()
        });
        assert_eq!(delivered(step), Some(4.0 * timed));
        assert_eq!(cost_of(&of), alone / 4.0);
    }

    #[test]
    fn steps_of_as_many_clients_have_each_their_own_use() {
        let mut of = measured("a", 2, 9_000, End::StepsDone);
        let run = of.run.as_mut().unwrap();
        run.steps[1].clients = run.steps[0].clients;
        of.server_steps[1].clients = of.server_steps[0].clients;
        for (step, server) in of
            .run
            .iter()
            .flat_map(|run| &run.steps)
            .zip(&of.server_steps)
        {
            assert!(std::ptr::eq(used(User::Server, &of, step).unwrap(), server));
        }
    }
}
