//! How a step ends for the clients of a worker: nothing more is waited for, and what was counted is taken.

use super::{Verifier, limits};
use crate::dialect::Kind;
use crate::message::StepPart;
use crate::verify::ledger::{Confirmed, Missing, StepLedger};

impl Verifier {
    /// Adds what was counted and recorded since the last time to a worker's part of a step.
    pub(crate) fn finish(&mut self, part: &mut StepPart) {
        part.streams = self.finish_parts();
        part.latencies
            .merge(&std::mem::take(&mut self.tally.latencies));
        part.faults.merge(&std::mem::take(&mut self.tally.faults));
        part.of_sender
            .merge(std::mem::take(&mut self.tally.of_sender));
        part.first = std::mem::take(&mut self.tally.first);
        part.slow = std::mem::take(&mut self.tally.slow);
        part.messages = self.tally.messages;
        part.counts.received = self.tally.messages;
        part.counts.faults = part.faults.total();
    }

    /// Ends a step whose samples are all complete. Messages of it are recognised as late until the
    /// next one begins.
    pub(crate) fn close_step(&mut self) {
        if !self.steps.given_up {
            let unsent = self.close_window().unsent;
            self.tally.faults.misdirected += unsent;
        }
    }

    /// Ends a step before its time; what has not come is counted as missing when `count` is set.
    pub(crate) fn give_up_step(&mut self, count: bool, now_ns: u64) {
        if count {
            self.count_visits(now_ns);
        }
        let missing = self.close_window();
        if count {
            self.count_missing(missing);
        }
        self.steps.given_up = true;
    }

    fn close_window(&mut self) -> Missing {
        self.settle_lost();
        let Some(step) = self.steps.now.clone() else {
            return Missing::default();
        };
        let listeners = self.crowd.listeners();
        let missing = self.steps.window.close(&step, listeners);
        let confirmed = self.steps.window.take_confirmed();
        self.count_confirmed(&step, confirmed);
        missing
    }

    /// Records what had to wait until another site said when it sent.
    pub(super) fn count_confirmed(&mut self, step: &StepLedger, confirmed: Option<Confirmed>) {
        let Some(confirmed) = confirmed else { return };
        for (index, latency_ns, error_ns) in confirmed.latencies {
            if step.is_timed(index) {
                self.tally.latencies.delivery.record(latency_ns);
                if error_ns > 0 {
                    let is_limited = limits(self.terms.limited, Kind::Broadcast);
                    self.tally
                        .latencies
                        .shared
                        .note(error_ns, is_limited.then_some(latency_ns));
                }
            }
        }
        self.tally.faults.duplicate += confirmed.faults.duplicate;
        self.tally.faults.lost += confirmed.faults.lost;
        if self.terms.keeps_order {
            self.tally.faults.reordered += confirmed.faults.reordered;
        }
    }
}
