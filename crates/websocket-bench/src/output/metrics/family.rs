//! A metric, in no format yet.

use record::{Buckets, Latency};

/// A metric: what it is called, what it means, and what it is now.
pub(super) struct Family {
    /// Without `websocket_bench_` before it, and without what its unit adds.
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) unit: Unit,
    pub(super) value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    None,
    Seconds,
    Bytes,
}

/// Labels of a number, and the number.
pub(super) type Labelled = (Vec<(&'static str, String)>, f64);

pub(super) enum Value {
    /// May rise and fall; absent without any.
    Gauge(Vec<Labelled>),
    /// Only rises.
    Counter(Vec<Labelled>),
    /// Latencies in buckets, and their sum in seconds.
    Histogram(Buckets, f64),
}

/// The percentiles of a distribution that are told.
pub(super) fn figures(of: &Latency) -> impl Iterator<Item = (&'static str, u64)> + use<> {
    [
        ("0.5", Some(of.p50_ns)),
        ("0.9", Some(of.p90_ns)),
        ("0.95", Some(of.p95_ns)),
        ("0.99", Some(of.p99_ns)),
        ("0.999", of.p999_ns),
        ("1", Some(of.max_ns)),
    ]
    .into_iter()
    .filter_map(|(quantile, ns)| Some((quantile, ns?)))
}
