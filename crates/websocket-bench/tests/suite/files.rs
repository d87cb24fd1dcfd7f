//! Fewer open files than clients: the limit, what it allowed, and the remedy.

use crate::support::{bench, faulty_server, finish, honest, record, url};
use ::record::{End, Verdict};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use test_servers::fault::Fault;

const LIMIT: u64 = 100;

/// The binary with a hard limit of [`LIMIT`] open files.
fn limited() -> Command {
    let mut command = bench();
    let set = || {
        let limit = libc::rlimit {
            rlim_cur: LIMIT,
            rlim_max: LIMIT,
        };
        // SAFETY: `limit` is a valid rlimit that outlives the call.
        match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: the closure makes one async-signal-safe call and allocates nothing.
    unsafe { command.pre_exec(set) };
    command
}

#[test]
fn a_run_that_meets_the_file_limit_keeps_its_steps_and_names_the_limit() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let arguments = format!(
        "broadcast {} -s 20 --step-size 60 --limit-rtt 20s --json {}",
        url(server.addr()),
        path.display()
    );
    let ran = finish(limited().args(arguments.split_whitespace()))
        .exits(0)
        .says_in_one_line(&[
            "carried within the limit: 60 clients",
            "of 120 clients connected, then: this process may have no more than 100 open files",
            "RLIMIT_NOFILE",
            "ulimit -n",
        ]);
    assert_eq!(ran.stdout.lines().count(), 1);
    let record = record(&path);
    assert_eq!(record.outcome.end, End::MachineLimit);
    assert_eq!(record.environment.file_limit.hard, LIMIT);
    // Standard streams, event loops and the like take some of the hundred.
    let opened: u64 = record
        .outcome
        .detail
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((80..LIMIT).contains(&opened), "{}", record.outcome.detail);
}

#[test]
fn a_first_step_beyond_the_file_limit_measures_nothing() {
    let server = honest();
    let url = url(server.addr());
    finish(limited().args(["broadcast", &url, "--step-size", "1000"]))
        .exits(1)
        .says_in_one_line(&[
            "nothing was measured",
            "of 1000 clients connected",
            "100 open files",
            "ulimit -n",
        ]);
}

#[test]
fn the_limit_is_named_even_when_the_last_attempts_fail_for_another_reason() {
    let server = faulty_server(Fault::NeverAnswers, 0);
    let arguments = format!(
        "broadcast {} --step-size 200 --connect-concurrency 200 --connect-timeout 500ms",
        url(server.addr())
    );
    finish(limited().args(arguments.split_whitespace()))
        .exits(1)
        .says_in_one_line(&["0 of 200 clients connected", "no more than 100 open files"]);
}

#[test]
fn connections_that_the_file_limit_allowed_are_kept_in_the_record() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let arguments = format!(
        "connect {} --clients 200 --hold 1s --json {}",
        url(server.addr()),
        path.display()
    );
    let ran = finish(limited().args(arguments.split_whitespace())).exits(1);
    let words = "of 200 clients connected, then: this process may have no more than 100 open files";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    assert!(!ran.stderr.contains("cannot write"), "{}", ran.stderr);
    let record = record(&path);
    assert_eq!(record.outcome.end, End::MachineLimit);
    let [step] = &record.steps[..] else {
        panic!("{:?}", record.steps);
    };
    let connections = step.connections.as_ref().unwrap();
    assert_eq!((connections.planned, connections.held_ns), (200, 0));
    assert!((80..LIMIT).contains(&connections.opened), "{connections:?}");
    assert_eq!(step.verdict, Verdict::Noisy);
    assert_eq!(step.completion.as_ref().unwrap().count, connections.opened);
    // Memory is read from files, of which none can be opened any more.
    let unknown = (&connections.generator, &connections.server);
    assert_eq!(unknown, (&None, &None));
    assert!(record.faults().is_empty(), "{:?}", record.faults());
}
