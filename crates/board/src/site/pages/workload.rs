//! The page of a workload: what it is for, the ranking, the curves.

use super::ranking::{self, View};
use super::{Page, Ranked, Site, failures};
use crate::report::over_time::OverTime;
use crate::site::SiteError;
use crate::site::board::Ranking;
use crate::site::chart::{self, Drawing, Of};
use askama::Template;

const ROOT: &str = "../";

#[derive(Template)]
#[template(path = "site/workload.html")]
struct WorkloadPage {
    page: Page,
    name: String,
    reason: Option<String>,
    round: String,
    several_machines: bool,
    parts: Vec<Part>,
    /// The page of rows that lose messages, where this workload has such.
    failures: Option<String>,
}

/// One ranking.
struct Part {
    machine: Option<String>,
    ranking: View,
    charts: Vec<String>,
}

pub(super) fn render(site: &Site<'_>, name: &str) -> Result<String, SiteError> {
    let of_it = site
        .rankings()
        .filter(|(_, ranking)| ranking.workload == name);
    let of_it: Vec<(&Ranked<'_>, &Ranking<'_>)> = of_it.collect();
    let known = site
        .gathered
        .workloads
        .iter()
        .find(|(known, _)| known == name);
    let reason = known
        .map(|(_, reason)| reason.clone())
        .filter(|reason| !reason.is_empty());
    let reason = reason.or_else(|| of_it.iter().find_map(|(_, ranking)| ranking.reason.clone()));
    let parts = of_it.iter().enumerate().map(|(index, (ranked, ranking))| {
        Ok(Part {
            machine: ranked.board.machine.as_ref().map(|machine| machine.words()),
            ranking: ranking::view(site, ranked, ranking, index, ROOT),
            charts: charts(site, ranking, index)?,
        })
    });
    let is_of_failures = of_it.iter().any(|(_, ranking)| failures::is_of(ranking));
    let page = WorkloadPage {
        failures: is_of_failures.then(|| format!("{ROOT}{}", failures::FILE)),
        page: site.page(&format!("Workload: {name}"), "", ROOT),
        name: name.to_owned(),
        reason,
        round: site
            .round
            .map(|round| round.name.clone())
            .unwrap_or_default(),
        several_machines: site.ranked.len() > 1,
        parts: parts.collect::<Result<_, SiteError>>()?,
    };
    Ok(page.render()?)
}

fn charts(site: &Site<'_>, ranking: &Ranking<'_>, index: usize) -> Result<Vec<String>, SiteError> {
    let latency = chart::chart(ranking);
    let limit = ranking.rows.iter().find_map(|row| row.limit());
    let drawn = [
        (latency, "latency", "Latency"),
        (Of::Time(OverTime::Memory), "memory", "Memory over time"),
        (Of::Time(OverTime::Cpu), "cpu", "Processor over time"),
    ];
    let page = |server: &str| site.server_href(server, ROOT);
    drawn
        .into_iter()
        .map(|(what, id, title)| {
            let curves = chart::curves(ranking, what, |_| true);
            let drawing = Drawing {
                id: format!("r{index}-{id}"),
                title: match what {
                    Of::Clients => "Latency over clients".to_owned(),
                    Of::Percentiles => "Latency by percentile".to_owned(),
                    _ => title.to_owned(),
                },
                what,
                limit_ns: limit
                    .filter(|_| what == Of::Clients)
                    .map(|limit| limit.time.ns()),
                with_all: what == latency,
                page: &page,
            };
            Ok(chart::draw(&curves, &[], &drawing)?)
        })
        .collect()
}
