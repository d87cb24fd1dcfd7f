//! From figures to findings.

use super::figure::Figure;
use super::finding::{
    COMPARISON_FORMAT, Comparison, FigureFinding, Finding, Overall, RowFinding, SideName, Unit,
};
use super::pair::{self, Common, Pair};
use super::side::{Contestant, Side};
use crate::report::ranking::carried_by;
use crate::stats::{self, ALPHA, Median, Resampling};
use record::{Recorder, VERSION};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The figures that are compared.
    pub figures: Vec<Figure>,
    /// Share by which the second side may be worse without being a regression.
    pub tolerance: f64,
    /// How intervals are made.
    pub resampling: Resampling,
}

/// Compares the rows of two sides.
pub fn compare(a: &Side, b: &Side, question: &Question) -> Comparison {
    let mut rows: Vec<RowFinding> = pair::pairs(a, b)
        .into_iter()
        .map(|pair| row(pair, question))
        .collect();
    let comparisons = correct(&mut rows);
    for figure in rows.iter_mut().flat_map(|row| &mut row.figures) {
        conclude(figure, question.tolerance);
    }
    let side = |side: &Side| SideName {
        name: side.name.clone(),
        left_out: side.left_out.clone(),
    };
    Comparison {
        format: COMPARISON_FORMAT,
        version: VERSION,
        a: side(a),
        b: side(b),
        alpha: ALPHA,
        tolerance: question.tolerance,
        resampling: question.resampling,
        comparisons,
        verdict: verdict(&rows),
        rows,
    }
}

fn verdict(rows: &[RowFinding]) -> Overall {
    let present = || rows.iter().filter(|row| !row.absent);
    let figures = || present().flat_map(|row| &row.figures);
    if figures().any(|figure| figure.regression) {
        return Overall::Regression;
    }
    let too_few = figures().any(|figure| figure.finding == Finding::TooFew);
    let nothing = |row: &RowFinding| {
        let latencies = row.figures.iter().any(|figure| figure.unit == Unit::Ns);
        row.problem.is_some()
            || (latencies && row.clients.is_none())
            || row
                .figures
                .iter()
                .all(|figure| figure.finding == Finding::LeftOut)
    };
    if too_few || present().next().is_none() || present().any(nothing) {
        return Overall::NotComparable;
    }
    Overall::NoRegression
}

fn row((a, b): Pair<'_>, question: &Question) -> RowFinding {
    let known = a.or(b).expect("a pair has at least one row");
    let name = match (a, b) {
        (Some(a), Some(b)) if a.server != b.server => {
            let names = [a, b].map(Contestant::name);
            names
                .into_iter()
                .filter(|name| !name.is_empty())
                .collect::<Vec<_>>()
                .join(" against ")
        }
        _ => known.name(),
    };
    let count = |row: Option<&Contestant>| row.map_or(0, |row| row.invocations.len());
    let mut found = RowFinding {
        name,
        workload: known.workload,
        workload_name: known.workload_name.clone(),
        dialect: known.dialect,
        measure: None,
        clients: None,
        rate: None,
        repetitions: (count(a), count(b)),
        figures: Vec::new(),
        problem: None,
        absent: found_nothing(a) && found_nothing(b),
        remarks: Vec::new(),
    };
    let (Some(a), Some(b)) = (a, b) else {
        let side = if a.is_some() { "A" } else { "B" };
        found.problem = Some(format!("only {side} has this row"));
        return found;
    };
    found.problem = pair::problem(a, b);
    if found.problem.is_some() {
        return found;
    }
    found.remarks = pair::remarks(a, b);
    found.measure = Some(a.invocations[0].run.plan.limits.of);
    let common = pair::common(a, b);
    if common.is_none() {
        found.remarks.push(
            "there is no number of clients that every repetition of both sides was measured with \
             completely, without a fault, and without a sign that the generator was the limit"
                .into(),
        );
    }
    if let Some(common) = &common {
        found.clients = Some(common.load.0);
        found.rate = Some(f64::from_bits(common.load.1)).filter(|rate| *rate > 0.0);
    }
    found.figures = question
        .figures
        .iter()
        .map(|figure| match figure {
            Figure::Clients => clients(a, b, question.resampling),
            Figure::Percentile(of) => {
                percentile(*figure, *of, common.as_ref(), question.resampling)
            }
        })
        .collect();
    found
}

fn found_nothing(row: Option<&Contestant>) -> bool {
    row.is_none_or(|row| row.invocations.is_empty())
}

fn percentile(
    figure: Figure,
    percentile: f64,
    common: Option<&Common>,
    how: Resampling,
) -> FigureFinding {
    let Some(Common { a, b, .. }) = common else {
        return left_out(figure, Unit::Ns, "no number of clients in common".into());
    };
    let fewest = a.iter().chain(b).map(Recorder::count).min();
    let (fewest, needed) = (fewest.unwrap_or_default(), figure.samples_needed());
    if fewest < needed {
        let why = format!("it takes {needed} samples in each repetition; the fewest are {fewest}");
        return left_out(figure, Unit::Ns, why);
    }
    let of = |side: &[Recorder]| -> Vec<f64> {
        let values = side.iter().map(|one| one.percentile(percentile) as f64);
        values.collect()
    };
    tested(figure, Unit::Ns, of(a), of(b), how)
}

fn clients(a: &Contestant, b: &Contestant, how: Resampling) -> FigureFinding {
    let of = |row: &Contestant| -> Option<(Vec<f64>, bool)> {
        let found = row.invocations.iter();
        let found = found.map(|at| carried_by(at.status, &at.run));
        let found = found.collect::<Option<Vec<(u64, bool)>>>()?;
        let at_least = found.iter().any(|(_, at_least)| *at_least);
        Some((
            found.iter().map(|(clients, _)| *clients as f64).collect(),
            at_least,
        ))
    };
    let figure = Figure::Clients;
    let (Some((one, a_more)), Some((other, b_more))) = (of(a), of(b)) else {
        let why = "some repetition was ended by something other than the server at its first step";
        return left_out(figure, Unit::Clients, why.into());
    };
    if a_more && b_more {
        let why = "on both sides something other than the server ended a repetition";
        return FigureFinding {
            median_a: Median::Measured.of(&one),
            median_b: Median::Measured.of(&other),
            a: one,
            b: other,
            ..left_out(figure, Unit::Clients, why.into())
        };
    }
    let mut found = tested(figure, Unit::Clients, one, other, how);
    // A side that might carry more clients cannot be shown to carry fewer.
    let unsafe_side = match found.ratio {
        Some(ratio) if ratio > 1.0 => a_more,
        Some(ratio) if ratio < 1.0 => b_more,
        _ => false,
    };
    if unsafe_side {
        found.finding = Finding::LeftOut;
        found.p = None;
        found.note = Some(
            "the side that carried fewer was ended by something other than the server, and might \
             carry more"
                .into(),
        );
    }
    found
}

fn left_out(figure: Figure, unit: Unit, why: String) -> FigureFinding {
    FigureFinding {
        figure: figure.to_string(),
        unit,
        a: Vec::new(),
        b: Vec::new(),
        median_a: None,
        median_b: None,
        ratio: None,
        interval: None,
        u: None,
        p: None,
        p_corrected: None,
        finding: Finding::LeftOut,
        regression: false,
        note: Some(why),
    }
}

fn tested(figure: Figure, unit: Unit, a: Vec<f64>, b: Vec<f64>, how: Resampling) -> FigureFinding {
    let which = match unit {
        Unit::Clients => Median::Measured,
        Unit::Ns => Median::Usual,
    };
    let (median_a, median_b) = (which.of(&a), which.of(&b));
    let ratio = median_a.zip(median_b).map(|(a, b)| stats::ratio(a, b));
    let mut found = FigureFinding {
        median_a,
        median_b,
        ratio,
        finding: Finding::NoDifference,
        note: None,
        ..left_out(figure, unit, String::new())
    };
    if stats::enough(a.len(), b.len()) {
        let test = stats::rank_test(&a, &b);
        found.interval = stats::ratio_interval(&a, &b, which, how);
        found.u = Some(test.u);
        found.p = Some(test.p);
    } else {
        found.finding = Finding::TooFew;
        found.note = Some(too_few(a.len(), b.len()));
    }
    (found.a, found.b) = (a, b);
    found
}

fn too_few(a: usize, b: usize) -> String {
    if a.max(b) == 1 {
        return "one repetition a side: nothing can be said about noise".into();
    }
    format!(
        "{a} and {b} repetitions cannot show a difference: it takes {} a side",
        stats::repetitions_for(1)
    )
}

/// Corrects the p values of all rows together, and says how many there are. A figure whose ties
/// allow no p of five percent cannot be called different, and does not count.
fn correct(rows: &mut [RowFinding]) -> usize {
    let mut family: Vec<&mut FigureFinding> = rows
        .iter_mut()
        .flat_map(|row| &mut row.figures)
        .filter(|found| found.p.is_some())
        .filter(|found| stats::rank_test(&found.a, &found.b).smallest_p <= ALPHA)
        .collect();
    let size = family.len();
    let hopeless = family
        .iter()
        .all(|found| stats::smallest_p(found.a.len(), found.b.len()) * size as f64 > ALPHA);
    if hopeless {
        for found in family {
            found.finding = Finding::TooFew;
            found.note = Some(format!(
                "{} and {} repetitions cannot show a difference among {size} comparisons: it takes \
                 {} a side, or fewer figures (--figures)",
                found.a.len(),
                found.b.len(),
                stats::repetitions_for(size)
            ));
        }
        return size;
    }
    let p: Vec<f64> = family.iter().filter_map(|found| found.p).collect();
    for (found, corrected) in family.iter_mut().zip(stats::holm(&p)) {
        found.p_corrected = Some(corrected);
    }
    size
}

fn conclude(found: &mut FigureFinding, tolerance: f64) {
    let (Some(p), Some(interval), Some(ratio)) = (found.p_corrected, found.interval, found.ratio)
    else {
        return;
    };
    if p > ALPHA || interval.holds(1.0) {
        return;
    }
    let (worse, regression) = match found.unit {
        Unit::Ns => (ratio > 1.0, interval.low > 1.0 + tolerance),
        Unit::Clients => (ratio < 1.0, interval.high < 1.0 - tolerance),
    };
    found.finding = if worse {
        Finding::Worse
    } else {
        Finding::Better
    };
    found.regression = worse && regression;
}
