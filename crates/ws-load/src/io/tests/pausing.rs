//! Sockets that are paused and resumed.

use super::*;

pub(super) fn a_socket_that_is_paused_is_read_on_when_it_is_resumed<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    let (mut near, socket) = tcp_pair();
    let raw = socket.as_raw_fd();
    watch(&mut backend, 0, &socket);
    let mut notes = Notes::default();
    let mut expected = Vec::new();
    for round in 0..20_u8 {
        near.write_all(&[round]).unwrap();
        expected.push(round);
        let count = expected.len();
        turn_until(&mut backend, &mut notes, |n| n.bytes_of(0) == count);
        backend.control().pause(0, raw, false).unwrap();
        // A request of the kernel's is cancelled within a turn.
        backend.turn(Duration::ZERO, &mut notes).unwrap();
        near.write_all(&[100 + round; 2]).unwrap();
        expected.extend([100 + round; 2]);
        notes.told.retain(|(_, told)| *told != Told::Writable);
        backend.control().established(0, raw, true).unwrap();
        turn_until(&mut backend, &mut notes, |n| {
            n.of(0).contains(&&Told::Writable)
        });
        backend.turn(Duration::from_millis(5), &mut notes).unwrap();
        assert_eq!(notes.bytes_of(0), count, "read while it was paused");
        backend.control().resume(0, raw, false).unwrap();
        turn_until(&mut backend, &mut notes, |n| n.bytes_of(0) == count + 2);
    }
    let told = notes.told.iter().flat_map(|(_, told)| match told {
        Told::Bytes(bytes) => bytes.clone(),
        _ => Vec::new(),
    });
    assert_eq!(told.collect::<Vec<u8>>(), expected);
}

pub(super) fn the_end_of_a_paused_socket_is_told_when_it_is_resumed<B: Backend>() {
    for is_reset in [false, true] {
        let mut backend: B = begun(Timestamps::User);
        let (near, socket) = tcp_pair();
        watch(&mut backend, 0, &socket);
        let mut notes = Notes::default();
        backend.turn(Duration::ZERO, &mut notes).unwrap();
        let control = backend.control();
        control.pause(0, socket.as_raw_fd(), false).unwrap();
        backend.turn(Duration::ZERO, &mut notes).unwrap();
        if is_reset {
            let near = socket2::SockRef::from(&near);
            near.set_linger(Some(Duration::ZERO)).unwrap();
        }
        drop(near);
        for _ in 0..3 {
            backend.turn(Duration::from_millis(5), &mut notes).unwrap();
        }
        notes.told.retain(|(_, told)| *told != Told::Writable);
        assert_eq!(notes.told, []);
        let control = backend.control();
        control.resume(0, socket.as_raw_fd(), false).unwrap();
        let end = if is_reset { Told::Failed } else { Told::End };
        turn_until(&mut backend, &mut notes, |n| n.of(0).contains(&&end));
    }
}

/// Pauses its socket at each read.
struct Pauses {
    socket: RawFd,
    reads: u32,
    bytes: usize,
}

impl<C: Control> Handler<C> for Pauses {
    fn on_event(&mut self, control: &mut C, token: Token, event: Event<'_>) {
        if let Event::Data { bytes, .. } = event {
            control.pause(token, self.socket, false).unwrap();
            self.reads += 1;
            self.bytes += bytes.len();
        }
    }
}

pub(super) fn a_resumed_socket_that_is_paused_at_its_next_read_makes_one<B: Backend>() {
    const SENT: usize = 16 << 20;
    let mut backend: B = begun(Timestamps::Kernel);
    let (mut near, socket) = tcp_pair();
    let raw = socket.as_raw_fd();
    watch(&mut backend, 0, &socket);
    let writing = std::thread::spawn(move || near.write_all(&vec![0; SENT]));
    let mut handler = Pauses {
        socket: raw,
        reads: 0,
        bytes: 0,
    };
    turn_until(&mut backend, &mut handler, |h| h.bytes > 0);
    backend.turn(Duration::ZERO, &mut handler).unwrap();
    assert!(handler.bytes < SENT / 2, "{}", handler.bytes);
    for _ in 0..10 {
        handler.reads = 0;
        backend.control().resume(0, raw, false).unwrap();
        turn_until(&mut backend, &mut handler, |h| h.reads > 0);
        for _ in 0..3 {
            backend
                .turn(Duration::from_millis(2), &mut handler)
                .unwrap();
        }
        assert_eq!(handler.reads, 1);
    }
    let mut notes = Notes::default();
    let left = SENT - handler.bytes;
    backend.control().resume(0, raw, false).unwrap();
    turn_until(&mut backend, &mut notes, |n| n.bytes_of(0) == left);
    writing.join().unwrap().unwrap();
}

pub(super) fn a_descriptor_used_again_is_not_paused<B: Backend>() {
    let mut backend: B = begun(Timestamps::User);
    let mut notes = Notes::default();
    let (_near, socket) = unix_pair();
    let raw = socket.as_raw_fd();
    watch(&mut backend, 0, &socket);
    backend.turn(Duration::ZERO, &mut notes).unwrap();
    backend.control().pause(0, raw, false).unwrap();
    backend.control().close(socket);
    for _ in 0..3 {
        backend.turn(Duration::from_millis(5), &mut notes).unwrap();
    }
    // Under the very number; other tests of this process take numbers at the same time.
    let (mut near, other) = unix_pair();
    watch(&mut backend, 1, &other);
    near.write_all(b"read").unwrap();
    turn_until(&mut backend, &mut notes, |n| n.bytes_of(1) == 4);
}
