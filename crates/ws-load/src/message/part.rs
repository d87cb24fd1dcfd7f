//! A worker's part of a step: whole histograms, exact counts.

use super::{DialoguesPart, DropsPart, FeedPart, HandshakePart, HttpPart, StreamsPart, WatchPart};
use crate::figures::{Counts, Latencies, Rows};
use record::{AttemptFailures, CompressionUse, Drops, Faults, Heartbeats, Recorder};
use serde::{Deserialize, Serialize};

/// The part of a worker thread, or of a whole process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StepPart {
    pub(crate) latencies: Latencies,
    pub(crate) faults: Faults,
    pub(crate) of_sender: OfSender,
    pub(crate) first: FirstFaults,
    pub(crate) messages: u64,
    pub(crate) reads: u64,
    pub(crate) unstamped: u64,
    pub(crate) clock_steps: u64,
    /// CPU time of the busiest thread.
    pub(crate) busiest_cpu_ns: u64,
    pub(crate) largest_lag_ns: u64,
    /// Of a process: CPU time of all its threads. 0 of a thread.
    pub(crate) process_cpu_ns: u64,
    /// Of a process: its resident memory. 0 of a thread.
    pub(crate) resident_bytes: u64,
    /// Everything that was sent and received.
    pub(crate) counts: Counts,
    pub(crate) rows: Rows,
    pub(crate) segments: SegmentsPart,
    /// Empty without compression.
    pub(crate) compression: CompressionUse,
    /// Empty without TLS.
    pub(crate) handshakes: HandshakePart,
    /// Absent where clients have none.
    pub(crate) heartbeats: Option<Box<HeartbeatPart>>,
    /// Absent where the dialect has none.
    pub(crate) feed: Option<Box<FeedPart>>,
    /// Absent where the dialect has no requests over HTTP.
    pub(crate) http: Option<Box<HttpPart>>,
    /// Absent where answers do not come in parts.
    pub(crate) streams: Option<Box<StreamsPart>>,
    /// Absent without dialogues.
    pub(crate) dialogues: Option<Box<DialoguesPart>>,
    /// Of clients that no sample waits for.
    pub(crate) slow: SlowPart,
    /// Absent where no client may leave.
    pub(crate) churn: Option<Box<ChurnPart>>,
    pub(crate) drops: DropsPart,
    /// Empty but in a `connect` run.
    pub(crate) held: HeldPart,
    /// Empty but in a raw echo.
    pub(crate) raw: RawPart,
    /// Absent but in a watched step.
    pub(crate) watch: Option<Box<WatchPart>>,
}

impl StepPart {
    /// Adds the part of another thread of the same process.
    pub(crate) fn merge(&mut self, other: Self) {
        self.latencies.merge(&other.latencies);
        self.faults.merge(&other.faults);
        self.of_sender.merge(other.of_sender);
        self.first.merge(other.first);
        self.messages += other.messages;
        self.reads += other.reads;
        self.unstamped += other.unstamped;
        self.clock_steps += other.clock_steps;
        self.busiest_cpu_ns = self.busiest_cpu_ns.max(other.busiest_cpu_ns);
        self.largest_lag_ns = self.largest_lag_ns.max(other.largest_lag_ns);
        self.counts.add(other.counts);
        self.rows.merge(other.rows);
        self.segments.merge(other.segments);
        self.compression.add(other.compression);
        self.handshakes.merge(other.handshakes);
        if let Some(beats) = other.heartbeats {
            self.heartbeats.get_or_insert_default().merge(*beats);
        }
        if let Some(feed) = other.feed {
            self.feed.get_or_insert_default().merge(*feed);
        }
        if let Some(http) = other.http {
            self.http.get_or_insert_default().merge(*http);
        }
        if let Some(streams) = other.streams {
            self.streams.get_or_insert_default().merge(&streams);
        }
        if let Some(dialogues) = other.dialogues {
            self.dialogues.get_or_insert_default().merge(&dialogues);
        }
        self.slow.merge(other.slow);
        if let Some(churn) = other.churn {
            self.churn.get_or_insert_default().merge(*churn);
        }
        self.drops.merge(other.drops);
        self.held.merge(other.held);
        self.raw.merge(other.raw);
        if let Some(watch) = other.watch {
            self.watch.get_or_insert_default().merge(*watch);
        }
    }
}

/// What counts do not show: the first fault of a class in words, if there was one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FirstFaults {
    pub(crate) malformed: Option<String>,
    /// The answer that refused a request.
    pub(crate) refused: Option<String>,
    /// How the connection had ended.
    pub(crate) disconnect: Option<String>,
}

impl FirstFaults {
    /// Takes what is missing here from those of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.malformed = self.malformed.take().or(other.malformed);
        self.refused = self.refused.take().or(other.refused);
        self.disconnect = self.disconnect.take().or(other.disconnect);
    }
}

/// TCP segments with data, counted by the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentsPart {
    /// That came to the clients.
    pub(crate) received: u64,
    /// Some connection came or went, or its kernel does not tell.
    pub(crate) is_unknown: bool,
}

impl SegmentsPart {
    /// Adds those of another worker.
    pub(crate) const fn merge(&mut self, other: Self) {
        self.received += other.received;
        self.is_unknown |= other.is_unknown;
    }
}

/// Messages that clients sent by the clock, so that the server knew that they lived.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HeartbeatPart {
    pub(crate) sent: u64,
    pub(crate) answered: u64,
    /// Not in time, or not at all.
    pub(crate) unanswered: u64,
    pub(crate) round_trip: Recorder,
}

impl HeartbeatPart {
    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.sent += other.sent;
        self.answered += other.answered;
        self.unanswered += other.unanswered;
        self.round_trip.merge(&other.round_trip);
    }

    /// The same for people.
    pub(crate) fn into_record(self) -> Heartbeats {
        Heartbeats {
            sent: self.sent,
            answered: self.answered,
            unanswered: self.unanswered,
            round_trip: self.round_trip.latency(),
        }
    }
}

/// How often what the sender of a broadcast or a publication got is not what the dialect says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OfSender {
    /// Copies that came and must not.
    pub(crate) copies: u64,
    /// Copies that did not come, where everything else came that their worker waits for.
    pub(crate) missing: u64,
    /// Messages that no rule matches, at most one for each request, where there is no result.
    pub(crate) unasked: u64,
}

impl OfSender {
    /// Adds those of another worker.
    pub(crate) const fn merge(&mut self, other: Self) {
        self.copies += other.copies;
        self.missing += other.missing;
        self.unasked += other.unasked;
    }
}

/// What clients did that no sample waits for: those that read slowly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SlowPart {
    /// Messages that they took.
    pub(crate) messages: u64,
    /// How many the server has cut off.
    pub(crate) cut_off: u64,
    /// How the first of these connections ended, in words.
    pub(crate) first_cut_off: Option<String>,
    /// Bytes that the others got when they read as fast as they could, and the most of one.
    pub(crate) kept_bytes: u64,
    pub(crate) most_kept_bytes: u64,
    /// They were not asked, or not to the end.
    pub(crate) is_kept_unknown: bool,
}

impl SlowPart {
    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.messages += other.messages;
        self.cut_off += other.cut_off;
        self.first_cut_off = self.first_cut_off.take().or(other.first_cut_off);
        self.kept_bytes += other.kept_bytes;
        self.most_kept_bytes = self.most_kept_bytes.max(other.most_kept_bytes);
        self.is_kept_unknown |= other.is_kept_unknown;
    }
}

/// What clients did that leave and come back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ChurnPart {
    pub(crate) left: u64,
    pub(crate) unclosed: u64,
    pub(crate) attempts: u64,
    pub(crate) failures: AttemptFailures,
    pub(crate) first_failure: Option<String>,
    pub(crate) unfinished: u64,
    pub(crate) reconnected: u64,
    pub(crate) reconnect: Recorder,
    pub(crate) handshake: Recorder,
    pub(crate) attempt_lag: Recorder,
    /// The part of it in which there was a place for another attempt.
    pub(crate) generator_lag: Recorder,
    pub(crate) cut: u64,
    pub(crate) cut_late_ns: u64,
    /// From the cut until a client was ready again.
    pub(crate) back: Recorder,
    /// The longest of them, exactly.
    pub(crate) last_back_ns: u64,
    pub(crate) visits: VisitsPart,
    pub(crate) rooms: RoomChangesPart,
}

/// Changes of rooms.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RoomChangesPart {
    pub(crate) left: u64,
    pub(crate) asked: u64,
    pub(crate) joined: u64,
    pub(crate) unanswered: u64,
    pub(crate) join: Recorder,
}

/// What such clients have heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VisitsPart {
    pub(crate) count: u64,
    pub(crate) messages: u64,
    pub(crate) lost: u64,
    pub(crate) duplicate: u64,
    pub(crate) disconnected: u64,
}

impl ChurnPart {
    /// Adds the figures of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.left += other.left;
        self.unclosed += other.unclosed;
        self.attempts += other.attempts;
        self.failures.merge(&other.failures);
        self.first_failure = self.first_failure.take().or(other.first_failure);
        self.unfinished += other.unfinished;
        self.reconnected += other.reconnected;
        self.reconnect.merge(&other.reconnect);
        self.handshake.merge(&other.handshake);
        self.attempt_lag.merge(&other.attempt_lag);
        self.generator_lag.merge(&other.generator_lag);
        self.cut += other.cut;
        self.cut_late_ns = self.cut_late_ns.max(other.cut_late_ns);
        self.back.merge(&other.back);
        self.last_back_ns = self.last_back_ns.max(other.last_back_ns);
        self.rooms.left += other.rooms.left;
        self.rooms.asked += other.rooms.asked;
        self.rooms.joined += other.rooms.joined;
        self.rooms.unanswered += other.rooms.unanswered;
        self.rooms.join.merge(&other.rooms.join);
        self.visits.count += other.visits.count;
        self.visits.messages += other.visits.messages;
        self.visits.lost += other.visits.lost;
        self.visits.duplicate += other.visits.duplicate;
        self.visits.disconnected += other.visits.disconnected;
    }
}

/// What became of connections that were opened and held.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HeldPart {
    pub(crate) opened: u64,
    pub(crate) failed: u64,
    pub(crate) first_failure: Option<String>,
    /// Starts by the clock that were made within the time of their schedule.
    pub(crate) in_time: u64,
    /// When the last connection was upgraded.
    pub(crate) last_open_ns: u64,
    pub(crate) tcp: Recorder,
    pub(crate) round_trip: Recorder,
    pub(crate) ping_lag: Recorder,
    pub(crate) sent: u64,
    pub(crate) answered: u64,
    pub(crate) unanswered: u64,
    pub(crate) cut_off: u64,
    pub(crate) unasked: u64,
    /// Messages of a server of which no dialect is known.
    pub(crate) unasked_messages: u64,
    pub(crate) drops: Drops,
}

impl HeldPart {
    /// Adds the figures of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.opened += other.opened;
        self.failed += other.failed;
        self.first_failure = self.first_failure.take().or(other.first_failure);
        self.in_time += other.in_time;
        self.last_open_ns = self.last_open_ns.max(other.last_open_ns);
        self.tcp.merge(&other.tcp);
        self.round_trip.merge(&other.round_trip);
        self.ping_lag.merge(&other.ping_lag);
        self.sent += other.sent;
        self.answered += other.answered;
        self.unanswered += other.unanswered;
        self.cut_off += other.cut_off;
        self.unasked += other.unasked;
        self.unasked_messages += other.unasked_messages;
        self.drops.merge(&other.drops);
    }
}

/// What became of the packs of a raw echo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RawPart {
    /// Echoes that came back as they were sent.
    pub(crate) echoes: u64,
    pub(crate) iterations: u64,
    /// When the last of them came.
    pub(crate) last_ns: u64,
    /// What ended it before its time.
    pub(crate) fault: Option<String>,
}

impl RawPart {
    fn merge(&mut self, other: Self) {
        self.echoes += other.echoes;
        self.iterations += other.iterations;
        self.last_ns = self.last_ns.max(other.last_ns);
        self.fault = self.fault.take().or(other.fault);
    }
}
