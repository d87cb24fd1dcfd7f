//! Lies at the level of messages and connections.

use super::{Lie, frames};
use crate::threaded::{
    Ended, FrameFilter, Hub, Manners, Peer, Rejection, Reply, Request, Upgrade, error_frame,
};
use crate::upgrade::{Refusal, RequestHead};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ws_proto::Opcode;

const MIB: u32 = 1024 * 1024;

pub(super) struct Liar {
    lie: Lie,
    spoken: Mutex<HashMap<u64, Spoken>>,
    /// For the lie that is told once.
    told: AtomicBool,
}

/// What a connection has said so far.
#[derive(Default)]
struct Spoken {
    first: Option<Opcode>,
    echoes: u32,
}

impl Liar {
    pub(super) fn new(lie: Lie) -> Self {
        Self {
            lie,
            spoken: Mutex::default(),
            told: AtomicBool::new(false),
        }
    }

    fn spoken(&self) -> MutexGuard<'_, HashMap<u64, Spoken>> {
        self.spoken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why this lie takes a good message for a bad one.
    fn pretext(&self, opcode: Opcode, message: &[u8]) -> Option<Rejection> {
        let text = opcode == Opcode::Text;
        let size = message.get(1..5).and_then(|s| s.try_into().ok());
        let size = size.map(u32::from_be_bytes).map(|size| size as usize + 5);
        let hit = match self.lie {
            Lie::RejectsEmptyPayload => !text && message.len() == 5,
            Lie::TrustsSize => !text && size != Some(message.len()),
            Lie::FixedOffset => text && !message.starts_with(br#"{"type":""#),
            Lie::NullIsMissing => text && message.ends_with(br#""payload":null}"#),
            _ => false,
        };
        hit.then_some(if text {
            Rejection::UnknownType
        } else {
            Rejection::UnknownByte
        })
    }
}

impl Manners for Liar {
    fn upgrade(&self, head: &RequestHead) -> Option<Upgrade> {
        let overlooked = match self.lie {
            Lie::UpgradesPlainRequests => Some(Refusal::Plain),
            Lie::AnyVersion => Some(Refusal::Version),
            Lie::NoKeyNeeded => Some(Refusal::Key),
            _ => None,
        };
        if let Some(refusal) = head
            .refusal()
            .filter(|refusal| Some(*refusal) != overlooked)
        {
            return Some(Upgrade {
                answer: refusal.response().into(),
                open: false,
            });
        }
        let honest = head.accept();
        let with = |line: &str| honest.replacen("\r\n", &format!("\r\n{line}\r\n"), 1);
        let answer = match self.lie {
            Lie::WrongAccept => honest.replace("Accept: ", "Accept: A"),
            Lie::NoUpgradeHeader => honest.replace("Upgrade: websocket\r\n", ""),
            Lie::UnaskedExtension => with("Sec-WebSocket-Extensions: permessage-deflate"),
            Lie::UnaskedSubprotocol => with("Sec-WebSocket-Protocol: chat"),
            _ => honest,
        };
        Some(Upgrade {
            answer: answer.into_bytes(),
            open: true,
        })
    }

    fn filter(&self) -> Option<Box<dyn FrameFilter>> {
        frames::filter(self.lie)
    }

    fn max_message(&self) -> u32 {
        match self.lie {
            Lie::LowLimit => 15 * MIB,
            Lie::LimitInFragmentsOnly | Lie::LimitPerFrame => 17 * MIB,
            _ => 16 * MIB,
        }
    }

    fn message(
        &self,
        hub: &Arc<Hub>,
        from: &Arc<Peer>,
        opcode: Opcode,
        message: &[u8],
    ) -> Result<(), u16> {
        let first = *self
            .spoken()
            .entry(from.id)
            .or_default()
            .first
            .get_or_insert(opcode);
        if self.lie == Lie::OneDialect && opcode != first {
            return Err(1003);
        }
        if opcode == Opcode::Text && std::str::from_utf8(message).is_err() {
            return Err(1007);
        }
        if let Some(pretext) = self.pretext(opcode, message) {
            return self.reject(hub, from, pretext);
        }
        match Request::parse(opcode, message) {
            Err(rejection) => return self.reject(hub, from, rejection),
            Ok(mut request) => {
                if let Some(payload) = request.json_mut() {
                    spoil_json(self.lie, payload);
                }
                if request.broadcast {
                    self.broadcast(hub, from, request);
                } else {
                    self.echo(hub, from, request);
                }
            }
        }
        Ok(())
    }

    fn reject(&self, hub: &Arc<Hub>, from: &Arc<Peer>, why: Rejection) -> Result<(), u16> {
        let ignored = match self.lie {
            Lie::IgnoresMalformedJson => Some(Rejection::MalformedJson),
            Lie::IgnoresNonObjects => Some(Rejection::NotAnObject),
            Lie::IgnoresMissingType => Some(Rejection::MissingType),
            Lie::IgnoresUnknownType => Some(Rejection::UnknownType),
            Lie::IgnoresMissingPayload => Some(Rejection::MissingPayload),
            Lie::IgnoresEmptyBinary => Some(Rejection::EmptyBinary),
            Lie::IgnoresUnknownByte => Some(Rejection::UnknownByte),
            _ => None,
        };
        match self.lie {
            _ if ignored == Some(why) => {}
            Lie::ClosesUnknownTypeWith1000 if why == Rejection::UnknownType => return Err(1000),
            Lie::ErrorToAll => send_all(&hub.lock(), &error_frame(why)),
            _ => from.send(&error_frame(why)),
        }
        Ok(())
    }

    fn echo(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        let message = request.message(Reply::Echo);
        let frame = request.frame(Reply::Echo);
        let echoes = {
            let mut spoken = self.spoken();
            let echoes = &mut spoken.entry(from.id).or_default().echoes;
            *echoes += 1;
            *echoes
        };
        match self.lie {
            Lie::EchoesTwice if echoes == 30 => from.send(&frame.repeat(2)),
            Lie::LeaksEchoes if (4096..16_384).contains(&message.len()) => {
                send_all(&hub.lock(), &frame);
            }
            Lie::LongLengthForm if message.len() == 65_535 => {
                let mut long = vec![frame[0], 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF];
                long.extend_from_slice(&message);
                from.send(&long);
            }
            _ => from.send(&frame),
        }
    }

    fn broadcast(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        let len = request.message(Reply::Broadcast).len();
        let frame = request.frame(Reply::Broadcast);
        let result = request.frame(Reply::Result);
        let once_band = (300..450).contains(&len);
        let result_band = (500..650).contains(&len);
        let peers = hub.lock();
        let last = peers.last().map(|peer| peer.id);
        let first = peers.first().map(|peer| peer.id);
        let others = || peers.iter().filter(|peer| peer.id != from.id);
        match self.lie {
            Lie::AcksEarly => {
                from.send(&frame);
                from.send(&result);
                std::thread::sleep(Duration::from_millis(5));
                others().for_each(|peer| peer.send(&frame));
                return;
            }
            Lie::OwnBroadcastLast => {
                others().for_each(|peer| peer.send(&frame));
                from.send(&result);
                from.send(&frame);
                return;
            }
            _ => {}
        }
        for peer in peers.iter() {
            let (own, is_last) = (peer.id == from.id, Some(peer.id) == last);
            match self.lie {
                Lie::LosesLargeBroadcasts if len > 512 * 1024 && !own => {}
                Lie::ForgetsOne if once_band && Some(peer.id) == first => {}
                Lie::ForgetsSender if once_band && own => {}
                Lie::DeliversTwice if once_band && is_last => peer.send(&frame.repeat(2)),
                Lie::SpoilsBroadcast if is_last && (1000..1200).contains(&len) => {
                    peer.send(&spoilt(&request).frame(Reply::Broadcast));
                }
                Lie::TiresAfter1000 if peer.id > 1000 => {}
                _ => peer.send(&frame),
            }
        }
        match self.lie {
            Lie::SpoilsResult if result_band => from.send(&spoilt(&request).frame(Reply::Result)),
            Lie::NoResult if result_band => {}
            Lie::ResultToAll if (700..850).contains(&len) => send_all(&peers, &result),
            _ => from.send(&result),
        }
    }

    fn ping(&self, from: &Arc<Peer>, payload: &[u8]) {
        let len = match self.lie {
            Lie::CutsPongs => payload.len().min(100),
            _ => payload.len(),
        };
        from.send_frame(Opcode::Pong, &payload[..len]);
    }

    fn pong(&self, from: &Arc<Peer>, payload: &[u8]) {
        if self.lie == Lie::AnswersPongs {
            from.send_frame(Opcode::Pong, payload);
        }
    }

    fn close(&self, payload: &[u8]) -> Option<Vec<u8>> {
        match self.lie {
            Lie::ClosesSilently => None,
            Lie::ClosesWith1000 => Some(1000u16.to_be_bytes().to_vec()),
            _ => Some(payload.to_vec()),
        }
    }

    fn ends_after_close(&self) -> bool {
        self.lie != Lie::StaysOpen
    }

    fn ended(&self, hub: &Arc<Hub>, peer: &Arc<Peer>, how: Ended) {
        let spoke = self.spoken().remove(&peer.id).is_some();
        let takes_all = match self.lie {
            Lie::CutTakesAll => how == Ended::CutShort,
            Lie::ResetTakesAll => {
                how == Ended::Reset && !spoke && !self.told.swap(true, Ordering::SeqCst)
            }
            _ => false,
        };
        if takes_all {
            hub.lock().iter().for_each(|peer| peer.wire.end());
        }
    }
}

fn send_all(peers: &[Arc<Peer>], frame: &[u8]) {
    peers.iter().for_each(|peer| peer.send(frame));
}

/// The same request with one character of its padding changed.
fn spoilt(request: &Request) -> Request {
    let mut spoilt = request.clone();
    if let Some(bytes) = spoilt.bytes_mut()
        && let Some(last) = bytes.last_mut()
    {
        *last ^= 1;
    }
    if let Some(Value::String(padding)) = spoilt.json_mut().and_then(|p| p.get_mut("padding")) {
        padding.replace_range(..1, "#");
    }
    spoilt
}

fn spoil_json(lie: Lie, value: &mut Value) {
    match value {
        Value::String(text) if lie == Lie::DropsCombining => text.retain(|c| c != '\u{301}'),
        Value::Number(number) if lie == Lie::RoundsDoubles && number.is_f64() => {
            let rounded = number.as_f64().map(|double| (double * 1e6).round() / 1e6);
            // Too large to be scaled: as it was.
            if let Some(rounded) = rounded.and_then(serde_json::Number::from_f64) {
                *number = rounded;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| spoil_json(lie, item)),
        Value::Object(object) => object.values_mut().for_each(|item| spoil_json(lie, item)),
        _ => {}
    }
}
