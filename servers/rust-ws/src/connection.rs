//! The library's settings and the handler of one connection: what the library checks only when it
//! is asked to, or not at all. Does not know what messages say.

use crate::commands::Commands;
use crate::protocol::{Answer, Others};
use crate::strand::{Job, Strand};
use crate::topics::{Passing, Topics};
use std::collections::HashSet;
use std::convert::Infallible;
use std::net::ToSocketAddrs;
use std::sync::Arc;
use ws::util::{Timeout, Token};
use ws::{
    Builder, Error, ErrorKind, Frame, Handler, Handshake, Message, OpCode, Request, Response,
    Result, Sender, Settings,
};

const VERSION: &str = "13";

/// Bytes (docs/protocol.md, "Limits").
const MAX_MESSAGE: usize = 16 << 20;

/// Bytes. The library answers a frame of more with 1002; so its limit is higher than ours, and a
/// frame in between is refused with 1009.
const MAX_FRAME: usize = 32 << 20;

/// Bytes for one slow client (docs/protocol.md, "Limits").
const MAX_UNREAD: usize = 64 << 20;

/// Bytes behind which a client is asked whether it reads.
const PROBE_BEHIND: usize = 16 << 20;

/// The question, a ping.
const PROBE: &[u8] = b"do you read?";

/// The library reserves memory for each connection and for its command queue from the start: 100,000
/// need about 60 MB.
const MOST_CONNECTIONS: u64 = 100_000;

/// Commands that the queue holds at least.
const QUEUE: usize = 1 << 17;

/// Commands that each connection may still send when the queue is full otherwise: a broadcast, its
/// result, a mark and a probe.
const MARGIN: usize = 4;

pub(crate) struct Server<'a> {
    perform: fn(Message) -> Answer,
    /// Hands work to a pool; none: the event loop does it itself.
    execute: Option<&'a dyn Fn(Job)>,
    /// Whether messages to clients tell of subscriptions; a raw echo only looks as if.
    rooms: bool,
    topics: Arc<Topics>,
    commands: Commands,
    settings: Settings,
}

impl<'a> Server<'a> {
    pub(crate) fn new(
        perform: fn(Message) -> Answer,
        rooms: bool,
        execute: Option<&'a dyn Fn(Job)>,
    ) -> Self {
        let files = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(1024);
        let max_connections = files.min(MOST_CONNECTIONS) as usize;
        // The queue holds the product of the two.
        let queue_size = (QUEUE / max_connections).max(MARGIN) + 1;
        Server {
            perform,
            execute,
            rooms,
            topics: Arc::default(),
            commands: Commands::new(max_connections * (queue_size - MARGIN)),
            settings: Settings {
                max_connections,
                queue_size,
                fragment_size: usize::MAX, // of what is sent: one frame a message
                max_fragment_size: MAX_FRAME,
                masking_strict: true,
                method_strict: true,
                tcp_nodelay: true,
                panic_on_internal: false,
                shutdown_on_interrupt: false,
                ..Settings::default()
            },
        }
    }

    /// Serves until the event loop fails.
    pub(crate) fn listen(&self, address: impl ToSocketAddrs) -> Result<Infallible> {
        Builder::new()
            .with_settings(self.settings)
            .build(|out| Connection {
                out,
                server: self,
                strand: Arc::default(),
                open: false,
                closing: false,
                fragments: None,
                unread: 0,
                probed: None,
                last: false,
                topics: HashSet::new(),
            })?
            .listen(address)?;
        Err(Error::new(ErrorKind::Internal, "the event loop has ended"))
    }
}

struct Connection<'a> {
    out: Sender,
    server: &'a Server<'a>,
    strand: Arc<Strand>,
    open: bool,
    closing: bool,
    /// The fragmented message under way.
    fragments: Option<(OpCode, Vec<u8>)>,
    /// Bytes sent that the client is not known to have read.
    unread: usize,
    /// Those of them that the probe under way stands behind.
    probed: Option<usize>,
    /// A message of this connection waits in a full command queue.
    last: bool,
    /// What it is subscribed to.
    topics: HashSet<String>,
}

impl Handler for Connection<'_> {
    fn on_request(&mut self, request: &Request) -> Result<Response> {
        // The library does not look at the version (RFC 6455, section 4.4).
        if request.version()? == VERSION {
            return Response::from_request(request);
        }
        let mut refusal = Response::new(426, "Upgrade Required", Vec::new());
        let supported = ("Sec-WebSocket-Version".into(), VERSION.into());
        refusal.headers_mut().push(supported);
        Ok(refusal)
    }

    fn on_open(&mut self, _: Handshake) -> Result<()> {
        self.open = true;
        Ok(())
    }

    fn on_frame(&mut self, frame: Frame) -> Result<Option<Frame>> {
        if frame.has_rsv1() || frame.has_rsv2() || frame.has_rsv3() {
            return Err(protocol_error("a reserved bit is set"));
        }
        match frame.opcode() {
            OpCode::Close => return Ok(Some(frame)),
            _ if self.closing => return Ok(None),
            OpCode::Pong if frame.payload() == PROBE => {
                self.unread -= self.probed.take().unwrap_or(0);
            }
            OpCode::Text | OpCode::Binary | OpCode::Continue => return self.assemble(frame),
            _ => {}
        }
        Ok(Some(frame))
    }

    fn on_message(&mut self, message: Message) -> Result<()> {
        match self.server.execute {
            None => self.perform(message),
            Some(execute) => {
                let perform = self.server.perform;
                if self
                    .strand
                    .push(message, perform, &self.server.topics, &self.out, execute)
                {
                    Ok(())
                } else {
                    Err(too_many())
                }
            }
        }
    }

    /// A mark of `perform` has been taken out of the command queue.
    fn on_new_timeout(&mut self, mark: Token, _: Timeout) -> Result<()> {
        self.last = false;
        self.server.commands.take(mark);
        Ok(())
    }

    fn on_send_frame(&mut self, frame: Frame) -> Result<Option<Frame>> {
        // A broadcast also comes for connections whose handshake is under way.
        if !self.open || !self.passes(&frame) {
            return Ok(None);
        }
        if frame.opcode() == OpCode::Close {
            self.closing = true;
            return Ok(Some(frame));
        }
        self.unread += frame.payload().len();
        if self.unread > MAX_UNREAD {
            return Err(Error::new(
                ErrorKind::Capacity,
                "The client reads too slowly",
            ));
        }
        if self.unread > PROBE_BEHIND && self.probed.is_none() {
            self.probe()?;
        }
        Ok(Some(frame))
    }

    /// The library's own prints to stdout.
    fn on_error(&mut self, _: Error) {}
}

impl Connection<'_> {
    /// Puts fragments together. The library would keep each as a frame, whatever their number, and it
    /// has neither all rules for them (RFC 6455, section 5.4) nor a limit for the whole message.
    fn assemble(&mut self, frame: Frame) -> Result<Option<Frame>> {
        let is_final = frame.is_final();
        let (opcode, data) = match (self.fragments.take(), frame.opcode()) {
            (None, OpCode::Continue) => return Err(protocol_error("nothing to continue")),
            (Some((opcode, mut data)), OpCode::Continue) => {
                data.extend_from_slice(frame.payload());
                (opcode, data)
            }
            (Some(_), _) => return Err(protocol_error("a message within a message")),
            (None, opcode) => (opcode, frame.into_data()),
        };
        if data.len() > MAX_MESSAGE {
            return Err(Error::new(ErrorKind::Capacity, "The message is too large"));
        }
        if is_final {
            return Ok(Some(Frame::message(data, opcode, true)));
        }
        self.fragments = Some((opcode, data));
        Ok(None)
    }

    /// Answers on the event loop. When the command queue is full, a connection may have one last
    /// message in it; one that sends more is cut off.
    fn perform(&mut self, message: Message) -> Result<()> {
        let commands = &self.server.commands;
        if commands.full() {
            if self.last {
                return Err(too_many());
            }
            self.last = true;
        }
        let answer = (self.server.perform)(message);
        match answer.others {
            Others::None => {}
            Others::All(message) => {
                commands.count();
                self.out.broadcast(message)?;
            }
            Others::Subscribers(topic, message) => self.publish(&topic, message)?,
        }
        commands.count();
        self.out.send(answer.reply)?;
        if self.last || commands.mark_is_due() {
            commands.mark(&self.out)?;
        }
        Ok(())
    }

    /// A command for each subscriber; or, where these do not fit into the queue, one for all the
    /// connections, of which the others drop the message.
    fn publish(&self, topic: &str, message: Message) -> Result<()> {
        let commands = &self.server.commands;
        let subscribers = self.server.topics.subscribers(topic);
        if subscribers.len() > 1 && !commands.fit(subscribers.len()) {
            commands.count();
            return self.out.broadcast(message);
        }
        for subscriber in subscribers {
            commands.count();
            subscriber.send(message.clone())?;
        }
        Ok(())
    }

    /// Keeps the subscriptions, and says whether the frame is for this client.
    fn passes(&mut self, frame: &Frame) -> bool {
        if !self.server.rooms || frame.opcode() != OpCode::Text {
            return true;
        }
        match Passing::of(frame.payload()) {
            Passing::Published(topic) => return self.topics.contains(topic),
            Passing::Subscribed(topic) => {
                if self.topics.insert(topic.to_owned()) {
                    self.server.topics.enter(topic, &self.out);
                }
            }
            Passing::Unsubscribed(topic) => {
                if self.topics.remove(topic) {
                    self.server.topics.leave(topic, &self.out);
                }
            }
            Passing::Other => {}
        }
        true
    }

    /// Asks whether the client has read what was sent so far: the library does not tell how much
    /// it still holds.
    fn probe(&mut self) -> Result<()> {
        self.probed = Some(self.unread);
        match self.server.execute {
            None => {
                self.server.commands.count();
                self.out.ping(PROBE.into())
            }
            Some(execute) => {
                let out = self.out.clone();
                // It fails when the event loop is gone, and the process with it.
                execute(Box::new(move || drop(out.ping(PROBE.into()))));
                Ok(())
            }
        }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        for topic in &self.topics {
            self.server.topics.leave(topic, &self.out);
        }
    }
}

fn protocol_error(words: &'static str) -> Error {
    Error::new(ErrorKind::Protocol, words)
}

fn too_many() -> Error {
    Error::new(
        ErrorKind::Capacity,
        "Too many messages without waiting for answers",
    )
}
