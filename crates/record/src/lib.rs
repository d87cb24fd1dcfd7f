//! What came of a run: environment, steps, histograms, faults, verdicts, outcome.
//!
//! Purpose: the data that every output is made from, with its JSON Schema. This crate opens no
//! connection and makes no measurement; `environment` alone looks at the machine, and `file` alone
//! writes.
//!
//! Durations are nanoseconds in fields that end in `_ns`. Memory is bytes in fields that end in
//! `_bytes`. Times of day are RFC 3339 in UTC.

mod autobahn;
mod buckets;
mod churn;
mod connections;
mod dialogues;
mod drops;
mod environment;
mod event;
mod faults;
mod feed;
mod file;
mod format;
mod handshakes;
mod heartbeats;
mod http;
mod json;
mod judge;
mod latency;
mod measurement;
mod memory;
mod network;
mod run;
mod schema;
mod selftest;
mod server_series;
mod site;
mod streams;
mod told;
mod traffic;
mod verdict;
mod watched;

pub use autobahn::{AUTOBAHN_FORMAT, AutobahnCase, AutobahnRecord};
pub use buckets::Buckets;
pub use churn::{AttemptFailures, Churn, CutRecord, RoomChanges, time_until};
pub use connections::{Connections, Drops, KernelMemory, KernelUse, MemoryUse, Pings};
pub use dialogues::{Dialogues, KindTimes};
pub use drops::{DropCause, DropHow, DropTimes};
pub use environment::{Environment, FileLimit};
pub use event::Event;
pub use faults::{FaultClass, Faults};
pub use feed::{Feed, FeedAge, FeedClock, FeedNumbers, FeedRates};
pub use file::{OutputFile, RecordFile, Unwritable};
pub use format::{Tool, VERSION};
pub use handshakes::{TlsAgreed, TlsUse};
pub use heartbeats::Heartbeats;
pub use http::{HttpRequests, HttpUse};
pub use json::Json;
pub use judge::{
    BUSY, Judgement, all_sent, counted_faults, judge, judge_interrupted, kept_too_much, not_back,
    remedy,
};
pub use latency::{EncodeError, Latency, Recorder, latency_text};
pub use measurement::{
    CheckOutcome, CheckVerdict, Conformance, JsonReading, MEASUREMENT_FORMAT, Measurement, Pinning,
    ProxyUse, ServerIdentity, ServerStep, Status, Switches,
};
pub use memory::Memory;
pub use network::{Network, NetworkProbe, NetworkTraffic, NetworkUse};
pub use run::{
    Backpressure, Edge, End, GeneratorUse, Outcome, PayloadLines, RUN_FORMAT, RunRecord,
    SlowReaders, StepRecord, WarmUp,
};
pub use schema::{autobahn_schema, closed_schema, measurement_schema, run_schema, selftest_schema};
pub use selftest::{Ceiling, Certificate, Check, Proof, ProofVerdict, SELFTEST_FORMAT, Unit};
pub use server_series::{MOST_SERVER_ROWS, SHORTEST_SERVER_INTERVAL_NS, ServerRow, ServerSeries};
pub use site::SiteUse;
pub use streams::{PartCounts, PartNumbers, PartRates, Streams};
pub use told::Told;
pub use traffic::{CompressionUse, Sketch, Throughput, TimeRow, TimeSeries};
pub use verdict::{InFlight, Verdict};
pub use watched::{Claim, Fates, FaultDone, Timeline, Watched};
