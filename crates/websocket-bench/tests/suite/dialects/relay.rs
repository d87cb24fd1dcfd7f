//! Stands between clients and a server, and leaves out one message of the server.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use ws_proto::{FrameHeader, Sender};

/// How the answer to a handshake begins.
const SWITCHES: &[u8] = b"HTTP/1.1 101";

/// Counts the messages that have `mark` in them once, over all connections, and leaves out number
/// `nth`, from 0 on. A message that has it more often, or the separator, is several of the dialect, and
/// passes.
struct Filter {
    mark: &'static [u8],
    separator: Option<&'static [u8]>,
    nth: u64,
    seen: AtomicU64,
}

/// A relay before `server`; its threads end with the connections. Returns its address, and the
/// count of the messages with the mark.
pub(crate) fn leaving_out(
    server: SocketAddr,
    mark: &'static [u8],
    separator: Option<&'static [u8]>,
    nth: u64,
) -> (SocketAddr, Arc<impl Fn() -> u64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let filter = Arc::new(Filter {
        mark,
        separator,
        nth,
        seen: AtomicU64::new(0),
    });
    let seen = Arc::clone(&filter);
    thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            let server = TcpStream::connect(server).unwrap();
            client.set_nodelay(true).unwrap();
            server.set_nodelay(true).unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
            let filter = Arc::clone(&filter);
            thread::spawn(move || filter.pass_on(server, client));
        }
    });
    let count = move || seen.seen.load(Ordering::SeqCst);
    (addr, Arc::new(count))
}

impl Filter {
    fn pass_on(&self, mut server: TcpStream, mut client: TcpStream) {
        let mut bytes = Vec::new();
        let mut buffer = [0; 16 * 1024];
        let mut is_open = false;
        while let Ok(count @ 1..) = server.read(&mut buffer) {
            bytes.extend_from_slice(&buffer[..count]);
            let mut out = Vec::new();
            if !is_open && !bytes.starts_with(&SWITCHES[..bytes.len().min(SWITCHES.len())]) {
                // The answer to a request over HTTP.
                out.append(&mut bytes);
            }
            if !is_open && let Some(end) = bytes.windows(4).position(|at| at == b"\r\n\r\n") {
                out.extend(bytes.drain(..end + 4));
                is_open = true;
            }
            while is_open && let Some(frame) = whole_frame(&bytes) {
                if !self.is_left_out(&bytes[frame.0..frame.1]) {
                    out.extend_from_slice(&bytes[..frame.1]);
                }
                bytes.drain(..frame.1);
            }
            if client.write_all(&out).is_err() {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Write);
    }

    fn is_left_out(&self, payload: &[u8]) -> bool {
        let count = |of: &[u8]| payload.windows(of.len()).filter(|at| *at == of).count();
        let is_several = self.separator.is_some_and(|separator| count(separator) > 0);
        !is_several && count(self.mark) == 1 && self.seen.fetch_add(1, Ordering::SeqCst) == self.nth
    }
}

/// Where the payload of the first frame begins and ends, once it is there.
fn whole_frame(bytes: &[u8]) -> Option<(usize, usize)> {
    let (header, start) = FrameHeader::parse(bytes, Sender::Server).unwrap()?;
    let end = start + header.payload_len as usize;
    (bytes.len() >= end).then_some((start, end))
}
