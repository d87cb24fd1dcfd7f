//! The result in a sentence for each workload and dialect.

use super::figures;
use super::ranking::{Row, Score, common_clients};
use super::subject::Subject;
use super::words;
use crate::terminal::one_line;
use record::Status;

/// One sentence for the rows of one workload and dialect, in ranked order.
pub(crate) fn sentence(rows: &[Row<'_>]) -> String {
    let category = words::capital(&category(&rows[0]));
    let placed: Vec<&Row<'_>> = rows.iter().filter(|row| row.place.is_some()).collect();
    let without = match applicable(rows).count() - placed.len() {
        0 => String::new(),
        1 => " One row has no result in the ranking; its reason is given below.".to_owned(),
        many => {
            format!(" {many} rows have no result in the ranking; their reasons are given below.")
        }
    };
    let Some(best) = placed.first() else {
        return format!("{category}: no server has a result.{without}");
    };
    let (Some(carried), Some(limit)) = (&best.carried, best.limit()) else {
        return format!("{category}: no server has a result.{without}");
    };
    let rule = words::rule(best.workload(), limit);
    let name = words::contestant(best);
    let subject = Subject::new(rows);
    let score = best.figure(subject.score, subject.common);
    if let (false, Some(score), Some(_)) = (subject.grows(), score, carried.clients()) {
        let (ranked_by, shown) = (subject.name(), subject.show(score));
        return match applicable(rows).count() {
            1 => format!("{category}: {name} is the only row; {ranked_by}: {shown}."),
            _ => format!(
                "{category}: {name} is first by {ranked_by}: {shown}{}.{without}",
                follower_by_score(&placed, &subject)
            ),
        };
    }
    let carried = words::carried_in_words(carried);
    let lead = format!("{category}: {name} carried {carried} with {rule}");
    format!("{lead}{}.{without}", follower(&placed, &subject))
}

/// How the second compares to the first by the score alone.
fn follower_by_score(placed: &[&Row<'_>], subject: &Subject<'_>) -> String {
    let [best, next, ..] = placed else {
        return String::new();
    };
    let name = words::contestant(next);
    let kept = next
        .carried
        .is_some_and(|carried| carried.clients().is_some());
    match next.figure(subject.score, subject.common).filter(|_| kept) {
        Some(score) => format!(
            "; {name} follows with {}{}",
            subject.show(score),
            not_told_apart(best, next)
        ),
        None => "; no other row kept the limit".to_owned(),
    }
}

fn not_told_apart(best: &Row<'_>, next: &Row<'_>) -> &'static str {
    match is_shared(best, next) {
        true => ", which the repetitions do not tell apart from it",
        false => "",
    }
}

fn is_shared(best: &Row<'_>, next: &Row<'_>) -> bool {
    let places = best.place.zip(next.place);
    places.is_some_and(|(first, second)| first.shares_with(second))
}

/// Rows that the workload applies to.
fn applicable<'r, 'a>(rows: &'r [Row<'a>]) -> impl Iterator<Item = &'r Row<'a>> {
    let applies = |row: &&Row<'a>| row.status != Status::NotApplicable;
    rows.iter().filter(applies)
}

/// Workload and dialect of a row, and its network where that is not loopback.
pub(crate) fn category(row: &Row<'_>) -> String {
    format!(
        "{} over {}{}",
        one_line(row.workload_name()),
        words::dialect(row.dialect()),
        words::network(row)
    )
}

/// How the second compares to the first.
fn follower(placed: &[&Row<'_>], subject: &Subject<'_>) -> String {
    let [best, next, ..] = placed else {
        return String::new();
    };
    let (Some(first), Some(second)) = (&best.carried, &next.carried) else {
        return String::new();
    };
    let name = words::contestant(next);
    if first.median != second.median {
        return format!(
            "; {name} follows with {}{}",
            words::carried_in_words(second).replace(" clients", ""),
            not_told_apart(best, next)
        );
    }
    let common = common_clients([*best, *next]);
    let of = |row: &Row<'_>| Some(subject.show(row.figure(subject.score, common)?));
    match (of(best), of(next), common) {
        _ if is_shared(best, next) => format!(", and so did {name}"),
        (Some(one), Some(other), Some(clients)) if subject.score == Score::Latency => format!(
            ", and so did {name}: at {} clients that latency was {one} against {other}",
            figures::count(clients)
        ),
        (Some(one), Some(other), _) if subject.score != Score::Latency => format!(
            ", and so did {name}: {} was {one} against {other}",
            subject.name()
        ),
        _ => format!(", and so did {name}"),
    }
}

/// How many rows are ok, in words.
pub(crate) fn tally(rows: &[Row<'_>]) -> String {
    let ok = rows.iter().filter(|row| row.status == Status::Ok).count();
    format!("{ok} of {} rows ok", applicable(rows).count())
}
