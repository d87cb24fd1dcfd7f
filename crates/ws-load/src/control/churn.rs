//! What became of clients that leave, and what the others felt of a cut.

use super::measure::Parts;
use crate::message::ChurnPart;
use crate::plan::count_of;
use crate::verify::StepLedger;
use plan::{Life, Plan, Population};
use record::{Churn, CutRecord, Recorder, RoomChanges, Told, time_until};

/// Takes the figures of clients that leave out of the parts of a step.
pub(super) fn taken(parts: &mut Parts) -> Option<ChurnPart> {
    let each = parts.iter_mut().filter_map(|(_, part)| part.churn.take());
    each.map(|part| *part).reduce(|mut all, part| {
        all.merge(part);
        all
    })
}

/// The record of a step whose schedule began at `start_ns`.
pub(super) fn recorded(
    part: ChurnPart,
    plan: &Plan,
    ledger: &StepLedger,
    start_ns: u64,
) -> Box<Churn> {
    let clients = count_of(&plan.populations, ledger.clients(), Population::leaves);
    let cut = plan.populations.iter().find_map(|of| match of.life {
        Life::Cut(cut) => Some(cut),
        Life::Stays | Life::ComesAndGoes(_) | Life::ChangesRoom(_) => None,
    });
    let changes_room = |of: &Population| matches!(of.life, Life::ChangesRoom(_));
    let rooms = plan
        .populations
        .iter()
        .any(changes_room)
        .then(|| RoomChanges {
            clients: count_of(&plan.populations, ledger.clients(), changes_room),
            left: part.rooms.left,
            asked: part.rooms.asked,
            joined: part.rooms.joined,
            unanswered: part.rooms.unanswered,
            join: part.rooms.join.latency(),
        });
    let cut = cut.map(|cut| cut_record(&part, cut.at.ns(), ledger, start_ns));
    Box::new(Churn {
        clients,
        left: part.left,
        unclosed: part.unclosed,
        attempts: part.attempts,
        failures: part.failures,
        first_failure: part.first_failure.map(Told::from),
        unfinished: part.unfinished,
        reconnected: part.reconnected,
        reconnect: part.reconnect.latency(),
        handshake: part.handshake.latency(),
        attempt_lag: part.attempt_lag.latency(),
        generator_lag: part.generator_lag.latency(),
        visits: part.visits.count,
        messages: part.visits.messages,
        lost: part.visits.lost,
        duplicate: part.visits.duplicate,
        disconnected: part.visits.disconnected,
        rooms,
        cut,
    })
}

fn cut_record(part: &ChurnPart, at_ns: u64, ledger: &StepLedger, start_ns: u64) -> CutRecord {
    let back = part.back.count();
    let cut_ns = start_ns.saturating_add(at_ns);
    let is_back = part.cut > 0 && back >= part.cut;
    let back_ns = is_back.then(|| cut_ns.saturating_add(part.last_back_ns));
    let [before, during, after] = phases(ledger, cut_ns, back_ns);
    // The histogram rounds up, and the last is known exactly.
    let until = |percent| {
        let rounded_ns = time_until(percent, part.cut, &part.back)?;
        Some(rounded_ns.min(part.last_back_ns))
    };
    CutRecord {
        at_ns,
        clients: part.cut,
        late_ns: part.cut_late_ns,
        back,
        back_50_ns: until(50),
        back_95_ns: until(95),
        back_100_ns: is_back.then_some(part.last_back_ns),
        back_time: part.back.latency(),
        before: before.latency(),
        during: during.latency(),
        after: after.latency(),
    }
}

/// Completion of the timed samples of a step: of those that were complete when the cut came, of those
/// that were due once all clients were back, and of the others between the two.
fn phases(ledger: &StepLedger, cut_ns: u64, back_ns: Option<u64>) -> [Recorder; 3] {
    let mut phases: [Recorder; 3] = Default::default();
    for index in (0..ledger.len()).filter(|index| ledger.is_timed(*index)) {
        let sample = ledger.when_sent(index).zip(ledger.when_complete(index));
        let Some((sent, last_ns)) = sample else {
            continue;
        };
        let phase = if last_ns < cut_ns {
            0
        } else if back_ns.is_some_and(|back_ns| sent.due_ns >= back_ns) {
            2
        } else {
            1
        };
        phases[phase].record(last_ns.saturating_sub(sent.due_ns));
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Arrival, Latencies};
    use crate::message::StepTerms;
    use crate::plan::Audience;
    use crate::verify::{Keeper, Read, Sent, Terms};
    use plan::{Cut, Nanos};

    const MS: u64 = 1_000_000;
    const START: u64 = 5_000 * MS;

    /// A sample each 10 ms, from `START` on: 1 ms each, from 500 ms to 800 ms 20 ms each.
    fn ledger() -> StepLedger {
        let ledger = StepLedger::new(Terms {
            audience: Audience::Everyone,
            seed: 1,
            step: StepTerms {
                first_sample: 0,
                samples: 101,
                warm_up: 10,
                by_clock: true,
                clients: 100,
            },
            keeper: Keeper::Process,
            parties: crate::plan::Parties::Same(1),
            populations: Vec::new(),
            limits_completion: true,
            script: None,
        });
        for index in 0..100_u32 {
            let due_ns = START + u64::from(index) * 10 * MS;
            let took = if (50..80).contains(&index) { 20 } else { 1 };
            ledger.sent(
                index,
                Sent {
                    due_ns,
                    at_ns: due_ns,
                    sender: 0,
                },
            );
            let at_ns = due_ns + took * MS;
            let last = Arrival {
                at_ns,
                earliest_ns: at_ns,
            };
            ledger.settle(index, last, Read::default(), &mut Latencies::default());
        }
        ledger
    }

    fn plan() -> Plan {
        Plan::new("ws://h/").with(|plan| {
            plan.populations = vec![
                Population::default(),
                Population {
                    life: Life::Cut(Cut {
                        at: Nanos::millis(500),
                    }),
                    ..Population::default()
                },
            ];
        })
    }

    /// 50 clients are cut, and `back` of them are back after 1, 2, 3, ... ms.
    fn part(back: u64) -> ChurnPart {
        let mut parts: [ChurnPart; 2] = Default::default();
        for client in 0..50 {
            let part = &mut parts[client as usize % 2];
            part.cut += 1;
            if client < back {
                let ns = (client + 1) * 6 * MS;
                part.back.record(ns);
                part.last_back_ns = part.last_back_ns.max(ns);
            }
        }
        let [mut one, other] = parts;
        one.merge(other);
        one
    }

    fn count_and_max(of: &Option<record::Latency>) -> Option<(u64, u64)> {
        of.as_ref().map(|of| (of.count, (of.max_ns + MS / 2) / MS))
    }

    #[test]
    fn samples_count_as_before_during_or_after_by_when_they_were_under_way() {
        let churn = recorded(part(50), &plan(), &ledger(), START);
        let cut = churn.cut.unwrap();
        // Back after 300 ms. The warm-up of 10 samples is in none; the last sample was not sent.
        assert_eq!(count_and_max(&cut.before), Some((40, 1)));
        assert_eq!(count_and_max(&cut.during), Some((30, 20)));
        assert_eq!(count_and_max(&cut.after), Some((20, 1)));
        assert_eq!((cut.clients, cut.back), (50, 50));
        let ms = |ns: Option<u64>| ns.map(|ns| (ns + MS / 2) / MS);
        assert_eq!(ms(cut.back_50_ns), Some(150));
        assert_eq!(ms(cut.back_95_ns), Some(288));
        assert_eq!(cut.back_100_ns, Some(300 * MS));
        assert!((30..70).contains(&churn.clients));
    }

    #[test]
    fn where_some_never_come_back_there_is_no_after() {
        let cut = recorded(part(49), &plan(), &ledger(), START).cut.unwrap();
        assert_eq!((cut.back, cut.back_100_ns), (49, None));
        assert!(cut.back_95_ns.is_some());
        assert_eq!(count_and_max(&cut.during), Some((50, 20)));
        assert_eq!(cut.after, None);
    }

    #[test]
    fn a_sample_that_the_cut_met_under_way_is_no_longer_before_it() {
        let plan = plan().with(|plan| {
            plan.populations[1].life = Life::Cut(Cut {
                at: Nanos(600 * MS + MS / 2),
            });
        });
        let cut = recorded(part(50), &plan, &ledger(), START).cut.unwrap();
        // Those of 590 ms and 600 ms were under way.
        assert_eq!(count_and_max(&cut.before), Some((49, 20)));
    }
}
