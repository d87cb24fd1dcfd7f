//! What a step says, figure by figure.

use crate::support::{plan, step};
use ::plan::{Arrivals, Audience, Connect, Load, Measure, Nanos, OpenLoop, Plan, Timestamps};
use record::{
    AttemptFailures, Backpressure, Churn, Faults, GeneratorUse, InFlight, Judgement, Latency,
    Recorder, SiteUse, SlowReaders, StepRecord, Throughput, Verdict, judge, judge_interrupted,
    kept_too_much, remedy,
};

/// The latencies of a step end in 100 ms, and the limit is 500 ms.
const LIMIT_NS: u64 = 500_000_000;

pub(crate) fn of(ns: u64) -> Option<Latency> {
    let mut recorder = Recorder::default();
    recorder.record_n(ns, 100);
    recorder.latency()
}

pub(crate) fn passing() -> StepRecord {
    StepRecord {
        in_flight: Some(InFlight::new(4.0, 40e-9, 100e6, 0.0)),
        generator: GeneratorUse {
            busiest_thread: 0.5,
            reads: 1000,
            messages: 5000,
            ..GeneratorUse::default()
        },
        ..step(10)
    }
}

pub(crate) fn over() -> StepRecord {
    StepRecord {
        over_limit: true,
        limited_ns: Some(LIMIT_NS + 1_000_000),
        completion: of(LIMIT_NS + 1_000_000),
        ..passing()
    }
}

fn timed_out() -> StepRecord {
    StepRecord {
        samples: 60,
        timed_out: true,
        faults: Faults {
            lost: 40,
            unanswered: 4,
            ..Faults::default()
        },
        in_flight: None,
        ..passing()
    }
}

pub(crate) fn busy(step: StepRecord) -> StepRecord {
    StepRecord {
        generator: GeneratorUse {
            busiest_thread: 0.95,
            ..step.generator
        },
        ..step
    }
}

pub(crate) fn sending(step: StepRecord, sent: u64, lag_ns: u64) -> StepRecord {
    StepRecord {
        samples_planned: 1000,
        samples: 1000,
        sent: Some(sent),
        send_lag: of(lag_ns),
        ..step
    }
}

fn reading(step: StepRecord, change: impl FnOnce(&mut GeneratorUse)) -> StepRecord {
    let mut step = step;
    change(&mut step.generator);
    step
}

fn kernel() -> Plan {
    let mut plan = plan();
    plan.generator.timestamps = Timestamps::Kernel;
    plan
}

pub(crate) fn open() -> Plan {
    Plan {
        load: Load::Open(OpenLoop {
            rate: 100.0,
            ramp: None,
            arrivals: Arrivals::Constant,
            duration: Nanos::secs(10),
            warm_up: Nanos(0),
        }),
        ..kernel()
    }
}

fn late_reader() -> StepRecord {
    reading(over(), |generator| generator.receive_lag = of(60_000_000))
}

fn unread(step: StepRecord, unread_ns: f64) -> StepRecord {
    let throughput = 4.0 / (100e6 + unread_ns);
    let law = InFlight::new(4.0, throughput, 100e6, unread_ns);
    StepRecord {
        in_flight: Some(InFlight { unread_ns, ..law }),
        ..step
    }
}

/// The verdict, and words of each of its reasons in their order.
#[track_caller]
pub(crate) fn assert_says(step: &StepRecord, plan: &Plan, verdict: Verdict, words: &[&str]) {
    let judged = judge(step, plan, None);
    let said = judged.reasons.join("\n");
    assert_eq!(
        (judged.verdict, judged.reasons.len()),
        (verdict, words.len()),
        "{said}"
    );
    for (reason, words) in judged.reasons.iter().zip(words) {
        assert!(reason.contains(words), "{words:?} in {reason:?}");
    }
}

#[test]
fn the_servers_own_doing_is_its_success_or_failure() {
    assert_says(&passing(), &plan(), Verdict::Pass, &[]);
    let words = "the 95th percentile is 501 ms, above the limit of 500 ms";
    assert_says(&over(), &plan(), Verdict::Fail, &[words]);
    let words = "60 of 100 samples were complete when one had taken 30000 ms";
    assert_says(&timed_out(), &plan(), Verdict::Fail, &[words]);
    for fault in [
        |faults: &mut Faults| faults.duplicate = 1,
        |faults: &mut Faults| faults.corrupt = 1,
        |faults: &mut Faults| faults.lost = 1,
        |faults: &mut Faults| faults.disconnected = 1,
    ] {
        let mut step = busy(passing());
        fault(&mut step.faults);
        assert_says(&step, &plan(), Verdict::Fail, &["faults: 1 "]);
    }
}

#[test]
fn a_busy_generator_excuses_a_failure_and_takes_no_success() {
    let words = "busiest thread used 95% of a core";
    for broken in [over(), timed_out()] {
        assert_says(&busy(broken), &plan(), Verdict::GeneratorLimited, &[words]);
    }
    assert_says(&busy(passing()), &plan(), Verdict::Pass, &[words]);
    let burst = StepRecord {
        elapsed_ns: 49_000_000,
        ..busy(over())
    };
    assert_says(&burst, &plan(), Verdict::Fail, &["95th"]);
}

#[test]
fn a_load_that_was_not_sent_says_nothing_even_within_the_limit() {
    let words = "only 98.9% of the planned requests went out in time (989 of 1000)";
    for lacking in [passing(), over()] {
        let step = sending(lacking, 989, 0);
        assert_says(&step, &open(), Verdict::GeneratorLimited, &[words]);
    }
    assert_says(&sending(passing(), 990, 0), &open(), Verdict::Pass, &[]);
}

#[test]
fn lag_counts_above_a_tenth_of_what_is_reported_where_it_is_part_of_it() {
    let late = |ns| sending(over(), 1000, ns);
    let words = "the generator sent up to 60 ms late";
    assert_says(
        &late(60_000_000),
        &open(),
        Verdict::GeneratorLimited,
        &[words],
    );
    assert_says(&late(40_000_000), &open(), Verdict::Fail, &["95th"]);
    let words = "the generator read up to 60 ms late";
    assert_says(&late_reader(), &plan(), Verdict::GeneratorLimited, &[words]);
    assert_says(&late_reader(), &kernel(), Verdict::Fail, &["95th"]);
    let far_above = StepRecord {
        limited_ns: Some(LIMIT_NS + 61_000_000),
        ..late_reader()
    };
    assert_says(&far_above, &plan(), Verdict::Fail, &["561 ms"]);
    let frozen = StepRecord {
        completion: of(200_000),
        send_lag: of(400_000),
        ..timed_out()
    };
    assert_says(&frozen, &open(), Verdict::Fail, &["60 of 100"]);
    let quick = StepRecord {
        completion: of(200_000),
        ..late(90_000)
    };
    assert_says(&quick, &open(), Verdict::Fail, &["95th"]);
}

#[test]
fn a_load_near_the_known_ceiling_is_the_generators() {
    // 5,000 messages in 2.5 s.
    let said = |ceiling| judge(&over(), &plan(), Some(ceiling)).verdict;
    assert_eq!(said(2400.0), Verdict::GeneratorLimited);
    assert_eq!(said(2600.0), Verdict::Fail);
    assert_eq!(
        judge(&passing(), &plan(), Some(2400.0)).verdict,
        Verdict::Pass
    );
}

#[test]
fn figures_without_a_footing_are_noisy() {
    let stepped = reading(passing(), |generator| generator.clock_steps = 1);
    assert_says(&stepped, &kernel(), Verdict::Noisy, &["realtime clock"]);
    assert_says(&stepped, &plan(), Verdict::Pass, &[]);
    let unstamped = |reads| reading(passing(), |generator| generator.unstamped_reads = reads);
    let words = "no stamp for 1.1% of the reads";
    assert_says(&unstamped(11), &kernel(), Verdict::Noisy, &[words]);
    assert_says(&unstamped(10), &kernel(), Verdict::Pass, &[]);
    let law = |seen| StepRecord {
        in_flight: Some(InFlight::new(seen, 40e-9, 100e6, 0.0)),
        ..over()
    };
    let words = "4.240 requests were in flight and not 4.000";
    assert_says(&law(4.24), &plan(), Verdict::Noisy, &[words]);
    assert_says(&law(3.82), &plan(), Verdict::Fail, &["95th"]);
    let cut = StepRecord {
        samples: 99,
        ..passing()
    };
    assert_says(&cut, &plan(), Verdict::Noisy, &["99 of 100 samples"]);
}

#[test]
fn a_late_reader_of_a_closed_loop_cannot_tell_near_the_limit() {
    let near = |unread_ns| {
        unread(
            StepRecord {
                limited_ns: Some(LIMIT_NS - 10_000_000),
                ..passing()
            },
            unread_ns,
        )
    };
    let words = "read answers 11 ms late on average";
    assert_says(&near(11e6), &kernel(), Verdict::GeneratorLimited, &[words]);
    assert_says(&near(9e6), &kernel(), Verdict::Pass, &[]);
    assert_says(&near(11e6), &open(), Verdict::Pass, &[]);
}

#[test]
fn nothing_in_flight_deviates_from_nothing() {
    assert_eq!(InFlight::new(0.0, 0.0, 0.0, 0.0).deviation, 0.0);
    let Judgement { verdict, reasons } = judge(&step(1), &plan(), None);
    assert_eq!((verdict, reasons.len()), (Verdict::Pass, 0));
}

fn on_sites(step: StepRecord, bounds_ns: &[u64]) -> StepRecord {
    let sites = bounds_ns
        .iter()
        .enumerate()
        .map(|(number, bound_ns)| SiteUse {
            name: format!("host-{number}").into(),
            busiest_thread: 0.1 * (number + 1) as f64,
            clock_bound_ns: *bound_ns,
            ..SiteUse::default()
        });
    StepRecord {
        sites: sites.collect(),
        ..step
    }
}

/// Medians of the step are 50 ms.
#[test]
fn a_latency_between_sites_must_be_above_what_is_known_of_their_clocks() {
    let verdict =
        |bounds_ns: &[u64], plan: &Plan| judge(&on_sites(passing(), bounds_ns), plan, None);
    for known in [
        &[][..],
        &[60_000_000],
        &[0, 49_000_000, 0],
        &[24_000_000; 3],
    ] {
        assert_eq!(verdict(known, &plan()).verdict, Verdict::Pass, "{known:?}");
    }
    for unknown in [&[0, 51_000_000, 0][..], &[26_000_000; 2]] {
        let refused = verdict(unknown, &plan());
        assert_eq!(refused.verdict, Verdict::GeneratorLimited);
        assert!(refused.reasons[0].contains("known to 5"), "{refused:?}");
    }
    let mut ack = plan();
    ack.limits.of = Measure::Ack;
    let echo = Plan {
        audience: Audience::Sender,
        ..plan()
    };
    for plan in [ack, echo] {
        assert_eq!(verdict(&[90_000_000; 2], &plan).verdict, Verdict::Pass);
    }
    let faulty = StepRecord {
        faults: Faults {
            duplicate: 1,
            ..Faults::default()
        },
        ..on_sites(passing(), &[90_000_000; 2])
    };
    assert_eq!(judge(&faulty, &plan(), None).verdict, Verdict::Fail);
}

#[test]
fn the_worker_that_was_the_limit_is_named() {
    let judged = judge(&on_sites(busy(over()), &[0; 3]), &plan(), None);
    assert_eq!(judged.verdict, Verdict::GeneratorLimited);
    let words = "worker host-2's busiest thread used 95% of a core";
    assert_eq!(judged.reasons, [words]);

    let mut behind = sending(on_sites(passing(), &[0; 2]), 900, 0);
    for (site, sent) in behind.sites.iter_mut().zip([499, 401]) {
        (site.sent, site.samples_planned) = (Some(sent), Some(500));
    }
    let judged = judge(&behind, &open(), None);
    assert_eq!(judged.verdict, Verdict::GeneratorLimited);
    assert!(
        judged.reasons[0].contains("900 of 1000, at worker host-1 401 of 500"),
        "{judged:?}"
    );
}

/// Messages that came in one read may have arrived up to 90 ms before its stamp.
fn sharing(step: StepRecord, at_least_ns: u64) -> StepRecord {
    let mut errors = Recorder::default();
    errors.record_n(90_000_000, 7);
    StepRecord {
        limited_at_least_ns: Some(at_least_ns),
        generator: GeneratorUse {
            shared_stamps: errors.latency(),
            ..step.generator
        },
        ..step
    }
}

#[test]
fn a_limit_that_is_broken_only_by_shared_stamps_says_nothing_of_the_server() {
    let said = judge(&sharing(over(), LIMIT_NS - 20_000_000), &plan(), None);
    assert_eq!(said.verdict, Verdict::GeneratorLimited);
    let words = said.reasons.join("; ");
    for part in ["between 480 ms and 501 ms", "500 ms", "7 messages", "90 ms"] {
        assert!(words.contains(part), "{part} in {words}");
    }
    let exactly = judge(&sharing(over(), LIMIT_NS), &plan(), None);
    assert_eq!(exactly.verdict, Verdict::GeneratorLimited);
}

#[test]
fn a_limit_that_is_broken_at_least_is_the_servers() {
    let said = judge(&sharing(over(), LIMIT_NS + 500_000), &plan(), None);
    assert_eq!(said.verdict, Verdict::Fail);
}

#[test]
fn a_limit_that_is_kept_at_most_is_kept() {
    let said = judge(&sharing(passing(), 1), &plan(), None);
    assert_eq!((said.verdict, said.reasons.len()), (Verdict::Pass, 0));
}

#[test]
fn a_step_that_was_interrupted_says_so_unless_the_server_was_at_fault() {
    // Neither the limit nor a busy generator says anything of a step that was broken off.
    let broken_off = StepRecord {
        samples: 7,
        generator: GeneratorUse {
            busiest_thread: 1.0,
            ..GeneratorUse::default()
        },
        ..over()
    };
    assert_eq!(
        judge_interrupted(&broken_off),
        Judgement {
            verdict: Verdict::Interrupted,
            reasons: vec!["it was ended after 7 of 100 samples".into()],
        }
    );
    let faults = Faults {
        corrupt: 1,
        ..Faults::default()
    };
    let at_fault = StepRecord {
        faults,
        ..broken_off
    };
    assert_eq!(judge_interrupted(&at_fault).verdict, Verdict::Fail);
}

#[test]
fn a_server_that_floods_without_a_message_is_not_excused_by_a_busy_generator() {
    let timed_out = |received: u64| StepRecord {
        timed_out: true,
        samples: 0,
        throughput: Some(Throughput {
            received,
            received_bytes: 80_000_000,
            ..Throughput::default()
        }),
        generator: GeneratorUse {
            busiest_thread: 0.95,
            ..GeneratorUse::default()
        },
        ..over()
    };
    let flooded = judge(&timed_out(0), &plan(), None);
    assert_eq!(flooded.verdict, Verdict::Fail);
    let words = flooded.reasons.join("; ");
    assert!(
        words.contains("80.0 MB of frames meanwhile and not one message"),
        "{words}"
    );
    let busy = judge(&timed_out(1), &plan(), None);
    assert_eq!(busy.verdict, Verdict::GeneratorLimited);
}

#[test]
fn a_mebibyte_of_frames_is_not_yet_a_flood() {
    let after = |received_bytes: u64| StepRecord {
        throughput: Some(Throughput {
            received_bytes,
            ..Throughput::default()
        }),
        ..busy(timed_out())
    };
    let verdict = |bytes| judge(&after(bytes), &plan(), None).verdict;
    assert_eq!(verdict(1 << 20), Verdict::GeneratorLimited);
    assert_eq!(verdict((1 << 20) + 1), Verdict::Fail);
}

#[test]
fn what_the_server_did_not_take_is_its_own_doing() {
    let blocked = |late, step| StepRecord {
        backpressure: Some(Backpressure { late, unsent: 7 }),
        ..sending(step, 900, 0)
    };
    assert_says(&blocked(90, passing()), &open(), Verdict::Pass, &[]);
    let words = "only 90.0% of the planned requests went out in time (900 of 1000)";
    let generators = blocked(89, passing());
    assert_says(&generators, &open(), Verdict::GeneratorLimited, &[words]);
    let words = "the server did not take 90 of 1000 requests in time, 7 of them not at all: it did \
                 not read, and its connections were full (backpressure); the 95th percentile is";
    assert_says(&blocked(90, over()), &open(), Verdict::Fail, &[words]);
}

#[test]
fn what_a_server_keeps_for_a_slow_client_is_its_doing_above_the_limit() {
    let plan = plan().with(|plan| plan.limits.kept_bytes = Some(2_500_000));
    let keeping = |bytes| StepRecord {
        slow_readers: Some(SlowReaders {
            clients: 1,
            most_kept_bytes: Some(bytes),
            ..SlowReaders::default()
        }),
        ..passing()
    };
    assert_eq!(kept_too_much(&keeping(2_500_000), &plan), None);
    let words = kept_too_much(&keeping(3_500_000), &plan).unwrap();
    assert!(words.contains("kept 3.5 MB"), "{words}");
    assert!(words.contains("limit of 2.5 MB"), "{words}");
    let unlimited = plan.with(|plan| plan.limits.kept_bytes = None);
    assert_eq!(kept_too_much(&keeping(3_500_000), &unlimited), None);
}

#[test]
fn attempts_that_failed_for_want_of_a_port_excuse_a_failure() {
    let after = |machine| StepRecord {
        churn: Some(Box::new(Churn {
            attempts: 9,
            failures: AttemptFailures {
                machine,
                ..AttemptFailures::default()
            },
            ..Churn::default()
        })),
        ..over()
    };
    assert_says(&after(0), &plan(), Verdict::Fail, &["95th"]);
    let words = "1 of 9 attempts to reconnect failed";
    assert_says(&after(1), &plan(), Verdict::GeneratorLimited, &[words]);
    let words = "2 of 9 attempts to reconnect failed";
    assert_says(&after(2), &plan(), Verdict::GeneratorLimited, &[words]);
}

/// At its edge each excuse is still none.
#[test]
fn an_excuse_begins_above_its_bound() {
    let at = |p99_ns, reported_ns| {
        let set = |ns, p99_ns| {
            Some(Latency {
                p99_ns,
                ..of(ns).unwrap()
            })
        };
        StepRecord {
            completion: set(100_000, reported_ns),
            ..StepRecord {
                send_lag: set(100_000, p99_ns),
                ..sending(over(), 1000, 0)
            }
        }
    };
    assert_says(&at(100_000, 200_000), &open(), Verdict::Fail, &["95th"]);
    let words = "sent up to 100 us late (99th percentile), more than a tenth of the 200 us";
    let beyond = at(100_001, 200_000);
    assert_says(&beyond, &open(), Verdict::GeneratorLimited, &[words]);
    let tenth = at(50_000_000, 500_000_000);
    assert_says(&tenth, &open(), Verdict::Fail, &["95th"]);
    let busy = reading(over(), |generator| generator.busiest_thread = 0.9);
    assert_says(&busy, &plan(), Verdict::Fail, &["95th"]);
    // 5,000 messages in 2.5 s.
    let near = judge(&over(), &plan(), Some(2500.0));
    assert_eq!(near.verdict, Verdict::Fail);
    let law = InFlight::new(4.0, 40e-9, 100e6, 0.0);
    let little = StepRecord {
        in_flight: Some(InFlight {
            deviation: 0.05,
            ..law
        }),
        ..over()
    };
    assert_says(&little, &plan(), Verdict::Fail, &["95th"]);
    let known = passing().completion.unwrap().p50_ns;
    let clocks = on_sites(passing(), &[known, 0]);
    assert_says(&clocks, &plan(), Verdict::Pass, &[]);
    let spared = StepRecord {
        limited_ns: Some(LIMIT_NS - 10_000_000),
        ..passing()
    };
    assert_says(&unread(spared, 10e6), &kernel(), Verdict::Pass, &[]);
}

#[test]
fn lateness_is_told_of_the_worker_that_sent_and_of_the_generator_that_read() {
    let sites = |step, lags_ns: [Option<u64>; 3]| {
        let mut step = on_sites(step, &[0; 3]);
        for (site, lag_ns) in step.sites.iter_mut().zip(lags_ns) {
            site.send_lag_p99_ns = lag_ns;
        }
        step
    };
    let lags = [Some(9_000_000), Some(60_000_000), None];
    let sent = sites(sending(over(), 1000, 60_000_000), lags);
    let words = "the generator, at its latest the worker host-1, sent up to 60 ms late";
    assert_says(&sent, &open(), Verdict::GeneratorLimited, &[words]);
    let words = "the generator read up to 60 ms late";
    let read = sites(late_reader(), lags);
    assert_says(&read, &plan(), Verdict::GeneratorLimited, &[words]);
    let unknown = sites(sending(over(), 1000, 60_000_000), [None; 3]);
    let words = "the generator sent up to 60 ms late";
    assert_says(&unknown, &open(), Verdict::GeneratorLimited, &[words]);
}

#[test]
fn times_have_the_unit_that_is_read_best() {
    let late = |ns| StepRecord {
        completion: of(2_000_000),
        ..sending(over(), 1000, ns)
    };
    for (ns, words) in [
        (400_000, "sent up to 400 us late"),
        (5_200_000, "sent up to 5.2 ms late"),
        (11_000_000, "sent up to 11 ms late"),
    ] {
        assert_says(&late(ns), &open(), Verdict::GeneratorLimited, &[words]);
    }
}

#[test]
fn the_remedy_is_that_of_the_load() {
    assert!(remedy(&open()).starts_with("lower load.open.rate,"));
    assert!(remedy(&plan()).starts_with("give the generator more cores"));
    let connecting = |rate| Plan {
        load: Load::Connect(Connect {
            rate,
            ..Connect::default()
        }),
        ..plan()
    };
    let paced = connecting(Some(100.0));
    assert!(remedy(&paced).starts_with("lower load.connect.rate,"));
    assert!(remedy(&connecting(None)).starts_with("give the generator more cores"));
}
