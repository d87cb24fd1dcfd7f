//! Metrics of a run for programs that collect them while it lasts.

mod endpoint;
mod error;
mod exposition;
mod family;
mod figures;
mod http;
mod otlp;
mod streams;

use crate::args;
use endpoint::Scrapes;
pub(super) use error::MetricsError;
use figures::Figures;
use otlp::Push;
use plan::Plan;
use record::Event;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the last scrape is waited for when there was only one before: the default interval of
/// Prometheus in its own example, and a little.
const ONE_SCRAPE: Duration = Duration::from_secs(20);
/// Nothing is waited for longer.
const LONGEST_WAIT: Duration = Duration::from_secs(90);

/// The metrics of a run, and where they can be read.
pub(crate) struct Metrics {
    figures: Arc<Mutex<Figures>>,
    scrapes: Option<Arc<Mutex<Scrapes>>>,
    push: Option<Push>,
}

impl Metrics {
    /// Begins to serve and to push the metrics of a run, as the arguments ask for.
    ///
    /// # Errors
    /// When the address cannot be listened on, or the first push fails.
    pub(crate) fn start(args: &args::Output, plan: &Plan) -> Result<Option<Self>, MetricsError> {
        if args.metrics.is_none() && args.otlp.is_none() {
            return Ok(None);
        }
        let workload = plan
            .name
            .as_deref()
            .unwrap_or_else(|| plan.workload().name());
        let figures = Figures::new(workload, plan.message.dialect.name());
        let figures = Arc::new(Mutex::new(figures));
        let serve = |addr| endpoint::serve(addr, Arc::clone(&figures));
        let push = |url: &String| Push::start(url, Arc::clone(&figures));
        Ok(Some(Self {
            scrapes: args.metrics.map(serve).transpose()?,
            push: args.otlp.as_ref().map(push).transpose()?,
            figures,
        }))
    }

    /// Takes in what has happened.
    pub(crate) fn event(&self, event: &Event) {
        let mut figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        figures.event(event);
    }

    /// Hands over the end of the run. In words, what was lost.
    pub(crate) fn finish(self, interrupted: &AtomicBool) -> Option<String> {
        if let Some(scrapes) = &self.scrapes {
            await_last(scrapes, interrupted);
        }
        self.push.and_then(Push::finish)
    }
}

/// Waits until the end of the run has been read, where metrics were read before: without that, what the
/// last step has shown would be lost to who reads them.
fn await_last(scrapes: &Mutex<Scrapes>, interrupted: &AtomicBool) {
    let seen = || {
        let scrapes = scrapes.lock().unwrap_or_else(PoisonError::into_inner);
        (scrapes.count, scrapes.last, scrapes.longest_gap)
    };
    let (before, last, gap) = seen();
    let Some(last) = last else { return };
    let patience = match gap.is_zero() {
        true => ONE_SCRAPE,
        false => (gap * 2).min(LONGEST_WAIT),
    };
    let end = last + patience;
    if Instant::now() < end && !interrupted.load(Ordering::Relaxed) {
        let _ = writeln!(
            anstream::stderr().lock(),
            "waiting until the metrics are read once more, at most {} s; Ctrl-C ends this",
            patience.as_secs().max(1)
        );
    }
    while Instant::now() < end && !interrupted.load(Ordering::Relaxed) {
        if seen().0 > before {
            // The answer is on its way.
            thread::sleep(Duration::from_millis(200));
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
