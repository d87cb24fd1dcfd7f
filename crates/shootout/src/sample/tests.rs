//! The sampler against real processes and sockets.

use super::*;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

const INTERVAL: Duration = Duration::from_millis(20);
/// Uses about a tenth of a second of CPU time, more on slow machines.
const BURN: &str = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";

/// A shell in a process group of its own that is ended, group and all, with the test.
struct Shell(Child);

impl Shell {
    fn start(script: &str) -> Self {
        Self(
            Command::new("sh")
                .args(["-c", script])
                .process_group(0)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap(),
        )
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let mut output = BufReader::with_capacity(1, self.0.stdout.as_mut().unwrap());
        output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

// timed: polls; the end is only for a hang.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(120), "never: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn processor_time_of_ended_children_is_kept() {
    let mut shell = Shell::start(&format!(
        "read go; ({BURN}; echo burnt; read end); echo ended; read go; {BURN}; echo again; read end"
    ));
    let sampler = Sampler::start(&[shell.0.id()], &[1], INTERVAL).unwrap();
    let go = |shell: &mut Shell| writeln!(shell.0.stdin.as_mut().unwrap(), "go").unwrap();
    let before = sampler.snapshot().cpu;
    go(&mut shell);
    assert_eq!(shell.line(), "burnt");
    let with_child = sampler.snapshot();
    assert!(with_child.cpu > before + Duration::from_millis(10));
    assert_eq!(with_child.memory.processes, 2);
    go(&mut shell);
    assert_eq!(shell.line(), "ended");
    let without = sampler.snapshot();
    assert_eq!(without.memory.processes, 1);
    assert!(without.cpu >= with_child.cpu);
    go(&mut shell);
    assert_eq!(shell.line(), "again");
    assert!(sampler.snapshot().cpu > without.cpu + Duration::from_millis(10));
    sampler.stop();
}

/// User and kernel time of a shell that does this between two lines, until it used two tenths of a
/// second.
fn parts_of(work: &str) -> (Duration, Duration) {
    let mut shell = Shell::start(&format!("while read go; do {work}; echo done; done"));
    let sampler = Sampler::start(&[shell.0.id()], &[1], INTERVAL).unwrap();
    let before = sampler.snapshot();
    let mut after = before;
    eventually("it has worked", || {
        writeln!(shell.0.stdin.as_mut().unwrap(), "go").unwrap();
        assert_eq!(shell.line(), "done");
        after = sampler.snapshot();
        after.cpu - before.cpu > Duration::from_millis(200)
    });
    let (user, kernel) = (after.user - before.user, after.kernel - before.kernel);
    let apart = (after.cpu - before.cpu).abs_diff(user + kernel);
    assert!(apart <= Duration::from_millis(40), "{before:?} {after:?}");
    (user, kernel)
}

#[test]
fn time_in_the_program_is_told_from_time_in_the_kernel() {
    let (user, kernel) = parts_of(BURN);
    assert!(
        user > kernel * 2,
        "a loop: {user:?} user, {kernel:?} kernel"
    );
    // Opens a file and closes it, which the shell does by itself.
    let calls = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); : </proc/self/status; done";
    let (called_user, called) = parts_of(calls);
    let share = |user: Duration, kernel: Duration| kernel.div_duration_f64(user + kernel);
    assert!(
        share(called_user, called) > share(user, kernel) + 0.1,
        "system calls: {called_user:?} user, {called:?} kernel"
    );
}

#[test]
fn a_server_that_waits_gives_up_its_core_each_time() {
    let mut shell = Shell::start("while read go; do echo answer; done");
    let sampler = Sampler::start(&[shell.0.id()], &[1], INTERVAL).unwrap();
    let voluntary = || sampler.snapshot().threads.unwrap().voluntary;
    let before = voluntary();
    eventually("it has waited a hundred times", || {
        writeln!(shell.0.stdin.as_mut().unwrap(), "go").unwrap();
        assert_eq!(shell.line(), "answer");
        voluntary() >= before + 100
    });
    let alive = sampler.snapshot().threads.unwrap();
    assert_eq!((alive.alive, alive.ended), (1, 0));
    drop(shell.0.stdin.take());
    shell.0.wait().unwrap();
    let ended = sampler.snapshot().threads.unwrap();
    assert!(ended.voluntary >= alive.voluntary && ended.involuntary >= alive.involuntary);
    assert_eq!(ended.alive, 0);
    assert!(ended.ended >= 1);
}

#[test]
fn a_worker_that_forked_twice_is_counted() {
    let mut shell = Shell::start("(sleep 60 & echo $!); echo forked; read end");
    let worker: i32 = shell.line().parse().unwrap();
    assert_eq!(shell.line(), "forked");
    eventually("the worker is adopted", || {
        let parent = procfs::process::Process::new(worker)
            .unwrap()
            .stat()
            .unwrap()
            .ppid;
        parent != shell.0.id() as i32
    });
    let sampler = Sampler::start(&[shell.0.id()], &[1], INTERVAL).unwrap();
    eventually("two processes", || sampler.snapshot().memory.processes == 2);
}

// timed: the end of the window that is asked for; `eventually` waits.
#[test]
fn a_child_is_found_by_the_thread_alone() {
    let mut shell = Shell::start("read go; sleep 60");
    let sampler = Sampler::start(&[shell.0.id()], &[1], INTERVAL).unwrap();
    let from = sampler.snapshot().at;
    writeln!(shell.0.stdin.as_mut().unwrap(), "go").unwrap();
    // The window holds the snapshot, so that asking reads nothing.
    eventually("the child is in the samples", || {
        sampler.window(from, Instant::now()).processes == 2
    });
}

// timed: windows around what has happened, and one an hour ahead: nothing depends on how long it took.
#[test]
fn the_window_holds_the_peak_and_an_empty_one_is_read_now() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let sampler = Sampler::start(&[std::process::id()], &[port], INTERVAL).unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = listener.accept().unwrap().0;
    let from = Instant::now();
    client.write_all(&[7; 30_000]).unwrap();
    eventually("unread data is seen", || {
        sampler.snapshot().memory.sockets_bytes.unwrap() > 30_000
    });
    let to = Instant::now();
    drop((client, server));
    eventually("the sockets are gone", || {
        sampler.snapshot().memory.sockets_bytes.unwrap() < 30_000
    });
    let peak = sampler.window(from, to);
    assert!(peak.sockets_bytes.unwrap() > 30_000);
    assert!(peak.resident_bytes > 0 && peak.proportional_bytes.unwrap() > 0);
    let ahead = Instant::now() + Duration::from_secs(3600);
    let now = sampler.window(ahead, ahead);
    assert!(now.resident_bytes > 0 && now.processes >= 1);
    assert!(now.sockets_bytes.unwrap() < 30_000);
}

#[test]
fn a_server_that_has_ended_uses_nothing_more() {
    let mut shell = Shell::start("read end");
    let sampler = Sampler::start(&[shell.0.id()], &[1], INTERVAL).unwrap();
    let alive = sampler.snapshot();
    assert!(alive.memory.resident_bytes > 0);
    drop(shell.0.stdin.take());
    shell.0.wait().unwrap();
    let ended = sampler.snapshot();
    assert_eq!(ended.memory.processes, 0);
    assert_eq!(ended.memory.resident_bytes, 0);
    assert!(ended.cpu >= alive.cpu);
}

// timed: a share of the CPU time of this thread, which falls towards the budget: a reading is paid
// for by the time after it, so that a dear one at the end counts for less the longer it takes.
#[test]
fn following_costs_less_than_its_budget() {
    let mut state = State::new(&[std::process::id()], &[1], Duration::from_millis(1));
    state.read_due();
    let clock = || host_facts::process::clock(libc::CLOCK_THREAD_CPUTIME_ID).unwrap();
    let (begin, before) = (Instant::now(), clock());
    let share = || (clock() - before).as_secs_f64() / begin.elapsed().as_secs_f64();
    while begin.elapsed() < Duration::from_secs(2)
        || share() >= 0.03 && begin.elapsed() < Duration::from_secs(60)
    {
        state.read_due();
        thread::sleep(Duration::from_millis(5));
    }
    assert!(share() < 0.03, "the sampler used {} of a core", share());
}

// timed: a lower bound: the first two intervals of 250 ms end in the pause, and a longer one adds more.
#[test]
fn the_curve_shows_when_memory_was_taken_and_when_the_processor_was_used() {
    let mut shell = Shell::start(&format!(
        "echo ready; read go; {BURN}; echo burnt; read end"
    ));
    assert_eq!(shell.line(), "ready");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let sampler = Sampler::start(&[shell.0.id()], &[port], INTERVAL).unwrap();
    let from = sampler.snapshot().at;
    thread::sleep(Duration::from_millis(600));
    let quiet = sampler.snapshot();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = listener.accept().unwrap().0;
    client.write_all(&[7; 30_000]).unwrap();
    writeln!(shell.0.stdin.as_mut().unwrap(), "go").unwrap();
    assert_eq!(shell.line(), "burnt");
    eventually("unread data is seen", || {
        sampler.snapshot().memory.sockets_bytes.unwrap() > 30_000
    });
    let end = sampler.snapshot();
    let series = sampler.series(from, Instant::now());
    drop((client, server));
    assert_eq!(series.interval_ns, 250_000_000);
    assert!(series.rows.len() >= 3, "{series:?}");
    let used: u64 = series.rows.iter().map(|row| row.cpu_ns).sum();
    let before = quiet.cpu.as_nanos() as u64;
    assert!(used > 0 && used <= end.cpu.as_nanos() as u64, "{used}");
    // The first two intervals end before anything was asked for.
    let early = &series.rows[..2];
    assert!(early.iter().map(|row| row.cpu_ns).sum::<u64>() <= before);
    assert!(early.iter().all(|row| row.sockets_bytes.unwrap() < 30_000));
    assert!(series.rows.last().unwrap().sockets_bytes.unwrap() > 30_000);
    assert!(series.rows.iter().all(|row| row.resident_bytes > 0));
    let none = sampler.series(end.at, end.at);
    assert!(none.rows.is_empty());
}
