//! When the connections of a worker ended that it did not close itself.

use super::clients::ClientTable;
use crate::message::{DropsPart, Report, StepPart};
use crate::net::ConnectError;
use crate::scenario::Slot;
use std::collections::VecDeque;

impl ClientTable {
    /// Reports the part of a step, with the drops until now.
    pub(super) fn report_part(&mut self, mut part: Box<StepPart>) {
        part.drops = self.drops.take();
        self.report(Report::Part(part));
    }
}

/// Counts drops while a step lasts, and keeps each until the scenario has heard of it.
#[derive(Debug, Default)]
pub(super) struct Drops {
    lost: VecDeque<(Slot, ConnectError)>,
    /// When the step began; absent between steps.
    began_ns: Option<u64>,
    part: DropsPart,
}

impl Drops {
    /// A step begins, or is known to have begun at this moment.
    pub(super) const fn begin(&mut self, began_ns: u64) {
        self.began_ns = Some(began_ns);
    }

    /// A client that was ready has lost its connection.
    pub(super) fn note(&mut self, slot: Slot, error: ConnectError, now_ns: u64) {
        if let Some(began_ns) = self.began_ns {
            let second = now_ns.saturating_sub(began_ns) / 1_000_000_000;
            let second = u32::try_from(second).unwrap_or(u32::MAX);
            self.part
                .note(error.drop_cause(), second, || error.to_string());
        }
        self.lost.push_back((slot, error));
    }

    /// The next client of which the scenario has not heard.
    pub(super) fn next_lost(&mut self) -> Option<(Slot, ConnectError)> {
        self.lost.pop_front()
    }

    /// The step is over.
    pub(super) fn take(&mut self) -> DropsPart {
        self.began_ns = None;
        std::mem::take(&mut self.part)
    }
}
