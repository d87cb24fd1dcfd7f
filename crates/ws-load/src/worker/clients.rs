//! The clients of a worker: frames out, and how a connection ends.

use super::opening::Opening;
use super::{Common, Peer};
use crate::clock;
use crate::dialect::Codec;
use crate::io::{Control, Token};
use crate::message::{Command, OpenTerms, Report};
use crate::net::{ConnectError, Connection, Phase, Transport};
use crate::plan;
use crate::scenario::{self, Slot};
use run_record::Reading;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use ws_proto::{CloseFrame, Opcode, encode_frame};

/// All connections of a worker, by slot. A slot is used once.
pub(super) struct ClientTable {
    connections: Vec<Connection>,
    /// In bytes.
    longest_message: u32,
    pub(super) opening: Opening,
    /// How each client reads, where they differ.
    readings: Vec<Reading>,
    /// Clients that are ready.
    ready: u32,
    /// Clients that were ready, read slowly and were cut off.
    cut_off: u32,
    /// Clients that were ready and are lost, and of which the scenario does not know yet.
    lost: VecDeque<(Slot, ConnectError)>,
    /// Connections that were told to close and have not ended.
    closing: usize,
    pub(super) codec: Arc<dyn Codec>,
    pub(super) common: Common,
    /// Number of this worker among its peers, who are those of this process.
    pub(super) thread: u32,
    pub(super) peers: Vec<Peer>,
    /// Number of this worker among all workers of the run, and how many there are.
    number: u32,
    workers: u32,
    /// Random numbers drawn so far, for masks and nonces.
    drawn: u64,
}

/// The clients of a worker while the backend is at hand.
pub(super) struct Session<'a> {
    pub(super) table: &'a mut ClientTable,
    pub(super) control: &'a mut dyn Control,
}

impl ClientTable {
    pub(super) fn new(
        thread: u32,
        peers: Vec<Peer>,
        codec: Arc<dyn Codec>,
        common: Common,
    ) -> Self {
        let (number, workers) = common.share.worker(thread, peers.len() as u32);
        Self {
            connections: Vec::new(),
            longest_message: plan::longest_message(&common.plan),
            opening: Opening::new(&common.plan, workers),
            readings: Vec::new(),
            ready: 0,
            cut_off: 0,
            lost: VecDeque::new(),
            closing: 0,
            codec,
            common,
            thread,
            peers,
            number,
            workers,
            drawn: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.connections.len()
    }

    pub(super) fn add(&mut self, transport: Transport) -> Token {
        let connection = Connection::connecting(transport, self.longest_message);
        self.connections.push(connection);
        (self.connections.len() - 1) as Token
    }

    /// A slot whose connection could not even be tried.
    pub(super) fn add_gone(&mut self) {
        self.connections.push(Connection::gone());
    }

    #[inline]
    pub(super) fn get(&mut self, slot: Token) -> &mut Connection {
        &mut self.connections[slot as usize]
    }

    /// Has this worker's share of so many clients opened.
    pub(super) fn want(&mut self, clients: u64) {
        let share = plan::share_of(clients, self.number.into(), self.workers.into());
        self.opening.want(share as usize);
    }

    /// The same for connections of a `connect` run.
    pub(super) fn open(&mut self, terms: &OpenTerms) {
        self.opening
            .begin(terms, self.number.into(), self.workers.into());
    }

    pub(super) fn note_turn(&self) {
        self.common.progress.turned(self.thread as usize);
    }

    pub(super) fn report(&self, report: Report) {
        // The listener is gone only when the controller is, and the process with it.
        let _ = self.common.reports.send((self.thread, report));
    }

    /// 64 random bits that no other draw of this run gives.
    pub(super) fn draw(&mut self) -> u64 {
        self.drawn += 1;
        let stream = self.common.plan.generator.seed ^ u64::from(self.number) << 32;
        plan::mix(!stream, self.drawn)
    }

    fn draw_mask(&mut self) -> [u8; 4] {
        (self.draw() as u32).to_ne_bytes()
    }

    /// Clients that got as far as being ready, less those that are missed.
    pub(super) const fn opened_count(&self) -> u32 {
        self.ready + self.cut_off
    }

    /// How a client reads.
    #[inline]
    pub(super) fn reading(&self, slot: Token) -> Reading {
        let reading = self.readings.get(slot as usize).copied();
        reading.unwrap_or(self.common.plan.populations[0].reads)
    }

    /// Finds out how the client that is opened next reads.
    pub(super) fn note_reading(&mut self) -> Reading {
        let slot = self.len();
        let populations = &self.common.plan.populations;
        if populations.len() > 1 {
            let client = slot as u64 * u64::from(self.workers) + u64::from(self.number);
            let reading = plan::reading_of(populations, client);
            self.readings.resize(slot, Reading::Full);
            self.readings.push(reading);
        }
        self.reading(slot as Token)
    }

    /// A client is ready.
    pub(super) fn note_ready(&mut self, slot: Token) {
        self.get(slot).phase = Phase::Ready;
        self.ready += 1;
        self.common
            .progress
            .connected
            .fetch_add(1, Ordering::Relaxed);
    }

    fn note_lost(&mut self, slot: Token, error: ConnectError) {
        self.ready -= 1;
        self.cut_off += u32::from(!plan::is_awaited(self.reading(slot)));
        self.common
            .progress
            .connected
            .fetch_sub(1, Ordering::Relaxed);
        self.lost.push_back((slot, error));
    }

    pub(super) fn is_closed(&self, end_ns: u64) -> bool {
        self.closing == 0 || clock::now_ns() >= end_ns
    }

    /// Ends what is left, without a trace in the kernel.
    pub(super) fn abort_all(&mut self) {
        for connection in self.connections.drain(..) {
            if let Some(transport) = connection.transport {
                drop(transport.abort());
            }
        }
    }
}

impl Session<'_> {
    /// Sends one masked frame.
    pub(super) fn send_frame(&mut self, slot: Token, opcode: Opcode, payload: &[u8]) {
        let mask = self.table.draw_mask();
        let mut frame = Vec::new();
        encode_frame(&mut frame, opcode, Some(mask), payload);
        self.write(slot, |transport| transport.send(&frame));
    }

    /// Sends bytes; a connection that cannot take them is broken. True when the kernel has taken
    /// all, `None` when the connection is broken or gone.
    #[inline]
    fn write(
        &mut self,
        slot: Token,
        send: impl FnOnce(&mut Transport) -> io::Result<bool>,
    ) -> Option<bool> {
        let transport = self.table.get(slot).transport.as_mut()?;
        let was_waiting = transport.wants_write();
        let sent = send(transport);
        let watched = watch(self.control, slot, transport, was_waiting);
        match sent.and_then(|taken| watched.map(|()| taken)) {
            Ok(taken) => Some(taken),
            Err(error) => {
                self.on_failed(slot, error);
                None
            }
        }
    }

    /// The peer has ended the connection without a close frame.
    pub(super) fn on_end(&mut self, slot: Token) {
        self.on_closed(slot, None);
    }

    /// The peer has ended the connection, or has said that it will.
    pub(super) fn on_closed(&mut self, slot: Token, close: Option<CloseFrame>) {
        let error = ConnectError::Closed {
            addr: self.table.common.target.addr,
            stage: self.table.get(slot).stage(),
            reset: false,
            close,
        };
        self.lose(slot, error);
    }

    pub(super) fn on_failed(&mut self, slot: Token, error: io::Error) {
        let stage = self.table.get(slot).stage();
        let error = self.table.explain(error, stage, slot);
        self.lose(slot, error);
    }

    /// A connection is over, whatever phase it was in.
    #[cold]
    pub(super) fn lose(&mut self, slot: Token, error: ConnectError) {
        let connection = self.table.get(slot);
        let Some(transport) = connection.transport.take() else {
            return;
        };
        let was_opening = connection.is_opening();
        let phase = std::mem::replace(&mut connection.phase, Phase::Gone);
        if was_opening {
            self.control.close(transport.abort());
            self.table.opening_failed(error);
            return;
        }
        self.control.close(transport.into_socket());
        match phase {
            Phase::Closing => self.table.closing -= 1,
            Phase::Ready => self.table.note_lost(slot, error),
            _ => {}
        }
    }

    /// Sends a close frame on every connection. Returns until when the peers have time to answer.
    pub(super) fn close(&mut self) -> u64 {
        self.table.opening.stop();
        let close = CloseFrame {
            code: 1000,
            reason: String::new(),
        };
        let end_ns = clock::now_ns() + clock::nanos(super::CLOSE_PATIENCE);
        for slot in 0..self.table.len() as Token {
            if !matches!(self.table.get(slot).phase, Phase::Ready) {
                continue;
            }
            self.table.get(slot).phase = Phase::Closing;
            self.table.closing += 1;
            self.send_frame(slot, Opcode::Close, &close.encode());
        }
        end_ns
    }
}

impl scenario::Clients for Session<'_> {
    #[inline]
    fn now_ns(&self) -> u64 {
        clock::now_ns()
    }

    fn slots(&self) -> Slot {
        self.table.len() as Slot
    }

    #[inline]
    fn is_ready(&self, slot: Slot) -> bool {
        let connection = self.table.connections.get(slot as usize);
        connection.is_some_and(|connection| matches!(connection.phase, Phase::Ready))
    }

    fn ready_count(&self) -> u32 {
        self.table.ready
    }

    fn is_opening(&self) -> bool {
        self.table.opening.is_under_way()
    }

    #[inline]
    fn is_blocked(&self, slot: Slot) -> bool {
        let transport = &self.table.connections[slot as usize].transport;
        transport.as_ref().is_some_and(Transport::wants_write)
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> Option<bool> {
        self.write(slot, |transport| transport.send(bytes))
    }

    fn send_latest(&mut self, slot: Slot, opcode: Opcode, payload: &[u8]) {
        let mask = self.table.draw_mask();
        let mut frame = Vec::new();
        encode_frame(&mut frame, opcode, Some(mask), payload);
        self.write(slot, |transport| transport.send_latest(&frame));
    }

    fn end(&mut self, slot: Slot, error: ConnectError) {
        self.lose(slot, error);
    }

    #[inline]
    fn take_lost(&mut self) -> Option<(Slot, ConnectError)> {
        self.table.lost.pop_front()
    }

    #[inline]
    fn draw(&mut self) -> u64 {
        self.table.draw()
    }

    fn report(&mut self, report: Report) {
        self.table.report(report);
    }

    fn tell(&mut self, worker: usize, command: Command) {
        self.table.peers[worker].tell(command);
    }
}

/// Asks to be told when the socket takes bytes again, if any wait now and none did before; stops
/// asking when none do any more.
#[inline]
pub(super) fn watch(
    control: &mut dyn Control,
    slot: Token,
    transport: &Transport,
    was_waiting: bool,
) -> io::Result<()> {
    if transport.wants_write() == was_waiting {
        return Ok(());
    }
    rewatch(control, slot, transport)
}

/// Watches for the socket to take bytes again, if any wait.
#[cold]
pub(super) fn rewatch(
    control: &mut dyn Control,
    slot: Token,
    transport: &Transport,
) -> io::Result<()> {
    control.established(slot, transport.raw(), transport.wants_write())
}
