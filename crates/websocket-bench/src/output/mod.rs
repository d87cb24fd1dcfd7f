//! The outputs of a run: the human lines, the progress bar, the event stream, the record file.
//!
//! Each output subscribes to events; the load generator knows none of them.

mod live;
mod metrics;
mod progress;
mod record;

pub(crate) use record::Records;

use crate::args;
use crate::exit::{Exit, none_opened};
use crate::expect::Expectation;
use crate::flags::Flags;
use crate::format;
use crate::{churn_format, drop_format, feed_format, http_format, streams_format, watch_format};
use ::record::{
    BUSY, End, Event, RunRecord, StepRecord, Unwritable, Verdict, WarmUp, latency_text,
};
use anstyle::{AnsiColor, Style};
use metrics::Metrics;
use plan::Plan;
use progress::Progress;
use serde::Serialize;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime};
use ws_proto::escaped;

const WARNING: Style = AnsiColor::Yellow.on_default();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// All outputs of a run but its record.
pub(crate) struct Outputs {
    plan: Plan,
    flags: Flags,
    began: Instant,
    events: Option<BufWriter<File>>,
    /// Human lines on stdout; off when events or the record are there.
    human: bool,
    /// The record is to be the last line of stdout. Where a container's log takes both streams, words
    /// on stderr could stand in the middle of it, so that only warnings and errors are written there.
    prints_record: bool,
    verbose: bool,
    progress: Progress,
    metrics: Option<Metrics>,
    expectations: Vec<Expectation>,
}

/// A line of the event stream.
#[derive(Serialize)]
struct Timed<'a> {
    #[serde(flatten)]
    event: &'a Event,
    /// Since the start of the run.
    at_ns: u64,
    /// The time of day, RFC 3339 in UTC, to the millisecond.
    time: String,
}

impl Outputs {
    /// Opens what the arguments ask for.
    ///
    /// # Errors
    /// When the event file cannot be created, or metrics cannot be served or pushed.
    pub(crate) fn new(
        args: &args::Output,
        plan: &Plan,
        flags: &Flags,
    ) -> Result<Self, Box<dyn Error>> {
        let on_stdout = args.places().find(|(_, path)| *path == Path::new("-"));
        let stdout_is_data = on_stdout.is_some();
        let events = args.events.as_deref().map(open_events).transpose()?;
        Ok(Self {
            plan: plan.clone(),
            flags: flags.clone(),
            began: Instant::now(),
            events,
            human: !stdout_is_data,
            prints_record: on_stdout.is_some_and(|(flag, _)| flag != "--events"),
            verbose: args.verbose,
            progress: Progress::new(args.no_progress || stdout_is_data, args.live),
            metrics: Metrics::start(args, plan)?,
            expectations: args.expect.clone(),
        })
    }

    /// Tells every output what happened.
    ///
    /// # Errors
    /// When an output takes no more.
    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        if let Some(events) = &mut self.events {
            let timed = Timed {
                event,
                at_ns: self.began.elapsed().as_nanos() as u64,
                time: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            };
            serde_json::to_writer(&mut *events, &timed)?;
            events.write_all(b"\n")?;
            events.flush()?;
        }
        self.progress.event(event);
        if let Some(metrics) = &self.metrics {
            metrics.event(event);
        }
        match event {
            Event::WarmedUp { warm_up } if self.human => self.warm_up(warm_up),
            Event::Step { record, .. } if self.human => self.step(record),
            _ => Ok(()),
        }
    }

    /// Says that latencies will end at the generator's own reads.
    pub(crate) fn no_kernel_stamps(&self) {
        let reason = ws_load::probe_kernel_timestamps().err();
        let reason = reason.map_or_else(String::new, |reason| reason.to_string());
        let mut err = anstream::stderr().lock();
        let _ = writeln!(
            err,
            "{WARNING}warning:{WARNING:#} no receive timestamps of the kernel here ({reason}): every latency contains the time that the generator took to read; --timestamps user says so without this warning"
        );
    }

    /// Says how sockets are read, in a verbose run.
    pub(crate) fn io(&self, words: &str) {
        if self.verbose {
            let _ = writeln!(anstream::stderr().lock(), "sockets are read with {words}");
        }
    }

    /// Takes the progress bar away.
    pub(crate) fn finish(&mut self) {
        self.progress.finish();
    }

    /// Hands the end of the run over to those who collect its metrics.
    pub(crate) fn hand_over(&mut self, interrupted: &AtomicBool) {
        let metrics = self.metrics.take();
        if let Some(words) = metrics.and_then(|metrics| metrics.finish(interrupted)) {
            let _ = writeln!(
                anstream::stderr().lock(),
                "{WARNING}warning:{WARNING:#} {}",
                escaped(&words)
            );
        }
    }

    /// The last lines: how the run ended, and warnings for its reader.
    pub(crate) fn summary(&self, record: &RunRecord) {
        let mut err = anstream::stderr().lock();
        if let (true, Some(server)) = (self.verbose, record.server) {
            let _ = writeln!(err, "the server is {server}");
        }
        for step in &record.steps {
            if step.verdict == Verdict::Pass && step.generator.busiest_thread > BUSY {
                let _ = writeln!(
                    err,
                    "{WARNING}warning:{WARNING:#} at {} clients the generator was busy {:.0}% of the time: the server may be faster than shown; give the generator more cores and --threads",
                    step.clients,
                    step.generator.busiest_thread * 100.0
                );
            }
        }
        for step in &record.steps {
            if step.verdict == Verdict::Noisy && step.is_complete() {
                let _ = writeln!(
                    err,
                    "{WARNING}warning:{WARNING:#} the step at {} clients counts neither as passed nor as failed: it is noisy: {}",
                    step.clients,
                    self.flags.beside(&step.verdict_reasons.join("; "))
                );
            }
        }
        let mut delays = record.steps.iter().rev();
        if let Some((step, delay)) =
            delays.find_map(|step| Some((step, step.release_delay.as_ref()?)))
            && !self.prints_record
        {
            let _ = writeln!(
                err,
                "at {} clients the workers took {} (99th percentile {}) to send the next request after one was complete everywhere; no latency contains that",
                step.clients,
                latency_text(delay.p50_ns).trim_start(),
                latency_text(delay.p99_ns).trim_start()
            );
        }
        if record.steps.is_empty() || none_opened(record) {
            let _ = writeln!(
                err,
                "{ERROR}nothing was measured:{ERROR:#} {}",
                self.flags.beside(&escaped(&record.outcome.detail))
            );
            return;
        }
        if record.contradicts_dialect() {
            let _ = writeln!(
                err,
                "{ERROR}invalid:{ERROR:#} {} ({})",
                self.flags.beside(&escaped(&record.outcome.detail)),
                record.faults()
            );
            return;
        }
        if !self.prints_record {
            let carried = record.outcome.carried_clients.map_or_else(
                || "no step".to_owned(),
                |clients| format!("{clients} clients"),
            );
            let unchecked = record.unchecked.as_ref();
            let unchecked = unchecked.map_or_else(String::new, |words| format!("; {words}"));
            let _ = writeln!(
                err,
                "carried within the limit: {carried}{unchecked}; ended: {}",
                self.flags.beside(&escaped(&record.outcome.detail))
            );
        }
        if !record.faults().is_empty() && record.outcome.end != End::EdgeFound {
            let _ = writeln!(err, "{ERROR}invalid:{ERROR:#} {}", record.blame());
        }
    }

    /// Says which expectations failed; the exit code with them considered.
    pub(crate) fn expectations(&self, record: &RunRecord, exit: Exit) -> Exit {
        let mut exit = exit;
        let mut err = anstream::stderr().lock();
        for unmet in self.expectations.iter().filter_map(|e| e.unmet(record)) {
            let _ = writeln!(err, "{ERROR}expectation failed:{ERROR:#} {unmet}");
            if exit == Exit::Measured {
                exit = Exit::Expectation;
            }
        }
        exit
    }

    fn warm_up(&self, warm_up: &WarmUp) -> io::Result<()> {
        self.progress.suspend(|| {
            let mut out = anstream::stdout().lock();
            let cold = format::step_line(&self.plan, &warm_up.cold);
            let (steps, seconds) = (warm_up.steps, warm_up.elapsed_ns as f64 / 1e9);
            writeln!(
                out,
                "warm-up: {steps} times the first step in {seconds:.1} s; the first, cold:"
            )?;
            writeln!(out, "    {cold}")?;
            out.flush()
        })
    }

    fn step(&self, step: &StepRecord) -> io::Result<()> {
        self.progress.suspend(|| {
            let mut out = anstream::stdout().lock();
            let line = self.flags.beside(&format::step_line(&self.plan, step));
            if step.passed() {
                writeln!(out, "{line}")?;
            } else {
                writeln!(out, "{WARNING}{line}{WARNING:#}")?;
            }
            if let Some(connections) = &step.connections {
                writeln!(out, "{}", format::connections(connections))?;
            }
            if let (Some(of), Some(all)) = (&step.compression, &step.throughput) {
                writeln!(out, "{}", format::compression(of, all))?;
            }
            if let Some(of) = &step.tls {
                writeln!(out, "{}", format::tls(of))?;
            }
            // What goes well is no news beside the figures of a load.
            let is_news =
                |of: &::record::Heartbeats| of.unanswered > 0 || step.connections.is_some();
            let shown = |of: &&::record::Heartbeats| of.sent > 0 && (self.verbose || is_news(of));
            if let Some(of) = step.heartbeats.as_deref().filter(shown) {
                writeln!(out, "{}", format::heartbeats(of))?;
            }
            if let Some(of) = step.http.as_deref() {
                write!(out, "{}", http_format::http(of))?;
            }
            if let Some(of) = step.feed.as_deref() {
                writeln!(out, "{}", feed_format::feed(of))?;
            }
            if let Some(of) = step.streams.as_deref() {
                writeln!(out, "{}", streams_format::streams(of))?;
            }
            if let Some(of) = step.dialogues.as_deref() {
                writeln!(out, "{}", streams_format::dialogues(of))?;
            }
            if let Some(slow) = &step.slow_readers {
                writeln!(out, "{}", format::slow_readers(slow))?;
            }
            if let Some(churn) = &step.churn {
                writeln!(out, "{}", churn_format::churn(churn))?;
            }
            if let Some(watched) = &step.watched {
                writeln!(out, "{}", watch_format::watched(watched))?;
            }
            // A search has one line for each step; its last one tells how the first connection ended.
            let is_held = step.connections.is_some() || step.watched.is_some();
            if let Some(drops) = step.drops.as_deref().filter(|_| is_held || self.verbose) {
                writeln!(out, "{}", drop_format::drops(drops))?;
            }
            if self.verbose {
                writeln!(out, "{}", self.flags.beside(&format::step_details(step)))?;
            }
            out.flush()
        })
    }
}

/// The event stream, on a file or on stdout.
fn open_events(path: &Path) -> Result<BufWriter<File>, Unwritable> {
    let on_stdout = path == Path::new("-");
    let opened = if on_stdout {
        io::stdout().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::create(path)
    };
    // Nothing is written, but a device that can take nothing says so before the run.
    let probed = opened.and_then(|mut file| file.write(b"").map(|_| file));
    let place = if on_stdout { Path::new("stdout") } else { path };
    probed
        .map(BufWriter::new)
        .map_err(|error| Unwritable::new("events", place, error))
}
