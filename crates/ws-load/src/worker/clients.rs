//! The clients of a worker: frames out, and how a connection ends.

mod scenario;

use super::beats::Beats;
use super::captured::Captured;
use super::drops::Drops;
use super::lives::Lives;
use super::nodes::Nodes;
use super::opening::Opening;
use super::segments::Segments;
use super::sequences::Sequences;
use super::steps::Steps;
use super::watch::watch;
use super::{Common, Peer};
use crate::clock;
use crate::dialect::Codec;
use crate::io::{Control, Token};
use crate::message::{HandshakePart, OpenTerms, Report};
use crate::net::{ConnectError, Connection, Deflate, Phase, Sessions, Transport};
use crate::plan::{self, WorkerRooms};
use crate::scenario::{Deed, Slot};
use ::plan::Reading;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use ws_proto::{CloseFrame, Opcode, encode_frame};

/// All connections of a worker, by slot. A slot is used again by the client that left it, and by no
/// other.
pub(super) struct ClientTable {
    connections: Vec<Connection>,
    /// In bytes.
    longest_message: u32,
    pub(super) deflate: Deflate,
    sessions: Sessions,
    rooms: WorkerRooms,
    /// Clients of the whole run.
    wanted: u64,
    /// TLS handshakes since the last report.
    pub(super) handshakes: HandshakePart,
    pub(super) opening: Opening,
    /// Absent where no client leaves during a step.
    pub(super) lives: Option<Box<Lives>>,
    /// Absent where the dialect has no steps over HTTP.
    pub(super) steps: Option<Box<Steps>>,
    /// Absent where the dialect has no heartbeat.
    pub(super) beats: Option<Box<Beats>>,
    /// How each client reads, where they differ.
    readings: Vec<Reading>,
    /// Clients that are ready.
    ready: u32,
    /// Clients that were ready, read slowly and were cut off.
    cut_off: u32,
    /// What clients have done by plan, of which the scenario does not know yet.
    done: VecDeque<(Slot, Deed)>,
    /// Connections that were told to close and have not ended.
    closing: usize,
    pub(super) codec: Arc<dyn Codec>,
    /// What the server told clients while they opened.
    pub(super) captured: Captured,
    pub(super) sequences: Sequences,
    pub(super) segments: Segments,
    pub(super) nodes: Nodes,
    pub(super) drops: Drops,
    pub(super) common: Common,
    /// Number of this worker among its peers, who are those of this process.
    pub(super) thread: u32,
    pub(super) peers: Vec<Peer>,
    /// Number of this worker among all workers of the run, and how many there are.
    pub(super) number: u32,
    pub(super) workers: u32,
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
        let longest_message = plan::longest_message(
            &common.plan,
            common
                .target
                .lines
                .as_ref()
                .map_or(0, |lines| lines.longest()),
        );
        Self {
            connections: Vec::new(),
            longest_message,
            deflate: Deflate::new(&common.plan, longest_message),
            sessions: Sessions::default(),
            rooms: WorkerRooms::new(&common.plan, (number, workers)),
            wanted: 0,
            handshakes: HandshakePart::default(),
            opening: Opening::new(&common.plan, number, workers, common.work),
            lives: Lives::new(
                &common.plan,
                (number, workers),
                clock::nanos(super::CLOSE_PATIENCE),
            ),
            steps: Steps::new(&common, &peers[thread as usize].waker),
            beats: Beats::for_worker(&*codec, &common, number),
            readings: Vec::new(),
            ready: 0,
            cut_off: 0,
            done: VecDeque::new(),
            closing: 0,
            captured: Captured::new(&common.plan, codec.kept()),
            sequences: Sequences::default(),
            segments: Segments::default(),
            nodes: Nodes::default(),
            drops: Drops::default(),
            codec,
            common,
            thread,
            peers,
            number,
            workers,
            drawn: 0,
        }
    }

    pub(super) fn connections(&self) -> &[Connection] {
        &self.connections
    }

    pub(super) fn len(&self) -> usize {
        self.connections.len()
    }

    /// A connection, with the count of TLS handshakes.
    pub(super) fn get_with_handshakes(
        &mut self,
        slot: Token,
    ) -> (&mut Connection, &mut HandshakePart) {
        (&mut self.connections[slot as usize], &mut self.handshakes)
    }

    /// Has a slot begin anew, or the next one begin.
    pub(super) fn put(&mut self, slot: Token, transport: Transport) {
        self.captured.forget(slot);
        self.beats.iter_mut().for_each(|beats| beats.forget(slot));
        self.sequences.forget(slot);
        self.segments.note_new();
        let connection = Connection::connecting(transport, self.longest_message);
        match self.connections.get_mut(slot as usize) {
            Some(place) => *place = connection,
            None => self.connections.push(connection),
        }
    }

    /// Which clients are ready, by slot.
    pub(super) fn ready_slots(&self) -> Vec<bool> {
        let all = self.connections.iter();
        all.map(|of| matches!(of.phase, Phase::Ready)).collect()
    }

    /// Has the next slot begin without a connection.
    pub(super) fn add(&mut self, connection: Connection) {
        self.connections.push(connection);
    }

    #[inline]
    pub(super) fn get(&mut self, slot: Token) -> &mut Connection {
        &mut self.connections[slot as usize]
    }

    /// The same, with what its messages are inflated with.
    #[inline]
    pub(super) fn get_with_deflate(&mut self, slot: Token) -> (&mut Connection, &mut Deflate) {
        (&mut self.connections[slot as usize], &mut self.deflate)
    }

    /// What a client speaks TLS with; `None` without TLS.
    pub(super) fn tls_of(
        &mut self,
        slot: Token,
    ) -> Option<(Arc<ClientConfig>, ServerName<'static>)> {
        let tls = self.common.target.tls.as_ref()?;
        let comes_back = self.lives.as_ref().is_some_and(|lives| lives.has(slot));
        Some((
            self.sessions.config(tls, slot, comes_back),
            tls.name.clone(),
        ))
    }

    /// Has this worker's share of so many clients opened.
    pub(super) fn want(&mut self, clients: u64) {
        self.wanted = clients;
        if let Some(lives) = &mut self.lives {
            lives.reopen(clock::now_ns());
        }
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

    /// The number of a slot's client among all of the run.
    pub(super) fn client(&self, slot: Token) -> u64 {
        u64::from(slot) * u64::from(self.workers) + u64::from(self.number)
    }

    /// Words of the server in which it has not told the secrets of a client.
    pub(super) fn silent(&self, slot: Token, words: &str) -> String {
        let told = self.captured.values(slot);
        self.common
            .target
            .asks
            .silent(self.client(slot), told, words)
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
            let client = self.client(slot as Token);
            let reading = plan::population_of(populations, client).reads;
            self.readings.resize(slot, Reading::Full);
            self.readings.push(reading);
        }
        self.reading(slot as Token)
    }

    /// A client is ready.
    pub(super) fn note_ready(&mut self, slot: Token) {
        self.get(slot).phase = Phase::Ready;
        self.begin_beats(slot);
        self.ready += 1;
        self.common
            .progress
            .connected
            .fetch_add(1, Ordering::Relaxed);
    }

    fn note_unready(&mut self) {
        self.ready -= 1;
        self.common
            .progress
            .connected
            .fetch_sub(1, Ordering::Relaxed);
    }

    fn note_lost(&mut self, slot: Token, error: ConnectError) {
        self.note_unready();
        self.opening.note_lost(&error);
        let now_ns = clock::now_ns();
        let is_slow = self.reading(slot) != Reading::Full;
        match self.lives.as_mut().filter(|lives| lives.has(slot)) {
            Some(lives) => lives.lost(slot, now_ns),
            None => self.cut_off += u32::from(is_slow),
        }
        self.drops.note(slot, error, now_ns);
    }

    /// A client that changes rooms has lost its connection while it was in none.
    fn note_lost_between(&mut self, slot: Token, error: ConnectError) {
        let now_ns = clock::now_ns();
        let Some(lives) = &mut self.lives else {
            return;
        };
        if !lives.is_trying(slot) {
            lives.lost(slot, now_ns);
        } else if !lives.failed(slot, &error, now_ns) {
            self.report(Report::OpenFailed(error.into()));
            return;
        }
        self.drops.note(slot, error, now_ns);
    }

    /// A client that was ready has begun to leave.
    pub(super) fn note_left(&mut self, slot: Token, now_ns: u64) {
        self.note_unready();
        self.done.push_back((slot, Deed::Left { at_ns: now_ns }));
    }

    pub(super) fn note_done(&mut self, slot: Token, deed: Deed) {
        self.done.push_back((slot, deed));
    }

    /// The room that a client is in, or is to enter, if there are rooms.
    pub(super) fn room(&self, slot: Token) -> Option<u32> {
        let lives = self.lives.as_ref();
        let later = lives.and_then(|lives| lives.room(slot));
        later.or_else(|| self.rooms.first(slot))
    }

    /// The room and the node of a client that is being subscribed; none of any other.
    #[inline]
    pub(super) fn place_of_opening(&self, slot: Token) -> (Option<u32>, u32) {
        match self.connections[slot as usize].phase {
            Phase::Subscribing => (self.room(slot), self.node(slot)),
            _ => (None, 0),
        }
    }

    /// A client leaves its room, whose number is returned; its next one is drawn.
    pub(super) fn leave_room(&mut self, slot: Token) -> Option<u32> {
        let room = self.room(slot);
        let (rooms, clients) = (&self.rooms, self.wanted);
        if let Some(lives) = &mut self.lives {
            lives.leaves_room(slot, |left| rooms.next(slot, left, clients));
        }
        room
    }

    pub(super) fn note_closing(&mut self, slot: Token) {
        self.get(slot).phase = Phase::Closing;
        self.closing += 1;
    }

    pub(super) fn note_closed(&mut self, slot: Token) {
        self.closing -= 1;
        if let Some(lives) = &mut self.lives {
            lives.closed(slot, clock::now_ns());
        }
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
    pub(super) fn write(
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
            addr: self.table.endpoint(slot),
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
        let error = error.with_words(|words| self.table.silent(slot, words));
        let connection = self.table.get(slot);
        let was_opening = connection.is_opening();
        connection.codecs = None;
        let phase = std::mem::replace(&mut connection.phase, Phase::Gone);
        if was_opening {
            if matches!(phase, Phase::Settling { .. }) {
                self.table.note_settled(slot);
            }
            self.control.close(transport.abort());
            self.table.attempt_failed(slot, error);
            return;
        }
        self.control.close(transport.into_socket());
        match phase {
            Phase::Closing => self.table.note_closed(slot),
            Phase::Ready => self.table.note_lost(slot, error),
            Phase::Between => self.table.note_lost_between(slot, error),
            _ => {}
        }
    }
}
