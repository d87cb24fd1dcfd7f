//! No secret of a URL is written or printed.

use crate::front::{Front, Verdict};
use crate::support::{Ran, bench, faulty_server, finish, honest, no_listener, run};
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
            "broadcast {url} --step-size 2 --total-steps 1 --limit-rtt 20s --json {}",
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

/// Every way to give a secret, with the canary in it; `ROWS` and `TOKEN` are files that hold it.
const WAYS: [&[&str]; 12] = [
    &["-H", "Authorization: Bearer Kx82nvQ0"],
    &["-HAuthorization:Kx82nvQ0"],
    &["-H", "Cookie: a=Kx82nvQ0"],
    &["--header=X-Auth-Token: Kx82nvQ0"],
    &["--cookie", "a=Kx82nvQ0"],
    &["--query", "room=Kx82nvQ0"],
    &["--bearer-file", "TOKEN"],
    &["-H", "Authorization: Bearer env:CANARY"],
    &["--cookie", "a={t}", "--data", "ROWS"],
    &["--query", "room={t}", "--data", "ROWS"],
    &["-H", "X-Plain: {t}", "--data", "ROWS"],
    &["--proxy", "http://me:Kx82nvQ0@PROXY"],
];

/// A plan that says nothing of messages and connections.
const BARE: &str = "audience = \"sender\"\n[clients.steps]\nfirst = 2\ncount = 1\n\
                    [load.closed]\nsamples = 20\n[limits]\ntime = \"20s\"\n";

/// What a server does that was given the canary.
fn tells_back(head: &str) -> Verdict {
    match head.split_once(SECRET) {
        Some(_) => Verdict::Refuse(format!(
            "HTTP/1.1 302 {SECRET}\r\nLocation: http://h/?back={SECRET}\r\n\r\nnot {SECRET}\n"
        )),
        None => Verdict::Pass(""),
    }
}

#[test]
fn a_canary_reaches_the_server_and_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("token"), format!("{SECRET}\n")).unwrap();
    std::fs::write(at("rows.csv"), format!("t\n{SECRET}\n")).unwrap();
    let (takes, tells) = (
        Front::start(|_| Verdict::Pass("")),
        Front::start(tells_back),
    );
    let proxy = Front::before(takes.addr, |_| Verdict::Tunnel("HTTP/1.1 200 OK\r\n\r\n"));
    for way in WAYS {
        let fill = |text: &&str| {
            text.replace("TOKEN", at("token").to_str().unwrap())
                .replace("ROWS", at("rows.csv").to_str().unwrap())
                .replace("PROXY", &proxy.addr.to_string())
        };
        let way: Vec<String> = way.iter().map(fill).collect();
        let has_proxy = way[0] == "--proxy";
        let command = |url: &str, more: &[&str]| {
            let mut command = bench();
            command
                .env("CANARY", SECRET)
                .args(["echo", url, "-s", "20"]);
            command.args([
                "--step-size",
                "2",
                "--total-steps",
                "1",
                "--limit-rtt",
                "20s",
                "-v",
            ]);
            finish(command.args(&way).args(more))
        };
        let written = [
            ("--json", at("run.json")),
            ("--events", at("events.jsonl")),
            ("--csv", at("run.csv")),
            ("--junit", at("run.xml")),
            ("--html", at("run.html")),
        ];
        let outputs: Vec<&str> = written
            .iter()
            .flat_map(|(flag, path)| [flag, path.to_str().unwrap()])
            .collect();
        let files = written.each_ref().map(|(_, path)| path.as_path());
        for more in [&[][..], &["--processes", "2"]] {
            let ran = command(&takes.url(), &[&outputs[..], more].concat()).exits(0);
            assert_keeps_quiet(&ran, &files);
            let seen = takes
                .seen()
                .into_iter()
                .chain(proxy.seen())
                .collect::<String>();
            assert!(has_proxy || seen.contains(SECRET), "{way:?}: {seen}");
        }
        let printed = command(&takes.url(), &["--print-plan"]);
        assert_keeps_quiet(&printed, &[]);
        let plan = at("bare.toml");
        std::fs::write(&plan, BARE).unwrap();
        let mut over_plan = bench();
        over_plan.env("CANARY", SECRET).arg("run").arg(&plan);
        let over_plan = over_plan.arg(takes.url()).args(&way).args(&outputs);
        assert_keeps_quiet(&finish(over_plan).exits(0), &files);
        let seen = takes.seen().into_iter().chain(proxy.seen());
        let seen = seen.collect::<String>();
        assert!(has_proxy || seen.contains(SECRET), "{way:?}: {seen}");
        if !has_proxy {
            let refused = command(&tells.url(), &outputs).exits(1);
            assert!(refused.stderr.contains("HTTP 302"), "{refused:?}");
            assert_keeps_quiet(&refused, &files);
        }
    }
    for setting in [
        "connection.headers=Kx82nvQ0",
        "connection.headers=[\"Kx82nvQ0",
        "connection.headers=[\"Upgrade: Kx82nvQ0\"]",
        "connection.cookies=[[\"Kx82nvQ0\"]]",
        "connection.query=[5, \"Kx82nvQ0\"]",
        "target.proxy=[\"Kx82nvQ0\"]",
    ] {
        let plan = at("plan.toml");
        std::fs::write(&plan, "").unwrap();
        let command = bench()
            .arg("run")
            .arg(&plan)
            .args(["ws://h/", "--set", setting])
            .output();
        let output = command.unwrap();
        assert_eq!(output.status.code(), Some(1), "{setting}");
        assert!(
            !String::from_utf8(output.stderr).unwrap().contains(SECRET),
            "{setting}"
        );
    }
}

#[track_caller]
fn assert_keeps_quiet(ran: &Ran, files: &[&Path]) {
    assert!(!ran.stdout.contains(SECRET), "{ran:#?}");
    assert!(!ran.stderr.contains(SECRET), "{ran:#?}");
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        assert!(!text.contains(SECRET), "{}: {text}", file.display());
    }
}

#[test]
fn a_printed_plan_without_its_secrets_is_refused_and_says_what_to_give() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    for (way, words) in [
        (
            &["ws://h/", "-H", "Authorization: Bearer x"][..],
            "env:NAME or file:PATH",
        ),
        (&["ws://h/?token=x"], "REDACTED in the place of a secret"),
        (&["ws://u:p@h/"], "REDACTED in the place of a secret"),
    ] {
        let printed = finish(bench().arg("echo").args(way).arg("--print-plan")).exits(0);
        std::fs::write(&plan, printed.stdout).unwrap();
        let again = finish(bench().arg("run").arg(&plan)).exits(1);
        again.says_in_one_line(&[words]);
    }
}
