//! The order of requests that say their number: it rises on each connection.
//!
//! Workers release samples of a closed loop for one another, and what two of them hand to a third may
//! overtake each other on the way. Samples are released in the order of their numbers, so that all
//! those before one that was released are released too: whichever arrives, the worker sends the first
//! of its own that it has not sent.

use super::backlog::Request;
use crate::verify::StepLedger;

/// The samples of a worker in the order of their numbers.
#[derive(Debug)]
pub(super) struct Rising {
    number: u64,
    workers: u64,
    /// All samples of the worker below this were sent.
    next: u32,
}

impl Rising {
    /// Of the worker with this number among so many of the run.
    pub(super) fn new(number: u32, workers: u32) -> Self {
        Self {
            number: number.into(),
            workers: workers.into(),
            next: 0,
        }
    }

    /// Begins a step.
    pub(super) fn begin(&mut self) {
        self.next = 0;
    }

    /// What is sent in the place of a sample that was released.
    fn in_turn(&mut self, ledger: &StepLedger, released: Request) -> Request {
        let is_ours = |client: u64| client % self.workers == self.number;
        if !is_ours(released.client) {
            return released;
        }
        let mut rest = (self.next..ledger.len()).map(|index| (index, ledger.sender(index)));
        let Some((index, client)) = rest.find(|(_, client)| is_ours(*client)) else {
            return released;
        };
        self.next = index + 1;
        Request::now(index, client)
    }
}

/// The sample that is sent in the place of one of a closed loop that was released: where the order
/// does not matter, that one.
#[inline]
pub(super) fn in_turn(
    rising: &mut Option<Rising>,
    ledger: &StepLedger,
    released: Request,
) -> Request {
    match rising {
        None => released,
        Some(rising) => rising.in_turn(ledger, released),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::StepTerms;
    use crate::plan::Parties;
    use crate::verify::{Keeper, Terms};
    use plan::Audience;
    use proptest::prelude::*;

    fn ledger(samples: u32, clients: u64) -> StepLedger {
        StepLedger::new(Terms {
            audience: Audience::Sender,
            seed: 1,
            step: StepTerms {
                first_sample: 0,
                samples,
                warm_up: 0,
                by_clock: false,
                clients,
            },
            keeper: Keeper::Process,
            parties: Parties::Same(1),
            populations: Vec::new(),
            limits_completion: true,
            script: None,
        })
    }

    proptest! {
        /// Whatever overtakes what on the way to a worker, it sends its samples in their order, each
        /// once and none before it was released.
        #[test]
        fn samples_that_overtook_each_other_are_sent_in_their_order(
            ranks: [u8; 60],
            clients in 1u64..9,
            number in 0u32..3,
        ) {
            const WORKERS: u32 = 3;
            let ledger = ledger(ranks.len() as u32, clients);
            let mut released = Vec::new();
            while let Some((index, client)) = ledger.release() {
                released.push(Request::now(index, client));
            }
            let is_ours = |of: &Request| of.client % u64::from(WORKERS) == u64::from(number);
            let ours: Vec<Request> = released.iter().copied().filter(is_ours).collect();
            let mut arriving = ours.clone();
            // Each may be late by as much as its rank says.
            arriving.sort_by_key(|of| of.index + u32::from(ranks[of.index as usize] % 20));
            let mut rising = Some(Rising::new(number, WORKERS));
            let mut latest = 0;
            let mut sent = Vec::new();
            for request in arriving {
                latest = latest.max(request.index);
                let instead = in_turn(&mut rising, &ledger, request);
                prop_assert!(instead.index <= latest, "{instead:?} was not released");
                sent.push(instead);
            }
            prop_assert_eq!(sent, ours);
        }
    }

    #[test]
    fn a_sample_of_another_worker_is_sent_as_it_came() {
        let ledger = ledger(10, 4);
        let mut rising = Some(Rising::new(0, 2));
        let other = (0..10)
            .find(|index| ledger.sender(*index) % 2 == 1)
            .unwrap();
        let released = Request::now(other, ledger.sender(other));
        assert_eq!(in_turn(&mut rising, &ledger, released), released);
    }
}
