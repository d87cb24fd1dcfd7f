//! Samples that were given up because a connection was lost: they are in no figure of completions,
//! in one process and over several.

use crate::support::{assert_valid, faulty_server, run, url};
use record::StepRecord;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use test_servers::fault::Fault;
use ws_proto::{DecodeError, Decoder, Event, Opcode, Sender, accept_for, encode_frame};

/// Answers so many messages of each connection and resets it with the next.
fn resets_after(answers: u32) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || serve(stream.unwrap(), answers));
        }
    });
    addr
}

fn serve(mut stream: TcpStream, mut answers: u32) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let key = head.split_once("Sec-WebSocket-Key: ").unwrap().1;
    let accept = accept_for(key.lines().next().unwrap());
    let upgraded = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(upgraded.as_bytes()).unwrap();
    let mut decoder = Decoder::new(Sender::Client, 1 << 20);
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let mut is_over = false;
        let fed = decoder.feed(&buffer[..count], |event| {
            if let Event::Message { payload, .. } = event {
                is_over |= answers == 0;
                answers = answers.saturating_sub(1);
                let mut frame = Vec::new();
                encode_frame(&mut frame, Opcode::Text, None, payload);
                if !is_over {
                    stream.write_all(&frame).unwrap();
                }
            }
            Ok::<_, DecodeError>(())
        });
        fed.unwrap();
        if is_over {
            let socket = socket2::Socket::from(stream);
            socket.set_linger(Some(std::time::Duration::ZERO)).unwrap();
            return;
        }
    }
}

/// The step of a run that ends with faults, and its line.
#[track_caller]
fn faulty(arguments: &str) -> (StepRecord, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let ran = run(&format!("{arguments} --json {}", path.display())).exits(3);
    let step = assert_valid(&path).steps.remove(0);
    assert!(step.faults.disconnected > 0, "{}", step.faults);
    assert!(!step.passed());
    (step, ran.stdout)
}

/// Asserts that the figures of completions are of the `samples` that came back.
#[track_caller]
fn assert_of_samples_that_happened(step: &StepRecord) {
    let count = step.completion.as_ref().map_or(0, |it| it.count);
    assert_eq!(count, step.samples);
    if let Some(completion) = &step.completion {
        assert!(completion.min_ns > 0, "{completion:?}");
    }
    let uncorrected = step.uncorrected.as_ref().map_or(0, |it| it.count);
    let expected = if step.rate.is_some() { count } else { 0 };
    assert_eq!(uncorrected, expected);
    assert_eq!(step.in_flight, None);
}

#[test]
fn where_no_sample_came_back_there_is_no_figure() {
    for more in ["", "--processes 2"] {
        let server = resets_after(0);
        let (step, line) = faulty(&format!(
            "echo ws://{server}/ -c 4 -s 200 --step-size 10 --total-steps 1 --limit-rtt 20s {more}"
        ));
        assert_of_samples_that_happened(&step);
        assert_eq!((step.samples, step.limited_ns), (0, None));
        assert!(!step.over_limit);
        assert!(!line.contains("0us"), "{line}");
        assert!(line.contains("95per-rtt:  none"), "{line}");
        assert!(line.contains("0 of 200 samples"), "{line}");
    }
}

#[test]
fn what_a_lost_connection_did_not_get_is_lost_and_nothing_else() {
    for load in [
        "-c 4 -s 40 --seed 1",
        "-c 4 -s 40 --seed 1 --processes 2",
        "--rate 200 --duration 200ms --arrivals constant --seed 1",
        "--rate 200 --duration 200ms --arrivals constant --seed 1 --processes 2",
    ] {
        let server = resets_after(3);
        let (step, _) = faulty(&format!(
            "echo ws://{server}/ --step-size 12 --total-steps 1 --limit-rtt 9s {load}"
        ));
        assert_of_samples_that_happened(&step);
        assert_eq!(step.samples_planned, 40, "{load}");
        // The step went on to its end.
        assert_eq!(step.samples + step.faults.lost, 40, "{load}");
        assert!(step.samples > 12, "{load}");
    }
}

#[test]
fn a_broadcast_that_a_lost_listener_missed_is_incomplete_and_its_deliveries_count() {
    for more in ["", "--processes 2"] {
        let server = faulty_server(Fault::Resets, 5);
        let (step, _) = faulty(&format!(
            "broadcast {} -c 1 -s 20 --step-size 10 --total-steps 1 --limit-rtt 20s {more}",
            url(server.addr())
        ));
        assert_of_samples_that_happened(&step);
        assert_eq!(step.samples, 19, "{more}");
        let delivery = step.delivery.as_ref().unwrap();
        assert_eq!(delivery.count + step.faults.lost, 5 * 10 + 15 * 9, "{more}");
        let ack = step.ack.as_ref().unwrap();
        assert_eq!(ack.count + step.faults.unanswered, 20, "{more}");
    }
}
