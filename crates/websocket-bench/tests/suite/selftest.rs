//! `selftest`: the certificate, its file, its exit codes, and a fault that it must find.

use crate::support::{Ran, bench, run, wait};
use record::{Certificate, Json, Proof, ProofVerdict, selftest_schema};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::time::Duration;

/// The certificate in a file, which keeps to its schema.
fn valid(path: &Path) -> Certificate {
    let text = std::fs::read_to_string(path).unwrap();
    let schema = serde_json::to_value(selftest_schema()).unwrap();
    jsonschema::validate(&schema, &serde_json::from_str(&text).unwrap()).unwrap();
    Certificate::from_json(&text).unwrap()
}

/// Runs one part in its short form.
fn part(id: &str, more: &str) -> (Ran, Proof) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("certificate.json");
    let ran = run(&format!(
        "selftest --short --only {id} --json {} {more}",
        file.display()
    ));
    let mut certificate = valid(&file);
    assert!(certificate.is_complete());
    assert_eq!(certificate.parts.len(), 1);
    (ran, certificate.parts.remove(0))
}

#[test]
fn faults_are_proved_and_the_certificate_says_what_was_known() {
    let (ran, proof) = part("c", "--seed 5");
    let ran = ran.exits(0);
    assert!(ran.stdout.contains("(c) faults: pass"), "{ran:#?}");
    assert!(ran.stdout.contains("1 of 1 parts passed"), "{ran:#?}");
    assert_eq!((proof.verdict, proof.attempts), (ProofVerdict::Pass, 1));
    let counted = |what: &str| {
        let mut checks = proof.checks.iter();
        let check = checks.find(|check| check.what == format!("text, many at once: {what}"));
        check.unwrap().clone()
    };
    for class in [
        "lost",
        "duplicate",
        "corrupt",
        "misdirected",
        "unanswered",
        "refused",
        "malformed",
    ] {
        let check = counted(class);
        // Of each class more than a counter of a few would show.
        assert!(
            check.known >= Some(100.0) && check.known == check.measured,
            "{check:?}"
        );
    }
    assert_eq!(counted("messages").verdict, ProofVerdict::Pass);
    assert!(ran.stdout.contains("seed 5"), "{ran:#?}");
}

/// The same seed draws the same numbers of faults, another one others.
#[test]
fn a_seed_repeats_what_was_left_to_chance() {
    let known = |seed: u32| {
        let (_, proof) = part("c", &format!("--seed {seed}"));
        let faults = proof
            .checks
            .iter()
            .filter(|check| check.what.starts_with("text, many"));
        faults
            .filter(|check| !check.what.ends_with("any other class"))
            .map(|check| check.known)
            .collect::<Vec<_>>()
    };
    let first = known(5);
    assert_eq!(known(5), first);
    assert_ne!(known(6), first);
}

/// Over processes, in every dialect: what a busy machine leaves open is inconclusive, and never a
/// failure.
#[test]
fn deliveries_and_sites_do_not_fail() {
    for id in ["g", "h"] {
        let (ran, proof) = part(id, "");
        ran.exits(0);
        assert_ne!(proof.verdict, ProofVerdict::Fail, "{proof:#?}");
        let of = |name: &str| {
            proof
                .checks
                .iter()
                .any(|check| check.what.starts_with(name))
        };
        match id {
            "g" => assert!(of("200 listeners") && of("text, one after the other")),
            _ => assert!(of("broadcast over 2 processes") && of("faults over 2 processes")),
        }
    }
}

#[test]
fn the_ceiling_is_measured_by_a_process_of_its_own() {
    let (ran, proof) = part("f", "");
    ran.exits(0);
    assert_eq!(proof.verdict, ProofVerdict::Pass, "{proof:#?}");
    assert!(
        proof
            .notes
            .iter()
            .any(|note| note.contains("messages per second"))
    );
}

/// A generator that is stopped again and again reads late. By its own clock the server looks slow,
/// and the certificate must say so.
#[test]
fn a_hindered_generator_with_stamps_of_its_own_clock_fails() {
    let (ran, proof) = part("a", "--timestamps user");
    let ran = ran.exits(3);
    assert!(ran.stdout.contains("fail: 0 of 1 parts passed"), "{ran:#?}");
    let late = proof.checks.iter().find(|check| {
        check.what.starts_with("generator stopped") && check.what.ends_with("completion, p95")
    });
    let late = late.unwrap();
    assert_eq!(late.verdict, ProofVerdict::Fail);
    // An answer that came at the beginning of a stop of 50 ms waited for its end.
    assert!(late.measured > late.most.map(|most| most + 1e6), "{late:?}");
}

/// Interrupts a test of (c) and another part `after` the proof of (c) was printed; what it says
/// from there on, and the certificate.
// timed: the next part lasts 9 s or longer, so that it is not over unless the pause lasts 9 s too; when it
// has not begun yet the certificate lacks it as well.
fn interrupted_in(id: &str, after: Duration) -> (String, Certificate) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("certificate.json");
    let mut child = bench()
        .args(["selftest", "--only", "c", "--only", id, "--json"])
        .arg(&file)
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("(c) faults: pass") {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "it ended before (c)");
    }
    std::thread::sleep(after);
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(wait(&mut child).code(), Some(130), "{rest}");
    (rest, valid(&file))
}

#[test]
fn an_interrupt_keeps_what_was_proved_and_says_what_was_not() {
    // A part in this process, and one whose generator is a process of its own.
    for id in ["e", "f"] {
        let (rest, certificate) = interrupted_in(id, Duration::from_millis(1500));
        assert!(
            rest.contains(&format!(
                "incomplete: 1 of 1 parts passed, 0 inconclusive, 0 failed; \
                 interrupted before the end of {id}"
            )),
            "{rest}"
        );
        assert_eq!(certificate.not_made, [id]);
        let made: Vec<&str> = certificate.parts.iter().map(|p| p.id.as_str()).collect();
        assert_eq!(made, ["c"]);
    }
}

#[test]
fn wrong_usage_is_told() {
    run("selftest --only z").exits(1).says(&[
        "--only",
        "[possible values: a, b, c, d, e, f, g, h, i, j, k, l]",
    ]);
    run("selftest --json -")
        .exits(1)
        .says_in_one_line(&["--json writes to a file"]);
    run("selftest --json /nonexistent/x.json")
        .exits(1)
        .says_in_one_line(&["/nonexistent/x.json", "create its folder first"]);
    let help = run("selftest --help").exits(0).stdout;
    for words in ["--short", "--only", "Frozen server", "Exit codes:"] {
        assert!(help.contains(words), "{words}");
    }
}

/// Plans drawn at random, each against a server that knows what it did; the same seed draws the same.
#[test]
fn plans_drawn_at_random_agree_with_what_their_servers_know() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plans.json");
    let ran = run(&format!(
        "selftest --plans 6 --seed 1 --json {}",
        file.display()
    ));
    let ran = ran.exits(0);
    assert!(
        ran.stdout.contains("6 plans drawn at random, seeds 1 to 6"),
        "{ran:#?}"
    );
    let outcome: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(outcome["carried_out"], 6);
    assert_eq!(outcome["failed"], serde_json::json!([]));
}
