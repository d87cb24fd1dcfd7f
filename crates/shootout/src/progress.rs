//! Progress of a run: a bar on a terminal, plain lines elsewhere. All of it on stderr.
//!
//! Shows what it is told and decides nothing.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::Event;
use std::cell::{Cell, RefCell};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// How many parts of a work are done, in its words for one; where stderr is no terminal, a line that it
/// begins.
pub fn bar(work: &str, part: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        anstream::eprintln!("{work}: each {part} in turn");
    }
    let bar = ProgressBar::new(0);
    let template = format!("{{spinner}} {{prefix}}: {part} {{pos}} of {{len}}");
    bar.set_style(
        ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar.set_prefix(work.to_owned());
    bar
}

/// Says what is being done by work that cannot tell how far it is. This is a spinner until it is dropped, or
/// one line where stderr is no terminal.
pub fn busy(work: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        anstream::eprintln!("{work}");
    }
    let spinner = ProgressBar::new_spinner();
    spinner.set_message(work.to_owned());
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}

/// Shows how far a run is.
pub struct Progress {
    bar: Option<ProgressBar>,
    total: usize,
    label: RefCell<String>,
    begun: Cell<Instant>,
    measured: RefCell<Vec<Duration>>,
    left: Cell<usize>,
}

impl Progress {
    /// Progress over `total` rows; a bar where stderr is a terminal.
    pub fn new(total: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(
                Some(total as u64),
                ProgressDrawTarget::stderr_with_hz(5),
            );
            bar.set_style(
                ProgressStyle::with_template("{spinner} [{pos}/{len}] {prefix} {wide_msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self {
            bar,
            total,
            label: RefCell::default(),
            begun: Cell::new(Instant::now()),
            measured: RefCell::default(),
            left: Cell::new(total),
        }
    }

    /// Row `number` of all, from 1, begins.
    pub fn begin(&self, number: usize, label: &str) {
        label.clone_into(&mut self.label.borrow_mut());
        self.begun.set(Instant::now());
        self.left.set(self.total.saturating_sub(number));
        match &self.bar {
            Some(bar) => {
                bar.set_position(number as u64);
                bar.set_prefix(label.to_owned());
            }
            None => anstream::eprintln!("[{number}/{}] {label}", self.total),
        }
    }

    /// What is being done in this row.
    pub fn phase(&self, phase: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{phase}{}", self.time_left()));
        }
    }

    /// What the generator says.
    pub fn event(&self, event: &Event) {
        match event {
            Event::Connecting {
                connected, wanted, ..
            } => self.phase(&format!("connecting {connected} of {wanted} clients")),
            Event::Measuring {
                clients,
                samples,
                wanted,
                ..
            } => self.phase(&format!("{clients} clients, sample {samples} of {wanted}")),
            Event::Holding { connected, .. } => {
                self.phase(&format!("{connected} connections held"));
            }
            Event::Watching {
                connected,
                clients,
                elapsed_ns,
                wanted_ns,
                ..
            } => self.phase(&format!(
                "{connected} of {clients} clients connected, {} of {} s",
                elapsed_ns / 1_000_000_000,
                wanted_ns.div_ceil(1_000_000_000)
            )),
            Event::WarmingUp {
                elapsed_ns,
                wanted_ns,
            } => self.phase(&format!(
                "warm-up, {} of {} s",
                elapsed_ns / 1_000_000_000,
                wanted_ns.div_ceil(1_000_000_000)
            )),
            Event::Step { record, .. } => {
                let latency = record
                    .limited_ns
                    .map_or_else(String::new, |ns| format!(", {}", milliseconds(ns)));
                let over = if record.over_limit {
                    ", over the limit"
                } else {
                    ""
                };
                let line = format!("{} clients{latency}{over}", record.clients);
                match &self.bar {
                    Some(_) => self.phase(&line),
                    None => anstream::eprintln!("    {line}"),
                }
            }
            Event::WarmedUp { .. } | Event::Interval { .. } | Event::End { .. } => {}
        }
    }

    /// The row has ended with this result.
    pub fn end(&self, result: &str) {
        self.measured.borrow_mut().push(self.begun.get().elapsed());
        let label = self.label.borrow();
        match &self.bar {
            Some(bar) => bar.println(format!("{label}: {result}")),
            None => anstream::eprintln!("  {label}: {result}"),
        }
    }

    /// A line that stays.
    pub fn line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => anstream::eprintln!("{line}"),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn time_left(&self) -> String {
        let measured = self.measured.borrow();
        if measured.is_empty() {
            return String::new();
        }
        let mean = measured.iter().sum::<Duration>() / measured.len() as u32;
        let current = mean.saturating_sub(self.begun.get().elapsed());
        let left = (current + mean * self.left.get() as u32).as_secs();
        format!(" · {}:{:02} left", left / 60, left % 60)
    }
}

/// Nanoseconds as milliseconds, told apart below one.
pub fn milliseconds(ns: u64) -> String {
    let ms = ns as f64 / 1e6;
    match ms {
        _ if ms < 1.0 => format!("{ms:.3} ms"),
        _ if ms < 10.0 => format!("{ms:.1} ms"),
        _ => format!("{ms:.0} ms"),
    }
}
