//! Requests that were sent and of which their sender hears nothing.

use super::Verifier;
use crate::dialect::Kind;
use crate::figures::Arrival;
use crate::verify::ledger::{Listeners, Received, StepLedger};
use std::sync::Arc;

impl Verifier {
    /// A request that has no answer was sent: nothing of it is awaited.
    pub(crate) fn sent_unanswered(&mut self, step: &StepLedger, index: u32, now_ns: u64) {
        if step.take_echo(index) {
            step.abandon(index);
            self.settle(step, index, Arrival::from(now_ns));
        }
    }

    /// A request was sent that reaches all but its sender, which is the client in `slot`: that one waits
    /// for nothing of it.
    pub(crate) fn sent_to_others(&mut self, step: &Arc<StepLedger>, index: u32, slot: u32) {
        let Some(sent) = step.when_sent(index) else {
            return;
        };
        let at = Arrival::from(sent.at_ns);
        let listeners = listeners!(self);
        let is_member = self.room(slot) == step.room(index);
        let own = is_member.then(|| self.window.deliver(step, listeners, index, slot, at));
        let result = self.window.result(step, listeners, index, slot, at);
        let last = own.into_iter().chain([result]).find_map(|of| match of {
            Received::Due { party_done, .. } => party_done,
            _ => None,
        });
        if let Some(last) = last {
            self.settle(step, index, last);
        }
    }

    /// True of a message that reached its own sender, where it must not.
    #[inline]
    pub(super) fn is_of_itself(
        &self,
        step: &StepLedger,
        kind: Kind,
        index: u32,
        slot: u32,
    ) -> bool {
        !self.reaches_sender && kind != Kind::Echo && listeners!(self).sent(step, index, slot)
    }
}
