//! Limits of the generator or the machine are reported as such, and never as the server's failure.

use crate::seccomp::Refused;
use crate::support::{Ran, bench, finish, honest, record, run, url};
use ::record::{End, Verdict};
use plan::{Io, Timestamps};

#[test]
fn a_rate_that_cannot_be_met_is_the_generators_limit() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let ran = run(&format!(
        "echo {} --initial-clients 10 --rate 10000000 --duration 200ms --threads 1 \
         --expect clients>=10 --json {}",
        url(server.addr()),
        path.display()
    ))
    .exits(3)
    .says(&[
        "carried within the limit: no step",
        "at 10 clients the generator, and not the server, was the limit",
        "of the planned requests went out in time",
        "lower load.open.rate (--rate)",
    ]);
    assert!(ran.stdout.contains("generator-limited: only "), "{ran:#?}");
    assert!(!ran.stderr.contains("at fault"), "{ran:#?}");
    let record = record(&path);
    assert_eq!(record.outcome.end, End::GeneratorLimited);
    assert_eq!(record.steps[0].verdict, Verdict::GeneratorLimited);
    assert!(record.faults().is_empty(), "{}", record.faults());
    assert!(record.steps[0].sent.unwrap() < record.steps[0].samples_planned / 2);
}

#[test]
fn more_sends_than_the_ledger_has_memory_for_are_refused() {
    let server = honest();
    run(&format!(
        "echo {} --initial-clients 1 --rate 10000000 --duration 7m",
        url(server.addr())
    ))
    .exits(1)
    .says_in_one_line(&[
        "nothing was measured: ",
        "sends",
        "lower load.open.rate (--rate) or load.open.duration (--duration)",
    ]);
}

#[test]
fn verbose_shows_the_verdict_and_littles_law() {
    let server = honest();
    let url = url(server.addr());
    let ran = run(&format!(
        "echo {url} -s 500 --step-size 5 --total-steps 1 --limit-rtt 20s -v"
    ))
    .exits(0);
    for words in [
        "in flight",
        "by Little's law",
        "% apart",
        "verdict      pass",
    ] {
        assert!(ran.stdout.contains(words), "{words:?} in {ran:#?}");
    }
}

fn run_without_stamps(arguments: &str) -> Ran {
    let mut command = bench();
    command.args(arguments.split_whitespace());
    let stamps = Refused {
        call: libc::SYS_setsockopt,
        argument: Some((2, libc::SO_TIMESTAMPING as u32)),
        error: libc::ENOPROTOOPT,
    };
    finish(stamps.to(&mut command))
}

fn run_without_io_uring(arguments: &str, error: i32) -> Ran {
    let mut command = bench();
    command.args(arguments.split_whitespace());
    let rings = Refused {
        call: libc::SYS_io_uring_setup,
        argument: None,
        error,
    };
    finish(rings.to(&mut command))
}

#[test]
fn io_uring_that_is_forbidden_is_told_and_done_without() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let arguments = format!(
        "echo {} -s 50 --step-size 5 --total-steps 1 --limit-rtt 20s -v --json {}",
        url(server.addr()),
        path.display()
    );
    for (error, reason) in [
        (libc::EPERM, "EPERM: io_uring_setup is forbidden"),
        (libc::EACCES, "EACCES: io_uring_setup is forbidden"),
        (libc::ENOSYS, "has no io_uring"),
        (libc::EINVAL, "is too old; 6.0 is needed"),
        (libc::ENOMEM, "`ulimit -l`"),
    ] {
        let ran = run_without_io_uring(&arguments, error).exits(0);
        ran.says(&[
            "sockets are read with epoll: io_uring is not available here (",
            reason,
        ]);
        assert_eq!(record(&path).plan.generator.io, Io::Epoll);
        run_without_io_uring(&format!("{arguments} --io uring"), error)
            .exits(1)
            .says_in_one_line(&[
                "--io uring: io_uring is not available here",
                reason,
                "--io epoll",
            ]);
    }
    let ran = run_without_io_uring(&format!("{arguments} --io epoll"), libc::EPERM).exits(0);
    assert!(
        ran.stderr.contains("sockets are read with epoll\n"),
        "{ran:#?}"
    );
}

#[track_caller]
fn assert_reads_with(flag: &str, io: Io, words: &str) {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let ran = run(&format!(
        "broadcast {} -s 50 --step-size 20 --total-steps 1 --limit-rtt 20s -v --io {flag} --json {}",
        url(server.addr()),
        path.display()
    ));
    ran.exits(0).says(&[words]);
    assert_eq!(record(&path).plan.generator.io, io);
}

#[test]
fn the_record_says_that_sockets_were_read_with_epoll() {
    assert_reads_with("epoll", Io::Epoll, "sockets are read with epoll");
}

#[test]
fn the_record_says_that_sockets_were_read_with_io_uring() {
    if let Err(reason) = ws_load::probe_io_uring(Timestamps::User) {
        return test_servers::skipped(&reason.to_string());
    }
    assert_reads_with("uring", Io::Uring, "sockets are read with io_uring");
}

#[test]
fn stamps_that_the_kernel_does_not_give_are_told_and_done_without() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let arguments = format!(
        "echo {} -s 50 --step-size 5 --total-steps 1 --limit-rtt 20s --json {}",
        url(server.addr()),
        path.display()
    );
    run_without_stamps(&arguments).exits(0).says(&[
        "warning: no receive timestamps of the kernel here (SO_TIMESTAMPING is refused: ",
        "every latency contains the time that the generator took to read",
    ]);
    assert_eq!(record(&path).plan.generator.timestamps, Timestamps::User);
    run_without_stamps(&format!("{arguments} --timestamps kernel"))
        .exits(1)
        .says_in_one_line(&[
            "--timestamps kernel: no receive timestamps here",
            "--timestamps user",
        ]);
    let ran = run_without_stamps(&format!("{arguments} --timestamps user")).exits(0);
    assert!(!ran.stderr.contains("warning"), "{ran:#?}");
}
