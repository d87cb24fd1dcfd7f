//! Packs of frames over randomly chosen connections of a raw echo, one iteration after the other.
//!
//! Holds no message: frames are written and checked piece by piece ([`frames`]), so that one of
//! 100 MiB takes no more memory than one of 20 bytes.

mod frames;

use super::{Clients, Scenario, Setting, Slot};
use crate::message::{Command, RawPart, RawTerms, Report, StepPart};
use crate::net::ConnectError;
use crate::plan::{mix, sender_of};
use frames::{Checker, Frames, Wrong};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use ws_proto::{Opcode, encode_frame};

/// Most bytes of one write, and most that are kept for a connection that takes none.
const CHUNK: usize = 64 * 1024;

/// A connection of a raw echo.
struct Line {
    checker: Checker,
    /// Frames to send in all.
    owed: u64,
    /// The frame to send next, and how much of it has been sent.
    next: u64,
    at: u64,
    /// Pongs that wait for their turn between two frames. Later ones take their place while the
    /// connection takes no bytes (RFC 6455, 5.5.3).
    pongs: Vec<u8>,
}

pub(super) struct RawEcho {
    /// Number of the worker among all of the run.
    number: u32,
    seed: u64,
    /// What is to be sent; absent before that is known, and after the end.
    terms: Option<RawTerms>,
    lines: Vec<Line>,
    frames: Frames,
    /// Bytes of echoes of all workers that came back.
    bytes: Arc<AtomicU64>,
    chunk: Vec<u8>,
    /// Packs so far.
    drawn: u64,
    /// Echoes that the iteration waits for.
    missing: u64,
    /// Connections that have a pong to send.
    pinged: Vec<Slot>,
    part: RawPart,
}

impl RawEcho {
    pub(super) fn new(setting: &Setting) -> Self {
        let seed = setting.plan.generator.seed;
        Self {
            number: setting.worker().0,
            seed,
            terms: None,
            lines: Vec::new(),
            frames: Frames::new(0, seed),
            bytes: Arc::clone(&setting.bytes),
            chunk: Vec::new(),
            drawn: 0,
            missing: 0,
            pinged: Vec::new(),
            part: RawPart::default(),
        }
    }

    fn begin(&mut self, terms: RawTerms) {
        let seed = mix(terms.seed, self.number.into());
        self.frames = Frames::new(terms.payload_bytes, seed);
        self.terms = Some(terms);
    }

    /// Sends as many packs as there are connections, each over one chosen at random.
    fn iterate(&mut self, terms: RawTerms, clients: &mut dyn Clients) {
        let lines = self.lines.len() as u64;
        self.missing = lines * u64::from(terms.frames);
        for _ in 0..lines {
            let chosen = sender_of(self.seed, self.drawn, lines);
            self.drawn += 1;
            self.lines[chosen as usize].owed += u64::from(terms.frames);
            self.pump(chosen as Slot, clients);
        }
    }

    /// Writes what a connection owes, as far as the kernel takes it.
    fn pump(&mut self, slot: Slot, clients: &mut dyn Clients) {
        while !clients.is_blocked(slot) {
            self.chunk.clear();
            let line = &mut self.lines[slot as usize];
            if line.at == 0 {
                self.chunk.append(&mut line.pongs);
            }
            while line.next < line.owed && self.chunk.len() < CHUNK {
                let before = self.chunk.len();
                let room = CHUNK - before;
                let total = self
                    .frames
                    .write(&mut self.chunk, slot, line.next, line.at, room);
                line.at += (self.chunk.len() - before) as u64;
                if line.at < total {
                    break;
                }
                (line.next, line.at) = (line.next + 1, 0);
            }
            if self.chunk.is_empty() || clients.send(slot, &self.chunk).is_none() {
                return;
            }
        }
    }

    fn note_lost(&mut self, clients: &mut dyn Clients) {
        while let Some((slot, error)) = clients.take_lost() {
            match error {
                ConnectError::Closed { .. } => self.ended(slot),
                error => self.fail(slot, &error.to_string()),
            }
        }
    }

    fn ended(&mut self, slot: Slot) {
        let bytes = self.terms.map_or(0, |terms| terms.payload_bytes);
        self.fail(
            slot,
            &format!("the server ended it; does it take messages of {bytes} bytes?"),
        );
    }

    fn fail(&mut self, slot: Slot, words: &str) {
        self.part
            .fault
            .get_or_insert_with(|| format!("connection {}: {words}", slot + 1));
    }

    fn end(&mut self, clients: &mut dyn Clients) {
        if self.terms.take().is_some() {
            clients.report(Report::Part(Box::new(StepPart {
                raw: std::mem::take(&mut self.part),
                ..StepPart::default()
            })));
        }
    }
}

impl Scenario for RawEcho {
    fn obey(&mut self, command: Command, clients: &mut dyn Clients) {
        match command {
            Command::Raw(terms) => self.begin(terms),
            Command::GiveUp { .. } => self.end(clients),
            _ => {}
        }
    }

    fn turn(&mut self, clients: &mut dyn Clients) {
        self.note_lost(clients);
        let Some(terms) = self.terms else { return };
        let is_over = self.part.fault.is_some() || self.lines.is_empty();
        if self.missing > 0 && !is_over {
            return;
        }
        if !is_over && self.drawn > 0 {
            self.part.iterations += 1;
        }
        if is_over || self.drawn > 0 && clients.now_ns() >= terms.until_ns {
            self.end(clients);
        } else {
            self.iterate(terms, clients);
        }
    }

    fn next_ns(&self, _: u64) -> u64 {
        match self.terms {
            Some(_) if self.missing == 0 || self.part.fault.is_some() => 0,
            _ => u64::MAX,
        }
    }

    fn ready(&mut self, slot: Slot, _: u64, _: Option<u32>, _: u32) {
        let begin = self.lines.len() as Slot;
        self.lines.extend((begin..=slot).map(Line::new));
    }

    fn message(&mut self, _: Slot, _: Opcode, _: &[u8], _: u64, _: u64) {}

    fn takes_bytes(&self) -> bool {
        true
    }

    fn bytes(&mut self, slot: Slot, bytes: &[u8], read_ns: u64) {
        if self.part.fault.is_some() {
            return;
        }
        let line = &mut self.lines[slot as usize];
        let begun = line.next + u64::from(line.at > 0);
        let fed = match line.checker.feed(&self.frames, begun, bytes) {
            Ok(fed) => fed,
            Err(Wrong(words)) => {
                self.part.fault = Some(words);
                return;
            }
        };
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if fed.echoes > 0 {
            self.part.echoes += fed.echoes;
            self.part.last_ns = read_ns;
            self.missing -= fed.echoes;
        }
        if fed.closed {
            self.ended(slot);
        } else if !fed.pings.is_empty() {
            line.answer(&fed.pings);
            self.pinged.push(slot);
        }
    }

    fn follow_up(&mut self, _: u64, clients: &mut dyn Clients) {
        while let Some(slot) = self.pinged.pop() {
            self.pump(slot, clients);
        }
    }

    fn after_flush(&mut self, slot: Slot, clients: &mut dyn Clients) {
        self.pump(slot, clients);
    }

    fn broke_protocol(&mut self, words: String) {
        self.part.fault.get_or_insert(words);
    }

    fn reset(&mut self) {}

    fn finish(&mut self, _: &mut StepPart, _: u64) {}
}

impl Line {
    fn new(connection: Slot) -> Self {
        Self {
            checker: Checker::new(connection),
            owed: 0,
            next: 0,
            at: 0,
            pongs: Vec::new(),
        }
    }

    /// Answers pings. Where answers to earlier ones wait still, the peer does not read.
    fn answer(&mut self, pings: &[Vec<u8>]) {
        self.pongs.clear();
        for ping in pings {
            encode_frame(&mut self.pongs, Opcode::Pong, Some([0; 4]), ping);
        }
    }
}
