//! What must hold of answers that come in parts.

use super::Trial;
use record::{Faults, PartNumbers, Streams};
use test_servers::oracle::Parts;

impl Trial<'_> {
    /// What clients find in the parts of the answers that were written.
    pub(super) fn parted(&self) -> Parts {
        let mut all = Parts::default();
        for asked in &self.told.asked {
            let written = asked.copies.iter().filter(|copy| copy.written_ns.is_some());
            written.for_each(|_| all.add(&asked.parts));
        }
        all
    }

    fn streams(&self) -> impl Iterator<Item = &Streams> {
        let steps = self.record.steps.iter();
        steps.filter_map(|step| step.streams.as_deref())
    }

    fn part_numbers(&self) -> PartNumbers {
        let mut all = PartNumbers::default();
        self.streams().for_each(|of| all.merge(of.numbers));
        all
    }

    /// Faults of all steps that the numbers of parts show.
    pub(super) fn part_faults(&self) -> Faults {
        self.part_numbers().faults()
    }

    /// Each part is counted, and each that was wrong, once. Those of a warm-up are in no figure.
    pub(super) fn hold_parts(&mut self) {
        let known = self.parted();
        let found = self.part_numbers();
        let answers = self.streams().map(|of| of.answers).sum();
        let messages = self.streams().map(|of| of.parts).sum();
        let warms_up = self
            .plan()
            .open_loop()
            .is_some_and(|of| of.warm_up.ns() > 0);
        let is_partial = self.is_partial() || warms_up;
        for (law, count, reported) in [
            ("answers in parts", known.answers, answers),
            ("parts of answers", known.messages, messages),
            ("parts that are missing", known.missing, found.missing),
            ("parts that came twice", known.repeats, found.repeats),
            ("parts that came late", known.steps_back, found.steps_back),
        ] {
            let least = if is_partial { 0 } else { count };
            self.within(law, least..=count, reported);
        }
        let others = found.unreadable + found.unawaited;
        self.exactly("parts that cannot be read", 0, others);
    }
}
