//! Memory that the kernel has taken for itself, on the whole machine.
//!
//! A socket takes memory beside its queues (the socket itself, its file, its place in tables) that
//! is in no process and in no answer of sock_diag(7). It is slab memory, of which only the sum is
//! known. Both readings take the same time however many sockets there are.

use procfs::{Current as _, CurrentSI as _};
use std::thread;
use std::time::Duration;

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

/// Share of all cores that is busy over so long a time from now, from 0 to 1, time that other
/// machines have taken from this one included; `None` where it cannot be read. The kernel counts in
/// steps of 10 ms on each core.
pub fn busy_share(time: Duration) -> Option<f64> {
    let before = busy_and_all()?;
    thread::sleep(time);
    let after = busy_and_all()?;
    let busy = after.0.saturating_sub(before.0);
    let all = after.1.saturating_sub(before.1);
    (all > 0).then(|| busy as f64 / all as f64)
}

/// Ticks of all cores since the start of the system: those that were not idle, and all.
fn busy_and_all() -> Option<(u64, u64)> {
    let of = procfs::KernelStats::current().ok()?.total;
    let idle = of.idle + of.iowait.unwrap_or(0);
    let others = [of.irq, of.softirq, of.steal];
    let others: u64 = others.into_iter().flatten().sum();
    let busy = of.user + of.nice + of.system + others;
    Some((busy, busy + idle))
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

    #[test]
    fn a_thread_that_never_waits_is_seen_among_the_cores() {
        let cores = thread::available_parallelism().unwrap().get() as f64;
        let ends = std::sync::atomic::AtomicBool::new(false);
        let busy = thread::scope(|scope| {
            scope.spawn(|| {
                while !ends.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let busy = busy_share(Duration::from_secs(1)).unwrap();
            ends.store(true, std::sync::atomic::Ordering::Relaxed);
            busy
        });
        // At least that thread, less two ticks of each core; a test may have a part of the cores.
        let online = procfs::KernelStats::current().unwrap().cpu_time.len() as f64;
        assert!((0.0..=1.0).contains(&busy), "{busy}");
        assert!(busy > 0.5 / online.max(cores), "{busy}");
    }
}
