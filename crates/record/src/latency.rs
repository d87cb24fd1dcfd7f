//! Latency histograms: recorded in nanoseconds, merged whole, never averaged.

use super::Buckets;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::Read as _;

/// Below this the histogram does not tell values apart: 1 microsecond.
const LOWEST_NS: u64 = 1_000;
/// Longer latencies are recorded as this: ten minutes.
const HIGHEST_NS: u64 = 600_000_000_000;
/// Three significant digits: every quantile within 0.1 percent.
const DIGITS: u8 = 3;

/// Collects latencies of one thread.
#[derive(Clone, Debug)]
pub struct Recorder(Histogram<u64>);

/// A latency distribution: the figures people read, and the histogram that they come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Number of samples.
    pub count: u64,
    /// Smallest sample, in nanoseconds.
    pub min_ns: u64,
    /// Arithmetic mean, in nanoseconds.
    pub mean_ns: f64,
    /// Median, in nanoseconds.
    pub p50_ns: u64,
    /// 90th percentile, in nanoseconds.
    pub p90_ns: u64,
    /// 95th percentile, in nanoseconds.
    pub p95_ns: u64,
    /// 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// 99.9th percentile, in nanoseconds. Absent below 1,000 samples, where it would only repeat
    /// the maximum.
    pub p999_ns: Option<u64>,
    /// Largest sample, in nanoseconds.
    pub max_ns: u64,
    /// The histogram: HdrHistogram's compressed V2 encoding, nanoseconds, base64.
    pub histogram: String,
}

/// A histogram that could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// Not base64.
    #[error("the histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// Not HdrHistogram V2.
    #[error("the histogram is not in HdrHistogram V2 encoding: {0}")]
    Hdr(String),
}

impl Default for Recorder {
    fn default() -> Self {
        Self(
            Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, DIGITS)
                .expect("the constant bounds are valid"),
        )
    }
}

impl Recorder {
    /// Adds one latency in nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// Adds `count` equal latencies in nanoseconds.
    #[inline]
    pub fn record_n(&mut self, ns: u64, count: u64) {
        self.0.saturating_record_n(ns, count);
    }

    /// Adds all samples of another part of the same step.
    pub fn merge(&mut self, other: &Self) {
        self.0
            .add(&other.0)
            .expect("all recorders have the same bounds");
    }

    /// Takes away samples that are all among its own.
    ///
    /// # Panics
    /// When they are not.
    pub fn subtract(&mut self, other: &Self) {
        self.0
            .subtract(&other.0)
            .expect("what is taken away was recorded, with the same bounds");
    }

    /// Forgets all samples.
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Number of samples that are not told apart from `ns` nanoseconds.
    pub fn count_at(&self, ns: u64) -> u64 {
        self.0.count_at(ns)
    }

    /// Whether it tells two latencies in nanoseconds not apart.
    pub fn is_same(&self, a_ns: u64, b_ns: u64) -> bool {
        self.0.equivalent(a_ns, b_ns)
    }

    /// The latency in nanoseconds that `percentile` percent of the samples do not exceed.
    pub fn percentile(&self, percentile: f64) -> u64 {
        let all = self.0.len() as f64;
        // 99.9 percent of 1,000 are 999 samples; in floating point it comes out a little above.
        let rank = (percentile / 100.0 * all * (1.0 - 2.0 * f64::EPSILON)).ceil();
        // The histogram rounds up again: half a sample below, it ends at the rank.
        let quantile = if percentile > 0.0 {
            (rank.max(1.0) - 0.5) / all
        } else {
            0.0
        };
        self.0.value_at_quantile(quantile).min(self.0.max())
    }

    /// The recorded latencies in rising order, each with its number of samples, as exact as the
    /// resolution allows.
    pub fn samples(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let recorded = self.0.iter_recorded();
        recorded.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
    }

    /// The samples by their length, in buckets that are the same everywhere.
    pub fn buckets(&self) -> Buckets {
        self.samples().collect()
    }

    /// The figures and the encoded histogram; `None` without samples.
    pub fn latency(&self) -> Option<Latency> {
        if self.0.is_empty() {
            return None;
        }
        Some(Latency {
            count: self.0.len(),
            min_ns: self.0.min(),
            mean_ns: self.0.mean(),
            p50_ns: self.percentile(50.0),
            p90_ns: self.percentile(90.0),
            p95_ns: self.percentile(95.0),
            p99_ns: self.percentile(99.0),
            p999_ns: (self.0.len() >= 1000).then(|| self.percentile(99.9)),
            max_ns: self.0.max(),
            histogram: BASE64.encode(self.compressed()),
        })
    }

    /// The form that the libraries of other languages read: zlib around V2.
    fn compressed(&self) -> Vec<u8> {
        self.written_by(V2DeflateSerializer::new())
    }

    fn plain(&self) -> Vec<u8> {
        self.written_by(V2Serializer::new())
    }

    fn written_by(&self, mut serializer: impl Serializer) -> Vec<u8> {
        let mut bytes = Vec::new();
        let written = serializer.serialize(&self.0, &mut bytes);
        written.expect("a histogram of these bounds serializes into memory");
        bytes
    }

    /// Reads both forms: processes send each other the plain one. A histogram of other bounds than [`Recorder::default`]'s could not be merged, and the widest take 48 MiB.
    fn decoded(bytes: &[u8]) -> Result<Self, EncodeError> {
        let plain = inflated(bytes)?;
        if !has_own_bounds(&plain) {
            let words = "it is no histogram, or has other bounds than a recorder's";
            return Err(EncodeError::Hdr(words.to_owned()));
        }
        if !is_as_long_as_stated(&plain) {
            let words = "its length is not the one that it states";
            return Err(EncodeError::Hdr(words.to_owned()));
        }
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut &plain[..])
            .map_err(|error| EncodeError::Hdr(error.to_string()))?;
        let recorder = Self(read);
        // The library's sum stays there.
        if recorder.count() == u64::MAX {
            let words = "it has more samples than can be counted";
            return Err(EncodeError::Hdr(words.to_owned()));
        }
        Ok(recorder)
    }
}

/// The bytes of a recorder, under its name where the shape of a type is read.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Recorder")]
struct Encoded(Vec<u8>);

/// Cookie of the V2 encoding, uncompressed: the first field of four bytes.
const COOKIE: u32 = 0x1c84_9313;
/// Cookie of the same in zlib.
const COMPRESSED: u32 = 0x1c84_9314;
/// Bytes before the counts of the plain form.
const HEAD: usize = 40;
/// Most bytes of the plain form: a count takes at most nine, and a recorder has 22,528.
const LONGEST: u64 = 1 << 18;

/// The plain form of either.
fn inflated(bytes: &[u8]) -> Result<Cow<'_, [u8]>, EncodeError> {
    if !bytes.starts_with(&COMPRESSED.to_be_bytes()) {
        return Ok(bytes.into());
    }
    let mut plain = Vec::new();
    ZlibDecoder::new(bytes.get(8..).unwrap_or_default())
        .take(LONGEST)
        .read_to_end(&mut plain)
        .map_err(|error| EncodeError::Hdr(error.to_string()))?;
    Ok(plain.into())
}

/// The library takes as much memory as the plain form states, before it reads.
fn is_as_long_as_stated(plain: &[u8]) -> bool {
    let counts = plain
        .len()
        .checked_sub(HEAD)
        .and_then(|n| u32::try_from(n).ok());
    counts.is_some_and(|counts| plain.get(4..8) == Some(&counts.to_be_bytes()))
}

/// True of bytes in that encoding with the bounds of [`Recorder::default`], by which the library takes
/// memory.
fn has_own_bounds(bytes: &[u8]) -> bool {
    let bounds = [LOWEST_NS.to_be_bytes(), HIGHEST_NS.to_be_bytes()].concat();
    bytes.starts_with(&COOKIE.to_be_bytes())
        // Behind the length and the offset: digits, lowest and highest value.
        && bytes.get(12..16) == Some(&u32::from(DIGITS).to_be_bytes())
        && bytes.get(16..32) == Some(&bounds)
}

/// A recorder travels between processes as its histogram in HdrHistogram V2 encoding, uncompressed.
impl Serialize for Recorder {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Encoded(self.plain()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Recorder {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Encoded(bytes) = Encoded::deserialize(deserializer)?;
        Self::decoded(&bytes).map_err(serde::de::Error::custom)
    }
}

impl Latency {
    /// The histogram, ready to be merged or asked for other percentiles.
    ///
    /// # Errors
    /// [`EncodeError`] when the text is not what [`Recorder::latency`] writes.
    pub fn recorder(&self) -> Result<Recorder, EncodeError> {
        let bytes = BASE64.decode(&self.histogram)?;
        Recorder::decoded(&bytes)
    }
}

/// A latency in five characters where it fits: `420us`, `1.2ms`, ` 47ms`, `500ms`, `1037ms`.
///
/// In whole milliseconds everything fast would look alike.
pub fn latency_text(ns: u64) -> String {
    match ns {
        // Rounded, 999.5 us are a millisecond.
        0..999_500 => format!("{:3.0}us", ns as f64 / 1e3),
        999_500..9_950_000 => format!("{:3.1}ms", ns as f64 / 1e6),
        _ => format!("{:3.0}ms", ns as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn figures_survive_encoding_and_lie_within_the_resolution(
            values in proptest::collection::vec(1_000u64..HIGHEST_NS, 1..200),
        ) {
            let mut recorder = Recorder::default();
            values.iter().for_each(|v| recorder.record(*v));
            let latency = recorder.latency().unwrap();
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let exact = sorted[(sorted.len() * 95).div_ceil(100) - 1];
            let error = latency.p95_ns.abs_diff(exact) as f64;
            prop_assert!(error <= exact as f64 * 1e-3 + LOWEST_NS as f64);
            prop_assert_eq!(recorder.samples().map(|(_, count)| count).sum::<u64>(), latency.count);
            let middle = recorder.samples().map(|(value, _)| value).find(|v| *v >= exact).unwrap();
            prop_assert!(middle.abs_diff(exact) as f64 <= exact as f64 * 1e-3 + LOWEST_NS as f64);
            prop_assert_eq!(latency.recorder().unwrap().latency().unwrap(), latency);
        }

        #[test]
        fn merging_is_recording_together(a: Vec<u32>, b: Vec<u32>) {
            let (mut one, mut two, mut both) =
                (Recorder::default(), Recorder::default(), Recorder::default());
            a.iter().for_each(|v| { one.record((*v).into()); both.record((*v).into()) });
            b.iter().for_each(|v| { two.record((*v).into()); both.record((*v).into()) });
            one.merge(&two);
            prop_assert_eq!(one.latency(), both.latency());
        }
    }

    #[test]
    fn a_percentile_is_the_smallest_value_that_so_many_do_not_exceed() {
        for count in [1, 2, 10, 999, 1000, 10_000, 123_457, 3_000_000] {
            let mut recorder = Recorder::default();
            (1..=count).for_each(|n| recorder.record(n * 200_000));
            for tenths in [1, 500, 900, 950, 990, 999, 1000] {
                let exact = (count * tenths).div_ceil(1000) * 200_000;
                let shown = recorder.percentile(tenths as f64 / 10.0);
                assert_eq!(
                    recorder.0.lowest_equivalent(shown),
                    recorder.0.lowest_equivalent(exact),
                    "{tenths} tenths of a percent of {count}"
                );
            }
        }
        assert_eq!(Recorder::default().percentile(50.0), 0);
    }

    fn of(values: impl IntoIterator<Item = u64>) -> Recorder {
        let mut recorder = Recorder::default();
        values.into_iter().for_each(|ns| recorder.record(ns));
        recorder
    }

    #[test]
    fn what_is_taken_away_is_gone() {
        let mut left = of([2_000_000, 5_000_000, 5_000_000]);
        left.subtract(&of([5_000_000]));
        assert_eq!(left.latency(), of([2_000_000, 5_000_000]).latency());
        assert_eq!((left.count(), left.count_at(5_000_000)), (2, 1));
        left.reset();
        assert_eq!((left.count(), left.latency()), (0, None));
    }

    #[test]
    fn no_percent_is_the_smallest_and_a_thousandth_needs_a_thousand() {
        let recorder = of([200_100_000, 300_000_000]);
        let smallest = recorder.latency().unwrap().min_ns;
        assert_eq!(recorder.percentile(0.0), smallest);
        let thousandth = |count| of(1..=count).latency().unwrap().p999_ns.is_some();
        assert!(!thousandth(999));
        assert!(thousandth(1000));
    }

    #[test]
    fn buckets_have_each_sample() {
        let samples = [(2_000_000, 1), (5_000_000, 2)];
        let expected = samples.into_iter().collect();
        assert_eq!(of([2_000_000, 5_000_000, 5_000_000]).buckets(), expected);
        assert_ne!(expected, Buckets::default());
    }

    #[test]
    fn a_recorder_survives_the_way_to_another_process() {
        let recorder = of([2_000_000, 5_000_000, 5_000_000]);
        let sent = serde_json::to_string(&recorder).unwrap();
        let read: Recorder = serde_json::from_str(&sent).unwrap();
        assert_eq!(read.latency(), recorder.latency());
        assert!(serde_json::from_str::<Recorder>("[1,2,3]").is_err());
        // 22,528 counts of nine bytes.
        assert!(recorder.0.distinct_values() * 9 + HEAD <= LONGEST as usize);
        let mut longer = recorder.plain();
        longer[4] = 0x80;
        let words = Recorder::decoded(&longer).unwrap_err().to_string();
        assert!(words.contains("the one that it states"), "{words}");
        for (lowest, highest, digits) in [
            (1, u64::MAX, 5),
            (LOWEST_NS, HIGHEST_NS, DIGITS - 1),
            (LOWEST_NS, HIGHEST_NS / 2, DIGITS),
        ] {
            let other = Histogram::new_with_bounds(lowest, highest, digits).unwrap();
            let sent = serde_json::to_string(&Recorder(other)).unwrap();
            let words = serde_json::from_str::<Recorder>(&sent).unwrap_err();
            assert!(words.to_string().contains("other bounds"), "{words}");
        }
    }

    #[test]
    fn a_broken_histogram_is_an_error() {
        let mut recorder = Recorder::default();
        recorder.record(5_000);
        let good = recorder.latency().unwrap();
        let with = |histogram: &str| Latency {
            histogram: histogram.to_owned(),
            ..good.clone()
        };
        assert!(matches!(with("%").recorder(), Err(EncodeError::Base64(_))));
        assert!(matches!(with("AAAA").recorder(), Err(EncodeError::Hdr(_))));
        assert_eq!(Recorder::default().latency(), None);
        recorder.record_n(9_000, i64::MAX as u64);
        assert!(Recorder::decoded(&recorder.plain()).is_ok());
        recorder.record_n(20_000, i64::MAX as u64);
        let too_many = Recorder::decoded(&recorder.plain());
        assert!(matches!(too_many, Err(EncodeError::Hdr(_))));
    }

    #[test]
    fn latencies_can_be_told_apart_and_keep_their_width() {
        let cases = [
            (900, "  1us"),
            (42_000, " 42us"),
            (420_400, "420us"),
            (999_600, "1.0ms"),
            (1_250_000, "1.2ms"),
            (9_940_000, "9.9ms"),
            (9_960_000, " 10ms"),
            (47_000_000, " 47ms"),
            (500_000_000, "500ms"),
            (1_037_000_000, "1037ms"),
        ];
        for (ns, text) in cases {
            assert_eq!(latency_text(ns), text);
        }
    }
}
