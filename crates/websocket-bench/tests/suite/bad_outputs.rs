//! Outputs that cannot be written are found before anything is connected; one that breaks later ends
//! a run without a reader.

use crate::support::{Ran, bench, finish, honest, run, url, wait};
use std::fs::File;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::process::Stdio;

/// Runs against a listener and asserts that no client connected.
#[track_caller]
fn unconnected(run: impl FnOnce(&str) -> Ran) -> Ran {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let ran = run(&format!(
        "broadcast ws://{}/ --step-size 5 --connect-timeout 1s",
        listener.local_addr().unwrap()
    ));
    let accepted = listener.accept().map_err(|error| error.kind());
    assert_eq!(accepted.err(), Some(ErrorKind::WouldBlock), "{ran:?}");
    ran
}

#[test]
fn records_and_events_that_have_no_place_are_found_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().display();
    for flag in ["--json", "--csv", "--junit", "--html", "--events"] {
        for (path, words) in [
            (format!("{folder}"), ["irectory", "name a file in it"]),
            (
                format!("{folder}/missing/x"),
                ["No such file", "create its folder first"],
            ),
            (
                "/dev/full".to_owned(),
                ["No space left", "choose another place"],
            ),
        ] {
            let ran = unconnected(|start| run(&format!("{start} {flag} {path}")));
            ran.exits(1)
                .says_in_one_line(&[&path, "cannot write", words[0], words[1]]);
        }
    }
    let device = std::fs::metadata("/dev/full").unwrap();
    assert!(!device.is_file(), "a device was replaced by a file");
}

#[test]
fn events_to_a_stdout_that_takes_nothing_are_found_before_the_run() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    unconnected(|start| {
        let mut command = bench();
        command
            .args(start.split_whitespace())
            .args(["--events", "-"]);
        finish(command.stdout(Stdio::from(full)))
    })
    .exits(1)
    .says_in_one_line(&["cannot write events to stdout", "No space left"]);
}

#[test]
fn lines_that_stdout_does_not_take_are_an_error_and_the_record_is_kept() {
    let server = crate::support::honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let arguments = format!(
        "broadcast {} --step-size 5 --total-steps 2 --limit-rtt 20s --json {}",
        crate::support::url(server.addr()),
        path.display()
    );
    finish(
        bench()
            .args(arguments.split_whitespace())
            .stdout(Stdio::from(full)),
    )
    .exits(1)
    .says(&["an output could not be written in full", "No space left"]);
    assert_eq!(crate::support::record(&path).steps.len(), 2);
}

#[test]
fn an_earlier_record_survives_a_run_that_measures_nothing_for_want_of_a_url() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    std::fs::write(&path, "earlier").unwrap();
    run(&format!(
        "broadcast ws://no-such-host.invalid/ --json {}",
        path.display()
    ))
    .exits(1);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "earlier");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_endless_run_whose_reader_is_gone_ends() {
    let server = honest();
    let mut child = bench()
        .args(["broadcast", &url(server.addr()), "--step-size", "5"])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let status = wait(&mut child);
    // Its output was closed by its reader, as by SIGPIPE.
    assert_eq!(status.code(), Some(141));
}
