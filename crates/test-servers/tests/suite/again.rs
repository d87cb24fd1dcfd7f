//! A test that failed beside other work is run again by itself, and named.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scripts")
        .join(name)
}

/// What became of a program that prints this where it runs all its tests. By itself, the test `by_itself`
/// passes, `always` fails, and there is no other.
fn run_and_run_again(name: &str, printed: &str) -> (Output, Output) {
    let folder = std::env::temp_dir().join(format!("again-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (program, failed) = (folder.join("program"), folder.join("failed"));
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in\n\
         '--exact by_itself') echo 'test result: ok. 1 passed; 0 failed' ;;\n\
         '--exact always') echo 'test result: FAILED. 0 passed; 1 failed'; exit 101 ;;\n\
         --exact*) echo 'test result: ok. 0 passed; 0 failed' ;;\n\
         *) printf '%s\\n' '{printed}'; exit 101 ;;\nesac\n"
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let first = Command::new(script("run-test"))
        .args([&folder, &program])
        .env("TESTS_LOCK", folder.join("lock"))
        .env("TESTS_FAILED", &failed)
        .output()
        .unwrap();
    let again = Command::new(script("test-again"))
        .arg(&failed)
        .output()
        .unwrap();
    fs::remove_dir_all(&folder).unwrap();
    (first, again)
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_test_that_passes_by_itself_is_named_and_is_no_failure() {
    let (first, again) = run_and_run_again(
        "passes",
        "test by_itself ... FAILED\ntest fine ... ok\n\
         test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
    );
    assert_eq!(first.status.code(), Some(1));
    let told = told(&again);
    assert!(again.status.success(), "{told}");
    let words = "failed beside other work and passed by itself: by_itself of again-passes";
    assert!(told.contains(words), "{told}");
}

#[test]
fn a_test_that_fails_again_is_a_failure() {
    let (_, again) = run_and_run_again(
        "fails",
        "test by_itself ... FAILED\ntest always - should panic ... FAILED\n\
         test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
    );
    let told = told(&again);
    assert_eq!(again.status.code(), Some(1), "{told}");
    assert!(
        told.contains("failed again by itself: always of again-fails"),
        "{told}"
    );
}

/// A name that is read wrong must not look like a test that passes.
#[test]
fn a_test_that_is_not_there_is_a_failure() {
    let (_, again) = run_and_run_again(
        "renamed",
        "test no_such ... FAILED\n\
         test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
    );
    let told = told(&again);
    assert_eq!(again.status.code(), Some(1), "{told}");
    assert!(
        told.contains("failed again by itself: no_such of again-renamed"),
        "{told}"
    );
}

/// Tests that it did not come to may fail, too.
#[test]
fn a_program_that_ended_early_is_a_failure() {
    let (_, again) = run_and_run_again("aborts", "test by_itself ... FAILED");
    let told = told(&again);
    assert_eq!(again.status.code(), Some(1), "{told}");
    assert!(
        told.contains("failed again by itself: program of again-aborts"),
        "{told}"
    );
}
