//! Rounds that measure another again, and what they say of a figure that is measured once more.

use super::board::{self, Kind};
use super::history::Point;
use super::rounds::Machine;
use crate::report::ranking::Row;
use crate::report::subject::Subject;
use crate::stats::{Interval, Prediction};
use std::collections::BTreeSet;

/// A figure of the board that was measured twice.
#[derive(Debug)]
struct Pair {
    kind: Kind,
    machine: Option<Machine>,
    first: f64,
    second: f64,
    /// The second round with its day.
    round: String,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Repeats(Vec<Pair>);

/// What is to be expected of a figure that is measured again.
#[derive(Debug)]
pub(super) struct Expected {
    prediction: Prediction,
    kind: Kind,
    /// Where it comes from.
    rounds: String,
    /// Whether the figures are of this machine's hardware.
    is_of_machine: bool,
}

impl Repeats {
    /// The figures of a round that these repeat: of the same row, version, plan and hardware.
    pub(super) fn of(round: &[Point], again: &[Point]) -> Self {
        let pair = |second: &Point| {
            let is_first = |first: &&Point| {
                (&first.key, &first.workload, first.dialect, &first.version)
                    == (
                        &second.key,
                        &second.workload,
                        second.dialect,
                        &second.version,
                    )
                    && first.kind == second.kind
                    && first.like.is_repeated_by(&second.like)
            };
            let first = round.iter().find(is_first)?;
            Some(Pair {
                kind: first.kind,
                machine: first.like.machine.clone(),
                first: first.value?,
                second: second.value?,
                round: format!("{} of {}", second.round, second.day),
            })
        };
        Self(again.iter().filter_map(pair).collect())
    }

    /// What is to be expected of a figure of this kind on this machine: by the figures of its own
    /// hardware where these are enough, by those of all machines where they are; `None` elsewhere.
    pub(super) fn expected(&self, kind: Kind, machine: Option<&Machine>) -> Option<Expected> {
        let is_here = |pair: &&Pair| match (&pair.machine, machine) {
            (Some(one), Some(other)) => one.is_same_hardware(other),
            _ => false,
        };
        let of_kind: Vec<&Pair> = self.0.iter().filter(|pair| pair.kind == kind).collect();
        let here: Vec<&Pair> = of_kind.iter().copied().filter(is_here).collect();
        let of = |pairs: &[&Pair], is_of_machine| {
            let rounds: BTreeSet<&str> = pairs.iter().map(|pair| pair.round.as_str()).collect();
            Some(Expected {
                prediction: Prediction::of(pairs.iter().map(|pair| (pair.first, pair.second)))?,
                kind,
                rounds: rounds.into_iter().collect::<Vec<_>>().join(", "),
                is_of_machine,
            })
        };
        of(&here, true).or_else(|| of(&of_kind, false))
    }
}

impl Expected {
    /// Where the figure of a row is to lie, in words; `None` for a row without a figure.
    pub(super) fn interval(&self, row: &Row<'_>, subject: &Subject<'_>) -> Option<String> {
        let figure = board::figure(row, subject).filter(|figure| figure.is_finite())?;
        let Interval { low, high } = self.prediction.interval(figure);
        let shown = |figure| board::shown(figure, subject);
        Some(format!("{} to {}", shown(low), shown(high)))
    }

    /// What it rests on, in sentences.
    pub(super) fn words(&self) -> String {
        let Prediction { factor, pairs } = self.prediction;
        let hardware = match self.is_of_machine {
            true => "this hardware",
            false => "another hardware than this",
        };
        format!(
            "Measured again, a figure is within a factor of {factor:.2} of the one here in 95 of 100 \
             cases. So far apart are {pairs} figures ({}) that were measured again on another day, \
             all on machines of {hardware} (round {}).",
            self.kind.words(),
            self.rounds
        )
    }
}
