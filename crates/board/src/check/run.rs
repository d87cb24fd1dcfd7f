//! A run: how it ended, and what it carried by its steps.

use super::claim::Claims;
use super::{search, step};
use plan::{Clients, SearchOf};
use record::{End, RunRecord, StepRecord, Verdict, kept_too_much};

pub(super) fn check(run: &RunRecord) -> Vec<String> {
    let mut wrong: Vec<String> = run
        .steps
        .iter()
        .enumerate()
        .flat_map(|(index, step)| step::check(index, step, run))
        .collect();
    let mut claims = Claims::new("run.outcome");
    let outcome = &run.outcome;
    let carried = match &run.plan.clients {
        Clients::Steps(_) => {
            if outcome.edge.is_some() {
                claims.no("has an edge without a search");
            }
            RunRecord::carried(&run.steps)
        }
        Clients::Search(terms) => {
            let edge = search::edge(run, *terms);
            let sides = |of: record::Edge| [of.passed, of.failed];
            let stored = outcome.edge.map_or([None; 2], sides);
            for ((name, stored), made) in ["edge.passed", "edge.failed"]
                .into_iter()
                .zip(stored)
                .zip(sides(edge))
            {
                claims.equal(name, stored, "its steps", made);
            }
            edge.passed.map(|passed| match terms.of {
                SearchOf::Clients => passed as u64,
                SearchOf::Rate => run.plan.clients_at(0),
            })
        }
    };
    claims.equal(
        "carried_clients",
        outcome.carried_clients,
        "its steps",
        carried,
    );
    if let Some(words) = ended_otherwise(run) {
        claims.no(words);
    }
    wrong.extend(claims.wrong());
    wrong
}

/// Why a run cannot have ended as it says: by that it is known whether the server carries more.
fn ended_otherwise(run: &RunRecord) -> Option<String> {
    let last = run.steps.last();
    let is_search = run.plan.search().is_some();
    let broke = |step: &StepRecord| {
        let is_above = step.over_limit || kept_too_much(step, &run.plan).is_some();
        step.verdict == Verdict::Fail && is_above
    };
    let is_broken = last.is_some_and(broke) && !is_search;
    let is_so = match run.outcome.end {
        End::OverLimit => is_broken,
        End::GeneratorLimited => last.is_some_and(|step| step.verdict == Verdict::GeneratorLimited),
        End::EdgeFound => is_search,
        End::StepsDone => {
            let steps = u32::try_from(run.steps.len()).ok();
            !is_broken && !is_search && run.plan.steps() == steps
        }
        End::MachineLimit => !is_broken || run.plan.connect().is_some(),
        _ => true,
    };
    (!is_so).then(|| "end is not the one that its steps have".to_owned())
}
