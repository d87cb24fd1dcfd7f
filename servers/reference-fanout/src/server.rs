//! The event loop: what has come is read and answered, then some of the clients for whom something
//! waits are served, then what has come is looked for again.

use crate::clients::{Client, Clients, Gone, State};
use crate::handshake;
use crate::log::Log;
use crate::outbox::Batch;
use crate::ring::{self, Ring};
use crate::rooms::Rooms;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{self, SocketFlags, sockopt};
use std::collections::VecDeque;
use std::mem;
use std::net::TcpListener;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Reports of one look at the sockets, and connections taken in it.
const AT_ONCE: usize = 128;

/// Bytes of one read.
const READ: usize = 64 * 1024;

/// When so much has been added since all were served, nothing is read until all have been served
/// again: so clients that read fall behind by their own doing alone.
const MOST_FRESH: usize = 8 * 1024 * 1024;

/// For a handshake, and from the last frame to the end of the connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// Until connections are accepted again after there were no files for one.
const PAUSE: Duration = Duration::from_millis(20);

/// The listener's number among the places of clients.
const LISTENER: u64 = u64::MAX;

mod answers;

pub(crate) struct Server {
    epoll: OwnedFd,
    listener: TcpListener,
    /// When connections are accepted again.
    paused: Option<Instant>,
    clients: Clients,
    rooms: Rooms,
    log: Log,
    /// The next place of the pass through all clients, and how many are left of it.
    at: u32,
    left: u32,
    /// Other clients for whom something waits.
    ready: VecDeque<u32>,
    /// Bytes added to logs since all were served.
    fresh: usize,
    /// Handshakes and ends under way: until when, place and serial number.
    deadlines: VecDeque<(Instant, u32, u64)>,
    serial: u64,
    batch: Batch,
    /// None where sends are calls of their own.
    ring: Option<Ring>,
    /// Clients that are served between two looks at the sockets.
    turn: u32,
    raw_echo: bool,
}

impl Server {
    pub(crate) fn new(
        listener: TcpListener,
        ring: Option<Ring>,
        turn: u32,
        raw_echo: bool,
    ) -> Result<Self, Errno> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(
            &epoll,
            &listener,
            EventData::new_u64(LISTENER),
            EventFlags::IN,
        )?;
        Ok(Self {
            epoll,
            listener,
            paused: None,
            clients: Clients::default(),
            rooms: Rooms::default(),
            log: Log::default(),
            at: 0,
            left: 0,
            ready: VecDeque::new(),
            fresh: 0,
            deadlines: VecDeque::new(),
            serial: 0,
            batch: Batch::new(),
            ring,
            turn,
            raw_echo,
        })
    }

    /// Serves until the process is ended.
    ///
    /// # Errors
    ///
    /// The sockets cannot be waited for.
    pub(crate) fn run(&mut self) -> Result<(), Errno> {
        let mut buffer = vec![0; READ];
        let mut events = Vec::with_capacity(AT_ONCE);
        loop {
            if self.fresh <= MOST_FRESH {
                events.clear();
                let timeout = self.timeout();
                match epoll::wait(
                    &self.epoll,
                    rustix::buffer::spare_capacity(&mut events),
                    timeout.as_ref(),
                ) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error),
                }
                for event in &events {
                    self.happened(event.data.u64(), event.flags, &mut buffer);
                    // What is left is reported again.
                    if self.fresh > MOST_FRESH {
                        break;
                    }
                }
            }
            self.serve_some();
            self.end_overdue();
        }
    }

    fn timeout(&self) -> Option<Timespec> {
        let until = if self.left > 0 || !self.ready.is_empty() {
            return Some(Timespec::default());
        } else {
            let first = self.deadlines.front().map(|&(until, ..)| until);
            first.into_iter().chain(self.paused).min()?
        };
        let wait = until.saturating_duration_since(Instant::now());
        Timespec::try_from(wait + Duration::from_millis(1)).ok()
    }

    fn happened(&mut self, what: u64, flags: EventFlags, buffer: &mut [u8]) {
        if what == LISTENER {
            return self.accept();
        }
        let place = what as u32;
        let Some(client) = self.clients.get(place) else {
            return;
        };
        let mut result = Ok(());
        if flags.intersects(EventFlags::OUT) {
            client.is_blocked = false;
        }
        if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            result = match client.is_read() {
                true => self.read(place, buffer),
                // It reads nothing and its end has come all the same.
                false if flags.intersects(EventFlags::HUP | EventFlags::ERR) => Err(Gone),
                false => Ok(()),
            };
        }
        match result {
            Ok(()) => self.serve(place),
            Err(Gone) => self.remove(place),
        }
    }

    fn accept(&mut self) {
        for _ in 0..AT_ONCE {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = match net::accept_with(&self.listener, flags) {
                Ok(socket) => socket,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    self.paused = Some(Instant::now() + PAUSE);
                    let _ = epoll::delete(&self.epoll, &self.listener);
                    return;
                }
                // None is left, or one has gone again.
                Err(_) => return,
            };
            // A refusal only costs latency.
            let _ = sockopt::set_tcp_nodelay(&socket, true);
            self.serial += 1;
            let place = self.clients.add(Client::new(socket, self.serial));
            let client = self.clients.get(place).expect("it was just added");
            let data = EventData::new_u64(place.into());
            if epoll::add(&self.epoll, client.socket(), data, EventFlags::IN).is_err() {
                self.remove(place);
                continue;
            }
            self.expect_end(place, self.serial);
        }
    }

    fn expect_end(&mut self, place: u32, serial: u64) {
        self.deadlines
            .push_back((Instant::now() + PATIENCE, place, serial));
    }

    fn end_overdue(&mut self) {
        if self.deadlines.is_empty() && self.paused.is_none() {
            return;
        }
        let now = Instant::now();
        while let Some(&(until, place, serial)) = self.deadlines.front()
            && until <= now
        {
            self.deadlines.pop_front();
            if let Some(client) = self.clients.get(place)
                && client.rest.serial == serial
                && client.state != State::Open
            {
                self.remove(place);
            }
        }
        if self.paused.is_some_and(|until| until <= now) {
            self.paused = None;
            let data = EventData::new_u64(LISTENER);
            let _ = epoll::add(&self.epoll, &self.listener, data, EventFlags::IN);
        }
    }

    /// Reads of a client once.
    fn read(&mut self, place: u32, buffer: &mut [u8]) -> Result<(), Gone> {
        let client = self.clients.get(place).ok_or(Gone)?;
        let Some(size) = client.read(buffer)? else {
            return Ok(());
        };
        let input = &mut buffer[..size];
        match client.state {
            State::Closing => Ok(()),
            State::Open => self.take(place, input),
            State::Handshake => {
                let mut request = mem::take(&mut client.rest.request);
                request.extend_from_slice(input);
                match handshake::answer(&request) {
                    handshake::Answer::Incomplete => {
                        client.rest.request = request;
                        Ok(())
                    }
                    handshake::Answer::Accepted(size, response) => {
                        client.open(&self.log);
                        client.push(&self.log, &[response.as_bytes()]);
                        self.take(place, &mut request[size..])
                    }
                    handshake::Answer::Refused(response) => {
                        client.push(&self.log, &[response.as_bytes()]);
                        client.state = State::Closing;
                        Ok(())
                    }
                }
            }
        }
    }

    fn leave_rooms(&mut self, place: u32) {
        if let Some(client) = self.clients.get(place) {
            for topic in mem::take(&mut client.rest.topics) {
                self.rooms.leave(&topic, place);
            }
        }
    }

    fn remove(&mut self, place: u32) {
        self.leave_rooms(place);
        self.clients.remove(place);
    }

    /// Goes on with the pass through the log's clients and with the list of others.
    fn serve_some(&mut self) {
        for _ in 0..self.turn {
            let Some(place) = self.ready.pop_front() else {
                break;
            };
            if let Some(client) = self.clients.get(place) {
                client.is_ready = false;
                self.serve(place);
            }
        }
        let mut turn = self.turn.min(self.left);
        while turn > 0 {
            if self.at >= self.clients.places() {
                self.at = 0;
                self.log.forget(self.clients.lowest_need(&self.log));
            }
            let end = self.clients.places().min(self.at + turn.min(ring::AT_ONCE));
            let places = self.at..end.max(self.at + 1);
            self.at = places.end;
            turn = turn.saturating_sub(places.len() as u32);
            self.left = self.left.saturating_sub(places.len() as u32);
            self.send_together(places.clone());
            places.for_each(|place| self.serve(place));
        }
        if self.left == 0 && self.ready.is_empty() && self.fresh > 0 {
            self.fresh = 0;
            self.log.forget(self.clients.lowest_need(&self.log));
        }
    }

    /// Sends to those of these clients that wait for nothing but the log.
    fn send_together(&mut self, places: Range<u32>) {
        let Some(ring) = &mut self.ring else {
            return;
        };
        let (numbers, jobs): (Vec<u32>, Vec<_>) = self.clients.jobs(places, &self.log).unzip();
        let mut results = Vec::new();
        ring.send(&jobs, &mut results);
        let sizes: Vec<usize> = jobs.iter().map(|job| job.bytes.len()).collect();
        for ((place, size), result) in numbers.into_iter().zip(sizes).zip(results) {
            if let Some(client) = self.clients.get(place)
                && client.done(size, result).is_err()
            {
                self.remove(place);
            }
        }
    }

    /// Sends a client what there is for it.
    fn serve(&mut self, place: u32) {
        let Some(client) = self.clients.get(place) else {
            return;
        };
        if client.serve(&self.log, &mut self.batch).is_err() {
            return self.remove(place);
        }
        let client = self.clients.get(place).expect("it was just served");
        if client.state == State::Closing && client.is_served(&self.log) {
            // The peer has the last frame before the end; then its own end is waited for.
            let _ = net::shutdown(client.socket(), net::Shutdown::Write);
        }
        let interest = (client.is_read(), client.is_blocked);
        if interest != client.interest {
            client.interest = interest;
            let mut flags = EventFlags::empty();
            flags.set(EventFlags::IN, interest.0);
            flags.set(EventFlags::OUT, interest.1);
            let data = EventData::new_u64(place.into());
            if epoll::modify(&self.epoll, client.socket().as_fd(), data, flags).is_err() {
                self.remove(place);
            }
        }
    }
}
