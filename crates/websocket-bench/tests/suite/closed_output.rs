//! A reader that closes stdout, as `| head` does: no error is printed, the exit code is 141, and files
//! are still written.

use crate::support::{bench, honest, record, url, wait};
use ::record::End;
use std::io::Read as _;
use std::process::{Command, Stdio};

/// Runs it with a stdout that takes nothing; the exit code and what it said on stderr.
fn unheard(command: &mut Command) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = wait(&mut child);
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    (status.code(), said)
}

fn unheard_bench(arguments: &str) -> (Option<i32>, String) {
    unheard(bench().args(arguments.split_whitespace()))
}

#[test]
fn texts_end_quietly() {
    for arguments in ["completions bash", "completions zsh"] {
        assert_eq!(
            unheard_bench(arguments),
            (Some(141), String::new()),
            "{arguments}"
        );
    }
}

#[test]
fn a_run_that_is_kept_nowhere_ends_and_says_why() {
    let server = honest();
    for output in ["", "--events -"] {
        let (code, said) = unheard_bench(&format!(
            "echo {} -s 50 --step-size 1 --total-steps 1000 --limit-rtt 20s {output}",
            url(server.addr())
        ));
        assert_eq!(code, Some(141), "{said}");
        assert!(said.contains("the reader of stdout closed it"), "{said}");
        assert!(!said.contains("interrupted"), "{said}");
    }
}

#[test]
fn a_run_with_a_record_goes_on_to_its_end() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let (code, said) = unheard_bench(&format!(
        "echo {} -s 50 --step-size 1 --total-steps 3 --limit-rtt 20s --json {}",
        url(server.addr()),
        path.display()
    ));
    assert_eq!(code, Some(141), "{said}");
    let record = record(&path);
    assert_eq!(record.outcome.end, End::StepsDone);
    assert_eq!(record.steps.len(), 3);
}

#[test]
fn a_result_that_is_worse_keeps_its_code() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = unheard_bench(&format!(
        "echo {} -s 50 --step-size 1 --total-steps 1 --limit-rtt 20s --expect p50<1us --json {}",
        url(server.addr()),
        folder.path().join("run.json").display()
    ));
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn the_programs_with_the_names_of_the_ancestor_too() {
    let server = honest();
    let port = server.addr().port();
    let mut scalability = Command::new(env!("CARGO_BIN_EXE_scalability"));
    let ended = unheard(scalability.args(["5", &port.to_string()]));
    assert_eq!(ended, (Some(141), String::new()));
}
