//! What a step says after a cut, by who was back and when.

use crate::judge::{assert_says, busy, of, open, over, passing, sending};
use plan::{BackLimit, Cut, Life, Nanos, Plan, Population, Reconnect};
use record::{Churn, CutRecord, Recorder, StepRecord, Verdict};

/// A cut after a second; so many percent are to be back within another one.
fn storm(percentile: Option<f64>) -> Plan {
    open().with(|plan| {
        plan.populations = vec![
            Population::default(),
            Population {
                life: Life::Cut(Cut { at: Nanos::secs(1) }),
                ..Population::default()
            },
        ];
        plan.limits.back = percentile.map(|percentile| BackLimit {
            percentile,
            time: Nanos::secs(1),
        });
    })
}

/// So many of thirty were back, each after this time.
fn after_cut(step: StepRecord, back: u64, took_ms: u64) -> StepRecord {
    let mut came = Recorder::default();
    came.record_n(took_ms * 1_000_000, back);
    let cut = CutRecord {
        at_ns: 1_000_000_000,
        clients: 30,
        back,
        back_100_ns: (back == 30).then_some(took_ms * 1_000_000),
        back_time: came.latency(),
        ..CutRecord::default()
    };
    StepRecord {
        elapsed_ns: 6_000_000_000,
        churn: Some(Box::new(Churn {
            attempts: 50,
            unfinished: 3,
            cut: Some(cut),
            ..Churn::default()
        })),
        ..step
    }
}

fn lagging(mut step: StepRecord, attempts_ms: u64, generator_ms: u64) -> StepRecord {
    let churn = step.churn.as_mut().unwrap();
    churn.attempt_lag = of(attempts_ms * 1_000_000);
    churn.generator_lag = of(generator_ms * 1_000_000);
    step
}

#[test]
fn a_storm_is_carried_when_all_are_back_before_the_step_ends() {
    let of = |back| after_cut(passing(), back, 4_000);
    assert_says(&of(30), &storm(None), Verdict::Pass, &[]);
    for back in [0, 29] {
        let words = format!(
            "{back} of 30 clients that were cut off were back when the step ended, 5000 ms after the \
             cut, and all were to be; how long the others take is not known; of 50 attempts 0 failed \
             and 3 were under way"
        );
        assert_says(&of(back), &storm(None), Verdict::Fail, &[&words]);
    }
    let over = after_cut(over(), 29, 10);
    assert_says(&over, &storm(None), Verdict::Fail, &["95th", "29 of 30"]);
    let never = storm(None).with(|plan| plan.populations[1].reconnect = Reconnect::Never);
    assert_says(&of(0), &never, Verdict::Pass, &[]);
}

#[test]
fn a_limit_says_how_many_are_to_be_back_by_when() {
    let of = |back, took_ms| after_cut(passing(), back, took_ms);
    for (percentile, back) in [(100.0, 30), (95.0, 29), (50.0, 15)] {
        let plan = storm(Some(percentile));
        assert_says(&of(back, 900), &plan, Verdict::Pass, &[]);
        let fewer = format!("{} of 30 clients", back - 1);
        assert_says(&of(back - 1, 900), &plan, Verdict::Fail, &[&fewer]);
        assert_says(
            &of(back, 1_100),
            &plan,
            Verdict::Fail,
            &["above the limit of 1000 ms"],
        );
    }
    let words = "all of the 30 clients that were cut off were back after 1100 ms";
    assert_says(&of(30, 1_100), &storm(Some(100.0)), Verdict::Fail, &[words]);
    let words = "and 95% were to be within 1000 ms";
    assert_says(&of(20, 900), &storm(Some(95.0)), Verdict::Fail, &[words]);
}

#[test]
fn a_late_generator_is_told_and_excuses_what_would_have_been_in_time_without_it() {
    let plan = storm(Some(100.0));
    let of = |took_ms, attempts_ms, generator_ms| {
        lagging(after_cut(passing(), 30, took_ms), attempts_ms, generator_ms)
    };
    let late = "began attempts to come back up to 400 ms late, more than a tenth of the";
    let above = "above the limit of 1000 ms";
    let limited = Verdict::GeneratorLimited;
    assert_says(&of(1_200, 400, 400), &plan, limited, &[late, above]);
    assert_says(&of(1_200, 100, 100), &plan, Verdict::Fail, &[above]);
    assert_says(&of(3_000, 400, 400), &plan, Verdict::Fail, &[above]);
    assert_says(&of(900, 400, 400), &plan, Verdict::Pass, &[late]);
    // The places are the plan's.
    let places = "attempts began up to 400 ms late, with 50 at once (connection.at_once)";
    assert_says(&of(1_200, 400, 0), &plan, Verdict::Fail, &[places]);
    let busy = busy(after_cut(passing(), 0, 0));
    assert_says(&busy, &plan, limited, &["busiest thread", "0 of 30"]);
    // Requests that are late explain none that are not back.
    let sends = sending(after_cut(passing(), 0, 0), 1_000, 60_000_000);
    assert_says(&sends, &plan, Verdict::Fail, &["0 of 30"]);
}
