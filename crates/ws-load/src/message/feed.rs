//! A worker's part of what came of feeds.

use record::{Feed, FeedAge, FeedClock, FeedNumbers, FeedRates, Recorder};
use serde::{Deserialize, Serialize};

/// What clients got of the messages that a server sends by itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FeedPart {
    pub(crate) clients: u64,
    pub(crate) silent: u64,
    pub(crate) messages: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) rates: RatesPart,
    /// Absent where messages have none.
    pub(crate) numbers: Option<FeedNumbers>,
    /// Absent where messages do not say when they were sent.
    pub(crate) ages: Option<AgesPart>,
}

impl FeedPart {
    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.clients += other.clients;
        self.silent += other.silent;
        self.messages += other.messages;
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        self.rates.merge(&other.rates);
        if let Some(numbers) = other.numbers {
            self.numbers.get_or_insert_default().merge(numbers);
        }
        if let Some(ages) = other.ages {
            self.ages.get_or_insert_default().merge(&ages);
        }
    }

    /// The same for people.
    pub(crate) fn into_record(self) -> Feed {
        Feed {
            clients: self.clients,
            silent_clients: self.silent,
            messages: self.messages,
            elapsed_ns: self.elapsed_ns,
            per_second: self.messages as f64 * 1e9 / self.elapsed_ns.max(1) as f64,
            per_client: self.rates.into_record(),
            numbers: self.numbers,
            age: self.ages.map(AgesPart::into_record),
        }
    }
}

/// Messages per second of each client.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RatesPart {
    /// In messages of 1,000,000 seconds: the resolution of a recorder is then that of a thousandth of a
    /// message per second.
    all: Recorder,
    /// Of the clients in `all`, exactly.
    ends: Option<(f64, f64)>,
}

/// What a rate per second is recorded as.
const RECORDED: f64 = 1e6;
/// Below this a recorder does not tell values apart, and has their upper end.
const LEAST: u64 = 1_000;

impl RatesPart {
    /// Adds a client.
    pub(crate) fn record(&mut self, messages: u64, ns: u64) {
        let rate = messages as f64 * 1e9 / ns.max(1) as f64;
        self.all.record((rate * RECORDED) as u64);
        self.widen((rate, rate));
    }

    fn widen(&mut self, (min, max): (f64, f64)) {
        let (least, most) = self.ends.unwrap_or((min, max));
        self.ends = Some((least.min(min), most.max(max)));
    }

    /// Adds those of another worker.
    pub(super) fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        other.ends.into_iter().for_each(|ends| self.widen(ends));
    }

    /// The lowest and the highest rate, exactly; `None` without any.
    pub(super) const fn ends(&self) -> Option<(f64, f64)> {
        self.ends
    }

    /// The rate that `percentile` percent do not exceed.
    pub(super) fn percentile(&self, percentile: f64) -> f64 {
        let rate = match self.all.percentile(percentile) {
            ..LEAST => 0.0,
            rate => rate as f64 / RECORDED,
        };
        let (min, max) = self.ends.unwrap_or_default();
        rate.max(min).min(max)
    }

    fn into_record(self) -> Option<FeedRates> {
        let (min, max) = self.ends?;
        let median = self.percentile(50.0);
        Some(FeedRates { min, median, max })
    }
}

/// How old messages were when they came.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AgesPart {
    pub(crate) all: Recorder,
    pub(crate) negative: u64,
    pub(crate) most_negative_ns: u64,
    pub(crate) unreadable: u64,
    /// Some server may have another clock than this machine.
    pub(crate) is_clock_unknown: bool,
}

impl AgesPart {
    fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        self.negative += other.negative;
        self.most_negative_ns = self.most_negative_ns.max(other.most_negative_ns);
        self.unreadable += other.unreadable;
        self.is_clock_unknown |= other.is_clock_unknown;
    }

    fn into_record(self) -> FeedAge {
        FeedAge {
            clock: match self.is_clock_unknown {
                false => FeedClock::Shared,
                true => FeedClock::Unknown,
            },
            age: self.all.latency(),
            negative: self.negative,
            most_negative_ns: self.most_negative_ns,
            unreadable: self.unreadable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_workers_are_put_together_exactly_at_their_ends() {
        let (mut one, mut other) = (RatesPart::default(), RatesPart::default());
        for messages in [0, 10, 20] {
            one.record(messages, 2_000_000_000);
        }
        for messages in [7, 1_001] {
            other.record(messages, 1_000_000_000);
        }
        one.merge(&other);
        one.merge(&RatesPart::default());
        let rates = one.into_record().unwrap();
        assert_eq!((rates.min, rates.max), (0.0, 1_001.0));
        assert!((rates.median - 7.0).abs() < 0.007, "{rates:?}");
        assert_eq!(RatesPart::default().into_record(), None);
        let mut silent = RatesPart::default();
        silent.record(0, 1);
        assert_eq!(silent.into_record().unwrap().median, 0.0);
    }
}
