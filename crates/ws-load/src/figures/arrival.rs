//! When a message arrived: a point in time, or an interval.

/// The moment is `at_ns` where the message has a stamp of its own. Where it came in one read with a
/// later message, whose stamp stands for it, it is anywhere between the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// At this time at the latest.
    pub(crate) at_ns: u64,
    /// Not before this time.
    pub(crate) earliest_ns: u64,
}

impl Arrival {
    /// The later of two arrivals is known to lie between the later ends of both.
    #[inline]
    #[must_use]
    pub(crate) fn later(self, other: Self) -> Self {
        Self {
            at_ns: self.at_ns.max(other.at_ns),
            earliest_ns: self.earliest_ns.max(other.earliest_ns),
        }
    }

    /// By how much a time that ends with this arrival, and began with a write at `sent_ns`, may be
    /// shorter: nothing arrives before its request was written.
    pub(crate) fn error_since(self, sent_ns: u64) -> u64 {
        self.at_ns.saturating_sub(self.earliest_ns.max(sent_ns))
    }
}

/// One that is known exactly.
impl From<u64> for Arrival {
    #[inline]
    fn from(at_ns: u64) -> Self {
        Self {
            at_ns,
            earliest_ns: at_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn between(earliest_ns: u64, at_ns: u64) -> Arrival {
        Arrival { at_ns, earliest_ns }
    }

    #[test]
    fn the_last_of_several_is_known_by_the_best_of_them() {
        let exact = Arrival::from(140);
        assert_eq!(between(20, 150).later(exact), between(140, 150));
        assert_eq!(between(20, 130).later(exact), exact);
        assert_eq!(exact.later(between(20, 150)), between(140, 150));
    }

    #[test]
    fn nothing_arrives_before_its_request_was_written() {
        assert_eq!(between(20, 150).error_since(0), 130);
        assert_eq!(between(20, 150).error_since(100), 50);
        assert_eq!(between(20, 150).error_since(200), 0);
        assert_eq!(Arrival::from(150).error_since(100), 0);
    }
}
