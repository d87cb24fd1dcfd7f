//! The progress bar within a step, on a terminal only.

use super::live::Live;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::Event;
use std::time::{Duration, Instant};

/// A bar on stderr, with the last second of a step above it; invisible where stderr is no terminal.
pub(super) struct Progress {
    bar: ProgressBar,
    live: Live,
    /// When the last second was told.
    told: Instant,
}

impl Progress {
    pub(super) fn new(hidden: bool, shows_heat: bool) -> Self {
        let target = if hidden {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(10)
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template("{prefix}{msg} {wide_bar} {pos} of {len}")
            .expect("the template is a constant");
        bar.set_style(style);
        Self {
            bar,
            live: Live::new(shows_heat),
            told: Instant::now(),
        }
    }

    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Connecting {
                connected, wanted, ..
            } => self.show("connecting".to_owned(), *connected, *wanted),
            Event::Measuring {
                clients,
                samples,
                wanted,
                ..
            } => self.show(format!("{clients} clients, samples"), *samples, *wanted),
            Event::Holding {
                connected,
                held_ns,
                hold_ns,
                ..
            } => self.show(
                format!("{connected} connections held, seconds"),
                held_ns / 1_000_000_000,
                hold_ns / 1_000_000_000,
            ),
            Event::Watching {
                connected,
                clients,
                elapsed_ns,
                wanted_ns,
                ..
            } => self.show(
                format!("{connected} of {clients} clients connected, seconds"),
                elapsed_ns / 1_000_000_000,
                wanted_ns.div_ceil(1_000_000_000),
            ),
            Event::WarmingUp {
                elapsed_ns,
                wanted_ns,
            } => self.show(
                "warm-up, seconds".to_owned(),
                elapsed_ns / 1_000_000_000,
                wanted_ns.div_ceil(1_000_000_000),
            ),
            Event::Interval { step, row, .. } => {
                // The first of a step began with the step, and not with the event before it.
                let length = match row.from_ns {
                    0 => Duration::from_secs(1),
                    _ => self.told.elapsed(),
                };
                self.told = Instant::now();
                self.live.interval(*step, row, length.as_nanos() as u64);
                self.bar.set_prefix(self.live.lines());
            }
            Event::Step { .. } => {
                self.live.ended();
                self.bar.set_prefix("");
            }
            Event::WarmedUp { .. } | Event::End { .. } => {}
        }
    }

    /// Prints above the bar.
    pub(super) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, message: String, position: u64, length: u64) {
        let is_new = self.bar.message() != message;
        self.bar.set_message(message);
        self.bar.update(|state| {
            state.set_len(length);
            state.set_pos(position);
        });
        // The words were drawn with the old numbers, and the next draw may be some time away.
        if is_new {
            self.bar.force_draw();
        }
    }
}
