//! The ledger of a delay server: what it knows of each request, by stamp, in whatever order the
//! requests came. Pure.
//!
//! The generator's clocks are not used. A request was sent between the moment at which it was due and
//! its arrival. A message arrived between the two clock readings that the server takes before and
//! after its write. The width of these intervals is measured.

use super::bench::nanos;
use super::bounds::{Bounds, CLOCKS_NS, Interval};
use plan::Timestamps;
use record::{Check, Latency, StepRecord, TimeRow, Unit};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use test_servers::{Truth, Write};

/// Most time from the clock reading before a send to the arrival, over loopback, unless the thread is
/// descheduled in between.
const WRITE_NS: f64 = 150_000.0;
/// The same at a site, which reports to the coordinator in between.
const WRITE_AT_SITE_NS: f64 = 300_000.0;
/// The same for the earliest of all sends.
const PROMPT_NS: f64 = 50_000.0;
/// Bound for the first send of a closed loop, which waits for no other.
const FIRST_NS: f64 = 1e9;
/// Two messages may have been read together when the time between them is at most the longest time
/// that, by the generator's records, a message lay unread, times this ...
const UNREAD: f64 = 1.5;
/// ... plus this.
const UNREAD_NS: f64 = 1e6;
/// Longest pause of a thread that no record shows, because nothing was to read in its first part.
const ASIDE_NS: f64 = 100e6;

/// A step is given up when a smaller share of its requests was sent in time.
pub(super) const SENT: f64 = 0.99;

/// How requests came to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sends {
    /// Evenly, so many per second.
    Evenly(f64),
    /// The same, by several sites.
    AtSites(f64),
    /// One when the one before was complete.
    InTurn,
}

/// One request.
#[derive(Clone, Debug)]
struct Request {
    arrival_ns: f64,
    /// It came in one read with a later one, whose stamp stands for its arrival.
    shared: bool,
    /// Times around the writes of its answer or copies, and of its result.
    copies: Vec<Span>,
    result: Option<Span>,
}

/// A write: the clock before and after, and after the last write to the same connection that may
/// have been read together with it, by the generator's records or beyond them.
#[derive(Clone, Copy, Debug)]
struct Span {
    before: f64,
    after: f64,
    together: f64,
    aside: f64,
}

/// When a request was to be sent and was sent.
#[derive(Clone, Copy, Debug)]
struct Left {
    due: [f64; 2],
    sent: [f64; 2],
    /// The earliest, if the thread was put aside before the write.
    aside: f64,
}

/// The distributions that a step reports, as the server knows them.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) completion: Bounds,
    pub(super) uncorrected: Bounds,
    pub(super) send_lag: Bounds,
    pub(super) delivery: Bounds,
    pub(super) ack: Bounds,
    /// Requests, each stamp once.
    pub(super) requests: u64,
    /// Messages that were written for them, and those that the step has as answers to heartbeats.
    pub(super) messages: u64,
    /// Bytes of their frames.
    bytes: u64,
    /// Answers to heartbeats in the step, and in the whole run.
    heartbeats: [u64; 2],
    /// From the first arrival to the last write, nanoseconds.
    lasted: f64,
    /// Requests that carried the stamp of no sample of this run, or one that had come before.
    pub(super) strangers: u64,
    /// Copies that left behind one of a later request of the same sender.
    overtaken: u64,
    /// Requests that had surely been sent by then: for each, nanoseconds after the start.
    arrived: Vec<f64>,
}

impl Ledger {
    /// The ledger of a step under `seed`, whose record tells how many messages shared a read.
    pub(super) fn new(truth: &Truth, step: &StepRecord, seed: u64, sends: Sends) -> Self {
        let used = &step.generator;
        // How many had no stamp of their own, and the most by which these may be late.
        let shared = used.shared_stamps.as_ref();
        let most_late = shared.map_or(0, |shared| shared.max_ns) as f64;
        let shared = shared.map_or(0, |shared| shared.count);
        let longest = used.receive_lag.as_ref().map_or(0, |lag| lag.max_ns);
        let unread = longest as f64 * UNREAD + UNREAD_NS;
        let (requests, strangers) = requests(truth, seed, unread);
        let promptest = step.send_lag.as_ref().map_or(0, |lag| lag.min_ns);
        let prompt = PROMPT_NS + (promptest as f64).min(1e6);
        let left = left(&requests, sends, prompt);
        let mut series: [Vec<Interval>; 5] = std::array::from_fn(|_| Vec::new());
        let [completion, uncorrected, send_lag, delivery, ack] = &mut series;
        let later = |span: Span| Span {
            together: span.together.min(span.after + most_late),
            aside: span.aside.min(span.after + most_late),
            ..span
        };
        for (request, left) in requests.values().zip(&left) {
            let last = request.copies.iter().copied().reduce(Span::last);
            if let Some(last) = last.map(later) {
                completion.push(last.since(left.due, left.due[0]));
                uncorrected.push(last.since(left.sent, left.aside));
            }
            let copies = request.copies.iter().copied().map(later);
            delivery.extend(copies.map(|span| span.since(left.due, left.due[0])));
            let result = request.result.map(later);
            ack.extend(result.map(|span| span.since(left.due, left.due[0])));
            let most = left.sent[1] - left.due[0];
            send_lag.push(Interval {
                least: (left.sent[0] - left.due[1]).max(0.0),
                most,
                together: most,
                least_aside: 0.0,
                most_aside: most,
                together_aside: most,
            });
        }
        let [completion, uncorrected, send_lag, delivery, ack] =
            series.map(|intervals| Bounds::new(&intervals, shared));
        let answered = step.heartbeats.as_ref().map_or(0, |of| of.answered);
        let each = truth.heartbeats.first().copied().unwrap_or_default();
        let written: u64 = truth.writes.iter().map(|write| write.bytes).sum();
        let start = left.first().map_or(0.0, |left| left.due[0]);
        Self {
            completion,
            uncorrected,
            send_lag,
            delivery,
            ack,
            requests: requests.len() as u64,
            messages: truth.writes.len() as u64 + answered,
            bytes: written + answered * each,
            heartbeats: [answered, truth.heartbeats.len() as u64],
            lasted: lasted(truth),
            strangers,
            overtaken: overtaken(truth, seed),
            arrived: requests.values().map(|r| r.arrival_ns - start).collect(),
        }
    }

    /// Holds every figure of a step against the ledger. `planned` requests were to be sent.
    pub(super) fn hold(&self, name: &str, step: &StepRecord, planned: u64) -> Vec<Check> {
        let excuse = excuse(step);
        let excuse = excuse.as_deref();
        let exactly = |what: &str, known, measured| {
            Check::exactly(&format!("{name}: {what}"), known, measured)
        };
        let mut checks = vec![
            exactly("requests at the server", planned, self.requests),
            exactly("requests that are no sample", 0, self.strangers),
            exactly("samples planned", planned, step.samples_planned),
            exactly("samples", self.requests, step.samples),
            exactly("messages", self.messages, step.generator.messages),
            exactly("reordered", self.overtaken, step.faults.reordered),
            exactly(
                "other faults",
                0,
                step.faults.total() - step.faults.reordered,
            ),
        ];
        let [in_step, in_all] = self.heartbeats;
        if step.heartbeats.is_some() {
            // The server does not know which of them the step has.
            checks.push(Check::between(
                &format!("{name}: answers to heartbeats"),
                Unit::Count,
                in_step as f64,
                Some(0.0),
                Some(in_all as f64),
            ));
        }
        checks.extend(self.hold_traffic(name, step));
        let mut hold = |what: &str, bounds: &Bounds, reported| {
            checks.extend(bounds.hold(&format!("{name}: {what}"), reported, excuse));
        };
        hold("completion", &self.completion, step.completion.as_ref());
        if self.ack.len() > 0 {
            hold("delivery", &self.delivery, step.delivery.as_ref());
            hold("ack", &self.ack, step.ack.as_ref());
        }
        checks
    }

    /// Messages and bytes, as totals, as rates and second by second.
    fn hold_traffic(&self, name: &str, step: &StepRecord) -> Vec<Check> {
        let said = step.throughput.unwrap_or_default();
        let series = step.series.clone().unwrap_or_default();
        let sum = |of: fn(&TimeRow) -> u64| series.rows.iter().map(of).sum::<u64>();
        let exactly = |what: &str, known, measured| {
            Check::exactly(&format!("{name}: traffic, {what}"), known, measured)
        };
        let seconds = step.elapsed_ns as f64 / 1e9;
        let rate = |what: &str, count: u64, measured| {
            let known = count as f64 / seconds;
            let what = format!("{name}: traffic, {what} per second");
            Check::within(&what, Unit::Count, known, measured, known * 1e-6)
        };
        vec![
            exactly("requests", self.requests, said.sent),
            exactly("messages", self.messages, said.received),
            exactly("bytes received", self.bytes, said.received_bytes),
            rate("requests", self.requests, said.sent_per_second),
            rate("messages", self.messages, said.received_per_second),
            rate("bytes", self.bytes, said.received_bytes_per_second),
            exactly(
                "requests, second by second",
                self.requests,
                sum(|row| row.sent),
            ),
            exactly(
                "messages, second by second",
                self.messages,
                sum(|row| row.received),
            ),
            exactly(
                "bytes, second by second",
                self.bytes,
                sum(|row| row.received_bytes),
            ),
            exactly(
                "samples, second by second",
                self.requests,
                sum(|row| row.completed),
            ),
            Check::between(
                &format!("{name}: traffic, length of the step"),
                Unit::Nanoseconds,
                step.elapsed_ns as f64,
                Some(self.lasted - CLOCKS_NS),
                None,
            ),
        ]
    }

    /// The same for what only an open loop reports, `lasting` so long.
    pub(super) fn hold_open(&self, name: &str, step: &StepRecord, lasting: Duration) -> Vec<Check> {
        let mut checks = self.hold_sends(name, step);
        checks.extend(self.hold_sums(name, step, lasting));
        checks
    }

    /// What was found in a step of an open loop that was given up says nothing: when its time was
    /// over, too few requests had been sent. Both sides must say so.
    pub(super) fn unless_given_up(
        &self,
        checks: Vec<Check>,
        step: &StepRecord,
        planned: u64,
        lasting: Duration,
    ) -> Vec<Check> {
        let enough = |count: u64| count as f64 >= planned as f64 * SENT;
        let in_time = self.in_time(lasting);
        let given_up = !enough(in_time) && step.sent.is_some_and(|sent| !enough(sent));
        let reason = given_up.then(|| {
            format!(
                "too little CPU: {in_time} of {planned} requests came to the server within the \
                 time of the step, which is given up then"
            )
        });
        let checks = checks.into_iter();
        checks.map(|check| check.unless(reason.clone())).collect()
    }

    /// Requests that were surely sent within the time of a step, and 50 ms after it (see `sent` in
    /// the record).
    fn in_time(&self, lasting: Duration) -> u64 {
        let end = nanos(lasting) as f64 + 50e6;
        self.arrived.iter().filter(|after| **after <= end).count() as u64
    }

    fn hold_sends(&self, name: &str, step: &StepRecord) -> Vec<Check> {
        let excuse = excuse(step);
        let mut checks = Vec::new();
        for (what, bounds, reported) in [
            ("from the real send", &self.uncorrected, &step.uncorrected),
            ("lateness of sends", &self.send_lag, &step.send_lag),
        ] {
            let what = format!("{name}: {what}");
            checks.extend(bounds.hold(&what, reported.as_ref(), excuse.as_deref()));
        }
        checks
    }

    /// Of an open loop only what holds although the server cannot tell when each request came.
    pub(super) fn hold_sums(&self, name: &str, step: &StepRecord, lasting: Duration) -> Vec<Check> {
        let mut checks = vec![sum(name, step)];
        let in_time = self.in_time(lasting);
        checks.push(Check {
            known: Some(self.requests as f64),
            ..Check::between(
                &format!("{name}: sent in time"),
                Unit::Count,
                step.sent.map_or(f64::NAN, |sent| sent as f64),
                Some(in_time as f64),
                Some(self.requests as f64),
            )
        });
        checks
    }
}

impl Request {
    /// The earliest that it was sent, by its arrival alone.
    const fn sent_from(&self, sends: Sends) -> f64 {
        match sends {
            _ if self.shared => f64::NEG_INFINITY,
            Sends::AtSites(_) => self.arrival_ns - WRITE_AT_SITE_NS,
            Sends::Evenly(_) | Sends::InTurn => self.arrival_ns - WRITE_NS,
        }
    }
}

impl Span {
    /// The last of both.
    const fn last(self, other: Self) -> Self {
        Self {
            before: self.before.max(other.before),
            after: self.after.max(other.after),
            together: self.together.max(other.together),
            aside: self.aside.max(other.aside),
        }
    }

    /// The time since a moment that lies in an interval; `aside` is the earliest that it may be if
    /// a thread was put aside.
    const fn since(self, from: [f64; 2], aside: f64) -> Interval {
        Interval {
            least: self.before - from[1],
            most: self.after - from[0],
            together: self.together - from[0],
            least_aside: self.before - from[1],
            most_aside: self.after - aside,
            together_aside: self.aside - aside,
        }
    }
}

/// The requests by their samples, and how many more there were.
fn requests(truth: &Truth, seed: u64, unread_ns: f64) -> (BTreeMap<u64, Request>, u64) {
    let sample_of = |stamp: Option<u64>| ws_load::sample_of_stamp(seed, stamp?);
    let mut strangers = 0;
    let mut requests = BTreeMap::new();
    for answer in &truth.answers {
        let request = Request {
            arrival_ns: answer.arrival_ns as f64,
            shared: answer.shared,
            copies: Vec::new(),
            result: None,
        };
        match sample_of(answer.stamp) {
            Some(sample) if !requests.contains_key(&sample) => {
                requests.insert(sample, request);
            }
            _ => strangers += 1,
        }
    }
    let read_together = together(&truth.writes, unread_ns);
    let aside = together(&truth.writes, 2.0 * unread_ns + ASIDE_NS);
    for (write, (together, aside)) in truth
        .writes
        .iter()
        .zip(read_together.into_iter().zip(aside))
    {
        let span = Span {
            before: write.before_ns as f64,
            after: write.after_ns as f64,
            together,
            aside,
        };
        let request = sample_of(write.stamp).and_then(|sample| requests.get_mut(&sample));
        match request {
            Some(request) if write.result => request.result = Some(span),
            Some(request) => request.copies.push(span),
            None => {}
        }
    }
    (requests, strangers)
}

/// From the first arrival to the last write, nanoseconds.
fn lasted(truth: &Truth) -> f64 {
    let first = truth.answers.iter().map(|answer| answer.arrival_ns).min();
    let last = truth.writes.iter().map(|write| write.before_ns).max();
    last.zip(first)
        .map_or(0.0, |(last, first)| last.saturating_sub(first) as f64)
}

/// Copies that were written behind one of a later request of the same sender, whom a result tells;
/// an echo is for its sender.
fn overtaken(truth: &Truth, seed: u64) -> u64 {
    let (results, copies): (Vec<&Write>, Vec<&Write>) =
        truth.writes.iter().partition(|write| write.result);
    let results = results
        .into_iter()
        .map(|write| (write.stamp, write.connection));
    let senders: HashMap<Option<u64>, u64> = results.collect();
    let mut latest: HashMap<(u64, u64), u64> = HashMap::new();
    let mut overtaken = 0;
    for write in copies {
        let sample = write
            .stamp
            .and_then(|stamp| ws_load::sample_of_stamp(seed, stamp));
        let Some(sample) = sample else { continue };
        let sender = senders.get(&write.stamp).copied();
        let of_sender = (write.connection, sender.unwrap_or(write.connection));
        let latest = latest.entry(of_sender).or_insert(sample);
        overtaken += u64::from(sample < *latest);
        *latest = sample.max(*latest);
    }
    overtaken
}

/// For each write, the end of the last one to the same connection that may have been read with it.
fn together(writes: &[Write], unread_ns: f64) -> Vec<f64> {
    let mut of_connection: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, write) in writes.iter().enumerate() {
        of_connection
            .entry(write.connection)
            .or_default()
            .push(place);
    }
    let mut ends = vec![0.0; writes.len()];
    for places in of_connection.values() {
        let mut last = 0;
        for (n, place) in places.iter().enumerate() {
            let until = writes[*place].after_ns as f64 + unread_ns;
            last = last.max(n);
            while let Some(next) = places.get(last + 1) {
                if writes[*next].before_ns as f64 > until {
                    break;
                }
                last += 1;
            }
            ends[*place] = writes[places[last]].after_ns as f64;
        }
    }
    ends
}

/// When each request was due and left, in the order of the samples. The promptest of all took
/// `prompt_ns` at most from the moment at which it was due.
fn left(requests: &BTreeMap<u64, Request>, sends: Sends, prompt_ns: f64) -> Vec<Left> {
    match sends {
        Sends::Evenly(rate) | Sends::AtSites(rate) => {
            let after = |sample: u64| sample as f64 * 1e9 / rate;
            let starts = requests.iter().map(|(n, r)| r.arrival_ns - after(*n));
            let latest = starts.fold(f64::INFINITY, f64::min);
            let requests = requests.iter().map(|(sample, request)| {
                let due = [latest - prompt_ns + after(*sample), latest + after(*sample)];
                Left {
                    due,
                    sent: [due[0].max(request.sent_from(sends)), request.arrival_ns],
                    aside: due[0],
                }
            });
            requests.collect()
        }
        Sends::InTurn => {
            let mut released = f64::NEG_INFINITY;
            let requests = requests.values().map(|request| {
                let arrival = request.arrival_ns;
                let aside = released.max(arrival - FIRST_NS);
                let sent = [aside.max(request.sent_from(sends)), arrival];
                let writes = request.copies.iter().chain(&request.result);
                released = writes.map(|span| span.before).fold(arrival, f64::max);
                Left {
                    due: sent,
                    sent,
                    aside,
                }
            });
            requests.collect()
        }
    }
}

/// A latency from the intended send is the one from the real send and the lateness of the send:
/// for means this holds exactly, whatever the machine does.
fn sum(name: &str, step: &StepRecord) -> Check {
    let mean = |latency: &Option<Latency>| latency.as_ref().map_or(f64::NAN, |l| l.mean_ns);
    let known = mean(&step.uncorrected) + mean(&step.send_lag);
    Check::within(
        &format!("{name}: completion, mean, as real send and lateness"),
        Unit::Nanoseconds,
        known,
        mean(&step.completion),
        // Each histogram is off by its resolution at most, and by half a step of a microsecond.
        2_000.0_f64.max(known * 2e-3),
    )
}

/// Why messages may be stamped later than they came.
fn excuse(step: &StepRecord) -> Option<String> {
    let used = &step.generator;
    (used.unstamped_reads > 0 || used.clock_steps > 0).then(|| {
        format!(
            "{} reads came without a stamp, and the realtime clock was stepped {} times",
            used.unstamped_reads, used.clock_steps
        )
    })
}

/// Why a generator that stamps by its own clock may be late.
pub(super) fn own_clock(timestamps: Timestamps, checks: Vec<Check>) -> Vec<Check> {
    let excuse = (timestamps == Timestamps::User).then(|| {
        "without the kernel's stamps the time until a message is read is in every latency"
            .to_owned()
    });
    let excused = |check: Check| {
        let late = check.unit == Unit::Nanoseconds
            && check
                .measured
                .zip(check.most)
                .is_some_and(|(measured, most)| measured > most)
            || check.what.contains("ranks with");
        check.unless(excuse.clone().filter(|_| late))
    };
    checks.into_iter().map(excused).collect()
}
