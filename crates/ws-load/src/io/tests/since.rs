//! Since when the bytes of a read can have waited.

use super::*;
use crate::clock;

/// Notes since when the bytes can have waited, in the order of the reads.
#[derive(Default)]
struct Sinces(Vec<u64>);

impl<C: Control> Handler<C> for Sinces {
    fn on_event(&mut self, _: &mut C, _: Token, event: Event<'_>) {
        if let Event::Data { since_ns, .. } = event {
            self.0.push(since_ns);
        }
    }
}

fn read_one<B: Backend>(backend: &mut B) -> u64 {
    let mut sinces = Sinces::default();
    turn_until(backend, &mut sinces, |sinces| !sinces.0.is_empty());
    sinces.0[0]
}

/// Turns in which nothing comes, the last of which begins at the returned time or later.
fn quiet<B: Backend>(backend: &mut B) -> u64 {
    let mut began_ns = 0;
    for _ in 0..3 {
        began_ns = clock::now_ns();
        backend
            .turn(Duration::ZERO, &mut Sinces::default())
            .unwrap();
    }
    began_ns
}

// timed: compares times that were noted in order, however far they lie apart.
pub(super) fn what_is_read_came_after_the_last_wait_that_did_not_tell_of_it<B: Backend>() {
    let _on = keep_stamps_on().unwrap();
    let mut backend: B = begun(Timestamps::Kernel);
    let (mut near, socket) = tcp_pair();
    watch(&mut backend, 0, &socket);
    quiet(&mut backend);
    near.write_all(b"first").unwrap();
    read_one(&mut backend);
    // Nothing is known of segments that the network stack put off for longer than a wait.
    for _ in 0..100 {
        // Longer than the stack may take.
        std::thread::sleep(Duration::from_millis(5));
        let looked_ns = quiet(&mut backend);
        for _ in 0..2 {
            near.write_all(b"two").unwrap();
        }
        let written_ns = clock::now_ns();
        let since_ns = read_one(&mut backend);
        assert!(since_ns <= written_ns);
        if since_ns > 0 {
            assert!(since_ns + 1_000_000 >= looked_ns, "{since_ns}, {looked_ns}");
            return;
        }
    }
    panic!("of a hundred reads nothing is known");
}

pub(super) fn of_what_a_resumed_socket_holds_it_is_not_known<B: Backend>() {
    let mut backend: B = begun(Timestamps::Kernel);
    let (mut near, socket) = tcp_pair();
    let raw = socket.as_raw_fd();
    watch(&mut backend, 0, &socket);
    quiet(&mut backend);
    backend.control().pause(0, raw, false).unwrap();
    // The receive of a socket that is paused ends in the next turns.
    quiet(&mut backend);
    near.write_all(b"long ago").unwrap();
    quiet(&mut backend);
    backend.control().resume(0, raw, false).unwrap();
    assert_eq!(read_one(&mut backend), 0);
}
