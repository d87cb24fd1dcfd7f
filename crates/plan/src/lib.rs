//! The plan of a run: everything that decides what is sent, to where and when it stops.
//!
//! One file per part, and `whole.rs` above them. Every part can be read from a file that leaves out
//! what has a default; what a plan may say at all is in `validate.rs`, with its bounds in `bounds.rs`.

mod bounds;
mod built_in;
mod clients;
mod compression;
mod dialect_file;
mod error;
mod fault;
mod generator;
mod handshake;
mod life;
mod limits;
mod load;
mod message;
mod mqtt;
mod nanos;
mod redact;
mod schema;
mod script;
mod shown;
mod sizes;
mod target;
mod tls;
mod validate;
mod variables;
mod whole;

pub use bounds::{
    FRAGMENTS, LEVELS, LONGEST_NS, MOST_CLIENTS, MOST_CLIENTS_A_STEP, MOST_HANDSHAKES,
    MOST_IN_FLIGHT, MOST_PADDING, MOST_SAMPLES, MOST_THREADS, MOST_WATCHED, PRECISIONS, RATES,
    TRIES, WINDOWS, is_percentile,
};
pub use built_in::{built_in_dialect, built_in_dialects};
pub use clients::{Clients, Population, Reading, Search, SearchOf, Steps};
pub use compression::Compression;
pub use dialect_file::{
    BeatInterval, BytePart, ByteTextError, Condition, DialectFile, FEED_NAMES, FORM, Heartbeat,
    HoleForm, HttpCapture, HttpPublication, HttpStep, JsonType, LengthPrefix, MOST_FEED_KEYS,
    Meaning, MessageType, NoInterval, NumberForm, OpeningExchange, OriginRule, PART, PARTS,
    PLACEHOLDERS, PUBLICATION_NAMES, PayloadForm, RequestKind, Requests, Rule, Scalar, SentUnit,
    Signature, TemplateForm, Turn, byte_parts, dialect_schema, media_type,
};
pub use error::{PlanError, within};
pub use fault::{Fault, FaultDeed, FaultPart, NoPart};
pub use generator::{Generator, Io, Timestamps};
pub use handshake::{Entry, REDACTED_VALUE, Reference, Resolve, is_cookie_byte, is_token};
pub use life::{Backoff, ChangesRoom, ComesAndGoes, Cut, Life, Reconnect};
pub use limits::{BackLimit, Limits, Measure};
pub use load::{Arrivals, Closed, Connect, Load, OpenLoop, Ramp, Watch};
pub use message::{Audience, Dialect, MQTT, MQTT_5, Message, Rooms, Zipf, names_dialect_file};
pub use mqtt::MqttTerms;
pub use nanos::{Nanos, NoTime};
pub use redact::{is_secret, redacted, redacted_url, words_of};
pub use schema::plan_schema;
pub use sizes::{Size, Sizes, Uniform};
pub use target::{Connection, Target};
pub use tls::{NoTlsVersion, Tls, TlsVersion};
pub use variables::{LONGEST_VARIABLE, Part, escaped_braces, is_variable, parts, variable};
pub use whole::{Plan, RankedBy, Workload};
