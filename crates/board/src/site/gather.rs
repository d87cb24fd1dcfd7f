//! Everything that a site is made of: the rounds, the history, and what the project knows of its
//! servers.

use super::ancestor::{self, Ancestor};
use super::board::Known;
use super::history::{self, Point};
use super::rounds::{self, Round};
use super::{SiteError, Sources};
use crate::about;
use crate::autobahn;
use crate::conformance_table::{self, Line};
use project::manifest::{Manifest, Role};
use project::workload;
use project::{LOCAL, ServerFolder};
use record::AutobahnRecord;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What was read.
pub(super) struct Gathered {
    pub(super) manifests: Vec<Manifest>,
    /// The newest published round; that of the runs of this checkout where none is published.
    pub(super) published: Shown,
    /// The runs of this checkout, where a round is published too.
    pub(super) local: Option<Shown>,
    pub(super) conformance: Vec<Line>,
    pub(super) autobahn: Vec<AutobahnRecord>,
    pub(super) ancestor: Ancestor,
    /// The workloads of the project: name and reason.
    pub(super) workloads: Vec<(String, String)>,
    pub(super) methodology: Option<String>,
    pub(super) guide: Option<String>,
    pub(super) warnings: Vec<String>,
    pub(super) rounds: usize,
}

/// A round as a board of its own shows it.
#[derive(Default)]
pub(super) struct Shown {
    /// `None` where nothing was measured.
    pub(super) round: Option<Round>,
    /// The figures of other rounds, the newer first.
    pub(super) history: Vec<Point>,
    /// The figures of the rounds that measure it again.
    pub(super) again: Vec<Point>,
    /// What leads to the board of the other, and its front page.
    pub(super) other: Option<(String, &'static str)>,
}

/// Names of the servers whose manifest says that they are no contestants.
pub(super) fn ceilings(manifests: &[Manifest]) -> BTreeSet<String> {
    let of_role = manifests
        .iter()
        .filter(|manifest| manifest.role == Some(Role::Ceiling));
    of_role.map(|manifest| manifest.name.clone()).collect()
}

/// Reads all of it. Of rounds that have no board the figures alone are kept.
pub(super) fn gather(sources: &Sources<'_>) -> Result<Gathered, SiteError> {
    let mut warnings = Vec::new();
    let manifests: Vec<Manifest> = match sources.project.servers() {
        Ok(entries) => entries
            .into_iter()
            .filter_map(|entry| readable(entry, &mut warnings))
            .collect(),
        Err(refusal) => return Err(SiteError::Project(refusal.to_string())),
    };
    let folder = sources.project.workloads();
    let known = Known {
        workloads: &folder,
        ceilings: ceilings(&manifests),
    };
    let rounds = read_rounds(sources.results, &known, &mut warnings)?;
    let of_results = sources.results.join("autobahn");
    let of_results = Some(of_results).filter(|dir| dir.is_dir());
    let suite = of_results.unwrap_or_else(|| sources.project.autobahn());
    let mut autobahn =
        autobahn::summaries(&suite, &mut |warning| warnings.push(warning.to_string()));
    autobahn.sort_by(|a, b| {
        (&a.server.name, &a.server.variant).cmp(&(&b.server.name, &b.server.variant))
    });
    let root = sources.project.root();
    let conformance = conformance_table::Files::new(root)
        .read()
        .unwrap_or_else(|refusal| {
            warnings.push(refusal.to_string());
            Vec::new()
        });
    let of_2016 = [sources.results.join("2016"), root.join("results/2016")];
    let of_2016: Option<&PathBuf> = of_2016.iter().find(|dir| dir.is_dir());
    let ancestor = of_2016.map_or_else(Ancestor::default, |dir| ancestor::read(dir, &mut warnings));
    let workloads =
        workload::list(&folder).map_err(|refusal| SiteError::Project(refusal.to_string()))?;
    let text = |name: &str| fs::read_to_string(root.join(name)).ok();
    Ok(Gathered {
        published: rounds.published,
        local: rounds.local,
        conformance,
        autobahn,
        ancestor,
        workloads: workloads
            .into_iter()
            .filter_map(|listed| Some((listed.name, listed.about.ok()?.1)))
            .collect(),
        methodology: text("METHODOLOGY.md"),
        guide: text("docs/adding-a-server.md"),
        manifests,
        warnings,
        rounds: rounds.count,
    })
}

/// The rounds of a results directory.
#[derive(Default)]
struct Rounds {
    published: Shown,
    local: Option<Shown>,
    count: usize,
}

fn read_rounds(
    results: &Path,
    known: &Known<'_>,
    warnings: &mut Vec<String>,
) -> Result<Rounds, SiteError> {
    let mut all = Rounds::default();
    let published = &mut all.published;
    let mut names = BTreeSet::new();
    let (mut local, mut repeats) = (None, Vec::new());
    for place in rounds::places(results)? {
        let mut round = rounds::read(&place, known)?;
        warnings.append(&mut round.warnings);
        if round.boards.is_empty() {
            continue;
        }
        all.count += 1;
        names.insert(round.name.clone());
        if round.about.repeats.is_some() {
            repeats.push(round);
        } else if round.name == LOCAL {
            local = Some(round);
        } else if published.round.is_none() {
            published.round = Some(round);
        } else {
            published.history.extend(history::of_round(&round, known));
        }
    }
    let newest = published.round.as_ref().map(|round| &round.name);
    for round in &repeats {
        let of = round.about.repeats.as_ref();
        if of.is_some() && of == newest {
            published.again.extend(history::of_round(round, known));
        }
        if let Some(of) = of.filter(|of| !names.contains(*of)) {
            let name = &round.name;
            let file = about::FILE;
            warnings.push(format!(
                "{name}/{file}: repeats {of:?}, and there is no such round"
            ));
        }
    }
    let Some(newest) = &published.round else {
        published.round = local;
        return Ok(all);
    };
    if let Some(local) = local {
        let mut others = history::of_round(newest, known);
        others.extend(published.history.iter().cloned());
        all.local = Some(Shown {
            history: others,
            other: Some((
                format!("The published round, {}", newest.name),
                "../index.html",
            )),
            round: Some(local),
            ..Shown::default()
        });
        let words = "The runs of this checkout, which are not published".to_owned();
        published.other = Some((words, "local/index.html"));
    }
    Ok(all)
}

fn readable(entry: ServerFolder, warnings: &mut Vec<String>) -> Option<Manifest> {
    match entry.manifest {
        Ok(manifest) => Some(manifest),
        Err(problems) => {
            warnings.extend(problems.iter().map(ToString::to_string));
            None
        }
    }
}
