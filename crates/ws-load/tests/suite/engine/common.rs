//! Plans against test servers.

use plan::{Backoff, Clients, Io, Load, Nanos, Plan, Reconnect, Timestamps, Watch};
use record::{End, Fates, Watched};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};
use ws_load::Measured;

/// Where none listens: the system gives no listener a port below 1024 by itself.
pub(crate) const CLOSED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

/// A short broadcast against `addr`: two steps of ten clients each.
pub(crate) fn plan(addr: SocketAddr, io: Io, timestamps: Timestamps) -> Plan {
    Plan::new(format!("ws://{addr}/ws")).with(|plan| {
        plan.load = Load::closed(4, 20);
        plan.clients = Clients::steps(10, 10, Some(2));
        plan.message.padding = 200;
        // Longer than any pause of a busy machine.
        plan.limits.time = Nanos::secs(20);
        plan.limits.sample_timeout = Nanos::secs(30);
        plan.connection.timeout = Nanos::secs(20);
        plan.generator.io = io;
        plan.generator.timestamps = timestamps;
        plan.generator.seed = 11;
    })
}

/// The plan with messages that are watched: a hundred a second for so long, in one step of so many
/// clients, which come back within a moment.
pub(crate) fn watching(plan: Plan, clients: u32, duration: Nanos) -> Plan {
    plan.with(|plan| {
        plan.load = Load::Watch(Watch {
            rate: 100.0,
            duration,
            // Longer than any pause of a busy machine.
            patience: Nanos::secs(10),
        });
        plan.clients = Clients::steps(clients, 0, Some(1));
        plan.populations[0].reconnect = Reconnect::Backoff(Backoff {
            first: Nanos::millis(50),
            most: Nanos::millis(100),
            ..Backoff::default()
        });
        plan.generator.threads = 3;
    })
}

/// All deliveries of a watched step by what became of them.
pub(crate) fn fates(of: &Watched) -> Fates {
    let mut all = of.of_confirmed;
    all.add(of.of_unconfirmed);
    all
}

/// Runs a plan to its end.
pub(crate) fn run(plan: &Plan) -> Measured {
    ws_load::run(plan, &AtomicBool::new(false), &mut |_| {}).expect("the target is usable")
}

/// The same, and anew, nine times at most, where this machine let no open loop keep to its schedule: a
/// test that is about something else has nothing to say of such a run.
pub(crate) fn run_undisturbed(plan: &Plan) -> Measured {
    for _ in 0..9 {
        let measured = run(plan);
        let at_fault = measured.steps.iter().any(|step| !step.faults.is_empty());
        if at_fault || measured.outcome.end != End::GeneratorLimited {
            return measured;
        }
    }
    run(plan)
}

/// Waits until `condition` holds.
// timed: polls; the end is only for a hang.
#[track_caller]
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !condition() {
        assert!(Instant::now() < end, "never: {what}");
        sleep(Duration::from_millis(5));
    }
}

/// `io` where it can be had here. Else the test is told as skipped, and runs on epoll, where a
/// failure would be one.
pub(crate) fn or_epoll(io: Io, timestamps: Timestamps) -> Io {
    match io {
        Io::Epoll => Io::Epoll,
        Io::Uring => match ws_load::probe_io_uring(timestamps) {
            Ok(()) => Io::Uring,
            Err(reason) => {
                test_servers::skipped(&format!("io_uring is not available here: {reason}"));
                Io::Epoll
            }
        },
    }
}
