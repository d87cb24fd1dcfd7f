//! Which ranking a column is from.

use super::{Column, Source, unit};
use crate::report::ranking::{Row, Score, grows};
use plan::{Clients, Dialect, Life, Load, Plan, Reading, Workload};

/// The ranking that has a column: of several the one that is ranked by cost, else the one with the
/// most figures, else the plainest.
pub(super) fn source<'s>(column: Column, all: &[Source<'s>]) -> Option<Source<'s>> {
    let fitting = all.iter().rev().filter_map(|source| {
        let plan = source.ranking.rows.iter().find_map(Row::plan)?;
        let mut rows = source.ranking.rows.iter();
        // What a network adds is not the server's.
        let is_near = rows.all(|row| row.network().is_none());
        let figures = source.ranking.rows.iter();
        let figures = figures.filter(|row| unit::cell(column, row).is_some());
        let figures = figures.count();
        (fits(column, plan) && is_near && figures > 0).then_some((source, plan, figures))
    });
    let best = fitting.max_by_key(|(source, plan, figures)| {
        let row = &source.ranking.rows[0];
        (
            column == Column::Cost && plan.ranked_by.is_some(),
            *figures,
            row.workload_name() == row.workload().name(),
            row.dialect() == Dialect::Text,
            messages(plan),
        )
    });
    best.map(|(source, _, _)| *source)
}

fn fits(column: Column, plan: &Plan) -> bool {
    let is_open = matches!(plan.load, Load::Open(_));
    match column {
        Column::Cost => {
            plan.workload() == Workload::Broadcast && is_open && is_plain(plan) && !grows(plan)
        }
        Column::Memory => matches!(plan.load, Load::Connect(_)) && !plan.target.is_secure(),
        Column::Rooms => plan.workload() == Workload::Rooms && is_open && is_plain(plan),
        Column::Storm => Score::new(plan) == Score::Return,
        Column::Slow => plan.populations.iter().any(|of| of.reads != Reading::Full),
        Column::Echo => {
            let is_closed = matches!(plan.load, Load::Closed(_));
            plan.workload() == Workload::Echo && is_closed && is_plain(plan)
        }
    }
}

/// Whether all clients stay and read, over connections without compression or TLS.
fn is_plain(plan: &Plan) -> bool {
    let is_usual = |of: &plan::Population| of.reads == Reading::Full && of.life == Life::Stays;
    plan.populations.iter().all(is_usual)
        && plan.connection.compression.is_none()
        && !plan.target.is_secure()
        && !matches!(plan.clients, Clients::Search(_))
}

/// Deliveries a second, as far as the plan says how many.
fn messages(plan: &Plan) -> u64 {
    match &plan.load {
        Load::Open(open) => (open.rate * plan.clients_at(0) as f64) as u64,
        _ => 0,
    }
}
