//! (a) Known delays are reported as they were, even by a generator that is hindered.

use super::bench::{Bench, at_rate, io_flag, nanos, recorder, started};
use super::fit::{critical, distance};
use super::{Chapter, Findings, child};
use crate::args::Part;
use run_record::{Arrivals, Check, Latency, Recorder, StepRecord, Timestamps, Unit, Workload};
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
/// With a generator that is stopped half of the time: five percent.
const HINDERED: f64 = 0.05;

const CONSTANT: Duration = Duration::from_millis(5);
const MEAN: Duration = Duration::from_millis(10);
const USUAL: Duration = Duration::from_millis(2);
/// Long enough that many answers arrive while the generator is stopped.
const HINDERED_DELAY: Duration = Duration::from_millis(30);

const RATE: f64 = 500.0;
/// So many that the messages of one connection do not pile up while somebody is put aside.
const CLIENTS: u32 = 500;
const HINDERED_RATE: u32 = 200;
/// So many that those sent at once after a stop are hardly ever on one connection.
const HINDERED_CLIENTS: u32 = 400;

fn measure(bench: &Bench<'_>) -> Result<Findings, String> {
    let mut found = Findings::default();
    let mut base = None;
    // Percentiles that are averaged over threads show where these split the rare ones unevenly.
    for (name, delay, threads) in [
        ("constant 5 ms", Delay::Constant(CONSTANT), 1),
        ("exponential, mean 10 ms", Delay::Exponential(MEAN), 1),
        (
            "2 ms, 1 in 100 takes 100 ms, four threads",
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
        let (step, truth) = hinder(bench)?;
        found.checks.extend(judge_hindered(&step, &truth));
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
    /// Worker threads of the generator.
    threads: u32,
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
        threads,
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

    /// Why a percentile may be another: so many messages shared a read with a later one, at the
    /// server or here, and nobody knows when they arrived. They move it by as many ranks at most.
    fn shared_reads(&self, books: &Recorder, p: f64, reported: f64) -> Option<String> {
        let used = &self.step.generator;
        let shared = self.truth.shared_reads + used.messages.saturating_sub(used.reads);
        let ranks = 100.0 * shared as f64 / books.count().max(1) as f64;
        let at = |p: f64| books.percentile(p.clamp(0.0, 100.0)) as f64;
        let least = at(p - ranks) * (1.0 - DIGITS) - MARGIN_NS;
        let most = at(p + ranks) * (1.0 + DIGITS) + MARGIN_NS;
        (shared > 0 && (least..=most).contains(&reported))
            .then(|| format!("{shared} messages piled up in one read with another: too little CPU"))
    }

    /// Where the tail begins that a thread which is put aside shows in. Of several threads the
    /// sends of one may then arrive after later ones of another.
    const fn tail(&self) -> f64 {
        if self.threads == 1 { 99.0 } else { 95.0 }
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

/// What the server knows of the times from the intended sends: these are evenly spaced, and the
/// promptest request of all came at once.
fn since_intended(truth: &Truth, rate: f64) -> Recorder {
    let answers = truth.by_arrival();
    let after_plan = |n: usize, ns: u64| ns as i64 - (n as f64 * 1e9 / rate) as i64;
    let arrivals = answers.iter().enumerate();
    let promptest = arrivals
        .map(|(n, answer)| after_plan(n, answer.arrival_ns))
        .min();
    let mut known = Recorder::default();
    for (n, answer) in answers.iter().enumerate() {
        let took = after_plan(n, answer.written_ns) - promptest.unwrap_or_default();
        known.record(took.max(0) as u64);
    }
    known
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
    let lag = recorder(step.send_lag.as_ref());
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
    let series = [
        ("real", &truth.service, &step.uncorrected),
        ("intended", &since_intended(truth, RATE), &step.completion),
    ];
    for (from, books, reported) in series {
        for (p, reported) in figures(reported.as_ref(), served.planned) {
            let known = books.percentile(p) as f64;
            let what = format!("{name}: p{p} from the {from} send");
            let margin = MARGIN_NS.max(known * DIGITS);
            let tail = p >= served.tail();
            checks.push(
                Check::within(&what, Unit::Nanoseconds, known, reported, margin)
                    .unless(tail.then(|| put_aside(&lag, reported - known)).flatten())
                    .unless(served.shared_reads(books, p, reported)),
            );
        }
    }
    checks.push(sum(name, step));
    let slack = MARGIN_NS;
    let shifted = |ns: f64| served.delay.cdf(ns - base_ns);
    let limit = critical(sent.count());
    let own = distance(&truth.service, slack, shifted);
    let fit = Check {
        known: Some(0.0),
        ..Check::between(
            &format!("{name}: distance from the distribution (KS)"),
            Unit::Share,
            distance(&sent, slack, shifted),
            None,
            Some(limit),
        )
    };
    checks.push(fit.unless((own > limit).then(|| {
        format!("the server itself was late: by its own books its distance is {own:.3}")
    })));
    checks
}

/// Why the tail may be longer than the server took: the generator was put aside again and again,
/// at times between its clock and its write, or one of its threads and not another.
fn put_aside(lag: &Recorder, off_ns: f64) -> Option<String> {
    const LONG_NS: u64 = 1_000_000;
    let late = lag.percentile(99.9);
    // No longer than it was put aside at any other moment.
    (late > LONG_NS && off_ns.abs() <= lag.percentile(100.0) as f64).then(|| {
        format!(
            "the generator was short of CPU: 1 of 1000 sends was more than {:.1} ms late",
            late as f64 / 1e6
        )
    })
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

fn hinder(bench: &Bench<'_>) -> Result<(StepRecord, Truth), String> {
    let server = started(DelayServer::start(DelayOptions {
        delay: Delay::Constant(HINDERED_DELAY),
        ..DelayOptions::default()
    }))?;
    let time = bench.time(Duration::from_secs(6), Duration::from_secs(2));
    let stamps = match bench.timestamps {
        Timestamps::Kernel => "kernel",
        Timestamps::User => "user",
    };
    let arguments = format!(
        "echo ws://{}/ --rate {HINDERED_RATE} --arrivals constant --duration {}ms \
         --initial-clients {HINDERED_CLIENTS} --threads 1 --seed 4 --limit-rtt 20s \
         --timestamps {stamps} --io {}",
        server.addr(),
        time.as_millis(),
        io_flag(bench.io)
    );
    let arguments: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
    let step = child::measure(&arguments, true)?;
    Ok((step, server.truth()))
}

/// Holds the figures of a generator that was stopped again and again against the server's.
fn judge_hindered(step: &StepRecord, truth: &Truth) -> Vec<Check> {
    const NAME: &str = "generator stopped for 50 of every 100 ms";
    let sent = recorder(step.uncorrected.as_ref());
    let lag = step.send_lag.as_ref().map_or(0, |lag| lag.max_ns);
    let unhindered = (lag < nanos(child::STOPS) / 2).then(|| {
        "the generator was not held up: it cannot be stopped here, or was too short".to_owned()
    });
    let mut checks = vec![
        Check::exactly(
            &format!("{NAME}: samples"),
            truth.service.count(),
            sent.count(),
        ),
        Check::between(
            &format!("{NAME}: latest send"),
            Unit::Nanoseconds,
            lag as f64,
            Some(nanos(child::STOPS) as f64 / 2.0),
            None,
        )
        .unless(unhindered),
    ];
    let intended = since_intended(truth, f64::from(HINDERED_RATE));
    for (from, books, reported) in [
        ("real", &truth.service, &step.uncorrected),
        ("intended", &intended, &step.completion),
    ] {
        for (p, reported) in figures(reported.as_ref(), 0) {
            let known = books.percentile(p) as f64;
            checks.push(Check::within(
                &format!("{NAME}: p{p} from the {from} send"),
                Unit::Nanoseconds,
                known,
                reported,
                MARGIN_NS.max(known * HINDERED),
            ));
        }
    }
    checks
}

#[cfg(test)]
mod tests;
