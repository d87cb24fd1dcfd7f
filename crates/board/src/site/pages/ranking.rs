//! A ranking as a table of a page.

use super::{Ranked as OnMachine, Site};
use crate::report::markdown::is_web_address;
use crate::report::notes::Note;
use crate::report::table::NOTHING;
use crate::site::again::Again;
use crate::site::board::{Ranked, Ranking};
use crate::site::repeats::{Expected, Outlook};
use plan::Workload;

/// What the template shows of a ranking.
pub(super) struct View {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) sentence: String,
    pub(super) ranked_by: Option<String>,
    pub(super) remark: Option<&'static str>,
    pub(super) caption: String,
    /// What the generator can do at most.
    pub(super) generator: Option<String>,
    pub(super) heads: Vec<Head>,
    pub(super) rows: Vec<Line>,
    /// Rows that the one command does not measure.
    pub(super) rows_left_out: usize,
    pub(super) notes: Vec<Note>,
    pub(super) absent: Vec<String>,
    pub(super) again: Option<Again>,
    /// How far a figure moves that is measured again.
    pub(super) moves: String,
}

/// A column.
pub(super) struct Head {
    pub(super) title: String,
    pub(super) meaning: String,
    pub(super) numeric: bool,
}

/// A row.
pub(super) struct Line {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) href: String,
    pub(super) language: String,
    pub(super) class: String,
    pub(super) is_ceiling: bool,
    pub(super) cells: Vec<Cell>,
    pub(super) notes: Vec<usize>,
    pub(super) figure: String,
    pub(super) interval: String,
    /// Where it is to lie when it is measured again, here and on another machine, in words.
    pub(super) expected: Vec<String>,
    pub(super) again: Option<Again>,
}

/// A cell.
#[derive(Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) value: Option<String>,
    pub(super) classes: &'static str,
    pub(super) bar: Option<u32>,
    pub(super) is_head: bool,
    pub(super) is_status: bool,
}

impl Cell {
    fn number(text: impl Into<String>, value: Option<String>) -> Self {
        Self {
            text: text.into(),
            value,
            classes: "number",
            ..Self::default()
        }
    }

    fn word(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// The view of a ranking; `index` tells it from the others of its page.
pub(super) fn view(
    site: &Site<'_>,
    machine: &OnMachine<'_>,
    ranking: &Ranking<'_>,
    index: usize,
    root: &str,
) -> View {
    let expected = machine.expected(site, ranking);
    let subject = ranking.subject();
    let (contestants, ceilings) = ranking.rows.split_at(ranking.lines.len());
    let ceilings = ranking.ceilings.iter().zip(ceilings);
    let contestants = ranking.lines.iter().zip(contestants);
    let all = ceilings
        .map(|(ranked, row)| (ranked, row, true))
        .chain(contestants.map(|(ranked, row)| (ranked, row, false)));
    let rows: Vec<Line> = all
        .map(|(ranked, row, is_ceiling)| {
            let place = expected
                .as_ref()
                .and_then(|expected| expected.place(row, &subject));
            let elsewhere = expected
                .as_ref()
                .filter(|expected| expected.is_of_this_machine())
                .and_then(|expected| expected.elsewhere(row, &subject))
                .map(Outlook::AnotherMachine);
            let words = place.iter().chain(&elsewhere).map(Outlook::words).collect();
            let interval = expected
                .as_ref()
                .map(|_| place.map_or_else(|| NOTHING.to_owned(), Outlook::interval));
            Line {
                key: ranked.key.clone(),
                name: ranked.name.clone(),
                href: site.server_href(&ranked.server, root),
                language: ranked.language.clone(),
                class: ranked.class.clone(),
                is_ceiling,
                cells: cells(ranked, interval.as_deref(), ranking),
                notes: ranked.notes.clone(),
                figure: ranked.figure.text.clone(),
                interval: ranked.interval.clone(),
                expected: words,
                again: ranked.again.clone(),
            }
        })
        .collect();
    let measured = ranking.again.as_ref().map_or(0, |(_, rows)| *rows);
    let notes = ranking.notes.iter().cloned().map(|mut note| {
        note.link = note.link.filter(|link| is_web_address(link));
        note
    });
    View {
        id: format!("r{index}"),
        title: ranking.title.clone(),
        sentence: ranking.sentence.clone(),
        ranked_by: ranking.ranked_by.clone(),
        remark: ranking.remark,
        caption: match ranking.lines.len() {
            1 => format!("1 row of {}", ranking.origin),
            several => format!("{several} rows, all of {}", ranking.origin),
        },
        generator: generator(ranking),
        heads: heads(ranking, expected.as_ref()),
        rows_left_out: rows.len().saturating_sub(measured),
        rows,
        notes: notes.collect(),
        absent: ranking.absent.clone(),
        again: ranking.again.as_ref().map(|(again, _)| again.clone()),
        moves: match &expected {
            Some(expected) => expected.words(),
            None => format!(
                "The interval is that of repetitions in one run. How far a figure of this kind ({}) \
                 moves in another run has not been measured yet.",
                ranking.kind.words()
            ),
        },
    }
}

/// What the generator can do at most; nothing where no messages are sent.
fn generator(ranking: &Ranking<'_>) -> Option<String> {
    let workload = ranking.rows.first()?.workload();
    let said = ranking.origin.generator.clone();
    said.filter(|_| workload != Workload::Connect)
}

fn heads(ranking: &Ranking<'_>, expected: Option<&Expected>) -> Vec<Head> {
    let head = |title: &str, meaning: &str, numeric| Head {
        title: title.to_owned(),
        meaning: meaning.to_owned(),
        numeric,
    };
    let mut heads = vec![
        head(
            "#",
            "Place; a range where the repetitions do not tell rows apart.",
            true,
        ),
        head("server", "Server and variant.", false),
        head(
            ranking.kind.words(),
            ranking.ranked_by.as_deref().unwrap_or("What is ranked."),
            true,
        ),
    ];
    let columns = || {
        ranking
            .columns
            .iter()
            .map(|c| head(&c.title, &c.meaning, c.numeric))
    };
    heads.extend(columns().take(1));
    heads.push(head(
        "interval",
        "Interval of the ranked figure over the repetitions of this run: 95 % of the median where \
         there are 6 or more, else their range.",
        false,
    ));
    heads.extend(expected.map(|expected| match expected.is_of_this_machine() {
        true => head(
            "another run",
            "Where the ranked figure is to lie when its command is run again, on a machine like this.",
            false,
        ),
        false => head(
            "another machine",
            "Where the ranked figure is to lie when its command is run on another machine.",
            false,
        ),
    }));
    heads.extend(ranking.ceilings.iter().map(|ceiling| {
        head(
            &format!("of {}", ceiling.name),
            "The ranked figure as a share of that row's, or as a multiple where less is better.",
            true,
        )
    }));
    heads.extend(columns().skip(1));
    heads.extend([
        head(
            "version",
            "Version of the library, as the built server prints it.",
            false,
        ),
        head("language", "Programming language.", false),
        head(
            "class",
            "Idiomatic: as the library's documentation shows. Tuned: beyond it.",
            false,
        ),
        head(
            "status",
            "Whether there is a result, and if not, why.",
            false,
        ),
    ]);
    heads
}

fn cells(ranked: &Ranked, expected: Option<&str>, ranking: &Ranking<'_>) -> Vec<Cell> {
    let mut cells = vec![
        Cell::number(&ranked.place.text, ranked.place.value.clone()),
        Cell {
            text: ranked.name.clone(),
            is_head: true,
            ..Cell::default()
        },
        Cell {
            bar: Some(ranked.bar),
            classes: "number figure",
            ..Cell::number(&ranked.figure.text, ranked.figure.value.clone())
        },
    ];
    let mut others = ranking
        .columns
        .iter()
        .zip(&ranked.cells)
        .map(|(column, cell)| Cell {
            classes: if column.numeric { "number" } else { "" },
            ..Cell::number(&cell.text, cell.value.clone())
        });
    cells.extend(others.next());
    cells.push(Cell::word(&ranked.interval));
    cells.extend(expected.map(Cell::word));
    cells.extend(ranked.shares.iter().map(|share| {
        let value: String = share
            .chars()
            .filter(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        Cell::number(share, (!value.is_empty()).then_some(value))
    }));
    cells.extend(others);
    cells.extend([
        Cell::word(&ranked.dated_version),
        Cell::word(&ranked.language),
        Cell::word(&ranked.class),
        Cell {
            is_status: true,
            ..Cell::word(ranked.status.name())
        },
    ]);
    cells
}
