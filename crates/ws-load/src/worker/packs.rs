//! Packs of frames over randomly chosen connections of a raw echo, one iteration after the other.
//!
//! Takes the connections of a worker over when all are open. Holds no message: frames are written
//! and checked piece by piece ([`crate::frames`]), so that one of 100 MiB takes no more memory than
//! one of 20 bytes.

use super::{Command, Core, Progress, Report};
use crate::clock;
use crate::frames::{Checker, Frames, Wrong};
use crate::io::{Backend, Control, Event, Handler, Token};
use crate::plan::{mix, sender_of};
use serde::{Deserialize, Serialize};
use socket2::Socket;
use std::io;
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;
use ws_proto::{CloseFrame, Opcode, encode_frame};

/// Bytes that one write takes at most; a pack that is not longer leaves in one.
const CHUNK: usize = 256 * 1024;
const IDLE: Duration = Duration::from_millis(50);

/// To send packs until a moment, and then to the end of the iteration under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PacksOrder {
    pub(crate) payload_bytes: u64,
    /// Frames of one pack.
    pub(crate) frames: u32,
    pub(crate) until_ns: u64,
    pub(crate) seed: u64,
}

/// What became of the packs of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PacksPart {
    /// Echoes that came back as they were sent.
    pub(crate) echoes: u64,
    pub(crate) iterations: u64,
    /// When the last of them came.
    pub(crate) last_ns: u64,
    /// What ended it before its time.
    pub(crate) fault: Option<String>,
}

/// A connection of a raw echo.
struct Line {
    socket: Socket,
    checker: Checker,
    /// Frames to send in all.
    owed: u64,
    /// The frame to send next, and how much of it has been sent.
    next: u64,
    at: u64,
    /// The kernel takes no more at present.
    blocked: bool,
    /// Control frames that wait for their turn between two frames.
    controls: Vec<u8>,
    /// A pong that follows these; a later one takes its place while the kernel takes nothing.
    latest: Vec<u8>,
}

struct Packs {
    order: PacksOrder,
    lines: Vec<Line>,
    frames: Frames,
    progress: Arc<Progress>,
    /// Number of the worker.
    thread: usize,
    scratch: Vec<u8>,
    /// Packs so far.
    drawn: u64,
    /// Echoes that the iteration waits for.
    missing: u64,
    part: PacksPart,
}

impl Core {
    /// Carries the order out on all connections of this worker, which are closed then.
    pub(super) fn send_packs<B: Backend>(
        &mut self,
        order: PacksOrder,
        backend: &mut B,
        commands: &mpsc::Receiver<Command>,
    ) -> io::Result<()> {
        let lines = self
            .clients
            .take_sockets()
            .enumerate()
            .map(|(slot, socket)| Line::new(slot as u32, socket))
            .collect();
        let mut packs = Packs {
            order,
            lines,
            frames: Frames::new(order.payload_bytes, mix(order.seed, self.number.into())),
            progress: Arc::clone(&self.progress),
            thread: self.thread as usize,
            scratch: Vec::new(),
            drawn: 0,
            missing: 0,
            part: PacksPart::default(),
        };
        packs.run(backend, commands)?;
        self.report(Report::Packs(Box::new(packs.part)));
        Ok(())
    }
}

impl Packs {
    fn run<B: Backend>(
        &mut self,
        backend: &mut B,
        commands: &mpsc::Receiver<Command>,
    ) -> io::Result<()> {
        while self.part.fault.is_none() && !self.lines.is_empty() {
            self.progress.turned(self.thread);
            // Whatever the controller says now, it is to end.
            if commands.try_recv().is_ok() {
                return Ok(());
            }
            if self.missing == 0 {
                self.part.iterations += u64::from(self.drawn > 0);
                if self.drawn > 0 && clock::now_ns() >= self.order.until_ns {
                    break;
                }
                self.iterate(backend.control());
            }
            backend.turn(IDLE, self)?;
        }
        for line in &mut self.lines {
            line.part_politely();
        }
        Ok(())
    }

    /// Sends as many packs as there are connections, each over one chosen at random.
    fn iterate<C: Control>(&mut self, control: &mut C) {
        let lines = self.lines.len() as u64;
        self.missing = lines * u64::from(self.order.frames);
        for _ in 0..lines {
            let chosen = sender_of(self.order.seed, self.drawn, lines);
            self.drawn += 1;
            self.lines[chosen as usize].owed += u64::from(self.order.frames);
            self.pump(control, chosen as Token);
        }
    }

    /// Writes what a connection owes, as far as the kernel takes it.
    fn pump<C: Control>(&mut self, control: &mut C, slot: Token) {
        let line = &mut self.lines[slot as usize];
        if line.blocked {
            return;
        }
        if let Err(error) = line.write(slot, &self.frames, &mut self.scratch) {
            self.broken(slot, &error);
        } else if line.blocked {
            self.watch(control, slot);
        }
    }

    fn watch<C: Control>(&mut self, control: &mut C, slot: Token) {
        let line = &self.lines[slot as usize];
        if let Err(error) = control.established(slot, line.socket.as_raw_fd(), line.blocked) {
            self.broken(slot, &error);
        }
    }

    fn read<C: Control>(&mut self, control: &mut C, slot: Token, bytes: &[u8], read_ns: u64) {
        let line = &mut self.lines[slot as usize];
        let begun = line.next + u64::from(line.at > 0);
        let fed = match line.checker.feed(&self.frames, begun, bytes) {
            Ok(fed) => fed,
            Err(Wrong(words)) => {
                self.part.fault.get_or_insert(words);
                return;
            }
        };
        let read = bytes.len() as u64;
        self.progress.bytes.fetch_add(read, Ordering::Relaxed);
        if fed.echoes > 0 {
            self.part.echoes += fed.echoes;
            self.part.last_ns = read_ns;
            self.missing -= fed.echoes;
        }
        if fed.closed {
            self.ended(slot);
        } else if !fed.pings.is_empty() {
            for ping in fed.pings {
                line.pong(&ping);
            }
            self.pump(control, slot);
        }
    }

    fn broken(&mut self, slot: Token, error: &io::Error) {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => self.ended(slot),
            _ => self.fail(slot, &error.to_string()),
        }
    }

    fn ended(&mut self, slot: Token) {
        let bytes = self.order.payload_bytes;
        self.fail(
            slot,
            &format!("the server ended it; does it take messages of {bytes} bytes?"),
        );
    }

    fn fail(&mut self, slot: Token, words: &str) {
        self.part
            .fault
            .get_or_insert_with(|| format!("connection {}: {words}", slot + 1));
    }
}

impl<C: Control> Handler<C> for Packs {
    fn on_event(&mut self, control: &mut C, token: Token, event: Event<'_>) {
        if self.part.fault.is_some() {
            return;
        }
        match event {
            Event::Data { bytes, read_ns, .. } => self.read(control, token, bytes, read_ns),
            Event::Writable => {
                self.lines[token as usize].blocked = false;
                self.pump(control, token);
                if !self.lines[token as usize].blocked {
                    self.watch(control, token);
                }
            }
            Event::End => self.ended(token),
            Event::Failed(error) => self.broken(token, &error),
        }
    }
}

impl Line {
    fn new(connection: u32, socket: Socket) -> Self {
        Self {
            socket,
            checker: Checker::new(connection),
            owed: 0,
            next: 0,
            at: 0,
            blocked: false,
            controls: Vec::new(),
            latest: Vec::new(),
        }
    }

    fn pong(&mut self, payload: &[u8]) {
        let frames = if self.blocked {
            self.latest.clear();
            &mut self.latest
        } else {
            &mut self.controls
        };
        encode_frame(frames, Opcode::Pong, Some([0; 4]), payload);
    }

    fn write(&mut self, slot: Token, frames: &Frames, scratch: &mut Vec<u8>) -> io::Result<()> {
        loop {
            scratch.clear();
            if self.controls.is_empty() {
                std::mem::swap(&mut self.controls, &mut self.latest);
            }
            let controls = if self.at == 0 { self.controls.len() } else { 0 };
            scratch.extend_from_slice(&self.controls[..controls]);
            let (mut number, mut at) = (self.next, self.at);
            while number < self.owed && scratch.len() < CHUNK {
                let before = scratch.len();
                let total = frames.write(scratch, slot, number, at, CHUNK - before);
                at += (scratch.len() - before) as u64;
                if at < total {
                    break;
                }
                (number, at) = (number + 1, 0);
            }
            if scratch.is_empty() {
                return Ok(());
            }
            let sent = match self.socket.send_with_flags(scratch, libc::MSG_NOSIGNAL) {
                Ok(sent) => sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                Err(error) => return Err(error),
            };
            let of_controls = sent.min(controls);
            self.controls.drain(..of_controls);
            self.advance(slot, frames, (sent - of_controls) as u64);
        }
    }

    /// So many bytes of frames have been taken.
    fn advance(&mut self, slot: Token, frames: &Frames, mut sent: u64) {
        let mut nothing = Vec::new();
        while sent > 0 {
            let total = frames.write(&mut nothing, slot, self.next, self.at, 0);
            let here = sent.min(total - self.at);
            sent -= here;
            self.at += here;
            if self.at == total {
                (self.next, self.at) = (self.next + 1, 0);
            }
        }
    }

    /// A close frame where no frame is under way; the socket is closed when it is dropped.
    fn part_politely(&mut self) {
        if self.blocked || self.at > 0 {
            return;
        }
        let close = CloseFrame {
            code: 1000,
            reason: String::new(),
        };
        let mut frame = Vec::new();
        encode_frame(&mut frame, Opcode::Close, Some([0; 4]), &close.encode());
        // It is the end either way.
        let _ = self.socket.send_with_flags(&frame, libc::MSG_NOSIGNAL);
    }
}
