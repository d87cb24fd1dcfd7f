//! Why no further step is made, in words.

use super::{Engine, Team};
use run_record::{End, StepRecord, Verdict};

/// Why no further step is made.
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) detail: String,
}

impl Ended {
    pub(super) fn new(end: End, detail: impl Into<String>) -> Self {
        Self {
            end,
            detail: detail.into(),
        }
    }
}

impl<T: Team> Engine<'_, T> {
    /// Why no further step is made after this one.
    pub(super) fn verdict(&self, record: &StepRecord) -> Option<Ended> {
        match record.verdict {
            Verdict::Noisy | Verdict::Interrupted => return None,
            Verdict::GeneratorLimited => {
                return Some(Ended::new(
                    End::GeneratorLimited,
                    format!(
                        "at {} clients the generator, and not the server, was the limit: {}; {}",
                        record.clients,
                        record.verdict_reasons.join("; "),
                        run_record::remedy(self.plan)
                    ),
                ));
            }
            Verdict::Pass | Verdict::Fail => {}
        }
        if record.over_limit {
            let limit = &self.plan.limit;
            return Some(Ended::new(
                End::OverLimit,
                format!(
                    "at {} clients the {}th percentile is above {} ms",
                    record.clients,
                    limit.percentile,
                    limit.rtt_ns as f64 / 1e6
                ),
            ));
        }
        (record.faults.disconnected > 0).then(|| {
            Ended::new(
                End::ServerLost,
                format!(
                    "{} of {} connections were lost in the step",
                    record.faults.disconnected, record.clients
                ),
            )
        })
    }
}
