//! The edge that a search has found, from its tries.

use plan::{Search, SearchOf};
use record::{Edge, End, RunRecord, StepRecord, Verdict};

/// A load with the number of tries that passed and of those that failed.
type Tried = (f64, u32, u32);

/// The lowest load of which most tries failed, and the highest below it of which most passed.
pub(super) fn edge(run: &RunRecord, terms: Search) -> Edge {
    let mut tried: Vec<Tried> = Vec::new();
    let mut count = |load: f64, passed: bool| {
        let index = tried.iter().position(|(known, ..)| *known == load);
        let index = index.unwrap_or_else(|| {
            tried.push((load, 0, 0));
            tried.len() - 1
        });
        let (_, passes, fails) = &mut tried[index];
        *(if passed { passes } else { fails }) += 1;
    };
    for step in told(run) {
        let load = match terms.of {
            SearchOf::Clients => step.clients as f64,
            SearchOf::Rate => step.rate.unwrap_or_default(),
        };
        count(load, step.passed());
    }
    run.outcome
        .unmeasured
        .iter()
        .for_each(|load| count(*load, false));
    let loads = |is: fn(&Tried) -> bool| {
        tried
            .iter()
            .filter(move |of| is(of))
            .map(|(load, ..)| *load)
    };
    let failed = loads(|(_, passes, fails)| fails > passes).reduce(f64::min);
    let passed = loads(|(_, passes, fails)| passes > fails)
        .filter(|load| failed.is_none_or(|failed| *load < failed))
        .reduce(f64::max);
    Edge {
        of: terms.of,
        passed,
        failed,
    }
}

/// The steps that decided something: one that the loss of a worker ended is none of them.
fn told(run: &RunRecord) -> impl Iterator<Item = &StepRecord> {
    let lost = usize::from(run.outcome.end == End::WorkerLost);
    let steps = &run.steps[..run.steps.len().saturating_sub(lost)];
    steps
        .iter()
        .filter(|step| matches!(step.verdict, Verdict::Pass | Verdict::Fail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::measured;
    use plan::Clients;

    #[test]
    fn most_tries_of_a_load_decide_and_void_ones_do_not_count() {
        let terms = Search {
            of: SearchOf::Clients,
            first: 100,
            tries: 3,
            precision: 0.02,
        };
        let mut run = measured("a", 1, 9_000, End::EdgeFound).run.unwrap();
        run.plan.clients = Clients::Search(terms);
        let base = run.steps[0].clone();
        let step = |clients, verdict| StepRecord {
            clients,
            verdict,
            ..base.clone()
        };
        use Verdict::{Fail, GeneratorLimited, Noisy, Pass};
        run.steps = [
            (100, Pass),
            (200, Noisy),
            (200, Fail),
            (200, Pass),
            (200, Pass),
            (400, Fail),
            (300, GeneratorLimited),
            (300, Pass),
            (350, Pass),
        ]
        .map(|(clients, verdict)| step(clients, verdict))
        .into();
        let sides = |run: &RunRecord| {
            let edge = edge(run, terms);
            (edge.passed, edge.failed)
        };
        assert_eq!(sides(&run), (Some(350.0), Some(400.0)));
        // At 350 clients it took too few connections, twice.
        run.outcome.unmeasured = vec![350.0];
        assert_eq!(sides(&run), (Some(300.0), Some(400.0)));
        run.outcome.unmeasured.push(350.0);
        assert_eq!(sides(&run), (Some(300.0), Some(350.0)));
        run.steps.truncate(2);
        run.outcome.unmeasured = vec![50.0];
        assert_eq!(sides(&run), (None, Some(50.0)));
        run.steps.clear();
        run.outcome.unmeasured.clear();
        assert_eq!(sides(&run), (None, None));
    }
}
