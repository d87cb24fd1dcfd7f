//! Measurements of messages that are watched while nodes fail, made up for tests. What becomes of each
//! message follows from how the server fails, part of the timeline by part.
#![allow(dead_code, reason = "each test program uses its part")]

use super::fixture_under::under;
use plan::{Clients, Fault, FaultDeed, FaultPart, Limits, Load, Nanos, Plan, Watch};
use record::{
    Claim, DropCause, DropHow, DropTimes, Fates, FaultDone, Latency, Measurement, Recorder,
    StepRecord, Timeline, Watched,
};

const TICK_NS: u64 = 100_000_000;
/// Parts in which clients of a node that failed are away, and in which they come back.
const AWAY: usize = 4;
const JOINING: usize = 2;

/// What a server does where a node or a broker fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fails {
    /// It confirms messages and loses them, and its connections stay.
    Silently,
    /// Its connections end, and what was sent meanwhile is lost.
    Cutting,
    /// Its connections end, and clients that come back get what they missed.
    Resuming,
}

/// A node is killed and started again while 200 clients hear 50 messages a second.
pub(crate) fn plan() -> Plan {
    let fault = |at, deed| Fault {
        at: Nanos::secs(at),
        jitter: Nanos(0),
        deed,
        what: FaultPart::Node(2),
    };
    Plan::new("ws://127.0.0.1:3334/ws").with(|plan| {
        plan.name = Some("dying-node".into());
        plan.reason = Some("What is lost when a node dies and comes back.".into());
        plan.clients = Clients::steps(200, 0, Some(1));
        plan.load = Load::Watch(Watch {
            rate: 50.0,
            duration: Nanos::secs(40),
            patience: Nanos::secs(5),
        });
        plan.faults = vec![fault(10, FaultDeed::Kill), fault(15, FaultDeed::Start)];
        plan.limits = Limits::default();
        plan.generator.seed = 7;
    })
}

/// A row under a plan whose messages are watched.
pub(crate) fn failing(plan: &Plan, name: &str, fails: Fails, median_us: u64) -> Measurement {
    let mut of = under(plan, name, median_us);
    of.nodes = Some(2);
    of.claim = Some(match fails {
        Fails::Silently => Claim::AtLeastOnce,
        Fails::Cutting => Claim::AtMostOnce,
        Fails::Resuming => Claim::Resumes,
    });
    of.faults = plan.faults.iter().map(done).collect();
    let step = &mut of.run.as_mut().unwrap().steps[0];
    watch(plan, fails, median_us, step);
    of
}

/// A fault that began ten milliseconds late.
fn done(planned: &Fault) -> FaultDone {
    let due_ns = planned.at.ns() + planned.jitter.ns() / 2;
    FaultDone {
        planned: *planned,
        due_ns,
        began_ns: Some(due_ns + 10_000_000),
        ended_ns: Some(due_ns + 60_000_000),
        failure: None,
    }
}

/// Puts what was watched into the step of a record. The slower a server is, the more parts it loses.
pub(crate) fn watch(plan: &Plan, fails: Fails, median_us: u64, step: &mut StepRecord) {
    let load = plan.watch().unwrap();
    let (clients, messages) = (step.clients, load.messages());
    let length_ns = load.duration.ns() + load.patience.ns();
    let parts = length_ns.div_ceil(TICK_NS) as usize;
    let mut timeline = Timeline::new(TICK_NS, parts);
    for message in 0..messages {
        timeline.sent[(load.due_ns(message) / TICK_NS) as usize] += 1;
    }
    let harm = plan.faults.iter().filter(|fault| {
        let deed = fault.deed;
        matches!(
            deed,
            FaultDeed::Kill
                | FaultDeed::Terminate
                | FaultDeed::Freeze
                | FaultDeed::Cut
                | FaultDeed::Slow
                | FaultDeed::Reload
        )
    });
    let since: Vec<usize> = harm
        .map(|fault| (fault.at.ns() / TICK_NS) as usize)
        .collect();
    let silent_parts = (median_us / 1_000) as usize;
    let (mut of_confirmed, mut of_unconfirmed) = (Fates::default(), Fates::default());
    let slowest_ns = median_us * 3_000;
    for part in 0..parts {
        let sent = timeline.sent[part];
        let after = since
            .iter()
            .filter_map(|since| part.checked_sub(*since))
            .min();
        let hit = clients / 2;
        let fates = fates(fails, after, sent, (clients, hit), silent_parts);
        // What was sent when the node died was not confirmed.
        let is_confirmed = fails == Fails::Silently || after != Some(0);
        timeline.confirmed[part] = if is_confirmed { sent } else { 0 };
        match is_confirmed {
            true => of_confirmed.add(fates),
            false => of_unconfirmed.add(fates),
        }
        timeline.live[part] = fates.live;
        timeline.made_good[part] = fates.made_good;
        timeline.lost_silent[part] = fates.lost_silent;
        timeline.lost_joining[part] = fates.lost_joining;
        timeline.lost_cut[part] = fates.lost_cut;
        timeline.lost_away[part] = fates.lost_away;
        let is_away = fails != Fails::Silently && after.is_some_and(|after| after < AWAY);
        timeline.ready[part] = if is_away { clients - hit } else { clients };
        timeline.slowest_ns[part] = if fates.live > 0 { slowest_ns } else { 0 };
    }
    let live = of_confirmed.live + of_unconfirmed.live;
    let cut = (since.len() as u64) * (clients / 2);
    let has_cut = fails != Fails::Silently && cut > 0;
    let confirmed = timeline.confirmed.iter().sum();
    step.samples_planned = messages;
    step.samples = messages;
    (step.completion, step.ack) = (None, None);
    step.delivery = latency(median_us, live, slowest_ns);
    (step.limited_ns, step.over_limit) = (None, false);
    step.verdict = record::Verdict::Pass;
    step.generator.messages = live + of_confirmed.made_good + of_unconfirmed.made_good + confirmed;
    step.drops = has_cut.then(|| {
        Box::new(DropTimes {
            interval_ns: 1_000_000_000,
            causes: vec![DropCause {
                how: DropHow::Reset,
                code: None,
                count: cut,
                first: "reset by the server".into(),
                intervals: [(0, cut)].into(),
            }],
        })
    });
    step.watched = Some(Box::new(Watched {
        planned: messages,
        sent: messages,
        confirmed,
        of_confirmed,
        of_unconfirmed,
        silent_clients: if of_confirmed.lost_silent > 0 {
            clients / 2
        } else {
            0
        },
        bystanders: if has_cut { clients / 2 } else { clients },
        same_node: latency(median_us, live / 2, slowest_ns),
        cross_node: latency(median_us * 2, live - live / 2, slowest_ns),
        bystander_latency: latency(median_us, live / 2, slowest_ns),
        timeline,
        ..Watched::default()
    }));
}

/// What became of the messages of a part, so many parts after a fault.
fn fates(
    fails: Fails,
    after: Option<usize>,
    sent: u64,
    (clients, hit): (u64, u64),
    silent_parts: usize,
) -> Fates {
    let others = sent * (clients - hit);
    let missed = sent * hit;
    let with = |change: &dyn Fn(&mut Fates)| {
        let mut fates = Fates {
            live: others,
            ..Fates::default()
        };
        change(&mut fates);
        fates
    };
    match (fails, after) {
        (Fails::Silently, Some(after)) if after < silent_parts => {
            with(&|of| of.lost_silent = missed)
        }
        (Fails::Cutting, Some(0)) => with(&|of| of.lost_cut = missed),
        (Fails::Cutting, Some(after)) if after < AWAY => with(&|of| of.lost_away = missed),
        (Fails::Cutting, Some(after)) if after < AWAY + JOINING => with(&|of| {
            of.lost_joining = missed / 10;
            of.live += missed - missed / 10;
        }),
        (Fails::Resuming, Some(after)) if after < AWAY => with(&|of| of.made_good = missed),
        _ => with(&|of| of.live += missed),
    }
}

/// A distribution around a median with one that is the slowest.
fn latency(median_us: u64, count: u64, slowest_ns: u64) -> Option<Latency> {
    let mut recorder = Recorder::default();
    let ordinary = count.checked_sub(1)?;
    for hundredth in 0..100 {
        let share = ordinary / 100 + u64::from(hundredth < ordinary % 100);
        recorder.record_n(median_us * (600 + 8 * hundredth), share);
    }
    recorder.record(slowest_ns.max(median_us * 1_400));
    recorder.latency()
}
