//! Connections as users have them: header lines, cookies, parameters, subprotocols, a row of a data
//! file for each client, names with addresses of their own, Unix sockets.

use crate::front::{Front, Verdict};
use crate::support::{Ran, bench, finish, record, run};
use crate::worker_process::Worker;
use std::collections::BTreeSet;
use std::path::Path;

const ONCE: [&str; 6] = [
    "--step-size",
    "6",
    "--total-steps",
    "1",
    "--limit-rtt",
    "20s",
];

/// `echo` with six clients and one step.
fn echo(url: &str, arguments: &[&str]) -> Ran {
    finish(
        bench()
            .args(["echo", url, "-s", "60"])
            .args(ONCE)
            .args(arguments),
    )
}

fn refused() -> Verdict {
    Verdict::Refuse("HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer\r\n\r\n".to_owned())
}

/// Lets in whoever names a user in its path and cookie, and shows the token of that user.
fn by_row(head: &str) -> Verdict {
    let between = |before: &str, after: &str| {
        let (_, rest) = head.split_once(before)?;
        Some(rest.split_once(after)?.0.to_owned())
    };
    let user = between("GET /ws/", "?").unwrap_or_default();
    let is_known = between("&t=", " HTTP") == Some(format!("t%2F{user}"))
        && between("Authorization: Bearer ", "\r\n") == Some(format!("t/{user}"))
        && between("Cookie: ", "\r\n") == Some(format!("s=t/{user}; fixed=1"));
    if is_known {
        Verdict::Pass("")
    } else {
        refused()
    }
}

fn rows(folder: &Path) -> String {
    let path = folder.join("users.csv");
    let rows: String = (0..6).map(|n| format!("u{n},ignored,t/u{n}\n")).collect();
    std::fs::write(&path, format!("user,other,token\n{rows}")).unwrap();
    path.display().to_string()
}

/// Users of the requests that came.
fn users(front: &Front) -> BTreeSet<String> {
    let user = |head: String| head.split(['/', '?']).nth(2).unwrap().to_owned();
    let heads = front.seen();
    assert_eq!(heads.len(), 6, "{heads:?}");
    heads.into_iter().map(user).collect()
}

const BY_ROW: [&str; 9] = [
    "--query",
    "t={token}",
    "-H",
    "Authorization: Bearer {token}",
    "--cookie",
    "s={token}",
    "--cookie",
    "fixed=1",
    "--data",
];

#[test]
fn each_client_shows_its_own_row_whatever_carries_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = rows(folder.path());
    let front = Front::start(by_row);
    let all: BTreeSet<String> = (0..6).map(|n| format!("u{n}")).collect();
    for more in [
        &["--io", "epoll", "--threads", "2"][..],
        &["--threads", "1"],
        &["--processes", "2", "--threads", "2"],
    ] {
        let url = format!("{}/{{user}}?a=b", front.url());
        let arguments = [&BY_ROW[..], &[&path], more].concat();
        echo(&url, &arguments).exits(0);
        assert_eq!(users(&front), all, "{more:?}");
    }
    let wrong = [&BY_ROW[..6], &["--data", &path]].concat();
    let ran = echo(&format!("{}/{{user}}?a=b", front.url()), &wrong).exits(1);
    ran.says_in_one_line(&[
        "HTTP 401",
        "wants authorization (Bearer)",
        "connection.headers (--bearer-file)",
    ]);
}

#[test]
fn a_plan_in_a_file_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    rows(folder.path());
    std::fs::write(folder.path().join("one"), "1\n").unwrap();
    let front = Front::start(by_row);
    let plan = folder.path().join("plan.toml");
    std::fs::write(
        &plan,
        "audience = \"sender\"\n[connection]\ndata = \"users.csv\"\nquery = [\"t={token}\"]\n\
         headers = [\"Authorization: Bearer {token}\"]\ncookies = [\"s={token}\", \"fixed=file:one\"]\n\
         [clients.steps]\nfirst = 6\ncount = 1\n[load.closed]\nsamples = 60\n\
         [limits]\ntime = \"20s\"\n",
    )
    .unwrap();
    let url = format!("{}/{{user}}?a=b", front.url());
    finish(bench().arg("run").arg(&plan).arg(&url)).exits(0);
    assert_eq!(users(&front).len(), 6);
    // What is printed is a plan too.
    let printed = finish(bench().arg("run").arg(&plan).args([&url, "--print-plan"])).exits(0);
    let again = folder.path().join("again.toml");
    std::fs::write(&again, printed.stdout).unwrap();
    finish(bench().arg("run").arg(&again)).exits(0);
    assert_eq!(users(&front).len(), 6);
}

#[test]
fn a_worker_elsewhere_has_its_own_copy_of_the_data_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = rows(folder.path());
    let copy = folder.path().join("copy.csv");
    std::fs::copy(&path, &copy).unwrap();
    let front = Front::start(|_| Verdict::Pass(""));
    let with_copy = Worker::start(&format!("--data {}", copy.display()));
    let without = Worker::start("");
    let through = |worker: &Worker, arguments: &[&str]| {
        let addr = worker.addr.to_string();
        let url = format!("{}/{{user}}?a=b", front.url());
        echo(&url, &[arguments, &["--data", &path, "-w", &addr]].concat())
    };
    let of_rows = ["-H", "Authorization: Bearer {token}"];
    through(&with_copy, &of_rows).exits(0);
    assert_eq!(users(&front).len(), 6);
    through(&without, &of_rows)
        .exits(1)
        .says(&["start that with --data FILE"]);
    for secret in [
        ["--cookie", "a=secret"],
        ["-H", "Authorization: Bearer env:PATH"],
    ] {
        through(&with_copy, &secret)
            .exits(1)
            .says_in_one_line(&["in clear text", "--tls-cert"]);
    }
    std::fs::write(&copy, "user,token\nu0,t\n").unwrap();
    through(&with_copy, &of_rows)
        .exits(1)
        .says(&["copy it again"]);
}

#[test]
fn what_cannot_stand_in_a_handshake_is_refused_in_one_line_without_its_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = rows(folder.path());
    for (arguments, words) in [
        (
            &["-H", "Upgrade: Kx82nvQ0"][..],
            &["connection.headers", "\"upgrade\""][..],
        ),
        (&["-H", "Kx82nvQ0"], &["`Name: value`"]),
        (
            &["-H", "X: a\r\nKx82nvQ0: b"],
            &["connection.headers", "on one line"],
        ),
        (&["-H", "Origin: http://Kx82nvQ0"], &["--origin"]),
        (
            &["-H", "Authorization: env:Kx82nvQ0"],
            &["connection.headers (--header)", "is not set", "env:TOKEN"],
        ),
        (
            &["--bearer-file", "/nonexistent/Kx82nvQ0"],
            &["--bearer-file", "No such file", "the path of a file"],
        ),
        (
            &["--cookie", "Kx82nvQ0"],
            &["connection.cookies", "`name=value`"],
        ),
        (
            &["--query", "Kx82nvQ0"],
            &["connection.query", "`name=value`"],
        ),
        (
            &["--subprotocol", "a b"],
            &["connection.subprotocols", "token"],
        ),
        (
            &["--resolve", "h:80"],
            &["target.resolve", "HOST:PORT:ADDRESS"],
        ),
        (
            &["--resolve", "h:80:127.0.0.1"],
            &["target.resolve (--resolve) h:80", "is not used"],
        ),
        (&["--proxy", "https://u:Kx82nvQ0@h"], &["target.proxy"]),
        (&["--sni", "h"], &["--sni", "not a wss:// URL"]),
        (
            &["--unix", "/nonexistent/socket"],
            &["/nonexistent/socket", "is the server running"],
        ),
        (
            &["--unix", "/etc/passwd"],
            &["/etc/passwd", "it is no socket"],
        ),
        (
            &["--unix", "/tmp/x", "-l", "127.0.0.1"],
            &["target.unix_socket", "-l"],
        ),
        (
            &["--unix", "/tmp/x", "--timestamps", "kernel"],
            &["--timestamps kernel", "Unix socket"],
        ),
        (
            &["-H", "X: {token}"],
            &["connection.headers", "{token}", "--data"],
        ),
        (
            &["-H", "X: {tokn}", "--data", &path],
            &["users.csv, line 1", "`tokn`", "`user`, `other`, `token`"],
        ),
        (&["--data", "/nonexistent.csv"], &["/nonexistent.csv"]),
        (
            &["--subprotocol", "a{token}", "--data", &path],
            &["users.csv, line 2", "`token`", "subprotocol"],
        ),
    ] {
        let ran = echo("ws://127.0.0.1:9/", arguments).exits(1);
        assert!(!ran.stderr.contains("Kx82nvQ0"), "{ran:#?}");
        ran.says_in_one_line(words);
    }
}

#[test]
fn a_server_must_choose_one_of_the_subprotocols() {
    let chooses = Front::start(|head| {
        assert!(
            head.contains("\r\nSec-WebSocket-Protocol: v2, v1\r\n"),
            "{head}"
        );
        Verdict::Pass("Sec-WebSocket-Protocol: v1\r\n")
    });
    let asked = ["--subprotocol", "v2", "--subprotocol", "v1"];
    echo(&chooses.url(), &asked).exits(0);
    for (answer, got) in [
        ("", "`none`"),
        ("Sec-WebSocket-Protocol: \x1b[2Jv3\r\n", "`\\x1b[2Jv3`"),
    ] {
        let other = Front::start(move |_| Verdict::Pass(answer));
        let ran = echo(&other.url(), &asked).exits(1);
        assert!(!ran.stderr.contains('\x1b'), "{ran:?}");
        if answer.is_empty() {
            ran.says_in_one_line(&["chose the subprotocol", got, "`v2, v1`", "--subprotocol"]);
        }
    }
}

#[test]
fn a_name_has_the_address_that_is_given_and_the_host_that_is_said() {
    let front = Front::start(|_| Verdict::Pass(""));
    let port = front.addr.port();
    let url = format!("ws://Chat.Invalid:{port}/ws");
    let resolve = format!("chat.invalid:{port}:127.0.0.1");
    echo(&url, &["--resolve", &resolve]).exits(0);
    let heads = front.seen();
    assert!(
        heads[0].contains(&format!("\r\nHost: chat.invalid:{port}\r\n")),
        "{heads:?}"
    );
    echo(&url, &["--resolve", &resolve, "-H", "Host: other"]).exits(0);
    assert!(front.seen()[0].contains("\r\nHost: other\r\n"));
}

#[test]
fn a_user_in_the_url_and_a_token_in_a_file_are_shown_to_the_server() {
    let front = Front::start(|_| Verdict::Pass(""));
    let url = front.url().replace("ws://", "ws://me:p%40ss@");
    echo(&url, &[]).exits(0);
    assert!(front.seen()[0].contains("\r\nAuthorization: Basic bWU6cEBzcw==\r\n"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "t0{ken}\nmore\n").unwrap();
    echo(&front.url(), &["--bearer-file", path.to_str().unwrap()]).exits(0);
    assert!(front.seen()[0].contains("\r\nAuthorization: Bearer t0{ken}\r\n"));
}

#[test]
fn a_unix_socket_is_a_way_to_the_server_on_both_backends_and_in_processes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let front = Front::on_unix(&path);
    let path = path.to_str().unwrap();
    for more in [&["--io", "epoll"][..], &[], &["--processes", "2"]] {
        let json = folder.path().join("run.json");
        let arguments = [&["--unix", path, "--json", json.to_str().unwrap()], more].concat();
        echo("ws://localhost/ws", &arguments).exits(0);
        assert_eq!(record(&json).steps[0].samples, 60);
        let heads = front.seen();
        assert_eq!(heads.len(), 6);
        assert!(heads[0].contains("\r\nHost: localhost\r\n"), "{heads:?}");
    }
    // The socket of a server that has ended stays behind it.
    let dead = folder.path().join("dead");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    run(&format!(
        "echo ws://localhost/ws --unix {} --total-steps 1 --limit-rtt 20s",
        dead.display()
    ))
    .exits(1)
    .says_in_one_line(&["refused the connection", "dead"]);
}
