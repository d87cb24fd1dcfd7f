//! What must hold between the record of a run and the ledger of its server, whatever the plan. Pure.

mod beats;
mod dialogues;
mod feeds;
mod kinds;
mod leaving;
mod mqtt;
mod parts;
mod tickets;
mod watched;

use super::case::Case;
use plan::{Audience, Load, Plan, Population, Reading};
use record::{Churn, End, Faults, Latency, Outcome, Recorder, SlowReaders, StepRecord, Verdict};
use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use test_servers::oracle::{Asked, Copy, Fate, Told};

/// Clocks of one machine, read one after the other, differ by less.
const CLOCKS_NS: f64 = 100_000.0;
/// A figure of a histogram is that close to what was recorded (`record::Recorder`).
const PRECISION: f64 = 0.002;
/// What was written so long before the last request of a step that was given up, or later, may have been
/// under way.
const UNDER_WAY_NS: u64 = 1_000_000_000;

/// A law that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// Its name, the same for each plan.
    pub(super) law: &'static str,
    /// What is known and what was reported.
    pub(super) words: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.law, self.words)
    }
}

/// What a client is in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Awaited,
    Slow,
    Leaves,
}

/// What a run reports.
#[derive(Clone, Debug)]
pub(super) struct Reported {
    pub(super) steps: Vec<StepRecord>,
    pub(super) outcome: Outcome,
    /// Of all steps that count.
    pub(super) faults: Faults,
    /// The code that the program ended with.
    pub(super) exit: Option<i32>,
}

impl Reported {
    /// This machine could not carry a step, which is cut off wherever it was then. One with faults has
    /// the verdict of its faults all the same.
    fn is_limited(&self) -> bool {
        let is_limited = |step: &StepRecord| step.verdict == Verdict::GeneratorLimited;
        self.outcome.end == End::GeneratorLimited || self.steps.iter().any(is_limited)
    }
}

/// What a run reports, its steps added up, beside what its server knows.
struct Trial<'a> {
    case: &'a Case,
    told: &'a Told,
    record: &'a Reported,
    /// Of each step: the first sample behind it, and its clients.
    steps: Vec<(u64, u64)>,
    broken: Vec<Broken>,
}

/// The laws that a run breaks.
pub(super) fn broken(case: &Case, told: &Told, record: &Reported) -> Vec<Broken> {
    let mut trial = Trial {
        case,
        told,
        record,
        steps: steps(case, told, record),
        broken: Vec::new(),
    };
    trial.hold_requests();
    trial.hold_beats();
    trial.hold_tickets();
    trial.hold_end();
    if !record.is_limited() {
        trial.hold_feeds();
        trial.hold_parts();
        trial.hold_dialogues();
        trial.hold_acknowledgements();
    }
    if matches!(case.plan.load, Load::Connect(_)) {
        trial.hold_connections();
        return trial.broken;
    }
    if case.plan.watch().is_some() {
        trial.hold_watched();
        return trial.broken;
    }
    trial.hold_sums();
    if !record.is_limited() {
        trial.hold_samples();
        trial.hold_faults();
        trial.hold_leaving();
        trial.hold_search();
    }
    trial.broken
}

/// For [`Trial::steps`].
fn steps(case: &Case, told: &Told, record: &Reported) -> Vec<(u64, u64)> {
    let seed = case.plan.generator.seed;
    let stamps = told.asked.iter().filter_map(|asked| asked.stamp);
    let samples = stamps.filter_map(|stamp| ws_load::sample_of_stamp(seed, stamp));
    let mut samples: Vec<u64> = samples.collect();
    samples.sort_unstable();
    let mut before = 0;
    let ends = record.steps.iter().map(|step| {
        before += step.throughput.unwrap_or_default().sent as usize;
        let end = samples.get(before).copied().unwrap_or(u64::MAX);
        (end, step.clients)
    });
    ends.collect()
}

impl Trial<'_> {
    const fn plan(&self) -> &Plan {
        &self.case.plan
    }

    fn kind(&self, client: Option<u64>) -> Kind {
        let Some(client) = client else {
            return Kind::Slow;
        };
        let of = ws_load::population_of(self.plan(), client);
        match of.reads {
            _ if of.leaves() => Kind::Leaves,
            Reading::Full => Kind::Awaited,
            Reading::Stopped | Reading::BytesPerSecond(_) => Kind::Slow,
        }
    }

    fn sum(&self, of: impl Fn(&StepRecord) -> u64) -> u64 {
        self.record.steps.iter().map(of).sum()
    }

    fn churn(&self, of: impl Fn(&Churn) -> u64) -> u64 {
        self.sum(|step| step.churn.as_deref().map_or(0, &of))
    }

    fn slow(&self, of: impl Fn(&SlowReaders) -> u64) -> u64 {
        self.sum(|step| step.slow_readers.as_ref().map_or(0, &of))
    }

    /// The copies of a request that a sample waits for.
    fn awaited<'b>(&'b self, asked: &'b Asked) -> impl Iterator<Item = &'b Copy> {
        let copies = asked.copies.iter();
        copies.filter(|copy| {
            self.kind(copy.client) == Kind::Awaited && !self.is_of_later_client(asked, copy)
        })
    }

    /// The client is one of a later step than the request: where nothing is awaited of a request, the
    /// server may read it when the next step has begun.
    fn is_of_later_client(&self, asked: &Asked, copy: &Copy) -> bool {
        let sample = |stamp| ws_load::sample_of_stamp(self.plan().generator.seed, stamp);
        let Some(sample) = asked.stamp.and_then(sample) else {
            return false;
        };
        let step = self.steps.iter().find(|(end, _)| sample < *end);
        step.zip(copy.client)
            .is_some_and(|((_, clients), client)| client >= *clients)
    }

    /// What such clients were written.
    fn of_later_clients(&self) -> u64 {
        let asked = self.told.asked.iter();
        let copies = asked.flat_map(|asked| asked.copies.iter().map(move |copy| (asked, copy)));
        let late = copies.filter(|(asked, copy)| {
            copy.written_ns.is_some() && self.is_of_later_client(asked, copy)
        });
        late.count() as u64
    }

    /// Senders get results.
    fn has_results(&self) -> bool {
        let is_to_others = self.plan().audience != Audience::Sender;
        is_to_others && !self.case.server.acknowledges_nothing
    }

    /// All of it was written, the result too, where there is to be one.
    fn is_whole(&self, asked: &Asked) -> bool {
        let answered = !self.has_results() || asked.result_ns.is_some();
        answered && self.awaited(asked).all(|copy| copy.written_ns.is_some())
    }

    fn copies(&self, kind: Kind) -> impl Iterator<Item = (&Asked, &Copy)> {
        let all = self.told.asked.iter();
        let all = all.flat_map(|asked| asked.copies.iter().map(move |copy| (asked, copy)));
        all.filter(move |(asked, copy)| {
            let is_later = || kind == Kind::Awaited && self.is_of_later_client(asked, copy);
            self.kind(copy.client) == kind && !is_later()
        })
    }

    fn says(&mut self, law: &'static str, holds: bool, words: impl FnOnce() -> String) {
        if !holds {
            let words = words();
            self.broken.push(Broken { law, words });
        }
    }

    fn exactly(&mut self, law: &'static str, known: u64, reported: u64) {
        self.says(law, known == reported, || {
            format!("{known} are known, {reported} reported")
        });
    }

    fn within(&mut self, law: &'static str, known: RangeInclusive<u64>, reported: u64) {
        let (least, most) = known.into_inner();
        self.says(law, (least..=most).contains(&reported), || {
            format!("{least} to {most} are known, {reported} reported")
        });
    }

    /// A step was given up while something was under way: it is among the faults then, and in no latency.
    fn is_partial(&self) -> bool {
        let is_closed = |step: &StepRecord| step.timed_out && step.sent.is_none();
        self.record.steps.iter().any(is_closed) || self.under_way() != (0, 0)
    }

    /// From when on what was written may have come too late for the step that was given up, if one was.
    fn given_up_from(&self) -> Option<u64> {
        let asked = self.told.asked.iter().map(|asked| asked.at_ns);
        let since_last = || Some(asked.clone().max()?.saturating_sub(UNDER_WAY_NS));
        if self.is_contradicted() {
            return since_last();
        }
        let step = self.record.steps.iter().rfind(|step| step.timed_out)?;
        if step.sent.is_none() {
            return since_last();
        }
        // The time-outs of an open loop are longer than its schedule, and its step is the last one.
        let sent = step.throughput.unwrap_or_default().sent as usize;
        let first = asked.rev().take(sent).min()?;
        let time_out = self.plan().limits.sample_timeout.ns();
        Some((first + time_out).saturating_sub(UNDER_WAY_NS))
    }

    fn hold_requests(&mut self) {
        let seed = self.plan().generator.seed;
        let stamps = self.told.asked.iter().filter_map(|asked| asked.stamp);
        let samples: Vec<u64> = stamps
            .filter_map(|stamp| ws_load::sample_of_stamp(seed, stamp))
            .collect();
        let asked = self.told.asked.len() as u64;
        self.exactly("each request carries a sample", asked, samples.len() as u64);
        let distinct = samples.iter().collect::<HashSet<_>>().len() as u64;
        self.exactly("no sample is sent twice", asked, distinct);
        let sent = self.sum(|step| step.throughput.unwrap_or_default().sent);
        self.exactly("requests that were sent", asked, sent);
        let outsiders = self.told.outsiders;
        self.exactly("members publish", 0, outsiders);
        let senders = self.told.asked.iter().map(|asked| self.kind(asked.client));
        let others = senders.filter(|kind| *kind != Kind::Awaited).count() as u64;
        self.exactly("clients that samples wait for send", 0, others);
        let unheard = self.told.asked.iter().filter(|asked| {
            let kinds = asked.copies.iter().map(|copy| self.kind(copy.client));
            !kinds.into_iter().any(|kind| kind == Kind::Awaited)
        });
        // What passes its sender over may have no other in its room.
        let is_for_sender = !self.case.server.passes_sender_over;
        let unheard = unheard.count() as u64 * u64::from(is_for_sender);
        self.exactly("each message has a client that waits for it", 0, unheard);
    }

    /// The requests that are timed: of each step, all behind its warm-up.
    fn timed(&self) -> Vec<&Asked> {
        let asked = self.told.asked.iter();
        let has_warm_up = self
            .plan()
            .open_loop()
            .is_some_and(|open| open.warm_up.ns() > 0);
        if !has_warm_up {
            return asked.collect();
        }
        let seed = self.plan().generator.seed;
        let sample = |asked: &&Asked| ws_load::sample_of_stamp(seed, asked.stamp?);
        let mut asked: Vec<&Asked> = asked.collect();
        asked.sort_by_key(sample);
        let mut rest = &*asked;
        let mut timed = Vec::new();
        for step in &self.record.steps {
            let sent = step.throughput.unwrap_or_default().sent as usize;
            let (of_step, others) = rest.split_at(sent.min(rest.len()));
            let warm_up = of_step.len().saturating_sub(step.samples_planned as usize);
            timed.extend_from_slice(&of_step[warm_up..]);
            rest = others;
        }
        timed
    }

    fn hold_samples(&mut self) {
        let to_others = self.plan().audience != Audience::Sender;
        let mut completions = Vec::new();
        let (mut deliveries, mut acks) = (Vec::new(), Vec::new());
        for asked in self.timed() {
            let took = |at: u64| (at - asked.at_ns) as f64;
            let written = || self.awaited(asked).filter_map(|copy| copy.written_ns);
            if self.is_whole(asked) {
                completions.push(written().max().map_or(0.0, took));
            }
            deliveries.extend(written().map(took));
            acks.extend(asked.result_ns.map(took));
        }
        let samples = self.sum(|step| step.samples);
        if !self.is_partial() {
            self.exactly("samples that are whole", completions.len() as u64, samples);
        }
        self.hold_times("completion", completions, |step| step.completion.as_ref());
        if to_others {
            self.hold_times("delivery", deliveries, |step| step.delivery.as_ref());
            self.hold_times("ack", acks, |step| step.ack.as_ref());
        }
    }

    /// Every latency is at least the time that the server took: in order, each of the reported ones is
    /// at least as long as the known one at its place.
    fn hold_times(
        &mut self,
        what: &'static str,
        mut known: Vec<f64>,
        of: impl Fn(&StepRecord) -> Option<&Latency>,
    ) {
        let mut reported = Recorder::default();
        for latency in self.record.steps.iter().filter_map(of) {
            if let Ok(of_step) = latency.recorder() {
                reported.merge(&of_step);
            }
        }
        let (count, due) = (reported.count(), known.len() as u64);
        if self.is_partial() {
            self.says(what, count <= due, || {
                format!("{due} at most are known, {count} reported")
            });
            return;
        }
        self.exactly(what, due, count);
        if count != due || due == 0 {
            return;
        }
        known.sort_unstable_by(f64::total_cmp);
        for share in [0.0, 0.25, 0.5, 0.75, 0.95, 1.0] {
            let place = ((due as f64 * share).ceil() as usize).clamp(1, known.len());
            let least = known[place - 1];
            let ns = reported.percentile(place as f64 * 100.0 / due as f64) as f64;
            self.says(what, ns >= least * (1.0 - PRECISION) - CLOCKS_NS, || {
                let ms = |ns: f64| ns / 1e6;
                let (ns, least) = (ms(ns), ms(least));
                format!(
                    "number {place} of {due} took the server {least:.3} ms, {ns:.3} are reported"
                )
            });
        }
    }

    fn hold_faults(&mut self) {
        let lost = self.count(Kind::Awaited, Fate::Lost);
        let of_numbers = [self.feed_faults(), self.part_faults()];
        let all = of_numbers
            .iter()
            .fold(self.record.faults, |all, of| all.without(of));
        let unclaimed = all.lost - self.churn(|churn| churn.lost).min(all.lost);
        let (late, late_results) = self.under_way();
        let law = "lost to clients that samples wait for";
        self.within(law, lost..=lost + late, unclaimed);
        for (law, fate, reported) in [
            ("duplicates", Fate::Doubled, all.duplicate),
            ("corrupt messages", Fate::Corrupt, all.corrupt),
        ] {
            let least = self.count(Kind::Awaited, fate);
            let surely = self.taken(fate);
            let perhaps = self.count(Kind::Leaves, fate) + self.count(Kind::Slow, fate);
            let surely = (least + surely).saturating_sub(late);
            self.within(law, surely..=least + perhaps, reported);
        }
        let least = self.strays(Kind::Awaited);
        let most = least + self.strays(Kind::Leaves) + self.strays(Kind::Slow);
        let surely = least.saturating_sub(late);
        self.within("misdirected messages", surely..=most, all.misdirected);
        let unanswered = self.told.asked.iter().filter(|asked| !asked.awaits_result);
        let unanswered = unanswered.count() as u64 * u64::from(self.has_results());
        let joins = self.told.ignored;
        self.within(
            "unanswered requests",
            unanswered..=unanswered + joins + late_results,
            all.unanswered,
        );
        let others = all.reordered + all.refused + all.malformed + all.disconnected;
        self.exactly("faults that nobody made", 0, others);
    }

    /// Deliveries to clients that samples wait for, and results, that may have been under way when a
    /// step was given up.
    fn under_way(&self) -> (u64, u64) {
        let Some(from) = self.given_up_from() else {
            return (0, 0);
        };
        let is_late = |at: Option<u64>| at.is_none_or(|at| at >= from);
        let copies = self.copies(Kind::Awaited);
        let copies = copies.filter(|(_, copy)| copy.fate != Fate::Lost && is_late(copy.written_ns));
        let asked = self.told.asked.iter();
        let results = asked.filter(|asked| asked.awaits_result && is_late(asked.result_ns));
        (copies.count() as u64, results.count() as u64)
    }

    fn count(&self, kind: Kind, fate: Fate) -> u64 {
        let all = self.copies(kind);
        all.filter(|(_, copy)| copy.fate == fate).count() as u64
    }

    /// Messages of other rooms that went to clients of this kind.
    fn strays(&self, kind: Kind) -> u64 {
        let all = self.told.strays.iter();
        let all = all.filter(|stray| self.kind(stray.client) == kind);
        all.filter(|stray| stray.written_ns.is_some()).count() as u64
    }

    fn hold_sums(&mut self) {
        for step in &self.record.steps {
            let rows = step.series.iter().flat_map(|series| &series.rows);
            let (mut sent, mut received, mut completed) = (0, 0, 0);
            for row in rows {
                sent += row.sent;
                received += row.received;
                completed += row.completed;
            }
            let whole = step.throughput.unwrap_or_default();
            self.exactly("requests, second by second", whole.sent, sent);
            self.exactly("messages, second by second", whole.received, received);
            self.exactly("samples, second by second", step.samples, completed);
            if !step.sites.is_empty() {
                let of_sites = step.sites.iter().map(|site| site.messages).sum::<u64>();
                self.exactly("messages of all sites", step.generator.messages, of_sites);
            }
        }
        if let (Load::Closed(closed), false) = (&self.plan().load, self.is_partial()) {
            let planned = u64::from(closed.samples) * self.record.steps.len() as u64;
            let reported = self.sum(|step| step.samples_planned);
            self.exactly("samples of a closed loop", planned, reported);
        }
    }

    fn hold_end(&mut self) {
        let server = self.case.server;
        let holds_back = [server.lost, server.unanswered, server.ignored];
        let holds_back = holds_back.iter().any(|strikes| strikes.every > 0);
        let end = self.record.outcome.end;
        let detail = &self.record.outcome.detail;
        let ends_well = matches!(end, End::StepsDone | End::EdgeFound | End::GeneratorLimited);
        let mut populations = self.plan().populations.iter();
        let may_be_away = populations.any(Population::returns_after_cut);
        let kept_out = server.closes_door.is_some() || may_be_away && end == End::OverLimit;
        let broken = format!("{end:?}: {detail}");
        // What is not answered fails a step or has it given up, and costs no connection.
        let fails = matches!(end, End::OverLimit | End::TimedOut) && holds_back;
        self.says(
            "the run comes to its end",
            ends_well || fails || kept_out || self.is_contradicted(),
            || broken,
        );
        let is_noisy = |step: &StepRecord| step.verdict == Verdict::Noisy;
        let is_invalid = !self.record.faults.is_empty()
            || matches!(
                end,
                End::TimedOut
                    | End::NotUnderstood
                    | End::ServerLost
                    | End::GeneratorLimited
                    | End::WorkerLost
            )
            || self.record.steps.iter().all(is_noisy);
        let due = match end {
            End::DialectContradicted => 1,
            _ if is_invalid => 3,
            _ => 0,
        };
        let exit = self.record.exit;
        let broken = format!("{due} is due, {exit:?} came");
        self.says("the exit code", exit == Some(due), || broken);
    }
}

#[cfg(test)]
mod tests;
