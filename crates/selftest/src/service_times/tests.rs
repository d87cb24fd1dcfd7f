//! Planted figures: the reports of a faulty generator.

use super::super::testing::{Served, failed, recorded, stamp, worst};
use super::*;
use record::{ProofVerdict, Recorder};

const N: u64 = 2000;
const GAP: u64 = (1e9 / RATE) as u64;
const TERMS: Terms = Terms {
    name: "test",
    delay: Delay::Constant(CONSTANT),
    threads: 1,
    lasting: Duration::from_secs(4),
};

fn judged(served: &Served) -> Vec<Check> {
    judge(&TERMS, &served.step(), &served.truth)
}

fn constant() -> Served {
    Served::new(N, RATE, |_| 5_000_000)
}

/// Exponential service times with a mean of 10 ms, in a scrambled order.
fn exponential(lag_ns: impl Fn(u64) -> u64) -> Served {
    let share = |n: u64| ((n * 769) % N) as f64 / N as f64;
    let time = |n: u64| (-10e6 * (1.0 - share(n)).ln()) as u64;
    Served::late(N, RATE, time, lag_ns)
}

/// 2 ms, and 100 ms for 12 of every 1,000 requests.
fn bimodal() -> Served {
    let rare = |n: u64| n % 1000 < 12;
    Served::new(N, RATE, |n| if rare(n) { 100_000_000 } else { 2_000_000 })
}

/// Lateness in nanoseconds of each send of a generator that stops for `ns` in every 100 gaps.
/// Requests that were due in that time are sent at its end, one after the other.
fn stalls(ns: u64) -> impl Fn(u64) -> u64 + Copy {
    move |n| {
        let (since, one_send) = (n % 100, 5_000);
        ns.saturating_sub(since * (GAP - one_send)).max(3_000)
    }
}

fn fails(checks: &[Check], what: &str) {
    assert!(
        failed(checks).iter().any(|failed| failed.contains(what)),
        "{what}: {checks:?}"
    );
}

#[test]
fn figures_that_are_the_servers_pass() {
    for served in [constant(), exponential(|_| 3_000), bimodal()] {
        let checks = judged(&served);
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{checks:?}");
    }
}

/// Two threads take turns. One of them loses its core for 20 ms again and again.
#[test]
fn requests_count_from_their_own_moments_in_whatever_order_they_come() {
    let alternate = |n: u64| match n.is_multiple_of(2) {
        true => 3_000,
        false => stalls(20_000_000)(n),
    };
    let overtaken = exponential(alternate);
    let arrivals = |served: &Served| -> Vec<Option<u64>> {
        let answers = served.truth.by_arrival();
        answers.iter().map(|answer| answer.stamp).collect()
    };
    assert_ne!(arrivals(&overtaken), arrivals(&exponential(|_| 3_000)));
    let checks = judged(&overtaken);
    assert_eq!(worst(&checks), ProofVerdict::Pass, "{checks:?}");
}

#[test]
fn foreign_and_repeated_requests_are_no_samples() {
    for change in [Some(stamp(1)), Some(stamp(0) ^ 1 << 60), None] {
        let mut served = constant();
        served.truth.answers[1000].stamp = change;
        fails(&judged(&served), "requests that are no sample");
    }
}

#[test]
fn averaged_percentiles_fail() {
    let served = bimodal();
    let mut step = served.step();
    // One of two threads has all the slow requests, and the other none.
    let [mut one, mut other] = [Recorder::default(), Recorder::default()];
    let all = step.uncorrected.as_ref().unwrap().recorder().unwrap();
    for (ns, count) in all.samples() {
        let shares = if ns > 50_000_000 {
            (count, 0)
        } else {
            (count / 2, count / 2)
        };
        one.record_n(ns, shares.0);
        other.record_n(ns, shares.1);
    }
    let averaged = u64::midpoint(one.percentile(99.0), other.percentile(99.0));
    step.uncorrected.as_mut().unwrap().p99_ns = averaged;
    let checks = judge(&TERMS, &step, &served.truth);
    assert_eq!(failed(&checks), ["test: from the real send, p99"]);
}

#[test]
fn a_percent_more_or_less_fails() {
    for factor in [0.99, 1.01] {
        let mut served = bimodal();
        served.report(|ns| (ns as f64 * factor) as u64);
        let checks = judged(&served);
        fails(&checks, "completion, p99");
        fails(&checks, "from the real send, p99");
    }
}

#[test]
fn latencies_from_the_real_send_fail_when_sends_were_late() {
    let served = exponential(stalls(40_000_000));
    let mut step = served.step();
    step.completion = step.uncorrected.clone();
    let checks = judge(&TERMS, &step, &served.truth);
    fails(&checks, "completion, p90");
    fails(&checks, "mean, as real send and lateness");
}

#[test]
fn an_uncorrected_figure_that_is_the_corrected_one_fails_when_sends_were_late() {
    let served = exponential(stalls(40_000_000));
    let mut step = served.step();
    step.uncorrected = step.completion.clone();
    fails(
        &judge(&TERMS, &step, &served.truth),
        "mean, as real send and lateness",
    );
}

#[test]
fn a_lateness_that_is_not_said_fails() {
    let served = exponential(stalls(40_000_000));
    let mut step = served.step();
    step.send_lag = recorded(&vec![0; N as usize]);
    fails(
        &judge(&TERMS, &step, &served.truth),
        "mean, as real send and lateness",
    );
}

#[test]
fn samples_that_are_missing_or_too_many_fail() {
    let served = constant();
    let mut step = served.step();
    step.samples += 1;
    fails(&judge(&TERMS, &step, &served.truth), "test: samples");
    let mut step = served.step();
    step.completion = recorded(&vec![5_100_000; N as usize - 1]);
    fails(&judge(&TERMS, &step, &served.truth), "completion, count");
    let mut step = served.step();
    step.sent = Some(N + 1);
    fails(&judge(&TERMS, &step, &served.truth), "sent in time");
}

/// The server's thread lost its core within its writes, so that it is not known when an answer left.
#[test]
fn a_server_that_was_put_aside_in_its_writes_makes_it_inconclusive_and_nothing_pass() {
    let mut served = constant();
    for write in served.truth.writes.iter_mut().take(N as usize / 2) {
        write.after_ns += 3_000_000;
    }
    let checks = judged(&served);
    assert_eq!(worst(&checks), ProofVerdict::Inconclusive, "{checks:?}");
    served.report(|ns| ns + 4_000_000);
    fails(&judged(&served), "completion, p95");
}
