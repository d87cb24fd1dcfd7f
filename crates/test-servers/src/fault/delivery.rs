//! How each fault is done.

use super::Fault;
use crate::Framework;
use crate::threaded::{Behaviour, Hub, Peer, Reply, Request, Upgrade};
use crate::upgrade::RequestHead;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use ws_proto::Opcode;

/// Longer than any error of a clock: the delivery is seen after the result.
const LATE: Duration = Duration::from_millis(20);

pub(super) struct Faulty {
    fault: Fault,
    count: u64,
    framework: Framework,
    /// Broadcasts so far.
    seen: AtomicU64,
    /// Faults still to make; for a freeze, requests still to answer.
    left: AtomicU64,
    /// By sender: the listener and the frame that waits for its successor.
    held: Mutex<HashMap<u64, (u64, Vec<u8>)>>,
}

impl Faulty {
    pub(super) fn new(fault: Fault, count: u64, framework: Framework) -> Self {
        Self {
            fault,
            count,
            framework,
            seen: AtomicU64::new(0),
            left: AtomicU64::new(count),
            held: Mutex::default(),
        }
    }

    /// Takes one of the faults that are left; false when none is.
    fn take_one(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        let order = Ordering::SeqCst;
        self.left.fetch_update(order, order, less).is_ok()
    }

    fn deliver(&self, peers: &[Arc<Peer>], from: &Peer, frame: &[u8]) {
        let number = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        let victim = victim(peers, from);
        let strikes_here = number == self.count;
        for (index, peer) in peers.iter().enumerate() {
            if Some(peer.id) != victim {
                peer.send(frame);
            }
            let half = index + 1 == peers.len().div_ceil(2);
            if half && strikes_here && self.fault == Fault::Resets {
                reset(peers, victim);
            }
        }
        let Some(peer) = peers.iter().find(|peer| Some(peer.id) == victim) else {
            return;
        };
        match self.fault {
            Fault::Resets if strikes_here => {}
            Fault::MalformedFrame if strikes_here => {
                let mut bad = frame.to_vec();
                bad[0] |= 0x40;
                peer.send(&bad);
            }
            Fault::CutShort if strikes_here => {
                peer.send(&frame[..frame.len() / 2]);
                peer.wire.end();
            }
            Fault::Drops if self.take_one() => {}
            Fault::Duplicates if self.take_one() => {
                peer.send(frame);
                peer.send(frame);
            }
            Fault::Corrupts if self.take_one() => {
                let mut bad = frame.to_vec();
                bad[padding(frame)] ^= 1;
                peer.send(&bad);
            }
            Fault::Reorders => self.swap(from, peer, frame),
            _ => peer.send(frame),
        }
    }

    /// Holds a broadcast back until the next one of its sender has gone out.
    fn swap(&self, from: &Peer, to: &Peer, frame: &[u8]) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.remove(&from.id) {
            Some((listener, first)) if listener == to.id => {
                to.send(frame);
                to.send(&first);
            }
            None if self.take_one() => {
                held.insert(from.id, (to.id, frame.to_vec()));
            }
            _ => to.send(frame),
        }
    }
}

/// The listener that gets the fault: the first that is not the sender, or else the sender.
fn victim(peers: &[Arc<Peer>], from: &Peer) -> Option<u64> {
    let other = peers.iter().find(|peer| peer.id != from.id);
    other.or(peers.first()).map(|peer| peer.id)
}

pub(super) fn reset(peers: &[Arc<Peer>], victim: Option<u64>) {
    for peer in peers.iter().filter(|peer| Some(peer.id) == victim) {
        peer.wire.reset();
    }
}

/// The index of a byte of the padding: the middle of the longest run of letters and digits. The
/// padding of a payload that is to be corrupted is longer than any name or stamp.
pub(crate) fn padding(frame: &[u8]) -> usize {
    let mut best = (0, frame.len() - 1);
    let mut start = 0;
    for (at, byte) in frame.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            start = at + 1;
        } else if at + 1 - start > best.0 {
            best = (at + 1 - start, usize::midpoint(start, at));
        }
    }
    best.1
}

impl Behaviour for Faulty {
    fn accepted(&self, _id: u64) -> bool {
        self.fault != Fault::ClosesAtOnce
    }

    fn framework(&self) -> Framework {
        self.framework
    }

    fn upgrade(&self, _id: u64, head: &RequestHead) -> Option<Upgrade> {
        let refuse = |answer: &str| Upgrade {
            answer: answer.into(),
            open: false,
        };
        Some(match self.fault {
            Fault::NeverAnswers => return None,
            Fault::Status200 => refuse("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
            Fault::Status404 => refuse("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
            Fault::WrongAccept => Upgrade {
                answer: RequestHead {
                    key: Some("AAAAAAAAAAAAAAAAAAAAAA==".into()),
                    ..RequestHead::default()
                }
                .accept()
                .into_bytes(),
                open: true,
            },
            _ => Upgrade {
                answer: head.accept_by(self.framework).into_bytes(),
                open: true,
            },
        })
    }

    fn opened(&self, peer: &Arc<Peer>) {
        if self.fault == Fault::UpgradesThenCloses {
            peer.wire.end();
        }
    }

    fn message(
        &self,
        hub: &Arc<Hub>,
        from: &Arc<Peer>,
        opcode: Opcode,
        message: &[u8],
    ) -> Result<(), u16> {
        if self.fault == Fault::Freezes && !self.take_one() {
            return Ok(());
        }
        self.handle(hub, from, opcode, message)
    }

    fn ping(&self, from: &Arc<Peer>, payload: &[u8]) {
        use Fault::{ClosesAtPing, IgnoresPings, ResetsAtPing, SpoilsPongs};
        let strikes = matches!(
            self.fault,
            ResetsAtPing | ClosesAtPing | IgnoresPings | SpoilsPongs
        ) && self.take_one();
        match self.fault {
            ResetsAtPing if strikes => {
                from.wire.reset();
                from.wire.end();
            }
            ClosesAtPing if strikes => {
                from.send_frame(Opcode::Close, &1001_u16.to_be_bytes());
                from.wire.finish();
            }
            IgnoresPings if strikes => {}
            SpoilsPongs if strikes => {
                let other: Vec<u8> = payload.iter().map(|byte| byte ^ 1).collect();
                from.send_frame(Opcode::Pong, &other);
            }
            _ => from.send_frame(Opcode::Pong, payload),
        }
    }

    fn echo(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        let frame = request.frame(Reply::Echo);
        let peers = hub.lock();
        let other = peers.iter().find(|peer| peer.id != from.id);
        match other {
            Some(other) if self.fault == Fault::Misdelivers && self.take_one() => {
                other.send(&frame);
            }
            _ => from.send(&frame),
        }
    }

    fn broadcast(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        let frame = request.frame(Reply::Broadcast);
        let result = request.frame(Reply::Result);
        if self.fault == Fault::AcksFirst {
            from.send(&result);
            let hub = Arc::clone(hub);
            std::thread::spawn(move || {
                std::thread::sleep(LATE);
                for peer in hub.lock().iter() {
                    peer.send(&frame);
                }
            });
            return;
        }
        let peers = hub.lock();
        self.deliver(&peers, from, &frame);
        if self.fault != Fault::NoResult {
            from.send(&result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spoilt_byte_lies_in_the_padding() {
        let stamp = "0123456789abcdef";
        let frame = format!(
            r#"..{{"type":"broadcast","payload":{{"padding":"{}","stamp":"{stamp}"}}}}"#,
            "x".repeat(20)
        );
        assert_eq!(frame.as_bytes()[padding(frame.as_bytes())], b'x');
        assert_eq!(padding(b"b\0\0\0\x01\0"), 0);
    }
}
