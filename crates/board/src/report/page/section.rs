//! One workload and dialect: ranking tables and charts.

use super::super::over_time::OverTime;
use super::super::ranking::{Row, Score};
use super::super::subject::Subject;
use super::super::table::Table;
use super::super::{ReportError, failures, headline, words};
use super::Entry;
use super::chart::{Bars, Curve, Figure, Percentile, Style, bars, curves, time};

/// What the template shows of one workload and dialect.
pub(super) struct Section {
    pub(super) id: String,
    pub(super) title: String,
    /// Why the workload exists.
    pub(super) reason: Option<String>,
    /// One for each run.
    pub(super) tables: Vec<Ranking>,
    /// Rows that have curves.
    pub(super) legend: Vec<Key>,
    /// Charts, rendered.
    pub(super) figures: Vec<Figure>,
}

/// The ranking of one run.
pub(super) struct Ranking {
    pub(super) id: String,
    pub(super) run: String,
    pub(super) sentence: String,
    pub(super) table: Table,
}

/// An entry of the legend.
pub(super) struct Key {
    pub(super) series: usize,
    pub(super) label: String,
    /// A short piece of the line, rendered.
    pub(super) sample: String,
}

/// Contestants and runs in the order of their first curve, so that each looks the same all over
/// the page.
pub(super) struct Styles<'a> {
    contestants: Vec<String>,
    runs: Vec<&'a str>,
}

impl<'a> Styles<'a> {
    pub(super) fn new(entries: &[Entry<'a>]) -> Self {
        let (mut contestants, mut runs) = (Vec::new(), Vec::new());
        for entry in entries.iter().filter(|entry| !entry.row.steps.is_empty()) {
            let name = words::contestant(&entry.row);
            if !contestants.contains(&name) {
                contestants.push(name);
            }
            if !runs.contains(&entry.run) {
                runs.push(entry.run);
            }
        }
        Self { contestants, runs }
    }

    fn style(&self, entry: &Entry<'_>) -> Style {
        let name = words::contestant(&entry.row);
        let contestant = self.contestants.iter().position(|known| *known == name);
        let run = self.runs.iter().position(|known| *known == entry.run);
        Style {
            contestant: contestant.unwrap_or_default(),
            run: run.unwrap_or_default(),
        }
    }
}

impl Section {
    pub(super) fn new(
        index: usize,
        entries: &[&Entry<'_>],
        styles: &Styles<'_>,
        several: bool,
    ) -> Result<Self, ReportError> {
        let id = format!("s{index}");
        let title = words::capital(&headline::category(&entries[0].row));
        let tables = entries
            .chunk_by(|a, b| a.run == b.run)
            .enumerate()
            .map(|(run, entries)| ranking(format!("{id}r{run}"), entries))
            .collect();
        let labelled: Vec<(Style, String, &Row<'_>)> = entries
            .iter()
            .filter(|entry| !entry.row.steps.is_empty())
            .map(|entry| (styles.style(entry), label(entry, several), &entry.row))
            .collect();
        let drawn: Vec<Curve<'_>> = labelled
            .iter()
            .enumerate()
            .map(|(series, (style, label, row))| Curve {
                series,
                style: *style,
                label,
                row,
            })
            .collect();
        let legend = drawn
            .iter()
            .map(|curve| {
                Ok(Key {
                    series: curve.series,
                    label: curve.label.to_owned(),
                    sample: curves::sample(curve.style)?,
                })
            })
            .collect::<Result<_, ReportError>>()?;
        let rows: Vec<Row<'_>> = entries.iter().map(|entry| entry.row.clone()).collect();
        let subject = Subject::new(&rows);
        let mut figures = match subject.grows() {
            true => vec![
                curves::figure(&drawn, Percentile::P95)?,
                curves::figure(&drawn, Percentile::P50)?,
            ],
            false => vec![bars::figure(&drawn, Bars::Score, &subject, &id)?],
        };
        match subject.score {
            // Processes ended meanwhile, and their use with them.
            Score::Loss => figures.extend(drawn.iter().map(over_a_fault)),
            _ => {
                for bars in [Bars::Memory, Bars::Cpu] {
                    figures.push(bars::figure(&drawn, bars, &subject, &id)?);
                }
            }
        }
        for of in [OverTime::Memory, OverTime::Cpu] {
            figures.push(time::figure(&drawn, of)?);
        }
        Ok(Self {
            id,
            title,
            reason: subject.reason().map(str::to_owned),
            tables,
            legend,
            figures: figures.into_iter().flatten().collect(),
        })
    }
}

/// What became of the messages of a row while parts of its server failed.
fn over_a_fault(curve: &Curve<'_>) -> Option<Figure> {
    let chart = failures::chart(curve.row)?;
    let caption = std::iter::once(format!("{}:", curve.label));
    let caption: Vec<String> = caption.chain(failures::sentences(curve.row)).collect();
    Some(Figure {
        caption: caption.join(" "),
        svg: chart.to_string(),
    })
}

fn ranking(id: String, entries: &[&Entry<'_>]) -> Ranking {
    let rows: Vec<Row<'_>> = entries.iter().map(|entry| entry.row.clone()).collect();
    Ranking {
        id,
        run: entries[0].run.to_owned(),
        sentence: headline::sentence(&rows),
        table: Table::new(&rows),
    }
}

fn label(entry: &Entry<'_>, several: bool) -> String {
    let name = words::contestant(&entry.row);
    let status = match entry.row.status {
        record::Status::Ok => String::new(),
        other => format!(" ({})", other.name()),
    };
    if several {
        format!("{name}{status} · {}", entry.run)
    } else {
        format!("{name}{status}")
    }
}
