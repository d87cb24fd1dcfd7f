//! Faults of a server are counted exactly, whichever site they are seen at.

use super::{calmly, closed, open, plan, run};
use ::plan::{Audience, Clients, Load, Nanos, Plan};
use record::{End, Faults};
use test_servers::fault::{Fault, FaultServer};

fn against(fault: Fault, count: u64, sites: usize, change: impl Fn(&mut Plan)) -> (End, Faults) {
    let measured = calmly(|| {
        let server = FaultServer::start(fault, count).unwrap();
        let mut plan = plan(server.addr());
        plan.limits.time = Nanos::secs(2);
        plan.limits.sample_timeout = Nanos::secs(3);
        change(&mut plan);
        run(&plan, sites)
    });
    let mut all = Faults::default();
    measured
        .steps
        .iter()
        .for_each(|step| all.merge(&step.faults));
    (measured.outcome.end, all)
}

#[test]
fn drops_are_lost() {
    for sites in [2, 3] {
        let (end, faults) = against(Fault::Drops, 4, sites, |plan| {
            plan.load = Load::closed(4, 4)
        });
        assert_eq!(end, End::TimedOut);
        let lost = Faults {
            lost: 4,
            ..Faults::default()
        };
        assert_eq!(faults, lost);
    }
}

#[test]
fn second_copies_are_duplicates_in_both_loops() {
    for load in [closed(), open(100.0)] {
        let (end, faults) = against(Fault::Duplicates, 7, 2, |plan| {
            plan.load = load.clone();
        });
        assert_eq!(end, End::StepsDone);
        let duplicates = Faults {
            duplicate: 7,
            ..Faults::default()
        };
        assert_eq!(faults, duplicates);
    }
}

#[test]
fn changed_payloads_are_corrupt() {
    let (_, faults) = against(Fault::Corrupts, 9, 2, |_| {});
    let corrupt = Faults {
        corrupt: 9,
        ..Faults::default()
    };
    assert_eq!(faults, corrupt);
}

/// A swap is seen by the clients of both sites, of which only one has the sender.
#[test]
fn swapped_broadcasts_are_reordered() {
    for load in [Load::closed(16, 200), open(2000.0)] {
        let (_, faults) = against(Fault::Reorders, 3, 2, |plan| {
            plan.clients = Clients::steps(2, 10, Some(1));
            plan.load = load.clone();
        });
        let reordered = Faults {
            reordered: 3,
            ..Faults::default()
        };
        assert_eq!(faults, reordered);
    }
}

#[test]
fn an_echo_to_another_site_is_misdirected_and_missed() {
    let (_, faults) = against(Fault::Misdelivers, 2, 2, |plan| {
        plan.audience = Audience::Sender;
        plan.load = Load::closed(2, 2);
    });
    let misdirected = Faults {
        misdirected: 2,
        lost: 2,
        ..Faults::default()
    };
    assert_eq!(faults, misdirected);
}
