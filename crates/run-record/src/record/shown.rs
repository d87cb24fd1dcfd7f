//! What is written of records and events: each without its secrets.

use super::{Event, RunRecord, StepRecord};
use crate::plan::redacted;

fn redact(text: &mut String) {
    *text = redacted(text).into_owned();
}

impl StepRecord {
    /// The step as it is written: without secrets in its texts.
    #[must_use]
    pub fn redacted(&self) -> Self {
        let mut step = self.clone();
        step.verdict_reasons.iter_mut().for_each(redact);
        step.sites
            .iter_mut()
            .for_each(|site| redact(&mut site.name));
        // What a peer said: a redirect, an answer to an upgrade, the reason of a close.
        if let Some(of) = &mut step.connections {
            let told = [&mut of.first_failure, &mut of.server_unknown];
            told.into_iter().flatten().for_each(redact);
        }
        if let Some(of) = &mut step.churn {
            of.first_failure.iter_mut().for_each(redact);
        }
        if let Some(of) = &mut step.slow_readers {
            of.first_cut_off.iter_mut().for_each(redact);
        }
        step
    }
}

impl Event {
    /// The event as it is written: without secrets in its texts.
    #[must_use]
    pub fn redacted(&self) -> Self {
        let mut event = self.clone();
        match &mut event {
            Self::Step { record, .. } => **record = record.redacted(),
            Self::WarmedUp { warm_up } => warm_up.cold = warm_up.cold.redacted(),
            Self::End { outcome } => redact(&mut outcome.detail),
            _ => {}
        }
        event
    }
}

impl RunRecord {
    /// The record as it is written: without secrets in its texts. Its command is written as it is.
    #[must_use]
    pub fn redacted(&self) -> Self {
        let mut record = self.clone();
        record.plan = record.plan.redacted();
        record.unchecked.iter_mut().for_each(redact);
        if let Some(warm_up) = &mut record.warm_up {
            warm_up.cold = warm_up.cold.redacted();
        }
        let steps = record.steps.iter_mut();
        steps.for_each(|step| *step = step.redacted());
        redact(&mut record.outcome.detail);
        record
    }
}
