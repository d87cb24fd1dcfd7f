//! A server that speaks another dialect is found at its first answers, and not after a time-out.
//!
//! The rule: until a process has understood a message, a run ends at ten messages of a step that are
//! not of the dialect, or two seconds after the first of them. Where a request has two kinds of
//! answers and one of them alone was understood, it ends two seconds after that first message, unless
//! the other kind was understood by then.

use crate::dialect::Kind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// So many messages that are not of the dialect end a run.
const MOST: u64 = 10;
/// Or the run ends this long after the first of them.
const PATIENCE_NS: u64 = 2_000_000_000;

/// Kinds of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answers(u8);

impl Answers {
    /// What those who hear a request get.
    pub(crate) const TOLD: Self = Self(1);
    /// What tells a sender that the others have been told.
    pub(crate) const RESULT: Self = Self(2);
    /// Both.
    pub(crate) const ALL: Self = Self(3);

    const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    fn add(&mut self, others: Self) {
        self.0 |= others.0;
    }
}

impl From<Kind> for Answers {
    fn from(kind: Kind) -> Self {
        match kind.is_result() {
            true => Self::RESULT,
            false => Self::TOLD,
        }
    }
}

/// What the workers of a process have understood, together.
#[derive(Debug, Default)]
pub(crate) struct Understanding {
    /// The kinds of answers that have come.
    any: AtomicU8,
    /// Messages that were not of the dialect, before that.
    none: AtomicU64,
}

/// What a worker knows of the first answers.
#[derive(Debug, Default)]
pub(crate) struct FirstAnswers {
    understood: Answers,
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

    /// Notes an answer of the dialect.
    pub(crate) fn understood(&mut self, answers: Answers) {
        self.understood.add(answers);
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

    /// Compares with what the other workers of the process have seen. The answers that nothing was
    /// understood of, out of those that requests have, when the run is to end for it, once.
    pub(crate) fn missing(&mut self, due: Answers, now_ns: u64) -> Option<Answers> {
        let mut understood = Answers(self.of_all.any.load(Ordering::Relaxed));
        if self.understood.without(understood) != Answers::default() {
            let others = self
                .of_all
                .any
                .fetch_or(self.understood.0, Ordering::Relaxed);
            understood = Answers(others | self.understood.0);
        }
        let missing = due.without(understood);
        if missing == Answers::default() {
            self.settled = true;
            return None;
        }
        let first_ns = self.first_ns?;
        let more = std::mem::take(&mut self.uncounted);
        let all = self.of_all.none.fetch_add(more, Ordering::Relaxed) + more;
        let is_strange = missing == due && all >= MOST;
        self.settled = is_strange || now_ns.saturating_sub(first_ns) >= PATIENCE_NS;
        self.settled.then_some(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(messages: u64, answers: &mut FirstAnswers, now_ns: u64) -> Option<Answers> {
        (0..messages).for_each(|_| answers.not_understood(1_000));
        answers.missing(Answers::TOLD, now_ns)
    }

    #[test]
    fn ten_messages_of_all_workers_end_a_run() {
        let of_all: Arc<Understanding> = Arc::default();
        let [mut one, mut other] = [(); 2].map(|()| FirstAnswers::new(Arc::clone(&of_all)));
        assert_eq!(after(6, &mut one, 2_000), None);
        assert_eq!(after(3, &mut other, 2_000), None);
        assert_eq!(after(1, &mut other, 2_000), Some(Answers::TOLD));
        assert!(other.is_settled());
    }

    #[test]
    fn one_message_and_two_seconds_end_it_too() {
        let mut answers = FirstAnswers::default();
        assert_eq!(after(0, &mut answers, u64::MAX), None);
        assert_eq!(after(1, &mut answers, PATIENCE_NS), None);
        assert!(after(0, &mut answers, PATIENCE_NS + 1_000).is_some());
    }

    #[test]
    fn what_any_worker_has_understood_settles_it_for_all() {
        let of_all: Arc<Understanding> = Arc::default();
        let [mut one, mut other] = [(); 2].map(|()| FirstAnswers::new(Arc::clone(&of_all)));
        one.understood(Answers::TOLD);
        assert_eq!(after(0, &mut one, 2_000), None);
        assert_eq!(after(50, &mut other, u64::MAX), None);
        assert!(one.is_settled() && other.is_settled());
    }

    #[test]
    fn a_kind_of_answers_that_is_never_understood_ends_a_run_after_two_seconds() {
        let mut answers = FirstAnswers::default();
        answers.understood(Answers::TOLD);
        (0..50).for_each(|_| answers.not_understood(1_000));
        assert_eq!(answers.missing(Answers::ALL, PATIENCE_NS), None);
        let end_ns = PATIENCE_NS + 1_000;
        assert_eq!(answers.missing(Answers::ALL, end_ns), Some(Answers::RESULT));
        // One that comes in time is enough.
        let mut answers = FirstAnswers::default();
        answers.understood(Answers::TOLD);
        answers.not_understood(1_000);
        answers.understood(Answers::RESULT);
        assert_eq!(answers.missing(Answers::ALL, end_ns), None);
        assert!(answers.is_settled());
    }
}
