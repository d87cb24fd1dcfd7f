//! Help, version, completions and man pages come from the one definition.

use crate::support::run;
use std::process::Command;

#[test]
fn help_and_version_go_to_stdout() {
    let help = run("--help").exits(0);
    assert!(help.stdout.contains("Usage: websocket-bench <COMMAND>") && help.stderr.is_empty());
    let version = run("--version").exits(0);
    assert_eq!(
        version.stdout,
        format!("websocket-bench {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert!(version.stderr.is_empty());
    for command in ["broadcast", "echo"] {
        let help = run(&format!("{command} --help")).exits(0).stdout;
        for flag in [
            "--concurrent",
            "--limit-rtt",
            "--local-addr",
            "--expect",
            "Exit codes:",
        ] {
            assert!(help.contains(flag), "{flag} in the help of {command}");
        }
    }
    let help = run("connect --help").exits(0).stdout;
    for flag in [
        "--connect-rate",
        "--hold",
        "--ping-interval",
        "--limit-rtt",
        "Exit codes:",
    ] {
        assert!(help.contains(flag), "{flag} in the help of connect");
    }
    assert!(!help.contains("--search") && !help.contains("--payload-padding"));
}

#[test]
fn completions_know_the_flags() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&format!("completions {shell}")).exits(0).stdout;
        for word in ["websocket-bench", "broadcast", "limit-rtt", "actioncable"] {
            assert!(
                script.contains(word),
                "{word} in the completions for {shell}"
            );
        }
    }
}

/// What bash offers for the last of these words.
fn offered(words: &[&str]) -> Vec<String> {
    let script = run("completions bash").exits(0).stdout;
    let last = words.len() - 1;
    let words = words.join("' '");
    let asked = format!(
        "{script}\nCOMP_WORDS=('{words}') COMP_CWORD={last}\n\
         _websocket__bench websocket-bench \"${{COMP_WORDS[{last}]}}\" \"${{COMP_WORDS[{last}-1]}}\"\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let answer = Command::new("bash").args(["-c", &asked]).output().unwrap();
    let answer = String::from_utf8(answer.stdout).unwrap();
    answer.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_flags_and_values() {
    assert_eq!(offered(&["websocket-bench", "broa"]), ["broadcast"]);
    let flags = offered(&["websocket-bench", "broadcast", "--limit-"]);
    assert_eq!(flags, ["--limit-percentile", "--limit-rtt"]);
    let flags = offered(&["websocket-bench", "connect", "ws://h/", "--ho"]);
    assert_eq!(flags, ["--hold"]);
    let values = offered(&["websocket-bench", "echo", "--server-type", "actionc"]);
    assert_eq!(values, ["actioncable"]);
    assert_eq!(offered(&["websocket-bench", "completions", "fi"]), ["fish"]);
}

#[test]
fn man_pages_are_written_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    run(&format!("man {}", folder.path().display())).exits(0);
    for (page, word) in [
        ("websocket-bench.1", "websocket\\-bench"),
        ("websocket-bench-broadcast.1", "limit\\-rtt"),
        ("websocket-bench-echo.1", "sample\\-size"),
    ] {
        let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(text.starts_with(".ie") || text.contains(".TH"), "{page}");
        assert!(text.contains(word), "{word} in {page}");
    }
    // A folder that is missing is made, where one can be.
    let missing = folder.path().join("missing/man1");
    run(&format!("man {}", missing.display())).exits(0);
    assert!(missing.join("websocket-bench.1").exists());
    std::fs::write(folder.path().join("file"), "").unwrap();
    run(&format!("man {}/file/man1", folder.path().display()))
        .exits(1)
        .says_in_one_line(&["cannot write man pages to", "file/man1"]);
}
