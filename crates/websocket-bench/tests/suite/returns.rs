//! What the sender of a broadcast or a publication gets: its own copy or none, a result or none. Each
//! against a server that does so, and against those that do not.

use crate::lines::{self, write};
use crate::support::{Ran, run_with_dialect};
use record::{End, Faults, RunRecord, StepRecord};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a sender gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Returns {
    copy: bool,
    result: bool,
}

const ALL: [Returns; 4] = [
    of(true, true),
    of(true, false),
    of(false, true),
    of(false, false),
];

const fn of(copy: bool, result: bool) -> Returns {
    Returns { copy, result }
}

/// A file that says so.
fn dialect(says: Returns) -> String {
    let mut text = r#"
name = "chat"
summary = "What one says, the others hear."

[[open.receive]]
means = "subscribed"
when = { "/joined" = { is = ["string"] } }
topic = "/joined"

[send]
broadcast = '{"say":{payload}}'
publish = '{"to":"{topic}","say":{payload}}'
subscribe = '{"join":"{topic}"}'
KEYS

[[receive]]
means = "message"
when = { "/to" = { is = ["string"] }, "/say" = { is = ["object"] } }
topic = "/to"
payload = "/say"
example = '{"to":"{topic}","say":{payload}}'

[[receive]]
means = "delivery"
when = { "/say" = { is = ["object"] } }
payload = "/say"
example = '{"say":{payload}}'
"#
    .replace(
        "KEYS",
        match says {
            Returns {
                copy: true,
                result: true,
            } => "",
            Returns {
                copy: true,
                result: false,
            } => "acknowledged = false",
            Returns {
                copy: false,
                result: true,
            } => "reaches_sender = false\nacknowledged = true",
            Returns {
                copy: false,
                result: false,
            } => "reaches_sender = false",
        },
    );
    for means in ["result", "published"].into_iter().filter(|_| says.result) {
        write!(
            text,
            "\n[[receive]]\nmeans = \"{means}\"\nwhen = {{ \"/IS\" = {{ is = [\"object\"] }} }}\n\
             payload = \"/IS\"\nexample = '{{\"IS\":{{payload}}}}'\n"
        )
        .unwrap();
        text = text.replace("IS", means);
    }
    text
}

#[derive(Default)]
struct Chat {
    /// By the port of a client: its socket and its room.
    members: Mutex<HashMap<u16, (TcpStream, String)>>,
    deliveries: AtomicU64,
    copies: AtomicU64,
    results: AtomicU64,
}

/// Which messages are left out.
#[derive(Clone, Copy, Debug)]
enum Leaves {
    Nothing,
    /// The delivery of this number, from 0 on.
    Delivery(u64),
    /// One copy to a sender in so many.
    Copies(u64),
    /// One result in so many.
    Results(u64),
}

/// A server that tells all in the room of a client, and the client itself as `returns` says.
fn chat(returns: Returns, leaves: Leaves) -> SocketAddr {
    let chat: &'static Chat = Box::leak(Box::default());
    let port = |client: &TcpStream| client.peer_addr().map_or(0, |addr| addr.port());
    lines::start_with(
        move |client| {
            let member = (client.try_clone().unwrap(), String::new());
            chat.members.lock().unwrap().insert(port(client), member);
        },
        move || {
            move |line: &str, client: &TcpStream| {
                let mut members = chat.members.lock().unwrap();
                let own = port(client);
                if let Some(room) = line.strip_prefix(r#"{"join":""#) {
                    let room = room.trim_end_matches("\"}").to_owned();
                    write(client, &format!(r#"{{"joined":"{room}"}}"#));
                    members.get_mut(&own).unwrap().1 = room;
                    return;
                }
                let to = line
                    .split('"')
                    .nth(3)
                    .filter(|_| line.starts_with("{\"to\""));
                let room = to.unwrap_or_default();
                let is_in = |member: &(TcpStream, String)| member.1 == room;
                for (of, member) in members.iter().filter(|(_, member)| is_in(member)) {
                    let mut is_left_out = false;
                    if *of == own {
                        if !returns.copy {
                            continue;
                        }
                        let number = chat.copies.fetch_add(1, Ordering::SeqCst);
                        is_left_out |= matches!(leaves, Leaves::Copies(one_in) if number.is_multiple_of(one_in));
                    }
                    let number = chat.deliveries.fetch_add(1, Ordering::SeqCst);
                    is_left_out |= matches!(leaves, Leaves::Delivery(nth) if number == nth);
                    if !is_left_out {
                        write(&member.0, line);
                    }
                }
                let number = chat.results.fetch_add(1, Ordering::SeqCst);
                let is_left_out =
                    matches!(leaves, Leaves::Results(one_in) if number.is_multiple_of(one_in));
                if returns.result && !is_left_out {
                    let key = if to.is_some() { "published" } else { "result" };
                    let payload = line.split_once("\"say\":").unwrap().1;
                    write(client, &format!("{{\"{key}\":{payload}"));
                }
            }
        },
    )
}

/// Runs a plan with a dialect that says so.
fn carry_out(says: Returns, server: SocketAddr, plan: &str, more: &str) -> (Ran, RunRecord) {
    run_with_dialect(&dialect(says), server, plan, more)
}

fn closed(clients: u32, in_flight: u32, samples: u32, seconds: u32) -> String {
    format!(
        "[clients.steps]\nfirst = {clients}\ncount = 1\n[load.closed]\nin_flight = {in_flight}\n\
         samples = {samples}\n[limits]\ntime = \"{}s\"\nsample_timeout = \"{seconds}s\"\n",
        seconds - 1
    )
}

fn counts(step: &StepRecord) -> (u64, u64) {
    let count = |of: &Option<record::Latency>| of.as_ref().map_or(0, |of| of.count);
    (count(&step.delivery), count(&step.ack))
}

#[test]
fn with_500_clients_each_kind_is_whole_and_one_loss_is_counted_once() {
    for kind in [of(true, false), of(false, true)] {
        let plan = closed(500, 4, 10, 60);
        let (ran, record) = carry_out(kind, chat(kind, Leaves::Nothing), &plan, "");
        ran.exits(0);
        let step = &record.steps[0];
        let hearers = 499 + u64::from(kind.copy);
        assert_eq!(
            counts(step),
            (10 * hearers, 10 * u64::from(kind.result)),
            "{kind:?}"
        );
        assert_eq!(step.samples, 10);

        // One at a time, so that no other is under way when the run gives the one up.
        let plan = closed(500, 1, 10, 10);
        let (ran, record) = carry_out(kind, chat(kind, Leaves::Delivery(777)), &plan, "");
        ran.exits(3).says(&["1 lost", "[[open.receive]]"]);
        let one = Faults {
            lost: 1,
            ..Faults::default()
        };
        assert_eq!(record.faults(), one, "{kind:?}");
    }
}

#[test]
fn each_kind_goes_with_rooms_processes_lives_and_the_clock() {
    let leaving = "[[populations]]\n[[populations]]\n\
                   life = { comes_and_goes = { stays = \"300ms\", away = \"50ms\" } }\n";
    let open = "[clients.steps]\nfirst = 20\ncount = 1\n[load.open]\nrate = 100\nduration = \"1s\"\n\
                [limits]\ntime = \"20s\"\nsample_timeout = \"60s\"\n";
    for kind in ALL {
        for (plan, more) in [
            (closed(20, 4, 60, 60), "--processes 2"),
            (closed(20, 4, 60, 60), "--set generator.threads=2"),
            (
                format!("[audience.room]\nmembers = 4\n{}", closed(20, 4, 60, 60)),
                "--processes 2",
            ),
            // In most rooms the sender is the only client.
            (
                format!("[audience.room]\nequal = 15\n{}", closed(20, 4, 60, 60)),
                "--set generator.threads=2",
            ),
            (open.to_owned(), "--processes 2"),
            (format!("{leaving}{open}"), ""),
            (
                format!("[audience.room]\nmembers = 5\n{leaving}{open}"),
                "--set generator.threads=2",
            ),
        ] {
            let (ran, record) = carry_out(kind, chat(kind, Leaves::Nothing), &plan, more);
            ran.exits(0);
            let step = &record.steps[0];
            let samples = step.samples;
            assert_eq!(
                record.faults(),
                Faults::default(),
                "{kind:?} {more}\n{plan}"
            );
            assert!(samples >= 60, "{kind:?} {more}\n{plan}");
            assert_eq!(
                counts(step).1,
                samples * u64::from(kind.result),
                "{kind:?} {more}\n{plan}"
            );
        }
    }
}

#[test]
fn a_file_and_a_server_of_two_kinds_disagree_and_what_to_write_is_named() {
    for says in ALL {
        for does in ALL.into_iter().filter(|does| *does != says) {
            for more in ["", "--processes 2"] {
                let plan = closed(6, 5, 60, 3);
                let (ran, record) = carry_out(says, chat(does, Leaves::Nothing), &plan, more);
                let context = format!("{says:?} {does:?} {more}");
                assert_eq!(
                    record.outcome.end,
                    End::DialectContradicted,
                    "{context}: {ran:#?}"
                );
                let write = format!(
                    "write `reaches_sender = {}` and `acknowledged = {}` under [send]",
                    does.copy, does.result
                );
                let ran = ran
                    .exits(1)
                    .says(&["the dialect file and the server disagree", &write]);
                assert!(!ran.stderr.contains("at fault"), "{context}: {ran:#?}");
            }
        }
    }
}

#[test]
fn some_copies_and_results_that_are_left_out_are_faults_and_are_counted() {
    let open = "[clients.steps]\nfirst = 5\ncount = 1\n[load.open]\nrate = 100\nduration = \"500ms\"\n\
                [limits]\ntime = \"2s\"\nsample_timeout = \"10s\"\n";
    for (kind, leaves, key) in [
        (of(true, false), Leaves::Copies(5), "[[open.receive]]"),
        (
            of(false, true),
            Leaves::Results(5),
            "`acknowledged = false`",
        ),
    ] {
        let (ran, record) = carry_out(kind, chat(kind, leaves), open, "");
        let left_out = record.steps[0].throughput.unwrap().sent.div_ceil(5);
        let faults = match leaves {
            Leaves::Copies(_) => Faults {
                lost: left_out,
                ..Faults::default()
            },
            _ => Faults {
                unanswered: left_out,
                ..Faults::default()
            },
        };
        assert_eq!(record.faults(), faults, "{kind:?}");
        ran.exits(3)
            .says(&["the server or the dialect file is at fault", key]);
    }
}
