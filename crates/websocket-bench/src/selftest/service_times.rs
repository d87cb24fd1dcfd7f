//! (a) Known delays are reported as they were, even by a generator that is hindered.

mod books;
mod doubts;
mod hindered;

use super::bench::{Bench, SEED, at_rate, nanos, recorder, started};
use super::fit::{cdf, critical, distance};
use super::{Chapter, Findings};
use crate::args::Part;
use books::SinceIntended;
use doubts::{Doubts, From};
use run_record::{Arrivals, Check, Latency, Recorder, StepRecord, Unit, Workload};
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer, Truth};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::A,
    id: "a",
    name: "service times",
    proves: "What is reported is how long the server took, at every percentile, \
             even when the generator itself is held up.",
    takes: (Duration::from_secs(31), Duration::from_secs(9)),
    measure,
};

/// What a reported time may be off by, where the histogram's resolution is finer.
const MARGIN_NS: f64 = 100_000.0;
/// Two histograms of three digits are compared.
const DIGITS: f64 = 2e-3;

const CONSTANT: Duration = Duration::from_millis(5);
const MEAN: Duration = Duration::from_millis(10);
const USUAL: Duration = Duration::from_millis(2);

const RATE: f64 = 500.0;
/// So many that the messages of one connection do not pile up while somebody is put aside.
const CLIENTS: u32 = 500;

fn measure(bench: &Bench<'_>) -> Result<Findings, String> {
    let mut found = Findings::default();
    let mut base = None;
    // Percentiles that are averaged over threads show where these split the rare ones unevenly.
    for (name, delay, threads) in [
        ("constant 5 ms", Delay::Constant(CONSTANT), 1),
        ("exponential, mean 10 ms", Delay::Exponential(MEAN), 1),
        (
            "2 ms, 12 in 1,000 take 100 ms, four threads",
            Delay::bimodal(USUAL),
            4,
        ),
    ] {
        let served = serve(bench, name, delay, threads)?;
        // The first is the constant one.
        let base = *base.get_or_insert_with(|| served.base_ns(CONSTANT));
        found.checks.extend(judge(&served, base));
        found.notes.extend(served.note());
    }
    let base_us = base.unwrap_or_default() / 1e3;
    found.notes.push(format!(
        "base of the loopback, which shifts the distributions: {base_us:.0} us"
    ));
    if bench.prove_hindered {
        let (step, truth) = hindered::hinder(bench)?;
        found.checks.extend(hindered::judge(&step, &truth));
    } else {
        let missing = Check::between("kernel stamps", Unit::Count, 0.0, Some(1.0), None);
        found.checks.push(
            missing.unless(Some(
                "the kernel gives no receive stamps here: a generator that is held up makes every \
             server look slow"
                    .to_owned(),
            )),
        );
    }
    Ok(found)
}

/// One distribution, measured.
struct Served {
    name: &'static str,
    delay: Delay,
    planned: u64,
    step: StepRecord,
    truth: Truth,
}

fn serve(
    bench: &Bench<'_>,
    name: &'static str,
    delay: Delay,
    threads: u32,
) -> Result<Served, String> {
    let server = started(DelayServer::start(DelayOptions {
        delay,
        ..DelayOptions::default()
    }))?;
    let time = bench.time(Duration::from_secs(8), Duration::from_secs(2));
    let mut plan = bench.plan(server.addr(), Workload::Echo, CLIENTS);
    plan.open_loop = at_rate(RATE, Arrivals::Constant, time);
    plan.threads = threads;
    Ok(Served {
        name,
        delay,
        planned: (RATE * time.as_secs_f64()) as u64,
        step: bench.run(&plan)?,
        truth: server.truth(),
    })
}

impl Served {
    /// What a time takes on top of a constant delay.
    fn base_ns(&self, delay: Duration) -> f64 {
        let typical = recorder(self.step.uncorrected.as_ref()).percentile(50.0);
        (typical as f64 - nanos(delay) as f64).max(0.0)
    }

    /// The server's own shortcomings, where there are any.
    fn note(&self) -> Option<String> {
        let Truth {
            unstamped,
            shared_reads,
            ..
        } = self.truth;
        (unstamped + shared_reads > 0).then(|| {
            format!(
                "{}: {unstamped} arrivals without a stamp at the server, {shared_reads} in one \
                 read with another",
                self.name
            )
        })
    }
}

/// The percentiles that people read, as reported: those that so many samples can show.
fn figures(reported: Option<&Latency>, samples: u64) -> Vec<(f64, f64)> {
    let figure = |of: fn(&Latency) -> Option<u64>| {
        let ns = reported.and_then(of);
        ns.map_or(f64::NAN, |ns| ns as f64)
    };
    let mut figures = vec![
        (50.0, figure(|l| Some(l.p50_ns))),
        (90.0, figure(|l| Some(l.p90_ns))),
        (95.0, figure(|l| Some(l.p95_ns))),
        (99.0, figure(|l| Some(l.p99_ns))),
    ];
    if samples >= 1000 {
        figures.push((99.9, figure(|l| l.p999_ns)));
    }
    figures
}

/// Holds what was reported against what the server did and was told to do.
fn judge(served: &Served, base_ns: f64) -> Vec<Check> {
    let Served {
        name, step, truth, ..
    } = served;
    let intended = recorder(step.completion.as_ref());
    let sent = recorder(step.uncorrected.as_ref());
    let mut checks = vec![
        Check::exactly(
            &format!("{name}: samples"),
            served.planned,
            intended.count(),
        ),
        Check::exactly(
            &format!("{name}: samples from the real send"),
            truth.service.count(),
            sent.count(),
        ),
    ];
    let known = SinceIntended::of(truth, RATE, SEED);
    checks.push(Check::exactly(
        &format!("{name}: requests that are no sample"),
        0,
        known.strangers,
    ));
    let doubts = Doubts::of(step, truth, &known);
    let series = [
        (From::Real, &truth.service, &step.uncorrected),
        (From::Intended, &known.times, &step.completion),
    ];
    for (from, books, reported) in series {
        for (p, reported) in figures(reported.as_ref(), served.planned) {
            let known = books.percentile(p) as f64;
            let what = format!("{name}: p{p} from the {} send", from.name());
            let margin = MARGIN_NS.max(known * DIGITS);
            checks.push(
                Check::within(&what, Unit::Nanoseconds, known, reported, margin)
                    .unless(doubts.excuse(from, books, p, reported, MARGIN_NS)),
            );
        }
    }
    checks.push(sum(name, step));
    checks.push(fit(served, &sent, base_ns, &doubts));
    checks
}

/// Holds the shape of the reported times against the distribution that the server was told to draw
/// from, or, where it could not keep that, against what it did.
fn fit(served: &Served, sent: &Recorder, base_ns: f64, doubts: &Doubts) -> Check {
    let limit = critical(sent.count());
    let drawn = |ns: f64| served.delay.cdf(ns - base_ns);
    let served_at = cdf(&served.truth.service);
    let own = distance(&served.truth.service, MARGIN_NS, drawn);
    let (from, measured) = if own > limit {
        let from = format!("what the server did, {own:.3} from what it drew (KS)");
        (from, distance(sent, MARGIN_NS, served_at))
    } else {
        let from = "the distribution (KS)".to_owned();
        (from, distance(sent, MARGIN_NS, drawn))
    };
    Check {
        known: Some(0.0),
        ..Check::between(
            &format!("{}: distance from {from}", served.name),
            Unit::Share,
            measured,
            None,
            Some(limit),
        )
    }
    .unless(doubts.excuse_distance(measured - own, sent.count()))
}

/// A latency from the intended send is the one from the real send and the lateness of the send:
/// for means this holds exactly, whatever the machine does.
fn sum(name: &str, step: &StepRecord) -> Check {
    let mean = |latency: &Option<Latency>| latency.as_ref().map_or(f64::NAN, |l| l.mean_ns);
    let known = mean(&step.uncorrected) + mean(&step.send_lag);
    Check::within(
        &format!("{name}: mean, as real send and lateness"),
        Unit::Nanoseconds,
        known,
        mean(&step.completion),
        // Both histograms count in steps of a microsecond at least.
        2_000.0_f64.max(known * DIGITS),
    )
}

#[cfg(test)]
mod tests;
