//! Merges the workers' parts of a step: histograms are merged whole, counts are added.

use super::Kept;
use crate::figures::{Counts, Latencies, SharedStamps};
use crate::message::{
    DialoguesPart, DropsPart, FeedPart, FirstFaults, HandshakePart, HeartbeatPart, HttpPart,
    OfSender, SegmentsPart, SlowPart, StepPart, StreamsPart,
};
use crate::plan::{Hearing as _, count_of};
use crate::verify::Flight;
use plan::{Measure, Plan, Reading, Workload};
use record::{
    Backpressure, CompressionUse, Faults, GeneratorUse, InFlight, Latency, Recorder, SiteUse,
    SlowReaders, StepRecord, Throughput, Told, Verdict,
};

/// Everything that a step's record is made from.
pub(super) struct Merged<'a> {
    pub(super) plan: &'a Plan,
    pub(super) clients: u64,
    /// Requests per second planned, in an open loop.
    pub(super) rate: Option<f64>,
    /// Timed samples of the step, and those of them that completed.
    pub(super) planned: u64,
    pub(super) samples: u64,
    /// Timed samples that were sent in time, in an open loop.
    pub(super) sent: Option<u64>,
    /// Timed samples that the peers did not take in time.
    pub(super) backpressure: Option<Backpressure>,
    /// What was in flight, of a step in which all samples were completed.
    pub(super) flight: Option<Flight>,
    pub(super) elapsed_ns: u64,
    /// How much of that was not timed.
    pub(super) warm_up_ns: u64,
    /// CPU time of the whole process meanwhile.
    pub(super) cpu_ns: u64,
    pub(super) timed_out: bool,
    /// What the coordinator itself recorded.
    pub(super) kept: Kept,
    /// A row for each site, if there are any, and the parts with the numbers of their rows.
    pub(super) rows: Vec<SiteUse>,
    pub(super) parts: Vec<(u32, StepPart)>,
}

/// What the counts of a step do not show.
#[derive(Debug, Default)]
pub(super) struct Uncounted {
    pub(super) of_sender: OfSender,
    pub(super) first: FirstFaults,
}

impl Merged<'_> {
    /// The record, and what its counts do not show.
    pub(super) fn into_record(self) -> (StepRecord, Uncounted) {
        let mut all = self.kept.latencies;
        let (mut counts, mut series) = (Counts::default(), self.kept.rows);
        let mut rows = self.rows;
        let mut faults = Faults::default();
        let mut generator = GeneratorUse {
            cpu_ns: self.cpu_ns,
            resident_bytes: resident_bytes(),
            ..GeneratorUse::default()
        };
        let mut uncounted = Uncounted::default();
        let mut slow = SlowPart::default();
        let mut segments = SegmentsPart::default();
        let mut compression = CompressionUse::default();
        let mut handshakes = HandshakePart::default();
        let mut drops = DropsPart::default();
        let mut beats: Option<Box<HeartbeatPart>> = None;
        let mut feed: Option<Box<FeedPart>> = None;
        let mut http: Option<Box<HttpPart>> = None;
        let mut streams: Option<Box<StreamsPart>> = None;
        let mut dialogues: Option<Box<DialoguesPart>> = None;
        if !rows.is_empty() {
            (generator.cpu_ns, generator.resident_bytes) = (0, 0);
        }
        for (site, part) in self.parts {
            all.merge(&part.latencies);
            faults.merge(&part.faults);
            uncounted.of_sender.merge(part.of_sender);
            uncounted.first.merge(part.first);
            slow.merge(part.slow);
            counts.add(part.counts);
            segments.merge(part.segments);
            compression.add(part.compression);
            handshakes.merge(part.handshakes);
            if let Some(of) = part.heartbeats {
                beats.get_or_insert_default().merge(*of);
            }
            if let Some(of) = part.feed {
                feed.get_or_insert_default().merge(*of);
            }
            drops.merge(part.drops);
            if let Some(of) = part.http {
                http.get_or_insert_default().merge(*of);
            }
            if let Some(of) = part.streams {
                streams.get_or_insert_default().merge(&of);
            }
            if let Some(of) = part.dialogues {
                dialogues.get_or_insert_default().merge(&of);
            }
            series.merge(part.rows);
            generator.messages += part.messages;
            generator.reads += part.reads;
            generator.unstamped_reads += part.unstamped;
            generator.clock_steps += part.clock_steps;
            generator.largest_lag_ns = generator.largest_lag_ns.max(part.largest_lag_ns);
            generator.cpu_ns += part.process_cpu_ns;
            generator.resident_bytes += part.resident_bytes;
            let share = part.busiest_cpu_ns as f64 / self.elapsed_ns.max(1) as f64;
            generator.busiest_thread = generator.busiest_thread.max(share.min(1.0));
            if let Some(row) = rows.get_mut(site as usize) {
                let send_lag = &part.latencies.send_lag;
                row.send_lag_p99_ns = (send_lag.count() > 0).then(|| send_lag.percentile(99.0));
                row.messages = part.messages;
                row.cpu_ns = part.process_cpu_ns;
                row.busiest_thread = share.min(1.0);
                row.largest_lag_ns = part.largest_lag_ns;
                row.resident_bytes = part.resident_bytes;
            }
        }
        generator.receive_lag = all.receive_lag.latency();
        let limit = &self.plan.limits;
        generator.shared_stamps = all.shared.error.latency();
        let limited = limited(&all, self.plan);
        let limited_ns = (limited.count() > 0).then(|| limited.percentile(limit.percentile));
        let at_least = (all.shared.at_least.count() > 0).then(|| at_least(limited, &all.shared));
        let limited_at_least_ns = at_least.as_ref().map(|of| of.percentile(limit.percentile));
        let has_samples = self.plan.workload() != Workload::Connect;
        let broadcast = self.plan.audience.reaches_others();
        let listened = |recorder: &Recorder| -> Option<Latency> {
            broadcast.then(|| recorder.latency()).flatten()
        };
        let in_flight = self.flight.filter(|_| faults.is_empty()).map(|flight| {
            law(
                flight,
                &all,
                self.elapsed_ns.saturating_sub(self.warm_up_ns),
            )
        });
        let record = StepRecord {
            clients: self.clients,
            rate: self.rate,
            samples_planned: self.planned,
            samples: self.samples,
            sent: self.sent,
            backpressure: self.backpressure,
            elapsed_ns: self.elapsed_ns,
            connecting_ns: 0,
            completion: all.completion.latency(),
            delivery: listened(&all.delivery),
            ack: listened(&all.ack),
            uncorrected: all.uncorrected.latency(),
            send_lag: all.send_lag.latency(),
            limited_ns,
            limited_at_least_ns,
            limited_at_least: at_least.as_ref().and_then(Recorder::latency),
            over_limit: limited_ns.is_some_and(|ns| ns > limit.time.ns()),
            timed_out: self.timed_out,
            throughput: has_samples.then(|| throughput(counts, self.elapsed_ns)),
            received_segments: (has_samples && !segments.is_unknown).then_some(segments.received),
            series: series.series().filter(|_| has_samples),
            compression: self.plan.connection.compression.map(|_| compression),
            tls: self
                .plan
                .target
                .is_secure()
                .then(|| Box::new(handshakes.into_use())),
            heartbeats: beats.map(|beats| Box::new(beats.into_record())),
            feed: feed.map(|feed| Box::new(feed.into_record())),
            http: http.map(|http| Box::new(http.into_record())),
            streams: streams.map(|streams| Box::new(streams.into_record())),
            dialogues: dialogues.map(|of| Box::new(of.into_record(self.plan.script()))),
            churn: None,
            slow_readers: slow_readers(self.plan, self.clients, slow),
            drops: drops.into_record().map(Box::new),
            faults,
            generator,
            connections: None,
            watched: None,
            in_flight,
            sites: rows,
            release_delay: self.kept.release_delay.latency(),
            verdict: Verdict::default(),
            verdict_reasons: Vec::new(),
        };
        (record, uncounted)
    }
}

fn slow_readers(plan: &Plan, clients: u64, part: SlowPart) -> Option<SlowReaders> {
    let slow = count_of(&plan.populations, clients, |of| of.reads != Reading::Full);
    (slow > 0 || part.cut_off > 0).then_some(SlowReaders {
        clients: slow,
        messages: part.messages,
        cut_off: part.cut_off,
        first_cut_off: part.first_cut_off.map(Told::from),
        kept_bytes: (!part.is_kept_unknown).then_some(part.kept_bytes),
        most_kept_bytes: (!part.is_kept_unknown).then_some(part.most_kept_bytes),
    })
}

/// Little's law: the integral of what was in flight against the latencies in the histograms.
fn law(flight: Flight, all: &Latencies, timed_ns: u64) -> InFlight {
    let from_send = match all.uncorrected.count() {
        0 => &all.completion,
        _ => &all.uncorrected,
    };
    let timed_ns = timed_ns.max(1) as f64;
    let (count, mean_ns) = from_send
        .latency()
        .map_or((0, 0.0), |latency| (latency.count, latency.mean_ns));
    let mean_of = |sum: u64| sum as f64 / count.max(1) as f64;
    let law = InFlight::new(
        flight.area_ns as f64 / timed_ns,
        count as f64 / timed_ns,
        mean_ns,
        mean_of(flight.known_after_ns),
    );
    InFlight {
        unread_ns: mean_of(flight.unread_ns),
        ..law
    }
}

/// The distribution that the limit applies to; an echo has only one.
const fn limited<'a>(all: &'a Latencies, plan: &Plan) -> &'a Recorder {
    match plan.limited() {
        Measure::Completion => &all.completion,
        Measure::Delivery => &all.delivery,
        Measure::Ack => &all.ack,
    }
}

fn throughput(counts: Counts, elapsed_ns: u64) -> Throughput {
    let whole = Throughput {
        sent: counts.sent,
        received: counts.received,
        sent_bytes: counts.sent_bytes,
        received_bytes: counts.received_bytes,
        ..Throughput::default()
    };
    whole.over(elapsed_ns)
}

/// The limited distribution with each message that shared a stamp taken as early as it may have come.
fn at_least(limited: &Recorder, shared: &SharedStamps) -> Recorder {
    let mut all = limited.clone();
    all.subtract(&shared.at_most);
    all.merge(&shared.at_least);
    all
}

/// Resident memory of this process, from /proc/self/statm.
pub(crate) fn resident_bytes() -> u64 {
    // SAFETY: sysconf takes no pointer.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok())
        .map_or(0, |pages| pages * page)
}

#[cfg(test)]
mod tests;
