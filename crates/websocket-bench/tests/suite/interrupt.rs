//! SIGINT: the first ends the run and keeps what it has, the second ends the program.

use crate::handmade;
use crate::support::{bench, interrupt_until_it_ends, record, url, wait};
use ::record::{End, RunRecord, Verdict};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a run may end by itself before the second interrupt comes.
const TRIES: u32 = 10;

/// A run whose first step is done and whose second waits for a deaf server.
struct Stuck {
    child: Child,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Stuck {
    // timed: polls; the end is only for a hang.
    fn start() -> Self {
        // 20 echoes are the first step, 7 the beginning of the second.
        let (addr, heard) = handmade::counted_until_deaf(27);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let arguments = format!(
            "echo {} -c 1 -s 20 --step-size 2 --limit-rtt 20s --sample-timeout 1h --json",
            url(addr)
        );
        let mut child = bench()
            .args(arguments.split_whitespace())
            .arg(&path)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert!(line.starts_with("clients:     2 "), "{line}");
        // One is in flight at a time: the eighth is sent once the seventh is complete.
        let end = Instant::now() + Duration::from_secs(60);
        while heard.load(Ordering::Relaxed) < 28 {
            assert!(Instant::now() < end, "the eighth echo is not sent");
            sleep(Duration::from_millis(5));
        }
        Self {
            child,
            path,
            _folder: folder,
        }
    }

    fn interrupt(&self) {
        // SAFETY: the child has not been waited for, so the id is its own.
        let sent = unsafe { libc::kill(self.child.id() as i32, libc::SIGINT) };
        assert_eq!(sent, 0);
    }

    /// Waits for the end; the exit code, stderr, and the record.
    fn end(mut self) -> (Option<i32>, String, RunRecord) {
        let status = wait(&mut self.child);
        self.ended(status)
    }

    fn ended(mut self, status: ExitStatus) -> (Option<i32>, String, RunRecord) {
        let mut stderr = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        (status.code(), stderr, record(&self.path))
    }
}

#[test]
fn the_first_keeps_the_steps_and_the_part_of_a_step() {
    let stuck = Stuck::start();
    stuck.interrupt();
    let (code, stderr, record) = stuck.end();
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("interrupted by the user"), "{stderr}");
    assert_eq!(record.outcome.end, End::Interrupted);
    assert_eq!(record.outcome.carried_clients, Some(2));
    let samples: Vec<u64> = record.steps.iter().map(|step| step.samples).collect();
    assert_eq!(samples, [20, 7]);
    let ended = &record.steps[1];
    assert_eq!(ended.verdict, Verdict::Interrupted);
    assert_eq!(
        ended.verdict_reasons,
        ["it was ended after 7 of 20 samples"]
    );
    assert!(!stderr.contains("noisy"), "{stderr}");
    assert!(record.faults().is_empty(), "{}", record.faults());
}

#[test]
fn the_second_ends_the_program_at_once_and_the_steps_are_on_disk() {
    let ended_early = (0..TRIES).any(|_| {
        let mut stuck = Stuck::start();
        let status = interrupt_until_it_ends(&mut stuck.child, || true);
        let (code, _, record) = stuck.ended(status);
        assert_eq!(code, Some(130));
        assert_eq!(record.outcome.end, End::Interrupted);
        assert_eq!(record.steps[0].samples, 20);
        assert_eq!(record.outcome.carried_clients, Some(2));
        // A run whose second interrupt came late has ended by itself, when it had waited for the server.
        record
            .outcome
            .detail
            .contains("ended before the run had ended")
    });
    assert!(ended_early, "each run ended by itself");
}
