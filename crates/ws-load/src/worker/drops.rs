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
    /// Each with the time of its end.
    lost: VecDeque<(Slot, ConnectError, u64)>,
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
        self.lost.push_back((slot, error, now_ns));
    }

    /// The next client of which the scenario has not heard. It is counted now, as the scenario counts it: one
    /// that is lost at the very end of a step is in both counts or in neither.
    pub(super) fn next_lost(&mut self) -> Option<(Slot, ConnectError)> {
        let (slot, error, at_ns) = self.lost.pop_front()?;
        if let Some(began_ns) = self.began_ns {
            let second = at_ns.saturating_sub(began_ns) / 1_000_000_000;
            let second = u32::try_from(second).unwrap_or(u32::MAX);
            self.part
                .note(error.drop_cause(), second, || error.to_string());
        }
        Some((slot, error))
    }

    /// The step is over.
    pub(super) fn take(&mut self) -> DropsPart {
        self.began_ns = None;
        std::mem::take(&mut self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn lost(drops: &mut Drops, slot: Slot, at_ns: u64) {
        let error = ConnectError::Io {
            addr: ([127, 0, 0, 1], 1).into(),
            stage: crate::net::Stage::Ready,
            source: io::ErrorKind::ConnectionReset.into(),
        };
        drops.note(slot, error, at_ns);
    }

    fn heard(drops: &mut Drops) -> Vec<Slot> {
        std::iter::from_fn(|| drops.next_lost().map(|(slot, _)| slot)).collect()
    }

    #[test]
    fn a_drop_is_counted_when_the_scenario_hears_of_it_with_the_time_of_its_end() {
        let mut drops = Drops::default();
        lost(&mut drops, 1, 5);
        assert_eq!(heard(&mut drops), [1]);
        assert_eq!(drops.take().into_record(), None, "no step was under way");
        drops.begin(1_000_000_000);
        lost(&mut drops, 2, 3_500_000_000);
        assert_eq!(heard(&mut drops), [2]);
        // The scenario does not hear of this one before the step is over.
        lost(&mut drops, 3, 3_600_000_000);
        let times = drops.take().into_record().expect("one ended");
        assert_eq!(
            times.by_interval().into_iter().collect::<Vec<_>>(),
            [(2, 1)]
        );
        assert_eq!(heard(&mut drops), [3]);
        assert_eq!(drops.take().into_record(), None);
    }
}
