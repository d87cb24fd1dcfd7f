//! The same faults in rooms: a publication that one member misses, or gets twice, or that a client of
//! another room gets.

use super::mixed::{Mixed, lock};
use crate::threaded::{Peer, RoomRequest};
use std::sync::Arc;
use std::time::Instant;

/// The place in the order of victims of one that is not to get the message.
const STRANGER: u64 = 5;

impl Mixed {
    /// Sends a publication to the subscribers of its topic. The caller holds the list of connections:
    /// none subscribes or publishes meanwhile.
    pub(super) fn publish(&self, peers: &[Arc<Peer>], from: &Peer, request: &RoomRequest) {
        let mut ledger = lock(&self.ledger);
        let ledger = &mut *ledger;
        let number = ledger.done.broadcasts;
        ledger.done.broadcasts += 1;
        let began = *ledger.began.get_or_insert_with(Instant::now);
        let all = peers.iter().cloned();
        let (members, strangers): (Vec<Arc<Peer>>, Vec<Arc<Peer>>) =
            all.partition(|peer| peer.follows(&request.topic));
        let frame = request.message(from.speech);
        let mut whole = self.fan_out(ledger, number, from, &members, &frame);
        if self
            .misdeeds
            .strikes(self.misdeeds.faults.misdirected, number)
            && let Some(stranger) = Self::victim(&strangers, number, STRANGER)
        {
            stranger.send(&frame);
            ledger.done.faults.misdirected += 1;
            ledger.done.messages += 1;
        }
        whole &= self.answer(ledger, number, from, &request.answer(true));
        ledger.done.whole += u64::from(whole);
        ledger.done.lasting = began.elapsed();
    }
}
