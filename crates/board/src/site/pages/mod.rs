//! The pages of the site, and the links between them.

mod ancestor;
mod builds;
mod failures;
mod front;
mod history;
mod languages;
mod places;
mod ranking;
mod server;
mod servers;
mod side;
mod standing;
mod texts;
mod workload;

use super::SiteError;
use super::board::{Known, Ranking, key};
use super::field::Field;
use super::gather::{self, Gathered, Shown};
use super::history::{self as past, Point};
use super::names::Names;
use super::output::Files;
use super::repeats::{Expected, Repeats};
use super::rounds::{Board, Round};
use std::collections::BTreeSet;
use std::path::Path;

/// What every page has: its title, and the links to the others.
pub(super) struct Page {
    title: String,
    /// The file that the navigation leads to from here, where this is one of these.
    here: &'static str,
    /// The way from the page to the folder of the site.
    root: &'static str,
    footer: String,
}

/// Pages that every page leads to.
const NAVIGATION: [(&str, &str); 8] = [
    ("The board", "index.html"),
    ("Side by side", "side-by-side.html"),
    ("Places", "places.html"),
    ("Servers", "servers.html"),
    ("2016 beside today", "2016.html"),
    ("Method", "method.html"),
    ("Bias", "bias.html"),
    ("Add yours", "add-yours.html"),
];

impl Page {
    /// Name and way of each page of the navigation, and whether this page is it.
    fn links(&self) -> Vec<(&'static str, String, bool)> {
        let way = |file: &str| format!("{}{file}", self.root);
        NAVIGATION
            .iter()
            .map(|(name, file)| (*name, way(file), *file == self.here))
            .collect()
    }
}

/// A machine of the round with its rankings.
pub(super) struct Ranked<'g> {
    pub(super) board: &'g Board,
    pub(super) rankings: Vec<Ranking<'g>>,
}

/// Everything that pages are made of.
pub(super) struct Site<'g> {
    pub(super) gathered: &'g Gathered,
    pub(super) shown: &'g Shown,
    pub(super) round: Option<&'g Round>,
    pub(super) ranked: Vec<Ranked<'g>>,
    /// The figures of all rounds, the newest first.
    pub(super) points: Vec<Point>,
    /// How far figures of the round moved where they were measured again.
    pub(super) repeats: Repeats,
    pub(super) servers: Names,
    pub(super) workloads: Names,
    /// Names of all servers, and of all workloads, in order.
    pub(super) server_names: Vec<String>,
    pub(super) workload_names: Vec<String>,
}

impl Site<'_> {
    fn page(&self, title: &str, here: &'static str, root: &'static str) -> Page {
        let round = match self.round {
            Some(round) => format!("Round {}, begun {}.", round.name, round.started),
            None => "No round has been published yet.".to_owned(),
        };
        Page {
            title: title.to_owned(),
            here,
            root,
            footer: format!(
                "{round} Made by shootout {} from the records of the rounds, and from these alone.",
                env!("CARGO_PKG_VERSION")
            ),
        }
    }

    /// The page of a server, from a page with this way to the folder of the site.
    pub(super) fn server_href(&self, name: &str, root: &str) -> String {
        match self.servers.file(name) {
            Some(file) => format!("{root}servers/{file}.html"),
            None => String::new(),
        }
    }

    /// The page of a workload.
    pub(super) fn workload_href(&self, name: &str, root: &str) -> String {
        match self.workloads.file(name) {
            Some(file) => format!("{root}workloads/{file}.html"),
            None => String::new(),
        }
    }

    /// What the conformance checks say of a row: `passed`, how many waivers, or how many failed; `None`
    /// where it was not checked.
    pub(super) fn conformance(&self, row: &str) -> Option<String> {
        let mut lines = self.gathered.conformance.iter();
        let line = lines.find(|line| key(&line.server, &line.variant) == row)?;
        Some(match (line.failed.len(), line.waived.len()) {
            (0, 0) => "passed".to_owned(),
            (0, 1) => "1 waiver".to_owned(),
            (0, waivers) => format!("{waivers} waivers"),
            (failed, _) => format!("{failed} failed"),
        })
    }

    /// All rankings of the round with their machines.
    pub(super) fn rankings(&self) -> impl Iterator<Item = (&Ranked<'_>, &Ranking<'_>)> {
        self.ranked
            .iter()
            .flat_map(|ranked| ranked.rankings.iter().map(move |one| (ranked, one)))
    }
}

impl Ranked<'_> {
    /// What is to be expected of its figures in a ranking when they are measured again.
    pub(super) fn expected(&self, site: &Site<'_>, ranking: &Ranking<'_>) -> Option<Expected> {
        let machine = self.board.machine.as_ref();
        site.repeats.expected(ranking, machine)
    }
}

/// Every page.
pub(super) fn all(
    gathered: &Gathered,
    shown: &Shown,
    workloads: &Path,
) -> Result<Files, SiteError> {
    let known = Known {
        workloads,
        ceilings: gather::ceilings(&gathered.manifests),
    };
    let ranked: Vec<Ranked<'_>> = shown
        .round
        .iter()
        .flat_map(|round| &round.boards)
        .map(|board| Ranked {
            board,
            rankings: board.rankings(&known),
        })
        .collect();
    let mut points = Vec::new();
    for (round, one) in shown
        .round
        .iter()
        .flat_map(|round| ranked.iter().map(move |one| (round, one)))
    {
        points.extend(
            one.rankings
                .iter()
                .flat_map(|ranking| past::points(round, one.board, ranking)),
        );
    }
    let repeats = Repeats::new(&points, &shown.again);
    points.extend(shown.history.iter().cloned());
    let server_names = servers(gathered, shown, &points);
    let mut workload_names: BTreeSet<String> = gathered
        .workloads
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    workload_names.extend(points.iter().map(|point| point.workload.clone()));
    let workload_names: Vec<String> = workload_names.into_iter().collect();
    let site = Site {
        gathered,
        shown,
        round: shown.round.as_ref(),
        ranked,
        points,
        repeats,
        servers: Names::new(server_names.iter().map(String::as_str)),
        workloads: Names::new(workload_names.iter().map(String::as_str)),
        server_names,
        workload_names,
    };
    let mut files = Files::default();
    let rankings = site.rankings();
    let field = Field::new(rankings.map(|(on, ranking)| (on.board.machine.as_ref(), ranking)));
    files.add("index.html", front::render(&site, &field)?);
    if let Some(page) = failures::render(&site)? {
        files.add(failures::FILE, page);
    }
    files.add("side-by-side.html", side::render(&site)?);
    files.add("places.html", places::render(&site)?);
    files.add("servers.html", servers::render(&site)?);
    for name in &site.server_names {
        files.add(
            site.server_href(name, ""),
            server::render(&site, &field, name)?,
        );
    }
    for name in &site.workload_names {
        files.add(site.workload_href(name, ""), workload::render(&site, name)?);
    }
    files.add("2016.html", ancestor::render(&site)?);
    files.add("method.html", texts::method(&site)?);
    files.add("bias.html", texts::bias(&site)?);
    files.add("add-yours.html", texts::add_yours(&site)?);
    Ok(files)
}

/// Every server that a manifest, a record, a conformance pass or a pass of the Autobahn|Testsuite is
/// of.
fn servers(gathered: &Gathered, shown: &Shown, points: &[Point]) -> Vec<String> {
    let mut names: BTreeSet<String> = gathered.manifests.iter().map(|m| m.name.clone()).collect();
    let boards = shown.round.iter().flat_map(|round| &round.boards);
    let measured = boards.flat_map(Board::measurements);
    names.extend(measured.map(|measurement| measurement.server.name.clone()));
    names.extend(points.iter().map(|point| point.server.clone()));
    names.extend(gathered.conformance.iter().map(|line| line.server.clone()));
    names.extend(
        gathered
            .autobahn
            .iter()
            .map(|record| record.server.name.clone()),
    );
    names.into_iter().collect()
}
