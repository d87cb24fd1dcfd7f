//! Answers that come in parts: a subscription of GraphQL by its own library, and small servers that leave
//! out, repeat and overtake parts.

use crate::dialects::{Server, relay};
use crate::lines::{self, write};
use crate::support::{Ran, dialect_file, only_step, run, run_dialect_at, run_with_dialect};
use record::{Faults, RunRecord, StepRecord, Streams};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const WORDS: &str = r#"
name = "words"
summary = "A subscription of GraphQL is asked for eight words, which come one by one."
subprotocol = "graphql-transport-ws"

[open]
send = '{"type":"connection_init"}'

[[open.receive]]
means = "ready"
when = { "/type" = "connection_ack" }

[send]
echo = '{"id":"{stamp}","type":"subscribe","payload":{"query":"subscription {{ words(count: 8) {{ index text }}"}}'

[[receive]]
means = "progress"
when = { "/type" = "next", "/payload/data/words" = { is = ["object"] } }
stamp = "/id"
part = "/payload/data/words/index"
example = '{"id":"{stamp}","type":"next","payload":{"data":{"words":{"index":1,"text":"word"}}}}'

[[receive]]
means = "echo"
when = { "/type" = "complete" }
stamp = "/id"
example = '{"id":"{stamp}","type":"complete"}'
"#;

const MANY: &str = r#"
audience = "sender"
[clients.steps]
first = 500
count = 1
[connection]
at_once = 50
timeout = "60s"
[load.closed]
in_flight = 40
samples = 1000
[limits]
time = "14s"
sample_timeout = "15s"
"#;

/// The only step of a run.
#[track_caller]
fn only(record: &RunRecord) -> (&StepRecord, &Streams) {
    let step = only_step(record);
    (step, step.streams.as_deref().unwrap())
}

fn addr_of(url: &str) -> SocketAddr {
    url.split('/').nth(2).unwrap().parse().unwrap()
}

/// The words of 500 clients, where number `nth` with the mark is left out between server and clients.
fn left_out(server: &Server, mark: &'static [u8], nth: u64) -> (Ran, RunRecord) {
    let (between, _) = relay::leaving_out(addr_of(&server.url), mark, None, nth);
    run_dialect_at(WORDS, &format!("ws://{between}/graphql"), MANY, "")
}

#[test]
fn five_hundred_clients_follow_subscriptions_of_graphql_and_one_loss_is_counted_once() {
    let server = Server::start("words.js", &[]);
    let (ran, record) = run_dialect_at(WORDS, &server.url, MANY, "");
    assert_eq!(ran.code, 0, "{ran:#?}");
    let (step, of) = only(&record);
    assert_eq!((step.clients, step.samples), (500, 1000));
    assert_eq!((of.answers, of.parts), (1000, 8000));
    assert_eq!((of.cut, of.unfinished), (0, 0));
    let each = of.per_answer.unwrap();
    assert_eq!((each.min, each.max), (8, 8));
    assert_eq!(of.first.as_ref().unwrap().count, 1000);
    assert_eq!(of.between.as_ref().unwrap().count, 7000);
    let (first, last) = (
        of.first.as_ref().unwrap(),
        step.completion.as_ref().unwrap(),
    );
    assert!(first.max_ns <= last.max_ns && first.p50_ns < last.p50_ns);
    assert!(of.per_second.unwrap().median > 0.0);
    assert!(
        ran.stdout.contains("parts        8000 of 1000 answers"),
        "{ran:#?}"
    );

    let one = Faults {
        lost: 1,
        ..Faults::default()
    };
    // A word in the middle of an answer, of which all others come.
    let (ran, record) = left_out(&server, br#""index":4"#, 500);
    let (step, of) = only(&record);
    assert_eq!(
        (ran.code, step.faults, step.samples),
        (3, one, 1000),
        "{ran:#?}"
    );
    assert_eq!((of.numbers.missing, of.parts), (1, 7999));
    assert!(ran.stdout.contains("faulty parts 1 missing"), "{ran:#?}");
    // The last message of an answer, whose words have all come.
    let (_, record) = left_out(&server, br#""complete""#, 500);
    let (step, of) = only(&record);
    assert_eq!(
        (step.faults, of.unfinished, of.numbers.missing),
        (one, 1, 0)
    );
}

const PARTS: &str = r#"
name = "parts"
summary = "Answers in three parts, which are counted."

[send]
echo = '{"ask":"{stamp}"}'

[[receive]]
means = "progress"
when = { "/part" = { is = ["number"] } }
stamp = "/of"
part = "/part"
example = '{"of":"{stamp}","part":0}'

[[receive]]
means = "echo"
when = { "/parts" = { is = ["number"] } }
stamp = "/of"
parts = "/parts"
example = '{"of":"{stamp}","parts":3}'
"#;

const FEW: &str = r#"
audience = "sender"
[clients.steps]
first = 4
count = 1
[load.closed]
in_flight = 4
samples = 40
[limits]
time = "20s"
"#;

/// A server that gives the 20th request of all these parts, and then this count; others get 0, 1 and 2.
fn server(parts: &'static [u64], count: u64) -> SocketAddr {
    let asked = Arc::new(AtomicU64::new(0));
    lines::start(move || {
        let asked = Arc::clone(&asked);
        move |line: &str, client: &TcpStream| {
            let of = &line[8..24];
            let is_wrong = asked.fetch_add(1, Ordering::SeqCst) == 19;
            let (parts, count) = if is_wrong {
                (parts, count)
            } else {
                (&[0, 1, 2][..], 3)
            };
            for part in parts {
                write(client, &format!(r#"{{"of":"{of}","part":{part}}}"#));
            }
            write(client, &format!(r#"{{"of":"{of}","parts":{count}}}"#));
        }
    })
}

#[track_caller]
fn finds(parts: &'static [u64], count: u64, due: Faults) {
    let (ran, record) = run_with_dialect(PARTS, server(parts, count), FEW, "");
    let (step, of) = only(&record);
    assert_eq!((step.faults, step.samples), (due, 40), "{parts:?}");
    let of_numbers = of.numbers.faults();
    assert_eq!(of_numbers, due, "{parts:?}");
    assert_eq!(ran.code, if due.is_empty() { 0 } else { 3 }, "{ran:#?}");
    if !due.is_empty() {
        assert!(ran.stderr.contains("leave out `part`"), "{ran:#?}");
    }
}

#[test]
fn each_wrong_part_is_one_fault() {
    let lost = |lost| Faults {
        lost,
        ..Faults::default()
    };
    let duplicate = |duplicate| Faults {
        duplicate,
        ..Faults::default()
    };
    let none = Faults::default();
    finds(&[0, 1, 2], 3, none);
    finds(&[1, 2, 3], 3, none);
    finds(&[0, 2], 3, lost(1));
    // The last of its parts is known to be missing by the count alone.
    finds(&[0, 1], 3, lost(1));
    finds(&[], 3, lost(3));
    finds(&[3], 3, lost(2));
    finds(&[0, 1, 1, 2], 3, duplicate(1));
    finds(&[0, 1, 2, 3], 3, duplicate(1));
    let late = Faults {
        reordered: 1,
        ..none
    };
    finds(&[0, 2, 1], 3, late);
}

#[test]
fn a_part_that_no_client_awaits_is_a_fault_and_a_cut_answer_is_told() {
    let finds = |second: fn(&str, &TcpStream)| {
        let asked = Arc::new(AtomicU64::new(0));
        let addr = lines::start(move || {
            let asked = Arc::clone(&asked);
            move |line: &str, client: &TcpStream| {
                let of = &line[8..24];
                write(client, &format!(r#"{{"of":"{of}","part":1}}"#));
                if asked.fetch_add(1, Ordering::SeqCst) == 19 {
                    second(of, client);
                }
                write(client, &format!(r#"{{"of":"{of}","parts":1}}"#));
            }
        });
        // One at a time, so that no other request is lost with a connection.
        let (_, record) = run_with_dialect(PARTS, addr, FEW, "--set load.closed.in_flight=1");
        let (step, of) = only(&record);
        (step.faults, of.clone())
    };
    let (faults, of) = finds(|of, client| {
        write(client, &format!(r#"{{"of":"{of}","parts":1}}"#));
        write(client, &format!(r#"{{"of":"{of}","part":2}}"#));
    });
    // The part, and the answer that follows it once more.
    assert_eq!((faults.duplicate, faults.total()), (2, 2));
    assert_eq!(of.numbers.unawaited, 1);
    let (faults, of) = finds(|_, client| write(client, r#"{"of":"0123456789abcdef","part":1}"#));
    assert_eq!((faults.misdirected, faults.total()), (1, 1));
    assert_eq!(of.numbers.unawaited, 1);
    let (faults, of) = finds(|_, client| {
        let _ = client.shutdown(std::net::Shutdown::Both);
    });
    assert_eq!((faults.lost, faults.disconnected), (1, 1));
    assert_eq!((of.cut, of.unfinished), (1, 0));
}

#[test]
fn the_figures_of_threads_and_processes_are_put_together_and_stand_in_every_output() {
    for more in ["--set generator.threads=2", "--processes 2"] {
        let (ran, record) = run_with_dialect(PARTS, server(&[0, 1, 2], 3), FEW, more);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let (_, of) = only(&record);
        assert_eq!((of.answers, of.parts), (40, 120), "{more}");
        assert_eq!(of.first.as_ref().unwrap().count, 40);
        assert_eq!(of.between.as_ref().unwrap().count, 80);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let file = dialect_file(folder.path(), PARTS);
    let ran = run(&format!(
        "echo ws://{}/ --dialect {file} --initial-clients 2 --total-steps 1 --sample-size 20 \
         --limit-rtt 20s --csv {} --html {} --expect first.p95<60s --expect between.max<60s",
        server(&[0, 1, 2], 3),
        path("run.csv"),
        path("run.html"),
    ));
    assert_eq!(ran.code, 0, "{ran:#?}");
    let table = std::fs::read_to_string(path("run.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let names = rows.headers().unwrap().clone();
    let row = rows.records().next().unwrap().unwrap();
    let field = |name: &str| row[names.iter().position(|of| of == name).unwrap()].to_owned();
    assert_eq!(field("parts_parts"), "60");
    assert_eq!(field("parts_first_count"), "20");
    assert_eq!(field("dialogues_begun"), "");
    let page = std::fs::read_to_string(path("run.html")).unwrap();
    assert!(page.contains("Answers in parts"), "{page}");

    let refused = run(&format!(
        "echo ws://{}/ --dialect {file} --expect dialogue.p95<60s",
        server(&[], 0)
    ));
    assert_eq!(refused.code, 1, "{refused:#?}");
    assert!(
        refused.stderr.contains("there are no dialogues"),
        "{refused:#?}"
    );
}

#[test]
fn parts_belong_to_the_oldest_request_where_nothing_says_whose_they_are() {
    let file = r#"
name = "tokens"
summary = "Tokens without a name."

[send]
echo = "{stamp}"

[[receive]]
means = "progress"
pattern = "token {part} {any}"
in_order = true
example = "token 1 word"

[[receive]]
means = "echo"
pattern = "end {parts}"
in_order = true
example = "end 2"
"#;
    let addr = lines::start(|| {
        |_: &str, client: &TcpStream| {
            write(client, "token 1 a");
            write(client, "token 2 b");
            write(client, "end 2");
        }
    });
    let (ran, record) = run_with_dialect(file, addr, FEW, "");
    assert_eq!(ran.code, 0, "{ran:#?}");
    let (step, of) = only(&record);
    assert_eq!((of.answers, of.parts, step.faults.total()), (40, 80, 0));
}

#[test]
fn what_comes_in_the_warm_up_is_in_no_figure() {
    let open = FEW.replace(
        "[load.closed]\nin_flight = 4\nsamples = 40\n",
        "[load.open]\nrate = 40.0\narrivals = \"constant\"\nduration = \"1s\"\nwarm_up = \"500ms\"\n",
    );
    assert_ne!(open, FEW);
    let (ran, record) = run_with_dialect(PARTS, server(&[0, 1, 2], 3), &open, "");
    assert_eq!(ran.code, 0, "{ran:#?}");
    let (step, of) = only(&record);
    assert_eq!((step.samples, of.answers, of.parts), (40, 40, 120));
}
