//! What must be installed before a server can be built, and how to install it.
//!
//! Does not build anything.

pub mod apt;
mod probe;
mod survey;

pub use probe::{Missing, Probed};
pub use survey::Survey;

use crate::interrupt::Interrupt;
use probe::probe;
use project::manifest::Requirement;
use std::path::Path;

/// What of these requirements is not met, probed in the folder `dir`; what a probe says is left in `log`.
pub fn missing(
    requires: &[Requirement],
    dir: &Path,
    log: &Path,
    interrupt: &Interrupt,
) -> Vec<Missing> {
    let probed = requires.iter().map(|of| probe(of, dir, log, interrupt));
    probed.filter_map(|probed| probed.result.err()).collect()
}

/// The distinct Debian packages of several missing requirements, in order.
pub fn packages<'a>(missing: impl IntoIterator<Item = &'a Missing>) -> Vec<String> {
    let mut packages: Vec<String> = Vec::new();
    for requirement in missing {
        for package in &requirement.debian {
            if !packages.contains(package) {
                packages.push(package.clone());
            }
        }
    }
    packages
}
