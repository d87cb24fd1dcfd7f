//! Lies about topics. The caller holds the list of connections: no client subscribes or publishes
//! meanwhile.

use super::Lie;
use crate::threaded::{Act, Peer, RoomRequest};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Does what is asked for, as far as this lie does.
pub(super) fn answer(lie: Lie, peers: &[Arc<Peer>], from: &Arc<Peer>, request: &RoomRequest) {
    let topic = &request.topic;
    let subscribed = from.follows(topic);
    match &request.act {
        Act::Subscribe => {
            if lie == Lie::RoomCountsTwice || !subscribed {
                from.topics().push(topic.clone());
            }
        }
        Act::Unsubscribe if lie == Lie::RoomKeepsLeavers && others_follow(peers, from, topic) => {}
        Act::Unsubscribe => from.topics().retain(|other| other != topic),
        Act::Publish(payload) => {
            let listeners = Listeners {
                lie,
                topic,
                len: payload.to_string().len(),
            };
            return listeners.publish(peers, from, request);
        }
    }
    let answer = request.answer(subscribed);
    if lie == Lie::RoomConfirmsLate && matches!(request.act, Act::Subscribe) {
        let from = Arc::clone(from);
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(30));
            from.send(&answer);
        });
    } else {
        from.send(&answer);
    }
}

fn others_follow(peers: &[Arc<Peer>], from: &Peer, topic: &str) -> bool {
    let mut others = peers.iter().filter(|peer| peer.id != from.id);
    others.any(|peer| peer.follows(topic))
}

/// A publication, for those who hear it.
struct Listeners<'r> {
    lie: Lie,
    topic: &'r str,
    /// Bytes of the payload.
    len: usize,
}

impl Listeners<'_> {
    fn publish(&self, peers: &[Arc<Peer>], from: &Arc<Peer>, request: &RoomRequest) {
        let answer = request.answer(from.follows(self.topic));
        let last = peers.iter().rfind(|peer| self.subscriptions(peer) > 0);
        let last = last.map(|peer| peer.id);
        let deliver = |peer: &Arc<Peer>| {
            let is_last = Some(peer.id) == last;
            if self.lie == Lie::RoomSpoils && is_last && (1000..1200).contains(&self.len) {
                peer.send(&request.spoilt(peer.speech));
                return;
            }
            for _ in 0..self.times(peer, is_last) {
                peer.send(&request.message(peer.speech));
            }
        };
        let others = || peers.iter().filter(|peer| peer.id != from.id);
        match self.lie {
            Lie::RoomAcksEarly => {
                deliver(from);
                from.send(&answer);
                thread::sleep(Duration::from_millis(5));
                others().for_each(deliver);
            }
            Lie::RoomOwnMessageLast => {
                others().for_each(deliver);
                from.send(&answer);
                deliver(from);
            }
            _ => {
                peers.iter().for_each(deliver);
                from.send(&answer);
            }
        }
    }

    fn subscriptions(&self, peer: &Peer) -> usize {
        let same = |other: &&String| match self.lie {
            Lie::RoomIgnoresCase => other.eq_ignore_ascii_case(self.topic),
            _ => *other == self.topic,
        };
        peer.topics().iter().filter(same).count()
    }

    /// How often a connection gets the message.
    fn times(&self, peer: &Peer, is_last: bool) -> usize {
        let subscriptions = self.subscriptions(peer);
        let once = subscriptions.min(1);
        let band = (300..450).contains(&self.len);
        match self.lie {
            Lie::RoomCountsTwice => subscriptions,
            Lie::RoomReachesStrangers if band => 1,
            Lie::RoomForgetsOne if band && is_last => 0,
            Lie::RoomDeliversTwice if band && is_last => 2,
            _ => once,
        }
    }
}
