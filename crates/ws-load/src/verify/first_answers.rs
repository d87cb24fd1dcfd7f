//! A server that speaks another dialect is found at its first answers, and not after a time-out.
//!
//! The rule: until a process has understood a message, a run ends at ten messages of a step that are
//! not of the dialect, or two seconds after the first of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// So many messages that are not of the dialect end a run.
const MOST: u64 = 10;
/// Or the run ends this long after the first of them.
const PATIENCE_NS: u64 = 2_000_000_000;

/// What the workers of a process have understood, together.
#[derive(Debug, Default)]
pub(crate) struct Understanding {
    /// A message of the dialect has come.
    any: AtomicBool,
    /// Messages that were not, before that.
    none: AtomicU64,
}

/// What a worker knows of the first answers.
#[derive(Debug, Default)]
pub(crate) struct FirstAnswers {
    /// A message of the dialect has come.
    pub(crate) understood: bool,
    /// Messages that were not, and have not been added to those of the process.
    uncounted: u64,
    /// When the first of them came.
    first_ns: Option<u64>,
    /// Nothing is to be found any more.
    settled: bool,
    of_all: Arc<Understanding>,
}

impl FirstAnswers {
    pub(crate) fn new(of_all: Arc<Understanding>) -> Self {
        Self {
            of_all,
            ..Self::default()
        }
    }

    /// Notes a message that is not of the dialect.
    pub(crate) fn not_understood(&mut self, at_ns: u64) {
        self.uncounted += 1;
        self.first_ns.get_or_insert(at_ns);
    }

    /// True once there is no need to look.
    #[inline]
    pub(crate) const fn is_settled(&self) -> bool {
        self.settled
    }

    /// Compares with what the other workers of the process have seen. True when the run is to end,
    /// once.
    pub(crate) fn is_hopeless(&mut self, now_ns: u64) -> bool {
        if self.understood {
            self.of_all.any.store(true, Ordering::Relaxed);
        }
        if self.of_all.any.load(Ordering::Relaxed) {
            self.settled = true;
            return false;
        }
        let Some(first_ns) = self.first_ns else {
            return false;
        };
        let more = std::mem::take(&mut self.uncounted);
        let all = self.of_all.none.fetch_add(more, Ordering::Relaxed) + more;
        self.settled = all >= MOST || now_ns.saturating_sub(first_ns) >= PATIENCE_NS;
        self.settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(messages: u64, answers: &mut FirstAnswers, now_ns: u64) -> bool {
        (0..messages).for_each(|_| answers.not_understood(1_000));
        answers.is_hopeless(now_ns)
    }

    #[test]
    fn ten_messages_of_all_workers_end_a_run() {
        let of_all: Arc<Understanding> = Arc::default();
        let [mut one, mut other] = [(); 2].map(|()| FirstAnswers::new(Arc::clone(&of_all)));
        assert!(!after(6, &mut one, 2_000));
        assert!(!after(3, &mut other, 2_000));
        assert!(after(1, &mut other, 2_000));
        assert!(other.is_settled());
    }

    #[test]
    fn one_message_and_two_seconds_end_it_too() {
        let mut answers = FirstAnswers::default();
        assert!(!after(0, &mut answers, u64::MAX));
        assert!(!after(1, &mut answers, PATIENCE_NS));
        assert!(after(0, &mut answers, PATIENCE_NS + 1_000));
    }

    #[test]
    fn what_any_worker_has_understood_settles_it_for_all() {
        let of_all: Arc<Understanding> = Arc::default();
        let [mut one, mut other] = [(); 2].map(|()| FirstAnswers::new(Arc::clone(&of_all)));
        one.understood = true;
        assert!(!after(0, &mut one, 2_000));
        assert!(!after(50, &mut other, u64::MAX));
        assert!(one.is_settled() && other.is_settled());
    }
}
