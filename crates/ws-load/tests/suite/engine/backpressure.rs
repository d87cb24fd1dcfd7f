//! A server that stops reading: what the kernel has not taken was not sent, and the generator is not
//! the cause.

use super::plan;
use crate::engine::common::run;
use ::plan::{Arrivals, Audience, Clients, Dialect, Load, Nanos, OpenLoop, Plan};
use record::{End, Verdict};
use socket2::{Domain, Socket, Type};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread::{self, sleep};
use std::time::Duration;
use ws_proto::{DecodeError, Decoder, Event, Opcode, Sender, accept_for, encode_frame};

const SAMPLES: u64 = 400;

/// 400 echoes of 60,000 bytes in two seconds, far more than the kernel keeps for one connection.
fn flood(server: SocketAddr) -> Plan {
    plan(server).with(|plan| { plan.audience = Audience::Sender; plan.message.dialect = Dialect::Binary; plan.message.padding = 60_000; plan.load = Load::Open(OpenLoop {
            rate: 200.0,
            ramp: None,
            arrivals: Arrivals::Constant,
            duration: Nanos(2_000_000_000),
            warm_up: Nanos(0),
        }); plan.clients = Clients::steps(1, 10, Some(1)); })
}

/// A listener whose connections keep little of what is not read.
fn listener() -> TcpListener {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(1 << 16).unwrap();
    socket
        .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    socket.listen(8).unwrap();
    socket.into()
}

/// Accepts one client and upgrades it.
fn accept(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().unwrap();
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
    stream
}

/// Bytes in the queues of a socket between two ports of this machine: not acknowledged, not read.
fn queued(from: u16, to: u16) -> Option<(u64, u64)> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = |end: &str| u16::from_str_radix(end.split_once(':').unwrap().1, 16).unwrap();
    table.lines().skip(1).find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        if (port(columns[1]), port(columns[2])) != (from, to) {
            return None;
        }
        let (sending, receiving) = columns[4].split_once(':').unwrap();
        let bytes = |text| u64::from_str_radix(text, 16).unwrap();
        Some((bytes(sending), bytes(receiving)))
    })
}

/// Length of the frame that comes first, without reading it.
fn first_frame(stream: &TcpStream) -> u64 {
    let mut head = [0; 4];
    while stream.peek(&mut head).unwrap() < head.len() {}
    assert_eq!(
        head[1],
        0x80 | 126,
        "a masked frame with a length of 16 bits"
    );
    4 + 4 + u64::from(u16::from_be_bytes([head[2], head[3]]))
}

#[test]
fn what_a_server_that_stops_reading_did_not_take_was_not_sent() {
    let listener = listener();
    let addr = listener.local_addr().unwrap();
    let (over, is_over) = mpsc::channel();
    let server = thread::spawn(move || {
        let stream = accept(&listener);
        let client = stream.peer_addr().unwrap().port();
        let frame = first_frame(&stream);
        // Nothing is read, so that what the kernel has taken never becomes less.
        let mut taken = 0;
        while is_over.try_recv().is_err() {
            if let (Some((sending, _)), Some((_, receiving))) =
                (queued(client, addr.port()), queued(addr.port(), client))
            {
                taken = taken.max(sending + receiving);
            }
            // timed: the queues are full within moments and stay so for the rest of five seconds: one look then
            // is enough.
            sleep(Duration::from_millis(20));
        }
        (taken, frame)
    });
    let mut plan = flood(addr);
    plan.limits.sample_timeout = Nanos(3_000_000_000);
    let measured = run(&plan);
    over.send(()).unwrap();
    let (taken, frame) = server.join().unwrap();
    assert_eq!(
        measured.outcome.end,
        End::TimedOut,
        "{:?}",
        measured.outcome
    );
    let step = &measured.steps[0];
    let sent = step.sent.unwrap();
    assert_eq!(step.samples_planned, SAMPLES);
    // Bytes that are on their way between the two queues are seen in both, or in neither.
    let frames = taken / frame;
    assert!(
        sent.abs_diff(frames) <= 1,
        "{sent} sent, {taken} bytes of {frame} a frame"
    );
    assert!(sent < SAMPLES / 2, "{sent}");
    let backpressure = step.backpressure.unwrap();
    assert_eq!(backpressure.unsent, SAMPLES - sent);
    assert_eq!(backpressure.late, SAMPLES - sent);
    assert_eq!(step.faults.lost, sent, "of what was sent, and no more");
    assert_eq!(step.send_lag.as_ref().unwrap().count, SAMPLES);
    assert_eq!((step.samples, &step.completion), (0, &None));
    assert_eq!(step.verdict, Verdict::Fail, "{:?}", step.verdict_reasons);
    let reasons = step.verdict_reasons.join("; ");
    assert!(reasons.contains("it did not read"), "{reasons}");
}

#[test]
fn what_had_to_wait_is_sent_whole_and_in_order_when_the_server_reads_again() {
    for (threads, clients) in [(1, 1), (2, 4)] {
        let listener = listener();
        let addr = listener.local_addr().unwrap();
        thread::spawn(move || {
            for _ in 0..clients {
                let stream = accept(&listener);
                thread::spawn(move || echo_after(Duration::from_secs(1), stream));
            }
        });
        let measured = run(&flood(addr).with(|plan| { plan.generator.threads = threads; plan.clients = Clients::steps(clients, 10, Some(1)); }));
        let step = &measured.steps[0];
        assert!(step.faults.is_empty(), "{}", step.faults);
        assert_eq!((step.samples, step.samples_planned), (SAMPLES, SAMPLES));
        assert_eq!(step.uncorrected.as_ref().unwrap().count, SAMPLES);
        assert_eq!(step.send_lag.as_ref().unwrap().count, SAMPLES);
        assert_eq!(step.backpressure.map_or(0, |of| of.unsent), 0);
        // From the intended send the wait is in it, from the real one it need not be.
        let [intended, real] =
            [&step.completion, &step.uncorrected].map(|of| of.as_ref().unwrap().max_ns);
        assert!(intended >= real, "{intended} {real}");
        assert!(intended > 500_000_000, "{intended}");
    }
}

// timed: a lower bound: a server that reads nothing for this time answers no sooner.
fn echo_after(pause: Duration, mut stream: TcpStream) {
    sleep(pause);
    let mut decoder = Decoder::new(Sender::Client, 1 << 20);
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let mut answer = Vec::new();
        let fed = decoder.feed(&buffer[..count], |event| {
            if let Event::Message { payload, .. } = event {
                encode_frame(&mut answer, Opcode::Binary, None, payload);
            }
            Ok::<_, DecodeError>(())
        });
        fed.unwrap();
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}
