//! Findings in words.

use super::finding::{Comparison, FigureFinding, Finding, Overall, RowFinding, Unit};
use crate::report::measure_name;
use crate::report::{figures, words};
use crate::terminal::{aligned, one_line};
use std::fmt::Write as _;

/// The whole comparison for a terminal.
pub fn comparison(of: &Comparison) -> String {
    let mut text = format!("A: {}\nB: {}\n", one_line(&of.a.name), one_line(&of.b.name));
    for row in of.rows.iter().filter(|row| !row.absent) {
        text.push('\n');
        text.push_str(&self::row(row, of.tolerance));
    }
    let absent = of.rows.iter().filter(|row| row.absent).count();
    if absent > 0 {
        let _ = writeln!(text, "\n{absent} rows have no result on either side.");
    }
    let _ = write!(text, "\n{}\n{}\n", rule(of), verdict(of));
    text
}

fn row(row: &RowFinding, tolerance: f64) -> String {
    let mut text = String::new();
    if !row.name.is_empty() {
        let _ = write!(text, "{}, ", one_line(&row.name));
    }
    let _ = write!(
        text,
        "{} over {}",
        one_line(&row.workload_name),
        words::dialect(row.dialect)
    );
    if let Some(problem) = &row.problem {
        let _ = writeln!(text, "\n  not comparable: {}", one_line(problem));
        return text;
    }
    let (a, b) = row.repetitions;
    let _ = write!(text, ", {a} and {b} repetitions");
    if let (Some(measure), Some(clients)) = (row.measure, row.clients) {
        let measure = measure_name(measure);
        let _ = write!(text, ", {measure} at {} clients", figures::count(clients));
    }
    if let Some(rate) = row.rate {
        let _ = write!(text, " and {rate} requests per second");
    }
    text.push('\n');
    let mut grid = vec![["", "A", "B", "B/A", "95 % interval", "p", ""].map(str::to_owned)];
    grid.extend(row.figures.iter().map(|figure| line(figure, tolerance)));
    for line in aligned(&grid, |column| !matches!(column, 0 | 6)) {
        let _ = writeln!(text, "  {line}");
    }
    for remark in &row.remarks {
        let _ = writeln!(text, "  mind: {}", one_line(remark));
    }
    text
}

fn line(of: &FigureFinding, tolerance: f64) -> [String; 7] {
    let median = |value: Option<f64>| match (value, of.unit) {
        (None, _) => "–".to_owned(),
        (Some(value), Unit::Ns) => figures::time(value),
        (Some(value), Unit::Clients) => figures::count(value as u64),
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    [
        of.figure.clone(),
        median(of.median_a),
        median(of.median_b),
        or_dash(of.ratio.map(multiple)),
        or_dash(
            of.interval
                .map(|interval| format!("{}–{}", multiple(interval.low), multiple(interval.high))),
        ),
        or_dash(of.p_corrected.or(of.p).map(probability)),
        finding(of, tolerance),
    ]
}

/// What a figure shows, as a clause.
pub fn finding(of: &FigureFinding, tolerance: f64) -> String {
    let note = of.note.as_deref().unwrap_or_default();
    match (of.finding, of.ratio, of.interval) {
        (Finding::NoDifference, ..) => "no difference shown".to_owned(),
        (Finding::Worse | Finding::Better, Some(ratio), Some(interval)) => {
            let (near, far) = if ratio > 1.0 {
                (interval.low - 1.0, interval.high - 1.0)
            } else {
                (1.0 - interval.high, 1.0 - interval.low)
            };
            let change = percent((ratio - 1.0).abs());
            let what = match (of.unit, ratio > 1.0) {
                (Unit::Ns, true) => format!("B is {change} % slower"),
                (Unit::Ns, false) => format!("B takes {change} % less time"),
                (Unit::Clients, true) => format!("B carries {change} % more clients"),
                (Unit::Clients, false) => format!("B carries {change} % fewer clients"),
            };
            let (near, far) = (percent(near), percent(far));
            let within = if of.finding == Finding::Worse && !of.regression {
                format!(
                    ", not shown to be beyond the tolerance of {} %",
                    percent(tolerance)
                )
            } else {
                String::new()
            };
            format!("{what} (95 % interval {near} to {far} %){within}")
        }
        (Finding::TooFew, ..) => format!("nothing to say: {note}"),
        _ => format!("left out: {note}"),
    }
}

fn rule(of: &Comparison) -> String {
    let corrected = match of.comparisons {
        0 | 1 => String::new(),
        several => format!(", Holm's correction for {several} comparisons"),
    };
    format!(
        "Each repetition gives one figure; shown are the medians of the sides. Interval: percentile \
         bootstrap,\n{} resamples, seed {}. p: Mann-Whitney U, two-sided{corrected}.\nA difference is \
         shown when p is at most {} and the interval excludes 1.",
        figures::count(of.resampling.resamples.into()),
        of.resampling.seed,
        of.alpha
    )
}

/// The verdict in a sentence.
pub fn verdict(of: &Comparison) -> String {
    match of.verdict {
        Overall::Regression => {
            let worse = of
                .rows
                .iter()
                .flat_map(|row| row.figures.iter().map(move |figure| (row, figure)))
                .filter(|(_, figure)| figure.regression)
                .map(|(row, figure)| match row.name.as_str() {
                    "" => figure.figure.clone(),
                    name => format!("{} {}", one_line(name), figure.figure),
                });
            format!("Regression: {}.", worse.collect::<Vec<_>>().join(", "))
        }
        Overall::NotComparable => {
            "Not comparable: nothing is shown to be worse, but see above what could not be \
             compared, and why."
                .to_owned()
        }
        Overall::NoRegression => {
            let quiet =
                of.rows.iter().flat_map(|row| &row.figures).all(|figure| {
                    matches!(figure.finding, Finding::NoDifference | Finding::LeftOut)
                });
            if quiet {
                "No difference shown.".to_owned()
            } else {
                "No regression shown.".to_owned()
            }
        }
    }
}

fn multiple(ratio: f64) -> String {
    if ratio.is_infinite() {
        return "∞".to_owned();
    }
    let decimals = if ratio < 2.0 { 3 } else { 2 };
    format!("{ratio:.decimals$}")
}

fn probability(p: f64) -> String {
    match p {
        p if p < 0.0001 => "<0.0001".to_owned(),
        p if p < 0.1 => format!("{p:.4}"),
        p => format!("{p:.2}"),
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = usize::from(percent.abs() < 9.95);
    format!("{percent:.decimals$}")
}
