//! The events of a running generator, one JSON object a line.

use super::{Outcome, StepRecord, TimeRow, WarmUp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Clients are being added for a step.
    Connecting {
        /// Number of the step, from 0.
        step: u32,
        /// Clients connected so far.
        connected: u64,
        /// Clients that the step needs.
        wanted: u64,
    },
    /// The load of the first step is put on the server, before that step.
    WarmingUp {
        /// How long it has been.
        elapsed_ns: u64,
        /// How long it is to be, and the rest of a step.
        wanted_ns: u64,
    },
    /// The warm-up is over.
    WarmedUp {
        /// What it was.
        warm_up: Box<WarmUp>,
    },
    /// All clients of a step are connected; samples are being taken.
    Measuring {
        /// Number of the step, from 0.
        step: u32,
        /// Clients connected.
        clients: u64,
        /// Samples completed so far.
        samples: u64,
        /// Samples that the step needs.
        wanted: u64,
    },
    /// About a second of a step has passed; not told of a warm-up, of `connect` runs, nor of watched
    /// steps.
    Interval {
        /// Number of the step, from 0.
        step: u32,
        /// Clients connected.
        clients: u64,
        /// What became known since the event of this kind before it, or since the step began. The rest
        /// of the step after the last of them is in the record of the step alone.
        row: Box<TimeRow>,
    },
    /// All connections of a `connect` step are open and held.
    Holding {
        /// Number of the step, from 0.
        step: u32,
        /// Connections that are still open.
        connected: u64,
        /// Connections that were open when the hold began.
        opened: u64,
        /// How long they have been held.
        held_ns: u64,
        /// How long they are to be held.
        hold_ns: u64,
    },
    /// Messages of a watched step are being published.
    Watching {
        /// Number of the step, from 0.
        step: u32,
        /// Clients that have a connection.
        connected: u64,
        /// Clients of the step.
        clients: u64,
        /// When the first message was due, by the monotonic clock of this machine, in nanoseconds.
        start_ns: u64,
        /// How long ago that is.
        elapsed_ns: u64,
        /// How long messages are published, and listened for after that.
        wanted_ns: u64,
    },
    /// A step was measured. The clients stay connected until the event has been handled.
    Step {
        /// Number of the step, from 0.
        step: u32,
        /// Its record.
        record: Box<StepRecord>,
    },
    /// The run has ended.
    End {
        /// How it ended.
        outcome: Outcome,
    },
}
