//! The delay server does what it was told, and says what it did.

use crate::support::{Client, connect};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use test_servers::{Delay, DelayOptions, DelayServer, Freeze, Pace};

const MS: Duration = Duration::from_millis(1);

fn open(addr: SocketAddr) -> Client<TcpStream> {
    Client::upgrade(connect(addr)).unwrap()
}

fn start(options: DelayOptions) -> DelayServer {
    DelayServer::start(options).unwrap()
}

// timed: a lower bound: a server that is told to wait for 20 ms cannot answer sooner, however busy the
// machine is.
#[test]
fn an_answer_comes_after_its_delay_and_the_server_knows_how_long_it_took() {
    let server = start(DelayOptions {
        delay: Delay::Constant(20 * MS),
        ..DelayOptions::default()
    });
    let mut client = open(server.addr());
    for round in 0..5 {
        let asked = Instant::now();
        client.text("echo", &round.to_string());
        assert!(client.next().unwrap().contains(&format!(":{round}")));
        assert!(asked.elapsed() >= 20 * MS);
    }
    let truth = server.truth();
    assert_eq!((truth.service.count(), truth.answers.len()), (5, 5));
    let answers = truth.by_arrival();
    assert!(answers[1].arrival_ns >= answers[0].written_ns);
    assert!(
        answers
            .iter()
            .all(|answer| answer.written_ns - answer.arrival_ns >= 20_000_000)
    );
}

#[test]
fn the_stamp_of_a_payload_is_in_the_books() {
    let server = start(DelayOptions::default());
    let mut client = open(server.addr());
    for payload in [r#"{"stamp":"00000000000000ff","padding":"x"}"#, "7"] {
        client.text("echo", payload);
        client.next().unwrap();
    }
    let stamps: Vec<Option<u64>> = server.truth().answers.iter().map(|a| a.stamp).collect();
    assert_eq!(stamps, [Some(255), None]);
}

// timed: a lower bound, and an upper one that is ten times what an unpaced server takes.
#[test]
fn requests_do_not_wait_for_one_another_unless_paced() {
    let took = |delay: Duration, pace| {
        let server = start(DelayOptions {
            delay: Delay::Constant(delay),
            pace,
            ..DelayOptions::default()
        });
        let mut client = open(server.addr());
        let asked = Instant::now();
        for _ in 0..10 {
            client.text("echo", "1");
        }
        for _ in 0..10 {
            client.next().unwrap();
        }
        asked.elapsed()
    };
    // One after the other they would take 20 s.
    let delay = Duration::from_secs(2);
    assert!(took(delay, None) < 10 * delay);
    assert!(took(30 * MS, Some(Pace::requests_per_second(50.0))) >= 230 * MS);
}

// timed: a lower bound: a pace of 100 deliveries per second gives four of them no sooner.
#[test]
fn a_paced_broadcast_takes_as_long_as_it_has_listeners() {
    let server = start(DelayOptions {
        pace: Some(Pace::deliveries_per_second(100.0)),
        ..DelayOptions::default()
    });
    let mut clients: Vec<_> = (0..4).map(|_| open(server.addr())).collect();
    let asked = Instant::now();
    clients[0].text("broadcast", "1");
    clients[3].next().unwrap();
    assert!(asked.elapsed() >= 40 * MS);
}

/// The longest service of a server that is asked while it is frozen, and how long it was frozen.
// timed: when the pause is longer than the freeze, the server is asked too late: then it is tried anew.
fn asked_while_frozen() -> (u64, u64) {
    let server = start(DelayOptions {
        freeze: Some(Freeze {
            after: 30 * MS,
            length: 100 * MS,
        }),
        ..DelayOptions::default()
    });
    let mut client = open(server.addr());
    client.text("echo", "1");
    client.next().unwrap();
    std::thread::sleep(60 * MS);
    client.text("echo", "2");
    client.next().unwrap();
    let truth = server.truth();
    let longest = truth.service.latency().unwrap().max_ns;
    (longest, truth.frozen_ns.unwrap_or(0))
}

#[test]
fn a_frozen_server_answers_late_and_says_how_long_it_was_frozen() {
    let mut seen = Vec::new();
    let is_right = (0..20).any(|_| {
        let (longest, frozen) = asked_while_frozen();
        assert!(frozen == 0 || frozen >= 100_000_000, "{frozen}");
        seen.push((longest, frozen));
        // Asked at 60 ms or later, answered at 130: the kernel's stamp tells the wait in the socket.
        longest <= frozen && longest > 1_000_000
    });
    assert!(is_right, "{seen:?}");
}

// timed: a lower bound: a server that is told to wait for 60 ms cannot deliver sooner.
#[test]
fn the_last_listener_alone_is_late_and_the_result_is_not() {
    let server = start(DelayOptions {
        last_listener: 60 * MS,
        ..DelayOptions::default()
    });
    let mut sender = open(server.addr());
    let mut middle = open(server.addr());
    let mut last = open(server.addr());
    let asked = Instant::now();
    sender.text("broadcast", "7");
    assert!(sender.next().unwrap().contains(r#""broadcast""#));
    assert!(sender.next().unwrap().contains("broadcastResult"));
    middle.next().unwrap();
    assert!(last.next().unwrap().contains(":7"));
    assert!(asked.elapsed() >= 60 * MS);
    let answer = server.truth().answers[0];
    assert!(answer.written_ns - answer.arrival_ns >= 60_000_000);
}

#[test]
fn bad_requests_are_answered_and_a_close_is_returned() {
    let server = start(DelayOptions::default());
    let mut client = open(server.addr());
    client.text("nonsense", "1");
    assert!(client.next().unwrap().contains(r#""type":"error""#));
    assert!(client.until_echo().is_empty());
    client.send(ws_proto::Opcode::Close, &1000u16.to_be_bytes());
    assert_eq!(client.next().unwrap(), "close [3, 232]");
    assert_eq!(client.next(), Err("end".into()));
}
