//! A generator that is stopped again and again reports the server's times all the same.

use super::books::SinceIntended;
use super::doubts::{Doubts, From};
use super::{MARGIN_NS, figures};
use crate::selftest::bench::{Bench, SEED, io_flag, nanos, recorder, started};
use crate::selftest::child;
use run_record::{Check, StepRecord, Timestamps, Unit};
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer, Truth};

/// What a reported percentile may be off by.
const HINDERED: f64 = 0.05;
/// Long enough that many answers arrive while the generator is stopped.
const DELAY: Duration = Duration::from_millis(30);
pub(super) const RATE: u32 = 200;
/// So many that those sent at once after a stop are hardly ever on one connection.
const CLIENTS: u32 = 400;

pub(super) fn hinder(bench: &Bench<'_>) -> Result<(StepRecord, Truth), String> {
    let server = started(DelayServer::start(DelayOptions {
        delay: Delay::Constant(DELAY),
        ..DelayOptions::default()
    }))?;
    let time = bench.time(Duration::from_secs(6), Duration::from_secs(2));
    let stamps = match bench.timestamps {
        Timestamps::Kernel => "kernel",
        Timestamps::User => "user",
    };
    let arguments = format!(
        "echo ws://{}/ --rate {RATE} --arrivals constant --duration {}ms \
         --initial-clients {CLIENTS} --threads 1 --seed {SEED} --limit-rtt 20s \
         --timestamps {stamps} --io {}",
        server.addr(),
        time.as_millis(),
        io_flag(bench.io)
    );
    let arguments: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
    let step = child::measure(&arguments, true, bench.interrupted)?;
    Ok((step, server.truth()))
}

/// Holds the figures of a generator that was stopped again and again against the server's.
pub(super) fn judge(step: &StepRecord, truth: &Truth) -> Vec<Check> {
    const NAME: &str = "generator stopped for 50 of every 100 ms";
    let sent = recorder(step.uncorrected.as_ref());
    let lag = step.send_lag.as_ref().map_or(0, |lag| lag.max_ns);
    let unhindered = (lag < nanos(child::STOPS) / 2).then(|| {
        "the generator was not held up: it cannot be stopped here, or was too short".to_owned()
    });
    let intended = SinceIntended::of(truth, f64::from(RATE), SEED);
    let mut checks = vec![
        Check::exactly(
            &format!("{NAME}: samples"),
            truth.service.count(),
            sent.count(),
        ),
        Check::exactly(
            &format!("{NAME}: requests that are no sample"),
            0,
            intended.strangers,
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
    let doubts = Doubts::of(step, truth, &intended);
    for (from, books, reported) in [
        (From::Real, &truth.service, &step.uncorrected),
        (From::Intended, &intended.times, &step.completion),
    ] {
        for (p, reported) in figures(reported.as_ref(), 0) {
            let known = books.percentile(p) as f64;
            let what = format!("{NAME}: p{p} from the {} send", from.name());
            let margin = MARGIN_NS.max(known * HINDERED);
            checks.push(
                Check::within(&what, Unit::Nanoseconds, known, reported, margin)
                    .unless(doubts.excuse(from, books, p, reported, margin)),
            );
        }
    }
    checks
}
