//! Kernel memory of TCP sockets, from sock_diag(7).
//!
//! Counted per socket: data received and not yet read, data queued for sending and not yet
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
use std::io;
use std::os::fd::AsRawFd;

/// The kernel fills at most 32 KiB a message of a dump when it is given that much room.
const ROOM: usize = 32 << 10;
/// Longest wait for the answer of a dump; a kernel that takes longer does not answer.
const PATIENCE: libc::timeval = libc::timeval {
    tv_sec: 2,
    tv_usec: 0,
};

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
        let sum = [AF_INET, AF_INET6]
            .into_iter()
            .map(|family| self.dump(family))
            .sum::<io::Result<u64>>();
        if sum.is_err() {
            // Unread answers of a dump would be taken for those of the next.
            self.netlink = None;
        }
        sum.ok()
    }

    fn dump(&mut self, family: u8) -> io::Result<u64> {
        let netlink = self.netlink.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        netlink.send(&request(family, self.port, self.side), 0)?;
        let mut sum = 0;
        loop {
            let length = netlink.recv(&mut self.room.as_mut_slice(), 0)?;
            let Some(part) = sum_of(&self.room[..length], (self.port, self.side), &mut sum)? else {
                continue;
            };
            return Ok(part);
        }
    }
}

fn open() -> io::Result<Socket> {
    let mut netlink = Socket::new(NETLINK_SOCK_DIAG)?;
    netlink.bind_auto()?;
    netlink.connect(&SocketAddr::new(0, 0))?;
    // SAFETY: the option takes a timeval, and PATIENCE outlives the call.
    let set = unsafe {
        libc::setsockopt(
            netlink.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            std::ptr::from_ref(&PATIENCE).cast(),
            size_of::<libc::timeval>() as libc::socklen_t,
        )
    };
    if set != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(netlink)
}

fn request(family: u8, port: u16, side: Side) -> Vec<u8> {
    let any = if family == AF_INET {
        SocketId::new_v4()
    } else {
        SocketId::new_v6()
    };
    let mut message = NetlinkMessage::from(SockDiagMessage::InetRequest(InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::SKMEMINFO,
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

/// Adds the sockets of one read, which holds several messages, to `sum`; `Some` at the end of the
/// dump.
fn sum_of(mut bytes: &[u8], of: (u16, Side), sum: &mut u64) -> io::Result<Option<u64>> {
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
                *sum += bytes_of(&socket);
            }
            NetlinkPayload::Done(_) => return Ok(Some(*sum)),
            NetlinkPayload::Error(error) => return Err(error.to_io()),
            _ => {}
        }
        // Messages are aligned to four bytes, netlink(7).
        let next = (message.header.length as usize).next_multiple_of(4);
        bytes = bytes.get(next..).unwrap_or_default();
    }
    Ok(None)
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
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    fn pair(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn unread_data_is_counted_on_the_side_of_the_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sockets = Sockets::new(listener.local_addr().unwrap().port(), Side::Local);
        let before = sockets.bytes().unwrap();
        let (mut client, server) = pair(&listener);
        client.write_all(&[7; 20_000]).unwrap();
        let begin = std::time::Instant::now();
        while sockets.bytes().unwrap() < before + 20_000 {
            assert!(
                begin.elapsed().as_secs() < 10,
                "unread data was not counted"
            );
        }
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
        let begin = std::time::Instant::now();
        while remote.bytes().unwrap() < before + 20_000 {
            assert!(
                begin.elapsed().as_secs() < 10,
                "unread data was not counted"
            );
        }
        drop(client);
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
            let begin = std::time::Instant::now();
            while sockets.bytes().unwrap() < 300 * 1_000 {
                assert!(
                    begin.elapsed().as_secs() < 10,
                    "not all sockets were counted"
                );
            }
        }
    }

    #[test]
    fn an_unused_port_has_no_memory() {
        let port = {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        assert_eq!(Sockets::new(port, Side::Local).bytes(), Some(0));
    }
}
