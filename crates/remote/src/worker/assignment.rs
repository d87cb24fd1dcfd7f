//! An assignment looked at before it is taken: whether this worker may and can carry it out.

use super::{Shared, WorkerOptions};
use crate::allow;
use crate::wire::refused::Reason;
use crate::wire::{Assignment, Refused};
use run_record::Plan;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::NamedTempFile;
use ws_load::site::Share;

/// Most sites of a run: 10,000 that dial in, and as many that are dialled.
const MOST_SITES: u32 = 20_000;

/// An assignment that was taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) plan: Plan,
    pub(super) share: Share,
    /// The plan's certificate authorities, removed when the run is over.
    pub(super) _authorities: Option<NamedTempFile>,
}

impl Shared {
    /// Becomes busy, or says with what it is.
    pub(super) fn occupy(self: &Arc<Self>, with: String) -> Result<Occupied, Refused> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = &*busy {
            return Err(refusal(Reason::Busy, format!("it has a run for {other}")));
        }
        *busy = Some(with);
        Ok(Occupied(Arc::clone(self)))
    }
}

/// The worker's one place, free again when dropped.
pub(super) struct Occupied(Arc<Shared>);

impl Drop for Occupied {
    fn drop(&mut self) {
        let busy: &Mutex<_> = &self.0.busy;
        *busy.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Makes a run of an assignment.
///
/// # Errors
/// Why this worker does not carry it out, for the coordinator.
pub(super) fn take(options: &WorkerOptions, assignment: &Assignment) -> Result<Taken, Refused> {
    let unfit = |words: String| refusal(Reason::Plan, words);
    let mut plan: Plan = serde_json::from_slice(&assignment.plan)
        .map_err(|error| unfit(format!("its plan cannot be read: {error}")))?;
    if assignment.of > MOST_SITES || assignment.number >= assignment.of {
        return Err(unfit(format!(
            "there is no site {} of {}",
            assignment.number, assignment.of
        )));
    }
    let share = Share {
        number: assignment.number,
        of: assignment.of,
    };
    if let Some(threads) = options.threads {
        plan.threads = threads;
    } else if assignment.own_threads {
        plan.threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    }
    if !options.local_addrs.is_empty() {
        plan.local_addrs.clone_from(&options.local_addrs);
    }
    plan.validate().map_err(|error| unfit(error.to_string()))?;
    check_destination(options, &plan)?;
    let authorities = match &plan.ca_file {
        None => None,
        Some(_) => {
            let file = keep(&assignment.authorities)
                .map_err(|error| unfit(format!("cannot keep its certificates: {error}")))?;
            plan.ca_file = Some(file.path().to_owned());
            Some(file)
        }
    };
    Ok(Taken {
        plan,
        share,
        _authorities: authorities,
    })
}

fn check_destination(options: &WorkerOptions, plan: &Plan) -> Result<(), Refused> {
    let targets =
        ws_load::target_addrs(plan).map_err(|error| refusal(Reason::Plan, error.to_string()))?;
    match options.allow.refuses(&targets, &allow::look_up) {
        None => Ok(()),
        Some(target) => Err(refusal(
            Reason::Destination,
            format!(
                "{} ({target}) is not among what it may load ({})",
                plan.url, options.allow
            ),
        )),
    }
}

fn keep(pem: &[u8]) -> std::io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(pem)?;
    Ok(file)
}

fn refusal(reason: Reason, words: String) -> Refused {
    Refused {
        reason: reason.into(),
        words,
    }
}
