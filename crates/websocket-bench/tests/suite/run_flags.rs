//! `run PLAN` with flags of messages and connections, and plans that name a dialect file.

use crate::lines::{self, write};
use crate::support::{assert_valid, bench, finish, honest, no_listener, run, url};
use plan::Dialect;
use std::fs;
use std::net::TcpStream;
use std::path::Path;

const PLAN: &str = r#"
audience = "sender"

[clients.steps]
first = 4
count = 1

[load.closed]
in_flight = 4
samples = 100

[connection]
headers = ["X-Kept: plan", "x-tenant: plan"]
cookies = ["a=plan"]

[limits]
time = "20s"
"#;

const OWN: &str = r#"
name = "own"
summary = "Lines with a word of their own."

[send]
echo = "say {stamp} {padding}"

[[receive]]
means = "echo"
pattern = "say {stamp} {padding}"
example = "say {stamp} {padding}"
"#;

const SECRET: &str = "Kx82nvQ0";

/// A plan in a folder of its own.
fn plan(folder: &Path, more: &str) -> String {
    let path = folder.join("plan.toml");
    fs::write(&path, format!("{PLAN}{more}")).unwrap();
    path.display().to_string()
}

#[test]
fn flags_take_the_place_of_what_the_plan_says() {
    let folder = tempfile::tempdir().unwrap();
    let heads: &'static std::sync::Mutex<Vec<String>> = Box::leak(Box::default());
    let server = lines::start_guarded(
        |head| {
            heads.lock().unwrap().push(head.to_owned());
            true
        },
        || |line: &str, client: &TcpStream| write(client, line),
    );
    let (json, token, rows) = ("run.json", "token.txt", "rows.csv");
    fs::write(folder.path().join(token), format!("{SECRET}\n")).unwrap();
    fs::write(folder.path().join(rows), "name\nann\n").unwrap();
    let path = plan(folder.path(), "");
    let ran = finish(
        bench()
            .current_dir(folder.path())
            .args(["run", &path, &format!("ws://{server}/{{name}}")])
            .args([
                "--server-type",
                "lines",
                "--bearer-file",
                token,
                "--data",
                rows,
            ])
            .args([
                "-H",
                "X-Tenant: flag",
                "--cookie",
                "b=flag",
                "--query",
                "q=1",
            ])
            .args(["--origin", "http://flag/", "--json", json]),
    )
    .exits(0);
    let heads = heads.lock().unwrap();
    assert!(
        heads[0].starts_with("GET /ann?q=1 HTTP/1.1\r\n"),
        "{heads:?}"
    );
    for line in [
        "X-Kept: plan",
        "X-Tenant: flag",
        &format!("Authorization: Bearer {SECRET}"),
        "Cookie: a=plan; b=flag",
        "Origin: http://flag/",
    ] {
        assert!(
            heads[0].contains(&format!("\r\n{line}\r\n")),
            "{line} in {heads:?}"
        );
    }
    assert!(!heads[0].contains("x-tenant"), "{heads:?}");
    let record = assert_valid(&folder.path().join(json));
    let said = &record.plan.connection;
    assert_eq!(
        said.headers,
        [
            "X-Kept: plan",
            "X-Tenant: flag",
            &format!("Authorization: Bearer file:{token}")
        ]
    );
    assert_eq!(record.plan.message.dialect, Dialect::File);
    let text = fs::read_to_string(folder.path().join(json)).unwrap();
    assert!(!text.contains(SECRET) && !ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET));
}

#[test]
fn a_plan_is_printed_with_what_flags_say_and_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let path = plan(folder.path(), "");
    let ran = finish(
        bench()
            .args(["run", &path, "wss://h/", "--print-plan"])
            .args([
                "--subprotocol",
                "v2",
                "--ca",
                "ca.pem",
                "--sni",
                "name.example",
                "-H",
                &format!("Authorization: Bearer {SECRET}"),
            ]),
    )
    .exits(0);
    for words in [
        "subprotocols = [\"v2\"]",
        "ca.pem\"",
        "server_name = \"name.example\"",
    ] {
        assert!(ran.stdout.contains(words), "{words} in {}", ran.stdout);
    }
    assert!(!ran.stdout.contains(SECRET), "{}", ran.stdout);
    let ran = run(&format!("run {path} ws://h/ --ca x.pem")).exits(1);
    assert!(ran.stderr.contains("--ca is about TLS"), "{ran:#?}");
    let help = run("run --help").exits(0).stdout;
    for words in ["--dialect", "--server-type", "-H", "override the plan"] {
        let plain = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain.contains(words), "{words} in {help}");
    }
}

#[test]
fn a_plan_names_a_dialect_file_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml");
    fs::write(&own, OWN).unwrap();
    let server = lines::start(|| |line: &str, client: &TcpStream| write(client, line));
    let path = plan(folder.path(), "[message]\ndialect = \"./own.toml\"\n");
    let json = folder.path().join("run.json");
    // From another folder than that of the plan.
    run(&format!(
        "run {path} ws://{server}/ --json {}",
        json.display()
    ))
    .exits(0);
    let message = assert_valid(&json).plan.message;
    assert_eq!(
        message.definition.map(|file| file.name).as_deref(),
        Some("own")
    );

    let printed = run(&format!(
        "run {path} ws://{server}/ --set connection.cookies=[] --print-plan"
    ))
    .exits(0);
    let again = folder.path().join("again.toml");
    fs::write(&again, printed.stdout).unwrap();
    fs::remove_file(&own).unwrap();
    run(&format!("run {}", again.display())).exits(0);

    run(&format!("run {path} ws://{server}/ --server-type lines")).exits(0);
    run(&format!("run {path} ws://{server}/")).exits(1).says(&[
        "plan.toml, line 19: cannot read the dialect file",
        "own.toml: No such file",
    ]);
    fs::write(
        &own,
        OWN.replace("\"say {stamp} {padding}\"\n\n", "\"say {stamp}}}\"\n\n"),
    )
    .unwrap();
    run(&format!("run {path} ws://{server}/"))
        .exits(1)
        .says(&["plan.toml, line 19: `send.echo` carries no stamp"]);
    fs::write(&own, OWN.replace("summary", "sumary")).unwrap();
    run(&format!("run {path} ws://{server}/"))
        .exits(1)
        .says(&["own.toml, line 3: unknown key `sumary`; did you mean `summary`?"]);
}

#[test]
fn a_dialect_for_rooms_alone_needs_no_other_request() {
    let mut file = plan::built_in_dialect("text").unwrap().clone();
    (file.send.echo, file.send.broadcast) = (None, None);
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("rooms.toml"),
        toml::to_string(&file).unwrap(),
    )
    .unwrap();
    let server = honest();
    let text = "[clients.steps]\nfirst = 6\ncount = 1\n[load.closed]\nsamples = 50\n\
                [audience.room]\nmembers = 3\n[message]\ndialect = \"rooms.toml\"\n\
                [limits]\ntime = \"20s\"\n";
    let path = folder.path().join("plan.toml");
    fs::write(&path, text).unwrap();
    run(&format!("run {} {}", path.display(), url(server.addr()))).exits(0);
}

#[test]
fn a_long_template_goes_to_a_server_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prompt.toml");
    let prompt = "Say it again. ".repeat(100_000 / 14);
    fs::write(&path, OWN.replace("say ", &prompt)).unwrap();
    let json = folder.path().join("run.json");
    for more in ["", "--processes 2", "--io epoll"] {
        let server = lines::start(|| |line: &str, client: &TcpStream| write(client, line));
        run(&format!(
            "echo ws://{server}/ --dialect {} --step-size 4 --total-steps 1 -c 4 \
             --sample-size 60 --limit-rtt 20s {more} --json {}",
            path.display(),
            json.display()
        ))
        .exits(0);
        let record = assert_valid(&json);
        let received = record.steps[0].throughput.as_ref().unwrap().received_bytes;
        assert!(received > 60 * 100_000 - 60 * 14, "{received}");
    }
}

#[test]
fn the_path_of_socket_io_is_filled_in_and_said() {
    let words = "gets that of Socket.IO: ws://h:7/socket.io/?EIO=4&transport=websocket";
    for url in ["ws://h:7", "ws://h:7/"] {
        let ran = run(&format!("echo {url} --server-type socketio --print-plan")).exits(0);
        assert!(ran.stderr.contains(words), "{ran:#?}");
        assert!(
            ran.stdout
                .contains("/socket.io/?EIO=4&transport=websocket\""),
            "{ran:#?}"
        );
    }
    for arguments in [
        "ws://h:7/x --server-type socketio",
        "ws://h:7/ --server-type json",
    ] {
        let ran = run(&format!("echo {arguments} --print-plan")).exits(0);
        assert!(!ran.stderr.contains("Socket.IO"), "{ran:#?}");
    }
}

#[test]
fn what_a_built_in_dialect_has_not_is_no_call_to_write_rules() {
    let addr = no_listener();
    let ran = run(&format!("broadcast ws://{addr}/ --server-type lines")).exits(1);
    assert!(
        ran.stderr.contains("is `lines`, which has no `broadcast`"),
        "{ran:#?}"
    );
    assert!(!ran.stderr.contains("write"), "{ran:#?}");
    let other = lines::start(|| |_: &str, client: &TcpStream| write(client, "nothing of it"));
    run(&format!(
        "echo ws://{other}/ --server-type lines --step-size 1"
    ))
    .exits(3)
    .says(&["expected was the text that was sent, as it was sent"]);
}

#[test]
fn a_refused_handshake_is_told_with_the_first_line_of_its_body() {
    let server = lines::start_guarded(|_| false, || |_: &str, _: &TcpStream| ());
    run(&format!("echo ws://{server}/ --step-size 1"))
        .exits(1)
        .says(&[
            "HTTP 401 Unauthorized (`no token, no entry`)",
            "wants authorization",
        ]);
}
