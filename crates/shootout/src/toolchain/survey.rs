//! The requirements of a server, probed once, and what they mean for each of its variants.

use super::{Missing, Probed, probe};
use crate::interrupt::Interrupt;
use project::manifest::{Manifest, Scope};
use std::path::{Path, PathBuf};

/// What was found of a server's requirements.
#[derive(Clone, Debug)]
pub struct Survey(Vec<(Scope, Probed)>);

impl Survey {
    /// Probes every requirement of `manifest`, in the folder `dir`, that concerns one of
    /// `variants`. What the n-th probe says is left in `log(n)`.
    pub fn new(
        manifest: &Manifest,
        variants: &[String],
        dir: &Path,
        log: impl Fn(usize) -> PathBuf,
        interrupt: &Interrupt,
    ) -> Self {
        let probed = manifest
            .requires
            .iter()
            .enumerate()
            .filter(|(_, requirement)| variants.iter().any(|v| requirement.variants.covers(v)))
            .map(|(number, requirement)| {
                let probed = probe(requirement, dir, &log(number), interrupt);
                (requirement.variants.clone(), probed)
            });
        Self(probed.collect())
    }

    /// What one variant needs, in the manifest's order.
    pub fn of_variant(&self, variant: &str) -> impl Iterator<Item = &Probed> {
        self.0
            .iter()
            .filter(move |(scope, _)| scope.covers(variant))
            .map(|(_, probed)| probed)
    }

    /// What is missing for one variant.
    pub fn missing(&self, variant: &str) -> Vec<Missing> {
        self.of_variant(variant)
            .filter_map(|probed| probed.result.clone().err())
            .collect()
    }

    /// What is missing for any of them, each once.
    pub fn all_missing(&self) -> impl Iterator<Item = &Missing> {
        self.0
            .iter()
            .filter_map(|(_, probed)| probed.result.as_ref().err())
    }
}
