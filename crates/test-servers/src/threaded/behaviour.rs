//! What a server does at each point where a test server may differ. The defaults follow the protocol.

use super::hub::{Hub, Peer};
use super::request::{Reply, Request};
use super::rooms::{Act, RoomRequest};
use super::speech::{self, Asked, Rejected};
use super::wire::Wire;
use crate::framework::Framework;
use crate::upgrade::RequestHead;
use std::sync::Arc;
use ws_proto::{CloseFrame, Opcode};

/// The answer to an upgrade request.
pub(crate) struct Upgrade {
    /// The bytes of the answer.
    pub(crate) answer: Vec<u8>,
    /// Frames may follow.
    pub(crate) open: bool,
}

/// How an open connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By a close frame of the client.
    Closed,
    /// The server failed it.
    Failed,
    /// By a reset.
    Reset,
    /// Without a close frame.
    Vanished,
    /// Without a close frame, within a frame or message.
    CutShort,
}

/// Looks at the raw bytes of one connection before the decoder does.
pub(crate) trait FrameFilter: Send {
    /// Takes what came and returns what the decoder is to see; an error ends the connection with
    /// that close code.
    fn filter(&mut self, bytes: &[u8]) -> Result<Vec<u8>, u16>;
}

/// What a server does with connections, frames and messages. Each default follows the protocol.
pub(crate) trait Behaviour: Send + Sync + 'static {
    /// The message formats of this server.
    fn framework(&self) -> Framework {
        Framework::Plain
    }

    /// A connection was accepted; false ends it before a byte is read.
    fn accepted(&self, _id: u64) -> bool {
        true
    }

    /// The upgrade request of a connection has arrived.
    fn upgrade(&self, _id: u64, head: &RequestHead) -> Option<Upgrade> {
        let framework = self.framework();
        Some(match head.refusal_by(framework) {
            Some(refusal) => Upgrade {
                answer: refusal.response().into(),
                open: false,
            },
            None => Upgrade {
                answer: head.accept_by(framework).into_bytes(),
                open: true,
            },
        })
    }

    /// The connection is open and listed.
    fn opened(&self, _peer: &Arc<Peer>) {}

    /// A filter for the bytes of a new connection.
    fn filter(&self) -> Option<Box<dyn FrameFilter>> {
        None
    }

    /// Largest message in bytes.
    fn max_message(&self) -> u32 {
        16 * 1024 * 1024
    }

    /// A whole message has arrived; an error ends the connection with that close code.
    fn message(
        &self,
        hub: &Arc<Hub>,
        from: &Arc<Peer>,
        opcode: Opcode,
        message: &[u8],
    ) -> Result<(), u16> {
        self.handle(hub, from, opcode, message)
    }

    /// What is done with a message unless [`Self::message`] does otherwise.
    fn handle(
        &self,
        hub: &Arc<Hub>,
        from: &Arc<Peer>,
        opcode: Opcode,
        message: &[u8],
    ) -> Result<(), u16> {
        if opcode == Opcode::Text && std::str::from_utf8(message).is_err() {
            return Err(1007);
        }
        match speech::read(from.speaker(), opcode, message) {
            Ok(Asked::Request(request)) if request.broadcast => {
                self.broadcast(hub, from, request);
            }
            Ok(Asked::Request(request)) => self.echo(hub, from, request),
            Ok(Asked::Member(member, frame)) => hub.set_member(from, member, frame.as_deref()),
            Ok(Asked::Room(request)) => return self.asked_of_room(hub, from, &request),
            Ok(Asked::Heartbeat(frame)) => from.send(&frame),
            Ok(Asked::Nothing) => {}
            Err(rejected) => return self.reject(from, rejected),
        }
        Ok(())
    }

    /// A message is no request.
    fn reject(&self, from: &Arc<Peer>, rejected: Rejected) -> Result<(), u16> {
        rejected.answer(from)
    }

    fn echo(&self, _hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        from.send(&request.frame(Reply::Echo));
    }

    fn broadcast(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        let peers = hub.lock();
        let broadcast = request.broadcast(&peers);
        for peer in peers.iter().filter(|peer| peer.is_member()) {
            broadcast.send(peer);
        }
        from.send(&request.frame(Reply::Result));
    }

    /// A request about a topic, which the server may have to refuse.
    fn asked_of_room(
        &self,
        hub: &Arc<Hub>,
        from: &Arc<Peer>,
        request: &RoomRequest,
    ) -> Result<(), u16> {
        match request.refusal(from.follows(&request.topic)) {
            Some(why) => self.reject(from, from.speech.refuse(why, &request.reference)),
            None => {
                self.room(hub, from, request);
                Ok(())
            }
        }
    }

    /// A subscription, its end, or a publication.
    fn room(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: &RoomRequest) {
        self.serve_room(hub, from, request);
    }

    /// What is done about a topic unless [`Self::room`] does otherwise.
    fn serve_room(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: &RoomRequest) {
        // Locked to the end, so that no client subscribes or publishes meanwhile.
        let peers = hub.lock();
        let topic = &request.topic;
        let subscribed = from.follows(topic);
        match request.act {
            Act::Subscribe if subscribed => {}
            Act::Subscribe => from.topics().push(topic.clone()),
            Act::Unsubscribe => from.topics().retain(|other| other != topic),
            Act::Publish(_) => {
                for peer in peers.iter().filter(|peer| peer.follows(topic)) {
                    peer.send(&request.message(peer.speech));
                }
            }
        }
        from.send(&request.answer(subscribed));
    }

    fn ping(&self, from: &Arc<Peer>, payload: &[u8]) {
        from.send_frame(Opcode::Pong, payload);
    }

    fn pong(&self, _from: &Arc<Peer>, _payload: &[u8]) {}

    /// A close frame has arrived: the payload of the answer, or none for no answer.
    fn close(&self, payload: &[u8]) -> Option<Vec<u8>> {
        Some(match CloseFrame::parse(payload) {
            Ok(_) => payload.to_vec(),
            Err(_) => 1002u16.to_be_bytes().to_vec(),
        })
    }

    /// True when the server ends the TCP connection after the closing handshake.
    fn ends_after_close(&self) -> bool {
        true
    }

    /// A connection has ended before its request was whole.
    fn ended_unopened(&self, _wire: &Arc<dyn Wire>) {}

    /// An open connection has ended and is no longer listed.
    fn ended(&self, _hub: &Arc<Hub>, _peer: &Arc<Peer>, _how: Ended) {}
}

/// Follows the protocol in everything.
pub(crate) struct Honest;

impl Behaviour for Honest {}
