//! Servers that close clients which are silent, whatever the clients are there for.

use crate::lines;
use crate::support::{Ran, assert_valid, bench, dialect_file, finish, only_step, run};
use plan::{DialectFile, built_in_dialect};
use record::{End, Faults, Heartbeats, RunRecord, StepRecord};
use std::fs;
use std::net::TcpStream;
use std::time::Duration;
use test_servers::Framework;
use test_servers::oracle::{Oracle, OracleOptions, Strikes, Told};

/// Clients are silent for longer than this in every run but for their heartbeats.
pub(crate) const SILENCE: Duration = Duration::from_secs(2);
pub(crate) const NEVER: u64 = 1 << 40;

/// `name` of `dialects/`, with heartbeats as often as the server of a test wants them.
fn often(name: &str) -> DialectFile {
    let mut file = built_in_dialect(name).unwrap().clone();
    if let Some(beat) = &mut file.heartbeat {
        beat.every = "400ms".to_owned();
    }
    file
}

/// The text dialect with a heartbeat that says whose it is.
pub(crate) fn text() -> DialectFile {
    let mut file = often("text");
    let more: DialectFile = toml::from_str(
        r#"
        name = "more"
        summary = "Heartbeats."
        [heartbeat]
        every = "400ms"
        jitter = 0.5
        send = '{"type":"heartbeat","client":{n}}'
        [send]
        [[receive]]
        means = "heartbeat"
        when = { "/type" = "heard" }
        "#,
    )
    .unwrap();
    file.heartbeat = more.heartbeat;
    file.receive.extend(more.receive);
    file
}

/// Carries out a plan with this dialect, and the lines of `--set` besides.
pub(crate) fn measured(
    options: OracleOptions,
    file: &DialectFile,
    plan: &str,
    more: &[&str],
) -> (RunRecord, Told) {
    let (_, record, told) = carried_out(options, file, plan, more);
    (record, told)
}

/// The same, with what the program printed.
pub(crate) fn carried_out(
    options: OracleOptions,
    file: &DialectFile,
    plan: &str,
    more: &[&str],
) -> (Ran, RunRecord, Told) {
    let server = Oracle::start(options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let within = |name: &str| folder.path().join(name);
    fs::write(within("dialect.toml"), toml::to_string(file).unwrap()).unwrap();
    fs::write(within("plan.toml"), plan).unwrap();
    let names: String = (0..1_000).map(|n| format!("{n}\n")).collect();
    fs::write(within("data.csv"), format!("n\n{names}")).unwrap();
    let path = match options.framework {
        Framework::Phoenix => "socket/websocket?vsn=2.0.0",
        _ => "ws",
    };
    let mut command = bench();
    command.arg("run").arg(within("plan.toml"));
    command.arg(format!("ws://{}/{path}", server.addr()));
    command.arg("--dialect").arg(within("dialect.toml"));
    command.args(["--set", "connection.query=[\"n={n}\"]"]);
    command.arg("--data").arg(within("data.csv"));
    let json = within("run.json");
    let ran = finish(command.args(more).arg("--json").arg(&json));
    assert!(json.exists(), "{ran:#?}");
    let record = assert_valid(&json);
    (ran, record, server.told())
}

pub(crate) fn only(record: &RunRecord) -> (&StepRecord, &Heartbeats) {
    let step = only_step(record);
    (step, step.heartbeats.as_ref().unwrap())
}

/// 500 clients, most of which ask nothing.
pub(crate) const MANY: &str = r#"
    audience = "sender"
    [clients.steps]
    first = 500
    count = 1
    [connection]
    at_once = 50
    timeout = "60s"
    [load.open]
    rate = 40.0
    duration = "5s"
    [limits]
    time = "20s"
    sample_timeout = "25s"
"#;

#[test]
fn five_hundred_silent_clients_are_kept_and_one_loss_is_counted_beside_them() {
    let options = OracleOptions {
        framework: Framework::Phoenix,
        silence: Some(SILENCE),
        lost: Strikes {
            every: NEVER,
            first: 100,
        },
        unheard: Strikes {
            every: NEVER,
            first: 700,
        },
        ..OracleOptions::default()
    };
    let (record, told) = measured(options, &often("phoenix-2"), MANY, &[]);
    let (step, beats) = only(&record);
    let one = Faults {
        lost: 1,
        ..Faults::default()
    };
    assert_eq!((step.clients, step.faults), (500, one));
    assert_eq!(told.silenced, []);
    assert_eq!(told.unheard, 1);
    // Those that were sent after the end of the step are in no record.
    assert!(
        beats.sent > 500 && beats.sent <= told.beats,
        "{beats:?} {}",
        told.beats
    );
    assert!(beats.answered > 500 && beats.unanswered >= 1, "{beats:?}");
    assert!(beats.answered + beats.unanswered <= beats.sent, "{beats:?}");
    assert_eq!(beats.round_trip.as_ref().unwrap().count, beats.answered);
    // Heartbeats are no requests.
    let throughput = step.throughput.as_ref().unwrap();
    assert_eq!(throughput.sent, told.asked.len() as u64);
}

#[test]
fn without_heartbeats_such_a_server_closes_all_of_them() {
    let options = OracleOptions {
        framework: Framework::Phoenix,
        silence: Some(Duration::from_millis(500)),
        ..OracleOptions::default()
    };
    let mut file = often("phoenix-2");
    file.heartbeat = None;
    file.receive
        .retain(|rule| rule.means != plan::Meaning::Heartbeat);
    let plan = MANY.replace("first = 500", "first = 20");
    let (record, told) = measured(options, &file, &plan, &[]);
    assert_eq!(told.silenced.len(), 20);
    let [step] = &record.steps[..] else {
        panic!("{record:#?}");
    };
    assert_eq!(step.faults.disconnected, 20, "{}", step.faults);
    assert_eq!(step.heartbeats, None);
}

#[test]
fn clients_beat_whatever_they_do() {
    const FEW: &str = r#"
        [clients.steps]
        first = 12
        count = 1
        [limits]
        time = "20s"
        sample_timeout = "25s"
    "#;
    const OPEN: &str = "[load.open]\nrate = 10.0\nduration = \"4s\"\n";
    let rooms = "audience = { room = { equal = 2 } }\n";
    let life = |life: &str| format!("[[populations]]\n[[populations]]\nlife = {life}\n");
    let comes = life(r#"{ comes_and_goes = { stays = "2500ms", away = "100ms" } }"#);
    let changes = life(r#"{ changes_room = { stays = "300ms", away = "50ms" } }"#);
    let stopped = "[[populations]]\n[[populations]]\nreads = \"stopped\"\n";
    let held = "[load.connect]\nhold = \"4s\"\nping_interval = \"20s\"\nping_timeout = \"20s\"\n";
    for (plan, more) in [
        (format!("audience = \"sender\"\n{FEW}{held}"), &[][..]),
        (format!("{FEW}{OPEN}"), &["--processes", "2"]),
        (
            format!("{rooms}{FEW}{OPEN}{changes}"),
            &["--set", "generator.threads=2"],
        ),
        (
            format!("{FEW}{OPEN}{comes}"),
            &["--set", "generator.io=epoll"],
        ),
        (
            format!("{FEW}{OPEN}{stopped}"),
            &["--set", "connection.compression={}"],
        ),
    ] {
        let options = OracleOptions {
            silence: Some(SILENCE),
            members_only: true,
            ..OracleOptions::default()
        };
        let (record, told) = measured(options, &text(), &plan, more);
        let (step, beats) = only(&record);
        assert!(step.faults.is_empty(), "{plan} {}", step.faults);
        assert_eq!(record.outcome.end, End::StepsDone, "{plan}");
        assert_eq!((told.silenced.len(), told.wrong_beats), (0, 0), "{plan}");
        assert!(beats.sent >= 12, "{plan} {beats:?}");
        assert!(
            beats.answered + beats.unanswered <= beats.sent,
            "{plan} {beats:?}"
        );
    }
}

const TOLD: &str = r#"
name = "told"
summary = "A server that says how often it wants to hear of its clients."

[open]
send = "hi"

[[open.receive]]
means = "ready"
when = { "/hello" = { is = ["present"] } }
capture = { interval = "/hello" }

[heartbeat]
every = "{interval}ms"
send = "beat {client}"

[send]
echo = '{"echo":{payload}}'

[[receive]]
means = "heartbeat"
text = "heard"

[[receive]]
means = "echo"
when = { "/echo" = { is = ["object"] } }
payload = "/echo"
example = '{"echo":{payload}}'
"#;

#[test]
fn the_server_says_how_often_and_one_that_says_nonsense_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = dialect_file(folder.path(), TOLD);
    let json = folder.path().join("run.json");
    for (hello, words) in [
        ("50", None),
        (
            "0",
            Some("it said 0 for `interval`, the time between two heartbeats"),
        ),
        (
            "9e9",
            Some("it said 9000000000.0 for `interval`, the time between two heartbeats"),
        ),
    ] {
        let addr = lines::start(move || {
            move |line: &str, client: &TcpStream| match line {
                "hi" => lines::write(client, &format!("{{\"hello\":{hello}}}")),
                line if line.starts_with("beat ") => lines::write(client, "heard"),
                line => lines::write(client, line),
            }
        });
        let ran = run(&format!(
            "echo ws://{addr}/ --dialect {file} --initial-clients 4 --total-steps 1 --rate 20 --duration 1s \
             --json {}",
            json.display()
        ));
        match words {
            Some(words) => assert!(ran.stderr.contains(words), "{hello}: {ran:#?}"),
            None => {
                let record = assert_valid(&json);
                let beats = record.steps[0].heartbeats.as_ref().unwrap();
                assert!(beats.sent > 4 && beats.answered > 4, "{beats:?}");
            }
        }
    }
}

#[test]
fn wrong_uses_are_refused_with_the_place_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to, words) in [
        (
            "\"{interval}ms\"",
            "\"0s\"",
            "`heartbeat.every` is 0s; write a time from 10ms to 1day",
        ),
        ("{client}", "{token}", "message.definition.heartbeat"),
    ] {
        let file = dialect_file(folder.path(), &TOLD.replace(from, to));
        let ran = run(&format!("echo ws://127.0.0.1:1/ --dialect {file}"));
        assert!(ran.stderr.contains(words), "{ran:#?}");
        assert_eq!(ran.code, 1, "{ran:#?}");
    }
}
