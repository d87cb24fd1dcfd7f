//! Fields of a CSV.

use record::Latency;

/// The columns of a distribution, after its name.
pub(super) const FIGURES: [&str; 9] = [
    "count", "min_ns", "mean_ns", "p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns",
];
/// The fields of a distribution.
pub(super) fn figures(of: Option<&Latency>) -> [String; FIGURES.len()] {
    [
        field(of.map(|of| of.count)),
        field(of.map(|of| of.min_ns)),
        field(of.map(|of| of.mean_ns)),
        field(of.map(|of| of.p50_ns)),
        field(of.map(|of| of.p90_ns)),
        field(of.map(|of| of.p95_ns)),
        field(of.map(|of| of.p99_ns)),
        field(of.and_then(|of| of.p999_ns)),
        field(of.map(|of| of.max_ns)),
    ]
}

/// A field, empty where there is no value.
pub(super) fn field(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
