//! The progress bar within a step, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use run_record::Event;

/// A bar on stderr; invisible where stderr is no terminal.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(hidden: bool) -> Self {
        let target = if hidden {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(10)
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos} of {len}")
            .expect("the template is a constant");
        bar.set_style(style);
        Self(bar)
    }

    pub(super) fn event(&self, event: &Event) {
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
            Event::WarmingUp {
                elapsed_ns,
                wanted_ns,
            } => self.show(
                "warm-up, seconds".to_owned(),
                elapsed_ns / 1_000_000_000,
                wanted_ns.div_ceil(1_000_000_000),
            ),
            Event::WarmedUp { .. }
            | Event::Interval { .. }
            | Event::Step { .. }
            | Event::End { .. } => {}
        }
    }

    /// Prints above the bar.
    pub(super) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.0.suspend(print)
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }

    fn show(&self, message: String, position: u64, length: u64) {
        let is_new = self.0.message() != message;
        self.0.set_message(message);
        self.0.update(|state| {
            state.set_len(length);
            state.set_pos(position);
        });
        // The words were drawn with the old numbers, and the next draw may be some time away.
        if is_new {
            self.0.force_draw();
        }
    }
}
