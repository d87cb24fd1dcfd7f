//! Why no further step is made, in words.

use super::merge::Uncounted;
use super::{Controller, Workers};
use crate::message::FirstFaults;
use record::{End, StepRecord, Verdict};

/// Why no further step is made.
pub(crate) struct Ended {
    pub(crate) end: End,
    pub(crate) detail: String,
}

impl Ended {
    pub(crate) fn new(end: End, detail: impl Into<String>) -> Self {
        Self {
            end,
            detail: detail.into(),
        }
    }
}

impl<W: Workers> Controller<'_, W> {
    /// Keeps, in words, what the counts of a step do not show.
    pub(super) fn note_uncounted(&mut self, record: &mut StepRecord, of_step: Uncounted) {
        self.of_sender = of_step.of_sender;
        if record.verdict == Verdict::Fail {
            let lost = ("connection lost", &of_step.first.disconnect);
            for (which, words) in answers(&of_step.first).into_iter().chain([lost]) {
                if let Some(words) = words {
                    let reason = format!("the first {which}: {words}");
                    record.verdict_reasons.push(reason.into());
                }
            }
        }
        self.first.disconnect = None;
        self.first.merge(of_step.first);
    }

    /// The end with the first malformed message and the first refusal of the run, which no count shows.
    pub(super) fn tell_answers(&self, mut ended: Ended) -> Ended {
        // An end for the first messages has told them, a frame has cost its connection.
        if ended.end != End::NotUnderstood {
            for (which, words) in answers(&self.first) {
                if let Some(words) = words
                    && !ended.detail.contains(words)
                {
                    ended
                        .detail
                        .push_str(&format!("; the first {which}: {words}"));
                }
            }
        }
        ended
    }

    /// Why no further step is made after this one, in which so many connections were open at one time or
    /// another.
    pub(super) fn verdict(&self, record: &StepRecord, connections: u64) -> Option<Ended> {
        match record.verdict {
            Verdict::Noisy | Verdict::Interrupted => return None,
            Verdict::GeneratorLimited => {
                return Some(Ended::new(
                    End::GeneratorLimited,
                    format!(
                        "at {} clients the generator, and not the server, was the limit: {}; {}",
                        record.clients,
                        record.verdict_reasons.join("; "),
                        record::remedy(self.plan)
                    ),
                ));
            }
            Verdict::Pass | Verdict::Fail => {}
        }
        if let Some(ended) = self.contradicted(record) {
            return Some(ended);
        }
        if record.over_limit {
            let limit = &self.plan.limits;
            return Some(Ended::new(
                End::OverLimit,
                format!(
                    "at {} clients the {}th percentile is above {} ms",
                    record.clients,
                    limit.percentile,
                    limit.time.ns() as f64 / 1e6
                ),
            ));
        }
        if let Some(words) = record::kept_too_much(record, self.plan) {
            let words = format!("at {} clients {words}", record.clients);
            return Some(Ended::new(End::OverLimit, words));
        }
        self.connections_lost(record, connections).or_else(|| {
            let words = record::not_back(record, self.plan)?;
            let words = format!("at {} clients {words}", record.clients);
            Some(Ended::new(End::OverLimit, words))
        })
    }

    /// The end, where connections were lost in a step in which so many were open at one time or another:
    /// the next would be another load.
    pub(super) fn connections_lost(&self, record: &StepRecord, connections: u64) -> Option<Ended> {
        (record.faults.disconnected > 0).then(|| {
            Ended::new(
                End::ServerLost,
                format!(
                    "{} of {} connections were lost in the step{}",
                    record.faults.disconnected,
                    // A client that comes back may be lost again.
                    connections.max(record.faults.disconnected),
                    self.first
                        .disconnect
                        .as_ref()
                        .map_or_else(String::new, |words| format!("; the first: {words}"))
                ),
            )
        })
    }
}

/// The first answers of a kind that no server should give, in words.
const fn answers(first: &FirstFaults) -> [(&str, &Option<String>); 2] {
    [
        ("malformed message", &first.malformed),
        ("refusal", &first.refused),
    ]
}
