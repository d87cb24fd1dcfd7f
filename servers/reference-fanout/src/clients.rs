//! The connected clients: a table with one small entry each, which a pass of the log goes through
//! from one end to the other, and behind each entry what is needed less often.

use crate::frame::Decoder;
use crate::log::Log;
use crate::outbox::{Batch, Outbox, Place};
use crate::ring::Job;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

/// What may wait for one client (docs/protocol.md, Limits), in bytes.
const MOST_WAITING: usize = 64 * 1024 * 1024;

/// While so many bytes of answers wait for the client that asked, nothing more of it is read.
const MOST_ANSWERS: usize = 1024 * 1024;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum State {
    Handshake,
    Open,
    /// The last frame, or the refusal, is in the outbox or has been sent.
    Closing,
}

pub(crate) struct Client {
    socket: OwnedFd,
    pub(crate) state: State,
    /// The socket takes no more for now.
    pub(crate) is_blocked: bool,
    /// Something is in the outbox.
    has_outbox: bool,
    /// It is in the server's list of clients that are to be served.
    pub(crate) is_ready: bool,
    /// What the server waits for: reading, writing.
    pub(crate) interest: (bool, bool),
    /// How far it has come in the log.
    cursor: u64,
    pub(crate) rest: Box<Rest>,
}

/// What the log's passes do not need.
#[derive(Default)]
pub(crate) struct Rest {
    outbox: Outbox,
    pub(crate) decoder: Decoder,
    /// What has come of the handshake's request.
    pub(crate) request: Vec<u8>,
    pub(crate) topics: HashSet<Rc<str>>,
    /// Tells clients apart that have had the same place one after the other.
    pub(crate) serial: u64,
}

/// The connection is over, by the peer, by an error or by the limit for slow clients.
pub(crate) struct Gone;

impl Client {
    pub(crate) fn new(socket: OwnedFd, serial: u64) -> Self {
        Self {
            socket,
            state: State::Handshake,
            is_blocked: false,
            has_outbox: false,
            is_ready: false,
            interest: (true, false),
            cursor: 0,
            rest: Box::new(Rest {
                serial,
                ..Rest::default()
            }),
        }
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// From here on it follows the log.
    pub(crate) fn open(&mut self, log: &Log) {
        self.state = State::Open;
        self.cursor = log.head();
    }

    /// Queues a frame behind all that the log holds now.
    pub(crate) fn push(&mut self, log: &Log, frame: &[&[u8]]) {
        if !self.has_outbox && self.state != State::Open {
            self.cursor = log.head();
        }
        self.rest.outbox.push(log.head(), frame);
        self.has_outbox = true;
    }

    /// Queues a frame that other clients have as well.
    ///
    /// # Errors
    ///
    /// Too much waits for this client.
    pub(crate) fn push_shared(&mut self, log: &Log, place: &Place) -> Result<(), Gone> {
        self.rest.outbox.push_shared(log.head(), place);
        self.has_outbox = true;
        self.within_limit(log)
    }

    fn within_limit(&self, log: &Log) -> Result<(), Gone> {
        let of_log = (log.head() - self.cursor) as usize;
        match of_log + self.rest.outbox.waiting() <= MOST_WAITING {
            true => Ok(()),
            false => Err(Gone),
        }
    }

    /// Whether more is to be read of it.
    pub(crate) fn is_read(&self) -> bool {
        !self.has_outbox || self.state == State::Closing || self.rest.outbox.own() < MOST_ANSWERS
    }

    /// Whether all that is for it has gone to the socket.
    pub(crate) fn is_served(&self, log: &Log) -> bool {
        !self.has_outbox && (self.state != State::Open || self.cursor == log.head())
    }

    /// The lowest position of the log that it still needs.
    pub(crate) fn needs(&self, log: &Log) -> u64 {
        match self.state {
            State::Open => self.cursor,
            _ if self.has_outbox => self.cursor,
            _ => log.head(),
        }
    }

    /// What is to be sent of the log, if nothing else is to be sent.
    pub(crate) fn job<'a>(&'a self, log: &'a Log) -> Option<Job<'a>> {
        let is_plain = self.state == State::Open && !self.has_outbox && !self.is_blocked;
        (is_plain && self.cursor < log.head()).then(|| Job {
            socket: self.socket.as_fd(),
            bytes: log.after(self.cursor),
        })
    }

    /// The result of such a job of so many bytes.
    ///
    /// # Errors
    ///
    /// The connection has failed.
    pub(crate) fn done(&mut self, size: usize, result: i32) -> Result<(), Gone> {
        let sent = match usize::try_from(result) {
            Ok(sent) => sent,
            Err(_) => retried(Errno::from_raw_os_error(-result))?,
        };
        self.cursor += sent as u64;
        self.is_blocked = sent < size;
        Ok(())
    }

    /// Sends what there is for it, as far as the socket takes it.
    ///
    /// # Errors
    ///
    /// The connection has failed, or too much waits for this client.
    pub(crate) fn serve(&mut self, log: &Log, batch: &mut Batch) -> Result<(), Gone> {
        while !self.is_blocked && !self.is_served(log) {
            let sent = if self.has_outbox {
                self.send_mixed(log, batch)?
            } else {
                let bytes = log.after(self.cursor);
                let sent = self.send(bytes)?;
                self.cursor += sent as u64;
                sent
            };
            // `send` has found that the socket is full when it took less.
            debug_assert!(sent > 0 || self.is_blocked);
        }
        match self.is_blocked {
            true => self.within_limit(log),
            false => Ok(()),
        }
    }

    fn send_mixed(&mut self, log: &Log, batch: &mut Batch) -> Result<usize, Gone> {
        batch.clear();
        let until = match self.state {
            State::Open => log.head(),
            _ => self.rest.outbox.last_behind(),
        };
        self.rest.outbox.gather(log, self.cursor, until, batch);
        let sent = self.send(batch.bytes())?;
        self.cursor = self.rest.outbox.advance(self.cursor, sent);
        self.has_outbox = !self.rest.outbox.is_empty();
        Ok(sent)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<usize, Gone> {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let sent = match send(&self.socket, bytes, flags) {
            Ok(sent) => sent,
            Err(error) => retried(error)?,
        };
        self.is_blocked = sent < bytes.len();
        Ok(sent)
    }

    /// Reads what has come, or none when nothing has.
    ///
    /// # Errors
    ///
    /// The peer has ended the connection.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>, Gone> {
        match recv(&self.socket, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((0, _)) => Err(Gone),
            Ok((size, _)) => Ok(Some(size)),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
            Err(_) => Err(Gone),
        }
    }
}

/// The bytes that went with this error, if the socket may take more later.
fn retried(error: Errno) -> Result<usize, Gone> {
    match error {
        Errno::WOULDBLOCK | Errno::INTR | Errno::NOBUFS | Errno::NOMEM => Ok(0),
        _ => Err(Gone),
    }
}

/// Clients by their place, which they keep while they are connected.
#[derive(Default)]
pub(crate) struct Clients {
    places: Vec<Option<Client>>,
    free: BinaryHeap<Reverse<u32>>,
}

impl Clients {
    /// The number of places, those that are free among them.
    pub(crate) fn places(&self) -> u32 {
        self.places.len() as u32
    }

    pub(crate) fn get(&mut self, place: u32) -> Option<&mut Client> {
        self.places.get_mut(place as usize)?.as_mut()
    }

    /// The plain jobs among these places.
    pub(crate) fn jobs<'a>(
        &'a self,
        places: Range<u32>,
        log: &'a Log,
    ) -> impl Iterator<Item = (u32, Job<'a>)> {
        places.filter_map(move |place| {
            let client = self.places.get(place as usize)?.as_ref()?;
            Some((place, client.job(log)?))
        })
    }

    /// Takes the lowest place that is free.
    pub(crate) fn add(&mut self, client: Client) -> u32 {
        while let Some(Reverse(place)) = self.free.pop() {
            if let Some(free) = self.places.get_mut(place as usize) {
                *free = Some(client);
                return place;
            }
        }
        self.places.push(Some(client));
        self.places() - 1
    }

    pub(crate) fn remove(&mut self, place: u32) -> Option<Client> {
        let client = self.places.get_mut(place as usize)?.take()?;
        self.free.push(Reverse(place));
        while let Some(None) = self.places.last() {
            self.places.pop();
        }
        Some(client)
    }

    /// The lowest position of the log that a client still needs.
    pub(crate) fn lowest_need(&self, log: &Log) -> u64 {
        let needs = self.places.iter().flatten().map(|client| client.needs(log));
        needs.min().unwrap_or(log.head())
    }
}
