//! What must be installed before a server can be built, and how to install it.
//!
//! Does not build anything.

pub mod apt;
mod probe;
mod survey;

pub use probe::{Missing, Probed};
pub use survey::Survey;

use probe::probe;

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
