//! Lies at the level of messages and connections.

use super::hoard::Hoard;
use super::{Lie, frames, rooms};
use crate::Framework;
use crate::threaded::{
    Act, Asked, Behaviour, Ended, FrameFilter, Hub, Peer, Rejected, Rejection, Reply, Request,
    RoomRequest, Speech, Upgrade, Wire, read,
};
use crate::upgrade::{Refusal, RequestHead};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ws_proto::Opcode;

const MIB: u32 = 1024 * 1024;

pub(super) struct Liar {
    lie: Lie,
    framework: Framework,
    spoken: Mutex<HashMap<u64, Spoken>>,
    /// For the lies that are told once.
    told: AtomicBool,
    /// The sockets that are not closed.
    kept: Mutex<Vec<Arc<dyn Wire>>>,
    hoard: Hoard,
}

/// What a connection has said so far.
#[derive(Default)]
struct Spoken {
    first: Option<Opcode>,
    echoes: u32,
    messages: u32,
    pings: u32,
    /// The payload of the latest ping.
    ping: Vec<u8>,
    /// A message was ignored; everything after it is, too.
    deaf: bool,
}

impl Liar {
    pub(super) fn new(lie: Lie, framework: Framework, hoard: Hoard) -> Self {
        Self {
            lie,
            framework,
            spoken: Mutex::default(),
            told: AtomicBool::new(false),
            kept: Mutex::default(),
            hoard,
        }
    }

    fn spoken(&self) -> MutexGuard<'_, HashMap<u64, Spoken>> {
        self.spoken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, wire: &Arc<dyn Wire>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(Arc::clone(wire));
    }

    /// What a ping is answered with, and how many pings there were on its connection.
    fn pinged(&self, from: &Peer, payload: &[u8]) -> (u32, Vec<u8>) {
        let mut spoken = self.spoken();
        let spoken = spoken.entry(from.id).or_default();
        spoken.pings += 1;
        let before = std::mem::replace(&mut spoken.ping, payload.to_vec());
        let answer = match self.lie {
            Lie::MixesPongs if spoken.pings > 1000 => before,
            Lie::CutsPongs => payload[..payload.len().min(100)].to_vec(),
            _ => payload.to_vec(),
        };
        (spoken.pings, answer)
    }

    /// The error that this lie reports for a correct request.
    fn pretext(&self, request: &mut Request, message: &[u8]) -> Option<Rejection> {
        let text = request.opcode == Opcode::Text;
        let size = message.get(1..5).and_then(|s| s.try_into().ok());
        let size = size.map(u32::from_be_bytes).map(|size| size as usize + 5);
        let hit = match self.lie {
            Lie::RejectsEmptyPayload => !text && message.len() == 5,
            Lie::TrustsSize => !text && size != Some(message.len()),
            Lie::FixedOffset if self.framework == Framework::Plain => {
                text && !message.starts_with(br#"{"type":""#)
            }
            Lie::FixedOffset => !message.windows(4).any(|w| w == b"echo" || w == b"cast"),
            Lie::NullIsMissing => request.json_mut().is_some_and(|payload| payload.is_null()),
            _ => false,
        };
        hit.then_some(if text {
            Rejection::UnknownType
        } else {
            Rejection::UnknownByte
        })
    }

    /// The request that this lie makes of a rejected message.
    fn invented(&self, from: &Peer, rejected: &Rejected) -> Option<Request> {
        let echo = Rejection::MissingPayload { broadcast: false };
        (self.lie == Lie::InventsPayload && rejected.why == echo)
            .then(|| Request::wrapped(from.speech, false, Value::Null, json!(["1", "2"])))
    }

    fn ignores(&self) -> Option<fn(Rejection) -> bool> {
        Some(match self.lie {
            Lie::IgnoresMalformedJson => |why| why == Rejection::MalformedJson,
            Lie::IgnoresNonObjects => |why| why == Rejection::NotAnObject,
            Lie::IgnoresMissingType => |why| why == Rejection::MissingType,
            Lie::IgnoresUnknownType => |why| why == Rejection::UnknownType,
            Lie::IgnoresMissingPayload => |why| matches!(why, Rejection::MissingPayload { .. }),
            Lie::IgnoresUnknownTopic => |why| why == Rejection::UnknownTopic,
            Lie::IgnoresEmptyBinary => |why| why == Rejection::EmptyBinary,
            Lie::IgnoresUnknownByte => |why| why == Rejection::UnknownByte,
            _ => return None,
        })
    }

    fn serve(&self, hub: &Arc<Hub>, from: &Arc<Peer>, mut request: Request) {
        if let Some(payload) = request.json_mut() {
            spoil_json(self.lie, payload);
        }
        if self.lie == Lie::ForgetsRefs {
            request.reference_mut()[1] = json!("2");
        }
        if request.broadcast {
            self.broadcast(hub, from, request);
        } else {
            self.echo(hub, from, request);
        }
    }
}

impl Behaviour for Liar {
    fn framework(&self) -> Framework {
        self.framework
    }

    fn upgrade(&self, _id: u64, head: &RequestHead) -> Option<Upgrade> {
        let overlooked = match self.lie {
            Lie::UpgradesPlainRequests => Some(Refusal::Plain),
            Lie::AnyVersion => Some(Refusal::Version),
            Lie::NoKeyNeeded => Some(Refusal::Key),
            _ => None,
        };
        if let Some(refusal) = head
            .refusal_by(self.framework)
            .filter(|refusal| Some(*refusal) != overlooked)
        {
            return Some(Upgrade {
                answer: refusal.response().into(),
                open: false,
            });
        }
        let honest = head.accept_by(self.framework);
        let with = |line: &str| honest.replacen("\r\n", &format!("\r\n{line}\r\n"), 1);
        let answer = match self.lie {
            Lie::WrongAccept => honest.replace("Accept: ", "Accept: A"),
            Lie::NoUpgradeHeader => honest.replace("Upgrade: websocket\r\n", ""),
            Lie::UnaskedExtension => with("Sec-WebSocket-Extensions: permessage-deflate"),
            Lie::NoSubprotocol => head.accept(),
            Lie::UnaskedSubprotocol => with("Sec-WebSocket-Protocol: chat"),
            _ => honest,
        };
        Some(Upgrade {
            answer: answer.into_bytes(),
            open: true,
        })
    }

    fn filter(&self) -> Option<Box<dyn FrameFilter>> {
        frames::filter(self.lie, &self.hoard)
    }

    fn max_message(&self) -> u32 {
        match self.lie {
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
        if opcode == Opcode::Text && std::str::from_utf8(message).is_err() {
            return Err(1007);
        }
        let asked = read(from.speaker(), opcode, message);
        if let Ok(Asked::Member(member, frame)) = &asked {
            hub.set_member(from, *member, frame.as_deref());
            return Ok(());
        }
        let (first, deaf, messages) = {
            let mut spoken = self.spoken();
            let spoken = spoken.entry(from.id).or_default();
            spoken.messages += 1;
            let first = *spoken.first.get_or_insert(opcode);
            (first, spoken.deaf, spoken.messages)
        };
        if self.lie == Lie::CountsMessages && messages > 32_768 {
            return Err(1008);
        }
        if self.lie == Lie::OneDialect && opcode != first {
            return Err(1003);
        }
        match asked {
            _ if deaf => {}
            Ok(Asked::Request(mut request)) => match self.pretext(&mut request, message) {
                Some(why) => {
                    return self.reject(from, from.speech.refuse(why, request.reference_mut()));
                }
                None => self.serve(hub, from, request),
            },
            Ok(Asked::Room(request)) => {
                if self.lie == Lie::RoomTakesAnyName && !request.names_topic() {
                    self.room(hub, from, &request);
                } else {
                    return self.asked_of_room(hub, from, &request);
                }
            }
            Ok(Asked::Heartbeat(_)) if self.lie == Lie::IgnoresHeartbeats => {}
            Ok(Asked::Heartbeat(frame)) => from.send(&frame),
            Ok(Asked::Nothing) => {}
            Ok(Asked::Member(..)) => {}
            Err(rejected) => {
                if let Some(request) = self.invented(from, &rejected) {
                    self.serve(hub, from, request);
                } else if self.lie == Lie::ErrorToAll {
                    let complaint = from.speech.complaint(rejected.why, &Value::Null);
                    send_all(&hub.members(), &complaint);
                } else {
                    return self.reject(from, rejected);
                }
            }
        }
        Ok(())
    }

    fn reject(&self, from: &Arc<Peer>, rejected: Rejected) -> Result<(), u16> {
        if self.ignores().is_some_and(|ignored| ignored(rejected.why)) {
            let silence_is_right = matches!(from.speech, Speech::ActionCable | Speech::SocketIo);
            self.spoken().entry(from.id).or_default().deaf = silence_is_right;
            return Ok(());
        }
        if self.lie == Lie::ClosesUnknownTypeWith1000 && rejected.why == Rejection::UnknownType {
            return Err(1000);
        }
        rejected.answer(from)
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
            Lie::EchoesTwice if echoes == 30 && message.len() < 300 => from.send(&frame.repeat(2)),
            Lie::LeaksEchoes if (4096..16_384).contains(&message.len()) => {
                send_all(&hub.members(), &frame);
            }
            Lie::DelaysEcho if echoes == 10 && message.len() < 300 => {
                let from = Arc::clone(from);
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(20));
                    from.send(&frame);
                });
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
        let len = request.payload_len();
        let result = request.frame(Reply::Result);
        let once_band = (300..450).contains(&len);
        let result_band = (500..650).contains(&len);
        let large_band = (512 * 1024..1025 * 1024).contains(&len);
        // Locked to the end, so that no client joins, leaves or broadcasts meanwhile.
        let all = hub.lock();
        let outsiders = self.lie == Lie::ServesOutsiders;
        let members = all.iter().filter(|peer| outsiders || peer.is_member());
        let peers: Vec<Arc<Peer>> = members.cloned().collect();
        let broadcast = request.broadcast(&peers);
        let last = peers.last().map(|peer| peer.id);
        let first = peers.first().map(|peer| peer.id);
        let others = || peers.iter().filter(|peer| peer.id != from.id);
        match self.lie {
            Lie::AcksEarly => {
                broadcast.send(from);
                from.send(&result);
                std::thread::sleep(Duration::from_millis(5));
                others().for_each(|peer| broadcast.send(peer));
                return;
            }
            Lie::DeliversLate if (100..200).contains(&len) => {
                broadcast.send(from);
                from.send(&result);
                let late: Vec<Arc<Peer>> = others().cloned().collect();
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(1500));
                    late.iter().for_each(|peer| broadcast.send(peer));
                });
                return;
            }
            Lie::OwnBroadcastLast => {
                others().for_each(|peer| broadcast.send(peer));
                from.send(&result);
                broadcast.send(from);
                return;
            }
            _ => {}
        }
        for peer in peers.iter() {
            let (own, is_last) = (peer.id == from.id, Some(peer.id) == last);
            match self.lie {
                Lie::LosesLargeBroadcasts if large_band && !own => {}
                Lie::ForgetsOne if once_band && Some(peer.id) == first => {}
                Lie::ForgetsSender if once_band && own => {}
                Lie::DeliversTwice if once_band && is_last => {
                    broadcast.send(peer);
                    broadcast.send(peer);
                }
                Lie::SpoilsBroadcast if is_last && (1000..1200).contains(&len) => {
                    spoilt(&request).broadcast(&peers).send(peer);
                }
                Lie::TiresAfter1000 if peer.id > 1000 => {}
                _ => broadcast.send(peer),
            }
        }
        match self.lie {
            Lie::SpoilsResult if result_band => from.send(&spoilt(&request).frame(Reply::Result)),
            Lie::NoResult if result_band => {}
            Lie::ResultToAll if (700..850).contains(&len) => send_all(&peers, &result),
            _ => from.send(&result),
        }
    }

    fn room(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: &RoomRequest) {
        if self.lie == Lie::RoomKeepsTopics && matches!(request.act, Act::Subscribe) {
            self.hoard.keep(1024);
        }
        rooms::answer(self.lie, &hub.lock(), from, request);
    }

    fn ping(&self, from: &Arc<Peer>, payload: &[u8]) {
        let (pings, answer) = self.pinged(from, payload);
        if self.lie != Lie::TiresOfPings || pings <= 20 {
            from.send_frame(Opcode::Pong, &answer);
        }
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

    fn ended_unopened(&self, wire: &Arc<dyn Wire>) {
        if self.lie == Lie::KeepsUnopened {
            self.keep(wire);
        }
    }

    fn ended(&self, hub: &Arc<Hub>, peer: &Arc<Peer>, how: Ended) {
        let spoke = self.spoken().remove(&peer.id).is_some();
        let is_half_closed = matches!(how, Ended::Vanished | Ended::CutShort);
        if self.lie == Lie::KeepsHalfClosed && is_half_closed {
            self.keep(&peer.wire);
        }
        let takes_all = match self.lie {
            Lie::CutTakesAll => how == Ended::CutShort,
            Lie::ResetTakesAll => how == Ended::Reset && !spoke,
            _ => false,
        };
        // A later end would reach into the check that follows.
        if takes_all && !self.told.swap(true, Ordering::SeqCst) {
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
            // Where the scaled number is infinite, it stays as it was.
            if let Some(rounded) = rounded.and_then(serde_json::Number::from_f64) {
                *number = rounded;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| spoil_json(lie, item)),
        Value::Object(object) => object.values_mut().for_each(|item| spoil_json(lie, item)),
        _ => {}
    }
}
