//! What became of watched messages over the repetitions of a row: counts are sums, latencies are whole
//! histograms put together, times are medians.

use super::{Row, extra};
use crate::failover::{Failover, Promise, Recovery};
use crate::stats::Median;
use record::{Claim, Fates, Latency, Watched};

/// What became of the messages of a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lost {
    pub sent: u64,
    pub confirmed: u64,
    /// In this dialect no message is confirmed.
    pub has_no_results: bool,
    /// What became of the deliveries that count.
    pub fates: Fates,
    /// The same message to the same client again, on whatever connection.
    pub again: u64,
    pub reordered: u64,
    /// Absent where a proxy chose the node of each client, as `cross_node`.
    pub same_node: Option<Latency>,
    pub cross_node: Option<Latency>,
    pub bystanders: Option<Latency>,
}

impl<'a> Row<'a> {
    /// What was watched in each repetition that the user did not cut short.
    pub(crate) fn failovers(&self) -> Vec<Failover<'a>> {
        let counted = self.counted();
        counted.into_iter().filter_map(Failover::new).collect()
    }

    /// What became of its messages; `None` where none were watched.
    pub(crate) fn lost(&self) -> Option<Lost> {
        let all = self.failovers();
        let watched: Vec<&Watched> = all.iter().map(|one| one.watched).collect();
        let sum = |of: fn(&Watched) -> u64| {
            watched
                .iter()
                .map(|one| of(one))
                .fold(0, u64::saturating_add)
        };
        let by_node = |which: fn(&Watched) -> Option<&Latency>| {
            let is_known = !self.is_behind_proxy();
            is_known.then(|| extra::merged(&watched, which)).flatten()
        };
        let fates = all.iter().fold(Fates::default(), |mut sum, one| {
            sum.add(one.counted());
            sum
        });
        (!all.is_empty()).then(|| Lost {
            sent: sum(|of| of.sent),
            confirmed: sum(|of| of.confirmed),
            has_no_results: watched.iter().any(|of| of.has_no_results),
            fates,
            again: sum(|of| of.duplicate.saturating_add(of.repeated)),
            reordered: sum(|of| of.reordered),
            same_node: by_node(|of| of.same_node.as_ref()),
            cross_node: by_node(|of| of.cross_node.as_ref()),
            bystanders: extra::merged(&watched, |of| of.bystander_latency.as_ref()),
        })
    }

    /// The longest of a time over the faults of a repetition, in nanoseconds: the median of the repetitions,
    /// infinite where it was never over.
    pub(crate) fn longest_recovery(
        &self,
        of: impl Fn(&Recovery<'a>) -> Option<u64>,
    ) -> Option<f64> {
        let each: Vec<f64> = self
            .failovers()
            .iter()
            .filter_map(|one| one.longest(&of))
            .collect();
        Median::Usual.of(&each)
    }

    /// What the library promises, and whether the repetitions together keep it; `None` where its manifest
    /// promises nothing.
    pub(crate) fn promise(&self) -> Option<(Claim, Promise)> {
        let claim = self.repetitions.iter().find_map(|one| one.claim)?;
        let all = self.failovers();
        (!all.is_empty()).then(|| (claim, Promise::new(claim, &all)))
    }
}
