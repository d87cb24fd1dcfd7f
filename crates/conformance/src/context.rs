//! What a check works with: connections, fresh payloads, and waits with a verdict.

use crate::client::{Client, Ending, Incoming, OpenError, Opening};
use crate::dialect::Speech;
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload, Reply};
use crate::raw;
use crate::target::{Dialect, ProtocolRequest, ServerMemory, Target};
use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::cell::Cell;
use std::time::{Duration, Instant};
use ws_proto::{Opcode, encode_key};

/// Transfers of many megabytes take seconds on a busy machine.
pub(crate) const LARGE: Duration = Duration::from_secs(10);

/// How long a client listens after a broadcast for what must not come, where the answer to an echo
/// does not prove that the queue was empty.
const SETTLE: Duration = Duration::from_millis(100);

/// Bits of a tag that number the payloads of one check; the number of the check is above them.
/// Together they stay below 2^53, which JSON keeps.
const TAG_BITS: u32 = 24;

/// One run of one check.
pub(crate) struct Context<'a> {
    pub(crate) target: &'a Target,
    pub(crate) dialect: Dialect,
    run: u64,
    tags: u64,
    keys: ChaCha8Rng,
    last_broadcast: Cell<Option<Instant>>,
}

impl<'a> Context<'a> {
    /// `run` tells this run's payloads from those of the runs before.
    pub(crate) fn new(target: &'a Target, dialect: Dialect, run: u64) -> Self {
        Self {
            target,
            dialect,
            run,
            tags: 0,
            keys: ChaCha8Rng::seed_from_u64(run),
            last_broadcast: Cell::new(None),
        }
    }

    /// A fresh `Sec-WebSocket-Key`.
    pub(crate) fn key(&mut self) -> String {
        let mut nonce = [0; 16];
        self.keys.fill_bytes(&mut nonce);
        encode_key(nonce)
    }

    /// What is special to the dialect.
    pub(crate) fn speech(&self) -> &'static dyn Speech {
        self.dialect.speech()
    }

    /// The server answers this request.
    pub(crate) fn has(&self, workload: ProtocolRequest) -> bool {
        self.target.workloads.contains(&workload)
    }

    /// A connection that may send requests.
    pub(crate) fn connect(&mut self) -> Result<Client, Failure> {
        let key = self.key();
        Ok(Client::open(self.target, self.dialect, &key)?)
    }

    /// A connection for large messages, with more patience.
    pub(crate) fn connect_large(&mut self) -> Result<Client, Failure> {
        let mut client = self.connect()?;
        client.timeout = client.timeout.max(LARGE);
        Ok(client)
    }

    /// Starts a handshake.
    pub(crate) fn start(&mut self) -> Result<Opening, OpenError> {
        let key = self.key();
        Opening::start(self.target, self.dialect, &key)
    }

    /// Opens `count` connections, all handshakes at once.
    pub(crate) fn connect_many(&mut self, count: usize) -> Result<Vec<Client>, Failure> {
        let opening: Result<Vec<Opening>, OpenError> = (0..count).map(|_| self.start()).collect();
        let clients: Result<Vec<Client>, _> = opening?.into_iter().map(Opening::finish).collect();
        let mut clients = clients?;
        clients.iter_mut().try_for_each(Client::ask_to_join)?;
        clients.iter_mut().try_for_each(Client::joined)?;
        Ok(clients)
    }

    /// A small payload that is like no other.
    pub(crate) fn payload(&mut self) -> Payload {
        self.payload_padded(16)
    }

    /// A payload that is like no other, with that many bytes of filling.
    pub(crate) fn payload_padded(&mut self, padding: usize) -> Payload {
        let tag = self.tag();
        Payload::tagged(self.dialect, tag, padding)
    }

    /// The same, filled with random letters of which there are eight: compression makes it smaller by more
    /// than a half.
    pub(crate) fn payload_of_letters(&mut self, padding: usize) -> Payload {
        let tag = self.tag();
        let mut letters = vec![0; padding];
        self.keys.fill_bytes(&mut letters);
        let letters: String = letters
            .iter()
            .map(|byte| char::from(b'a' + byte % 8))
            .collect();
        Payload::filled(self.dialect, tag, &letters)
    }

    /// Larger than all before.
    const fn tag(&mut self) -> u64 {
        self.tags += 1;
        self.run << TAG_BITS | self.tags
    }

    /// A payload of so many random bytes in binary, and of nearly so many random letters in text.
    pub(crate) fn random_payload(&mut self, len: usize) -> Payload {
        let mut bytes = vec![0; len];
        self.keys.fill_bytes(&mut bytes);
        if self.dialect == Dialect::Binary {
            return Payload::binary(&bytes);
        }
        let letter = |byte: &u8| char::from(b'0' + byte % 64);
        let letters = bytes.iter().map(letter);
        // Not what JSON escapes.
        let text: String = letters.filter(|letter| *letter != '\\').collect();
        Payload::Json(text.into())
    }

    /// Bytes of memory of the server's processes.
    pub(crate) fn server_memory(&self) -> Result<u64, Failure> {
        let memory = self.target.memory.as_ref();
        let bytes = memory.and_then(ServerMemory::bytes);
        bytes.ok_or_else(|| Failure::new("the server has no memory: it has ended"))
    }

    /// The binary dialect, where the server speaks it beside this one.
    pub(crate) fn binary(&self) -> Option<Dialect> {
        let spoken = self.target.dialects.contains(&Dialect::Binary);
        (spoken && self.dialect != Dialect::Binary).then_some(Dialect::Binary)
    }

    /// The result may overtake the broadcast to other clients: between processes, and where a
    /// dialect keeps no order.
    pub(crate) fn hands_over(&self) -> bool {
        self.target.multi_process || !self.speech().is_ordered()
    }

    /// A message between processes may reach a client that came later, even one of a later check.
    fn is_stray(&self, reply: &Reply) -> bool {
        let earlier = |tag: u64| tag >> TAG_BITS < self.run;
        self.hands_over()
            && reply.kind == Kind::Broadcast
            && reply.payload.tag().is_some_and(earlier)
    }

    /// A small request that is like no other.
    pub(crate) fn fresh(&mut self, kind: Kind) -> (Opcode, Vec<u8>) {
        let payload = self.payload();
        self.message(kind, &payload)
    }

    /// The next message, whatever it is; anything else, or nothing, is a failure.
    pub(crate) fn reply(&self, client: &mut Client) -> Result<Reply, Failure> {
        loop {
            let wait = client.timeout;
            let reply = as_reply(client.next_within(wait), wait)?;
            if !self.is_stray(&reply) {
                return Ok(reply);
            }
        }
    }

    /// The next message must be this.
    pub(crate) fn expect(&self, client: &mut Client, kind: Kind, payload: &Payload) -> Checked {
        let reply = self
            .reply(client)
            .map_err(|failure| failure.at(format_args!("waiting for {kind:?} of {payload}")))?;
        if reply.kind == kind && reply.payload.equals(payload) {
            return Ok(());
        }
        Err(Failure(format!(
            "got {reply} in place of {kind:?} of {payload}"
        )))
    }

    /// Sends a request.
    pub(crate) fn request(&self, client: &mut Client, kind: Kind, payload: &Payload) -> Checked {
        let (opcode, message) = self.message(kind, payload);
        client.send(opcode, &message)
    }

    /// A request as opcode and message.
    pub(crate) fn message(&self, kind: Kind, payload: &Payload) -> (Opcode, Vec<u8>) {
        if kind == Kind::Broadcast {
            self.last_broadcast.set(Some(Instant::now()));
        }
        self.speech().request(kind, payload)
    }

    /// Asks for an echo and expects it next.
    pub(crate) fn echo(&self, client: &mut Client, payload: &Payload) -> Checked {
        self.request(client, Kind::Echo, payload)?;
        self.expect(client, Kind::Echo, payload)
    }

    /// Sends an echo and returns everything that came before its answer: nothing that the server
    /// had queued for this connection can come later.
    ///
    /// Where a dialect keeps no order, or the server has no echo (a ping then takes its place),
    /// time decides: also returned is all that comes within [`SETTLE`] of the last broadcast.
    pub(crate) fn fence(&mut self, client: &mut Client) -> Result<Vec<Reply>, Failure> {
        let mut before = Vec::new();
        if !self.has(ProtocolRequest::Echo) || !self.speech().is_ordered() {
            let since = self.last_broadcast.get().map(|last| last.elapsed());
            let until = Instant::now() + SETTLE.saturating_sub(since.unwrap_or_default());
            let left = || until.saturating_duration_since(Instant::now());
            while let Some(incoming) = client.next_within(left()) {
                before.push(as_reply(Some(incoming), SETTLE)?);
            }
        }
        if self.has(ProtocolRequest::Echo) {
            self.echo_fence(client, &mut before)?;
        } else {
            client.send_raw(&raw::frame(raw::FIN | Opcode::Ping as u8, b"fence"))?;
            let wait = client.timeout;
            loop {
                match client.next_within(wait) {
                    Some(Incoming::Pong(_)) => break,
                    other => before.push(as_reply(other, wait)?),
                }
            }
        }
        before.retain(|reply| !self.is_stray(reply));
        Ok(before)
    }

    fn echo_fence(&mut self, client: &mut Client, before: &mut Vec<Reply>) -> Checked {
        let fence = self.payload();
        let (opcode, message) = self.message(Kind::Echo, &fence);
        client.send_as_agreed(opcode, &message)?;
        loop {
            let reply = self
                .reply(client)
                .map_err(|failure| failure.at("waiting for an echo"))?;
            if reply.kind == Kind::Echo && reply.payload.equals(&fence) {
                return Ok(());
            }
            before.push(reply);
        }
    }

    /// What comes before the answer to an echo that is asked for now, if anything does. Where answers have
    /// no order, or there are no echoes, nothing may come, as in [`Self::quiet`].
    pub(crate) fn before_an_echo(
        &mut self,
        client: &mut Client,
    ) -> Result<Option<Incoming>, Failure> {
        if !self.has(ProtocolRequest::Echo) || !self.speech().is_ordered() {
            return self.quiet(client).map(|()| None);
        }
        let fence = self.payload();
        let sent = self.request(client, Kind::Echo, &fence);
        let wait = client.timeout;
        let Some(incoming) = client.next_within(wait) else {
            sent?;
            return Err(Failure(format!("no echo within {wait:?}")));
        };
        let is_echo = |reply: &Reply| reply.kind == Kind::Echo && reply.payload.equals(&fence);
        Ok(match &incoming {
            Incoming::Message {
                reply: Ok(reply), ..
            } if is_echo(reply) => None,
            _ => Some(incoming),
        })
    }

    /// The connection lives, and nothing came on it before the answer to an echo.
    pub(crate) fn quiet(&mut self, client: &mut Client) -> Checked {
        match self.fence(client)?.first() {
            None => Ok(()),
            Some(reply) => Err(Failure(format!("got {reply}, which was not sent to it"))),
        }
    }

    /// Gathers messages until `enough` or until nothing comes for the client's timeout.
    pub(crate) fn gather(
        &self,
        client: &mut Client,
        enough: impl Fn(&[Reply]) -> bool,
    ) -> Result<Vec<Reply>, Failure> {
        let mut got = Vec::new();
        let deadline = Instant::now() + client.timeout;
        while !enough(&got) {
            let wait = deadline.saturating_duration_since(Instant::now());
            let Some(incoming) = client.next_within(wait) else {
                break;
            };
            let reply = as_reply(Some(incoming), wait)?;
            if !self.is_stray(&reply) {
                got.push(reply);
            }
        }
        Ok(got)
    }
}

/// A message, or a failure that names what came instead.
pub(crate) fn as_reply(incoming: Option<Incoming>, wait: Duration) -> Result<Reply, Failure> {
    match incoming {
        None => Err(Failure(format!("nothing came within {wait:?}"))),
        Some(Incoming::Message { reply, .. }) => {
            reply.map_err(|what| Failure(format!("got {what}")))
        }
        Some(other) => Err(Failure(format!("got {other}"))),
    }
}

/// The server fails the connection: by a close frame, or by ending it. Any other answer is a
/// failure, and so is silence.
pub(crate) fn refused(client: &mut Client) -> Checked {
    let wait = client.timeout;
    match client.next_within(wait) {
        Some(Incoming::Close(_)) => Ok(()),
        Some(Incoming::End(ending)) => match ending {
            Ending::Malformed(_) => Err(Failure(format!("got {ending}"))),
            _ => Ok(()),
        },
        Some(other) => Err(Failure(format!("got {other} and no end of the connection"))),
        None => Err(Failure(format!(
            "the connection was still open after {wait:?}"
        ))),
    }
}
