//! Memory that the kernel has taken for itself, on the whole machine.
//!
//! A socket takes memory beside its queues (the socket itself, its file, its place in tables) that
//! is in no process and in no answer of sock_diag(7). It is slab memory, of which only the sum is
//! known. Both readings take the same time however many sockets there are.

use procfs::Current as _;

/// Slab memory in bytes, from /proc/meminfo; `None` where it cannot be read.
pub fn slab_bytes() -> Option<u64> {
    procfs::Meminfo::current().ok().map(|memory| memory.slab)
}

/// Memory of all TCP buffers in bytes, from the `mem` of /proc/net/sockstat; `None` where it cannot
/// be read.
pub fn tcp_buffers_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/net/sockstat").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == "mem")?;
    let pages: u64 = words.next()?.parse().ok()?;
    Some(pages * procfs::page_size())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};

    /// Of each core, the kernel leaves up to 256 pages out of its count, so the test's data are many times
    /// that. Other programs on this machine read and write as well.
    #[test]
    fn unread_data_is_among_the_buffers_of_tcp() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut unread = Vec::new();
        for _ in 0..200 {
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, _) = listener.accept().unwrap();
            client.set_nonblocking(true).unwrap();
            while client.write(&[7; 64 << 10]).is_ok() {}
            unread.push((client, server));
        }
        assert!(tcp_buffers_bytes().unwrap() > 0);
        assert!(slab_bytes().unwrap() > 1 << 20);
    }
}
