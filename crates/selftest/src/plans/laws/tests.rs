//! Laws against reports that lie.

mod dialogues;
mod spread;

use super::super::run::Folder;
use super::*;
use plan::{
    Arrivals, Clients, ComesAndGoes, Connect, Cut, Life, Nanos, OpenLoop, Population, Rooms,
    Search, SearchOf,
};
use record::{
    Connections, CutRecord, Drops, Edge, Feed, FeedNumbers, Heartbeats, HttpRequests, HttpUse,
    PartNumbers, Pings, Streams,
};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use test_servers::oracle::{Fed, OracleOptions, Parts, Strikes};

static NEVER: AtomicBool = AtomicBool::new(false);

fn case() -> Case {
    let mut plan = Plan::new("ws://127.0.0.1:1/");
    plan.audience = Audience::Room(Rooms::Members(4));
    plan.clients = Clients::steps(20, 1, Some(1));
    plan.connection.query = vec!["n={n}".to_owned()];
    plan.message.padding = 64;
    plan.generator.threads = 2;
    let comes_and_goes = ComesAndGoes {
        stays: Nanos::millis(300),
        away: Nanos::millis(50),
    };
    plan.populations.push(Population {
        life: Life::ComesAndGoes(comes_and_goes),
        ..Population::default()
    });
    plan.load = Load::Open(OpenLoop {
        rate: 200.0,
        ramp: None,
        arrivals: Arrivals::Constant,
        duration: Nanos::secs(1),
        warm_up: Nanos(0),
    });
    plan.limits.sample_timeout = Nanos::secs(3);
    let strikes = |first| Strikes { every: 40, first };
    let server = OracleOptions {
        delay: Duration::from_millis(20),
        result: Duration::from_millis(60),
        members_only: true,
        lost: strikes(5),
        duplicate: strikes(6),
        corrupt: strikes(7),
        misdirected: strikes(8),
        unanswered: strikes(9),
        ..OracleOptions::default()
    };
    Case {
        plan,
        server,
        processes: 1,
        has_lines: false,
    }
}

/// The case with what its server knows and a report that is honest.
fn carried_out() -> (Case, Told, Reported) {
    carried_out_of(case)
}

/// A busy machine may be unable to carry a case, which holds a report to few laws, so it is carried out
/// again then.
fn carried_out_of(case: fn() -> Case) -> (Case, Told, Reported) {
    loop {
        let (case, told, reported) = attempt(case());
        if !reported.is_limited() {
            return (case, told, reported);
        }
    }
}

fn attempt(case: Case) -> (Case, Told, Reported) {
    let folder = Folder::new().unwrap();
    let server = folder.start(&case).unwrap();
    let plan = folder.plan(&case, &server);
    let measured = ws_load::run(&plan, &NEVER, &mut |_| {}).unwrap();
    let mut faults = Faults::default();
    measured
        .steps
        .iter()
        .for_each(|step| faults.merge(&step.faults));
    let reported = Reported {
        steps: measured.steps,
        outcome: measured.outcome,
        faults,
        exit: Some(3),
    };
    (case, server.told(), reported)
}

/// A change of what is reported, and a law that it breaks.
type Misreport = (&'static str, fn(&mut Reported));

#[test]
fn each_way_to_misreport_breaks_its_law() {
    let (case, told, honest) = carried_out();
    assert_eq!(broken(&case, &told, &honest), []);
    let changes: [Misreport; 12] = [
        ("samples that are whole", |of| of.steps[0].samples -= 1),
        ("requests that were sent", |of| {
            of.steps[0].throughput.as_mut().unwrap().sent += 1;
        }),
        ("lost to clients that samples wait for", |of| {
            of.faults.lost -= 1
        }),
        ("duplicates", |of| of.faults.duplicate = 0),
        ("corrupt messages", |of| of.faults.corrupt += 1_000),
        ("misdirected messages", |of| of.faults.misdirected = 0),
        ("unanswered requests", |of| of.faults.unanswered += 1),
        ("faults that nobody made", |of| of.faults.reordered = 1),
        ("messages that were checked", |of| {
            // More than the answers of openings of which it is open whether they were checked.
            of.steps[0].generator.messages -= 200
        }),
        ("completion", |of| {
            // As if the samples had been complete when they were sent.
            let mut earlier = Recorder::default();
            let latency = of.steps[0].completion.take().unwrap();
            earlier.record_n(4_000, latency.count);
            of.steps[0].completion = earlier.latency();
        }),
        ("connections that came again", |of| {
            of.steps[0].churn.as_mut().unwrap().reconnected += 1_000;
        }),
        ("the exit code", |of| of.exit = Some(0)),
    ];
    for (law, change) in changes {
        let mut wrong = honest.clone();
        change(&mut wrong);
        let laws = broken(&case, &told, &wrong);
        assert!(
            laws.iter().any(|broken| broken.law == law),
            "{law}: {laws:?}"
        );
    }
}

/// The same to everyone, by the binary dialect as a file in bytes.
fn case_in_bytes() -> Case {
    let mut case = case();
    case.plan.audience = Audience::Everyone;
    case.server.members_only = false;
    case.plan.message.dialect = plan::Dialect::File;
    let file = super::super::case::bytes::binary().clone();
    case.plan.message.definition = Some(Box::new(file));
    case
}

#[test]
fn a_report_of_messages_in_bytes_is_held_to_what_the_server_did() {
    let (case, told, honest) = carried_out_of(case_in_bytes);
    assert!(honest.faults.lost > 0 && honest.faults.corrupt > 0);
    assert_eq!(broken(&case, &told, &honest), []);
    for (law, change) in [
        (
            "lost to clients that samples wait for",
            (|of| of.faults.lost -= 1) as fn(&mut Reported),
        ),
        ("duplicates", |of| of.faults.duplicate = 0),
    ] {
        let mut wrong = honest.clone();
        change(&mut wrong);
        let laws = broken(&case, &told, &wrong);
        assert!(laws.iter().any(|of| of.law == law), "{law}: {laws:?}");
    }
}

#[test]
fn a_step_that_was_cut_off_for_this_machine_is_held_to_no_samples_whatever_its_verdict() {
    let (case, told, mut honest) = carried_out();
    honest.steps[0].samples -= 1;
    assert_ne!(broken(&case, &told, &honest), []);
    assert_eq!(honest.steps[0].verdict, Verdict::Fail);
    honest.outcome.end = End::GeneratorLimited;
    let laws = broken(&case, &told, &honest);
    assert!(
        laws.iter()
            .all(|broken| broken.law != "samples that are whole"),
        "{laws:?}"
    );
}

#[test]
fn what_the_server_wrote_after_a_step_was_given_up_may_be_lost() {
    let (case, mut told, mut honest) = carried_out();
    assert!(honest.steps[0].timed_out);
    honest.faults.lost += 1;
    let law = "lost to clients that samples wait for";
    let breaks = |told: &Told, reported: &Reported| {
        let laws = broken(&case, told, reported);
        laws.iter().any(|broken| broken.law == law)
    };
    assert!(breaks(&told, &honest));
    let due = told.asked[0].at_ns + case.plan.limits.sample_timeout.ns();
    let of_those = |client| *ws_load::population_of(&case.plan, client) == Population::default();
    let mut copies = told.asked.iter_mut().flat_map(|asked| &mut asked.copies);
    let copy = copies.find(|copy| copy.fate == Fate::Whole && copy.client.is_some_and(of_those));
    copy.unwrap().written_ns = Some(due);
    assert!(!breaks(&told, &honest));
}

#[test]
fn a_client_that_publishes_to_a_room_of_others_breaks_a_law() {
    let (case, mut told, honest) = carried_out();
    told.outsiders = 1;
    let laws = broken(&case, &told, &honest);
    assert_eq!(laws[0].law, "members publish");
}

/// The laws that a report of these steps breaks when no client has connected to the server.
fn laws_of(case: &Case, steps: Vec<StepRecord>, edge: Option<Edge>) -> Vec<&'static str> {
    laws_beside(&Told::default(), case, steps, edge)
}

fn laws_beside(
    told: &Told,
    case: &Case,
    steps: Vec<StepRecord>,
    edge: Option<Edge>,
) -> Vec<&'static str> {
    let outcome = Outcome {
        end: End::StepsDone,
        detail: "".into(),
        carried_clients: None,
        edge,
        unmeasured: Vec::new(),
    };
    let reported = Reported {
        steps,
        outcome,
        faults: Faults::default(),
        exit: Some(0),
    };
    let broken = broken(case, told, &reported);
    broken.iter().map(|broken| broken.law).collect()
}

#[test]
fn an_edge_beyond_what_the_server_is_comfortable_with_breaks_a_law() {
    let mut case = case();
    case.plan.clients = Clients::Search(Search::default());
    case.server.comfortable = Some(10);
    let laws = |passed, failed| {
        let edge = Edge {
            of: SearchOf::Clients,
            passed,
            failed,
        };
        laws_of(&case, Vec::new(), Some(edge))
    };
    let law = "the edge of a search";
    assert!(!laws(Some(10.0), Some(11.0)).contains(&law));
    for (passed, failed) in [(Some(11.0), Some(12.0)), (None, Some(10.0))] {
        assert!(laws(passed, failed).contains(&law), "{passed:?} {failed:?}");
    }
}

#[test]
fn a_storm_of_which_nobody_is_back_breaks_laws() {
    let mut case = case();
    case.plan.populations[1].life = Life::Cut(Cut {
        at: Nanos::millis(200),
    });
    let storm = |back| {
        let cut = CutRecord {
            clients: 10,
            back,
            ..CutRecord::default()
        };
        let churn = Churn {
            cut: Some(cut),
            ..Churn::default()
        };
        let step = StepRecord {
            clients: 20,
            churn: Some(Box::new(churn)),
            verdict: Verdict::Pass,
            ..StepRecord::default()
        };
        laws_of(&case, vec![step], None)
    };
    let (carried, back) = (
        "a storm is carried when all are back",
        "clients that were back after a cut",
    );
    let none = storm(0);
    assert!(none.contains(&carried) && !none.contains(&back), "{none:?}");
    let all = storm(10);
    assert!(all.contains(&carried) && all.contains(&back), "{all:?}");
}

#[test]
fn connections_that_were_never_opened_break_a_law() {
    let mut case = case();
    case.plan.load = Load::Connect(Connect::default());
    let laws = laws_of(&case, Vec::new(), None);
    assert!(!laws.contains(&"connections that were opened"), "{laws:?}");
    let step = StepRecord {
        connections: Some(Box::new(Connections {
            unasked_messages: 0,
            planned: 1,
            opened: 1,
            first_failure: None,
            opened_per_second: 1.0,
            tcp: None,
            held_ns: 1,
            pings: Pings::default(),
            drops: Drops::default(),
            server: None,
            server_unknown: None,
            generator: None,
            kernel: None,
        })),
        ..StepRecord::default()
    };
    let laws = laws_of(&case, vec![step], None);
    assert!(laws.contains(&"connections that were opened"), "{laws:?}");
}

#[test]
fn heartbeats_that_did_not_come_and_answers_that_are_wrong_break_a_law() {
    let step = |sent, answered| StepRecord {
        heartbeats: Some(Box::new(Heartbeats {
            sent,
            answered,
            ..Heartbeats::default()
        })),
        ..StepRecord::default()
    };
    let laws = laws_of(&case(), vec![step(3, 3)], None);
    assert!(laws.contains(&"heartbeats that came"), "{laws:?}");
    let laws = laws_of(&case(), vec![step(0, 1)], None);
    assert!(laws.contains(&"heartbeats that were answered"), "{laws:?}");

    let told = |change: fn(&mut Told)| {
        let mut told = Told::default();
        change(&mut told);
        laws_beside(&told, &case(), Vec::new(), None)
    };
    for (law, change) in [
        (
            "clients that were silent",
            (|of| of.silenced = vec![Some(0)]) as fn(&mut Told),
        ),
        ("heartbeats and answers that are wrong", |of| {
            of.wrong_beats = 1
        }),
        ("heartbeats and answers that are wrong", |of| {
            of.wrong_answers = 1
        }),
        ("questions without an answer", |of| of.questions = 1),
    ] {
        assert!(told(change).contains(&law), "{law}");
    }
    // The kernel of a client whose receive buffer is full may keep its heartbeats back.
    let mut slow = case();
    slow.plan.populations[0].reads = Reading::Stopped;
    let cut_off = Told {
        silenced: vec![Some(0)],
        ..Told::default()
    };
    let laws = laws_beside(&cut_off, &slow, Vec::new(), None);
    assert!(!laws.contains(&"clients that were silent"), "{laws:?}");
}

#[test]
fn parts_that_are_not_counted_or_not_wrong_break_a_law() {
    let parts = Parts {
        answers: 1,
        messages: 3,
        missing: 1,
        ..Parts::default()
    };
    let copy = Copy {
        connection: 0,
        client: Some(0),
        fate: Fate::Whole,
        written_ns: Some(1),
    };
    let asked = Asked {
        client: Some(0),
        stamp: None,
        room: None,
        kind: None,
        repeats: None,
        at_ns: 0,
        copies: vec![copy],
        parts,
        awaits_result: false,
        result_ns: None,
    };
    let told = Told {
        asked: vec![asked],
        ..Told::default()
    };
    let of = |answers, messages, missing, steps_back| {
        let streams = Streams {
            answers,
            parts: messages,
            numbers: PartNumbers {
                missing,
                steps_back,
                ..PartNumbers::default()
            },
            ..streams()
        };
        let step = StepRecord {
            streams: Some(Box::new(streams)),
            ..StepRecord::default()
        };
        laws_beside(&told, &case(), vec![step], None)
    };
    for (law, laws) in [
        ("answers in parts", of(0, 3, 1, 0)),
        ("parts of answers", of(1, 4, 1, 0)),
        ("parts that are missing", of(1, 3, 0, 0)),
        ("parts that came late", of(1, 3, 1, 1)),
    ] {
        assert!(laws.contains(&law), "{law}: {laws:?}");
    }
    let honest = of(1, 3, 1, 0);
    assert!(
        !honest.iter().any(|law| law.contains("parts")),
        "{honest:?}"
    );
}

fn streams() -> Streams {
    Streams {
        answers: 0,
        parts: 0,
        unfinished: 0,
        cut: 0,
        per_answer: None,
        first: None,
        between: None,
        per_second: None,
        numbers: PartNumbers::default(),
    }
}

#[test]
fn tickets_that_are_asked_for_again_or_not_shown_break_a_law() {
    let told = |change: fn(&mut Told)| {
        let mut told = Told::default();
        change(&mut told);
        laws_beside(&told, &case(), Vec::new(), None)
    };
    let again = told(|of| of.tickets = vec![1, 2, 1]);
    assert!(
        again.contains(&"tickets that a client asked for again"),
        "{again:?}"
    );
    let wrong = told(|of| of.wrong_tickets = 1);
    let law = "connections without the ticket of their client";
    assert!(wrong.contains(&law), "{wrong:?}");
    let requests = HttpRequests {
        requests: 1,
        failed: 1,
        ..HttpRequests::default()
    };
    let step = StepRecord {
        http: Some(Box::new(HttpUse {
            steps: vec![requests],
            publications: None,
        })),
        ..StepRecord::default()
    };
    let laws = laws_of(&case(), vec![step], None);
    for law in ["requests for tickets", "requests for tickets that failed"] {
        assert!(laws.contains(&law), "{laws:?}");
    }
}

/// A change of what is reported of a feed, and a law that it breaks.
type FeedMisreport = (&'static str, fn(&mut Feed));

#[test]
fn numbers_of_a_feed_that_are_misreported_break_a_law() {
    let mut case = case();
    case.plan.populations = vec![Population::default()];
    let connection = test_servers::oracle::Connection {
        id: 1,
        client: Some(0),
        room: None,
        was_refused: false,
        opened_ns: 0,
        ended_ns: None,
        fed: Fed {
            messages: 9,
            gaps: 3,
            missing: 2,
            repeats: 1,
            steps_back: 1,
        },
    };
    let told = Told {
        connections: vec![connection],
        ..Told::default()
    };
    let laws = |change: fn(&mut Feed)| {
        let mut feed = Feed {
            clients: 1,
            silent_clients: 0,
            messages: 9,
            elapsed_ns: 1,
            per_second: 9e9,
            per_client: None,
            numbers: Some(FeedNumbers {
                gaps: 3,
                missing: 2,
                repeats: 1,
                steps_back: 1,
                ..FeedNumbers::default()
            }),
            age: None,
        };
        change(&mut feed);
        let step = StepRecord {
            feed: Some(Box::new(feed)),
            ..StepRecord::default()
        };
        laws_beside(&told, &case, vec![step], None)
    };
    let changes: [FeedMisreport; 6] = [
        ("messages of feeds", |of| of.messages = 10),
        ("gaps of feeds", |of| of.numbers.as_mut().unwrap().gaps -= 1),
        ("repeats of feeds", |of| {
            of.numbers.as_mut().unwrap().repeats = 0
        }),
        ("steps back of feeds", |of| {
            of.numbers.as_mut().unwrap().steps_back = 2
        }),
        ("numbers that are missing in feeds", |of| {
            of.numbers.as_mut().unwrap().missing = 1
        }),
        ("numbers of feeds that cannot be read", |of| {
            of.numbers.as_mut().unwrap().unreadable = 1
        }),
    ];
    for (law, change) in changes {
        assert!(!laws(|_| {}).contains(&law), "{law}");
        assert!(laws(change).contains(&law), "{law}");
    }
}
