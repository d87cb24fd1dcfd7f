//! What a run leaves behind: plan, environment, steps, histograms, faults, outcome.
//!
//! Purpose: the data that every output is made from, with its JSON Schema. This crate opens no
//! connection and makes no measurement; `environment` alone looks at the machine, and `file` alone
//! writes.
//!
//! Durations are nanoseconds in fields that end in `_ns`, and text like `500ms` in a plan. Memory is
//! bytes in fields that end in `_bytes`. Times of day are RFC 3339 in UTC.

mod plan;
mod record;

pub use plan::{
    Arrivals, Audience, BackLimit, Backoff, ChangesRoom, Clients, Closed, ComesAndGoes,
    Compression, Condition, Connect, Connection, Cut, Dialect, DialectFile, Entry, Generator, Io,
    JsonType, LONGEST_NS, LONGEST_VARIABLE, Life, Limits, Load, MOST_CLIENTS, MOST_CLIENTS_A_STEP,
    MOST_HANDSHAKES, MOST_IN_FLIGHT, MOST_PADDING, MOST_SAMPLES, MOST_THREADS, MQTT, MQTT_5,
    Meaning, Measure, Message, MessageType, Nanos, OpenLoop, OpeningExchange, OriginRule,
    PLACEHOLDERS, Part, PayloadForm, Plan, PlanError, Population, RATES, REDACTED_VALUE, Ramp,
    RankedBy, Reading, Reconnect, Reference, RequestKind, Requests, Resolve, Rooms, Rule, Scalar,
    Search, SearchOf, Signature, Size, Sizes, Steps, Target, Timestamps, Tls, TlsVersion, Turn,
    Uniform, Workload, Zipf, built_in_dialects, dialect_schema, escaped_braces, is_cookie_byte,
    is_secret, is_token, is_variable, names_dialect_file, parts, plan_schema, redacted,
    redacted_url, variable, within, words_of,
};
pub use record::{
    AUTOBAHN_FORMAT, AttemptFailures, AutobahnCase, AutobahnRecord, BUSY, Backpressure, Buckets,
    Ceiling, Certificate, Check, CheckOutcome, CheckVerdict, Churn, CompressionUse, Conformance,
    Connections, CutRecord, Drops, Edge, EncodeError, End, Environment, Event, FaultClass, Faults,
    FileLimit, GeneratorUse, InFlight, Judgement, KernelMemory, KernelUse, Latency,
    MEASUREMENT_FORMAT, MOST_SERVER_ROWS, Measurement, Memory, MemoryUse, Outcome, OutputFile,
    PayloadLines, Pings, Pinning, Proof, ProofVerdict, RUN_FORMAT, RecordFile, Recorder,
    RoomChanges, RunRecord, SELFTEST_FORMAT, SHORTEST_SERVER_INTERVAL_NS, ServerIdentity,
    ServerRow, ServerSeries, ServerStep, SiteUse, Sketch, SlowReaders, Status, StepRecord,
    Throughput, TimeRow, TimeSeries, TlsAgreed, TlsUse, Told, Tool, Unit, VERSION, Verdict, WarmUp,
    all_sent, autobahn_schema, closed_schema, counted_faults, judge, judge_interrupted,
    kept_too_much, latency_text, measurement_schema, not_back, remedy, run_schema, selftest_schema,
    time_until, unwritable,
};
