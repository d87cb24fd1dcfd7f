//! The loop of the delay server: one thread, one epoll, all connections, one alarm.

use super::clock::{self, Alarm};
use super::connection::{Brought, Connection, Message, Over};
use super::delays::Schedule;
use super::queue::{self, Job, Queue, To};
use super::stamped;
use super::{Answer, DelayOptions, Truth, Write};
use crate::poll::{Interest, Poll, Ready, accept};
use crate::threaded::{Answer as Answers, Asked, Rejection, Reply, Request, Speech, read};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpListener};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ws_proto::{CloseFrame, Opcode, encode_frame};

const LISTENER: u64 = u64::MAX;
const WAKE: u64 = u64::MAX - 1;
const ALARM: u64 = u64::MAX - 2;

const READ_SIZE: usize = 64 * 1024;

pub(super) struct Reactor {
    poll: Poll,
    alarm: Alarm,
    listener: TcpListener,
    options: DelayOptions,
    truth: Arc<Mutex<Truth>>,
    schedule: Schedule,
    queue: Queue,
    /// By number, which is the order in which they were accepted.
    connections: BTreeMap<u64, Connection>,
    accepted: u64,
    /// When the first request arrived.
    first_request_ns: Option<u64>,
    buffer: Vec<u8>,
}

impl Reactor {
    pub(super) fn new(
        listener: TcpListener,
        wake: &UnixStream,
        options: DelayOptions,
        truth: Arc<Mutex<Truth>>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let alarm = Alarm::new()?;
        listener.set_nonblocking(true)?;
        poll.add(&listener, LISTENER)?;
        poll.add(wake, WAKE)?;
        poll.add(&alarm, ALARM)?;
        Ok(Self {
            poll,
            alarm,
            listener,
            schedule: Schedule::new(options.delay, options.pace, options.seed),
            options,
            truth,
            queue: Queue::default(),
            connections: BTreeMap::new(),
            accepted: 0,
            first_request_ns: None,
            buffer: vec![0; READ_SIZE],
        })
    }

    /// Serves until the other end of the wake socket is shut; the caller keeps this end alive.
    pub(super) fn run(&mut self) -> io::Result<()> {
        let mut ready = Vec::new();
        loop {
            self.freeze_if_due();
            self.write_due();
            let next = self.queue.next_due();
            self.alarm
                .set(next.into_iter().chain(self.freeze_ns()).min())?;
            self.poll.wait(&mut ready)?;
            for &Ready {
                token,
                readable,
                writable,
            } in &ready
            {
                match token {
                    LISTENER => self.accept_all()?,
                    WAKE => return Ok(()),
                    ALARM => {}
                    number => self.serve(number, readable, writable),
                }
                self.write_due();
            }
        }
    }

    fn truth(&self) -> MutexGuard<'_, Truth> {
        self.truth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the freeze begins, if it is still to come.
    fn freeze_ns(&self) -> Option<u64> {
        let after = self.options.freeze?.after;
        Some(self.first_request_ns? + after.as_nanos() as u64)
    }

    fn freeze_if_due(&mut self) {
        let (Some(freeze), Some(at_ns)) = (self.options.freeze, self.freeze_ns()) else {
            return;
        };
        let began_ns = clock::now_ns();
        if began_ns < at_ns {
            return;
        }
        std::thread::sleep(freeze.length);
        self.truth().frozen_ns = Some(clock::now_ns() - began_ns);
        self.options.freeze = None;
    }

    fn accept_all(&mut self) -> io::Result<()> {
        loop {
            let stream = match accept(&self.listener) {
                Ok(stream) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.raw_os_error() == Some(libc::ECONNABORTED) => continue,
                Err(error) => return Err(error),
            };
            stamped::enable(&stream);
            self.accepted += 1;
            self.poll.add(&stream, self.accepted)?;
            self.connections.insert(
                self.accepted,
                Connection::new(stream, self.options.framework),
            );
        }
    }

    fn serve(&mut self, number: u64, readable: bool, writable: bool) {
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        let mut done = Ok(());
        if writable {
            done = connection.drain();
        }
        if readable && done.is_ok() {
            let read = connection.read(&mut self.buffer);
            done = read.and_then(|brought| self.take(number, brought));
        }
        self.settle(number, done);
    }

    /// Called after anything that may have ended a connection or filled its socket.
    fn settle(&mut self, number: u64, done: Result<(), Over>) {
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        let mut over = done.is_err();
        if !over && connection.is_blocked() != connection.armed {
            connection.armed = connection.is_blocked();
            let interest = if connection.armed {
                Interest::ReadWrite
            } else {
                Interest::Read
            };
            over = self
                .poll
                .change(&connection.stream, number, interest)
                .is_err();
        }
        if over {
            let _ = connection.stream.shutdown(Shutdown::Both);
            self.connections.remove(&number);
        }
    }

    fn take(&mut self, number: u64, brought: Brought) -> Result<(), Over> {
        let arrival_ns = brought.stamp_ns.unwrap_or_else(clock::now_ns);
        if brought.frames && brought.stamp_ns.is_none() {
            self.truth().unstamped += 1;
        }
        let is_data = |message: &&Message| matches!(message, Message::Data(..));
        let all = brought.messages.iter().filter(is_data).count() as u64;
        let mut requests = 0;
        for message in brought.messages {
            match message {
                Message::Data(opcode, message) => {
                    requests += 1;
                    self.request(number, opcode, &message, arrival_ns, requests < all)?;
                }
                Message::Ping(payload) => self.reply(number, Opcode::Pong, &payload)?,
                Message::Close(payload) => {
                    let valid = CloseFrame::parse(&payload).is_ok();
                    let refusal = 1002u16.to_be_bytes();
                    let answer = if valid { &payload[..] } else { &refusal };
                    self.reply(number, Opcode::Close, answer)?;
                    return Err(Over);
                }
            }
        }
        if requests > 1 {
            self.truth().shared_reads += requests - 1;
        }
        Ok(())
    }

    fn reply(&mut self, number: u64, opcode: Opcode, payload: &[u8]) -> Result<(), Over> {
        let mut frame = Vec::new();
        encode_frame(&mut frame, opcode, None, payload);
        let connection = self.connections.get_mut(&number).ok_or(Over)?;
        connection.send(&frame)
    }

    fn request(
        &mut self,
        number: u64,
        opcode: Opcode,
        message: &[u8],
        arrival_ns: u64,
        shared: bool,
    ) -> Result<(), Over> {
        let connection = self.connections.get_mut(&number).ok_or(Over)?;
        let request = match read(connection.speaker, opcode, message) {
            Ok(Asked::Request(request)) => request,
            Ok(Asked::Member(member, frame)) => {
                connection.speaker.member = member;
                return frame.map_or(Ok(()), |frame| connection.send(&frame));
            }
            Ok(Asked::Heartbeat(frame)) => {
                connection.send(&frame)?;
                self.truth().heartbeats.push(frame.len() as u64);
                return Ok(());
            }
            Ok(Asked::Nothing) => return Ok(()),
            // It delays requests, and knows no topics.
            Ok(Asked::Room(_)) => {
                let refused = Speech::Plain.complaint(Rejection::UnknownType, &Value::Null);
                return connection.send(&refused);
            }
            Err(rejected) => {
                return match rejected.answer {
                    Answers::Frame(frame) => connection.send(&frame),
                    Answers::Nothing => Ok(()),
                    Answers::Close(code) => {
                        self.reply(number, Opcode::Close, &code.to_be_bytes())?;
                        Err(Over)
                    }
                };
            }
        };
        self.first_request_ns.get_or_insert(arrival_ns);
        let asked = queue::Asked {
            arrival_ns,
            stamp: request.stamp(),
            shared,
        };
        if request.broadcast {
            self.broadcast(number, &request, asked);
        } else {
            self.queue.push(Job {
                due_ns: self.schedule.due(arrival_ns, 1),
                number: 0,
                to: To::One(number),
                frame: request.frame(Reply::Echo).into(),
                asked,
                result: false,
                completes: true,
            });
        }
        Ok(())
    }

    fn broadcast(&mut self, sender: u64, request: &Request, asked: queue::Asked) {
        let listeners = self.connections.iter().filter(|(_, c)| c.is_listener());
        let listeners: Vec<u64> = listeners.map(|(number, _)| *number).collect();
        let due_ns = self.schedule.due(asked.arrival_ns, listeners.len());
        let frame: Arc<[u8]> = request.frame(Reply::Broadcast).into();
        let copy = |after: Duration, to, completes| Job {
            due_ns: due_ns + after.as_nanos() as u64,
            number: 0,
            to,
            frame: Arc::clone(&frame),
            asked,
            result: false,
            completes,
        };
        let last = listeners.last().copied();
        let DelayOptions {
            last_listener,
            spread,
            result,
            ..
        } = self.options;
        if spread.is_zero() {
            let late = last.filter(|_| !last_listener.is_zero());
            let others = To::AllBut(late);
            self.queue
                .push(copy(Duration::ZERO, others, late.is_none()));
            if let Some(late) = late {
                self.queue.push(copy(last_listener, To::One(late), true));
            }
        } else {
            let gaps = listeners.len().saturating_sub(1).max(1) as u32;
            for (place, listener) in (0..).zip(listeners) {
                let after = spread * place / gaps;
                let completes = Some(listener) == last;
                self.queue.push(copy(after, To::One(listener), completes));
            }
        }
        self.queue.push(Job {
            frame: request.frame(Reply::Result).into(),
            result: true,
            ..copy(result, To::One(sender), false)
        });
    }

    fn write_due(&mut self) {
        let truth = Arc::clone(&self.truth);
        while let Some(job) = self.queue.take_due(clock::now_ns()) {
            // Locked while writing, so that an answer is recorded before a client can have it.
            let mut truth = truth.lock().unwrap_or_else(PoisonError::into_inner);
            let numbers = match job.to {
                To::One(number) => vec![number],
                To::AllBut(late) => {
                    let listeners = self.connections.iter().filter(|(_, c)| c.is_listener());
                    let numbers = listeners.map(|(number, _)| *number);
                    numbers.filter(|number| Some(*number) != late).collect()
                }
            };
            let mut written_ns = clock::now_ns();
            for number in numbers {
                let Some(write) = self.write(number, &job) else {
                    continue;
                };
                written_ns = write.before_ns;
                self.keep(&mut truth, write);
            }
            if job.completes {
                let queue::Asked {
                    arrival_ns,
                    stamp,
                    shared,
                } = job.asked;
                truth.service.record(written_ns.saturating_sub(arrival_ns));
                truth.answers.push(Answer {
                    arrival_ns,
                    written_ns,
                    stamp,
                    shared,
                });
            }
        }
    }

    /// Records a write. When it was sent, everything before it was sent, too.
    fn keep(&mut self, truth: &mut Truth, write: Write) {
        let place = truth.writes.len();
        truth.writes.push(write);
        let Some(connection) = self.connections.get_mut(&write.connection) else {
            return;
        };
        if write.after_ns == u64::MAX {
            connection.unsent.push(place);
            return;
        }
        for place in connection.unsent.drain(..) {
            truth.writes[place].after_ns = write.after_ns;
        }
    }

    fn write(&mut self, number: u64, job: &Job) -> Option<Write> {
        let connection = self.connections.get_mut(&number)?;
        let before_ns = clock::now_ns();
        let done = connection.send(&job.frame);
        let after_ns = match connection.is_all_sent() {
            true => clock::now_ns(),
            false => u64::MAX,
        };
        let write = done.is_ok().then_some(Write {
            stamp: job.asked.stamp,
            connection: number,
            result: job.result,
            bytes: job.frame.len() as u64,
            before_ns,
            after_ns,
        });
        self.settle(number, done);
        write
    }
}
