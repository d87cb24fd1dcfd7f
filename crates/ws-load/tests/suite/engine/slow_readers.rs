//! Clients that read slowly: the server feels them, the others go on, and no sample waits for them.

use super::plan;
use crate::engine::common::eventually;
use ::plan::{Arrivals, Audience, Clients, Dialect, Load, Nanos, OpenLoop, Plan, Population, Reading};
use record::{End, StepRecord, Verdict};
use socket2::{Domain, Socket, Type};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use ws_load::Measured;
use ws_proto::{DecodeError, Decoder, Event, Opcode, accept_for, encode_frame};

const CLIENTS: usize = 20;
/// Bytes per second of those that read slowly.
const RATE: u32 = 8 * 1024;
const SLOW: Reading = Reading::BytesPerSecond(RATE);
/// When buffers are surely full.
const SETTLED: Duration = Duration::from_secs(1);
const WATCHED: Duration = Duration::from_secs(4);

/// 50 broadcasts of 4,000 bytes in a second: 25 times what a slow client takes.
fn broadcasts(server: SocketAddr, seconds: u64, share: u32, reads: Reading) -> Plan {
    plan(server).with(|plan| {
        plan.audience = Audience::Everyone;
        plan.message.dialect = Dialect::Binary;
        plan.message.padding = 4_000;
        plan.load = Load::Open(OpenLoop {
            rate: 50.0,
            ramp: None,
            arrivals: Arrivals::Constant,
            duration: Nanos::secs(seconds),
            warm_up: Nanos(0),
        });
        plan.clients = Clients::steps(CLIENTS as u32, 1, Some(1));
        plan.generator.threads = 2;
        plan.populations = vec![
            Population {
                share,
                reads,
                ..Population::default()
            },
            Population::default(),
        ];
    })
}

/// A listener whose connections keep little of what is not taken by the client.
fn listener() -> TcpListener {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_send_buffer_size(4096).unwrap();
    socket
        .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    socket.listen(64).unwrap();
    socket.into()
}

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

/// The queue of each connection.
type Queues = Arc<Mutex<Vec<Sender<Arc<[u8]>>>>>;

/// Writes what is queued for a connection, and counts the bytes that the kernel has taken.
fn write(mut stream: TcpStream, queue: &Receiver<Arc<[u8]>>, taken: &AtomicU64) {
    for frame in queue {
        for part in frame.chunks(512) {
            if stream.write_all(part).is_err() {
                return;
            }
            taken.fetch_add(part.len() as u64, Ordering::Relaxed);
        }
    }
}

/// Reads the requests of a connection, and has each sent to all and its result to the sender.
fn read(mut stream: TcpStream, own: &Sender<Arc<[u8]>>, queues: &Queues) {
    let mut decoder = Decoder::new(ws_proto::Sender::Client, 1 << 20);
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let fed = decoder.feed(&buffer[..count], |event| {
            if let Event::Message { opcode, payload } = event {
                let mut frame = Vec::new();
                encode_frame(&mut frame, opcode, None, payload);
                let frame: Arc<[u8]> = frame.into();
                for queue in queues.lock().unwrap().iter() {
                    let _ = queue.send(Arc::clone(&frame));
                }
                let mut result = payload.to_vec();
                result[0] = b'r';
                let mut frame = Vec::new();
                encode_frame(&mut frame, Opcode::Binary, None, &result);
                let _ = own.send(frame.into());
            }
            Ok::<_, DecodeError>(())
        });
        fed.unwrap();
    }
}

/// Serves so many connections; the bytes that each has taken.
fn serve(listener: &TcpListener) -> (Vec<Arc<AtomicU64>>, Vec<TcpStream>) {
    let queues = Queues::default();
    let mut streams = Vec::new();
    let mut counts = Vec::new();
    for _ in 0..CLIENTS {
        let stream = accept(listener);
        let (queue, queued) = mpsc::channel();
        queues.lock().unwrap().push(queue.clone());
        let taken = Arc::new(AtomicU64::new(0));
        counts.push(Arc::clone(&taken));
        streams.push(stream.try_clone().unwrap());
        let writer = stream.try_clone().unwrap();
        thread::spawn(move || write(writer, &queued, &taken));
        let queues = Arc::clone(&queues);
        thread::spawn(move || read(stream, &queue, &queues));
    }
    (counts, streams)
}

/// Bytes that each connection takes in a while, the least first, and that while.
// timed: what is taken is held against the time that really passed, and a run that was disturbed is made
// again.
fn growth(listener: &TcpListener) -> (Vec<u64>, Duration) {
    let (taken, _streams) = serve(listener);
    let look = || taken.iter().map(|taken| taken.load(Ordering::Relaxed));
    sleep(SETTLED);
    let (before, began): (Vec<u64>, _) = (look().collect(), Instant::now());
    sleep(WATCHED);
    let time = began.elapsed();
    let mut growth: Vec<u64> = look().zip(before).map(|(now, then)| now - then).collect();
    growth.sort_unstable();
    (growth, time)
}

fn only_step(measured: &Measured) -> &StepRecord {
    let [step] = &measured.steps[..] else {
        panic!("{:?}", measured.outcome);
    };
    step
}

/// Waits until those that do not read all are far behind; true of each that is.
fn behind(taken: &[Arc<AtomicU64>]) -> Vec<bool> {
    let mut behind = Vec::new();
    eventually("half of the clients are far behind", || {
        let bytes = taken.iter().map(|taken| taken.load(Ordering::Relaxed));
        let bytes: Vec<u64> = bytes.collect();
        let most = bytes.iter().max().copied().unwrap_or(0);
        behind = bytes.iter().map(|bytes| *bytes < most / 2).collect();
        most > 160_000 && behind.iter().filter(|is| **is).count() == CLIENTS / 2
    });
    behind
}

/// A run with slow clients. Everything is counted; `Err` where this machine kept one side from reading or
/// sending at its speed.
fn slow_clients() -> Result<(), String> {
    let listener = listener();
    let plan = broadcasts(listener.local_addr().unwrap(), 6, 1, SLOW);
    let (growth, time, record) = thread::scope(|scope| {
        let run = scope.spawn(|| ws_load::run(&plan, &AtomicBool::new(false), &mut |_| {}));
        let (growth, time) = growth(&listener);
        (growth, time, run.join().unwrap().unwrap())
    });
    let step = only_step(&record);
    assert!(step.faults.is_empty(), "{}", step.faults);
    assert_eq!((step.samples, step.samples_planned), (300, 300));
    assert_eq!(step.delivery.as_ref().unwrap().count, 3_000);
    let slow = step.slow_readers.as_ref().unwrap();
    assert_eq!((slow.clients, slow.cut_off), (10, 0));
    // What they leave unread is no lag of the generator, which has one for each other read.
    let used = &step.generator;
    assert!(used.receive_lag.as_ref().unwrap().count < used.reads);

    // 6 s of 8 KiB/s are 12 messages for each of the 10.
    if !(80..200).contains(&slow.messages) {
        return Err(format!("{slow:?}"));
    }
    let (slow, full) = growth.split_at(CLIENTS / 2);
    let at_rate = slow.len() as u64 * time.as_millis() as u64 * u64::from(RATE) / 1000;
    // The kernel asks for more in steps of a part of its buffer.
    let taken: u64 = slow.iter().sum();
    if !(at_rate * 2 / 3..at_rate * 3 / 2).contains(&taken) {
        return Err(format!("{taken} bytes in place of {at_rate}: {growth:?}"));
    }
    // 200 broadcasts in this time, give or take those at its ends.
    if full.iter().any(|bytes| *bytes <= 180 * 4_000) {
        return Err(format!("{growth:?}"));
    }
    Ok(())
}

#[test]
fn slow_clients_take_their_rate_the_others_all_and_the_run_passes() {
    let mut seen = Vec::new();
    let is_right = (0..10).any(|_| match slow_clients() {
        Ok(()) => true,
        Err(words) => {
            seen.push(words);
            false
        }
    });
    assert!(is_right, "{seen:#?}");
}

#[test]
fn a_slow_client_that_is_cut_off_is_no_fault() {
    let listener = listener();
    let plan = broadcasts(listener.local_addr().unwrap(), 6, 1, SLOW);
    let record = thread::scope(|scope| {
        let run = scope.spawn(|| ws_load::run(&plan, &AtomicBool::new(false), &mut |_| {}));
        let (taken, streams) = serve(&listener);
        let behind = behind(&taken);
        for (stream, _) in streams.iter().zip(behind).filter(|(_, is)| *is) {
            stream.shutdown(std::net::Shutdown::Both).unwrap();
        }
        run.join().unwrap().unwrap()
    });
    let step = only_step(&record);
    assert!(step.faults.is_empty(), "{}", step.faults);
    assert_eq!(step.samples, 300);
    let slow = step.slow_readers.as_ref().unwrap();
    assert_eq!((slow.clients, slow.cut_off), (10, 10));
    assert!(slow.first_cut_off.is_some());
}

/// All but one have stopped to read: one of the two workers has none that samples wait for.
#[test]
fn a_worker_without_a_client_to_wait_for_holds_nothing_up() {
    let listener = listener();
    let plan = broadcasts(listener.local_addr().unwrap(), 1, 39, Reading::Stopped);
    let record = thread::scope(|scope| {
        let run = scope.spawn(|| ws_load::run(&plan, &AtomicBool::new(false), &mut |_| {}));
        let _serving = serve(&listener);
        run.join().unwrap().unwrap()
    });
    let step = only_step(&record);
    assert!(step.faults.is_empty(), "{}", step.faults);
    assert_eq!(step.samples, 50);
    assert_ne!(step.verdict, Verdict::Fail);
    let stopped = step.slow_readers.as_ref().unwrap();
    assert_eq!((stopped.clients, stopped.messages), (19, 0));
}

/// A run over 2 s against a server that keeps everything for clients that have stopped to read, with
/// so many bytes allowed; and the bytes that it had for each of them.
fn kept_for_stopped(allowed: u64) -> (Measured, Vec<u64>) {
    let listener = listener();
    let plan = broadcasts(listener.local_addr().unwrap(), 2, 1, Reading::Stopped);
    let plan = plan.with(|plan| plan.limits.kept_bytes = Some(allowed));
    thread::scope(|scope| {
        let run = scope.spawn(|| ws_load::run(&plan, &AtomicBool::new(false), &mut |_| {}));
        let (taken, _streams) = serve(&listener);
        let record = run.join().unwrap().unwrap();
        let bytes = taken.iter().map(|taken| taken.load(Ordering::Relaxed));
        let mut bytes: Vec<u64> = bytes.collect();
        // Those that read everything send too, and have results.
        bytes.sort_unstable();
        bytes.truncate(CLIENTS / 2);
        (record, bytes)
    })
}

#[test]
fn what_a_server_keeps_is_counted_and_decides() {
    // 100 broadcasts of 4,000 bytes.
    let allowed = 300_000;
    let (record, sent) = kept_for_stopped(allowed);
    let step = only_step(&record);
    assert!(step.faults.is_empty(), "{}", step.faults);
    let slow = step.slow_readers.as_ref().unwrap();
    assert_eq!((slow.clients, slow.cut_off), (10, 0));
    // What a client read before it stopped is less than a message and a buffer.
    let (least, most) = (sent[0].saturating_sub(16_000), sent[CLIENTS / 2 - 1]);
    assert!(least > allowed, "{sent:?}");
    let (kept, most_kept) = (slow.kept_bytes.unwrap(), slow.most_kept_bytes.unwrap());
    assert!((least..=most).contains(&most_kept), "{slow:?}");
    assert!((least * 10..=most * 10).contains(&kept), "{slow:?}");
    assert_eq!(step.verdict, Verdict::Fail);
    assert!(
        step.verdict_reasons[0].contains("above the limit of 0.3 MB"),
        "{:?}",
        step.verdict_reasons
    );
    assert_eq!(record.outcome.end, End::OverLimit);
    assert_eq!(record.outcome.carried_clients, None);

    let (record, _) = kept_for_stopped(1_000_000);
    assert_ne!(only_step(&record).verdict, Verdict::Fail);
}

/// A run of six seconds whose stopped clients are cut off. `None` where this machine was so late with that
/// that the step may have been over.
// timed: a run that was too late is made again.
fn cut_off_in_time() -> Option<Measured> {
    let listener = listener();
    let plan = broadcasts(listener.local_addr().unwrap(), 6, 1, Reading::Stopped);
    thread::scope(|scope| {
        let began = Instant::now();
        let run = scope.spawn(|| ws_load::run(&plan, &AtomicBool::new(false), &mut |_| {}));
        let (taken, streams) = serve(&listener);
        let behind = behind(&taken);
        for (stream, _) in streams.iter().zip(behind).filter(|(_, is)| *is) {
            stream.shutdown(std::net::Shutdown::Write).unwrap();
        }
        let in_time = began.elapsed() < Duration::from_secs(5);
        let measured = run.join().unwrap().unwrap();
        in_time.then_some(measured)
    })
}

/// The end of the stream is behind more than the client's buffer holds.
#[test]
fn a_stopped_client_that_is_cut_off_is_seen_to_be() {
    let record = (0..20).find_map(|_| cut_off_in_time());
    let record = record.expect("a run in which the clients were cut off in time");
    let slow = only_step(&record).slow_readers.as_ref().unwrap();
    assert_eq!((slow.clients, slow.cut_off), (10, 10));
    assert_eq!((slow.kept_bytes, slow.most_kept_bytes), (Some(0), Some(0)));
}

#[test]
fn of_a_step_that_is_interrupted_it_is_not_known_what_was_kept() {
    let listener = listener();
    let plan = broadcasts(listener.local_addr().unwrap(), 600, 1, Reading::Stopped);
    let interrupted = AtomicBool::new(false);
    let record = thread::scope(|scope| {
        let run = scope.spawn(|| ws_load::run(&plan, &interrupted, &mut |_| {}));
        let (taken, _streams) = serve(&listener);
        behind(&taken);
        interrupted.store(true, Ordering::Relaxed);
        run.join().unwrap().unwrap()
    });
    let slow = only_step(&record).slow_readers.as_ref().unwrap();
    assert_eq!((slow.kept_bytes, slow.most_kept_bytes), (None, None));
}
