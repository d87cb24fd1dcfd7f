//! TCP segments with data that came to the clients of a worker during a step, counted by the kernel.
//!
//! Every socket is asked before the step may begin and after it has ended. A step in which a connection
//! came or went has no count, because the segments of that connection are unknown.

use super::clients::ClientTable;
use crate::message::SegmentsPart;
use crate::net::{Connection, Transport};

/// What each connection had before the step.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// By slot. Absent where there is no connection.
    before: Vec<Option<u32>>,
    is_unknown: bool,
}

impl Segments {
    /// A connection begins.
    pub(super) const fn note_new(&mut self) {
        self.is_unknown = true;
    }

    fn begin(connections: &[Connection]) -> Self {
        let mut began = Self::default();
        for connection in connections {
            let transport = connection.transport.as_ref();
            let received = transport.and_then(Transport::received_segments);
            began.is_unknown |= transport.is_some() && received.is_none();
            began.before.push(received);
        }
        began
    }

    fn since(&self, connections: &[Connection]) -> SegmentsPart {
        let mut part = SegmentsPart {
            received: 0,
            is_unknown: self.is_unknown,
        };
        for (before, now) in self.before.iter().zip(connections) {
            let now = now.transport.as_ref().map(Transport::received_segments);
            match (*before, now) {
                (None, None) => {}
                // The kernel's counter goes round.
                (Some(before), Some(Some(now))) => {
                    part.received += u64::from(now.wrapping_sub(before));
                }
                _ => part.is_unknown = true,
            }
        }
        part
    }
}

impl ClientTable {
    /// Asks what has come so far.
    pub(super) fn begin_segments(&mut self) {
        self.segments = Segments::begin(self.connections());
    }

    /// Asks what came since.
    pub(super) fn segments(&self) -> SegmentsPart {
        self.segments.since(self.connections())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    const LONGEST: u32 = 1_000;

    fn connection(socket: impl Into<OwnedFd>) -> Connection {
        Connection::connecting(Transport::established(socket.into()), LONGEST)
    }

    /// A connection, the server's end of it, and another handle of the client's.
    fn tcp() -> (Connection, TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let server = listener.accept().unwrap().0;
        server.set_nodelay(true).unwrap();
        let reader = client.try_clone().unwrap();
        (connection(client), server, reader)
    }

    #[test]
    fn a_server_that_writes_each_message_by_itself_sends_as_many_segments() {
        let (client, mut server, mut reader) = tcp();
        let mut write = |times: usize| {
            for _ in 0..times {
                server.write_all(b"message").unwrap();
                reader.read_exact(&mut [0; 7]).unwrap();
            }
        };
        write(3);
        let all = [client, Connection::gone()];
        let begun = Segments::begin(&all);
        assert_eq!(begun.since(&all), SegmentsPart::default());
        write(20);
        let part = begun.since(&all);
        // The kernel may send one again when it was not acknowledged for long.
        assert!(
            (20..30).contains(&part.received) && !part.is_unknown,
            "{part:?}"
        );
    }

    #[test]
    fn a_connection_that_comes_or_goes_and_a_unix_socket_make_it_unknown() {
        let (client, ..) = tcp();
        let mut all = [client, Connection::gone()];
        let begun = Segments::begin(&all);
        all[0] = Connection::gone();
        assert!(begun.since(&all).is_unknown);
        let mut begun = Segments::begin(&all);
        assert!(!begun.since(&all).is_unknown);
        begun.note_new();
        assert!(begun.since(&all).is_unknown);
        all[0] = connection(UnixStream::pair().unwrap().0);
        assert!(Segments::begin(&all).since(&all).is_unknown);
    }
}
