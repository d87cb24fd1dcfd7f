//! What a step has besides latencies: of clients that left, of those that read slowly, of compressed
//! messages, of connections that are held. Repetitions are put together by sums and by whole
//! histograms.

use record::{Churn, CompressionUse, CutRecord, Latency, Pings, Recorder, SlowReaders, StepRecord};

/// The figures of a step that only some workloads have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    /// Clients that left and came back.
    pub leaving: Option<Leaving>,
    /// Clients that read slowly.
    pub slow: Option<Slow>,
    /// What compression did.
    pub compression: Option<CompressionUse>,
    /// Connections that were held.
    pub held: Option<Held>,
}

/// Clients that left during a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaving {
    /// How often one was ready again.
    pub reconnected: u64,
    /// Attempts to come back that failed.
    pub failures: u64,
    /// How often one was confirmed to be in its next room.
    pub joined: u64,
    /// From when it was to be there until it was.
    pub join: Option<Latency>,
    /// Messages that they should have had and did not get.
    pub lost: u64,
    /// From when a client was to be back until it was.
    pub reconnect: Option<Latency>,
    /// Those that were cut off at one moment.
    pub cut: Option<CutOff>,
}

/// What the others felt of clients that were cut off at one moment.
#[derive(Clone, Debug)]
pub(crate) struct CutOff {
    /// Completion for the others before the cut.
    pub before: Option<Latency>,
    /// The same until all were back.
    pub during: Option<Latency>,
    /// The same from then on.
    pub after: Option<Latency>,
}

/// Clients that read slowly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slow {
    /// How many.
    pub clients: u64,
    /// How many of them the server cut off.
    pub cut_off: u64,
    /// How the first of these connections ended.
    pub first_cut_off: Option<String>,
    /// Most bytes that server and kernel had kept for one of the others when a step was over.
    pub kept_bytes: Option<u64>,
}

/// Connections that were held.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// Upgrades per second: the lowest of the repetitions.
    pub opened_per_second: f64,
    /// From a ping to its pong.
    pub ping: Option<Latency>,
    /// Connections that ended by themselves.
    pub dropped: u64,
}

pub(super) fn extra(steps: &[&StepRecord]) -> Extra {
    Extra {
        leaving: leaving(steps),
        slow: slow(steps),
        compression: compression(steps),
        held: held(steps),
    }
}

fn leaving(steps: &[&StepRecord]) -> Option<Leaving> {
    let all: Vec<&Churn> = steps.iter().filter_map(|s| s.churn.as_deref()).collect();
    let sum = |of: fn(&Churn) -> u64| all.iter().map(|churn| of(churn)).sum();
    (!all.is_empty()).then(|| Leaving {
        reconnected: sum(|churn| churn.reconnected),
        failures: sum(|churn| churn.failures.total()),
        joined: sum(|churn| churn.rooms.as_ref().map_or(0, |rooms| rooms.joined)),
        join: merged(&all, |churn| churn.rooms.as_ref()?.join.as_ref()),
        lost: sum(|churn| churn.lost),
        reconnect: merged(&all, |churn| churn.reconnect.as_ref()),
        cut: cut(&all),
    })
}

fn cut(all: &[&Churn]) -> Option<CutOff> {
    let cuts: Vec<&CutRecord> = all.iter().filter_map(|churn| churn.cut.as_ref()).collect();
    if cuts.is_empty() {
        return None;
    }
    Some(CutOff {
        before: merged(&cuts, |cut| cut.before.as_ref()),
        during: merged(&cuts, |cut| cut.during.as_ref()),
        after: merged(&cuts, |cut| cut.after.as_ref()),
    })
}

fn slow(steps: &[&StepRecord]) -> Option<Slow> {
    let all: Vec<&SlowReaders> = steps
        .iter()
        .filter_map(|s| s.slow_readers.as_ref())
        .collect();
    (!all.is_empty()).then(|| Slow {
        clients: all.iter().map(|slow| slow.clients).sum(),
        cut_off: all.iter().map(|slow| slow.cut_off).sum(),
        first_cut_off: all
            .iter()
            .find_map(|slow| slow.first_cut_off.as_deref().map(str::to_owned)),
        kept_bytes: all.iter().filter_map(|slow| slow.most_kept_bytes).max(),
    })
}

fn compression(steps: &[&StepRecord]) -> Option<CompressionUse> {
    let all = steps.iter().filter_map(|step| step.compression);
    all.reduce(|mut all, more| {
        all.add(more);
        all
    })
}

fn held(steps: &[&StepRecord]) -> Option<Held> {
    let all = steps.iter().filter_map(|step| step.connections.as_deref());
    let all: Vec<_> = all.collect();
    let rates = all.iter().map(|connections| connections.opened_per_second);
    let pings: Vec<&Pings> = all.iter().map(|connections| &connections.pings).collect();
    Some(Held {
        opened_per_second: rates.reduce(f64::min)?,
        ping: merged(&pings, |pings| pings.round_trip.as_ref()),
        dropped: all
            .iter()
            .map(|connections| connections.drops.total())
            .sum(),
    })
}

/// All samples as one distribution. A single one is kept as it was recorded. If one cannot be read,
/// the whole is unknown: the rest would be taken for all samples.
pub(super) fn merged<'p, P>(
    parts: &[&'p P],
    of: impl Fn(&'p P) -> Option<&'p Latency>,
) -> Option<Latency> {
    let known: Vec<&Latency> = parts.iter().filter_map(|part| of(part)).collect();
    match known.as_slice() {
        [] => None,
        [one] => Some((*one).clone()),
        several => all_of(several)?.latency(),
    }
}

pub(super) fn all_of(parts: &[&Latency]) -> Option<Recorder> {
    let mut all = Recorder::default();
    for part in parts {
        all.merge(&part.recorder().ok()?);
    }
    Some(all)
}
