//! The bars of the front page: CPU time for one message as a multiple of the yardstick's.

use super::{Column, rows, unit};
use crate::report::ranking::{Row, Score};
use crate::site::board::{Ranked, Ranking};
use crate::stats::{self, ALPHA, Interval, enough, rank_test};
use std::collections::BTreeMap;

/// Bars that are more than so many times the median one are cut short.
const IN_SIGHT: f64 = 2.0;

/// What one bar shows.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::site) struct Bar {
    /// CPU time for one message, in nanoseconds.
    pub(in crate::site) ns: f64,
    /// The same as a multiple of the yardstick's; of the cheapest row's without one.
    pub(in crate::site) times: f64,
    /// The interval of the multiple over the repetitions: 95 percent, or their range where they are
    /// too few. `None` of a single one.
    pub(in crate::site) interval: Option<Interval>,
    /// Whether it is the cheapest, or not told apart from it.
    pub(in crate::site) is_cheapest: bool,
    /// Whether the row kept the limit of the workload, with time to spare on its cores.
    pub(in crate::site) kept_up: bool,
    /// Length in percent of the track.
    pub(in crate::site) length: f64,
    /// Whether it is longer than its track.
    pub(in crate::site) is_cut: bool,
}

/// The row that the others are held against.
pub(in crate::site) struct Yardstick {
    pub(in crate::site) key: String,
    pub(in crate::site) server: String,
    pub(in crate::site) name: String,
    pub(in crate::site) language: String,
    pub(in crate::site) class: String,
    pub(in crate::site) bar: Bar,
}

/// The costs of the rows of a ranking.
pub(super) struct Costs<'r> {
    pub(super) yardstick: Option<Yardstick>,
    /// The cheapest row of each server. A row that missed the limit is taken only where all of them did.
    pub(super) best: Vec<&'r Ranked>,
    bars: BTreeMap<&'r str, Bar>,
}

struct Costing<'r> {
    ranked: &'r Ranked,
    ns: f64,
    /// Of each repetition.
    each: Vec<f64>,
    interval: Option<Interval>,
    kept_up: bool,
}

impl<'r> Costs<'r> {
    pub(super) fn new(ranking: &'r Ranking<'_>) -> Self {
        let contestants = ranking.lines.len();
        let mut costed: Vec<(usize, Costing<'r>)> = rows(ranking)
            .enumerate()
            .filter(|(_, (_, row))| !row.is_behind_proxy())
            .filter_map(|(at, (ranked, row))| Some((at, costing(ranked, row)?)))
            .collect();
        costed.sort_by(|(_, a), (_, b)| {
            let order = b.kept_up.cmp(&a.kept_up);
            order.then(a.ns.total_cmp(&b.ns))
        });
        let (contestants, limits): (Vec<_>, Vec<_>) =
            costed.into_iter().partition(|(at, _)| *at < contestants);
        let bare = |(_, costing)| costing;
        let contestants: Vec<Costing<'r>> = contestants.into_iter().map(bare).collect();
        let limit = limits.into_iter().map(bare).next();
        let unit = limit
            .as_ref()
            .or(contestants.first())
            .map_or(1.0, |of| of.ns);
        let times: Vec<f64> = contestants.iter().map(|of| of.ns / unit).collect();
        let longest = times.iter().copied().fold(1.0, f64::max);
        let end = match times.is_empty() {
            true => longest,
            false => longest.min(stats::median(&times) * IN_SIGHT).max(1.0),
        };
        let bar = |of: &Costing<'_>, is_cheapest| {
            let times = of.ns / unit;
            Bar {
                ns: of.ns,
                times,
                interval: of.interval.map(|Interval { low, high }| Interval {
                    low: low / unit,
                    high: high / unit,
                }),
                is_cheapest,
                kept_up: of.kept_up,
                length: (times / end * 100.0).min(100.0),
                is_cut: times > end,
            }
        };
        let cheapest = contestants.first();
        let bars = contestants.iter().map(|of| {
            let is_cheapest = cheapest.is_some_and(|cheapest| {
                cheapest.ranked.key == of.ranked.key
                    || (of.kept_up == cheapest.kept_up && is_tied(&cheapest.each, &of.each))
            });
            (of.ranked.key.as_str(), bar(of, is_cheapest))
        });
        let bars = bars.collect();
        let mut best: Vec<&Ranked> = Vec::new();
        for of in &contestants {
            if best.iter().all(|known| known.server != of.ranked.server) {
                best.push(of.ranked);
            }
        }
        Self {
            yardstick: limit.map(|limit| Yardstick {
                key: limit.ranked.key.clone(),
                server: limit.ranked.server.clone(),
                name: limit.ranked.name.clone(),
                language: limit.ranked.language.clone(),
                class: limit.ranked.class.clone(),
                bar: bar(&limit, false),
            }),
            best,
            bars,
        }
    }

    pub(super) fn bar(&self, key: &str) -> Option<Bar> {
        self.bars.get(key).cloned()
    }
}

fn costing<'r>(ranked: &'r Ranked, row: &Row<'_>) -> Option<Costing<'r>> {
    unit::cell(Column::Cost, row)?;
    let each = row.figures(Score::Cost, None);
    Some(Costing {
        ranked,
        ns: row.figure(Score::Cost, None)?,
        interval: row.figure_interval(Score::Cost, None),
        kept_up: row.too_busy().is_none()
            && row
                .carried
                .is_some_and(|carried| carried.clients().is_some()),
        each,
    })
}

/// Whether the repetitions of a row are not told apart from those of the cheapest. So few that no test
/// can tell them apart show no tie either.
pub(super) fn is_tied(cheapest: &[f64], other: &[f64]) -> bool {
    if !enough(cheapest.len(), other.len()) {
        return false;
    }
    rank_test(cheapest, other).p > ALPHA
}
