//! Scenarios in virtual time: clients without sockets, a server without a network, and a clock that
//! the test moves. Every time is exact.

use super::{Clients, CurrentStep, Deed, Scenario, Setting, Slot, Work, scenario};
use crate::dialect::{Stamps, codec};
use crate::message::{Command, OpenTerms, RawTerms, Report, Share, StepPart, StepTerms};
use crate::net::{Asks, ConnectError};
use crate::plan::Parties;
use crate::verify::{Keeper, Read, StepLedger, Terms};
use plan::{Arrivals, Audience, Connect, Load, Nanos, OpenLoop, Plan};
use std::collections::VecDeque;
use std::sync::Arc;
use ws_proto::{FrameHeader, Opcode, Sender, apply_mask};

const MS: u64 = 1_000_000;

/// What is sent over a connection, unmasked.
struct SentFrame {
    slot: Slot,
    opcode: Opcode,
    payload: Vec<u8>,
    at_ns: u64,
}

/// The clients of a worker, all ready, and what was done with them.
#[derive(Default)]
struct Fake {
    now_ns: u64,
    clients: u32,
    blocked: Vec<Slot>,
    ended: Vec<(Slot, u64)>,
    lost: VecDeque<(Slot, ConnectError)>,
    sent: VecDeque<SentFrame>,
    reports: Vec<(u64, Report)>,
    drawn: u64,
}

impl Clients for Fake {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn slots(&self) -> Slot {
        self.clients
    }

    fn is_ready(&self, slot: Slot) -> bool {
        !self.ended.iter().any(|(ended, _)| *ended == slot)
    }

    fn ready_count(&self) -> u32 {
        self.clients - self.ended.len() as u32
    }

    fn is_opening(&self) -> bool {
        false
    }

    fn is_blocked(&self, slot: Slot) -> bool {
        self.blocked.contains(&slot)
    }

    fn send(&mut self, slot: Slot, mut bytes: &[u8]) -> Option<bool> {
        while let Ok(Some((header, len))) = FrameHeader::parse(bytes, Sender::Client) {
            let end = len + header.payload_len as usize;
            let mut payload = bytes[len..end].to_vec();
            apply_mask(&mut payload, header.mask.unwrap());
            self.sent.push_back(SentFrame {
                slot,
                opcode: header.opcode,
                payload,
                at_ns: self.now_ns,
            });
            bytes = &bytes[end..];
        }
        assert!(bytes.is_empty(), "whole frames");
        Some(true)
    }

    fn write_variable(&self, _: Slot, _: &str, _: &mut Vec<u8>) {}

    fn send_latest(&mut self, _: Slot, _: Opcode, _: &[u8]) {
        panic!("the server asks for nothing");
    }

    fn end(&mut self, slot: Slot, error: ConnectError) {
        self.ended.push((slot, self.now_ns));
        self.lost.push_back((slot, error));
    }

    fn take_lost(&mut self) -> Option<(Slot, ConnectError)> {
        self.lost.pop_front()
    }

    fn take_done(&mut self) -> Option<(Slot, Deed)> {
        None
    }

    fn has_left_room(&mut self, _: Slot) {
        panic!("there are no rooms");
    }

    fn has_joined_room(&mut self, _: Slot, _: u64) {
        panic!("there are no rooms");
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    fn report(&mut self, report: Report) {
        self.reports.push((self.now_ns, report));
    }

    fn tell(&mut self, _: usize, _: Command) {
        panic!("there is no other worker");
    }
}

impl Fake {
    fn reported(&self, is: fn(&Report) -> bool) -> Option<u64> {
        let found = self.reports.iter().find(|(_, report)| is(report));
        found.map(|(at_ns, _)| *at_ns)
    }
}

fn setting(work: Work, load: Load, step: &Arc<CurrentStep>) -> Setting {
    let audience = match load {
        Load::Watch(_) => Audience::Everyone,
        _ => Audience::Sender,
    };
    let plan = Plan {
        load,
        audience,
        ..crate::test_plan("ws://127.0.0.1:1/")
    };
    Setting {
        work,
        addr: ([127, 0, 0, 1], 1).into(),
        asks: Asks::default(),
        codec: codec(&plan, None),
        stamps: Stamps::of_run(plan.generator.seed),
        plan: Arc::new(plan),
        share: Share::WHOLE,
        thread: 0,
        threads: 1,
        step: Arc::clone(step),
        understanding: Arc::default(),
        bytes: Arc::default(),
        http: None,
    }
}

/// A world of one worker with so many ready clients.
struct World {
    scenario: Box<dyn Scenario>,
    clients: Fake,
    step: Arc<CurrentStep>,
}

impl World {
    fn new(load: Load, clients: u32) -> Self {
        Self::with(Work::Plan, load, clients)
    }

    fn with(work: Work, load: Load, clients: u32) -> Self {
        let step = Arc::default();
        let mut world = Self {
            scenario: scenario(setting(work, load, &step)),
            clients: Fake {
                clients,
                now_ns: 1_000 * MS,
                ..Fake::default()
            },
            step,
        };
        for slot in 0..clients {
            let now_ns = world.clients.now_ns;
            world.scenario.ready(slot, now_ns, None, 0);
        }
        world
    }

    fn begin(&mut self, samples: u32, by_clock: bool) -> Arc<StepLedger> {
        let terms = StepTerms {
            first_sample: 0,
            samples,
            warm_up: 0,
            by_clock,
            clients: self.clients.clients.into(),
        };
        let ledger = Arc::new(StepLedger::new(Terms {
            audience: Audience::Sender,
            seed: 1,
            step: terms,
            keeper: Keeper::Process,
            parties: Parties::Same(1),
            populations: Vec::new(),
            limits_completion: true,
            script: None,
        }));
        self.step.set(Arc::clone(&ledger));
        self.tell(Command::Begin(terms));
        ledger
    }

    fn tell(&mut self, command: Command) {
        self.scenario.obey(command, &mut self.clients);
    }

    /// Lets time pass until `until_ns`. The server echoes each frame after `delay`, and none within
    /// `silent`. The loop does not run during `away`.
    fn pass(&mut self, until_ns: u64, delay: u64, away: std::ops::Range<u64>) {
        let mut answers: VecDeque<SentFrame> = VecDeque::new();
        loop {
            self.scenario.turn(&mut self.clients);
            answers.extend(self.clients.sent.drain(..));
            let now_ns = self.clients.now_ns;
            let answer_ns = answers.front().map_or(u64::MAX, |sent| sent.at_ns + delay);
            let next_ns = self.scenario.next_ns(now_ns).max(now_ns).min(answer_ns);
            if next_ns > until_ns {
                self.clients.now_ns = until_ns;
                return;
            }
            let next_ns = match away.contains(&next_ns) {
                true => away.end,
                false => next_ns,
            };
            self.clients.now_ns = next_ns.max(now_ns);
            while answers
                .front()
                .is_some_and(|sent| sent.at_ns + delay <= next_ns)
            {
                let Some(sent) = answers.pop_front() else {
                    break;
                };
                self.answer(&sent, sent.at_ns + delay);
            }
        }
    }

    fn answer(&mut self, sent: &SentFrame, arrived_ns: u64) {
        let read = Read {
            at_ns: self.clients.now_ns,
            unread_ns: self.clients.now_ns - arrived_ns,
            is_result: false,
        };
        let (slot, payload) = (sent.slot, &sent.payload[..]);
        self.scenario.read(read, payload.len() as u64);
        match sent.opcode {
            Opcode::Ping => self.scenario.pong(slot, payload, arrived_ns),
            opcode => self.scenario.message(slot, opcode, payload, arrived_ns, 0),
        }
        self.scenario.follow_up(read.at_ns, &mut self.clients);
    }

    fn finish(&mut self) -> StepPart {
        let mut part = StepPart::default();
        self.scenario.finish(&mut part, self.clients.now_ns);
        part
    }
}

/// The latency at the 100th percentile and the mean, in milliseconds, and how many there are.
fn figures(recorder: &record::Recorder) -> (u64, u64, u64) {
    let latency = recorder.latency().expect("there are samples");
    let in_ms = |ns: f64| (ns / MS as f64).round() as u64;
    (
        in_ms(latency.max_ns as f64),
        in_ms(latency.mean_ns),
        latency.count,
    )
}

#[test]
fn a_closed_loop_sends_the_next_sample_when_one_is_complete() {
    let mut world = World::new(Load::closed(4, 20), 10);
    let ledger = world.begin(20, false);
    let began_ns = world.clients.now_ns;
    let first = (0..4).map(|_| ledger.release().unwrap().0).collect();
    world.tell(Command::Send(first));
    world.pass(began_ns + 1_000 * MS, 10 * MS, 0..0);
    let over_ns = world
        .clients
        .reported(|report| matches!(report, Report::AllSamples));
    assert_eq!(over_ns, Some(began_ns + 50 * MS), "five rounds of four");
    let part = world.finish();
    assert_eq!(figures(&part.latencies.completion), (10, 10, 20));
    assert_eq!(part.counts.sent, 20);
    assert!(part.faults.is_empty(), "{}", part.faults);
}

/// Another worker releases a sample, hears only then that the step is given up, and its word comes last.
#[test]
fn nothing_is_sent_of_a_step_that_was_given_up() {
    for finished in [false, true] {
        let mut world = World::new(Load::closed(4, 20), 10);
        let ledger = world.begin(20, false);
        let (first, late) = (ledger.release().unwrap().0, ledger.release().unwrap().0);
        world.tell(Command::Send(vec![first]));
        let began_ns = world.clients.now_ns;
        world.pass(began_ns + MS, 10 * MS, 0..0);
        world.tell(Command::GiveUp { count: true });
        let sent = finished.then(|| world.finish().counts.sent);
        world.tell(Command::Send(vec![late]));
        world.scenario.turn(&mut world.clients);
        assert!(world.clients.sent.is_empty(), "{finished}");
        assert_eq!(sent.unwrap_or_else(|| world.finish().counts.sent), 1);
        // The next step has its own.
        let ledger = world.begin(20, false);
        world.scenario.reset();
        world.tell(Command::Send(vec![ledger.release().unwrap().0]));
        world.scenario.turn(&mut world.clients);
        assert_eq!(world.clients.sent.len(), 1);
    }
}

fn every_10_ms(duration_ns: u64) -> OpenLoop {
    OpenLoop {
        rate: 100.0,
        ramp: None,
        arrivals: Arrivals::Constant,
        duration: Nanos(duration_ns),
        warm_up: Nanos(0),
    }
}

/// The loop of the generator is away for 200 ms of a second. What was due meanwhile is sent at once
/// when it is back: its latency counts from when it was due, and the uncorrected one does not.
#[test]
fn an_open_loop_counts_from_the_intended_moment() {
    let load = every_10_ms(1_000 * MS);
    let mut world = World::new(Load::Open(load.clone()), 10);
    let ledger = world.begin(100, true);
    let start_ns = world.clients.now_ns;
    world.tell(Command::Start { load, start_ns });
    let away = start_ns + 400 * MS + 1..start_ns + 600 * MS;
    world.pass(start_ns + 2_000 * MS, 2 * MS, away);
    assert_eq!(ledger.completed_timed(), 100);
    let latencies = world.finish().latencies;
    // 410 ms was due 190 ms before, and the answer takes 2 ms more.
    assert_eq!(figures(&latencies.completion).0, 192);
    assert_eq!(figures(&latencies.send_lag), (190, 19, 100));
    // The answer to 400 ms came at 402 ms; its arrival is stamped, whenever it is read.
    assert_eq!(figures(&latencies.uncorrected), (2, 2, 100));
}

/// Nothing that the server does moves a send.
#[test]
fn an_open_loop_does_not_wait_for_the_server() {
    let load = every_10_ms(1_000 * MS);
    let mut world = World::new(Load::Open(load.clone()), 10);
    let ledger = world.begin(100, true);
    let start_ns = world.clients.now_ns;
    world.tell(Command::Start { load, start_ns });
    world.pass(start_ns + 1_000 * MS, 60_000 * MS, 0..0);
    assert_eq!(ledger.sent_by(start_ns + 990 * MS), 100);
    assert_eq!(ledger.completed_timed(), 0);
}

#[test]
fn a_sample_whose_connection_takes_no_bytes_waits_for_it() {
    let mut world = World::new(Load::closed(1, 1), 1);
    let ledger = world.begin(1, false);
    let (index, _) = ledger.release().unwrap();
    world.clients.blocked.push(0);
    world.tell(Command::Send(vec![index]));
    let began_ns = world.clients.now_ns;
    world.pass(began_ns + 300 * MS, MS, 0..0);
    assert_eq!((ledger.when_sent(index), ledger.never_taken()), (None, 1));
    world.clients.blocked.clear();
    world.scenario.after_flush(0, &mut world.clients);
    assert_eq!(ledger.when_sent(index).unwrap().at_ns, began_ns + 300 * MS);
    world.pass(began_ns + 400 * MS, MS, 0..0);
    assert_eq!(ledger.completed_timed(), 1);
}

#[test]
fn a_client_that_is_lost_is_not_waited_for() {
    let mut world = World::new(Load::closed(1, 2), 1);
    let ledger = world.begin(2, false);
    let (index, _) = ledger.release().unwrap();
    world.tell(Command::Send(vec![index]));
    let began_ns = world.clients.now_ns;
    world.pass(began_ns + MS, 10 * MS, 0..0);
    let addr = ([127, 0, 0, 1], 1).into();
    world.clients.end(0, ConnectError::Refused { addr });
    world.pass(began_ns + 2 * MS, 10 * MS, 0..0);
    assert!(
        world
            .clients
            .reported(|report| matches!(report, Report::AllLost))
            .is_some()
    );
    let part = world.finish();
    assert_eq!(part.faults.to_string(), "1 lost, 1 disconnected");
    assert_eq!(part.latencies.completion.count(), 0);
}

fn hold(interval_ms: u64, timeout_ms: u64) -> World {
    let terms = Connect {
        hold: Nanos(1_000 * MS),
        ping_interval: Nanos(interval_ms * MS),
        ping_timeout: Nanos(timeout_ms * MS),
        ..Connect::default()
    };
    let mut world = World::new(Load::Connect(terms), 20);
    world.tell(Command::OpenAndHold(OpenTerms {
        have: 0,
        wanted: 20,
        by_clock: None,
    }));
    world
}

#[test]
fn a_hold_pings_each_connection_once_in_an_interval() {
    let mut world = hold(100, 100);
    let until_ns = world.clients.now_ns + 1_000 * MS;
    world.tell(Command::Hold { until_ns });
    world.pass(until_ns + 500 * MS, 7 * MS, 0..0);
    let held_ns = world
        .clients
        .reported(|report| matches!(report, Report::Held));
    assert!(held_ns.is_some_and(|at_ns| (until_ns..until_ns + 8 * MS).contains(&at_ns)));
    let held = world.finish().held;
    assert_eq!((held.sent, held.answered, held.unanswered), (200, 200, 0));
    assert_eq!(figures(&held.round_trip), (7, 7, 200));
    assert_eq!(figures(&held.ping_lag).0, 0);
}

#[test]
fn a_ping_that_is_not_answered_in_time_ends_its_connection_then() {
    let mut world = hold(100, 30);
    let began_ns = world.clients.now_ns;
    world.tell(Command::Hold {
        until_ns: began_ns + 1_000 * MS,
    });
    world.pass(began_ns + 2_000 * MS, 31 * MS, 0..0);
    assert_eq!(world.clients.ended.len(), 20);
    let last_ns = began_ns + 130 * MS;
    assert!(
        world
            .clients
            .ended
            .iter()
            .all(|(_, at_ns)| *at_ns <= last_ns)
    );
    let held = world.finish().held;
    assert_eq!(
        (held.sent, held.unanswered, held.drops.unanswered),
        (20, 20, 20)
    );
    let held_ns = world
        .clients
        .reported(|report| matches!(report, Report::Held));
    assert_eq!(held_ns, Some(world.clients.ended[19].1));
}

/// A generator that was stopped leaves out the pings that it missed, and drops no connection for it.
#[test]
fn a_hold_that_was_stopped_goes_on_with_the_next_pings() {
    let mut world = hold(100, 100);
    let began_ns = world.clients.now_ns;
    let until_ns = began_ns + 1_000 * MS;
    world.tell(Command::Hold { until_ns });
    world.pass(
        until_ns + 500 * MS,
        5 * MS,
        began_ns + 300 * MS..began_ns + 650 * MS,
    );
    let held = world.finish().held;
    assert_eq!(held.unanswered, 0);
    assert_eq!(held.sent, held.answered);
    assert!((120..180).contains(&held.sent), "{}", held.sent);
}

#[test]
fn a_raw_echo_iterates_until_its_time_is_over() {
    let terms = RawTerms {
        payload_bytes: 20,
        frames: 5,
        until_ns: 1_030 * MS,
        seed: 1,
    };
    let mut world = World::with(Work::RawEcho, Load::default(), 3);
    world.tell(Command::Raw(terms));
    for _ in 0..10 {
        world.scenario.turn(&mut world.clients);
        world.clients.now_ns += 10 * MS;
        let now_ns = world.clients.now_ns;
        for sent in std::mem::take(&mut world.clients.sent) {
            let mut echo = Vec::new();
            ws_proto::encode_frame(&mut echo, sent.opcode, None, &sent.payload);
            world.scenario.bytes(sent.slot, &echo, now_ns);
        }
    }
    let part = world
        .clients
        .reports
        .iter()
        .find_map(|(at_ns, report)| match report {
            Report::Part(part) => Some((*at_ns, part.raw.clone())),
            _ => None,
        });
    let (at_ns, raw) = part.unwrap();
    assert_eq!(raw.fault, None);
    assert_eq!((raw.iterations, raw.echoes), (3, 45));
    assert_eq!((raw.last_ns, at_ns), (1_030 * MS, 1_030 * MS));
}

/// When a watched step is over whose server takes `delay_ns`. The loop does not run during `away`.
fn watched_until(terms: plan::Watch, delay_ns: u64, away: std::ops::Range<u64>) -> u64 {
    let mut world = World::new(Load::Watch(terms), 10);
    let start_ns = world.clients.now_ns;
    world.tell(Command::Watch { start_ns });
    let away = start_ns + away.start..start_ns + away.end;
    world.pass(start_ns + 300_000 * MS, delay_ns, away);
    let over_ns = world
        .clients
        .reported(|report| matches!(report, Report::Held));
    assert_eq!(world.finish().counts.sent, terms.messages());
    over_ns.unwrap() - start_ns
}

/// The loop is away when the last messages are due and for longer than the patience. They leave when
/// it is back, and are listened for as long as any other.
#[test]
fn watched_messages_that_leave_late_have_their_whole_time() {
    let terms = plan::Watch {
        rate: 100.0,
        duration: Nanos(1_000 * MS),
        patience: Nanos(300 * MS),
    };
    let away = 900 * MS + 1..1_400 * MS;
    // The last is sent at 1,400 ms and comes two later.
    assert_eq!(watched_until(terms, 2 * MS, away), 1_702 * MS);
}

#[test]
fn a_server_that_is_behind_is_listened_to_for_a_minute_more() {
    let terms = plan::Watch {
        rate: 1.0,
        duration: Nanos(100_000 * MS),
        patience: Nanos(2_000 * MS),
    };
    for (delay_s, over_s, why) in [
        (0, 102, "the last message comes after 99 s"),
        (30, 131, "the last message comes after 129 s"),
        (99, 162, "messages come every second until 198 s"),
        (150, 102, "no message comes until 150 s"),
    ] {
        let over_ns = watched_until(terms, delay_s * 1_000 * MS, 0..0);
        assert_eq!(over_ns, over_s * 1_000 * MS, "{why}");
    }
}
