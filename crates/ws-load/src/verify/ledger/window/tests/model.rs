//! The ledger against a model that remembers everything and looks through all of it each time.

use super::*;
use crate::message::Done;
use crate::plan::{Hearing as _, sender_of};
use plan::{Population, Rooms};
use proptest::prelude::*;
use std::iter;

/// What happens to the ledger of worker 0 of [`WORKERS`].
#[derive(Clone, Copy, Debug)]
enum Happens {
    /// The sample that comes next in the order of sending is sent.
    Send,
    Deliver {
        sample: usize,
        slot: u32,
    },
    Result {
        sample: usize,
        slot: u32,
    },
    Lose {
        slots: u64,
    },
}

const WORKERS: u32 = 2;

/// What a run of the model begins with.
#[derive(Clone, Debug)]
struct Setting {
    audience: Audience,
    slots: u32,
    /// The sender of each sample, and the samples in the order in which they are sent.
    senders: Vec<u32>,
    order: Vec<usize>,
    /// How many are sent before anything else happens.
    burst: usize,
}

#[derive(Clone, Debug)]
struct OfSample {
    at_ns: u64,
    /// Clients that are to have it, and those that have.
    due: u64,
    had: u64,
    awaits_result: bool,
    last_ns: u64,
}

struct Model {
    setting: Setting,
    alive: u64,
    samples: Vec<Option<OfSample>>,
    /// Samples that were given up because their room had no client left.
    dropped: Vec<bool>,
}

impl OfSample {
    const fn is_done(&self) -> bool {
        self.due & !self.had == 0 && !self.awaits_result
    }
}

impl Setting {
    const fn rooms(&self) -> Option<u32> {
        match self.audience {
            Audience::Room(Rooms::Equal(rooms)) => Some(rooms),
            _ => None,
        }
    }

    const fn clients(&self) -> u64 {
        (self.slots * WORKERS) as u64
    }

    /// The client that is to send a sample. Another one may, of the same worker.
    const fn planned(&self, sample: usize) -> u32 {
        sender_of(1, sample as u64, self.clients()) as u32
    }
}

impl Model {
    fn new(setting: &Setting) -> Self {
        Self {
            alive: (1 << setting.slots) - 1,
            samples: vec![None; setting.senders.len()],
            dropped: vec![false; setting.senders.len()],
            setting: setting.clone(),
        }
    }

    /// The slot of a sample's sender, if it is a client of this worker.
    fn own_slot(&self, sample: usize) -> Option<u32> {
        let sender = self.setting.senders[sample];
        sender.is_multiple_of(WORKERS).then_some(sender / WORKERS)
    }

    fn is_echo(&self) -> bool {
        self.setting.audience == Audience::Sender
    }

    /// The clients of this worker that hear a sample, dead or alive.
    fn audience(&self, sample: usize) -> u64 {
        let Some(rooms) = self.setting.rooms() else {
            return u64::MAX;
        };
        let room = self.setting.planned(sample) % rooms;
        let is_in = |slot: &u32| slot * WORKERS % rooms == room;
        (0..self.setting.slots)
            .filter(is_in)
            .fold(0, |bits, slot| bits | 1 << slot)
    }

    fn send(&mut self, sample: usize, at_ns: u64) {
        let own = self.own_slot(sample).map(|slot| 1 << slot);
        let due = match self.setting.audience {
            Audience::Sender => own.unwrap_or(0),
            _ => self.alive & self.audience(sample),
        };
        self.samples[sample] = Some(OfSample {
            at_ns,
            due,
            had: 0,
            awaits_result: !self.is_echo() && own.is_some_and(|own| own & self.alive != 0),
            last_ns: at_ns,
        });
    }

    fn deliver(&mut self, sample: usize, slot: u32, at_ns: u64) -> Received {
        let (own, bit) = (self.own_slot(sample), 1u64 << slot);
        let sender = self.setting.senders[sample];
        let sent_ns = match &self.samples[sample] {
            None => return Received::NotDue,
            Some(_) if self.is_echo() && own != Some(slot) => return Received::NotDue,
            Some(_) if self.audience(sample) & bit == 0 => return Received::NotDue,
            Some(of) if of.had & bit != 0 => return Received::Duplicate,
            Some(of) => of.at_ns,
        };
        let overtaken = (0..self.samples.len()).any(|other| {
            let is_later = self.samples[other]
                .as_ref()
                .is_some_and(|of| of.at_ns > sent_ns && of.had & bit != 0);
            is_later
                && self.setting.senders[other] == sender
                && self.audience(other) == self.audience(sample)
        });
        let Some(of) = &mut self.samples[sample] else {
            return Received::NotDue;
        };
        of.had |= bit;
        of.last_ns = of.last_ns.max(at_ns);
        Received::Due {
            latency_ns: at_ns - sent_ns,
            overtaken,
            party_done: of.is_done().then_some(of.last_ns.into()),
        }
    }

    fn result(&mut self, sample: usize, slot: u32, at_ns: u64) -> Received {
        let own = self.own_slot(sample);
        let is_echo = self.is_echo();
        let Some(of) = &mut self.samples[sample] else {
            return Received::NotDue;
        };
        match of {
            _ if is_echo => Received::NotDue,
            of if of.is_done() => Received::Duplicate,
            _ if own != Some(slot) => Received::NotDue,
            of if !of.awaits_result => Received::Duplicate,
            of => {
                of.awaits_result = false;
                Received::Due {
                    latency_ns: at_ns - of.at_ns,
                    overtaken: false,
                    party_done: of.is_done().then_some(of.last_ns.into()),
                }
            }
        }
    }

    /// The samples that were not sent when the last client of their room was lost. A sample of one of
    /// this worker's clients is awaited all the same, for its result.
    fn drop_emptied(&mut self, lost: u64) -> Vec<u32> {
        let before = self.alive | lost;
        let is_dropped = |sample: &usize| {
            let audience = self.audience(*sample);
            self.setting.rooms().is_some()
                && self.samples[*sample].is_none()
                && !self.dropped[*sample]
                && audience & before != 0
                && audience & self.alive == 0
                && !self.setting.planned(*sample).is_multiple_of(WORKERS)
        };
        let dropped: Vec<usize> = (0..self.samples.len()).filter(is_dropped).collect();
        dropped
            .iter()
            .for_each(|sample| self.dropped[*sample] = true);
        dropped.into_iter().map(|sample| sample as u32).collect()
    }

    /// True of a sample of which this worker never waited for anything.
    fn is_of_others(&self, sample: usize) -> bool {
        let is_ours = self.setting.planned(sample).is_multiple_of(WORKERS);
        let of = self.samples[sample].as_ref();
        let is_awaited = of.is_some_and(|of| of.due != 0 || of.had != 0 || of.awaits_result);
        self.setting.rooms().is_some() && !is_ours && !is_awaited
    }

    /// What is missing through it, the samples that are done by it, and those that are abandoned.
    fn lose(&mut self, lost: u64) -> (Missing, Vec<(u32, u64)>, Vec<u32>) {
        let (mut missing, mut done, mut abandoned) = (Missing::default(), Vec::new(), Vec::new());
        for sample in 0..self.samples.len() {
            let own = self.own_slot(sample);
            let Some(of) = &mut self.samples[sample] else {
                continue;
            };
            if of.is_done() {
                continue;
            }
            let gone = of.due & !of.had & lost;
            let answers = of.awaits_result && own.is_some_and(|own| lost & (1 << own) != 0);
            missing.deliveries += u64::from(gone.count_ones());
            missing.results += u64::from(answers);
            of.due &= !gone;
            of.awaits_result &= !answers;
            if gone != 0 || answers {
                abandoned.push(sample as u32);
            }
            if of.is_done() {
                done.push((sample as u32, of.last_ns));
            }
        }
        self.alive &= !lost;
        (missing, done, abandoned)
    }

    fn close(&self) -> Missing {
        let mut missing = Missing::default();
        for (sample, of) in self.samples.iter().enumerate() {
            let Some(of) = of else { continue };
            let without = of.due & !of.had;
            let own = self.own_slot(sample).map_or(0, |slot| 1 << slot);
            missing.deliveries += u64::from(without.count_ones());
            missing.results += u64::from(of.awaits_result);
            missing.own += u64::from(!self.is_echo() && own != 0 && without == own);
        }
        missing
    }
}

/// The ledger of the worker, and how it uses them.
struct Real {
    ledger: StepLedger,
    window: Window,
    alive: [u64; 1],
    seats: Option<Seats>,
    abandoned: Vec<bool>,
    settled: Vec<Option<Done>>,
}

impl Real {
    fn new(setting: &Setting) -> Self {
        let samples = setting.senders.len();
        let terms = Terms {
            audience: setting.audience,
            seed: 1,
            step: StepTerms {
                first_sample: 0,
                samples: samples as u32,
                warm_up: 0,
                by_clock: true,
                clients: setting.clients(),
            },
            keeper: Keeper::Process,
            parties: setting.audience.parties(
                &[Population::default()],
                setting.clients(),
                iter::once((0, WORKERS)),
            ),
            populations: Vec::new(),
            limits_completion: false,
            script: None,
        };
        let seats = setting.rooms().map(|rooms| {
            let mut seats = Seats::default();
            (0..setting.slots).for_each(|slot| seats.enter(slot, slot * WORKERS % rooms, true));
            seats
        });
        Self {
            ledger: StepLedger::new(terms),
            seats,
            window: Window::default(),
            alive: [(1 << setting.slots) - 1],
            abandoned: vec![false; samples],
            settled: vec![None; samples],
        }
    }

    fn listeners<'a>(alive: &'a [u64; 1], seats: Option<&'a Seats>) -> Listeners<'a> {
        Listeners {
            alive,
            count: alive[0].count_ones(),
            worker: 0,
            workers: WORKERS,
            seats,
        }
    }

    fn done(&mut self, index: u32, last_ns: u64) {
        let settled = settle(&self.ledger, index, last_ns);
        assert!(settled.is_some(), "{index} is done once");
        self.settled[index as usize] = settled;
    }

    /// The clients are gone; the samples that are awaited no more, with their last receipts.
    fn lose(&mut self, lost: u64) -> (Missing, Vec<(u32, u64)>, Vec<u32>) {
        let (mut done, mut dropped) = (Vec::new(), Vec::new());
        let slots = [lost];
        let gone = Lost::new(&slots, self.seats.as_ref());
        let listeners = Self::listeners(&self.alive, self.seats.as_ref());
        let missing = self
            .window
            .clients_lost(&self.ledger, listeners, &gone, |index, last| {
                done.push((index, last.at_ns));
            });
        self.alive[0] &= !lost;
        let mut emptied = Vec::new();
        if let Some(seats) = &mut self.seats {
            seats.leave(&gone, |room| emptied.push(room));
            let is_empty = |room| emptied.contains(&room);
            let listeners = Self::listeners(&self.alive, self.seats.as_ref());
            self.window
                .rooms_emptied(&self.ledger, listeners, is_empty, |index| {
                    dropped.push(index)
                });
        }
        for (index, last_ns) in done
            .iter()
            .copied()
            .chain(dropped.iter().map(|of| (*of, 0)))
        {
            self.done(index, last_ns);
        }
        done.sort_unstable();
        (missing, done, dropped)
    }

    fn take(&mut self, index: u32, received: Received) -> Received {
        if let Received::Due {
            party_done: Some(last),
            ..
        } = received
        {
            self.done(index, last.at_ns);
        }
        received
    }
}

fn settings() -> impl Strategy<Value = Setting> {
    let audience = prop_oneof![
        Just(Audience::Everyone),
        Just(Audience::Sender),
        (1u32..6).prop_map(|rooms| Audience::Room(Rooms::Equal(rooms))),
    ];
    (audience, 1u32..6, 1usize..260, 1u32..8).prop_flat_map(|(audience, slots, samples, few)| {
        let senders = few.min(slots * WORKERS);
        (
            Just(audience),
            Just(slots),
            prop::collection::vec(0..senders, samples),
            Just((0..samples).collect::<Vec<_>>()).prop_shuffle(),
            any::<bool>(),
            0..=samples,
        )
            .prop_map(|(audience, slots, senders, shuffled, in_order, burst)| {
                let samples = senders.len();
                let mut setting = Setting {
                    audience,
                    slots,
                    senders,
                    order: match in_order {
                        true => (0..samples).collect(),
                        false => shuffled,
                    },
                    burst,
                };
                if setting.rooms().is_some() {
                    for sample in 0..samples {
                        let worker = setting.planned(sample) % WORKERS;
                        let sender = &mut setting.senders[sample];
                        *sender = *sender / WORKERS * WORKERS + worker;
                    }
                }
                setting
            })
    })
}

fn happenings(setting: &Setting) -> impl Strategy<Value = Vec<Happens>> + use<> {
    let (samples, slots) = (setting.senders.len(), setting.slots);
    let happens = prop_oneof![
        20 => Just(Happens::Send),
        100 => (0..samples, 0..slots).prop_map(|(sample, slot)| Happens::Deliver { sample, slot }),
        20 => (0..samples, 0..slots).prop_map(|(sample, slot)| Happens::Result { sample, slot }),
        1 => (1u64..1 << slots).prop_map(|slots| Happens::Lose { slots }),
    ];
    prop::collection::vec(happens, 0..900)
}

fn setting_and_happenings() -> impl Strategy<Value = (Setting, Vec<Happens>)> {
    settings().prop_flat_map(|setting| {
        let happenings = happenings(&setting);
        (Just(setting), happenings)
    })
}

proptest! {
    #[test]
    fn the_ledger_agrees_with_the_model((setting, happenings) in setting_and_happenings()) {
        let (mut model, mut real) = (Model::new(&setting), Real::new(&setting));
        let first = std::iter::repeat_n(Happens::Send, setting.burst);
        let mut to_send = setting.order.iter();
        for (at_ns, happens) in (1000..).zip(first.chain(happenings)) {
            let alive = real.alive;
            let listeners = Real::listeners(&alive, real.seats.as_ref());
            match happens {
                Happens::Send => {
                    let Some(&sample) = to_send.next() else { continue };
                    let sender = setting.senders[sample];
                    let own = sender.is_multiple_of(WORKERS).then_some(sender / WORKERS);
                    // A worker sends from clients that it has.
                    if own.is_some_and(|own| alive[0] & (1 << own) == 0) {
                        continue;
                    }
                    model.send(sample, at_ns);
                    real.ledger.sent(sample as u32, Sent { due_ns: at_ns, at_ns, sender });
                }
                Happens::Deliver { sample, slot } if alive[0] & (1 << slot) != 0 => {
                    let index = sample as u32;
                    let said = real.window.deliver(&real.ledger, listeners, index, slot, at_ns.into());
                    prop_assert_eq!(real.take(index, said), model.deliver(sample, slot, at_ns));
                }
                Happens::Result { sample, slot } if alive[0] & (1 << slot) != 0 => {
                    let index = sample as u32;
                    let said = real.window.result(&real.ledger, listeners, index, slot, at_ns.into());
                    if model.dropped[sample] || model.is_of_others(sample) {
                        prop_assert!(matches!(said, Received::NotDue | Received::Duplicate));
                        continue;
                    }
                    prop_assert_eq!(real.take(index, said), model.result(sample, slot, at_ns));
                }
                Happens::Lose { slots } if slots & alive[0] != 0 => {
                    let lost = slots & alive[0];
                    let (missing, done, dropped) = real.lose(lost);
                    let (expected, settled, abandoned) = model.lose(lost);
                    prop_assert_eq!((missing, done), (expected, settled));
                    prop_assert_eq!(dropped, model.drop_emptied(lost));
                    abandoned.iter().for_each(|index| real.abandoned[*index as usize] = true);
                }
                _ => {}
            }
        }
        let alive = real.alive;
        let seats = real.seats.as_ref();
        let missing = real.window.close(&real.ledger, Real::listeners(&alive, seats));
        prop_assert_eq!(missing, model.close());
        for (settled, abandoned) in real.settled.iter().zip(&real.abandoned) {
            if let Some(done) = settled {
                prop_assert_eq!(done.abandoned, *abandoned);
            }
        }
    }
}
