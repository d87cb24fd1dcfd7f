//! What became of the messages of a watched step while parts of the server failed: which share was lost,
//! how long it took until all was well again, and whether the library kept what it promises.
//!
//! The definitions that columns, pages and docs/reading-results.md share:
//! - A *delivery* is one message to one client. Those of confirmed messages count. Where the dialect has
//!   no results those of all messages that were sent do.
//! - The *time of a fault* lasts from its begin until the next fault that does harm, or the end of the
//!   step. It begins one part of the timeline earlier for losses: what was on its way is lost with it.
//! - *Left* is by how many fewer clients were ready in that time than before it. A share of them is *back*
//!   when as many are ready, and stay so for the rest of the time.
//! - All is *whole again* after the last message that did not come to a client with a connection.
//! - *At most once* is broken by a message that came twice, on whatever connection. *At least once* is
//!   broken by a confirmed message that did not come on a connection that stayed. *Resumes* is broken by
//!   that, too, and by one that did not come to a client that came back. No promise is broken by what was
//!   sent within the first second of a connection, before anything came on it.
//!
//! Times are ends of parts of the timeline, so they are late by one part at most. This module reads
//! records and nothing else.

mod promise;

pub(crate) use promise::Promise;

use plan::FaultDeed;
use record::{Fates, FaultDone, Measurement, StepRecord, Timeline, Watched};
use std::ops::Range;

/// Parts of the timeline before a fault whose losses are its own.
const EARLIER: usize = 1;

/// The watched step of a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failover<'m> {
    pub(crate) watched: &'m Watched,
    /// Clients of the step.
    pub(crate) clients: u64,
    pub(crate) faults: &'m [FaultDone],
}

/// What followed from a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recovery<'m> {
    pub(crate) fault: &'m FaultDone,
    /// When it began, in nanoseconds after the first message.
    pub(crate) began_ns: u64,
    /// Clients that lost their connection.
    pub(crate) left: u64,
    /// Time until 50, 95 and 100 percent of them were back; `None` where they never were.
    pub(crate) back: [Option<u64>; 3],
    /// Deliveries that did not come, of whatever message.
    pub(crate) lost: u64,
    /// From the begin of the first part with a loss to the end of the last, in nanoseconds after the fault.
    pub(crate) loss: Option<(i64, i64)>,
    /// Time until all was whole again; `None` where it never was.
    pub(crate) whole: Option<u64>,
}

impl<'m> Failover<'m> {
    /// That of a measurement; `None` where nothing was watched.
    pub(crate) fn new(measurement: &'m Measurement) -> Option<Self> {
        let steps = measurement.run.as_ref()?.steps.iter();
        let of_step = |step: &'m StepRecord| Some((step.watched.as_deref()?, step.clients));
        let (watched, clients) = steps.rev().find_map(of_step)?;
        Some(Self {
            watched,
            clients,
            faults: &measurement.faults,
        })
    }

    /// The deliveries that count.
    pub(crate) const fn counted(&self) -> Fates {
        match self.watched.has_no_results {
            true => self.watched.of_unconfirmed,
            false => self.watched.of_confirmed,
        }
    }

    /// The share of them that did not come; `None` where there are none.
    pub(crate) fn loss(&self) -> Option<f64> {
        share_lost(&self.counted())
    }

    /// Clients that had no connection when the step ended.
    pub(crate) fn missing(&self) -> u64 {
        let ready = self.watched.timeline.ready.last().copied();
        self.clients.saturating_sub(ready.unwrap_or(self.clients))
    }

    /// What followed from each fault that happened.
    pub(crate) fn recoveries(&self) -> Vec<Recovery<'m>> {
        if self.watched.timeline.tick_ns == 0 {
            return Vec::new();
        }
        let begun = self.faults.iter();
        let begun: Vec<(&FaultDone, u64)> = begun
            .filter_map(|fault| Some((fault, fault.began_ns?)))
            .collect();
        let recovery = |(index, &(fault, began_ns)): (usize, &(&'m FaultDone, u64))| {
            let mut later = begun[index + 1..].iter();
            let next = later.find(|(fault, _)| does_harm(fault.planned.deed));
            self.recovery(fault, began_ns, next.map(|(_, at_ns)| *at_ns))
        };
        begun.iter().enumerate().map(recovery).collect()
    }

    fn recovery(&self, fault: &'m FaultDone, began_ns: u64, next_ns: Option<u64>) -> Recovery<'m> {
        let timeline = &self.watched.timeline;
        let part = |ns: u64| usize::try_from(ns / timeline.tick_ns).unwrap_or(usize::MAX);
        let parts = timeline.parts();
        let begin = part(began_ns).min(parts);
        let end = next_ns.map_or(parts, part).clamp(begin, parts);
        let after = |part: usize| ns(timeline, part).saturating_sub(began_ns);
        let before = match begin.checked_sub(1) {
            Some(last) => at(&timeline.ready, last),
            None => self.clients,
        };
        let ready = &timeline.ready[begin.min(timeline.ready.len())..end.min(timeline.ready.len())];
        let fewest = ready.iter().copied().min().unwrap_or(before);
        let left = before.saturating_sub(fewest);
        let back = |percent: u64| {
            let wanted = fewest.saturating_add(left.saturating_mul(percent).div_ceil(100));
            match ready.iter().rposition(|ready| *ready < wanted) {
                None => Some(0),
                Some(last) if begin + last + 1 == end => None,
                Some(last) => Some(after(begin + last + 2)),
            }
        };
        // After the last message clients only listen: nothing is lost there.
        let sending = timeline.sent.iter().rposition(|sent| *sent > 0);
        let sending = sending.map_or(0, |last| last + 1);
        let own = begin.saturating_sub(EARLIER)..match next_ns {
            Some(_) => end.saturating_sub(EARLIER).max(begin).min(sending),
            None => end.min(sending),
        };
        let [losses, connected] = [losses, losses_of_connected].map(|of| of(timeline, own.clone()));
        let from = |part: usize| signed(ns(timeline, part)) - signed(began_ns);
        let whole = match connected.last() {
            None => Some(0),
            Some((last, _)) if last + 1 == own.end => None,
            Some((last, _)) => Some(after(last + 1)),
        };
        Recovery {
            fault,
            began_ns,
            left,
            back: [50, 95, 100].map(back),
            lost: losses
                .iter()
                .map(|(_, lost)| *lost)
                .fold(0, u64::saturating_add),
            loss: losses
                .first()
                .zip(losses.last())
                .map(|((first, _), (last, _))| (from(*first), from(last + 1))),
            whole,
        }
    }

    /// The longest of a time over the faults that did harm, in nanoseconds: infinite where one was never
    /// over, and `None` where no fault happened.
    pub(crate) fn longest(&self, of: impl Fn(&Recovery<'m>) -> Option<u64>) -> Option<f64> {
        let all = self.recoveries();
        let harmful = all.iter().filter(|one| does_harm(one.fault.planned.deed));
        let times = harmful.map(|one| of(one).map_or(f64::INFINITY, |ns| ns as f64));
        times.reduce(f64::max)
    }
}

/// Whether something fails by it; the others mend.
pub(crate) const fn does_harm(deed: FaultDeed) -> bool {
    match deed {
        FaultDeed::Kill
        | FaultDeed::Terminate
        | FaultDeed::Freeze
        | FaultDeed::Cut
        | FaultDeed::Slow
        | FaultDeed::Reload => true,
        FaultDeed::Start | FaultDeed::Thaw | FaultDeed::Heal => false,
    }
}

/// The share of deliveries that did not come; `None` where there are none.
pub(crate) fn share_lost(fates: &Fates) -> Option<f64> {
    let all = fates.all();
    (all > 0).then(|| fates.lost() as f64 / all as f64)
}

/// Where a part of the timeline begins.
const fn ns(timeline: &Timeline, part: usize) -> u64 {
    (part as u64).saturating_mul(timeline.tick_ns)
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// The lists of a stranger's record may differ in length.
fn at(list: &[u64], part: usize) -> u64 {
    list.get(part).copied().unwrap_or_default()
}

/// The parts with a loss, and how much was lost in each.
fn losses(timeline: &Timeline, parts: Range<usize>) -> Vec<(usize, u64)> {
    let of = timeline;
    some(
        parts,
        &[
            &of.lost_silent,
            &of.lost_joining,
            &of.lost_cut,
            &of.lost_away,
        ],
    )
}

/// The same of clients that had a connection when the message was sent.
fn losses_of_connected(timeline: &Timeline, parts: Range<usize>) -> Vec<(usize, u64)> {
    let of = timeline;
    some(parts, &[&of.lost_silent, &of.lost_joining, &of.lost_cut])
}

fn some(parts: Range<usize>, lists: &[&Vec<u64>]) -> Vec<(usize, u64)> {
    let sum = |part: usize| {
        let counts = lists.iter().map(|list| at(list, part));
        (part, counts.fold(0, u64::saturating_add))
    };
    parts.map(sum).filter(|(_, lost)| *lost > 0).collect()
}

#[cfg(test)]
mod tests;
