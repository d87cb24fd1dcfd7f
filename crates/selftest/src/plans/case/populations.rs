//! The populations of a plan drawn at random: who stays, reads slowly, leaves, is cut off or changes rooms.

use super::Dice;
use plan::{
    Audience, Backoff, ChangesRoom, ComesAndGoes, Cut, Life, Nanos, Plan, Population, Reading,
    Reconnect,
};

pub(super) fn populations(dice: &mut Dice, plan: &Plan) -> Vec<Population> {
    let stays = Population {
        share: dice.between(1, 4) as u32,
        ..Population::default()
    };
    let mut all = vec![stays];
    if dice.once_in(3) {
        return all;
    }
    let to_others = plan.audience != Audience::Sender;
    if to_others && dice.once_in(2) {
        // With so many of them, a worker has no other clients.
        all.push(Population {
            share: dice.one_of(&[1, 2, 4, 9, 30]),
            reads: dice.one_of(&[
                Reading::Stopped,
                Reading::BytesPerSecond(1_000),
                Reading::BytesPerSecond(100_000),
            ]),
            ..Population::default()
        });
        if dice.once_in(2) {
            return all;
        }
    }
    let reconnect = match dice.one_of(&[true, true, false, false, false]) {
        true => Reconnect::Never,
        false => Reconnect::Backoff(Backoff {
            first: Nanos::millis(dice.one_of(&[1, 100])),
            most: Nanos::millis(200),
            ..Backoff::default()
        }),
    };
    let leaves = |life| Population {
        share: 2,
        life,
        reconnect,
        ..Population::default()
    };
    match dice.between(0, 5) {
        0 | 1 => all.push(leaves(Life::ComesAndGoes(ComesAndGoes {
            stays: Nanos::millis(dice.one_of(&[200, 1_000, 5_000])),
            away: Nanos::millis(dice.one_of(&[50, 300])),
        }))),
        2 => all.push(leaves(Life::Cut(Cut {
            at: Nanos::millis(200),
        }))),
        3 | 4 if matches!(plan.audience, Audience::Room(_)) => {
            all.push(leaves(Life::ChangesRoom(ChangesRoom {
                stays: Nanos::millis(dice.one_of(&[100, 500, 2_000])),
                away: Nanos::millis(dice.one_of(&[20, 200, 1_000])),
            })));
        }
        _ => {}
    }
    if dice.once_in(2) {
        all.rotate_left(1);
    }
    all
}
