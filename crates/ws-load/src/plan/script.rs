//! Requests in an order of their own: of which kind a request is, and when a recording has it sent.
//!
//! A round has one request of each client. Request `n` of a step belongs to client `n mod clients` and
//! is the request `n div clients` of the script, which begins again after its last.

use super::mix;
use plan::Plan;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

/// The script of a plan.
#[derive(Debug)]
pub(crate) struct Script {
    turns: Box<[Turn]>,
    /// Each request but the first waits for the answer to the one before.
    is_dialogue: bool,
    /// Nanoseconds from the last request to the first of the next pass.
    repeat_after_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    at_ns: u64,
    /// What the client thinks in front of it.
    think_ns: u64,
    /// The share of that by which it may be shorter or longer.
    jitter: f64,
    /// Its place among the kinds of the dialect.
    kind: u32,
    is_answered: bool,
}

/// Sets the times to think apart from all else that is drawn from a run's seed.
const THINK: u64 = 0x0074_6869_6E6B;

impl Script {
    /// The script of a plan whose dialect has one. A kind that the dialect does not have is left out.
    pub(crate) fn new(plan: &Plan) -> Option<Arc<Self>> {
        let file = plan.script()?;
        let send = &file.send;
        let is_dialogue = file.is_dialogue();
        let kinds: HashMap<&str, (u32, bool)> = send
            .kinds
            .iter()
            .zip(0..)
            .map(|(kind, place)| (kind.name.as_str(), (place, kind.answered)))
            .collect();
        let turns = send.script.iter().filter_map(|turn| {
            let (kind, is_answered) = *kinds.get(turn.kind.as_str())?;
            Some(Turn {
                at_ns: match is_dialogue {
                    true => turn.after.map_or(0, plan::Nanos::ns),
                    false => turn.at.ns(),
                },
                think_ns: turn.after.map_or(0, plan::Nanos::ns),
                jitter: turn.jitter.unwrap_or(0.0),
                kind,
                is_answered,
            })
        });
        let turns: Box<[Turn]> = turns.collect();
        (!turns.is_empty()).then(|| {
            Arc::new(Self {
                turns,
                is_dialogue,
                repeat_after_ns: send.repeat_after.map(plan::Nanos::ns),
            })
        })
    }

    fn turn(&self, index: u64, clients: u64) -> Turn {
        self.turns[(index / clients % self.turns.len() as u64) as usize]
    }

    /// The place of a request's kind among the kinds of the dialect.
    pub(crate) fn kind(&self, index: u64, clients: u64) -> u32 {
        self.turn(index, clients).kind
    }

    /// True when an answer to the request is awaited.
    pub(crate) fn is_answered(&self, index: u64, clients: u64) -> bool {
        self.turn(index, clients).is_answered
    }

    /// True where requests wait for the answers before them.
    pub(crate) const fn is_dialogue(&self) -> bool {
        self.is_dialogue
    }

    /// Of a dialogue: the request that its client makes after this one, and how long it thinks before; the
    /// time is a function of `draw`.
    pub(crate) fn next(&self, index: u64, clients: u64, draw: u64) -> Option<(u64, u64)> {
        let next = index + clients;
        if next / clients >= self.turns.len() as u64 {
            return None;
        }
        let turn = self.turn(next, clients);
        // From -1 to 1: 53 random bits.
        let drawn = (mix(THINK, draw) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        let factor = 1.0 + turn.jitter * drawn;
        Some((next, (turn.think_ns as f64 * factor) as u64))
    }

    /// Requests after which a step has no more; `None` where the script begins again.
    pub(crate) fn most_requests(&self, clients: u64) -> Option<u64> {
        let all = (self.turns.len() as u64).saturating_mul(clients);
        self.repeat_after_ns.is_none().then_some(all)
    }
}

/// The moments of a recording that clients carry out one after the other.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    script: Arc<Script>,
    clients: u64,
    /// Nanoseconds from one client's beginning to the next one's.
    apart_ns: f64,
    rounds: u64,
    next_round: u64,
    /// The next request of each round that has begun: when, which round, whose.
    open: BinaryHeap<Reverse<(u64, u64, u64)>>,
}

impl Recording {
    /// The recording of so many clients, of which `rate` begin per second. It begins again for as long
    /// as `duration_ns`, where the script says so.
    pub(super) fn new(script: Arc<Script>, clients: u64, rate: f64, duration_ns: u64) -> Self {
        let passes = match period_ns(&script) {
            Some(period) => duration_ns.div_ceil(period).max(1),
            None => 1,
        };
        Self {
            rounds: passes.saturating_mul(script.turns.len() as u64),
            script,
            clients,
            apart_ns: 1e9 / rate,
            next_round: 0,
            open: BinaryHeap::new(),
        }
    }

    /// Requests in all.
    pub(super) fn requests(&self) -> u64 {
        self.rounds.saturating_mul(self.clients)
    }

    /// Nanoseconds from the start to the moment after the last request.
    pub(super) fn length_ns(&self) -> u64 {
        let last = self.round_ns(self.rounds.saturating_sub(1));
        let length = last.saturating_add(self.begins_ns(self.clients.saturating_sub(1)));
        length.saturating_add(1)
    }

    fn begins_ns(&self, client: u64) -> u64 {
        (client as f64 * self.apart_ns) as u64
    }

    fn round_ns(&self, round: u64) -> u64 {
        let turns = self.script.turns.len() as u64;
        let pass = (round / turns).saturating_mul(period_ns(&self.script).unwrap_or(0));
        pass.saturating_add(self.script.turns[(round % turns) as usize].at_ns)
    }

    /// True where the moments of all requests but the first of each client follow from answers.
    pub(super) fn is_dialogue(&self) -> bool {
        self.script.is_dialogue
    }

    /// The number and the moment of the next request. The numbers of clients that begin later are
    /// overtaken by those of a later round.
    pub(super) fn next(&mut self) -> Option<(u64, u64)> {
        let rounds = match self.script.is_dialogue {
            true => self.rounds.min(1),
            false => self.rounds,
        };
        while self.next_round < rounds {
            let begins = self.round_ns(self.next_round);
            if self.open.peek().is_some_and(|Reverse(of)| of.0 < begins) {
                break;
            }
            self.open.push(Reverse((begins, self.next_round, 0)));
            self.next_round += 1;
        }
        let Reverse((at_ns, round, client)) = self.open.pop()?;
        if client + 1 < self.clients {
            let next_ns = self
                .round_ns(round)
                .saturating_add(self.begins_ns(client + 1));
            self.open.push(Reverse((next_ns, round, client + 1)));
        }
        Some((round * self.clients + client, at_ns))
    }
}

/// From the beginning of one pass to that of the next.
fn period_ns(script: &Script) -> Option<u64> {
    let last = script.turns.last()?.at_ns;
    Some(last.saturating_add(script.repeat_after_ns?).max(1))
}

#[cfg(test)]
impl Script {
    /// Requests of kinds 0, 1, 2, ..., of which the first alone is answered.
    pub(super) fn at(at_ms: &[u64], repeat_after_ms: Option<u64>) -> Arc<Self> {
        const MS: u64 = 1_000_000;
        let turns = at_ms.iter().enumerate().map(|(kind, at)| Turn {
            at_ns: at * MS,
            think_ns: 0,
            jitter: 0.0,
            kind: kind as u32,
            is_answered: kind == 0,
        });
        Arc::new(Self {
            turns: turns.collect(),
            is_dialogue: false,
            repeat_after_ns: repeat_after_ms.map(|ms| ms * MS),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_script_says_which_requests_are_answered_and_how_many_there_are() {
        let once = Script::at(&[0, 10], None);
        let answered: Vec<bool> = (0..6).map(|index| once.is_answered(index, 3)).collect();
        assert_eq!(answered, [true, true, true, false, false, false]);
        assert_eq!(once.most_requests(3), Some(6));
        assert_eq!(Script::at(&[0, 10], Some(5)).most_requests(3), None);
    }

    fn all(mut recording: Recording) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| recording.next()).collect()
    }

    #[test]
    fn each_client_has_the_gaps_of_the_recording() {
        let script = Script::at(&[0, 70, 70, 400], None);
        let sends = all(Recording::new(Arc::clone(&script), 3, 20.0, 0));
        assert!(sends.is_sorted_by_key(|(_, at)| *at), "{sends:?}");
        for client in 0..3 {
            let own: Vec<(u32, u64)> = sends
                .iter()
                .filter(|(index, _)| index % 3 == client)
                .map(|(index, at)| (script.kind(*index, 3), at / MS - client * 50))
                .collect();
            assert_eq!(own, [(0, 0), (1, 70), (2, 70), (3, 400)]);
        }
    }

    #[test]
    fn a_script_that_repeats_begins_again_while_the_load_lasts() {
        let script = Script::at(&[0, 30], Some(10));
        let recording = Recording::new(script, 1, 1.0, 81 * MS);
        assert_eq!(
            (recording.requests(), recording.length_ns()),
            (6, 110 * MS + 1)
        );
        let at: Vec<u64> = all(recording).iter().map(|(_, at)| at / MS).collect();
        assert_eq!(at, [0, 30, 40, 70, 80, 110]);
    }

    fn dialogue(think_ms: u64, jitter: f64) -> Arc<Script> {
        let turn = |kind| Turn {
            at_ns: 0,
            think_ns: think_ms * MS,
            jitter,
            kind,
            is_answered: true,
        };
        Arc::new(Script {
            turns: (0..4).map(turn).collect(),
            is_dialogue: true,
            repeat_after_ns: None,
        })
    }

    #[test]
    fn of_a_dialogue_the_first_requests_are_sent_by_the_clock_and_each_leads_to_the_next() {
        let script = dialogue(100, 0.0);
        let recording = Recording::new(Arc::clone(&script), 3, 10.0, 0);
        assert_eq!(recording.requests(), 12);
        let firsts = all(recording);
        assert_eq!(firsts, [(0, 0), (1, 100 * MS), (2, 200 * MS)]);
        let next = |index| script.next(index, 3, index);
        assert_eq!(next(1), Some((4, 100 * MS)));
        assert_eq!(next(8), Some((11, 100 * MS)));
        assert_eq!(next(9), None);
    }

    #[test]
    fn a_time_to_think_is_shorter_or_longer_by_its_jitter_and_the_mean_stays() {
        let script = dialogue(100, 0.5);
        let times: Vec<u64> = (0..10_000)
            .map(|draw| script.next(0, 1, draw).unwrap().1)
            .collect();
        assert!(times.iter().all(|ns| (50 * MS..150 * MS).contains(ns)));
        let mean = times.iter().sum::<u64>() / 10_000;
        // A standard deviation of the mean is 0.3 ms.
        assert!(mean.abs_diff(100 * MS) < 2 * MS, "{mean}");
        assert_eq!(script.next(0, 1, 7), script.next(0, 1, 7));
    }

    proptest! {
        #[test]
        fn every_request_is_sent_once_and_in_time(
            mut at in prop::collection::vec(0_u64..300, 1..12),
            clients in 1_u64..20,
            rate in 1.0_f64..5_000.0,
            repeat_after in prop::option::of(0_u64..200),
            duration in 0_u64..900,
        ) {
            at.sort_unstable();
            let recording = Recording::new(Script::at(&at, repeat_after), clients, rate, duration * MS);
            prop_assume!(recording.requests() < 100_000);
            let (requests, length_ns) = (recording.requests(), recording.length_ns());
            let sends = all(recording);
            prop_assert!(sends.is_sorted_by_key(|(_, at)| *at));
            prop_assert!(sends.iter().all(|(_, at)| *at < length_ns));
            let mut numbers: Vec<u64> = sends.iter().map(|(index, _)| *index).collect();
            numbers.sort_unstable();
            prop_assert_eq!(numbers, (0..requests).collect::<Vec<_>>());
        }
    }
}
