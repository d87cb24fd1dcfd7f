//! One sequence of numbers on one connection: what is missing, came again, or came late.
//!
//! A number that comes late was counted as missing before, and is taken back from there, so that it is
//! one fault and not two. To know it, the latest gaps are kept, up to a bound; of those before them only
//! how many numbers are missing in all. A low number that comes later is taken for one of those.

/// Most gaps of a sequence that are kept.
const MOST_GAPS: usize = 64;

/// Numbers that did not come between two that did, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    from: u64,
    to: u64,
    /// False below the first number that came, and between two connections: those were not due.
    is_due: bool,
}

/// What a number is, after those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The next one, or one above it, and how many are missing in between.
    Ahead { missing: u64 },
    /// One that was missing, or is below the first. It was counted as missing if it was due.
    Back { was_missing: bool },
    /// One that was missing at the end of an earlier step.
    AfterStep,
    /// One that had come already.
    Repeat,
}

#[derive(Debug)]
pub(super) struct Numbers {
    /// Which of the connection's sequences it is.
    pub(super) sequence: u64,
    /// It goes on where the client's connection before ended.
    pub(super) resumes: bool,
    lowest: u64,
    highest: u64,
    /// In rising order.
    gaps: Vec<Gap>,
    /// What is missing below here was told in an earlier step.
    told_below: u64,
    /// Gaps below here are not kept.
    forgotten_below: u64,
    /// How many numbers are missing in those of this step.
    forgotten: u64,
    /// The same of earlier steps.
    forgotten_told: u64,
    /// The next number is the first of a connection.
    has_new_connection: bool,
}

impl Numbers {
    /// A sequence begins with any number.
    pub(super) const fn begin(sequence: u64, resumes: bool, number: u64) -> Self {
        Self {
            sequence,
            resumes,
            lowest: number,
            highest: number,
            gaps: Vec::new(),
            told_below: 0,
            forgotten_below: 0,
            forgotten: 0,
            forgotten_told: 0,
            has_new_connection: false,
        }
    }

    /// A sequence that begins with 1, which has not come yet.
    pub(super) const fn from_one() -> Self {
        let mut begun = Self::begin(0, false, 1);
        begun.highest = 0;
        begun
    }

    /// The client is on its next connection. What the server sent on the last one after the client had
    /// begun to leave was not read: numbers up to the first that comes are not due.
    pub(super) const fn connect_anew(&mut self) {
        self.has_new_connection = true;
    }

    /// The next number that came.
    #[inline]
    pub(super) fn note(&mut self, number: u64) -> Seen {
        let is_due = !std::mem::take(&mut self.has_new_connection);
        if number <= self.highest {
            return self.behind(number);
        }
        let between = number - self.highest - 1;
        if between > 0 {
            self.keep(Gap {
                from: self.highest + 1,
                to: number - 1,
                is_due,
            });
        }
        self.highest = number;
        Seen::Ahead {
            missing: if is_due { between } else { 0 },
        }
    }

    #[cold]
    fn behind(&mut self, number: u64) -> Seen {
        if number < self.lowest {
            self.lower(number);
            return Seen::Back { was_missing: false };
        }
        match self.gaps.binary_search_by(|gap| {
            use std::cmp::Ordering::{Equal, Greater, Less};
            match (gap.to < number, gap.from > number) {
                (true, _) => Less,
                (_, true) => Greater,
                _ => Equal,
            }
        }) {
            Ok(at) => self.fill(at, number),
            Err(_) if number < self.forgotten_below => self.forgotten(number),
            Err(_) => Seen::Repeat,
        }
    }

    /// A number of a gap that is not kept, if there is one, or one that came already.
    fn forgotten(&mut self, number: u64) -> Seen {
        let (left, seen) = match number < self.told_below {
            true => (&mut self.forgotten_told, Seen::AfterStep),
            false => (&mut self.forgotten, Seen::Back { was_missing: true }),
        };
        if *left == 0 {
            return Seen::Repeat;
        }
        *left -= 1;
        seen
    }

    /// A number comes below all others. What is between was not due, and may still come.
    fn lower(&mut self, number: u64) {
        let between = Gap {
            from: number + 1,
            to: self.lowest.saturating_sub(1),
            is_due: false,
        };
        self.lowest = number;
        if between.from <= between.to && self.gaps.len() < MOST_GAPS {
            self.gaps.insert(0, between);
        }
    }

    /// A number of a gap comes, which divides it.
    fn fill(&mut self, at: usize, number: u64) -> Seen {
        let gap = self.gaps.remove(at);
        if gap.to > number {
            let from = number + 1;
            self.gaps.insert(at, Gap { from, ..gap });
        }
        if gap.from < number {
            let to = number - 1;
            self.gaps.insert(at, Gap { to, ..gap });
        }
        self.forget_oldest();
        match gap.is_due {
            true if number < self.told_below => Seen::AfterStep,
            was_missing => Seen::Back { was_missing },
        }
    }

    #[cold]
    fn keep(&mut self, gap: Gap) {
        self.gaps.push(gap);
        self.forget_oldest();
    }

    fn forget_oldest(&mut self) {
        while self.gaps.len() > MOST_GAPS {
            let gap = self.gaps.remove(0);
            self.forgotten_below = gap.to.saturating_add(1);
            let left = match gap.from >= self.told_below {
                true => &mut self.forgotten,
                false => &mut self.forgotten_told,
            };
            if gap.is_due {
                *left = left.saturating_add(gap.to - gap.from + 1);
            }
        }
    }

    /// A step ends: what is missing now stays so.
    pub(super) const fn end_step(&mut self) {
        self.told_below = self.highest;
        self.forgotten_told = self.forgotten_told.saturating_add(self.forgotten);
        self.forgotten = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn seen(numbers: &[u64]) -> Vec<Seen> {
        let mut of = Numbers::begin(0, false, numbers[0]);
        numbers[1..].iter().map(|number| of.note(*number)).collect()
    }

    const NEXT: Seen = Seen::Ahead { missing: 0 };

    #[test]
    fn a_number_is_one_fault_at_most() {
        let late = Seen::Back { was_missing: true };
        let below = Seen::Back { was_missing: false };
        let gap = |missing| Seen::Ahead { missing };
        assert_eq!(seen(&[7, 8, 9]), [NEXT, NEXT]);
        assert_eq!(seen(&[7, 9, 8, 10]), [gap(1), late, NEXT]);
        assert_eq!(seen(&[7, 8, 8, 9]), [NEXT, Seen::Repeat, NEXT]);
        assert_eq!(seen(&[7, 9, 8, 8]), [gap(1), late, Seen::Repeat]);
        assert_eq!(seen(&[7, 6, 6]), [below, Seen::Repeat]);
        assert_eq!(seen(&[7, 4, 5, 5]), [below, below, Seen::Repeat]);
        let ends = [0, u64::MAX, u64::MAX - 1, 1, u64::MAX];
        assert_eq!(seen(&ends), [gap(u64::MAX - 1), late, late, Seen::Repeat]);
    }

    #[test]
    fn what_a_step_has_told_is_no_fault_of_the_next() {
        let mut numbers = Numbers::begin(0, false, 1);
        assert_eq!(numbers.note(4), Seen::Ahead { missing: 2 });
        numbers.end_step();
        assert_eq!(numbers.note(3), Seen::AfterStep);
        assert_eq!(numbers.note(3), Seen::Repeat);
        assert_eq!(numbers.note(6), Seen::Ahead { missing: 1 });
        assert_eq!(numbers.note(5), Seen::Back { was_missing: true });
        assert_eq!(numbers.note(4), Seen::Repeat);
    }

    #[test]
    fn what_is_between_two_connections_is_not_missing() {
        let mut numbers = Numbers::begin(0, true, 10);
        numbers.connect_anew();
        assert_eq!(numbers.note(12), NEXT);
        assert_eq!(numbers.note(14), Seen::Ahead { missing: 1 });
        assert_eq!(numbers.note(11), Seen::Back { was_missing: false });
        numbers.connect_anew();
        assert_eq!(numbers.note(14), Seen::Repeat);
        assert_eq!(numbers.note(16), Seen::Ahead { missing: 1 });
    }

    #[test]
    fn a_gap_that_is_not_kept_is_told_in_its_step_alone() {
        let mut numbers = Numbers::begin(0, false, 1);
        (3..=201).step_by(2).for_each(|number| {
            numbers.note(number);
        });
        numbers.end_step();
        assert_eq!(numbers.note(2), Seen::AfterStep);
        assert_eq!(numbers.note(202), NEXT);
        numbers.end_step();
        assert_eq!(numbers.note(4), Seen::AfterStep);
    }

    #[test]
    fn gaps_that_are_not_kept_are_never_counted_twice() {
        let mut numbers = Numbers::begin(0, false, 0);
        let (mut missing, mut back, mut repeats) = (0, 0, 0);
        let every_other = (2..=1_000).step_by(2);
        let late = (1..1_000).step_by(2);
        for number in every_other.chain(late) {
            match numbers.note(number) {
                Seen::Ahead { missing: more } => missing += more,
                Seen::Back { was_missing: true } => {
                    missing -= 1;
                    back += 1;
                }
                Seen::Repeat => repeats += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((missing, back, repeats), (0, 500, 0));
        assert!(numbers.gaps.capacity() <= 2 * MOST_GAPS);
    }

    proptest! {
        /// Against a set of all that came.
        #[test]
        fn the_counts_are_those_of_a_ledger_of_all_numbers(
            numbers in prop::collection::vec(0_u64..60, 1..200),
            end in 0_usize..200,
        ) {
            let mut of = Numbers::begin(0, false, numbers[0]);
            let mut came = BTreeSet::from([numbers[0]]);
            let (first, mut told) = (numbers[0], BTreeSet::new());
            let (mut missing, mut back, mut repeats, mut after) = (0, 0, 0, 0);
            let due = |came: &BTreeSet<u64>| -> BTreeSet<u64> {
                let highest = *came.last().unwrap();
                (first..highest).filter(|number| !came.contains(number)).collect()
            };
            let mut all_missing = 0;
            for (at, number) in numbers[1..].iter().enumerate() {
                if at == end {
                    of.end_step();
                    prop_assert_eq!(missing, due(&came).len() as u64);
                    told = due(&came);
                    all_missing = missing;
                    missing = 0;
                }
                let is_new = !came.contains(number);
                let is_behind = number < came.last().unwrap();
                match of.note(*number) {
                    Seen::Ahead { missing: more } => {
                        prop_assert!(is_new && !is_behind);
                        missing += more;
                    }
                    Seen::Back { was_missing } => {
                        prop_assert!(is_new && is_behind && !told.contains(number));
                        missing -= u64::from(was_missing);
                        back += 1;
                    }
                    Seen::AfterStep => {
                        prop_assert!(is_new && told.contains(number));
                        after += 1;
                    }
                    Seen::Repeat => {
                        prop_assert!(!is_new);
                        repeats += 1;
                    }
                }
                came.insert(*number);
            }
            let still = due(&came).len() as u64;
            prop_assert_eq!(all_missing + missing - after, still);
            prop_assert_eq!(repeats as usize, numbers.len() - came.len());
            prop_assert!(back + after <= came.len() as u64);
        }
    }
}
