//! A generator that is stopped again and again still reports the server's times.
//!
//! Tests of a starved generator belong here: each is a [`Case`], with the server's ledger and a list of
//! checks.

use crate::bench::{Bench, SEED, io_flag, nanos, recorder, started, timestamps_flag};
use crate::bounds::brief;
use crate::child::{self, Measured, Stop};
use crate::error::Unmade;
use crate::fit::above;
use crate::ledger::{Ledger, Sends};
use record::{Check, StepRecord, Unit};
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer, Truth};

/// Long enough that many answers arrive while the generator is stopped.
const DELAY: Duration = Duration::from_millis(30);
pub(super) const RATE: u32 = 200;
/// Enough connections that requests sent together after a stop are rarely on the same one.
const CLIENTS: u32 = 900;
const NAME: &str = "generator stopped for 50 of every 100 ms";
/// A signal that stops or continues a process takes effect within this time.
const OBEYED_NS: u64 = 5_000_000;
/// A message that came so long before the end of a stop was surely read late, ...
const WAITED_NS: u64 = 15_000_000;
/// ... by at least so much.
const LATE_NS: f64 = (WAITED_NS - OBEYED_NS) as f64;

/// The report of a generator that was stopped, and what is known of the run.
pub(super) struct Case {
    pub(super) step: StepRecord,
    pub(super) truth: Truth,
    pub(super) stops: Vec<Stop>,
    pub(super) lasting: Duration,
}

pub(super) fn hinder(bench: &Bench<'_>) -> Result<Case, Unmade> {
    let server = started(DelayServer::start(DelayOptions {
        delay: Delay::Constant(DELAY),
        ..DelayOptions::default()
    }))?;
    let lasting = bench.time(Duration::from_secs(6), Duration::from_secs(2));
    let arguments = format!(
        "echo ws://{}/ --rate {RATE} --arrivals constant --duration {}ms \
         --initial-clients {CLIENTS} --threads 1 --seed {SEED} --limit-rtt 20s \
         --timestamps {} --io {}",
        server.addr(),
        lasting.as_millis(),
        timestamps_flag(bench.timestamps),
        io_flag(bench.io)
    );
    let Measured { step, stops } = child::measure(&arguments, true, bench.interrupted)?;
    Ok(Case {
        step,
        truth: server.truth(),
        stops,
        lasting,
    })
}

impl Case {
    /// Holds the figures of a generator that was stopped again and again against the server's.
    pub(super) fn judge(&self) -> Vec<Check> {
        let step = &self.step;
        let lag = step.send_lag.as_ref().map_or(0, |lag| lag.max_ns);
        let unhindered = (lag < nanos(child::STOPS) / 2).then(|| {
            "the generator was not held up: it cannot be stopped here, or was too short".to_owned()
        });
        let mut checks = vec![
            Check::between(
                &format!("{NAME}: latest send"),
                Unit::Nanoseconds,
                lag as f64,
                Some(nanos(child::STOPS) as f64 / 2.0),
                None,
            )
            .unless(unhindered),
            self.late_reads(),
        ];
        let ledger = Ledger::new(&self.truth, step, SEED, Sends::Evenly(RATE.into()));
        let planned = u64::from(RATE) * self.lasting.as_millis() as u64 / 1000;
        let mut held = ledger.hold(NAME, step, planned);
        held.extend(ledger.hold_open(NAME, step, self.lasting));
        checks.extend(brief(NAME, &["p50", "p95", "p99"], held));
        ledger.unless_given_up(checks, step, planned, self.lasting)
    }

    /// What came in the first part of a stop cannot have been read before its end, and the
    /// generator's records must show that.
    fn late_reads(&self) -> Check {
        let in_stop = |before_ns: u64, after_ns: u64| {
            self.stops.iter().any(|stop| {
                before_ns > stop.stopped_ns + OBEYED_NS
                    && after_ns.saturating_add(WAITED_NS) < stop.continued_ns
            })
        };
        let writes = self.truth.writes.iter();
        let known = writes.filter(|w| in_stop(w.before_ns, w.after_ns)).count();
        let used = &self.step.generator;
        let said = above(&recorder(used.receive_lag.as_ref()), LATE_NS).count();
        // Messages of one read are late once.
        let shared = used.messages.saturating_sub(used.reads);
        let kernel = Check::between(
            &format!("{NAME}: reads that were late"),
            Unit::Count,
            said as f64,
            Some(known as f64 - shared as f64),
            None,
        );
        Check {
            known: Some(known as f64),
            ..kernel
        }
    }
}
