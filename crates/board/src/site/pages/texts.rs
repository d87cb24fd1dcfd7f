//! Method, bias, and how to add a server.

use super::{Page, Site};
use crate::report::figures;
use crate::report::markdown::escaped;
use crate::site::SiteError;
use crate::site::text;
use askama::Template;
use std::fmt::Write as _;

#[derive(Template)]
#[template(path = "site/text.html")]
struct Text {
    page: Page,
    /// HTML.
    parts: Vec<String>,
}

pub(super) fn method(site: &Site<'_>) -> Result<String, SiteError> {
    let intro = "Every figure here comes from the records of a round, in results/ of the project. \
                 `./shootout check results/ROUND` recomputes all of them. Below each ranking is the \
                 command that measures it again and, if enough figures were measured twice, how far a \
                 figure moves.";
    let document = match &site.gathered.methodology {
        Some(document) => text::html(document),
        None => text::html("METHODOLOGY.md is not in this project."),
    };
    page(
        site,
        "Method",
        "method.html",
        vec![text::html(intro), document],
    )
}

pub(super) fn add_yours(site: &Site<'_>) -> Result<String, SiteError> {
    let intro = "A server is one folder with a manifest. This page is docs/adding-a-server.md of the \
                 project.";
    let document = match &site.gathered.guide {
        Some(document) => text::html(document),
        None => text::html("docs/adding-a-server.md is not in this project."),
    };
    page(
        site,
        "Add yours",
        "add-yours.html",
        vec![text::html(intro), document],
    )
}

/// Who wrote it, on what machine, and what would change the order.
pub(super) fn bias(site: &Site<'_>) -> Result<String, SiteError> {
    let gathered = site.gathered;
    let waived: usize = gathered
        .conformance
        .iter()
        .map(|line| line.waived.len())
        .sum();
    let tuned = gathered
        .manifests
        .iter()
        .filter(|m| m.class.name() == "tuned")
        .count();
    let mut words = format!(
        "## Who wrote these servers\n\n\
         This project wrote the {} servers, following the documentation of each library. The authors of \
         the libraries did not. The same project wrote the load generator, the checks and the rules. If \
         the authors of a library would use it differently, it may look worse here than it is; a pull \
         request to its folder changes that. {} servers are tuned: they go beyond what the documentation \
         shows. {} failed checks of variants have a documented exception (a waiver); the page of the \
         server gives the reason.\n\n## On what machine\n\n",
        figures::count(gathered.manifests.len() as u64),
        figures::count(tuned as u64),
        figures::count(waived as u64),
    );
    let boards: Vec<String> = site
        .ranked
        .iter()
        .filter_map(|ranked| ranked.board.machine.as_ref())
        .map(|machine| format!("- {}\n", escaped(&machine.words())))
        .collect();
    match site.round {
        Some(round) if !boards.is_empty() => {
            let _ = write!(
                words,
                "Round {}:\n\n{}\n",
                escaped(&round.name),
                boards.concat()
            );
        }
        _ => words.push_str("No round has been published yet.\n\n"),
    }
    words.push_str(
        "Server and generator run on the same machine, over loopback: no network card, no distance, no \
         loss. Server and generator run on different cores.\n\n\
         ## What would change the order\n\n\
         - **More cores.** The fewer cores a machine has, the better servers look that use only one by \
         design.\n\
         - **A network.** On loopback, system calls make up a larger share of the time. On a network, \
         latency hides differences of a millisecond.\n\
         - **Another workload.** A place in one ranking says nothing about another. The table below \
         shows who is first in each.\n\
         - **What an application does.** These servers do nothing but parse, echo and broadcast. Behind a \
         database the differences shrink.\n\
         - **Other versions.** The figures are of the versions in the rows.\n\
         - **The repetitions.** Where a place is a range, another round may reverse the order.\n\n",
    );
    let mut table = String::new();
    for (_, ranking) in site.rankings() {
        let first = ranking
            .lines
            .iter()
            .filter(|line| line.place.value.as_deref() == Some("1"));
        let first: Vec<String> = first.map(|line| escaped(&line.name)).collect();
        let first = match first.len() {
            0 => "no row has a place".to_owned(),
            _ => first.join(", "),
        };
        let _ = writeln!(table, "| {} | {first} |", escaped(&ranking.title));
    }
    if !table.is_empty() {
        let _ = write!(
            words,
            "| ranking | first, or tied for first |\n|---|---|\n{table}"
        );
    }
    page(site, "Bias", "bias.html", vec![text::html(&words)])
}

fn page(
    site: &Site<'_>,
    title: &str,
    here: &'static str,
    parts: Vec<String>,
) -> Result<String, SiteError> {
    let page = Text {
        page: site.page(title, here, ""),
        parts,
    };
    Ok(page.render()?)
}
