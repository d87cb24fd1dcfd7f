//! What a run leaves behind: plan, environment, steps, histograms, faults, outcome.
//!
//! Purpose: the data that every output is made from, with its JSON Schema. This crate opens no
//! connection and makes no measurement; `environment` alone looks at the machine, and `file` alone
//! writes.
//!
//! Durations are nanoseconds in fields that end in `_ns`, and text like `500ms` in a plan. Memory is
//! bytes in fields that end in `_bytes`. Times of day are RFC 3339 in UTC.

mod autobahn;
mod buckets;
mod built_in;
mod churn;
mod connections;
mod dialect_file;
mod environment;
mod event;
mod faults;
mod file;
mod handshakes;
mod latency;
mod measurement;
mod plan;
mod redact;
mod run;
mod schema;
mod selftest;
mod server_series;
mod shown;
mod site;
mod traffic;
mod verdict;

pub use autobahn::{AUTOBAHN_FORMAT, AutobahnCase, AutobahnRecord};
pub use buckets::Buckets;
pub use built_in::built_in_dialects;
pub use churn::{AttemptFailures, Churn, CutRecord, RoomChanges, time_until};
pub use connections::{Connections, Drops, KernelMemory, KernelUse, MemoryUse, Pings};
pub use dialect_file::{
    Condition, DialectFile, JsonType, Meaning, MessageType, OpeningExchange, OriginRule,
    PLACEHOLDERS, PayloadForm, RequestKind, Requests, Rule, Scalar, Signature, Turn,
    dialect_schema,
};
pub use environment::{Environment, FileLimit};
pub use event::Event;
pub use faults::{FaultClass, Faults};
pub use file::{OutputFile, RecordFile, unwritable};
pub use handshakes::{TlsAgreed, TlsUse};
pub use latency::{EncodeError, Latency, Recorder, latency_text};
pub use measurement::{
    CheckOutcome, CheckVerdict, Conformance, MEASUREMENT_FORMAT, Measurement, Memory, Pinning,
    ServerIdentity, ServerStep, Status,
};
pub use plan::{
    Arrivals, Audience, BackLimit, Backoff, ChangesRoom, Clients, Closed, ComesAndGoes,
    Compression, Connect, Connection, Cut, Dialect, Entry, Generator, Io, LONGEST_NS,
    LONGEST_VARIABLE, Life, Limits, Load, MOST_CLIENTS, MOST_CLIENTS_A_STEP, MOST_HANDSHAKES,
    MOST_IN_FLIGHT, MOST_PADDING, MOST_SAMPLES, MOST_THREADS, MQTT, MQTT_5, Measure, Message,
    Nanos, OpenLoop, Part, Plan, PlanError, Population, RATES, REDACTED_VALUE, Ramp, RankedBy,
    Reading, Reconnect, Reference, Resolve, Rooms, Search, SearchOf, Size, Sizes, Steps, Target,
    Timestamps, Tls, TlsVersion, Uniform, Workload, Zipf, escaped_braces, is_cookie_byte, is_token,
    is_variable, names_dialect_file, parts, variable, within,
};
pub use redact::{is_secret, redacted, redacted_url};
pub use run::{
    Backpressure, Edge, End, GeneratorUse, Outcome, PayloadLines, RUN_FORMAT, RunRecord,
    SlowReaders, StepRecord, Tool, VERSION, WarmUp,
};
pub use schema::{
    autobahn_schema, closed_schema, measurement_schema, plan_schema, run_schema, selftest_schema,
};
pub use selftest::{Ceiling, Certificate, Check, Proof, ProofVerdict, SELFTEST_FORMAT, Unit};
pub use server_series::{MOST_SERVER_ROWS, SHORTEST_SERVER_INTERVAL_NS, ServerRow, ServerSeries};
pub use site::SiteUse;
pub use traffic::{CompressionUse, Sketch, Throughput, TimeRow, TimeSeries};
pub use verdict::{
    BUSY, InFlight, Judgement, Verdict, all_sent, counted_faults, judge, judge_interrupted,
    kept_too_much, not_back, remedy,
};
