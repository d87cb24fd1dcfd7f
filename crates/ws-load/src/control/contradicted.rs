//! What the senders of a step got, against what the user's dialect file says of it: a server that only
//! fails does not do so each time.

use super::end::Ended;
use super::{Controller, Workers};
use crate::message::OfSender;
use plan::{Audience, Requests};
use record::{End, HttpRequests, StepRecord};

/// Share of the requests of a step that stands for all of them: what comes of the last may still be on
/// its way when it ends.
const ALL: f64 = 0.9;
/// Fewest requests of which nothing of a kind came, where none may come of any.
const FEWEST: u64 = 3;

/// What senders got in a step.
#[derive(Debug)]
struct Got {
    /// Requests that were sent.
    sent: u64,
    /// Copies came, against the file.
    copies: bool,
    /// None came, against the file.
    no_copy: bool,
    /// Results came, against the file.
    results: bool,
    /// None came, against the file.
    no_result: bool,
}

impl Got {
    /// Of a step with faults, if these alone explain them.
    fn new(record: &StepRecord, of_sender: OfSender, says: &Requests) -> Option<Self> {
        let faults = &record.faults.without(&record.numbered_faults());
        let sent = record.throughput.as_ref()?.sent;
        let is_all = |count: u64| count > 0 && count >= (sent as f64 * ALL) as u64;
        let is_none = |missing: u64| sent >= FEWEST && is_all(missing);
        let count =
            |latency: &Option<_>| latency.as_ref().map_or(0, |of: &record::Latency| of.count);
        let is_acknowledged = says.is_acknowledged();
        // What was sent just before a step is given up is missing as well.
        let others_lost = faults.lost - of_sender.missing.min(faults.lost);
        let reaches_others = count(&record.delivery) > 0
            && others_lost as f64 <= (1.0 - ALL) * count(&record.delivery) as f64;
        let got = Self {
            sent,
            copies: !says.reaches_sender && is_all(of_sender.copies),
            no_copy: says.reaches_sender
                && is_none(of_sender.missing)
                && record.samples == 0
                && reaches_others,
            results: !is_acknowledged && is_all(of_sender.unasked),
            no_result: is_acknowledged
                && is_none(faults.unanswered)
                && count(&record.ack) == 0
                && reaches_others,
        };
        let mut explained = 0;
        for (is_so, count) in [
            (got.copies, of_sender.copies),
            (got.no_copy, faults.lost),
            (got.results, of_sender.unasked),
            (got.no_result, faults.unanswered),
            (got.no_result && !got.no_copy, faults.lost),
        ] {
            explained += u64::from(is_so) * count;
        }
        (explained > 0 && explained == faults.total()).then_some(got)
    }
}

/// What to say where each publication over HTTP was answered, and none as the file says that it is, in
/// this step and in those before it. An answer that blames the load, and not the request, is the server's
/// own, and so is a refusal of what it took before.
fn none_published(record: &StepRecord, before: &[StepRecord]) -> Option<String> {
    let of = published(record)?;
    let took_one = |of: &HttpRequests| of.requests > of.failed;
    if before.iter().filter_map(published).any(took_one) {
        return None;
    }
    let answered: u64 = of.statuses.values().sum();
    let blames_load = |status: &String| status == "429" || status.starts_with('5');
    let could_not_work = of.requests >= FEWEST
        && (of.failed, answered) == (of.requests, of.requests)
        && !of.statuses.keys().any(blames_load);
    let first = of.first_failure.as_ref().filter(|_| could_not_work)?;
    Some(format!(
        "the dialect file and the server disagree: of {} publications over HTTP the server took none: {first}",
        of.requests
    ))
}

fn published(record: &StepRecord) -> Option<&HttpRequests> {
    record.http.as_ref()?.publications.as_ref()
}

impl<W: Workers> Controller<'_, W> {
    /// The end, where what senders got contradicts the user's dialect file in each request of a step, and
    /// nothing else was wrong.
    pub(super) fn contradicted(&self, record: &StepRecord) -> Option<Ended> {
        let message = &self.plan.message;
        let file = message.definition.as_deref();
        let says = &file.filter(|_| message.has_own_definition())?.send;
        let (what, answer) = match self.plan.audience {
            Audience::Sender => return None,
            Audience::Everyone => ("broadcasts", "result"),
            Audience::Room(_) => ("publications", "published"),
        };
        let of_sender = self.of_sender;
        if let Some(words) = none_published(record, &self.steps) {
            return Some(Ended::new(End::DialectContradicted, words));
        }
        let got = Got::new(record, of_sender, says)?;
        let sent = got.sent;
        let silencing = match says.acknowledged {
            Some(_) => "`acknowledged = false` under [send]",
            None => "`reaches_sender = false` under [send], without `acknowledged = true`",
        };
        let found = [
            got.copies.then(|| {
                format!(
                    "{} of {sent} {what} came back to the client that sent them, and the file says that \
                     none does (`reaches_sender = false` under [send])",
                    of_sender.copies
                )
            }),
            got.no_copy.then(|| {
                format!(
                    "none of {sent} {what} came back to the client that sent it, and the file says that \
                     each does (`reaches_sender` under [send] is not false)"
                )
            }),
            got.results.then(|| {
                format!(
                    "{} of {sent} {what} were answered to the client that sent them, and the file says \
                     that none is ({silencing})",
                    of_sender.unasked
                )
            }),
            got.no_result.then(|| {
                format!(
                    "none of {sent} {what} was answered to the client that sent it, and the file says \
                     that each is (a rule means `{answer}`)"
                )
            }),
        ];
        let found = found.into_iter().flatten().collect::<Vec<_>>();
        let reaches_sender = says.reaches_sender && !got.no_copy || got.copies;
        let acknowledged = says.is_acknowledged() && !got.no_result || got.results;
        let rule = match acknowledged {
            true => "a rule",
            false => "no rule",
        };
        Some(Ended::new(
            End::DialectContradicted,
            format!(
                "the dialect file and the server disagree: {}; write `reaches_sender = \
                 {reaches_sender}` and `acknowledged = {acknowledged}` under [send], with {rule} that \
                 means `{answer}`, or mend the server",
                found.join("; ")
            ),
        ))
    }
}
