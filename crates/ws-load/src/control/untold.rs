//! What a step has shown so far, told about once a second.

use crate::figures::Interval;
use record::TimeRow;

/// Workers report their own seconds one after the other; together they are told this long after the
/// event before.
const EVERY_NS: u64 = 1_000_000_000;

/// What workers have reported since it was last told.
#[derive(Debug, Default)]
pub(super) struct Untold {
    began_ns: u64,
    from_ns: u64,
    interval: Option<Interval>,
}

impl Untold {
    /// Nothing yet, of a step that begins at this moment.
    pub(super) fn from(began_ns: u64) -> Self {
        Self {
            began_ns,
            from_ns: began_ns,
            interval: None,
        }
    }

    pub(super) fn add(&mut self, interval: &Interval) {
        self.interval.get_or_insert_default().merge(interval);
    }

    /// What is to be told at this moment, if it is time and there is anything.
    pub(super) fn take(&mut self, now_ns: u64) -> Option<TimeRow> {
        if now_ns < self.from_ns.saturating_add(EVERY_NS) {
            return None;
        }
        let interval = self.interval.take()?;
        let since_ns = self.from_ns.saturating_sub(self.began_ns);
        self.from_ns = now_ns;
        Some(interval.row(since_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Counts;

    fn received(received: u64) -> Interval {
        Interval {
            counts: Counts {
                received,
                ..Counts::default()
            },
            ..Interval::default()
        }
    }

    #[test]
    fn the_intervals_of_all_workers_are_told_together_once_a_second() {
        let mut untold = Untold::from(500);
        assert_eq!(
            untold.take(500 + EVERY_NS),
            None,
            "there is nothing to tell"
        );
        untold.add(&received(3));
        untold.add(&received(4));
        assert_eq!(untold.take(499 + EVERY_NS), None);
        let row = untold.take(700 + EVERY_NS).unwrap();
        assert_eq!((row.from_ns, row.received), (0, 7));
        untold.add(&received(5));
        assert_eq!(untold.take(600 + 2 * EVERY_NS), None);
        let row = untold.take(700 + 2 * EVERY_NS).unwrap();
        assert_eq!((row.from_ns, row.received), (200 + EVERY_NS, 5));
        assert_eq!(untold.take(700 + 5 * EVERY_NS), None);
    }
}
