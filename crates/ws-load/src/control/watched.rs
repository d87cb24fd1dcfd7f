//! What became of each message of a watched step: a pure function of what was sent, of when each client
//! had a connection, and of what came to it.

use crate::dialect::Returns;
use crate::message::{NEVER, SentMessage, Stay, WatchPart, Watcher};
use plan::Watch;
use record::{Recorder, Timeline, Watched};

/// Length of a part of the timeline.
const TICK_US: u64 = 100_000;
/// A connection on which a message came that was sent so much later has passed the earlier one over: the
/// same time that a server has by `plan::must_hear`.
const BORDER_US: u32 = 1_000_000;

/// What was found out.
pub(super) struct Found {
    pub(super) watched: Watched,
    /// From the moment at which a message was due until it came live.
    pub(super) live: Recorder,
    /// Messages that came to clients and that no client had sent.
    pub(super) unsent_heard: u64,
}

/// What became of one message to one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Live { node: u32, at_us: u32 },
    MadeGood,
    Silent,
    Joining,
    Cut,
    Away,
}

/// How many messages were due by then.
pub(super) fn come_due(terms: &Watch, elapsed_ns: u64) -> u64 {
    let all = 0..terms.messages();
    all.take_while(|message| terms.due_ns(*message) <= elapsed_ns)
        .count() as u64
}

/// Takes the parts of all workers together. Messages whose time to come was not over when the step ended
/// are left out.
pub(super) fn found(all: &WatchPart, terms: &Watch, returns: Returns, elapsed_ns: u64) -> Found {
    let listened_us = micros(elapsed_ns.saturating_sub(terms.patience.ns()));
    let mut sent: Vec<Option<SentMessage>> = vec![None; terms.messages() as usize];
    for message in &all.sent {
        sent[message.index as usize] = Some(*message);
    }
    let decided = |message: &&SentMessage| u64::from(message.at_us) <= listened_us;
    let mut making = Making::new(terms, all.watchers.len() as u64);
    for watcher in &all.watchers {
        making.unsent_heard += heard_unsent(watcher, &sent);
        let own_copy = |message: &SentMessage| {
            u64::from(message.index) % making.clients == watcher.client && !returns.copy
        };
        let due: Vec<&SentMessage> = sent
            .iter()
            .flatten()
            .filter(decided)
            .filter(|message| !own_copy(message))
            .collect();
        making.client(watcher, &due);
    }
    for message in sent.iter().flatten().filter(decided) {
        making.message(message);
    }
    making.stays(&all.watchers);
    let watched = Watched {
        planned: terms.messages(),
        has_no_results: !returns.result,
        duplicate: all.duplicate,
        repeated: all.repeated,
        reordered: all.reordered,
        refused: all.refused,
        same_node: making.same.latency(),
        cross_node: making.cross.latency(),
        bystander_latency: making.beside.latency(),
        ..making.watched
    };
    let mut live = making.same;
    live.merge(&making.cross);
    Found {
        watched,
        live,
        unsent_heard: making.unsent_heard,
    }
}

const fn micros(ns: u64) -> u64 {
    ns / 1000
}

fn heard_unsent(watcher: &Watcher, sent: &[Option<SentMessage>]) -> u64 {
    let all = watcher.heard.iter().zip(sent);
    all.filter(|(heard, sent)| **heard != NEVER && sent.is_none())
        .count() as u64
}

/// The figures while they are added up.
struct Making<'a> {
    terms: &'a Watch,
    clients: u64,
    watched: Watched,
    same: Recorder,
    cross: Recorder,
    /// Of clients whose connection lasted.
    beside: Recorder,
    unsent_heard: u64,
}

impl<'a> Making<'a> {
    fn new(terms: &'a Watch, clients: u64) -> Self {
        let length_us = micros(terms.duration.ns() + terms.patience.ns());
        let parts = length_us.div_ceil(TICK_US).max(1) as usize;
        Self {
            terms,
            clients: clients.max(1),
            watched: Watched {
                timeline: Timeline::new(TICK_US * 1000, parts),
                ..Watched::default()
            },
            same: Recorder::default(),
            cross: Recorder::default(),
            beside: Recorder::default(),
            unsent_heard: 0,
        }
    }

    /// The part of the timeline that a message is of.
    fn place(&self, message: &SentMessage) -> usize {
        (micros(self.terms.due_ns(message.index.into())) / TICK_US) as usize
    }

    fn message(&mut self, message: &SentMessage) {
        let place = self.place(message);
        let confirmed = u64::from(message.is_confirmed);
        self.watched.sent += 1;
        self.watched.confirmed += confirmed;
        self.watched.timeline.sent[place] += 1;
        self.watched.timeline.confirmed[place] += confirmed;
    }

    /// The deliveries to one client.
    fn client(&mut self, watcher: &Watcher, due: &[&SentMessage]) {
        let is_bystander = matches!(
            watcher.stays[..],
            [Stay {
                from_us: 0,
                until_us: NEVER,
                ..
            }]
        );
        let passed = passed(watcher, due);
        let patience_us = micros(self.terms.patience.ns());
        let mut is_silent = false;
        for message in due {
            let fate = fate(watcher, message, &passed, patience_us);
            is_silent |= fate == Fate::Silent;
            self.count(message, fate, is_bystander);
        }
        self.watched.bystanders += u64::from(is_bystander);
        self.watched.silent_clients += u64::from(is_silent);
    }

    fn count(&mut self, message: &SentMessage, fate: Fate, is_bystander: bool) {
        let place = self.place(message);
        let fates = match message.is_confirmed {
            true => &mut self.watched.of_confirmed,
            false => &mut self.watched.of_unconfirmed,
        };
        let timeline = &mut self.watched.timeline;
        match fate {
            Fate::Live { node, at_us } => {
                fates.live += 1;
                timeline.live[place] += 1;
                let due_ns = self.terms.due_ns(message.index.into());
                let took_ns = (u64::from(at_us) * 1000).saturating_sub(due_ns);
                timeline.slowest_ns[place] = timeline.slowest_ns[place].max(took_ns);
                let of_way = match node == message.node {
                    true => &mut self.same,
                    false => &mut self.cross,
                };
                of_way.record(took_ns);
                if is_bystander {
                    self.beside.record(took_ns);
                }
            }
            Fate::MadeGood => {
                fates.made_good += 1;
                timeline.made_good[place] += 1;
            }
            Fate::Silent => {
                fates.lost_silent += 1;
                timeline.lost_silent[place] += 1;
            }
            Fate::Joining => {
                fates.lost_joining += 1;
                timeline.lost_joining[place] += 1;
            }
            Fate::Cut => {
                fates.lost_cut += 1;
                timeline.lost_cut[place] += 1;
            }
            Fate::Away => {
                fates.lost_away += 1;
                timeline.lost_away[place] += 1;
            }
        }
    }

    /// How many clients were ready when each part of the timeline ended.
    fn stays(&mut self, watchers: &[Watcher]) {
        let ready = &mut self.watched.timeline.ready;
        let mut changes = vec![0_i64; ready.len() + 1];
        // The first part that ends then or later.
        let place = |at_us: u32| {
            let parts = u64::from(at_us).div_ceil(TICK_US).saturating_sub(1);
            (parts as usize).min(ready.len())
        };
        for stay in watchers.iter().flat_map(|watcher| &watcher.stays) {
            changes[place(stay.from_us)] += 1;
            changes[place(stay.until_us)] -= 1;
        }
        let mut now = 0;
        for (ready, change) in ready.iter_mut().zip(changes) {
            now += change;
            *ready = u64::try_from(now).unwrap_or(0);
        }
    }
}

/// The last of a client's stays that had begun by then.
fn stay_at(watcher: &Watcher, at_us: u32) -> Option<usize> {
    let begun = watcher.stays.partition_point(|stay| stay.from_us <= at_us);
    begun.checked_sub(1)
}

/// Of each stay, when the latest message was sent that came within it.
fn passed(watcher: &Watcher, due: &[&SentMessage]) -> Vec<u32> {
    let mut latest = vec![0; watcher.stays.len()];
    for message in due {
        let heard_us = watcher.heard[message.index as usize];
        if heard_us != NEVER
            && let Some(stay) = stay_at(watcher, heard_us)
        {
            latest[stay] = message.at_us.max(latest[stay]);
        }
    }
    latest
}

fn fate(watcher: &Watcher, message: &SentMessage, passed: &[u32], patience_us: u64) -> Fate {
    let sent_us = message.at_us;
    let heard_us = watcher.heard[message.index as usize];
    let open = stay_at(watcher, sent_us).filter(|of| sent_us < watcher.stays[*of].until_us);
    if heard_us != NEVER {
        let stay = stay_at(watcher, heard_us);
        return match stay.filter(|_| stay == open) {
            Some(stay) => Fate::Live {
                node: watcher.stays[stay].node,
                at_us: heard_us,
            },
            None => Fate::MadeGood,
        };
    }
    let Some(open) = open else {
        return Fate::Away;
    };
    let stay = watcher.stays[open];
    let was_passed = passed[open] >= sent_us.saturating_add(BORDER_US);
    let was_waited_for = u64::from(stay.until_us) >= u64::from(sent_us) + patience_us;
    if !was_passed && !was_waited_for {
        return Fate::Cut;
    }
    // What the client had before the first message is not looked at.
    let is_joining =
        stay.from_us > 0 && sent_us - stay.from_us < BORDER_US && sent_us < stay.first_us;
    match is_joining {
        true => Fate::Joining,
        false => Fate::Silent,
    }
}

#[cfg(test)]
mod tests;
