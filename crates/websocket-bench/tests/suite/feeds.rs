//! Messages that a server sends by itself: each is counted, and so is each that is wrong.
//!
//! A server sends them before an answer that the clients wait for, so that all have been read when a step
//! ends, however busy the machine is.

use crate::heartbeats::{carried_out, text};
use crate::support::Ran;
use plan::DialectFile;
use record::{Faults, Feed, FeedClock, FeedNumbers, RunRecord};
use std::time::{Duration, Instant};
use test_servers::oracle::{Fed, Feeding, OracleOptions, Strikes, Told};

/// The text dialect with a feed of the oracle, and without heartbeats.
fn fed(more: &str) -> DialectFile {
    let mut file = text();
    file.heartbeat = None;
    file.receive
        .retain(|rule| rule.means != plan::Meaning::Heartbeat);
    let feed: DialectFile = toml::from_str(&format!(
        r#"
        name = "more"
        summary = "A feed."
        [[receive]]
        means = "feed"
        when = {{ "/type" = "feed" }}
        {more}
        "#
    ))
    .unwrap();
    file.receive.extend(feed.receive);
    file
}

/// All that the rule of a feed may say.
const ALL: &str = r#"
    sequence = "/seq"
    key = "/of"
    sent_at = "/sent"
    sent_unit = "us"
"#;

const fn each(every: u64, first: u64) -> Strikes {
    Strikes { every, first }
}

/// Faults of each kind, which never meet.
const FAULTY: Feeding = Feeding {
    burst: 40,
    keys: 3,
    stale: Duration::ZERO,
    early: Duration::ZERO,
    silent: each(100, 7),
    lost: each(12, 2),
    repeated: each(12, 5),
    swapped: each(12, 8),
};

/// Each connection is pinged at least once, and its pong comes behind a part of its feed.
const HELD: &str = r#"
    audience = "sender"
    [clients.steps]
    first = 500
    count = 1
    [connection]
    at_once = 50
    timeout = "60s"
    [load.connect]
    hold = "10s"
    ping_interval = "10s"
    ping_timeout = "10s"
"#;

/// The same with fewer connections, for a shorter time.
fn few(connections: u32) -> String {
    let few = HELD.replace("first = 500", &format!("first = {connections}"));
    few.replace("10s", "2s")
}

/// Each answer comes behind a part of the feed of its client.
const ECHOES: &str = r#"
    audience = "sender"
    [clients.steps]
    first = 500
    count = 1
    [connection]
    at_once = 50
    timeout = "60s"
    [load.closed]
    samples = 2000
    in_flight = 100
    [limits]
    time = "50s"
    sample_timeout = "60s"
"#;

fn server(feed: Feeding) -> OracleOptions {
    OracleOptions {
        feed: Some(feed),
        ..OracleOptions::default()
    }
}

fn all(told: &Told) -> Fed {
    let mut all = Fed::default();
    told.connections.iter().for_each(|of| all.add(&of.fed));
    all
}

fn feed(record: &RunRecord) -> &Feed {
    let [step] = &record.steps[..] else {
        panic!("{record:#?}");
    };
    step.feed.as_deref().unwrap()
}

/// The numbers of a feed are those that the server says, and the faults are no others.
fn assert_exact(ran: &Ran, record: &RunRecord, told: &Told) {
    let known = all(told);
    let due = FeedNumbers {
        gaps: known.gaps,
        missing: known.missing,
        repeats: known.repeats,
        steps_back: known.steps_back,
        ..FeedNumbers::default()
    };
    let feed = feed(record);
    assert_eq!(feed.numbers, Some(due), "{known:?}");
    assert_eq!(feed.messages, known.messages);
    let silent = told.connections.iter().filter(|of| of.fed.messages == 0);
    assert_eq!(feed.silent_clients, silent.count() as u64);
    assert!(feed.silent_clients >= 5, "{feed:?}");
    assert_eq!(feed.clients, 500);
    let faults = Faults {
        lost: known.missing,
        duplicate: known.repeats,
        reordered: known.steps_back,
        ..Faults::default()
    };
    assert_eq!(record.faults(), faults);
    let least = [faults.lost, faults.duplicate, faults.reordered];
    assert!(least.iter().all(|count| *count > 400), "{known:?}");
    assert_eq!(ran.code, 3, "{ran:#?}");
    let last = ran.stderr.lines().last().unwrap();
    let words = format!("the server or the dialect file is at fault: {faults}");
    assert!(last.contains(&words), "{last}");
    assert!(last.contains("`sequence`"), "{last}");
}

#[test]
fn five_hundred_connections_that_are_held_get_a_feed_whose_faults_are_counted_exactly() {
    let threads = ["--set", "generator.threads=3"];
    let ways: [&[&str]; 3] = [&[], &["--processes", "2"], &threads];
    std::thread::scope(|scope| {
        for more in ways {
            scope.spawn(move || held_exactly(more));
        }
    });
}

fn held_exactly(more: &[&str]) {
    let (ran, record, told) = carried_out(server(FAULTY), &fed(ALL), HELD, more);
    assert_exact(&ran, &record, &told);
    let age = feed(&record).age.as_ref().unwrap();
    assert_eq!(age.clock, FeedClock::Shared);
    let ages = age.age.as_ref().map_or(0, |ages| ages.count);
    assert_eq!(ages + age.negative, all(&told).messages, "{age:?}");
}

#[test]
fn a_feed_beside_echoes_is_counted_exactly_and_no_echo_is_at_fault() {
    for more in [&[][..], &["--processes", "2"]] {
        let (ran, record, told) = carried_out(server(FAULTY), &fed(ALL), ECHOES, more);
        assert_exact(&ran, &record, &told);
        let step = &record.steps[0];
        assert_eq!(step.samples, 2_000);
        let received = step.throughput.as_ref().unwrap().received;
        assert_eq!(received, 2_000 + all(&told).messages);
    }
}

#[test]
fn without_its_key_a_feed_of_several_sequences_is_wrong_and_without_its_sequence_it_is_not() {
    let feed = Feeding {
        silent: Strikes::default(),
        lost: Strikes::default(),
        repeated: Strikes::default(),
        swapped: Strikes::default(),
        ..FAULTY
    };
    let few = few(3);
    let (ran, record, _) = carried_out(server(feed), &fed("sequence = \"/seq\""), &few, &[]);
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(record.faults().duplicate > 0);
    assert!(ran.stderr.contains("`key`"), "{ran:#?}");
    for rule in ["sequence = \"/seq\"\nkey = \"/of\"", ""] {
        let (ran, record, told) = carried_out(server(feed), &fed(rule), &few, &[]);
        assert_eq!(
            (ran.code, record.faults()),
            (0, Faults::default()),
            "{ran:#?}"
        );
        let feed = record.steps[0].feed.as_deref().unwrap();
        assert_eq!(feed.messages, all(&told).messages);
        assert_eq!(feed.numbers.is_some(), !rule.is_empty());
        assert!(ran.stdout.contains("feed         "), "{ran:#?}");
    }
}

#[test]
fn numbers_that_cannot_be_read_are_malformed() {
    let few = few(3);
    let feeding = Feeding {
        burst: 2,
        keys: 1,
        ..Feeding::default()
    };
    let (ran, record, told) = carried_out(server(feeding), &fed("sequence = \"/type\""), &few, &[]);
    let messages = all(&told).messages;
    assert_eq!(feed(&record).numbers.unwrap().unreadable, messages);
    assert_eq!(record.faults().malformed, messages);
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(ran.stderr.contains("that can be read"), "{ran:#?}");
}

// timed: what the run took bounds what each message took, however long that was.
#[test]
fn ages_lie_between_what_the_server_says_and_what_the_run_took() {
    let stale = Duration::from_secs(100);
    let feeding = Feeding {
        burst: 3,
        keys: 1,
        stale,
        ..Feeding::default()
    };
    let few = few(20);
    let began = Instant::now();
    let (ran, record, told) = carried_out(server(feeding), &fed(ALL), &few, &[]);
    let most = stale + began.elapsed();
    assert_eq!(ran.code, 0, "{ran:#?}");
    let age = feed(&record).age.as_ref().unwrap();
    assert_eq!((age.negative, age.unreadable), (0, 0));
    let ages = age.age.as_ref().unwrap();
    assert_eq!(ages.count, all(&told).messages);
    let resolution = 1.002;
    let [least, most] = [stale, most].map(|of| of.as_nanos() as f64);
    assert!(ages.min_ns as f64 * resolution >= least, "{ages:?}");
    assert!(ages.max_ns as f64 <= most * resolution, "{ages:?}");
}

#[test]
fn messages_from_the_future_are_counted_apart() {
    let feeding = Feeding {
        burst: 3,
        keys: 1,
        early: Duration::from_secs(100_000),
        ..Feeding::default()
    };
    let few = few(20);
    let (_, record, told) = carried_out(server(feeding), &fed(ALL), &few, &[]);
    let age = feed(&record).age.as_ref().unwrap();
    assert_eq!((age.negative, &age.age), (all(&told).messages, &None));
    assert!(age.most_negative_ns <= 100_000 * 1_000_000_000);
    assert!(age.most_negative_ns > 0);
}

#[test]
fn the_page_and_the_table_of_a_run_show_its_feed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (page, table) = (path("run.html"), path("run.csv"));
    let more = ["--html", &page, "--csv", &table];
    let feeding = Feeding {
        burst: 13,
        keys: 1,
        lost: each(12, 2),
        ..Feeding::default()
    };
    let (_, record, told) = carried_out(server(feeding), &fed(ALL), &few(3), &more);
    let known = all(&told);
    let feed = feed(&record);
    assert_eq!(feed.numbers.unwrap().missing, known.missing);
    let page = std::fs::read_to_string(page).unwrap();
    let section = page.split("<h2>Feed</h2>").nth(1).unwrap();
    let cell = |text: u64| format!("<td class=\"number\">{text}</td>");
    assert!(section.contains(&cell(known.missing)), "{section}");
    let mut table = csv::Reader::from_path(table).unwrap();
    let names = table.headers().unwrap().clone();
    let row = table.records().next().unwrap().unwrap();
    let value = |name: &str| &row[names.iter().position(|of| of == name).unwrap()];
    assert_eq!(value("feed_messages"), known.messages.to_string());
    assert_eq!(value("feed_missing"), known.missing.to_string());
    let count = feed.age.as_ref().unwrap().age.as_ref().unwrap().count;
    assert_eq!(value("feed_age_count"), count.to_string());
}

/// Half of the clients come and go, and each delivery comes behind a part of the feed.
const RETURNING: &str = r#"
    audience = "everyone"
    [clients.steps]
    first = 20
    count = 1
    [connection]
    timeout = "60s"
    [[populations]]
    [[populations]]
    [populations.life.comes_and_goes]
    stays = "300ms"
    away = "20ms"
    [load.open]
    rate = 50.0
    duration = "3s"
    [limits]
    time = "50s"
    sample_timeout = "60s"
"#;

#[test]
fn numbers_begin_anew_with_a_connection_unless_they_resume() {
    let feeding = Feeding {
        burst: 2,
        keys: 1,
        ..Feeding::default()
    };
    for resumes in [false, true] {
        let rule = format!("sequence = \"/seq\"\nresumes = {resumes}");
        let (_, record, told) = carried_out(server(feeding), &fed(&rule), RETURNING, &[]);
        assert!(told.connections.len() > 20, "{told:?}");
        let numbers = feed(&record).numbers.unwrap();
        // This server begins anew, which is wrong where its clients expect it to go on.
        assert_eq!(numbers.repeats > 0, resumes, "{numbers:?}");
        assert_eq!(numbers.missing + numbers.steps_back, 0, "{numbers:?}");
        assert_eq!(record.steps[0].faults.duplicate, numbers.repeats);
    }
}
