//! Rounds that measure another again, and what they say of a figure that is measured once more.

use super::board::{self, Kind, Ranking};
use super::history::{Like, Point};
use super::origin::Origin;
use super::rounds::Machine;
use crate::report::ranking::Row;
use crate::report::subject::Subject;
use crate::stats::{Interval, Prediction};
use std::collections::BTreeSet;

/// Figures of the board, and of the rounds that measure it again, that were measured twice.
#[derive(Debug)]
pub(super) struct Repeats {
    /// On one machine, or on machines that are alike.
    alike: Vec<Pair>,
    /// On machines of which one was faster, or had another processor.
    unlike: Vec<Pair>,
}

/// One of them.
#[derive(Debug)]
struct Pair {
    kind: Kind,
    /// How and where both were measured.
    like: Like,
    origin: Origin,
    /// The round of the second.
    round: String,
    /// As of [`Origin::distance`].
    distance: f64,
    figures: (Interval, Interval),
}

/// What is to be expected of a figure that is measured again.
#[derive(Debug)]
pub(super) struct Expected {
    prediction: Prediction,
    /// The same on another machine, where enough was measured on two, and how far they were apart.
    elsewhere: Option<(Prediction, f64)>,
    kind: Kind,
    /// Where it comes from.
    rounds: String,
    pool: Pool,
}

/// The pairs that speak for a figure: the nearest to it that are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pool {
    /// Of its kind, on its machine or on one like it.
    Machine,
    /// Of its kind.
    Kind,
}

impl Repeats {
    /// Those of a round and of the rounds that repeat it. Each figure of the latter is held against the
    /// first before it of the same row, version and plan, of another run on a machine like its own, and
    /// against the first on a machine unlike its own.
    pub(super) fn of(round: &[Point], again: &[Point]) -> Self {
        let pairs = |is_alike: bool| {
            let pair = move |(index, second): (usize, &Point)| {
                let mut before = round.iter().chain(&again[..index]);
                let first = before.find(|first| {
                    is_same_row(first, second) && are_alike(first, second) == is_alike
                })?;
                Some(Pair {
                    kind: first.kind,
                    like: first.like.clone(),
                    origin: first.origin.clone(),
                    round: second.round.clone(),
                    distance: first.origin.distance(&second.origin)?,
                    figures: (first.bounds?, second.bounds?),
                })
            };
            again.iter().enumerate().filter_map(pair).collect()
        };
        Self {
            alike: pairs(true),
            unlike: pairs(false),
        }
    }

    /// What is to be expected of the figures of a ranking; `None` where too few figures were measured
    /// again.
    pub(super) fn expected(
        &self,
        ranking: &Ranking<'_>,
        machine: Option<&Machine>,
    ) -> Option<Expected> {
        let kind = ranking.kind;
        let is_here = |pair: &Pair| {
            pair.like.is_of_hardware(machine) && pair.origin.is_as_fast(&ranking.origin)
        };
        let is_in = |pair: &Pair, pool: Pool| match pool {
            Pool::Kind => pair.kind == kind,
            Pool::Machine => pair.kind == kind && is_here(pair),
        };
        let unlike = || self.unlike.iter().filter(|pair| pair.kind == kind);
        let farthest = unlike().map(|pair| pair.distance).reduce(f64::max);
        let elsewhere = Prediction::of(unlike().map(|pair| pair.figures)).zip(farthest);
        let of = |pool| {
            let pairs = || self.alike.iter().filter(|pair| is_in(pair, pool));
            let rounds: BTreeSet<&str> = pairs().map(|pair| pair.round.as_str()).collect();
            Some(Expected {
                prediction: Prediction::of(pairs().map(|pair| pair.figures))?,
                elsewhere,
                kind,
                rounds: rounds.into_iter().collect::<Vec<_>>().join(", "),
                pool,
            })
        };
        let pools = [Pool::Machine, Pool::Kind];
        pools.into_iter().find_map(of)
    }
}

/// Whether both are figures of one row, measured in the same way in two runs.
fn is_same_row(first: &Point, second: &Point) -> bool {
    let is_same_row = first.key == second.key
        && first.version == second.version
        && first.workload == second.workload
        && first.dialect == second.dialect
        && first.kind == second.kind;
    let is_same_run = first.round == second.round && first.origin.run == second.origin.run;
    is_same_row && !is_same_run && first.like.is_measured_as(&second.like)
}

/// Whether they were measured on machines that are alike.
fn are_alike(first: &Point, second: &Point) -> bool {
    first.like.is_on_hardware_of(&second.like) && first.origin.is_as_fast(&second.origin)
}

impl Expected {
    /// Where the figure of a row is to lie, in words; `None` for a row without a figure.
    pub(super) fn interval(&self, row: &Row<'_>, subject: &Subject<'_>) -> Option<String> {
        interval(self.prediction, row, subject)
    }

    /// The same on another machine; `None` too where that is not known.
    pub(super) fn interval_elsewhere(
        &self,
        row: &Row<'_>,
        subject: &Subject<'_>,
    ) -> Option<String> {
        let (prediction, _) = self.elsewhere?;
        interval(prediction, row, subject)
    }

    /// What it rests on, in sentences.
    pub(super) fn words(&self) -> String {
        let Prediction { factor, pairs } = self.prediction;
        let kind = self.kind.words();
        let of = match self.pool {
            Pool::Machine => format!("figures of this kind ({kind}) on a machine like this"),
            Pool::Kind => format!("figures of this kind ({kind}), on another machine than this"),
        };
        let elsewhere = self.elsewhere.map_or_else(String::new, |(elsewhere, farthest)| {
            let Prediction { factor, pairs } = elsewhere;
            format!(
                " On another machine it is within {factor:.2}, if it moves as {pairs} figures did that \
                 were measured on two, and if the ceilings are at most {farthest:.2} times apart, as \
                 theirs were."
            )
        });
        format!(
            "In another run on a machine like this a figure is within a factor of {factor:.2} of the one \
             here in 95 of 100 cases, if it moves as {pairs} figures did that were measured twice (round \
             {}, whose note says how far apart): {of}. A machine is like this where `websocket-bench selftest` finds the \
             ceilings of this run, within 15 %; a processor of the same name is not enough.{elsewhere}",
            self.rounds
        )
    }
}

fn interval(prediction: Prediction, row: &Row<'_>, subject: &Subject<'_>) -> Option<String> {
    let figure = board::bounds(row, subject).filter(|figure| figure.high.is_finite())?;
    let interval = prediction.interval(figure);
    let (smallest, largest) = board::within(interval, row, subject);
    let shown = |figure| board::shown(figure, subject);
    Some(format!("{} to {}", shown(smallest), shown(largest)))
}
