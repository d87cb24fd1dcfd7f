//! A server that passed every check is not checked again, unless something is not as it was.

use crate::support::{CORRECT, Done, Project, SHORT, Server};
use std::fs;
use std::time::{Duration, SystemTime};

const AGAIN: &str = "not checked again, passed within the last week as they are now: go-example";

/// A run with a cache of its own, in a new directory of results.
fn run(project: &Project, more: &str) -> Done {
    let _ = fs::remove_dir_all(project.path("out"));
    let mut command = project.command(&format!("{SHORT} {more}"));
    Done::from(
        command
            .env("XDG_CACHE_HOME", project.path("cache"))
            .output()
            .unwrap(),
    )
}

#[test]
fn a_server_that_has_passed_is_checked_again_only_when_asked_for_or_after_it_has_failed() {
    let project = Project::new();
    // Nothing of its folder says that it lies.
    let lie = project.path("lie");
    fs::write(&lie, "").unwrap();
    let store = project.path("version-of-the-store");
    fs::write(&store, "7.0.15").unwrap();
    project.add(&Server {
        script: &format!("{CORRECT} $(cat '{}')", lie.display()),
        more: &format!(
            "[[service]]\nname = \"store\"\ncommand = [\"python3\", \"-c\", \"\"\"import signal, socket\n\
             s = socket.create_server(('127.0.0.1', {{service:store}}))\nsignal.pause()\"\"\"]\n\
             version = {{ command = [\"cat\", \"{}\"], matches = '(\\S+)' }}\n",
            store.display()
        ),
        ..Server::default()
    });
    let is_checked = |more: &str, code: i32| {
        let done = run(&project, more);
        done.expect(code, &["go-example"]);
        let name = "go-example.default.broadcast.text.1";
        let conformance = project.measurement(name).conformance.unwrap();
        assert_eq!(conformance.passed(), code == 0);
        assert!(conformance.checks.len() > 10);
        let from_before = done.stderr.contains(AGAIN);
        assert_eq!(conformance.checked.is_some(), from_before);
        !from_before
    };
    assert!(is_checked("", 0));
    assert!(!is_checked("", 0));

    // Of what is older than a week nothing stays where something is written.
    let folder = project.path("cache/websocket-shootout/passed");
    let kept = || fs::read_dir(&folder).unwrap().flatten();
    let old = folder.join("of-another-server.2.json");
    fs::write(&old, "{}").unwrap();
    let written = fs::File::options().write(true).open(&old).unwrap();
    // timed: a day more than a week, however long this takes
    let long_ago = SystemTime::now() - Duration::from_secs(8 * 24 * 60 * 60);
    written.set_modified(long_ago).unwrap();
    assert_eq!(kept().count(), 2);
    fs::write(&store, "7.0.16").unwrap();
    assert!(is_checked("", 0));
    assert!(!old.exists());
    assert_eq!(kept().count(), 2);

    fs::write(&lie, "--lie answers-pongs").unwrap();
    assert!(!is_checked("", 0));
    for again in ["--check-again", ""] {
        assert!(is_checked(again, 3));
    }
}
