//! Since when bytes can have waited that a wait of a backend tells of.

/// Between a segment's stamp and its place in the queue of its socket lies the work of the network
/// stack. It takes some microseconds, and longer where the kernel puts it off.
const PUT_OFF_NS: u64 = 1_000_000;

/// When the kernel was last asked for every socket that has bytes, and told of them all.
#[derive(Debug, Default)]
pub(super) struct Looks {
    complete_ns: u64,
}

impl Looks {
    /// Before this time nothing had arrived of what the present wait tells of a socket that was
    /// emptied before, and whose last segment has the stamp `at_ns`. Zero where that is not known.
    #[inline]
    pub(super) const fn since_ns(&self, at_ns: u64) -> u64 {
        // The stack took longer than the look was ago.
        if at_ns < self.complete_ns {
            return 0;
        }
        self.complete_ns.saturating_sub(PUT_OFF_NS)
    }

    /// A wait that began at `began_ns` has told of every socket that had bytes then, and what it told
    /// of has been handled.
    #[inline]
    pub(super) const fn complete(&mut self, began_ns: u64) {
        self.complete_ns = began_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_wait_did_not_tell_of_came_after_it_began() {
        let mut looks = Looks::default();
        assert_eq!(looks.since_ns(3 * PUT_OFF_NS), 0);
        looks.complete(2 * PUT_OFF_NS);
        assert_eq!(looks.since_ns(3 * PUT_OFF_NS), PUT_OFF_NS);
    }

    #[test]
    fn a_segment_that_was_put_off_says_nothing() {
        let mut looks = Looks::default();
        looks.complete(3 * PUT_OFF_NS);
        assert_eq!(looks.since_ns(3 * PUT_OFF_NS - 1), 0);
    }
}
