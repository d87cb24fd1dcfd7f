//! The contract, held against each backend.

mod pausing;
mod since;

use super::*;
use pausing::*;
use since::*;
use socket2::{Domain, SockAddr, Type};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// What was told, in order.
#[derive(Debug, PartialEq)]
enum Told {
    Writable,
    Bytes(Vec<u8>),
    End,
    Failed,
}

/// Notes what it is told, with bytes that follow one another put together.
#[derive(Default)]
struct Notes {
    told: Vec<(Token, Told)>,
    last: Option<(u64, u64, u64)>,
    stamped: Vec<bool>,
}

impl Notes {
    fn of(&self, token: Token) -> Vec<&Told> {
        let of = self.told.iter().filter(|(whose, _)| *whose == token);
        of.map(|(_, told)| told).collect()
    }

    fn bytes_of(&self, token: Token) -> usize {
        let len = |told: &Told| match told {
            Told::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        self.of(token).into_iter().map(len).sum()
    }
}

impl<C: Control> Handler<C> for Notes {
    fn on_event(&mut self, _: &mut C, token: Token, event: Event<'_>) {
        let told = match event {
            Event::Writable => Told::Writable,
            Event::End => Told::End,
            Event::Failed(_) => Told::Failed,
            Event::Data {
                bytes,
                at_ns,
                there_ns,
                read_ns,
                stamped,
                ..
            } => {
                self.last = Some((at_ns, there_ns, read_ns));
                self.stamped.push(stamped);
                let earlier = self
                    .told
                    .iter_mut()
                    .rev()
                    .find(|(whose, _)| *whose == token);
                if let Some((_, Told::Bytes(earlier))) = earlier {
                    earlier.extend_from_slice(bytes);
                    return;
                }
                Told::Bytes(bytes.to_vec())
            }
        };
        self.told.push((token, told));
    }
}

fn begun<B: Backend>(timestamps: Timestamps) -> B {
    let mut backend = B::new(timestamps).unwrap();
    backend.begin().unwrap();
    backend
}

/// Turns until `done`; fails a test that would wait for ever.
// timed: polls; the end is only for a hang.
fn turn_until<B: Backend, H: Handler<B::Control>>(
    backend: &mut B,
    handler: &mut H,
    mut done: impl FnMut(&mut H) -> bool,
) {
    let end = Instant::now() + Duration::from_secs(120);
    while !done(handler) {
        assert!(Instant::now() < end, "nothing came of it");
        backend.turn(Duration::from_millis(20), handler).unwrap();
    }
}

fn watch<B: Backend>(backend: &mut B, token: Token, socket: &Socket) {
    let control = backend.control();
    control.connecting(token, socket.as_raw_fd()).unwrap();
    control
        .established(token, socket.as_raw_fd(), false)
        .unwrap();
}

fn unix_pair() -> (UnixStream, Socket) {
    let (near, far) = UnixStream::pair().unwrap();
    far.set_nonblocking(true).unwrap();
    (near, Socket::from(OwnedFd::from(far)))
}

fn tcp_pair() -> (TcpStream, Socket) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    far.set_nonblocking(true).unwrap();
    near.set_nodelay(true).unwrap();
    (near, Socket::from(OwnedFd::from(far)))
}

/// Closes its socket at the first bytes, and opens others as another thread might.
struct Closes {
    socket: Option<Socket>,
    opened: Vec<(UnixStream, UnixStream)>,
}

impl<C: Control> Handler<C> for Closes {
    fn on_event(&mut self, control: &mut C, _: Token, event: Event<'_>) {
        if let (Event::Data { .. }, Some(socket)) = (event, self.socket.take()) {
            control.close(socket);
            for _ in 0..8 {
                let (mut near, far) = UnixStream::pair().unwrap();
                near.write_all(b"not yours").unwrap();
                self.opened.push((near, far));
            }
        }
    }
}

fn a_descriptor_closed_while_events_are_handled_reads_no_other_sockets_bytes<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    let (mut peer, socket) = unix_pair();
    watch(&mut backend, 0, &socket);
    peer.write_all(b"last words").unwrap();
    drop(peer);
    let mut handler = Closes {
        socket: Some(socket),
        opened: Vec::new(),
    };
    turn_until(&mut backend, &mut handler, |h| h.socket.is_none());
    for _ in 0..3 {
        backend.turn(Duration::ZERO, &mut handler).unwrap();
    }
    assert_eq!(handler.opened.len(), 8);
    for (_, far) in &mut handler.opened {
        far.set_nonblocking(true).unwrap();
        let mut bytes = [0; 16];
        assert_eq!(far.read(&mut bytes).unwrap(), b"not yours".len());
    }
}

fn more_bytes_than_all_buffers_hold_come_in_order_and_once<B: Backend>() {
    let mut backend: B = begun(Timestamps::Kernel);
    let (near, socket) = tcp_pair();
    watch(&mut backend, 3, &socket);
    let sent: Vec<u8> = (0..12_000_000_u32).map(|i| (i % 251) as u8).collect();
    let expected = sent.clone();
    let mut writer = near.try_clone().unwrap();
    let writing = std::thread::spawn(move || writer.write_all(&sent).unwrap());
    let mut notes = Notes::default();
    turn_until(&mut backend, &mut notes, |n| {
        n.bytes_of(3) >= expected.len()
    });
    writing.join().unwrap();
    drop(near);
    turn_until(&mut backend, &mut notes, |n| n.of(3).contains(&&Told::End));
    let bytes = |told: &&Told| matches!(told, Told::Bytes(bytes) if *bytes == expected);
    assert!(
        notes.of(3).iter().any(bytes),
        "not the bytes that were sent"
    );
    assert_eq!(notes.told.last(), Some(&(3, Told::End)));
    backend.turn(Duration::from_millis(5), &mut notes).unwrap();
    assert_eq!(
        notes.told.last(),
        Some(&(3, Told::End)),
        "an event after the end"
    );
}

fn more_sockets_at_once_than_there_are_buffers_lose_nothing<B: Backend>() {
    const SOCKETS: u32 = 600;
    let mut backend: B = begun(Timestamps::User);
    let pairs: Vec<_> = (0..SOCKETS).map(|_| unix_pair()).collect();
    for (token, (near, socket)) in pairs.iter().enumerate() {
        watch(&mut backend, token as Token, socket);
        (&*near).write_all(&(token as u32).to_be_bytes()).unwrap();
    }
    let mut notes = Notes::default();
    let all = |n: &mut Notes| (0..SOCKETS).all(|token| n.bytes_of(token) == 4);
    turn_until(&mut backend, &mut notes, all);
    for token in 0..SOCKETS {
        let bytes = Told::Bytes(token.to_be_bytes().to_vec());
        assert!(notes.of(token).contains(&&bytes), "{token}");
    }
    for (token, (near, _)) in pairs.iter().enumerate() {
        (&*near).write_all(&[token as u8]).unwrap();
    }
    let all = |n: &mut Notes| (0..SOCKETS).all(|token| n.bytes_of(token) == 5);
    turn_until(&mut backend, &mut notes, all);
}

fn a_reused_token_gets_no_event_of_the_earlier_socket<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    let mut notes = Notes::default();
    for round in 0..50_u8 {
        let (mut near, socket) = unix_pair();
        watch(&mut backend, 0, &socket);
        backend.turn(Duration::ZERO, &mut notes).unwrap();
        // It is on its way when the socket is given up.
        near.write_all(b"old").unwrap();
        backend.control().close(socket);
        notes.told.clear();
        let (mut near, socket) = unix_pair();
        watch(&mut backend, 0, &socket);
        near.write_all(&[round]).unwrap();
        turn_until(&mut backend, &mut notes, |n| n.bytes_of(0) > 0);
        assert!(
            notes.of(0).contains(&&Told::Bytes(vec![round])),
            "{notes:?}",
            notes = notes.told
        );
        backend.control().close(socket);
    }
}

#[track_caller]
fn assert_ends(near: &mut UnixStream) {
    near.set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    // A ring that works for this thread interrupts its other calls.
    let read = loop {
        match near.read(&mut [0; 8]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read.unwrap(),
        }
    };
    assert_eq!(read, 0, "the peer sees the end");
}

fn a_socket_that_was_given_up_is_closed_soon<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    let (mut near, socket) = unix_pair();
    watch(&mut backend, 0, &socket);
    let mut notes = Notes::default();
    backend.turn(Duration::ZERO, &mut notes).unwrap();
    backend.control().close(socket);
    for _ in 0..3 {
        backend.turn(Duration::from_millis(5), &mut notes).unwrap();
    }
    assert_ends(&mut near);
}

fn a_backend_that_is_dropped_holds_no_socket<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    let (mut near, socket) = unix_pair();
    watch(&mut backend, 0, &socket);
    backend.turn(Duration::ZERO, &mut Notes::default()).unwrap();
    drop(socket);
    drop(backend);
    assert_ends(&mut near);
}

fn a_connection_attempt_is_told_as_writable_whether_it_succeeds_or_not<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    // The system gives no listener a port below 1024 by itself.
    let closed = SocketAddr::from(([127, 0, 0, 1], 1));
    let to = [listener.local_addr().unwrap(), closed].map(SockAddr::from);
    let sockets = to.map(|to| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        let _ = socket.connect(&to);
        socket
    });
    let mut notes = Notes::default();
    for (token, socket) in sockets.iter().enumerate() {
        let control = backend.control();
        control
            .connecting(token as Token, socket.as_raw_fd())
            .unwrap();
    }
    turn_until(&mut backend, &mut notes, |n| {
        (0..2).all(|token| n.of(token).contains(&&Told::Writable))
    });
    assert!(sockets[0].take_error().unwrap().is_none());
    // The first read of the socket takes its error.
    let is_told = notes.of(1).contains(&&Told::Failed);
    assert!(is_told || sockets[1].take_error().unwrap().is_some());
}

fn room_to_write_is_told_when_it_is_asked_for<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    let (mut near, socket) = unix_pair();
    watch(&mut backend, 0, &socket);
    while (&socket).write(&[0; 4096]).is_ok() {}
    let control = backend.control();
    control.established(0, socket.as_raw_fd(), true).unwrap();
    let mut notes = Notes::default();
    for _ in 0..3 {
        backend.turn(Duration::from_millis(5), &mut notes).unwrap();
    }
    notes.told.clear();
    near.set_nonblocking(true).unwrap();
    while near.read(&mut [0; 4096]).is_ok() {}
    turn_until(&mut backend, &mut notes, |n| {
        n.of(0).contains(&&Told::Writable)
    });
}

// timed: a waker that does nothing would let it wait for twice as long as it may take.
fn a_waker_ends_a_wait_again_and_again<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    let waker = backend.waker();
    for _ in 0..3 {
        waker.wake();
        waker.wake();
        let began = Instant::now();
        backend
            .turn(Duration::from_secs(600), &mut Notes::default())
            .unwrap();
        assert!(began.elapsed() < Duration::from_secs(300));
    }
}

// timed: a lower bound: it is what the test is about.
fn a_wait_is_no_shorter_than_asked_for_when_nothing_comes<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    // The first may find the readiness of the waker itself.
    backend.turn(Duration::ZERO, &mut Notes::default()).unwrap();
    for timeout in [Duration::from_micros(300), Duration::from_millis(3)] {
        let began = Instant::now();
        backend.turn(timeout, &mut Notes::default()).unwrap();
        assert!(began.elapsed() >= timeout);
    }
}

// timed: a lower bound of the time between the write and the read.
fn stamps_are_of_the_arrival<B: Backend>() {
    let _on = keep_stamps_on().unwrap();
    let mut backend: B = begun(Timestamps::Kernel);
    let (mut near, socket) = tcp_pair();
    watch(&mut backend, 0, &socket);
    let mut notes = Notes::default();
    backend.turn(Duration::ZERO, &mut notes).unwrap();
    near.write_all(b"hello").unwrap();
    std::thread::sleep(Duration::from_millis(30));
    let mut unstamped = 0;
    while notes.bytes_of(0) == 0 {
        let turn = backend.turn(Duration::from_secs(20), &mut notes).unwrap();
        unstamped += turn.unstamped;
    }
    let (at_ns, there_ns, read_ns) = notes.last.unwrap();
    assert_eq!((unstamped, at_ns), (0, there_ns));
    assert!(read_ns - at_ns >= 20_000_000, "{}", read_ns - at_ns);
    assert_eq!(notes.stamped.last(), Some(&true));
}

/// Peers that have sent more before what they sent last is read, and one that says a byte.
struct Floods {
    near: Vec<TcpStream>,
    /// Bytes of the present turn.
    bytes: usize,
    turns_of: Vec<u32>,
    turn: u32,
    heard_in: Option<u32>,
}

impl Floods {
    fn fill(&self, flood: usize) {
        while (&self.near[flood]).write(&[0; 65_536]).is_ok() {}
    }
}

impl<C: Control> Handler<C> for Floods {
    fn on_event(&mut self, _: &mut C, token: Token, event: Event<'_>) {
        let Event::Data { bytes, .. } = event else {
            return;
        };
        let flood = token as usize;
        if flood == self.near.len() {
            self.heard_in = Some(self.turn);
            return;
        }
        self.bytes += bytes.len();
        assert!(self.bytes < 64 << 20, "the turn does not end");
        self.turns_of[flood] += 1;
        self.fill(flood);
    }
}

fn floods<B: Backend>(backend: &mut B, count: usize) -> (Floods, Vec<Socket>) {
    let mut near = Vec::new();
    let mut far = Vec::new();
    for token in 0..count {
        let (peer, socket) = tcp_pair();
        // Enough to fill a read.
        socket.set_recv_buffer_size(1 << 20).unwrap();
        peer.set_nonblocking(true).unwrap();
        watch(backend, token as Token, &socket);
        near.push(peer);
        far.push(socket);
    }
    let floods = Floods {
        turns_of: vec![0; count],
        near,
        bytes: 0,
        turn: 0,
        heard_in: None,
    };
    (0..count).for_each(|flood| floods.fill(flood));
    (floods, far)
}

fn a_flood_ends_its_turn_and_starves_no_other_socket<B: Backend>() {
    let mut backend: B = begun(Timestamps::Kernel);
    let (mut floods, _sockets) = floods(&mut backend, 3);
    let (mut near, quiet) = tcp_pair();
    watch(&mut backend, 3, &quiet);
    for turn in 0..400 {
        floods.turn = turn;
        floods.bytes = 0;
        backend
            .turn(Duration::from_millis(20), &mut floods)
            .unwrap();
        if turn == 20 {
            near.write_all(b"!").unwrap();
        }
    }
    let heard_in = floods.heard_in.expect("the quiet one was heard");
    assert!(heard_in < 40, "only in turn {heard_in}");
    let reads = &floods.turns_of;
    let least = reads.iter().min().unwrap() * 3;
    assert!(least > *reads.iter().max().unwrap(), "unfair: {reads:?}");
}

fn a_flood_that_is_given_up_gives_no_more_events<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    let (mut floods, mut sockets) = floods(&mut backend, 2);
    for _ in 0..20 {
        floods.bytes = 0;
        backend
            .turn(Duration::from_millis(20), &mut floods)
            .unwrap();
    }
    backend.control().close(sockets.swap_remove(0));
    let before = floods.turns_of.clone();
    for _ in 0..20 {
        floods.bytes = 0;
        backend
            .turn(Duration::from_millis(20), &mut floods)
            .unwrap();
    }
    assert_eq!(floods.turns_of[0], before[0]);
    assert!(floods.turns_of[1] > before[1]);
}

/// io_uring as kernels before 6.1 have it.
struct Cooperative(Uring);

impl Backend for Cooperative {
    type Control = uring::UringControl;

    fn new(timestamps: Timestamps) -> io::Result<Self> {
        uring::set_up_cooperative()
            .and_then(|ring| Uring::on(ring, timestamps))
            .map(Self)
    }

    fn begin(&mut self) -> io::Result<()> {
        self.0.begin()
    }

    fn waker(&self) -> Waker {
        self.0.waker()
    }

    fn control(&mut self) -> &mut Self::Control {
        self.0.control()
    }

    fn turn<H: Handler<Self::Control>>(
        &mut self,
        timeout: Duration,
        handler: &mut H,
    ) -> io::Result<Turn> {
        self.0.turn(timeout, handler)
    }
}

/// Each law as a test of each backend.
macro_rules! laws {
    ($($law:ident),* $(,)?) => {
        mod on_epoll {
            $(#[test]
            fn $law() {
                super::$law::<super::Epoll>();
            })*
        }
        mod on_uring {
            $(#[test]
            fn $law() {
                match super::probe_uring(super::Timestamps::Kernel) {
                    Ok(()) => super::$law::<super::Uring>(),
                    Err(reason) => test_servers::skipped(&reason.to_string()),
                }
            })*
        }
        mod on_older_uring {
            $(#[test]
            fn $law() {
                match super::probe_uring(super::Timestamps::Kernel) {
                    Ok(()) => super::$law::<super::Cooperative>(),
                    Err(reason) => test_servers::skipped(&reason.to_string()),
                }
            })*
        }
    };
}

laws!(
    a_descriptor_closed_while_events_are_handled_reads_no_other_sockets_bytes,
    more_bytes_than_all_buffers_hold_come_in_order_and_once,
    more_sockets_at_once_than_there_are_buffers_lose_nothing,
    a_reused_token_gets_no_event_of_the_earlier_socket,
    a_socket_that_was_given_up_is_closed_soon,
    a_backend_that_is_dropped_holds_no_socket,
    a_connection_attempt_is_told_as_writable_whether_it_succeeds_or_not,
    room_to_write_is_told_when_it_is_asked_for,
    a_waker_ends_a_wait_again_and_again,
    a_wait_is_no_shorter_than_asked_for_when_nothing_comes,
    stamps_are_of_the_arrival,
    a_flood_ends_its_turn_and_starves_no_other_socket,
    a_flood_that_is_given_up_gives_no_more_events,
    a_socket_that_is_paused_is_read_on_when_it_is_resumed,
    the_end_of_a_paused_socket_is_told_when_it_is_resumed,
    a_resumed_socket_that_is_paused_at_its_next_read_makes_one,
    a_descriptor_used_again_is_not_paused,
    what_is_read_came_after_the_last_wait_that_did_not_tell_of_it,
    of_what_a_resumed_socket_holds_it_is_not_known,
);
