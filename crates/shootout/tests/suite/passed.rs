//! A server that passed every check is not checked again, unless something is not as it was.

use crate::support::{CORRECT, Done, Project, SHORT, Server};
use record::CheckVerdict;
use std::fs;
use std::time::{Duration, SystemTime};

const AGAIN: &str = "not checked again, passed within the last week as they are now: go-example";

/// A run with a cache of its own, in a new directory of results.
fn run(project: &Project, more: &str) -> Done {
    let _ = fs::remove_dir_all(project.path("out"));
    with_cache(project, &format!("{SHORT} {more}"))
}

fn with_cache(project: &Project, arguments: &str) -> Done {
    let mut command = project.command(arguments);
    Done::from(
        command
            .env("XDG_CACHE_HOME", project.path("cache"))
            .output()
            .unwrap(),
    )
}

#[test]
fn a_server_that_has_passed_is_checked_again_when_something_has_changed() {
    let project = Project::new();
    project.add(&Server::default());
    let is_checked = |more: &str| {
        let done = run(&project, more);
        done.expect(0, &["go-example"]);
        let name = "go-example.default.broadcast.text.1";
        let conformance = project.measurement(name).conformance.unwrap();
        assert!(conformance.passed() && conformance.checks.len() > 10);
        let from_before = done.stderr.contains(AGAIN);
        assert_eq!(conformance.checked.is_some(), from_before);
        !from_before
    };
    // With two threads at least, which this server is not told. A run has one on a machine of two cores.
    with_cache(&project, "verify").expect(0, &["go-example"]);
    assert!(!is_checked(""));
    assert!(is_checked("--check-again"));

    let script = project.path("servers/go-example/server.sh");
    let text = fs::read_to_string(&script).unwrap();
    fs::write(&script, format!("{text}# another\n")).unwrap();
    assert!(is_checked(""));
    fs::write(&script, text).unwrap();
    assert!(!is_checked(""));

    // A week later.
    let folder = project.path("cache/websocket-shootout/passed");
    let kept = || fs::read_dir(&folder).unwrap().flatten();
    assert_eq!(kept().count(), 2);
    // timed: a day more than a week, however long this takes
    let old = SystemTime::now() - Duration::from_secs(8 * 24 * 60 * 60);
    for file in kept() {
        let file = fs::File::options().write(true).open(file.path()).unwrap();
        file.set_modified(old).unwrap();
    }
    assert!(is_checked(""));
    assert_eq!(kept().count(), 1, "what is old is removed");

    // What cannot be read is no pass.
    for file in kept() {
        fs::write(file.path(), "{}").unwrap();
    }
    assert!(is_checked(""));
}

#[test]
fn a_server_that_fails_is_forgotten() {
    let project = Project::new();
    // Nothing of its folder says that it lies.
    let lie = project.path("lie");
    fs::write(&lie, "").unwrap();
    project.add(&Server {
        script: &format!("{CORRECT} $(cat '{}')", lie.display()),
        ..Server::default()
    });
    run(&project, "").expect(0, &["go-example"]);
    fs::write(&lie, "--lie answers-pongs").unwrap();
    assert!(run(&project, "").stderr.contains(AGAIN));
    for again in ["--check-again", ""] {
        run(&project, again).expect(3, &["go-example"]);
    }
}

#[test]
fn a_server_that_failed_or_has_changed_itself_is_always_checked() {
    let project = Project::new();
    let liar = format!("{CORRECT} --lie answers-pongs");
    for (script, code) in [
        (liar.as_str(), 3),
        (&format!("date >>$0.log\n{CORRECT}"), 0),
    ] {
        project.add(&Server {
            script,
            ..Server::default()
        });
        for _ in 0..2 {
            let done = run(&project, "");
            done.expect(code, &["go-example"]);
            assert!(!done.stderr.contains(AGAIN), "{}", done.stderr);
            let name = "go-example.default.broadcast.text.1";
            let checks = project.measurement(name).conformance.unwrap().checks;
            let failed = checks.iter().any(|one| one.verdict == CheckVerdict::Fail);
            assert_eq!(failed, code == 3);
        }
    }
}
