//! Latencies in buckets that are the same everywhere: for heat maps, and for programs that add up
//! histograms over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The end of the first bucket: 1 microsecond.
const FIRST_NS: f64 = 1_000.0;
/// Buckets per doubling: each ends at 1.19 times the one before.
const PER_DOUBLING: f64 = 4.0;
/// The last bucket that ends in the range of a recorder, ten minutes, is below this.
const BUCKETS: u32 = 118;

/// How many latencies there are in each bucket. The keys are the ends of the buckets in nanoseconds,
/// 1,000 times a power of the fourth root of 2; a bucket has the latencies up to its end, and above
/// that of the one before. Empty buckets are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
// Keys of JSON are strings, and the tagged enum around this keeps them so.
#[serde(try_from = "BTreeMap<String, u64>", into = "BTreeMap<String, u64>")]
#[schemars(with = "BTreeMap<String, u64>")]
pub struct Buckets(BTreeMap<u64, u64>);

impl Buckets {
    /// The ends of all buckets in nanoseconds, rising.
    pub fn ends() -> impl Iterator<Item = u64> {
        (0..BUCKETS).map(end)
    }

    /// Where a bucket begins, given its end, in nanoseconds.
    pub fn begin(end_ns: u64) -> u64 {
        let mut before = 0;
        for end in Self::ends().take_while(|end| *end < end_ns) {
            before = end;
        }
        before
    }

    /// Adds `count` latencies of `ns` nanoseconds. What is longer than the last bucket is in it.
    pub fn add(&mut self, ns: u64, count: u64) {
        let all = self.0.entry(end_of(ns)).or_default();
        *all = all.saturating_add(count);
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: &Self) {
        for (end_ns, count) in other.iter() {
            self.add(end_ns, count);
        }
    }

    /// The end of each bucket in nanoseconds and the number in it, rising.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.0.iter().map(|(end_ns, count)| (*end_ns, *count))
    }

    /// How many there are in all.
    pub fn count(&self) -> u64 {
        self.0
            .values()
            .fold(0, |all, count| all.saturating_add(*count))
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(u64, u64)> for Buckets {
    /// Of latencies in nanoseconds, each with its number.
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(samples: I) -> Self {
        let mut buckets = Self::default();
        for (ns, count) in samples {
            buckets.add(ns, count);
        }
        buckets
    }
}

impl TryFrom<BTreeMap<String, u64>> for Buckets {
    type Error = std::num::ParseIntError;

    fn try_from(read: BTreeMap<String, u64>) -> Result<Self, Self::Error> {
        read.into_iter()
            .map(|(end_ns, count)| Ok((end_ns.parse()?, count)))
            .collect()
    }
}

impl From<Buckets> for BTreeMap<String, u64> {
    fn from(buckets: Buckets) -> Self {
        let ends = buckets.0.into_iter();
        ends.map(|(end_ns, count)| (end_ns.to_string(), count))
            .collect()
    }
}

fn end(number: u32) -> u64 {
    (FIRST_NS * (f64::from(number) / PER_DOUBLING).exp2()).round() as u64
}

fn end_of(ns: u64) -> u64 {
    let about = (ns.max(1) as f64 / FIRST_NS).log2() * PER_DOUBLING;
    let mut number = about.floor().clamp(0.0, f64::from(BUCKETS - 1)) as u32;
    // Rounding may have put it one below.
    while end(number) < ns && number + 1 < BUCKETS {
        number += 1;
    }
    end(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_latency_is_in_the_first_bucket_that_does_not_end_before_it(ns in 0u64..700_000_000_000) {
            let wanted = Buckets::ends().find(|end_ns| *end_ns >= ns);
            let wanted = wanted.or_else(|| Buckets::ends().last());
            prop_assert_eq!(Some(end_of(ns)), wanted);
        }

        #[test]
        fn what_is_written_is_read(samples: Vec<(u32, u32)>) {
            let of = samples.iter().map(|(ns, count)| (u64::from(*ns), u64::from(*count)));
            let buckets: Buckets = of.collect();
            let text = serde_json::to_string(&buckets).unwrap();
            prop_assert_eq!(serde_json::from_str::<Buckets>(&text).unwrap(), buckets.clone());
            let all: u64 = samples.iter().map(|(_, count)| u64::from(*count)).sum();
            prop_assert_eq!(buckets.count(), all);
        }
    }

    #[test]
    fn the_ends_are_a_fourth_root_of_two_apart_and_reach_ten_minutes() {
        let ends: Vec<u64> = Buckets::ends().collect();
        assert_eq!(ends[..5], [1_000, 1_189, 1_414, 1_682, 2_000]);
        assert_eq!(ends[4 * 10], 1_024_000);
        assert!(ends.last().is_some_and(|end_ns| *end_ns > 600_000_000_000));
    }

    #[test]
    fn words_in_place_of_an_end_are_refused() {
        assert!(serde_json::from_str::<Buckets>(r#"{"soon":1}"#).is_err());
    }
}
