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

/// What is to be expected of a figure that is measured again: at least one of both is known.
#[derive(Debug)]
pub(super) struct Expected {
    kind: Kind,
    /// On the same machine, or on one like it.
    here: Option<Here>,
    elsewhere: Option<Elsewhere>,
}

#[derive(Debug)]
struct Here {
    prediction: Prediction,
    /// Where it comes from.
    rounds: String,
}

/// On a machine unlike that of the figure.
#[derive(Debug)]
struct Elsewhere {
    prediction: Prediction,
    /// How far the machines were apart whose figures it comes from, at least and at most.
    apart: (f64, f64),
    /// The same of machines that were nearer, and how far they were apart at most.
    nearer: Option<(Prediction, f64)>,
}

/// Where a figure is to lie, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outlook {
    /// In another run on its machine, or on one like it.
    AnotherRun(String),
    /// On another machine; how far it moves on its own is not known.
    AnotherMachine(String),
}

impl Repeats {
    /// Those of a round and of the rounds that repeat it. Each figure of the latter is held against the
    /// first before it of the same row, version and plan, of another run on a machine like its own, and
    /// against the first on a machine unlike its own.
    pub(super) fn new(round: &[Point], again: &[Point]) -> Self {
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

    /// What is to be expected of the figures of a ranking; `None` where too few figures of their kind
    /// were measured again.
    pub(super) fn expected(
        &self,
        ranking: &Ranking<'_>,
        machine: Option<&Machine>,
    ) -> Option<Expected> {
        let kind = ranking.kind;
        let here = || {
            self.alike.iter().filter(|pair| {
                pair.kind == kind
                    && pair.like.is_of_hardware(machine)
                    && pair.origin.is_as_fast(&ranking.origin)
            })
        };
        let expected = Expected {
            kind,
            here: Prediction::new(here().map(|pair| pair.figures)).map(|prediction| {
                let rounds: BTreeSet<&str> = here().map(|pair| pair.round.as_str()).collect();
                Here {
                    prediction,
                    rounds: rounds.into_iter().collect::<Vec<_>>().join(", "),
                }
            }),
            elsewhere: self.elsewhere(kind),
        };
        (expected.here.is_some() || expected.elsewhere.is_some()).then_some(expected)
    }

    /// What is to be expected on another machine. Machines that are far apart speak for those that are
    /// nearer, and not the other way round: the pairs of the farther half, on a logarithmic scale,
    /// decide where they are enough, else all of them.
    fn elsewhere(&self, kind: Kind) -> Option<Elsewhere> {
        let of_kind = self.unlike.iter().filter(|pair| pair.kind == kind);
        let mut pairs: Vec<&Pair> = of_kind.collect();
        pairs.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        let (nearest, farthest) = (pairs.first()?.distance, pairs.last()?.distance);
        let middle = pairs.partition_point(|pair| pair.distance < farthest.sqrt());
        let (near, far) = pairs.split_at(middle);
        let of = |pairs: &[&Pair]| Prediction::new(pairs.iter().map(|pair| pair.figures));
        if let Some(prediction) = of(far) {
            return Some(Elsewhere {
                prediction,
                apart: (far.first()?.distance, farthest),
                nearer: of(near).zip(near.last().map(|pair| pair.distance)),
            });
        }
        Some(Elsewhere {
            prediction: of(&pairs)?,
            apart: (nearest, farthest),
            nearer: None,
        })
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
    /// Whether it is known how far figures move on the machine of the ranking.
    pub(super) const fn is_of_this_machine(&self) -> bool {
        self.here.is_some()
    }

    /// Where the figure of a row is to lie on the machine of the ranking or on one like it, or on
    /// another where that alone is known; `None` for a row without a figure, and where it may be any.
    pub(super) fn place(&self, row: &Row<'_>, subject: &Subject<'_>) -> Option<Outlook> {
        match &self.here {
            Some(here) => interval(here.prediction, row, subject).map(Outlook::AnotherRun),
            None => self.elsewhere(row, subject).map(Outlook::AnotherMachine),
        }
    }

    /// Where it is to lie on another machine; `None` too where that is not known, or may be anything.
    pub(super) fn elsewhere(&self, row: &Row<'_>, subject: &Subject<'_>) -> Option<String> {
        interval(self.elsewhere.as_ref()?.prediction, row, subject)
    }

    /// What it rests on, in sentences.
    pub(super) fn words(&self) -> String {
        let kind = self.kind.words();
        let Some(here) = &self.here else {
            return self.elsewhere.as_ref().map_or_else(String::new, |elsewhere| {
                format!(
                    "How far a figure of this kind ({kind}) moves in another run on a machine like \
                     this has not been measured. {}",
                    elsewhere.words("a figure")
                )
            });
        };
        let Prediction { factor, pairs } = here.prediction;
        let rounds = &here.rounds;
        let elsewhere = self
            .elsewhere
            .as_ref()
            .map_or_else(String::new, |elsewhere| {
                format!(" {}", elsewhere.words("it"))
            });
        if !here.prediction.is_bounded() {
            return format!(
                "In another run on a machine like this a figure may be any: of {pairs} of this kind \
                 ({kind}) that were measured twice on such machines (round {rounds}), more than one \
                 in twenty {LOST}.{elsewhere}"
            );
        }
        format!(
            "In another run on a machine like this a figure is within a factor of {factor:.2} of the one \
             here in 95 of 100 cases, if it moves as {pairs} figures of this kind ({kind}) did that were \
             measured twice on such machines (round {rounds}, whose note says how far apart). A machine \
             is like this where websocket-bench selftest finds the ceilings of this run, within 15 %; a \
             processor of the same name is not enough.{elsewhere}"
        )
    }
}

/// What became of figures that no factor explains.
const LOST: &str = "came to nothing, or never came, in one of the two";

impl Elsewhere {
    fn words(&self, subject: &str) -> String {
        let Prediction { factor, pairs } = self.prediction;
        let (nearest, farthest) = self.apart;
        let apart = match (format!("{nearest:.2}"), format!("{farthest:.2}")) {
            (nearest, farthest) if nearest == farthest => farthest,
            (nearest, farthest) => format!("{nearest} to {farthest}"),
        };
        let nearer = self.nearer.filter(|(nearer, _)| nearer.is_bounded());
        let nearer = nearer.map_or_else(String::new, |(nearer, farthest)| {
            format!(
                " Of {} figures on machines that were at most {farthest:.2} times apart the factor was \
                 {:.2}.",
                nearer.pairs, nearer.factor
            )
        });
        if !self.prediction.is_bounded() {
            return format!(
                "On another machine {subject} may be any: of {pairs} figures of its kind that were \
                 measured on two whose ceilings were {apart} times apart, more than one in twenty \
                 {LOST}.{nearer}"
            );
        }
        format!(
            "On another machine {subject} is within a factor of {factor:.2} of the one here in 95 of 100 \
             cases, if it moves as {pairs} figures of its kind did that were measured on two whose \
             ceilings were {apart} times apart, and if those that websocket-bench selftest finds are no \
             farther from those of this run.{nearer}"
        )
    }
}

impl Outlook {
    /// With the words that say where.
    pub(super) fn words(&self) -> String {
        match self {
            Self::AnotherRun(interval) => format!("another run {interval}"),
            Self::AnotherMachine(interval) => format!("another machine {interval}"),
        }
    }

    /// The interval alone.
    pub(super) fn interval(self) -> String {
        let (Self::AnotherRun(interval) | Self::AnotherMachine(interval)) = self;
        interval
    }
}

fn interval(prediction: Prediction, row: &Row<'_>, subject: &Subject<'_>) -> Option<String> {
    let figure = board::bounds(row, subject).filter(|figure| figure.high.is_finite())?;
    if !prediction.is_bounded() {
        return None;
    }
    let interval = prediction.interval(figure);
    let (smallest, largest) = board::within(interval, row, subject);
    let shown = |figure| board::shown(figure, subject);
    Some(format!("{} to {}", shown(smallest), shown(largest)))
}
