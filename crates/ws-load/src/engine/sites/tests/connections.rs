//! Connections that are opened and held by several sites.

use super::{Field, calmly, plan};
use crate::site::ClockRelation;
use run_record::{Arrivals, Connecting, Drops, End, Plan, Workload};
use test_servers::{NullOptions, NullServer};

/// The clocks of the sites are seconds apart, from the coordinator's and from each other's.
const SITES: [ClockRelation; 2] = [
    ClockRelation {
        offset_ns: 5_000_000_000,
        bound_ns: 1000,
    },
    ClockRelation {
        offset_ns: -9_000_000_000,
        bound_ns: 1000,
    },
];

#[test]
fn each_site_opens_and_holds_its_share() {
    for rate in [None, Some(200.0)] {
        let measured = calmly(|| {
            let server = NullServer::start(NullOptions::default()).unwrap();
            let plan = Plan {
                workload: Workload::Connect,
                connect: Some(Connecting {
                    rate,
                    arrivals: Arrivals::Constant,
                    hold_ns: 1_500_000_000,
                    ping_interval_ns: 1_500_000_000,
                    ping_timeout_ns: 3_000_000_000,
                }),
                initial_clients: 20,
                step_size: 11,
                total_steps: Some(2),
                threads: 2,
                ..plan(server.addr())
            };
            Field::new(&plan, &SITES).run(&plan, &false.into(), &mut |_| {})
        });
        assert_eq!(measured.outcome.end, End::StepsDone, "{measured:?}");
        for (step, (clients, added)) in measured.steps.iter().zip([(20, 20), (31, 11)]) {
            let of = step
                .connections
                .as_deref()
                .expect("a connect step has them");
            assert_eq!(
                (step.clients, of.planned, of.opened),
                (clients, added, added)
            );
            assert_eq!(step.completion.as_ref().unwrap().count, added);
            assert!(of.pings.sent >= clients, "{:?}", of.pings);
            assert_eq!(of.pings.answered, of.pings.sent);
            assert_eq!(of.drops, Drops::default());
            // A rate that the seconds between the clocks were part of would be below four.
            assert!(of.opened_per_second > 5.0, "{}", of.opened_per_second);
            let shares: Vec<u64> = step.sites.iter().map(|site| site.clients).collect();
            assert_eq!(shares, [clients.div_ceil(2), clients / 2]);
        }
    }
}
