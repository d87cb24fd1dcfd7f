//! Measuring a row again that other programs disturbed, or of which nothing is known.
//!
//! Disturbance makes figures worse, and is the reason to measure again. It makes no fault: what a
//! server did wrong stands, or a run in which it does not happen would take its place.

use board::quiet;
use record::{Measurement, Status, counted_faults};

/// How often a row that was disturbed is measured, the first time included.
const TRIES: u32 = 3;

/// Measures a row until other programs leave it alone or the server is at fault, a few times at most:
/// the measurement that they disturbed least, or the one with the fault.
pub(super) fn least_disturbed(
    mut measure: impl FnMut() -> Measurement,
    is_over: impl Fn() -> bool,
    mut say: impl FnMut(&str),
) -> Measurement {
    let mut kept = measure();
    for _ in 1..TRIES {
        let Some(words) = quiet::disturbance(kept.busy_during) else {
            break;
        };
        if is_at_fault(&kept) || is_over() {
            break;
        }
        say(&words);
        let again = measure();
        // One that did not come to measuring takes no result away.
        let is_better = is_at_fault(&again) || again.busy_during <= kept.busy_during;
        if is_measured(&again) && is_better {
            kept = again;
        }
    }
    kept
}

/// Measures a row, and once more where nothing is known of it because the generator was the limit: the
/// second measurement if that says more.
pub(super) fn until_known(
    mut measure: impl FnMut() -> Measurement,
    is_over: impl Fn() -> bool,
    mut say: impl FnMut(&str),
) -> Measurement {
    let first = measure();
    if !is_unknown(&first) || is_over() {
        return first;
    }
    say("the generator was the limit of its first step");
    let again = measure();
    let says_more = is_measured(&again) && !is_unknown(&again);
    if says_more { again } else { first }
}

/// Whether the generator was the limit before any clients were carried.
fn is_unknown(of: &Measurement) -> bool {
    let run = of.run.as_ref();
    of.status == Status::GeneratorLimited
        && run.is_some_and(|run| run.outcome.carried_clients.is_none())
        && !is_at_fault(of)
}

/// Whether the measuring has begun and was not interrupted.
fn is_measured(of: &Measurement) -> bool {
    of.busy_during.is_some() && of.status != Status::Interrupted
}

/// Whether something went wrong under the load that no busy machine explains.
fn is_at_fault(of: &Measurement) -> bool {
    let steps = of.run.iter().flat_map(|run| &run.steps);
    let mut faults = steps.map(counted_faults);
    matches!(of.status, Status::Crashed | Status::Leaked | Status::Faulty)
        || faults.any(|faults| !faults.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;
    use record::{End, Faults, StepRecord, Verdict};

    fn row(busy: f64) -> Measurement {
        Measurement {
            busy_during: Some(busy),
            ..measured("a", 2, 9_000, End::OverLimit)
        }
    }

    fn with(busy: f64, change: impl FnOnce(&mut StepRecord)) -> Measurement {
        let mut row = row(busy);
        change(&mut row.run.as_mut().unwrap().steps[0]);
        row
    }

    fn faulty(busy: f64) -> Measurement {
        let mut row = with(busy, |step| {
            step.verdict = Verdict::Fail;
            step.faults.lost = 3;
        });
        row.status = Status::Faulty;
        row
    }

    /// Which of these measurements is kept, and how many were made.
    fn kept(all: &[Measurement]) -> (usize, usize) {
        let mut made = 0;
        let kept = least_disturbed(
            || {
                made += 1;
                all[made - 1].clone()
            },
            || false,
            |_| {},
        );
        (all.iter().position(|one| *one == kept).unwrap(), made)
    }

    #[test]
    fn the_least_disturbed_of_three_is_kept_and_a_quiet_one_ends_it() {
        assert_eq!(kept(&[row(0.01)]), (0, 1));
        assert_eq!(kept(&[row(0.3), row(0.02)]), (1, 2));
        assert_eq!(kept(&[row(0.3), row(0.1), row(0.2)]), (1, 3));
        let interrupted = Measurement {
            status: Status::Interrupted,
            ..row(0.0)
        };
        let unstarted = Measurement {
            status: Status::StartFailed,
            busy_during: None,
            ..row(0.0)
        };
        assert_eq!(kept(&[row(0.3), interrupted, unstarted]), (0, 3));
    }

    #[test]
    fn what_a_server_did_wrong_is_not_measured_away() {
        assert_eq!(kept(&[faulty(0.3)]), (0, 1));
        assert_eq!(kept(&[row(0.3), faulty(0.4), row(0.0)]), (1, 2));
        for status in [Status::Crashed, Status::Leaked] {
            let wrong = Measurement { status, ..row(0.3) };
            assert_eq!(kept(&[wrong]), (0, 1));
        }
        // A step that was given up may have been too slow for the machine, not for its limit.
        let slow = |faults| {
            let mut row = with(0.3, |step| (step.timed_out, step.faults) = (true, faults));
            row.status = Status::Timeout;
            row
        };
        let lost = Faults {
            lost: 3,
            ..Faults::default()
        };
        assert_eq!(kept(&[slow(lost), row(0.0)]), (1, 2));
        let doubled = Faults {
            duplicate: 1,
            ..lost
        };
        assert_eq!(kept(&[slow(doubled)]), (0, 1));
    }

    #[test]
    fn a_row_of_which_nothing_is_known_is_measured_once_more() {
        let limited = |carried| {
            let mut row = row(0.0);
            row.status = Status::GeneratorLimited;
            row.run.as_mut().unwrap().outcome.carried_clients = carried;
            row
        };
        let of = |all: &[Measurement]| {
            let mut made = 0;
            let next = || {
                made += 1;
                all[made - 1].clone()
            };
            let kept = until_known(next, || false, |_| {});
            (all.iter().position(|one| *one == kept).unwrap(), made)
        };
        let (unknown, bounded) = (limited(None), limited(Some(10)));
        assert_eq!(of(&[row(0.3)]), (0, 1));
        assert_eq!(of(std::slice::from_ref(&bounded)), (0, 1));
        assert_eq!(of(&[unknown.clone(), row(0.3)]), (1, 2));
        assert_eq!(of(&[unknown.clone(), bounded]), (1, 2));
        assert_eq!(of(&[unknown.clone(), unknown.clone()]), (0, 2));
        assert_eq!(of(&[unknown.clone(), faulty(0.0)]), (1, 2));
        let mut lossy = unknown;
        lossy.run.as_mut().unwrap().steps[0].faults.lost = 3;
        assert_eq!(of(&[lossy]), (0, 1));
    }

    #[test]
    fn an_interrupt_ends_it() {
        let mut made = 0;
        let kept = least_disturbed(
            || {
                made += 1;
                row(0.3)
            },
            || true,
            |_| {},
        );
        assert_eq!((kept, made), (row(0.3), 1));
    }
}
