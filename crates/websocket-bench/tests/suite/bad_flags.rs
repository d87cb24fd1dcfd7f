//! Arguments that make no run: exit code 1, before anything is connected.

use crate::support::{bench, finish, no_listener, run, url};

#[test]
fn flags_out_of_range_name_the_flag_the_value_and_the_range() {
    let url = url(no_listener());
    for (flags, words) in [
        ("-c 0", ["--concurrent", "'0'", "1..=1000000"]),
        (
            "--sample-size -3",
            ["--sample-size", "-3", "unexpected argument"],
        ),
        (
            "--sample-size=-3",
            ["--sample-size", "'-3'", "1..=100000000"],
        ),
        ("--step-size 0", ["--step-size", "'0'", "1..=10000000"]),
        (
            "--initial-clients 10000001",
            ["--initial-clients", "10000001", "1..=10000000"],
        ),
        ("--total-steps 0", ["--total-steps", "'0'", "not in 1"]),
        (
            "--payload-padding 16777217",
            ["--payload-padding", "16777217", "0..=16776192"],
        ),
        (
            "--limit-percentile 101",
            ["--limit-percentile", "'101'", "at most 100"],
        ),
        (
            "--limit-rtt 250",
            ["--limit-rtt", "'250'", "something like 250ms"],
        ),
        ("--limit-rtt 0s", ["--limit-rtt", "'0s'", "a time above 0"]),
        (
            "--server-type xml",
            ["--server-type", "'xml'", "json, binary, mqtt"],
        ),
        (
            "-l localhost",
            ["--local-addr", "'localhost'", "invalid IP address"],
        ),
        ("--expect fast", ["--expect", "'fast'", "e.g. p99<50ms"]),
        ("--threads 0", ["--threads", "'0'", "1..=1024"]),
        (
            "--conections 4",
            ["--conections", "unexpected argument", "--help"],
        ),
    ] {
        // The phrasing is clap's, who repeats a flag as it was typed when it knows none like it.
        let ran = run(&format!("broadcast {url} {flags}")).exits(1);
        let words: Vec<&str> = words
            .into_iter()
            .filter(|word| !(flags == "--sample-size -3" && *word == "--sample-size"))
            .collect();
        let ran = ran.says(&words);
        assert!(ran.stdout.is_empty(), "{ran:?}");
        assert!(ran.stderr.starts_with("error: "), "{ran:?}");
    }
}

#[test]
fn flags_that_contradict_one_another_are_named_together() {
    let addr = no_listener();
    for (arguments, words) in [
        (
            format!("ws://{addr}/ --limit-rtt 30s"),
            [
                "--limit-rtt 30s",
                "--sample-timeout 30s",
                "raise --sample-timeout",
            ],
        ),
        (
            format!("ws://{addr}/ --insecure"),
            ["--insecure", "not a wss:// URL", "about TLS"],
        ),
        (
            format!("ws://{addr}/ --ca x.pem"),
            ["--ca", "not a wss:// URL", "about TLS"],
        ),
        (
            format!("wss://{addr}/ --ca no.pem"),
            ["cannot read certificates", "no.pem", ""],
        ),
        (
            format!("ws://{addr}/ -l ::1"),
            ["source address ::1", "IPv6", "of the server's family"],
        ),
        (
            format!("ws://{addr}/ --json x --events x"),
            ["--json", "--events", "name two files"],
        ),
        (
            format!("ws://{addr}/ --json - --events -"),
            ["--json", "--events", "both write to stdout"],
        ),
    ] {
        run(&format!("broadcast {arguments}"))
            .exits(1)
            .says_in_one_line(&words);
    }
    run(&format!("broadcast wss://{addr}/ --insecure --ca x.pem"))
        .exits(1)
        .says(&["--insecure", "cannot be used with", "--ca"]);
}

#[test]
fn the_scheme_may_be_written_in_capitals() {
    run(&format!("broadcast WSS://{}/ --insecure", no_listener()))
        .exits(1)
        .says_in_one_line(&["refused the connection"]);
}

#[test]
fn urls_that_name_no_server_say_why() {
    for (url, words) in [
        (
            "nonsense",
            ["`nonsense` is not a URL", "ws://127.0.0.1:3334/ws"],
        ),
        (
            "ws://127.0.0.1:99999/",
            ["invalid port number", "ws://127.0.0.1:99999/"],
        ),
        (
            "http://127.0.0.1/",
            ["the scheme `http`", "use ws:// or wss://"],
        ),
        (
            "ws://no-such-host.invalid/",
            [
                "cannot resolve the host name `no-such-host.invalid`",
                "check its spelling",
            ],
        ),
    ] {
        run(&format!("broadcast {url}"))
            .exits(1)
            .says_in_one_line(&words);
    }
}

#[test]
fn an_origin_cannot_smuggle_headers_in() {
    for origin in ["http://x/\r\nX-Other: 1", ""] {
        finish(bench().args(["broadcast", &url(no_listener()), "--origin", origin]))
            .exits(1)
            .says(&["--origin", "on one line"]);
    }
}

#[test]
fn no_url_and_no_command_are_usage_errors() {
    run("broadcast").exits(1).says(&["<URL>", "--help"]);
    run("").exits(1).says(&["Usage: websocket-bench <COMMAND>"]);
    run("brodcast").exits(1).says(&["'brodcast'", "broadcast"]);
}
