//! Secrets in settings of a plan, in what is pushed and shown of a run, and in arguments at the wrong
//! place.

use crate::front::{Front, Verdict};
use crate::metrics::started;
use crate::otlp::Collector;
use crate::raw_peer::{self, Script, frame};
use crate::shared::Process;
use crate::support::{Ran, bench, dialect_file, finish, free_addr, honest, url};
use crate::worker_process::Worker;
use std::path::Path;
use ws_proto::{CloseFrame, Opcode};

const SECRET: &str = "Kx82nvQ0";

#[test]
fn a_secret_of_a_setting_reaches_the_server_and_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let plan = "audience = \"sender\"\n[clients.steps]\nfirst = 2\ncount = 1\n\
                [load.closed]\nsamples = 20\n[limits]\ntime = \"20s\"\n";
    std::fs::write(at("plan.toml"), plan).unwrap();
    let server = Front::start(|_| Verdict::Pass(""));
    for setting in [
        "connection={headers=[\"Authorization: Bearer Kx82nvQ0\"]}",
        "connection . headers = [\"X-Auth-Key: Kx82nvQ0\"]",
        "connection.cookies=[\"a=Kx82nvQ0\"]",
        "connection.query=[\"room=Kx82nvQ0\"]",
        "connection.origin=\"https://u:Kx82nvQ0@h/?token=Kx82nvQ0\"",
    ] {
        let written = ["json", "events", "csv", "junit", "html"];
        for more in [&[][..], &["--processes", "2"], &["--print-plan"]] {
            let mut command = bench();
            command.arg("run").arg(at("plan.toml")).arg(server.url());
            command.args(["--set", setting, "-v"]).args(more);
            if more != ["--print-plan"] {
                for output in written {
                    command.arg(format!("--{output}")).arg(at(output));
                }
            }
            let ran = finish(&mut command).exits(0);
            assert!(!ran.stdout.contains(SECRET), "{setting}: {ran:#?}");
            assert!(!ran.stderr.contains(SECRET), "{setting}: {ran:#?}");
            for output in written {
                let text = std::fs::read_to_string(at(output)).unwrap();
                assert!(!text.contains(SECRET), "{setting}: {output}: {text}");
            }
            let is_run = more != ["--print-plan"];
            let seen: String = server.seen().into_iter().collect();
            assert!(!is_run || seen.contains(SECRET), "{setting}: {seen}");
        }
    }
}

#[test]
fn a_secret_at_a_wrong_place_is_in_no_message() {
    let url = "ws://u:Kx82nvQ0@127.0.0.1:1/?token=Kx82nvQ0";
    let http = "http://u:Kx82nvQ0@127.0.0.1:1/?token=Kx82nvQ0";
    for arguments in [
        &[url][..],
        &["run", url],
        &["run", "x.toml", url, url],
        &["compare", http],
        &["import", http],
        &["echo", "ws://h/", "--otlp", http],
        &["echo", "ws://h/", "--otlp", "https://u:Kx82nvQ0@h/"],
        &["echo", "ws://h/", "--json", http],
        &["echo", "ws://h/", "--data", http],
        &["echo", "ws://h/", "--proxy", "socks5://u:Kx82nvQ0@h:1"],
        &["echo", "ws://h/", "--subprotocol", "bad Kx82nvQ0"],
        &["echo", "ws://h/", "--header", "badKx82nvQ0"],
        &["echo", "ws://h/", "--cookie", "Kx82nvQ0"],
        &["throughput", url],
        &["scalability", url],
        &["connect", "ws://u:Kx82nvQ0@[::1"],
    ] {
        let ran = finish(bench().args(arguments));
        assert_ne!(ran.code, 0, "{arguments:?}");
        assert!(!ran.stdout.contains(SECRET), "{arguments:?}: {ran:#?}");
        assert!(!ran.stderr.contains(SECRET), "{arguments:?}: {ran:#?}");
    }
}

/// A token as long as those of workers have to be.
const TOKEN: &str = "Kx82nvQ0Kx82nvQ0ab";

#[track_caller]
fn assert_silent(ran: &Ran) {
    assert!(!ran.stdout.contains(SECRET), "{ran:#?}");
    assert!(!ran.stderr.contains(SECRET), "{ran:#?}");
}

#[test]
fn a_secret_in_the_place_of_its_file_or_variable_is_in_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.toml");
    std::fs::write(&empty, "").unwrap();
    let empty = empty.to_str().unwrap();
    let (plain, secure) = ("ws://127.0.0.1:9/", "wss://127.0.0.1:9/");
    let pem = "-----BEGIN PRIVATE KEY-----\nKx82nvQ0\n";
    let glued = format!("--client-key={pem}");
    let set = |list: &str| format!("connection.{list}=[\"a=env:{TOKEN}\"]");
    let (cookies, query) = (set("cookies"), set("query"));
    let variable = "the name of one, as in env:TOKEN";
    let file = "give the path of a file";
    let quotes = "contains a space in quotes";
    for (arguments, flag, remedy) in [
        (
            &["echo", plain, "--bearer-file", TOKEN][..],
            "--bearer-file",
            file,
        ),
        (
            &["echo", plain, "-H", "Authorization: Bearer env:Kx82nvQ0"],
            "connection.headers (--header) for `Authorization`",
            variable,
        ),
        (
            &["connect", plain, "-H", "X-A: file:Kx82nvQ0"],
            "connection.headers (--header) for `X-A`",
            file,
        ),
        (
            &["echo", plain, "--cookie", "a=env:Kx82nvQ0"],
            "connection.cookies (--cookie) for `a`",
            variable,
        ),
        (
            &[
                "broadcast",
                plain,
                "--query",
                "a=file:Kx82nvQ0",
                "--processes",
                "2",
            ],
            "connection.query (--query) for `a`",
            file,
        ),
        (
            &["run", empty, plain, "--set", &cookies],
            "connection.cookies (--cookie) for `a`",
            variable,
        ),
        (
            &["run", empty, plain, "--set", &query],
            "connection.query (--query) for `a`",
            variable,
        ),
        (&["worker", "--token-file", TOKEN], "--token-file", file),
        (
            &["echo", plain, "-w", "127.0.0.1:9", "--token-file", TOKEN],
            "--token-file",
            file,
        ),
        (
            &[
                "worker",
                "--tls-cert",
                empty,
                "--tls-key",
                TOKEN,
                "--tls-ca",
                empty,
            ],
            "--tls-key",
            file,
        ),
        (
            &["echo", secure, "--client-cert", empty, &glued],
            "connection.tls.client_key` (--client-key)",
            "give the path",
        ),
        (
            &["echo", secure, "--client-cert", empty, "--client-key", pem],
            "unexpected argument",
            quotes,
        ),
        (
            &["echo", "-H", "Authorization:", "Bearer", TOKEN, plain],
            "unexpected argument",
            quotes,
        ),
        (
            &["connect", plain, "--header", "Cookie:", "a=Kx82nvQ0"],
            "unexpected argument",
            quotes,
        ),
        (&["echo", "-H", "Authorization:", TOKEN], "the URL", quotes),
        (
            &["echo", "-H", "Authorization:", TOKEN, "--insecure"],
            "the URL",
            quotes,
        ),
        (
            &["run", "-H", "Authorization:", TOKEN, empty],
            "the plan",
            quotes,
        ),
        (
            &["echo", plain, "--metrics", "u:Kx82nvQ0@127.0.0.1:9"],
            "--metrics",
            "invalid socket address",
        ),
        (
            &["echo", plain, "--otlp", "u:Kx82nvQ0@127.0.0.1:9"],
            "--otlp",
            "expected http://HOST:PORT",
        ),
        (
            &["echo", plain, "--otlp", "http://127.0.0.1:9/Kx82nvQ0"],
            "--otlp",
            "without a user, a path and a query",
        ),
        (
            &["echo", plain, "--otlp", "http://127.0.0.1:9/?a=Kx82nvQ0"],
            "--otlp",
            "without a user, a path and a query",
        ),
    ] {
        let ran = finish(bench().args(arguments)).exits(1);
        assert_silent(&ran);
        ran.says(&[flag, remedy]);
        if ["echo", "broadcast", "connect", "run"].contains(&arguments[0]) {
            let printed = finish(bench().args(arguments).arg("--print-plan"));
            assert_silent(&printed);
        }
    }
}

/// Outputs of a run in a folder, with what it is called and with what collects its metrics.
fn outputs(folder: &Path) -> Vec<(&'static str, std::path::PathBuf)> {
    ["json", "events", "csv", "junit", "html"]
        .map(|output| (output, folder.join(output)))
        .to_vec()
}

#[track_caller]
fn assert_none_in(folder: &Path) {
    for (output, path) in outputs(folder) {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(!text.is_empty(), "{output}");
        assert!(!text.contains(SECRET), "{output}: {text}");
    }
}

#[test]
fn what_is_pushed_and_served_of_a_run_has_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    // Labels have the name of the workload.
    let text = "name = \"of ws://u:Kx82nvQ0@h/?token=Kx82nvQ0\"\naudience = \"sender\"\n\
                [connection]\nheaders = [\"Authorization: Bearer Kx82nvQ0\"]\n\
                query = [\"room=Kx82nvQ0\"]\n\
                [clients.steps]\nfirst = 2\ncount = 1\n\
                [load.open]\nrate = 20.0\nduration = \"2s\"\n[limits]\ntime = \"20s\"\n";
    std::fs::write(&plan, text).unwrap();
    let server = Front::start(|_| Verdict::Pass(""));
    let (collector, of_collector) = Collector::start(usize::MAX);
    let addr = free_addr();
    let mut command = bench();
    command.arg("run").arg(&plan).arg(server.url()).arg("-v");
    command.args(["--metrics", &addr.to_string()]);
    command.args(["--otlp", &format!("http://{of_collector}")]);
    for (output, path) in outputs(folder.path()) {
        command.arg(format!("--{output}")).arg(path);
    }
    let mut run = Process::start(&mut command);
    let served = started(addr);
    assert!(served.contains("workload=\"of ws://REDACTED@h"), "{served}");
    assert!(!served.contains(SECRET), "{served}");
    // The program waits until the end of the run has been read.
    run.says(&["waiting until the metrics are read once more"]);
    let served = started(addr);
    assert!(!served.contains(SECRET), "{served}");
    assert_silent(&run.end());
    assert_none_in(folder.path());
    let pushed = format!("{:?}", collector.pushes.lock().unwrap());
    assert!(pushed.contains("REDACTED@h"), "{pushed}");
    assert!(!pushed.contains(SECRET), "{pushed}");
    let seen: String = server.seen().into_iter().collect();
    assert!(seen.contains(SECRET), "{seen}");
}

#[test]
fn the_token_of_workers_is_in_no_output_of_either_side() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("token"), format!("{TOKEN}\n")).unwrap();
    std::fs::write(at("other"), format!("{TOKEN}cd\n")).unwrap();
    std::fs::write(at("short"), SECRET).unwrap();
    let server = honest();
    let worker = Worker::new(
        bench()
            .args(["worker", "-p", "0", "--token-file"])
            .arg(at("token")),
    );
    let through = |token: &str, more: &[&str]| {
        let mut command = bench();
        command.args(["echo", &url(server.addr()), "-s", "20", "-v"]);
        command.args([
            "--step-size",
            "2",
            "--total-steps",
            "1",
            "--limit-rtt",
            "20s",
        ]);
        command.args(["-w", &worker.addr.to_string(), "--token-file"]);
        finish(command.arg(at(token)).args(more))
    };
    let written: Vec<String> = outputs(folder.path())
        .into_iter()
        .flat_map(|(output, path)| [format!("--{output}"), path.display().to_string()])
        .collect();
    let written: Vec<&str> = written.iter().map(String::as_str).collect();
    let ran = through("token", &written).exits(0);
    assert_silent(&ran);
    assert_none_in(folder.path());
    assert_silent(&through("token", &["--print-plan"]).exits(0));
    for (token, words) in [
        ("other", "the token is not the one"),
        ("short", "fewer than 16"),
    ] {
        let ran = through(token, &[]).exits(1);
        assert_silent(&ran);
        ran.says(&[words]);
    }
    let mut process = worker.process;
    process.signal(libc::SIGTERM);
    let ended = process.end();
    assert_silent(&ended);
    ended.says(&["turned", "away", "the token is not the one"]);
}

/// A dialect whose clients are told a session, and repeat it.
const TELLS: &str = r#"
name = "tells"
summary = "Lines of text, and a session."

[open]

[[open.receive]]
means = "ready"
when = { "/hi" = true }
capture = { session = "/id" }

[send]
echo = "{session} {stamp}{padding}"

[[receive]]
means = "echo"
pattern = "echo {stamp}{padding}"
example = "echo {stamp}{padding}"
"#;

/// A dialect whose clients show a token in their first message.
const SHOWS: &str = r#"
name = "shows"
summary = "Lines of text, and a token."

[open]
send = '{"token":"Kx82nvQ0"}'

[[open.receive]]
means = "ready"
when = { "/hi" = true }

[send]
echo = "echo {stamp}{padding}"

[[receive]]
means = "echo"
pattern = "echo {stamp}{padding}"
example = "echo {stamp}{padding}"
"#;

#[test]
fn what_client_and_server_told_each_other_is_in_no_words_of_the_server() {
    for dialect in [TELLS, SHOWS] {
        is_in_no_words(dialect);
    }
}

#[track_caller]
fn is_in_no_words(dialect: &str) {
    let folder = tempfile::tempdir().unwrap();
    let dialect = dialect_file(folder.path(), dialect);
    let close = CloseFrame {
        code: 1008,
        reason: format!("not {SECRET}"),
    };
    let told = format!("{{\"hi\":true,\"id\":\"{SECRET}\"}}");
    let (addr, heard) = raw_peer::start(Script {
        greeting: frame(Opcode::Text, told.as_bytes()),
        reply: frame(Opcode::Close, &close.encode()),
        ..Script::default()
    });
    let mut command = bench();
    command.args([
        "echo",
        &format!("ws://{addr}/"),
        "--dialect",
        &dialect,
        "-v",
    ]);
    command.args(["--step-size", "1", "--total-steps", "1", "-s", "1"]);
    for (output, path) in outputs(folder.path()) {
        command.arg(format!("--{output}")).arg(path);
    }
    let ran = finish(&mut command);
    assert_silent(&ran);
    assert_none_in(folder.path());
    let record = std::fs::read_to_string(folder.path().join("json")).unwrap();
    assert!(record.contains("1008"), "{record}");
    assert!(heard.try_recv().is_ok());
}
