//! A case made smaller while it breaks what it broke.

use super::case::Case;
use super::laws::Broken;
use plan::{Audience, Clients, Dialect, Io, Load, Nanos, Rooms, Steps, Timestamps};
use test_servers::Framework;
use test_servers::oracle::Strikes;

/// Carries a case out and returns the laws that it breaks.
pub(super) type Try<'a> = dyn FnMut(&Case) -> Vec<Broken> + 'a;

/// Makes a case smaller for as long as it breaks one of the laws that it broke, in so many tries.
pub(super) fn shrink(
    case: Case,
    broken: Vec<Broken>,
    tries: usize,
    attempt: &mut Try<'_>,
) -> (Case, Vec<Broken>) {
    let laws: Vec<&str> = broken.iter().map(|broken| broken.law).collect();
    let (mut best, mut best_broken, mut left) = (case, broken, tries);
    let mut is_smaller = true;
    while is_smaller {
        is_smaller = false;
        for step in STEPS {
            let mut smaller = best.clone();
            if left == 0 || !step(&mut smaller) || smaller.plan.validate().is_err() {
                continue;
            }
            left -= 1;
            let broken = attempt(&smaller);
            if broken.iter().any(|broken| laws.contains(&broken.law)) {
                (best, best_broken, is_smaller) = (smaller, broken, true);
            }
        }
    }
    (best, best_broken)
}

/// Makes a case smaller in one way; false where it is as small as that already.
type Smaller = fn(&mut Case) -> bool;

const STEPS: &[Smaller] = &[
    |case| change(&mut case.processes, 1),
    |case| one_step(case),
    |case| change(&mut case.plan.generator.threads, 1),
    |case| change(&mut case.plan.connection.compression, None),
    |case| change(&mut case.plan.connection.fragment, None),
    |case| {
        let lines = change(&mut case.has_lines, false);
        let sizes = case.plan.message.sizes.take().is_some();
        change(&mut case.plan.message.padding, 64) | lines | sizes
    },
    |case| change(&mut case.server.lost, Strikes::default()),
    |case| change(&mut case.server.duplicate, Strikes::default()),
    |case| change(&mut case.server.corrupt, Strikes::default()),
    |case| change(&mut case.server.misdirected, Strikes::default()),
    |case| change(&mut case.server.unanswered, Strikes::default()),
    |case| change(&mut case.server.ignored, Strikes::default()),
    |case| change(&mut case.server.closes_door, None),
    |case| change(&mut case.server.asks, 0),
    |case| change(&mut case.server.feed, None),
    |case| change(&mut case.server.parts, None),
    |case| without_population(case, 0),
    |case| without_population(case, 1),
    |case| without_population(case, 2),
    |case| {
        let server = &case.server;
        if server.passes_sender_over || server.acknowledges_nothing {
            return false;
        }
        let changed = change(&mut case.plan.message.dialect, Dialect::Text);
        if changed {
            case.server.framework = Framework::Plain;
            case.plan.message.definition = None;
            (case.server.silence, case.server.asks) = (None, 0);
            (case.server.feed, case.server.parts) = (None, None);
            let scheme = if case.plan.target.is_secure() {
                "wss"
            } else {
                "ws"
            };
            case.plan.target.url = format!("{scheme}://127.0.0.1:1/");
        }
        changed
    },
    |case| {
        let is_secure = case.plan.target.is_secure();
        case.plan.target.url = case.plan.target.url.replacen("wss:", "ws:", 1);
        is_secure
    },
    |case| match &mut case.plan.load {
        Load::Open(open) => {
            let ramp = open.ramp.take().is_some();
            change(&mut open.warm_up, Nanos(0)) | ramp
        }
        _ => false,
    },
    |case| change(&mut case.plan.limits.back, None),
    |case| match case.plan.audience {
        Audience::Room(Rooms::Zipf(zipf)) => {
            case.plan.audience = Audience::Room(Rooms::Equal(zipf.rooms));
            true
        }
        _ => false,
    },
    |case| change(&mut case.plan.generator.io, Io::Epoll),
    |case| change(&mut case.plan.generator.timestamps, Timestamps::User),
    |case| change(&mut case.plan.connection.at_once, 50),
    fewer_clients,
    less_load,
];

fn change<T: PartialEq>(value: &mut T, to: T) -> bool {
    let changes = *value != to;
    *value = to;
    changes
}

fn one_step(case: &mut Case) -> bool {
    match &mut case.plan.clients {
        Clients::Steps(Steps { count, .. }) => change(count, Some(1)),
        Clients::Search(_) => false,
    }
}

fn without_population(case: &mut Case, number: usize) -> bool {
    let populations = &mut case.plan.populations;
    let removes = number < populations.len() && populations.len() > 1;
    if removes {
        populations.remove(number);
    }
    removes
}

fn fewer_clients(case: &mut Case) -> bool {
    match &mut case.plan.clients {
        Clients::Steps(Steps { first, .. }) if *first > 1 => {
            *first /= 2;
            true
        }
        Clients::Steps(_) | Clients::Search(_) => false,
    }
}

fn less_load(case: &mut Case) -> bool {
    match &mut case.plan.load {
        Load::Closed(closed) if closed.samples > 1 => {
            closed.samples /= 2;
            closed.in_flight = closed.in_flight.min(closed.samples);
            true
        }
        Load::Open(open) if open.duration > Nanos::millis(300) => {
            open.duration = Nanos(open.duration.ns() / 2);
            true
        }
        _ => false,
    }
}
