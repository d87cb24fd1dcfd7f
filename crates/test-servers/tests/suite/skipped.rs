//! A test that skips is counted as skipped, and not as passed.

use std::path::Path;
use std::process::{Command, Output};
use test_servers::{SKIPPED_VARIABLE, skipped};

/// Set in the process that is the test which skips.
const PART: &str = "SKIPS_AS_PART_OF_A_TEST";
const NAME: &str = "skipped::a_skipped_test_is_told_and_is_not_among_those_that_passed";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn tally(log: &Path, skipped: &Path) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/tally");
    Command::new(script).args([log, skipped]).output().unwrap()
}

#[test]
fn a_skipped_test_is_told_and_is_not_among_those_that_passed() {
    if std::env::var_os(PART).is_some() {
        skipped("there is no moon\n  here");
        skipped("and no sun");
        return;
    }
    let folder = std::env::temp_dir().join(format!("skipped-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (log, list) = (folder.join("log"), folder.join("skipped"));
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--color", "never"])
        .env(PART, "1")
        .env(SKIPPED_VARIABLE, &list)
        .output()
        .unwrap();
    let (said, printed) = (text(&ran.stderr), text(&ran.stdout));
    assert!(printed.contains("1 passed; 0 failed"), "{printed}");
    assert!(
        said.contains(&format!("skipped: suite {NAME}: there is no moon here\n")),
        "{said}"
    );
    std::fs::write(&log, &printed).unwrap();
    let told = tally(&log, &list);
    assert_eq!(
        text(&told.stdout),
        format!(
            "skipped: suite {NAME}: and no sun\n\
             skipped: suite {NAME}: there is no moon here\n\
             0 passed, 0 failed, 1 skipped\n"
        )
    );
    // Ignored tests are skipped, too; without a list there is none.
    let results = "test result: ok. 7 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out\n\
                   test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    std::fs::write(&log, results).unwrap();
    std::fs::remove_file(&list).unwrap();
    let told = tally(&log, &list);
    assert_eq!(text(&told.stdout), "10 passed, 1 failed, 2 skipped\n");
    std::fs::remove_dir_all(&folder).unwrap();
}
