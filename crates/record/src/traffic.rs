//! What went over the wires: of a step as a whole, and second by second.

use super::{Buckets, Recorder};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Messages and bytes of a step. Bytes are those of WebSocket frames with their headers, without TLS
/// and without handshakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throughput {
    /// Requests written, including those of a warm-up.
    pub sent: u64,
    /// Messages received. Each was checked.
    pub received: u64,
    /// Bytes of the frames of the requests that were written.
    pub sent_bytes: u64,
    /// Bytes of all frames received, including control frames.
    pub received_bytes: u64,
    /// Requests written per second: `sent` over the length of the step.
    pub sent_per_second: f64,
    /// Messages received per second: `received` over the length of the step.
    pub received_per_second: f64,
    /// Bytes written per second: `sent_bytes` over the length of the step.
    pub sent_bytes_per_second: f64,
    /// Bytes received per second: `received_bytes` over the length of the step.
    pub received_bytes_per_second: f64,
}

impl Throughput {
    /// The rates of these counts over `elapsed_ns`.
    #[must_use]
    pub fn over(self, elapsed_ns: u64) -> Self {
        let per_second = |count: u64| count as f64 * 1e9 / elapsed_ns.max(1) as f64;
        Self {
            sent_per_second: per_second(self.sent),
            received_per_second: per_second(self.received),
            sent_bytes_per_second: per_second(self.sent_bytes),
            received_bytes_per_second: per_second(self.received_bytes),
            ..self
        }
    }
}

/// What permessage-deflate did during a step. Only messages that were compressed are counted: an end may
/// send some as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompressionUse {
    /// Compressed messages received.
    pub received: u64,
    /// Bytes of their payloads on the wire.
    pub received_bytes: u64,
    /// Bytes of their payloads once inflated. With `throughput`: had they come uncompressed,
    /// `throughput.received_bytes - received_bytes + received_inflated_bytes` had been received.
    pub received_inflated_bytes: u64,
    /// Compressed requests sent.
    pub sent: u64,
    /// Bytes of their payloads on the wire.
    pub sent_bytes: u64,
    /// Bytes of their payloads before they were compressed.
    pub sent_inflated_bytes: u64,
}

impl CompressionUse {
    /// Adds that of another part.
    pub const fn add(&mut self, other: Self) {
        self.received += other.received;
        self.received_bytes += other.received_bytes;
        self.received_inflated_bytes += other.received_inflated_bytes;
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.sent_inflated_bytes += other.sent_inflated_bytes;
    }
}

/// A step in intervals of equal length. An interval is one second; in a step of more than an hour
/// it is as many whole seconds as keep the number of intervals at 3,600 or below.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSeries {
    /// Length of an interval in nanoseconds. The last one ends with the step and may be shorter.
    pub interval_ns: u64,
    /// The intervals in order. The first begins when the first request of the step may be sent.
    pub rows: Vec<TimeRow>,
}

/// One interval of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeRow {
    /// Time in nanoseconds from the beginning of the step to that of the interval.
    pub from_ns: u64,
    /// Requests written.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// Bytes of frames written.
    pub sent_bytes: u64,
    /// Bytes of frames received.
    pub received_bytes: u64,
    /// Timed requests that became complete in the interval.
    pub completed: u64,
    /// Their median completion in nanoseconds, exact to 1 percent. Absent when there were none.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of their completion in nanoseconds, exact to 1 percent. Absent when
    /// there were none.
    pub p99_ns: Option<u64>,
    /// Faults of all classes that were counted in the interval.
    pub faults: u64,
    /// The same completions by their length, exact to 1 percent. Absent in records from before.
    #[serde(default)]
    pub buckets: Buckets,
}

/// The bounds of [`Recorder`], so that everything it holds fits.
const LOWEST_NS: u64 = 1_000;
const HIGHEST_NS: u64 = 600_000_000_000;
/// Every quantile within 1 percent.
const DIGITS: u8 = 2;

/// A distribution to two significant digits in a few hundred bytes, to be merged whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// HdrHistogram V2 encoding; empty without samples.
    encoded: Vec<u8>,
}

impl Sketch {
    /// What `now` has more than `earlier`, of which it is a continuation.
    pub fn since(earlier: &Recorder, now: &Recorder) -> Self {
        let mut more = blank();
        for (ns, count) in now.samples() {
            let count = count.saturating_sub(earlier.count_at(ns));
            more.saturating_record_n(ns, count);
        }
        Self::new(&more)
    }

    /// Adds the samples of another part of the same interval.
    pub fn merge(&mut self, other: &Self) {
        if self.encoded.is_empty() {
            self.encoded.clone_from(&other.encoded);
        } else if let Some(other) = other.decoded() {
            let mut all = self.decoded().unwrap_or_else(blank);
            all.add(other).expect("all sketches have the same bounds");
            *self = Self::new(&all);
        }
    }

    /// The number of samples, their median and their 99th percentile in nanoseconds.
    pub fn figures(&self) -> Option<(u64, u64, u64)> {
        let histogram = self.decoded()?;
        let at = |percentile| {
            let ns = histogram.value_at_percentile(percentile);
            ns.min(histogram.max())
        };
        Some((histogram.len(), at(50.0), at(99.0)))
    }

    /// The samples by their length.
    pub fn buckets(&self) -> Buckets {
        let Some(histogram) = self.decoded() else {
            return Buckets::default();
        };
        let recorded = histogram.iter_recorded();
        recorded
            .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
            .collect()
    }

    fn new(histogram: &Histogram<u64>) -> Self {
        let mut encoded = Vec::new();
        if !histogram.is_empty() {
            V2Serializer::new()
                .serialize(histogram, &mut encoded)
                .expect("a histogram of these bounds serializes into memory");
        }
        encoded.shrink_to_fit();
        Self { encoded }
    }

    /// `None` without samples, and of bytes that are no such histogram: they came from a worker.
    fn decoded(&self) -> Option<Histogram<u64>> {
        let mut all = blank();
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut self.encoded.as_slice())
            .ok()?;
        all.add(read).ok()?;
        Some(all)
    }
}

fn blank() -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, DIGITS)
        .expect("the constant bounds are valid")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_parts_compressed_is_added_figure_by_figure() {
        let part = |of: u64| CompressionUse {
            received: of,
            received_bytes: 2 * of,
            received_inflated_bytes: 3 * of,
            sent: 4 * of,
            sent_bytes: 5 * of,
            sent_inflated_bytes: 6 * of,
        };
        let mut all = part(10);
        all.add(part(7));
        assert_eq!(all, part(17));
    }

    #[test]
    fn buckets_hold_every_sample_by_its_length() {
        assert_eq!(Sketch::default().buckets(), Buckets::default());
        let mut now = Recorder::default();
        now.record_n(2_000_000, 3);
        now.record_n(90_000_000, 4);
        let buckets = Sketch::since(&Recorder::default(), &now).buckets();
        let held: Vec<(u64, u64)> = buckets.iter().collect();
        let counts: Vec<u64> = held.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [3, 4], "{held:?}");
        let ends: Vec<u64> = held.iter().map(|(end_ns, _)| *end_ns).collect();
        assert!(
            (2_000_000..2_500_000).contains(&ends[0])
                && (90_000_000..120_000_000).contains(&ends[1]),
            "{ends:?}"
        );
    }

    proptest! {
        #[test]
        fn sketches_of_parts_are_merged_into_that_of_all(
            before: Vec<u32>,
            one in proptest::collection::vec(1_000u64..HIGHEST_NS, 1..100),
            two in proptest::collection::vec(1_000u64..HIGHEST_NS, 0..100),
        ) {
            let mut earlier = Recorder::default();
            before.iter().for_each(|ns| earlier.record((*ns).into()));
            let parts = [&one, &two].map(|values| {
                let mut now = earlier.clone();
                values.iter().for_each(|ns| now.record(*ns));
                Sketch::since(&earlier, &now)
            });
            let mut merged = Sketch::default();
            parts.iter().for_each(|part| merged.merge(part));
            let mut all: Vec<u64> = one.into_iter().chain(two).collect();
            all.sort_unstable();
            let (count, p50_ns, p99_ns) = merged.figures().unwrap();
            prop_assert_eq!(count, all.len() as u64);
            for (p, ns) in [(50, p50_ns), (99, p99_ns)] {
                let exact = all[(all.len() * p).div_ceil(100) - 1];
                prop_assert!(ns.abs_diff(exact) as f64 <= exact as f64 * 0.01 + LOWEST_NS as f64);
            }
        }
    }

    #[test]
    fn an_interval_without_samples_has_no_figures() {
        let recorder = Recorder::default();
        let sketch = Sketch::since(&recorder, &recorder);
        assert_eq!(sketch, Sketch::default());
        assert_eq!(sketch.figures(), None);
        let foreign = Sketch {
            encoded: b"no histogram".to_vec(),
        };
        assert_eq!(foreign.figures(), None);
    }

    #[test]
    fn rates_are_counts_over_the_length_of_the_step() {
        let counts = Throughput {
            sent: 100,
            received: 1_000,
            sent_bytes: 10_000,
            received_bytes: 100_000,
            ..Throughput::default()
        };
        let rates = counts.over(2_000_000_000);
        assert_eq!(rates.sent_per_second, 50.0);
        assert_eq!(rates.received_per_second, 500.0);
        assert_eq!(rates.sent_bytes_per_second, 5_000.0);
        assert_eq!(rates.received_bytes_per_second, 50_000.0);
        assert_eq!(rates.sent, 100);
    }
}
