//! No secret of a URL is written or printed.

use crate::support::{Ran, faulty_server, honest, no_listener, run};
use std::path::Path;
use test_servers::fault::Fault;

const SECRET: &str = "Kx82nvQ0";

#[track_caller]
fn assert_silent(ran: &Ran, files: &[&Path]) {
    assert!(!ran.stdout.contains(SECRET), "{ran:#?}");
    assert!(!ran.stderr.contains(SECRET), "{ran:#?}");
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("REDACTED"), "{text}");
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[test]
fn a_token_reaches_the_server_and_no_output() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    for sites in ["", "--processes 2 --threads 1"] {
        let ran = run(&format!(
            "broadcast ws://{}/ws?room=1&access_token={SECRET} --step-size 10 --total-steps 1 \
             --limit-rtt 20s --verbose {sites} --events - --json {}",
            server.addr(),
            path.display()
        ))
        .exits(0);
        assert_silent(&ran, &[&path]);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("/ws?room=1&access_token=REDACTED"), "{text}");
    }
}

#[test]
fn errors_and_ends_say_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let refusing = faulty_server(Fault::Duplicates, 1);
    for (url, code) in [
        (
            format!("http://user:{SECRET}@127.0.0.1:1/?token={SECRET}"),
            1,
        ),
        (format!("ws://[::1/?token={SECRET}"), 1),
        (format!("ws://{}/?key={SECRET}", no_listener()), 1),
        (format!("ws://{}/?jwt={SECRET}", refusing.addr()), 3),
    ] {
        let ran = run(&format!(
            "broadcast {url} --step-size 2 --total-steps 1 --json {}",
            path.display()
        ))
        .exits(code);
        assert_silent(&ran, &[]);
    }
    assert_silent(
        &run(&format!(
            "echo ws://h/?token={SECRET} ws://h/?token={SECRET}"
        ))
        .exits(1),
        &[],
    );
}
