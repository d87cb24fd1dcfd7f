//! The numbered notes of a table: reasons, ends that were not the server's, waivers, old versions.

use super::ranking::{Carried, MOST_BUSY, Row, Score, grows};
use super::{figures, words};
use plan::{Clients, Plan};
use record::{CheckOutcome, CheckVerdict, Status};

/// One note. Rows that have the same share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) number: usize,
    pub(crate) text: String,
    /// A page about it.
    pub(crate) link: Option<String>,
}

/// Notes in the order of their first use.
#[derive(Debug)]
pub(crate) struct Notes {
    notes: Vec<Note>,
    usual: Option<Steps>,
}

/// Clients of the first step, and those that each further one adds.
type Steps = (u32, u32);

impl Notes {
    /// No notes yet, for a table of these rows.
    pub(crate) fn new(rows: &[&Row<'_>]) -> Self {
        Self {
            notes: Vec::new(),
            usual: usual_steps(rows),
        }
    }

    pub(crate) fn all(self) -> Vec<Note> {
        self.notes
    }

    /// Numbers of the notes of a row.
    pub(crate) fn of_row(&mut self, row: &Row<'_>) -> Vec<usize> {
        let mut numbers: Vec<usize> = reasons(row)
            .into_iter()
            .chain(self.other_steps(row))
            .chain(above_limit(row))
            .chain(too_busy(row))
            .chain(cut_off(row))
            .chain(shared_places(row))
            .chain(words::why_old(row))
            .map(|text| self.number(text, None))
            .collect();
        let checks = row
            .checks(CheckVerdict::Fail)
            .into_iter()
            .chain(row.checks(CheckVerdict::Waived));
        numbers.extend(checks.map(|check| self.number(of_check(check), check.link.clone())));
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn number(&mut self, text: String, link: Option<String>) -> usize {
        if let Some(known) = self.notes.iter().find(|note| note.text == text) {
            return known.number;
        }
        let number = self.notes.len() + 1;
        self.notes.push(Note { number, text, link });
        number
    }

    /// The note of a row whose steps are not those of most rows.
    fn other_steps(&self, row: &Row<'_>) -> Option<String> {
        let (first, step) = row.runs().map(|run| steps(&run.plan)).next()?;
        let (usual_first, usual_step) = self.usual?;
        if (first, step) == (usual_first, usual_step) {
            return None;
        }
        let count = |clients: u32| figures::count(clients.into());
        Some(format!(
            "measured with {} clients and {} more each step, where the other rows have {} and {}",
            count(first),
            count(step),
            count(usual_first),
            count(usual_step)
        ))
    }
}

/// Only for rows that were tested: rows with too few repetitions share places because their figures
/// are equal.
fn shared_places(row: &Row<'_>) -> Option<String> {
    let shared = row.place.is_some_and(|place| place.best < place.worst);
    (shared && row.is_tested()).then(|| {
        "rows that share places are not told apart by their repetitions (Mann-Whitney U; of the \
         pairs that are told apart, at most 5 percent are expected to be wrong)"
            .to_owned()
    })
}

/// Whose percentile is shown, where it is above the limit that the row kept: a repetition keeps the limit
/// with one of its tries, and the middle of the clients is not of the same repetition as that of the
/// percentiles. Watched messages have no limit.
fn above_limit(row: &Row<'_>) -> Option<String> {
    let limit = row.limit().filter(|_| !row.is_watched())?;
    let step = row.at_carried()?;
    let shown = row.latency(limit.of, limit.percentile)?;
    (shown.is_finite() && shown > limit.time.ns() as f64).then(|| {
        format!(
            "{}: the p{} of {} is above the limit of {}, since it is that of all {} measurements with {} \
             clients, of which {} kept the limit",
            words::contestant(row),
            figures::percentile(limit.percentile),
            figures::time(shown),
            figures::time(limit.time.ns() as f64),
            step.repetitions,
            figures::count(step.clients),
            step.passed
        )
    })
}

/// Why a row that is ranked by cost has no place.
fn too_busy(row: &Row<'_>) -> Option<String> {
    let share = match Score::new(row.plan()?) {
        Score::Cost => row.too_busy()?,
        _ => return None,
    };
    Some(format!(
        "{} has no place: it used {:.0} % of its cores. Above {:.0} % a server has no time to spare, and what \
         a message costs it is not compared",
        words::contestant(row),
        share * 100.0,
        MOST_BUSY * 100.0
    ))
}

/// Why the server cut off clients that read slowly.
fn cut_off(row: &Row<'_>) -> Option<String> {
    let slow = row.shown_step()?.extra.slow.as_ref()?;
    let first = slow.first_cut_off.as_deref()?;
    Some(format!(
        "{}: {} of {} clients that read slowly were cut off, the first with: {first}",
        words::contestant(row),
        slow.cut_off,
        slow.clients
    ))
}

fn steps(plan: &Plan) -> Steps {
    match &plan.clients {
        Clients::Steps(steps) => (steps.first, steps.add),
        Clients::Search(search) => (search.first, 0),
    }
}

/// The steps of most rows; of two that are as frequent, the larger ones.
fn usual_steps(rows: &[&Row<'_>]) -> Option<Steps> {
    let all: Vec<Steps> = rows
        .iter()
        .filter_map(|row| row.runs().map(|run| steps(&run.plan)).next())
        .collect();
    let often = |wanted: &Steps| all.iter().filter(|other| *other == wanted).count();
    all.iter().copied().max_by_key(|one| (often(one), *one))
}

/// Everything that must be known of the repetitions besides the figures.
fn reasons(row: &Row<'_>) -> Vec<String> {
    let name = words::contestant(row);
    let several = row.repetitions.len() > 1;
    let mut reasons = Vec::new();
    for measurement in &row.repetitions {
        let which = if several {
            format!("{name}, repetition {}", measurement.repetition)
        } else {
            name.clone()
        };
        if measurement.status != Status::Ok {
            let status = measurement.status.name();
            let reason = measurement.reason.as_deref().unwrap_or("no reason given");
            reasons.push(format!("{which}: {status}: {reason}"));
        }
    }
    // That one planned number of clients was measured needs no note.
    let goes_up = row.plan().is_none_or(grows);
    let is_open = |carried: Carried| carried.clients().is_none() || (carried.at_least && goes_up);
    if row.status == Status::Ok && row.carried.is_none_or(is_open) {
        let ended: Vec<&str> = row.runs().map(|run| run.outcome.detail.as_str()).collect();
        reasons.extend(ended.first().map(|detail| (*detail).to_owned()));
    }
    if let Some(step) = row
        .at_carried()
        .filter(|step| step.passed < step.repetitions)
    {
        reasons.push(format!(
            "{name}: the figures at {} clients are those of {} repetitions together, {} of which \
             did not pass that step",
            figures::count(step.clients),
            step.repetitions,
            step.repetitions - step.passed
        ));
    }
    let faults = row
        .runs()
        .map(|run| run.faults())
        .reduce(|mut all, more| {
            all.merge(&more);
            all
        })
        .filter(|faults| !faults.is_empty());
    if let Some(faults) = faults {
        reasons.push(format!("{name}: faults while it was measured: {faults}"));
    }
    reasons
}

fn of_check(check: &CheckOutcome) -> String {
    let detail = check.detail.as_deref().unwrap_or("no reason given");
    format!(
        "check {} ({}) {}: {detail}",
        check.id,
        check.section,
        match check.verdict {
            CheckVerdict::Fail => "failed",
            _ => "waived",
        },
    )
}
