//! A worker's part of what came of answers in parts.

use super::feed::RatesPart;
use record::{PartCounts, PartNumbers, PartRates, Recorder, Streams};
use serde::{Deserialize, Serialize};

/// Answers that came in parts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StreamsPart {
    pub(crate) answers: u64,
    pub(crate) parts: u64,
    pub(crate) unfinished: u64,
    pub(crate) cut: u64,
    pub(crate) first: Recorder,
    pub(crate) between: Recorder,
    /// Each answer as that many in a second.
    pub(crate) per_answer: RatesPart,
    pub(crate) per_second: RatesPart,
    pub(crate) counts: PartNumbers,
}

impl StreamsPart {
    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.answers += other.answers;
        self.parts += other.parts;
        self.unfinished += other.unfinished;
        self.cut += other.cut;
        self.first.merge(&other.first);
        self.between.merge(&other.between);
        self.per_answer.merge(&other.per_answer);
        self.per_second.merge(&other.per_second);
        self.counts.merge(other.counts);
    }

    /// The same for people.
    pub(crate) fn into_record(self) -> Streams {
        let per_answer = &self.per_answer;
        let per_second = &self.per_second;
        let ends = per_answer.ends();
        Streams {
            answers: self.answers,
            parts: self.parts,
            unfinished: self.unfinished,
            cut: self.cut,
            per_answer: ends.map(|(min, max)| PartCounts {
                min: min.round() as u64,
                median: per_answer.percentile(50.0).round() as u64,
                max: max.round() as u64,
            }),
            first: self.first.latency(),
            between: self.between.latency(),
            per_second: per_second.ends().map(|_| PartRates {
                p5: per_second.percentile(5.0),
                median: per_second.percentile(50.0),
            }),
            numbers: self.counts,
        }
    }
}
