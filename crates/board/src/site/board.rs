//! The ranking of one workload and dialect on one machine, as the pages of the site show it.

use super::again::{self, Again};
use super::origin::Origin;
use crate::report::columns::Column;
use crate::report::notes::Note;
use crate::report::ranking::{self, Row, Score};
use crate::report::subject::Subject;
use crate::report::table::{Cell, Line, NOTHING, Table};
use crate::report::{figures, headline, words};
use crate::stats::{FEWEST_FOR_INTERVAL, Interval};
use plan::{Clients, Steps};
use project::contestant;
use record::{Measurement, Status};
use std::collections::BTreeSet;
use std::path::Path;

/// Columns of a ranking that a row of the board says elsewhere.
const SAID_ELSEWHERE: [&str; 8] = [
    "#", "server", "variant", "version", "runtime", "JSON", "clients", "status",
];
/// Stands in the place of rows that have none.
pub(super) const CEILING: &str = "ceiling";
/// The column that stands first among the others.
const FIRST: &str = "p95";

/// What rankings need to know of the project.
pub(super) struct Known<'a> {
    /// The folder of plans.
    pub(super) workloads: &'a Path,
    /// Names of the servers that are no contestants.
    pub(super) ceilings: BTreeSet<String>,
}

/// One workload and dialect on one machine.
pub(super) struct Ranking<'a> {
    pub(super) workload: String,
    pub(super) dialect: &'static str,
    /// The run that all of its figures are from.
    pub(super) origin: Origin,
    pub(super) title: String,
    pub(super) sentence: String,
    pub(super) ranked_by: Option<String>,
    pub(super) reason: Option<String>,
    /// What is ranked.
    pub(super) kind: Kind,
    pub(super) columns: Vec<Column>,
    pub(super) lines: Vec<Ranked>,
    /// Rows without a place that the others are held against.
    pub(super) ceilings: Vec<Ranked>,
    pub(super) notes: Vec<Note>,
    pub(super) remark: Option<&'static str>,
    pub(super) absent: Vec<String>,
    /// The command that measures them again, and how many of them.
    pub(super) again: Option<(Again, usize)>,
    /// The rows themselves, for curves: those of `lines`, then those of `ceilings`.
    pub(super) rows: Vec<Row<'a>>,
    /// `None` without any rows.
    about: Option<Subject<'a>>,
}

/// The kind of figure that rows are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Clients carried.
    Clients,
    /// The score alone.
    Score(Score),
}

impl Kind {
    fn new(subject: &Subject<'_>) -> Self {
        match subject.grows() {
            true => Self::Clients,
            false => Self::Score(subject.score),
        }
    }

    /// As the head of a column.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Clients => "clients carried",
            Self::Score(Score::Latency) => "limited latency",
            Self::Score(Score::Return) => "all back",
            Self::Score(Score::Memory) => "memory per connection",
            Self::Score(Score::Rate) => "requests a second",
            Self::Score(Score::Cost) => "cpu per message",
            Self::Score(Score::Loss) => "lost",
        }
    }
}

/// One row.
pub(super) struct Ranked {
    /// Server and variant, as the script names rows.
    pub(super) key: String,
    pub(super) server: String,
    pub(super) name: String,
    pub(super) language: String,
    pub(super) class: String,
    pub(super) version: String,
    /// The same with its year, where that is old.
    pub(super) dated_version: String,
    /// What runs or compiled it.
    pub(super) runtime: Option<String>,
    pub(super) place: Cell,
    pub(super) figure: Cell,
    /// The interval of the figure, and over how many repetitions.
    pub(super) interval: String,
    /// Length of its bar, in percent of the longest.
    pub(super) bar: u32,
    /// Its figure held against each ceiling.
    pub(super) shares: Vec<String>,
    pub(super) cells: Vec<Cell>,
    pub(super) status: Status,
    pub(super) notes: Vec<usize>,
    pub(super) again: Option<Again>,
}

/// Server and variant, as rows are named in links.
pub(super) fn key(server: &str, variant: &str) -> String {
    format!("{server}/{variant}")
}

impl<'a> Ranking<'a> {
    /// The ranking of rows in ranked order, with the rows of the same workload and dialect that they
    /// are held against.
    pub(super) fn new(
        rows: &[Row<'a>],
        ceilings: Vec<Row<'a>>,
        origin: &Origin,
        known: &Known<'_>,
    ) -> Self {
        let without_place = |row| Row { place: None, ..row };
        let ceilings: Vec<Row<'a>> = ceilings.into_iter().map(without_place).collect();
        let all: Vec<Row<'a>> = match rows.is_empty() {
            true => ceilings.clone(),
            false => rows.to_vec(),
        };
        let subject = Subject::new(&all);
        let table = Table::new(&all);
        let limits: Vec<Figure> = ceilings
            .iter()
            .map(|row| Figure::new(row, &subject))
            .collect();
        let applies = |row: &&Row<'_>| row.status != Status::NotApplicable;
        let applicable: Vec<&Row<'a>> = rows.iter().filter(applies).collect();
        let longest = applicable.iter().copied().chain(&ceilings);
        let longest = longest
            .filter_map(|row| figure(row, &subject))
            .filter(|figure| figure.is_finite())
            .fold(0.0, f64::max);
        let made = Made {
            subject: &subject,
            limits: &limits,
            longest,
            known,
        };
        let lines = match rows.is_empty() {
            true => Vec::new(),
            false => {
                let pairs = applicable.iter().zip(&table.lines);
                pairs
                    .map(|(row, line)| made.row(row, Some(line), &table.columns))
                    .collect()
            }
        };
        let above = (!ceilings.is_empty()).then(|| Table::new(&ceilings));
        let pairs = ceilings
            .iter()
            .zip(above.iter().flat_map(|table| &table.lines));
        let columns = above.as_ref().map_or(&[][..], |table| &table.columns);
        let ceiling_lines = pairs
            .map(|(row, line)| {
                let mut ranked = made.row(row, Some(line), columns);
                ranked.place = Cell::word(CEILING);
                ranked.notes.clear();
                ranked
            })
            .collect();
        let measured: Vec<&Row<'a>> = applicable.iter().copied().chain(&ceilings).collect();
        let again = alike(&measured).and_then(|rows| {
            let again = again::command(&rows, known.workloads)?;
            Some((again, rows.len()))
        });
        let shown: Vec<Row<'a>> = applicable
            .iter()
            .copied()
            .cloned()
            .chain(ceilings.clone())
            .collect();
        let first = &all[0];
        let (front, rest): (Vec<Column>, Vec<Column>) = table
            .columns
            .into_iter()
            .filter(|column| !SAID_ELSEWHERE.contains(&column.title.as_str()))
            .partition(|column| column.title == FIRST);
        Self {
            workload: first.workload_name().to_owned(),
            dialect: words::dialect(first.dialect()),
            origin: origin.clone(),
            title: words::capital(&headline::category(first)),
            sentence: match rows.is_empty() {
                true => "No contestant was measured.".to_owned(),
                false => headline::sentence(rows),
            },
            ranked_by: table.ranked_by,
            reason: subject.reason().map(str::to_owned),
            kind: Kind::new(&subject),
            columns: front.into_iter().chain(rest).collect(),
            lines,
            ceilings: ceiling_lines,
            notes: table.notes,
            remark: table.remark,
            absent: table.absent,
            again,
            about: (!shown.is_empty()).then(|| Subject::new(&shown)),
            rows: shown,
        }
    }

    /// What the ranking is about. It looks at every row, so that it is made once and not for each page.
    pub(super) fn subject(&self) -> Subject<'a> {
        self.about.expect("a ranking that is shown has rows")
    }
}

/// The rows that one command measures: those whose plan most of them have.
fn alike<'r, 'a>(rows: &[&'r Row<'a>]) -> Option<Vec<&'r Row<'a>>> {
    again::largest(rows, again::alike_by)
}

/// The figure that a row is ranked by: clients, or the score.
pub(super) fn figure(row: &Row<'_>, subject: &Subject<'_>) -> Option<f64> {
    match subject.grows() {
        true => row
            .carried
            .and_then(|carried| carried.clients())
            .map(|clients| clients as f64),
        false => row.figure(subject.score, subject.common),
    }
}

/// The figure that a row is ranked by, as exactly as it is known: clients carried to a step of the
/// plan, which where not even the first was carried are fewer than that. `None` where there is none,
/// and of a load that the server stopped answering, whose latency is that of the part it answered.
pub(super) fn bounds(row: &Row<'_>, subject: &Subject<'_>) -> Option<Interval> {
    let low = match (subject.grows(), row.status) {
        (true, _) => row.carried?.median as f64,
        (false, Status::Timeout) => return None,
        (false, _) => figure(row, subject)?,
    };
    let step = match (steps(row, subject), row.carried) {
        (Some(_), Some(carried)) if carried.clients().is_none() => carried.first_step as f64,
        (Some(steps), _) => f64::from(steps.add),
        (None, _) => 0.0,
    };
    Some(Interval {
        low,
        high: low + step,
    })
}

/// Whether a row has no figure because of what its server did under the load.
pub(super) const fn has_failed(row: &Row<'_>) -> bool {
    matches!(
        row.status,
        Status::Crashed | Status::Timeout | Status::Faulty
    )
}

/// The figures of this kind that lie in an interval, the smallest and the largest. Of clients carried,
/// those whose step meets it.
pub(super) fn within(interval: Interval, row: &Row<'_>, subject: &Subject<'_>) -> (f64, f64) {
    match steps(row, subject) {
        Some(steps) => meeting(interval, f64::from(steps.first), f64::from(steps.add)),
        None => (interval.low, interval.high),
    }
}

/// The counts of clients whose step meets an interval, ends included, the smallest and the largest.
fn meeting(interval: Interval, first: f64, add: f64) -> (f64, f64) {
    /// An end that is the quotient of two counts of clients may miss a step by its last bit.
    const LAST_BITS: f64 = 1e-9;
    let (low, high) = (
        interval.low * (1.0 - LAST_BITS),
        interval.high * (1.0 + LAST_BITS),
    );
    let smallest = match low <= first {
        true => 0.0,
        false => first + ((low - add - first) / add).ceil().max(0.0) * add,
    };
    let largest = first + ((high - first) / add).floor() * add;
    (smallest, largest.max(0.0))
}

/// The steps in which clients grow that a row is ranked by.
fn steps(row: &Row<'_>, subject: &Subject<'_>) -> Option<Steps> {
    match row.plan()?.clients {
        Clients::Steps(steps) if subject.grows() => Some(steps),
        _ => None,
    }
}

/// The figure that a row is ranked by, of each repetition that has one.
pub(super) fn figures_of_each(row: &Row<'_>, subject: &Subject<'_>) -> Vec<f64> {
    match subject.grows() {
        true => row.clients_of_each(),
        false => row.figures(subject.score, subject.common),
    }
}

/// The figure in words.
pub(super) fn figure_cell(row: &Row<'_>, subject: &Subject<'_>) -> Cell {
    match (subject.grows(), row.carried) {
        (true, None) => Cell::word(NOTHING),
        (true, Some(carried)) => Cell {
            text: words::carried(&carried),
            value: Some(carried.median.to_string()),
            range: None,
        },
        (false, _) => match figure(row, subject) {
            // Infinite is later than everything, and no number in a page.
            Some(never) if never.is_infinite() => Cell::word(subject.show(never)),
            figure => Cell::figure(figure, |figure| subject.show(*figure)),
        },
    }
}

/// A figure of the kind that rows are ranked by, in words.
pub(super) fn shown(figure: f64, subject: &Subject<'_>) -> String {
    match subject.grows() {
        true => figures::count(figure.round() as u64),
        false => subject.show(figure),
    }
}

/// The interval of the figure over the repetitions that have one, or their range, in words.
pub(super) fn interval(row: &Row<'_>, subject: &Subject<'_>) -> String {
    let shown = |value: f64| shown(value, subject);
    let interval = match subject.grows() {
        true => row.clients_interval(),
        false => row.figure_interval(subject.score, subject.common),
    };
    let repetitions = match subject.grows() {
        true => row.clients_of_each().len(),
        false => row.figures(subject.score, subject.common).len(),
    };
    let [low, high] = match interval {
        Some(Interval { low, high }) => [shown(low), shown(high)],
        None if repetitions == 0 => return NOTHING.to_owned(),
        None => return "one repetition: no interval".to_owned(),
    };
    let kind = match repetitions < FEWEST_FOR_INTERVAL {
        true => "range",
        false => "95 %",
    };
    format!("{low} to {high}, {kind} of {repetitions} repetitions")
}

/// What rows are made with.
struct Made<'m> {
    subject: &'m Subject<'m>,
    limits: &'m [Figure],
    longest: f64,
    known: &'m Known<'m>,
}

impl Made<'_> {
    fn row(&self, row: &Row<'_>, line: Option<&Line>, columns: &[Column]) -> Ranked {
        let server = row.server();
        let figure = figure(row, self.subject);
        let (front, rest): (Vec<_>, Vec<_>) = line
            .into_iter()
            .flat_map(|line| columns.iter().zip(&line.cells))
            .filter(|(column, _)| !SAID_ELSEWHERE.contains(&column.title.as_str()))
            .partition(|(column, _)| column.title == FIRST);
        // The page has the interval of the ranked figure; a second one would hide it on a small screen.
        let front = front.into_iter().map(|(_, cell)| {
            let figure = cell.text.split(" (").next().unwrap_or_default();
            Cell {
                text: figure.to_owned(),
                ..cell.clone()
            }
        });
        let cells = front.chain(rest.into_iter().map(|(_, cell)| cell.clone()));
        Ranked {
            key: key(&server.name, &server.variant),
            server: server.name.clone(),
            name: contestant(&server.name, &server.variant),
            language: server.language.clone(),
            class: server.class.clone(),
            version: server
                .library_version
                .clone()
                .unwrap_or_else(|| NOTHING.to_owned()),
            dated_version: words::version(row).unwrap_or_else(|| NOTHING.to_owned()),
            runtime: server.runtime.clone(),
            place: match row.place {
                Some(place) => Cell {
                    text: place.to_string(),
                    value: Some(place.best.to_string()),
                    range: None,
                },
                None => Cell::word(NOTHING),
            },
            figure: figure_cell(row, self.subject),
            interval: interval(row, self.subject),
            bar: figure
                .filter(|figure| figure.is_finite() && self.longest > 0.0)
                .map_or(0, |figure| {
                    (figure.max(0.0) / self.longest * 100.0).round() as u32
                }),
            shares: self
                .limits
                .iter()
                .map(|limit| {
                    share(
                        Figure::new(row, self.subject),
                        *limit,
                        self.is_higher_better(),
                    )
                })
                .collect(),
            cells: cells.collect(),
            status: row.status,
            notes: line.map(|line| line.notes.clone()).unwrap_or_default(),
            again: again::command(&[row], self.known.workloads),
        }
    }

    fn is_higher_better(&self) -> bool {
        self.subject.grows() || self.subject.score.is_higher_better()
    }
}

/// What a row is ranked by, and whether that is the least that it can be.
#[derive(Clone, Copy)]
struct Figure {
    value: Option<f64>,
    is_lower_bound: bool,
}

impl Figure {
    /// The latency of a load that was not carried is that of the part of it that was: no share of it is
    /// told.
    fn new(row: &Row<'_>, subject: &Subject<'_>) -> Self {
        let is_told = subject.grows() || row.status != Status::Timeout;
        Self {
            value: figure(row, subject).filter(|_| is_told),
            is_lower_bound: subject.grows() && row.is_lower_bound(),
        }
    }
}

/// A figure held against that of a ceiling: of more is better a share, of less is better a multiple.
/// Of two that are the least that they can be nothing is known.
fn share(figure: Figure, limit: Figure, is_higher_better: bool) -> String {
    let bound = match (figure.is_lower_bound, limit.is_lower_bound) {
        (false, false) => "",
        (true, false) => "≥ ",
        (false, true) => "≤ ",
        (true, true) => return NOTHING.to_owned(),
    };
    match figure.value.zip(limit.value) {
        Some((figure, limit)) if figure.is_finite() && limit.is_finite() && limit > 0.0 => {
            match is_higher_better {
                true => format!("{bound}{}", figures::share(figure / limit)),
                false => format!("{bound}{:.2}×", figure / limit),
            }
        }
        _ => NOTHING.to_owned(),
    }
}

/// The rankings of the measurements of one run on one machine, workload by workload.
pub(super) fn rankings<'a>(
    contestants: &'a [Measurement],
    ceilings: &'a [Measurement],
    origin: &Origin,
    known: &Known<'_>,
) -> Vec<Ranking<'a>> {
    let rows = ranking::rank(contestants);
    let mut above = ranking::rank(ceilings);
    let applies = |row: &Row<'_>| row.status != Status::NotApplicable;
    above.retain(applies);
    let mut all: Vec<Ranking<'a>> = rows
        .chunk_by(crate::report::same_category)
        .filter(|rows| rows.iter().any(applies))
        .map(|rows| {
            let of_it = |row: &Row<'_>| crate::report::same_category(row, &rows[0]);
            let (of_it, others) = std::mem::take(&mut above).into_iter().partition(of_it);
            above = others;
            Ranking::new(rows, of_it, origin, known)
        })
        .collect();
    all.extend(
        above
            .chunk_by(crate::report::same_category)
            .map(|rows| Ranking::new(&[], rows.to_vec(), origin, known)),
    );
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Prediction;

    /// Whatever two counts make the factor, each of them lies where the other says.
    #[test]
    fn counts_that_are_as_far_apart_as_the_factor_are_within_it() {
        let (first, add) = (200.0, 400.0);
        let step = |index: u32| {
            let low = f64::from(index).mul_add(add, first);
            let high = low + add;
            Interval { low, high }
        };
        for one in 0..40 {
            for other in 0..40 {
                let prediction = Prediction::new([(step(one), step(other)); 19]).unwrap();
                let (smallest, largest) = meeting(prediction.interval(step(one)), first, add);
                let other = step(other).low;
                let is_in = smallest <= other && other <= largest;
                assert!(is_in, "{one} {other}: {smallest} to {largest}");
            }
        }
    }
}
