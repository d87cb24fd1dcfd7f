//! No secret of a URL is written or printed.

use crate::front::{Front, Verdict};
use crate::raw_peer::{self, Script, frame};
use crate::support::{Ran, bench, faulty_server, finish, honest, no_listener, run};
use std::path::Path;
use test_servers::fault::Fault;
use ws_proto::{CloseFrame, Opcode};

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
const WAYS: [&[&str]; 16] = [
    &["--origin", "https://u:Kx82nvQ0@h/?token=Kx82nvQ0"],
    &["-H=Authorization: Kx82nvQ0 rest"],
    &["-H", "X-Auth-Key: Kx82nvQ0"],
    &["-H", "X-Short: Kx82", "--cookie", "a=Kx82nvQ0"],
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
        "target=Kx82nvQ0",
        "connection=Kx82nvQ0",
        "connection={headers=Kx82nvQ0}",
        "connection={headers=\"Kx82nvQ0\"}",
        "connection . headers = \"Kx82nvQ0\"",
        "connection.heders=[\"Kx82nvQ0\"]",
        "tokn=Kx82nvQ0",
        "conection.headers=[\"Kx82nvQ0\"]",
        "'connection'.\"headers\"=\"Kx82nvQ0\"",
        "connection={'headers'=[{x=\"Kx82nvQ0\"}]}",
        "connection.subprotocols=\"Kx82nvQ0\"",
        "connection.origin=[\"Kx82nvQ0\"]",
        "message={definition=\"Kx82nvQ0\"}",
        "target.url=\"ws:u:Kx82nvQ0/Kx82nvQ0@h\"",
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
    for secret in [SECRET, OTHER] {
        assert!(!ran.stdout.contains(secret), "{ran:#?}");
        assert!(!ran.stderr.contains(secret), "{ran:#?}");
        for file in files {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            assert!(!text.contains(secret), "{}: {text}", file.display());
        }
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

/// A secret that no plan has: only the URL that it stands in shows that it is one.
const OTHER: &str = "Zq17mmLw";

/// What a server tells of both.
fn told() -> String {
    format!("no {SECRET}? ws://u:{OTHER}@h/?token={OTHER}")
}

/// A way to get the words of a server into each text of a record, and the key of that text.
struct Telling {
    plan: &'static str,
    /// The key of the text, or the end of the run that has it.
    key: &'static str,
    judge: fn(&Told, &str) -> Verdict,
}

/// How many requests have come.
type Told = std::sync::atomic::AtomicU32;

fn refuses_after(told: &Told, most: u32) -> Verdict {
    match told.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < most {
        true => Verdict::Pass(""),
        false => Verdict::Refuse(format!(
            "HTTP/1.1 302 Found\r\nLocation: ws://u:{OTHER}@h/?token={OTHER}&x={SECRET}\r\n\r\n"
        )),
    }
}

#[test]
fn what_a_server_tells_clients_of_a_secret_is_in_no_output() {
    for telling in [
        Telling {
            plan: "audience = \"everyone\"\n[[populations]]\n[[populations]]\n\
                   life = { comes_and_goes = { stays = \"100ms\", away = \"10ms\" } }\n\
                   reconnect = { first = \"10ms\", most = \"10ms\" }\n\
                   [clients.steps]\nfirst = 21\ncount = 1\n\
                   [load.open]\nrate = 100.0\nduration = \"2s\"\n",
            key: "\"first_failure\": \"",
            judge: |told, _| refuses_after(told, 21),
        },
        Telling {
            plan: "audience = \"sender\"\n[clients.steps]\nfirst = 4\ncount = 1\n[load.connect]\nhold = \"100ms\"\n\
                   ping_interval = \"100ms\"\n",
            key: "\"first_failure\": \"",
            judge: |told, _| refuses_after(told, 2),
        },
        Telling {
            plan: "audience = \"sender\"\n[clients.steps]\nfirst = 2\ncount = 1\n",
            key: "\"end\": \"connect-failed\"",
            judge: |told, _| refuses_after(told, 0),
        },
    ] {
        let count = std::sync::Arc::new(Told::new(0));
        let judge = telling.judge;
        let server = Front::start(move |head| judge(&count, head));
        let plan = format!(
            "{}[connection]\nquery = [\"x={SECRET}\"]\n[limits]\ntime = \"20s\"\n",
            telling.plan
        );
        let text = written_of(&plan, &server.url());
        assert!(text.contains(telling.key), "{}: {text}", telling.key);
        assert!(text.contains("302"), "{text}");
    }
}

/// Carries out a plan with every output, none of which has the secret; the record.
#[track_caller]
fn written_of(plan: &str, url: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("plan.toml"), plan).unwrap();
    let written = [
        ("--json", at("run.json")),
        ("--events", at("events.jsonl")),
        ("--csv", at("run.csv")),
        ("--junit", at("run.xml")),
        ("--html", at("run.html")),
    ];
    let mut command = bench();
    command.arg("run").arg(at("plan.toml")).arg(url).arg("-v");
    for (flag, path) in &written {
        command.arg(flag).arg(path);
    }
    let ran = finish(&mut command);
    assert_keeps_quiet(&ran, &written.each_ref().map(|(_, path)| path.as_path()));
    std::fs::read_to_string(at("run.json")).unwrap_or_else(|error| panic!("{error}: {ran:#?}"))
}

#[test]
fn what_a_server_says_in_a_close_or_a_message_is_in_no_output() {
    let close = CloseFrame {
        code: 1008,
        reason: told(),
    };
    let slow = "[[populations]]\n[[populations]]\nreads = \"stopped\"\n";
    let refusal = format!(r#"{{"type":"error","payload":"{}"}}"#, told());
    for (bytes, more, words) in [
        (frame(Opcode::Text, refusal.as_bytes()), "", "first refusal"),
        (frame(Opcode::Close, &close.encode()), "", "1008"),
        (frame(Opcode::Text, told().as_bytes()), "", "malformed"),
        (frame(Opcode::Close, &close.encode()), slow, "1008"),
    ] {
        let (addr, _heard) = raw_peer::start(Script {
            reply: bytes,
            ..Script::default()
        });
        let audience = if more.is_empty() {
            "sender"
        } else {
            "everyone"
        };
        let plan = format!(
            "audience = \"{audience}\"\n{more}[clients.steps]\nfirst = 2\ncount = 1\n\
             [connection]\nquery = [\"x={SECRET}\"]\n\
             [limits]\ntime = \"1s\"\nsample_timeout = \"2s\"\n"
        );
        let text = written_of(&plan, &format!("ws://{addr}/ws"));
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_a_server_says_while_messages_are_watched_is_in_no_output() {
    let refusal = format!(r#"{{"type":"error","payload":"{}"}}"#, told());
    for (text, words) in [(told(), "first malformed"), (refusal, "first refusal")] {
        let (addr, _heard) = raw_peer::start(Script {
            reply: frame(Opcode::Text, text.as_bytes()),
            ..Script::default()
        });
        let plan = format!(
            "audience = \"everyone\"\n[clients.steps]\nfirst = 2\ncount = 1\n\
             [load.watch]\nrate = 10.0\nduration = \"500ms\"\npatience = \"500ms\"\n\
             [connection]\nquery = [\"x={SECRET}\"]\n"
        );
        let text = written_of(&plan, &format!("ws://{addr}/ws"));
        assert!(text.contains(words), "{words}: {text}");
    }
}
