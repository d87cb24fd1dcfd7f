//! One connection from its first byte to its last.

use super::behaviour::{Behaviour, Ended};
use super::hub::{Hub, Peer};
use super::speech::Speech;
use super::wire::Wire;
use crate::upgrade::RequestHead;
use std::sync::Arc;
use ws_proto::{DecodeError, Decoder, Event, Opcode, Sender};

const READ_SIZE: usize = 64 * 1024;
/// Bytes before the payload of a client's control frame (RFC 6455, 5.2 and 5.5).
const MASKED_HEADER: usize = 6;

/// Why the reading of a connection ends.
enum Stop {
    /// The connection is over.
    Gone(Ended),
    /// The client closed; the payload of its close frame.
    Closed(Vec<u8>),
    /// The server closes with this code.
    Fail(u16),
}

impl From<DecodeError> for Stop {
    fn from(error: DecodeError) -> Self {
        Self::Fail(match error {
            DecodeError::TooLong { .. } => 1009,
            _ => 1002,
        })
    }
}

/// Serves the connection until it ends.
pub(super) fn serve(id: u64, wire: &Arc<dyn Wire>, hub: &Arc<Hub>, behaviour: &dyn Behaviour) {
    if !behaviour.accepted(id) {
        return;
    }
    let mut buffer = vec![0; READ_SIZE];
    let Some((head, rest)) = read_head(wire, &mut buffer, behaviour) else {
        return;
    };
    let Some(upgrade) = behaviour.upgrade(id, &head) else {
        drain(&**wire, &mut buffer);
        return;
    };
    if !upgrade.open {
        let _ = wire.send(&upgrade.answer);
        wire.finish();
        return;
    }
    let speech = Speech::new(behaviour.framework(), &head);
    let peer = Arc::new(Peer::new(id, Arc::clone(wire), speech));
    hub.join(&peer, &[upgrade.answer, speech.greeting()].concat());
    behaviour.opened(&peer);
    let stop = read_frames(&peer, rest, &mut buffer, hub, behaviour);
    hub.leave(id);
    match stop {
        Stop::Gone(how) => behaviour.ended(hub, &peer, how),
        Stop::Fail(code) => {
            behaviour.ended(hub, &peer, Ended::Failed);
            peer.send_frame(Opcode::Close, &code.to_be_bytes());
            wire.finish();
            // Unread bytes would turn the end into a reset, which discards the close frame.
            drain(&**wire, &mut buffer);
        }
        Stop::Closed(payload) => {
            peer.wire.closing(MASKED_HEADER + payload.len());
            behaviour.ended(hub, &peer, Ended::Closed);
            if let Some(answer) = behaviour.close(&payload) {
                peer.send_frame(Opcode::Close, &answer);
            }
            if behaviour.ends_after_close() {
                wire.finish();
            }
            drain(&**wire, &mut buffer);
        }
    }
}

fn read_head(
    wire: &Arc<dyn Wire>,
    buffer: &mut [u8],
    behaviour: &dyn Behaviour,
) -> Option<(RequestHead, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(head) = RequestHead::parse(&bytes).ok()? {
            let rest = bytes.split_off(head.len);
            return Some((head, rest));
        }
        match wire.recv(buffer) {
            Ok(0) | Err(_) => {
                behaviour.ended_unopened(wire);
                return None;
            }
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn read_frames(
    peer: &Arc<Peer>,
    first: Vec<u8>,
    buffer: &mut [u8],
    hub: &Arc<Hub>,
    behaviour: &dyn Behaviour,
) -> Stop {
    let mut decoder = Decoder::new(Sender::Client, behaviour.max_message());
    let mut filter = behaviour.filter();
    let mut feed = |decoder: &mut Decoder, bytes: &[u8]| {
        let filtered = filter.as_mut().map(|filter| filter.filter(bytes));
        let filtered = filtered.transpose().map_err(Stop::Fail)?;
        decoder.feed(filtered.as_deref().unwrap_or(bytes), |event| {
            match event {
                Event::Message { opcode, payload } => behaviour
                    .message(hub, peer, opcode, payload)
                    .map_err(Stop::Fail)?,
                Event::Ping(payload) => behaviour.ping(peer, payload),
                Event::Pong(payload) => behaviour.pong(peer, payload),
                Event::Close(payload) => return Err(Stop::Closed(payload.to_vec())),
            }
            Ok(())
        })
    };
    if let Err(stop) = feed(&mut decoder, &first) {
        return stop;
    }
    loop {
        match peer.wire.recv(buffer) {
            Ok(0) if decoder.is_at_boundary() => return Stop::Gone(Ended::Vanished),
            Ok(0) => return Stop::Gone(Ended::CutShort),
            Err(_) => return Stop::Gone(Ended::Reset),
            Ok(count) => {
                if let Err(stop) = feed(&mut decoder, &buffer[..count]) {
                    return stop;
                }
            }
        }
    }
}

fn drain(wire: &dyn Wire, buffer: &mut [u8]) {
    while matches!(wire.recv(buffer), Ok(count) if count > 0) {}
}
