//! Planted figures: what a wrong generator would report.

use super::super::testing::{failed, ms, stamp, step, worst};
use super::*;
use run_record::ProofVerdict;
use test_servers::Answer;

const N: u64 = 2000;
const GAP: u64 = (1e9 / RATE) as u64;

/// What a generator without error would report: the server's times and the way.
fn served(delay: Delay, times: impl Fn(f64) -> f64, lag_ns: impl Fn(u64) -> u64) -> Served {
    let mut truth = Truth::default();
    let [mut sent, mut intended, mut lag] = std::array::from_fn(|_| Recorder::default());
    for n in 0..N {
        let time = times((n as f64 + 0.5) / N as f64) as u64;
        let late = lag_ns(n);
        truth.service.record(time + 60_000);
        let arrival_ns = 1_000_000_000 + n * GAP + late + 10_000;
        truth.answers.push(Answer {
            arrival_ns,
            written_ns: arrival_ns + time + 60_000,
            stamp: Some(stamp(n)),
        });
        sent.record(time + 80_000);
        lag.record(late);
        intended.record(time + 80_000 + late);
    }
    Served {
        name: "test",
        delay,
        planned: N,
        step: StepRecord {
            completion: intended.latency(),
            uncorrected: sent.latency(),
            send_lag: lag.latency(),
            ..step()
        },
        truth,
    }
}

fn exponential(lag_ns: impl Fn(u64) -> u64) -> Served {
    let mean = nanos(MEAN) as f64;
    let times = |share: f64| -mean * (1.0 - share).ln();
    served(Delay::Exponential(MEAN), times, lag_ns)
}

/// The lateness of each send when a generator stops for so long in every 100 gaps: what was due
/// meanwhile is sent at its end, one after the other.
fn stalls(ns: u64) -> impl Fn(u64) -> u64 + Copy {
    move |n| {
        let (since, one_send) = (n % 100, 5_000);
        ns.saturating_sub(since * (GAP - one_send)).max(3_000)
    }
}

fn replace(served: &mut Served, change: impl Fn(u64) -> u64) {
    let change = |latency: &Option<Latency>| {
        let mut changed = Recorder::default();
        for (ns, count) in recorder(latency.as_ref()).samples() {
            changed.record_n(change(ns), count);
        }
        changed.latency()
    };
    served.step.completion = change(&served.step.completion);
    served.step.uncorrected = change(&served.step.uncorrected);
}

#[test]
fn figures_that_are_the_servers_pass() {
    for served in [
        served(Delay::Constant(CONSTANT), |_| ms(5), |_| 3_000),
        exponential(|_| 3_000),
        served(
            Delay::bimodal(USUAL),
            |share| if share < 0.988 { ms(2) } else { ms(100) },
            |_| 3_000,
        ),
    ] {
        let checks = judge(&served, 80_000.0);
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{:?}", failed(&checks));
    }
}

/// Two threads, one of which is put aside for 20 ms again and again while the other goes on.
#[test]
fn requests_count_from_their_own_moments_in_whatever_order_they_come() {
    let alternate = |n: u64| {
        if n.is_multiple_of(2) {
            3_000
        } else {
            stalls(20_000_000)(n)
        }
    };
    let overtaken = exponential(alternate);
    let arrivals = |served: &Served| -> Vec<Option<u64>> {
        let answers = served.truth.by_arrival();
        answers.iter().map(|answer| answer.stamp).collect()
    };
    assert_ne!(arrivals(&overtaken), arrivals(&exponential(|_| 3_000)));
    let checks = judge(&overtaken, 80_000.0);
    assert_eq!(worst(&checks), ProofVerdict::Pass, "{:?}", failed(&checks));
}

#[test]
fn requests_of_nobody_and_repeated_ones_are_no_samples() {
    for change in [Some(stamp(1)), Some(stamp(0) ^ 1 << 60), None] {
        let mut served = served(Delay::Constant(CONSTANT), |_| ms(5), |_| 3_000);
        served.truth.answers[1000].stamp = change;
        let checks = judge(&served, 80_000.0);
        assert_eq!(failed(&checks), ["test: requests that are no sample"]);
    }
}

#[test]
fn averaged_percentiles_fail() {
    let rare = |share: f64| if share < 0.988 { ms(2) } else { ms(100) };
    let mut served = served(Delay::bimodal(USUAL), rare, |_| 3_000);
    // All rare ones belong to one of two threads: the other knows nothing of them.
    let [mut one, mut other] = [Recorder::default(), Recorder::default()];
    for (ns, count) in recorder(served.step.uncorrected.as_ref()).samples() {
        let shares = if ns > 50_000_000 {
            (count, 0)
        } else {
            (count / 2, count / 2)
        };
        one.record_n(ns, shares.0);
        other.record_n(ns, shares.1);
    }
    let average = |p| u64::midpoint(one.percentile(p), other.percentile(p));
    for latency in [&mut served.step.uncorrected, &mut served.step.completion] {
        let latency = latency.as_mut().unwrap();
        latency.p99_ns = average(99.0);
        latency.p999_ns = Some(average(99.9));
    }
    let checks = judge(&served, 80_000.0);
    let failed = failed(&checks);
    for what in [
        "p99 from the real",
        "p99 from the intended",
        "p99.9 from the intended",
    ] {
        assert!(failed.iter().any(|f| f.contains(what)), "{failed:?}");
    }
}

#[test]
fn a_constant_error_fails_whatever_the_lag() {
    for lag in [3_000, 2_000_000] {
        let mut served = exponential(|_| lag);
        replace(&mut served, |ns| ns + 300_000);
        assert_eq!(worst(&judge(&served, 80_000.0)), ProofVerdict::Fail);
    }
}

#[test]
fn a_lost_sample_fails() {
    let mut served = exponential(|_| 0);
    served.planned += 1;
    assert_eq!(failed(&judge(&served, 80_000.0)), ["test: samples"]);
}

#[test]
fn late_sends_count_and_excuse_nothing() {
    let late = stalls(20_000_000);
    let checks = judge(&exponential(late), 80_000.0);
    assert_eq!(worst(&checks), ProofVerdict::Pass, "{:?}", failed(&checks));
    let mut aside = exponential(late);
    let latency = aside.step.completion.as_mut().unwrap();
    latency.p99_ns += 1_000_000;
    let checks = judge(&aside, 80_000.0);
    assert_eq!(failed(&checks), ["test: p99 from the intended send"]);
    let mut twice = exponential(late);
    replace(&mut twice, |ns| ns * 2);
    assert_eq!(worst(&judge(&twice, 80_000.0)), ProofVerdict::Fail);
}

/// The p99 of an exponential of 10 ms moves by 0.5 ms in 1 of 2,000 ranks, and so by 5 in 10.
#[test]
fn time_between_a_clock_and_its_write_excuses_as_many_ranks_as_messages() {
    let off_by = |slow: u64, of_server: bool, change: fn(&mut Served)| {
        let mut served = exponential(|_| 3_000);
        if of_server {
            served.truth.writing.record_n(3_000_000, slow);
        }
        for n in 0..slow {
            // They come 3 ms after the generator's clock.
            if !of_server {
                let answer = &mut served.truth.answers[300 + n as usize];
                answer.arrival_ns += 3_000_000;
            }
        }
        change(&mut served);
        worst(&judge(&served, 80_000.0))
    };
    let real: fn(&mut Served) = |s| s.step.uncorrected.as_mut().unwrap().p99_ns += 3_000_000;
    let intended: fn(&mut Served) = |s| s.step.completion.as_mut().unwrap().p99_ns += 3_000_000;
    assert_eq!(off_by(0, true, real), ProofVerdict::Fail);
    assert_eq!(off_by(10, true, real), ProofVerdict::Inconclusive);
    assert_eq!(off_by(10, true, intended), ProofVerdict::Inconclusive);
    assert_eq!(off_by(10, false, real), ProofVerdict::Inconclusive);
    // What the plan says is not moved by a send that was late.
    assert_eq!(off_by(10, false, intended), ProofVerdict::Fail);
    assert_eq!(off_by(2, true, real), ProofVerdict::Fail);
}

#[test]
fn latency_that_leaves_the_late_send_out_fails() {
    // A closed loop in place of the schedule: counted from the real send alone.
    let mut served = exponential(stalls(30_000_000));
    served.step.completion = served.step.uncorrected.clone();
    let checks = judge(&served, 80_000.0);
    let failed = failed(&checks);
    for what in ["p95 from the intended", "lateness"] {
        assert!(failed.iter().any(|f| f.contains(what)), "{failed:?}");
    }
    // And one that knows no intended sends at all.
    served.step.uncorrected = None;
    served.step.send_lag = None;
    assert_eq!(worst(&judge(&served, 80_000.0)), ProofVerdict::Fail);
}

#[test]
fn a_server_that_kept_no_distribution_is_not_held_against_the_generator() {
    let slow = |share: f64| ms(10) + ms(10) * share;
    let served = served(Delay::Exponential(MEAN), slow, |_| 0);
    let checks = judge(&served, 80_000.0);
    assert_eq!(worst(&checks), ProofVerdict::Pass, "{:?}", failed(&checks));
    let fits: Vec<&str> = checks.iter().map(|check| check.what.as_str()).collect();
    assert!(
        fits.iter().any(|what| what.contains("what the server did")),
        "{fits:?}"
    );
    // A report with another shape than the server's is wrong, whether that kept it ...
    let mut served = served;
    replace(&mut served, |ns| ns.max(15_000_000));
    let checks = judge(&served, 80_000.0);
    assert!(failed(&checks).iter().any(|what| what.contains("(KS)")));
    // ... or not.
    let mut served = exponential(|_| 0);
    replace(&mut served, |ns| ns.max(5_000_000));
    let checks = judge(&served, 80_000.0);
    let failed = failed(&checks);
    assert!(failed.iter().any(|what| what.contains("(KS)")));
}

#[test]
fn messages_that_share_a_read_excuse_so_many_ranks() {
    let off_by = |shared: u64, ns: u64| {
        let mut served = exponential(|_| 3_000);
        served.truth.shared_reads = shared;
        let latency = served.step.uncorrected.as_mut().unwrap();
        latency.p50_ns += ns;
        worst(&judge(&served, 80_000.0))
    };
    // The median of an exponential of 10 ms moves by 1 ms in 5 percent of the ranks.
    assert_eq!(off_by(0, 500_000), ProofVerdict::Fail);
    assert_eq!(off_by(80, 500_000), ProofVerdict::Inconclusive);
    assert_eq!(off_by(80, 2_000_000), ProofVerdict::Fail);
}

/// A generator that stops for 50 of every 100 ms; `read_late` of 10 answers waited 30 ms to be
/// read.
fn stopped(read_late: u64) -> (StepRecord, Truth) {
    let mut truth = Truth::default();
    let [mut sent, mut intended, mut lag] = std::array::from_fn(|_| Recorder::default());
    let gap = 1_000_000_000 / u64::from(hindered::RATE);
    for n in 0..N {
        let late = 50_000_000u64.saturating_sub(n % 20 * (gap - 5_000));
        let took = 30_080_000 + if n % 10 < read_late { 30_000_000 } else { 0 };
        let arrival_ns = 1_000_000_000 + n * gap + late;
        truth.service.record(30_060_000);
        truth.answers.push(Answer {
            arrival_ns,
            written_ns: arrival_ns + 30_060_000,
            stamp: Some(stamp(n)),
        });
        lag.record(late);
        sent.record(took);
        intended.record(late + took);
    }
    let step = StepRecord {
        completion: intended.latency(),
        uncorrected: sent.latency(),
        send_lag: lag.latency(),
        ..step()
    };
    (step, truth)
}

fn hindered_verdict(read_late: u64, change: impl Fn(&mut StepRecord)) -> ProofVerdict {
    let (mut step, truth) = stopped(read_late);
    change(&mut step);
    worst(&hindered::judge(&step, &truth))
}

#[test]
fn stamps_of_a_hindered_generators_own_clock_fail() {
    assert_eq!(hindered_verdict(0, |_| ()), ProofVerdict::Pass);
    assert_eq!(hindered_verdict(3, |_| ()), ProofVerdict::Fail);
    let prompt = |step: &mut StepRecord| step.send_lag = None;
    assert_eq!(hindered_verdict(0, prompt), ProofVerdict::Inconclusive);
}

#[test]
fn sends_that_were_held_up_count_from_their_intended_moment() {
    let forgotten = |step: &mut StepRecord| step.completion = step.uncorrected.clone();
    assert_eq!(hindered_verdict(0, forgotten), ProofVerdict::Fail);
}
