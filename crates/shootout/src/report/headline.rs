//! The result in a sentence for each workload and dialect.

use super::figures;
use super::ranking::{Row, common_clients};
use super::words;
use crate::stdout::one_line;
use run_record::Status;

/// One sentence for the rows of one workload and dialect, in ranked order.
pub(super) fn sentence(rows: &[Row<'_>]) -> String {
    let category = words::capital(&category(&rows[0]));
    let placed: Vec<&Row<'_>> = rows.iter().filter(|row| row.place.is_some()).collect();
    let without = match rows.len() - placed.len() {
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
    let lead = format!(
        "{category}: {} carried {} with {rule}",
        words::contestant(best),
        words::carried_in_words(carried)
    );
    format!("{lead}{}.{without}", follower(&placed))
}

/// Workload and dialect of a row.
pub(super) fn category(row: &Row<'_>) -> String {
    format!(
        "{} over {}",
        one_line(row.workload_name()),
        words::dialect(row.dialect())
    )
}

/// How the second compares to the first.
fn follower(placed: &[&Row<'_>]) -> String {
    let [best, next, ..] = placed else {
        return String::new();
    };
    let (Some(first), Some(second)) = (&best.carried, &next.carried) else {
        return String::new();
    };
    let name = words::contestant(next);
    let shared = best.place.zip(next.place);
    let shared = shared.is_some_and(|(first, second)| first.shares_with(second));
    if first.median != second.median {
        let but = if shared {
            ", which the repetitions do not tell apart from it"
        } else {
            ""
        };
        return format!(
            "; {name} follows with {}{but}",
            words::carried_in_words(second).replace(" clients", "")
        );
    }
    let at = common_clients([*best, *next]).and_then(|clients| {
        let of = |row: &Row<'_>| {
            let step = row.steps.iter().find(|step| step.clients == clients)?;
            Some(figures::time(step.limited_ns? as f64))
        };
        Some((clients, of(best)?, of(next)?))
    });
    match at {
        Some((clients, one, other)) if !shared => format!(
            ", and so did {name}: at {} clients that latency was {one} against {other}",
            figures::count(clients)
        ),
        _ => format!(", and so did {name}"),
    }
}

/// How many rows are ok, in words.
pub(super) fn tally(rows: &[Row<'_>]) -> String {
    let ok = rows.iter().filter(|row| row.status == Status::Ok).count();
    format!("{ok} of {} rows ok", rows.len())
}
