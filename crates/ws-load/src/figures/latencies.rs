//! Latencies of one part of a step, and what is not known of them.

use record::Recorder;
use serde::{Deserialize, Serialize};

/// The latencies of one worker's part of a step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Latencies {
    pub(crate) completion: Recorder,
    pub(crate) delivery: Recorder,
    pub(crate) ack: Recorder,
    /// Completion from the real send, where that is not the intended one.
    pub(crate) uncorrected: Recorder,
    /// From the intended moment of a send to the real one.
    pub(crate) send_lag: Recorder,
    /// From when bytes were surely there to their read.
    pub(crate) receive_lag: Recorder,
    pub(crate) shared: SharedStamps,
}

/// What is known of messages that came in one read with a later one, whose stamp stands for theirs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SharedStamps {
    /// How much earlier than its stamp each of them may have arrived.
    pub(crate) error: Recorder,
    /// Of the latencies that the limit applies to, those that rest on such messages: as recorded,
    pub(crate) at_most: Recorder,
    /// and with each such message taken as early as it may have come.
    pub(crate) at_least: Recorder,
}

impl SharedStamps {
    /// Notes a message without a stamp of its own, and its latency where that is limited.
    #[cold]
    pub(crate) fn note(&mut self, error_ns: u64, limited_ns: Option<u64>) {
        self.error.record(error_ns);
        if let Some(latency_ns) = limited_ns {
            self.limited(latency_ns, error_ns);
        }
    }

    /// Notes that a limited latency may be shorter by so much.
    fn limited(&mut self, latency_ns: u64, error_ns: u64) {
        self.at_most.record(latency_ns);
        self.at_least.record(latency_ns.saturating_sub(error_ns));
    }

    fn merge(&mut self, other: &Self) {
        self.error.merge(&other.error);
        self.at_most.merge(&other.at_most);
        self.at_least.merge(&other.at_least);
    }
}

impl Latencies {
    /// Records a timed sample of a step that sends `by_clock`, or not; `limits` where the limit
    /// applies to completion.
    #[inline]
    pub(crate) fn complete(&mut self, completion: Completion, by_clock: bool, limits: bool) {
        self.completion.record(completion.from_due_ns);
        if by_clock {
            self.uncorrected.record(completion.from_sent_ns);
        }
        if limits && completion.error_ns > 0 {
            self.shared
                .limited(completion.from_due_ns, completion.error_ns);
        }
    }

    /// Adds all samples of another part.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.completion.merge(&other.completion);
        self.delivery.merge(&other.delivery);
        self.ack.merge(&other.ack);
        self.uncorrected.merge(&other.uncorrected);
        self.send_lag.merge(&other.send_lag);
        self.receive_lag.merge(&other.receive_lag);
        self.shared.merge(&other.shared);
    }
}

/// How long a sample took to its last receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// From the moment at which it was to be sent.
    pub(crate) from_due_ns: u64,
    /// From the moment at which it was written to the socket.
    pub(crate) from_sent_ns: u64,
    /// Both may be so much shorter: the last message had a later one's stamp.
    pub(crate) error_ns: u64,
}
