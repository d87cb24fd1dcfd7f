//! Why no further step is made, in words.

use super::merge::FirstFaults;
use super::{Controller, Workers};
use record::{End, StepRecord, Verdict};

const MALFORMED: &str = "malformed message";

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
    /// Keeps, in words, the first faults of a step that its counts do not show.
    pub(super) fn note_first(&mut self, record: &mut StepRecord, first: FirstFaults) {
        self.of_sender = first.of_sender;
        if record.verdict == Verdict::Fail {
            for (which, words) in [
                (MALFORMED, &first.malformed),
                ("connection lost", &first.disconnect),
            ] {
                if let Some(words) = words {
                    let reason = format!("the first {which}: {words}");
                    record.verdict_reasons.push(reason.into());
                }
            }
        }
        if self.first_malformed.is_none() {
            self.first_malformed = first.malformed;
        }
        self.first_disconnect = first.disconnect;
    }

    /// The end with the first malformed message of the run, which no count shows.
    pub(super) fn tell_malformed(&self, mut ended: Ended) -> Ended {
        // An end for the first messages has told them, a frame has cost its connection.
        if ended.end != End::NotUnderstood
            && let Some(words) = &self.first_malformed
            && !ended.detail.contains(words)
        {
            ended
                .detail
                .push_str(&format!("; the first {MALFORMED}: {words}"));
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
                    self.first_disconnect
                        .as_ref()
                        .map_or_else(String::new, |words| format!("; the first: {words}"))
                ),
            )
        })
    }
}
