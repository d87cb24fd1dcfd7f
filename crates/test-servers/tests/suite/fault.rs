//! Each server makes the fault that it was started with, as often as it was told to.

use crate::support::{Client, connect};
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use test_servers::fault::{Fault, FaultServer};

fn open(addr: SocketAddr) -> Client<TcpStream> {
    Client::upgrade(connect(addr)).unwrap()
}

fn start(fault: Fault, count: u64) -> FaultServer {
    FaultServer::start(fault, count).unwrap()
}

fn handshake_error(fault: Fault) -> String {
    let server = start(fault, 1);
    let stream = connect(server.addr());
    if fault == Fault::NeverAnswers {
        let wait = Some(Duration::from_millis(100));
        stream.set_read_timeout(wait).unwrap();
    }
    Client::upgrade(stream).err().expect("no connection")
}

/// A sender, a listener (which opened first and is the victim), and `rounds` broadcasts.
fn broadcasts(fault: Fault, count: u64, rounds: usize) -> (Vec<String>, Vec<String>) {
    let server = start(fault, count);
    let mut listener = open(server.addr());
    let mut sender = open(server.addr());
    for round in 0..rounds {
        sender.text(
            "broadcast",
            &format!(r#"{{"n":{round},"pad":"xxxxxxxxxxxxxxxxxxxx"}}"#),
        );
    }
    let sent = sender.until_echo();
    (sent, listener.until_echo())
}

#[test]
fn handshakes_go_wrong_in_their_own_ways() {
    assert!(handshake_error(Fault::NeverAnswers).contains("WouldBlock"));
    assert!(handshake_error(Fault::Status200).contains("HTTP 200"));
    assert!(handshake_error(Fault::Status404).contains("HTTP 404"));
    assert!(handshake_error(Fault::WrongAccept).contains("wrong Sec-WebSocket-Accept"));
    let ended = handshake_error(Fault::ClosesAtOnce);
    assert!(ended.contains("Ok(0)") || ended.contains("Reset") || ended.contains("Broken"));
}

#[test]
fn an_upgraded_connection_is_ended_at_once() {
    let server = start(Fault::UpgradesThenCloses, 1);
    assert_eq!(open(server.addr()).next(), Err("end".into()));
}

#[test]
fn a_frozen_server_keeps_the_connection_open() {
    let server = start(Fault::Freezes, 2);
    let mut client = open(server.addr());
    for _ in 0..2 {
        client.text("echo", "1");
        client.next().unwrap();
    }
    client.text("echo", "1");
    let wait = Some(Duration::from_millis(50));
    client.stream.set_read_timeout(wait).unwrap();
    assert_eq!(client.next(), Err("WouldBlock".into()));
}

#[test]
fn one_connection_is_reset_and_the_others_go_on() {
    let server = start(Fault::Resets, 2);
    let mut victim = open(server.addr());
    let mut other = open(server.addr());
    let mut sender = open(server.addr());
    for n in 0..3 {
        sender.text("broadcast", &n.to_string());
    }
    assert!(victim.next().unwrap().contains("0"));
    assert_eq!(victim.next(), Err("ConnectionReset".into()));
    assert_eq!(sender.until_echo().len(), 6);
    assert_eq!(other.until_echo().len(), 3);
}

#[test]
fn frames_are_spoilt_for_one_listener() {
    for (fault, error) in [
        (Fault::MalformedFrame, "reserved bits"),
        (Fault::CutShort, "end"),
    ] {
        let server = start(fault, 2);
        let mut listener = open(server.addr());
        let mut sender = open(server.addr());
        sender.text("broadcast", "1");
        sender.text("broadcast", "2");
        assert_eq!(sender.until_echo().len(), 4);
        assert!(listener.next().is_ok());
        let observed = listener.next().unwrap_err();
        assert!(observed.contains(error), "{fault:?}: {observed}");
    }
}

#[test]
fn deliveries_are_lost_doubled_and_spoilt_exactly_as_often_as_told() {
    let spoilt = |got: &[String]| {
        got.iter()
            .filter(|m| !m.contains("xxxxxxxxxxxxxxxxxxxx"))
            .count()
    };
    for (fault, delivered, bad) in [
        (Fault::Drops, 2, 0),
        (Fault::Duplicates, 8, 0),
        (Fault::Corrupts, 5, 3),
    ] {
        let (sent, got) = broadcasts(fault, 3, 5);
        assert_eq!((sent.len(), spoilt(&sent)), (10, 0), "{fault:?}");
        assert_eq!((got.len(), spoilt(&got)), (delivered, bad), "{fault:?}");
    }
}

#[test]
fn two_messages_of_one_sender_change_places() {
    let (_, got) = broadcasts(Fault::Reorders, 1, 4);
    let order: Vec<_> = got
        .iter()
        .map(|message| message.split("\"n\":").nth(1).unwrap()[..1].to_owned())
        .collect();
    assert_eq!(order, ["1", "0", "2", "3"]);
}

#[test]
fn an_echo_goes_to_another_client() {
    let server = start(Fault::Misdelivers, 1);
    let mut other = open(server.addr());
    let mut asking = open(server.addr());
    asking.text("echo", "\"stray\"");
    assert!(asking.until_echo().is_empty());
    assert!(other.until_echo()[0].contains("stray"));
}

// timed: a lower bound: the delivery comes later than the request by more than the wait of the server.
#[test]
fn the_result_comes_first_or_not_at_all() {
    let server = start(Fault::AcksFirst, 1);
    let mut listener = open(server.addr());
    let mut sender = open(server.addr());
    let asked = Instant::now();
    sender.text("broadcast", "1");
    assert!(sender.next().unwrap().contains("broadcastResult"));
    assert!(listener.next().unwrap().contains("broadcast"));
    assert!(asked.elapsed() > Duration::from_millis(10));
    let (sent, got) = broadcasts(Fault::NoResult, 1, 2);
    assert_eq!((sent.len(), got.len()), (2, 2));
    assert!(sent.iter().all(|message| !message.contains("Result")));
}

#[test]
fn connections_end_when_the_server_is_dropped() {
    let server = start(Fault::NeverAnswers, 1);
    let mut stream = connect(server.addr());
    // timed: a pause that is too short cannot make it fail: a connection that is not accepted yet ends, too.
    std::thread::sleep(Duration::from_millis(20));
    drop(server);
    assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
}
