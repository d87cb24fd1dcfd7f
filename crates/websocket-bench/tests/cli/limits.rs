//! What the generator or the machine cannot do: told as that, and never as the server's failure.

use crate::support::{Ran, bench, finish, honest, record, run, url};
use run_record::{End, Timestamps, Verdict};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

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
        "lower --rate",
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
fn more_sends_than_the_memory_can_hold_the_books_of_are_refused() {
    let server = honest();
    run(&format!(
        "echo {} --initial-clients 1 --rate 10000000 --duration 7m",
        url(server.addr())
    ))
    .exits(1)
    .says_in_one_line(&[
        "nothing was measured: ",
        "sends",
        "lower --rate or --duration",
    ]);
}

#[test]
fn verbose_shows_the_verdict_and_littles_law() {
    let server = honest();
    let url = url(server.addr());
    let ran = run(&format!(
        "echo {url} -s 500 --step-size 5 --total-steps 1 -v"
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

/// Offset of the low half of an argument in `seccomp_data`, on a little-endian machine.
const fn argument(number: u32) -> u32 {
    16 + 8 * number
}

/// Has the kernel refuse `SO_TIMESTAMPING` to a program.
fn without_stamps(command: &mut Command) -> &mut Command {
    let statement = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let load = |offset| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset);
    let unless_equal_skip = |k: u32, jf: u8| libc::sock_filter {
        jf,
        ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, k)
    };
    let end = |action| statement(libc::BPF_RET | libc::BPF_K, action);
    let mut filter = [
        load(0),
        unless_equal_skip(libc::SYS_setsockopt as u32, 3),
        load(argument(2)),
        unless_equal_skip(libc::SO_TIMESTAMPING as u32, 1),
        end(libc::SECCOMP_RET_ERRNO | libc::ENOPROTOOPT as u32),
        end(libc::SECCOMP_RET_ALLOW),
    ];
    let install = move || {
        let program = libc::sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_mut_ptr(),
        };
        // SAFETY: the program and its filter outlive the calls, which copy them.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                ) == 0
        };
        if done {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: between fork and exec two system calls are made and nothing is allocated.
    unsafe { command.pre_exec(install) }
}

fn run_without_stamps(arguments: &str) -> Ran {
    finish(without_stamps(bench().args(arguments.split_whitespace())))
}

#[test]
fn stamps_that_the_kernel_does_not_give_are_told_and_done_without() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let arguments = format!(
        "echo {} -s 50 --step-size 5 --total-steps 1 --json {}",
        url(server.addr()),
        path.display()
    );
    run_without_stamps(&arguments).exits(0).says(&[
        "warning: no receive time stamps of the kernel here (SO_TIMESTAMPING is refused: ",
        "every latency contains the time that the generator took to read",
    ]);
    assert_eq!(record(&path).plan.timestamps, Timestamps::User);
    run_without_stamps(&format!("{arguments} --timestamps kernel"))
        .exits(1)
        .says_in_one_line(&[
            "--timestamps kernel: no receive time stamps here",
            "--timestamps user",
        ]);
    let ran = run_without_stamps(&format!("{arguments} --timestamps user")).exits(0);
    assert!(!ran.stderr.contains("warning"), "{ran:#?}");
}
