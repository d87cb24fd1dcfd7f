//! When connections end, and how: a real proxy that is reloaded while it passes them on, and a server that
//! closes them with codes.

use crate::raw_peer::{self, Script, frame};
use crate::support::{Ran, assert_valid, bench, finish, free_addr, honest, only_step, url};
use record::{DropHow, DropTimes, RunRecord};
use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use ws_proto::Opcode;

const PROGRAM: &str = "/usr/sbin/haproxy";
const CLIENTS: u64 = 500;

/// An HAProxy in front of a server. A reload gives what the old process still passes on one second.
struct Proxy {
    child: Child,
    addr: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Proxy {
    fn before(server: SocketAddr) -> Self {
        assert!(
            Path::new(PROGRAM).exists(),
            "there is no {PROGRAM}; apt-get install haproxy"
        );
        let folder = tempfile::tempdir().unwrap();
        let addr = free_addr();
        let settings = folder.path().join("haproxy.cfg");
        let text = format!(
            "global\n  hard-stop-after 1s\n  maxconn 2000\n\
             defaults\n  mode tcp\n  timeout connect 10s\n  timeout client 5m\n  timeout server 5m\n\
             listen proxy\n  bind {addr}\n  server one {server}\n"
        );
        fs::write(&settings, text).unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut child = Command::new(PROGRAM)
            .args(["-W", "-db", "-f"])
            .arg(&settings)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        eventually("the proxy listens", || {
            assert_eq!(child.try_wait().unwrap(), None, "HAProxy ended");
            TcpStream::connect(addr).is_ok()
        });
        Self {
            child,
            addr,
            _folder: folder,
        }
    }

    fn reload(&self) {
        crate::shared::send(self.child.id(), libc::SIGUSR2);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // The first process ends the others with itself.
        crate::shared::send(self.child.id(), libc::SIGTERM);
        let _ = self.child.wait();
    }
}

// timed: gives up after five minutes alone.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(300);
    while !holds() {
        assert!(Instant::now() < end, "{what}: not after five minutes");
        thread::sleep(Duration::from_millis(20));
    }
}

/// What a run leaves behind.
struct Left {
    ran: Ran,
    record: RunRecord,
    series: String,
    page: String,
}

/// A hold that something happens to once all connections are open. It ends when none is left.
fn held(addr: SocketAddr, more: &str, then: impl FnOnce() + Send) -> Left {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| -> PathBuf { folder.path().join(name) };
    let mut command = bench();
    command
        .args([
            "connect",
            &url(addr),
            "--hold",
            "10m",
            "--ping-interval",
            "5m",
            "--no-progress",
        ])
        .args(["--clients", &CLIENTS.to_string()])
        .args(more.split_whitespace());
    for (flag, name) in [
        ("--json", "run.json"),
        ("--csv-series", "series.csv"),
        ("--html", "run.html"),
        ("--events", "events"),
    ] {
        command.arg(flag).arg(file(name));
    }
    let events = file("events");
    let ran = thread::scope(|scope| {
        let running = scope.spawn(|| finish(&mut command));
        eventually("all connections are held", || {
            let told = fs::read_to_string(&events).unwrap_or_default();
            told.contains("\"event\":\"holding\"") || running.is_finished()
        });
        then();
        running.join().unwrap()
    });
    let read = |name: &str| fs::read_to_string(file(name)).unwrap();
    Left {
        ran,
        record: assert_valid(&file("run.json")),
        series: read("series.csv"),
        page: read("run.html"),
    }
}

impl Left {
    fn drops(&self) -> &DropTimes {
        let step = only_step(&self.record);
        let drops = step.drops.as_deref().expect("connections ended");
        let of = step.connections.as_deref().unwrap().drops;
        assert_eq!(
            (drops.count(), step.faults.disconnected),
            (of.total(), of.total())
        );
        drops
    }

    /// The sums of the columns `drops` of the series, by the second.
    fn by_second(&self) -> Vec<(u64, u64)> {
        let mut table = csv::Reader::from_reader(self.series.as_bytes());
        let column = |name: &str, of: &csv::StringRecord| of.iter().position(|title| title == name);
        let titles = table.headers().unwrap().clone();
        let [from, drops] = ["from_ns", "drops"].map(|name| column(name, &titles).unwrap());
        let rows = table.records().map(|row| {
            let row = row.unwrap();
            let number = |at: usize| row[at].parse::<u64>().unwrap();
            (number(from) / 1_000_000_000, number(drops))
        });
        rows.filter(|(_, drops)| *drops > 0).collect()
    }
}

#[test]
fn a_proxy_that_is_reloaded_ends_every_connection_and_each_has_its_second() {
    let server = honest();
    for more in ["", "--processes 2"] {
        let proxy = Proxy::before(server.addr());
        let left = held(proxy.addr, more, || proxy.reload());
        let ran = &left.ran;
        assert_eq!(ran.code, 3, "{more}: {}\n{}", ran.stdout, ran.stderr);
        let drops = left.drops();
        assert_eq!(drops.count(), CLIENTS, "{more}: {drops:?}");
        for cause in &drops.causes {
            // HAProxy ends them without a close frame.
            let ends = matches!(cause.how, DropHow::Closed | DropHow::Reset);
            assert!(ends && cause.code.is_none(), "{more}: {cause:?}");
        }
        let curve: Vec<(u64, u64)> = drops.by_interval().into_iter().collect();
        assert_eq!(left.by_second(), curve, "{more}");
        let words = format!("ended        {}", drops.causes[0].count);
        assert!(ran.stdout.contains(&words), "{more}: {}", ran.stdout);
        assert!(left.page.contains("Connections that ended"), "{more}");
    }
}

#[test]
fn the_code_and_the_reason_of_a_close_frame_are_told() {
    let close = [&1001_u16.to_be_bytes()[..], b"going away"].concat();
    let (server, _) = raw_peer::start(Script {
        greeting: frame(Opcode::Close, &close),
        ..Script::default()
    });
    let left = held(server, "", || ());
    let [cause] = &left.drops().causes[..] else {
        panic!("one cause: {:?}", left.drops());
    };
    let told = (cause.how, cause.code, cause.count);
    assert_eq!(told, (DropHow::Closed, Some(1001), CLIENTS));
    let line = format!("ended        {CLIENTS} closed 1001");
    let out = &left.ran.stdout;
    assert!(
        out.contains(&line) && out.contains("1001 \"going away\""),
        "{out}"
    );
}
