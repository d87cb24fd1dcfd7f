//! Kernel memory of TCP sockets, and what was read of them, from sock_diag(7).
//!
//! Memory is counted per socket: data received and not yet read, data queued for sending and not yet
//! acknowledged, memory set aside for either, socket options, and the backlog. That is what `ss -m`
//! shows as r, w, f, o and bl; `t` is left out, since it counts packets under way that `w` counts
//! already. The fixed size of the socket itself, some 2 to 3 KiB of slab memory on 64-bit
//! kernels, is not in it.

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_SOCK_DIAG};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use std::io;
use std::time::Duration;

/// The kernel fills at most 32 KiB a message of a dump when it is given that much room.
const ROOM: usize = 32 << 10;
/// Longest wait for the answer of a dump; a kernel that takes longer does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where the kernel's answer has the number of bytes that a socket received (tcp_info in linux/tcp.h).
const RECEIVED: std::ops::Range<usize> = 128..136;
/// The state of an open connection (include/net/tcp_states.h).
const ESTABLISHED: u8 = 1;

/// Which end of a connection a socket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The port is its own: a server's sockets.
    Local,
    /// The port is its peer's: the sockets of clients on this machine.
    Remote,
}

/// Asks the kernel about the sockets of one port.
#[derive(Debug)]
pub struct Sockets {
    port: u16,
    side: Side,
    netlink: Option<Socket>,
    room: Vec<u8>,
}

impl Sockets {
    /// Sockets whose port on that side is `port`.
    pub fn new(port: u16, side: Side) -> Self {
        Self {
            port,
            side,
            netlink: open().ok(),
            room: vec![0; ROOM],
        }
    }

    /// Bytes of kernel memory; `None` when the kernel refused, now or before.
    pub fn bytes(&mut self) -> Option<u64> {
        let mut sum = 0;
        self.each(ExtensionFlags::SKMEMINFO, &mut |socket| {
            sum += bytes_of(socket)
        })?;
        Some(sum)
    }

    /// Of each open connection its own port, and how many bytes the owner of the socket has read;
    /// `None` when the kernel refused, now or before. A count may be too large by what comes in the
    /// moment in which it is made.
    pub fn read_bytes(&mut self) -> Option<Vec<(u16, u64)>> {
        let mut all = Vec::new();
        self.each(ExtensionFlags::INFO, &mut |socket| {
            if let Some(received) = received_by(socket) {
                let read = received.saturating_sub(socket.header.recv_queue.into());
                all.push((socket.header.socket_id.source_port, read));
            }
        })?;
        Some(all)
    }

    /// Asks for these attributes of all sockets.
    fn each(&mut self, wanted: ExtensionFlags, take: &mut dyn FnMut(&InetResponse)) -> Option<()> {
        let families = [AF_INET, AF_INET6];
        let done = families
            .into_iter()
            .try_for_each(|family| self.dump(family, wanted.clone(), take));
        if done.is_err() {
            // Unread answers of a dump would be taken for those of the next.
            self.netlink = None;
        }
        done.ok()
    }

    fn dump(
        &mut self,
        family: u8,
        wanted: ExtensionFlags,
        take: &mut dyn FnMut(&InetResponse),
    ) -> io::Result<()> {
        let netlink = self.netlink.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        netlink.send(&request(family, wanted, self.port, self.side), 0)?;
        loop {
            let length = netlink.recv(&mut self.room.as_mut_slice(), 0)?;
            if read_part(&self.room[..length], (self.port, self.side), take)? {
                return Ok(());
            }
        }
    }
}

fn open() -> io::Result<Socket> {
    let mut netlink = Socket::new(NETLINK_SOCK_DIAG)?;
    netlink.bind_auto()?;
    netlink.connect(&SocketAddr::new(0, 0))?;
    set_socket_timeout(&netlink, Timeout::Recv, Some(PATIENCE))?;
    Ok(netlink)
}

fn request(family: u8, wanted: ExtensionFlags, port: u16, side: Side) -> Vec<u8> {
    let any = if family == AF_INET {
        SocketId::new_v4()
    } else {
        SocketId::new_v6()
    };
    let mut message = NetlinkMessage::from(SockDiagMessage::InetRequest(InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: wanted,
        states: StateFlags::all(),
        socket_id: match side {
            Side::Local => SocketId {
                source_port: port,
                ..any
            },
            Side::Remote => SocketId {
                destination_port: port,
                ..any
            },
        },
    }));
    message.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

/// Hands on the sockets of one read, which holds several messages. True at the end of the dump.
fn read_part(
    mut bytes: &[u8],
    of: (u16, Side),
    take: &mut dyn FnMut(&InetResponse),
) -> io::Result<bool> {
    let port_of = |id: &SocketId| match of.1 {
        Side::Local => id.source_port,
        Side::Remote => id.destination_port,
    };
    while !bytes.is_empty() {
        let message = NetlinkMessage::<SockDiagMessage>::deserialize(bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        match message.payload {
            NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(socket))
                // Kernels before 4.15 filter only when a filter program is attached.
                if port_of(&socket.header.socket_id) == of.0 =>
            {
                take(&socket);
            }
            NetlinkPayload::Done(_) => return Ok(true),
            NetlinkPayload::Error(error) => return Err(error.to_io()),
            _ => {}
        }
        // Messages are aligned to four bytes, netlink(7).
        let next = (message.header.length as usize).next_multiple_of(4);
        bytes = bytes.get(next..).unwrap_or_default();
    }
    Ok(false)
}

/// Bytes that an open connection has received.
fn received_by(socket: &InetResponse) -> Option<u64> {
    if socket.header.state != ESTABLISHED {
        return None;
    }
    socket.nlas.iter().find_map(|nla| match nla {
        Nla::TcpInfo(info) => {
            let bytes = info.get(RECEIVED)?.try_into().ok()?;
            Some(u64::from_ne_bytes(bytes))
        }
        _ => None,
    })
}

fn bytes_of(socket: &InetResponse) -> u64 {
    socket
        .nlas
        .iter()
        .map(|nla| match nla {
            Nla::MemInfo(memory) => [
                memory.receive_queue,
                memory.send_queue,
                memory.cache,
                memory.options,
                memory.backlog_queue_length,
            ]
            .into_iter()
            .map(u64::from)
            .sum(),
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    fn pair(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    /// Waits until the memory is so much.
    // timed: polls; the end is only for a hang.
    #[track_caller]
    fn await_bytes(sockets: &mut Sockets, bytes: u64) {
        let begin = std::time::Instant::now();
        while sockets.bytes().unwrap() < bytes {
            assert!(begin.elapsed().as_secs() < 120, "not all was counted");
        }
    }

    #[test]
    fn unread_data_is_counted_on_the_side_of_the_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sockets = Sockets::new(listener.local_addr().unwrap().port(), Side::Local);
        let before = sockets.bytes().unwrap();
        let (mut client, server) = pair(&listener);
        client.write_all(&[7; 20_000]).unwrap();
        await_bytes(&mut sockets, before + 20_000);
        let of_client = Sockets::new(client.local_addr().unwrap().port(), Side::Local)
            .bytes()
            .unwrap();
        assert!(of_client < 20_000, "the sender holds {of_client} bytes");
        drop(server);
    }

    #[test]
    fn the_other_side_is_told_by_the_port_of_its_peer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (client, mut server) = pair(&listener);
        let mut remote = Sockets::new(port, Side::Remote);
        let before = remote.bytes().unwrap();
        server.write_all(&[7; 20_000]).unwrap();
        await_bytes(&mut remote, before + 20_000);
        drop(client);
    }

    #[test]
    fn what_was_read_is_told_from_what_came() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (mut client, mut server) = pair(&listener);
        let own = client.local_addr().unwrap().port();
        let mut remote = Sockets::new(port, Side::Remote);
        server.write_all(&[7; 20_000]).unwrap();
        for (more, all) in [(1_000, 1_000), (19_000, 20_000)] {
            client.read_exact(&mut vec![0; more]).unwrap();
            assert_eq!(remote.read_bytes(), Some(vec![(own, all)]));
        }
        drop((client, server));
        assert_eq!(remote.read_bytes(), Some(Vec::new()));
    }

    #[test]
    fn hundreds_of_sockets_of_either_family_take_several_messages() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let mut sockets = Sockets::new(listener.local_addr().unwrap().port(), Side::Local);
            let pairs: Vec<_> = (0..300).map(|_| pair(&listener)).collect();
            for (client, _) in &pairs {
                (&*client).write_all(&[7; 1_000]).unwrap();
            }
            await_bytes(&mut sockets, 300 * 1_000);
        }
    }

    #[test]
    fn an_unused_port_has_no_memory() {
        // The system gives no socket a port below 1024 by itself.
        assert_eq!(Sockets::new(1, Side::Local).bytes(), Some(0));
    }
}
