//! Clocks that are apart, and clocks that are not known well enough.

use super::{calmly, echo, open, plan, run_with};
use crate::cluster::ClockRelation;
use ::plan::{Load, Measure, Plan};
use record::{End, StepRecord, Verdict};
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer};

const fn apart(seconds: i64, bound_ns: u64) -> ClockRelation {
    ClockRelation {
        offset_ns: seconds * 1_000_000_000,
        bound_ns,
    }
}

fn slow_server() -> DelayServer {
    DelayServer::start(DelayOptions {
        delay: Delay::Constant(Duration::from_millis(20)),
        last_listener: Duration::from_millis(40),
        ..DelayOptions::default()
    })
    .unwrap()
}

/// Of clocks that are seconds apart, the figures are those of the known delays, as they are with
/// one clock.
#[test]
fn clocks_that_are_seconds_apart_change_no_figure() {
    for clocks in [
        [apart(0, 0), apart(0, 0)],
        [apart(70, 1000), apart(-30, 1000)],
    ] {
        for load in [Load::closed(2, 10), open(40.0)] {
            let server = slow_server();
            let plan = plan(server.addr()).with(|plan| {
                plan.load = load;
            });
            let measured = calmly(|| run_with(&plan, &clocks));
            assert_eq!(measured.outcome.end, End::StepsDone, "{measured:?}");
            let step = &measured.steps[0];
            assert!(step.passed(), "{:?}", step.verdict_reasons);
            let least = |measure| step.measured(measure).unwrap().min_ns;
            let most = |measure| step.measured(measure).unwrap().max_ns;
            assert!(least(Measure::Completion) >= 59_900_000);
            assert!(least(Measure::Delivery) >= 19_900_000);
            assert!(least(Measure::Ack) >= 19_900_000);
            // Nothing of the seconds that the clocks are apart, however slow the machine.
            assert!(most(Measure::Completion) < 20_000_000_000);
            assert!(most(Measure::Delivery) < 20_000_000_000);
            let offsets: Vec<i64> = step.sites.iter().map(|s| s.clock_offset_ns).collect();
            assert_eq!(offsets, clocks.map(|clock| clock.offset_ns));
        }
    }
}

fn step_with(bound_ns: u64, change: impl FnOnce(Plan) -> Plan) -> StepRecord {
    let server = slow_server();
    let plan = change(plan(server.addr()).with(|plan| {
        plan.load = Load::closed(4, 4);
    }));
    let measured = run_with(&plan, &[apart(0, 0), apart(1, bound_ns)]);
    measured.steps.into_iter().next().expect("a step")
}

#[test]
fn latencies_below_what_is_known_of_the_clocks_are_refused() {
    let refused = step_with(10_000_000_000, |plan| plan);
    assert_eq!(refused.verdict, Verdict::GeneratorLimited);
    let words = refused.verdict_reasons.join("; ");
    assert!(
        words.contains("the clocks of the sites are known to 10000000 us only"),
        "{words}"
    );
    assert!(step_with(1_000_000, |plan| plan).passed());
}

#[test]
fn what_one_site_measures_alone_needs_no_second_clock() {
    assert!(step_with(10_000_000_000, echo).passed());
    let ack = step_with(10_000_000_000, |mut plan| {
        plan.limits.of = Measure::Ack;
        plan
    });
    assert_eq!(ack.verdict, Verdict::Pass);
}
