//! The rows of a run: which server, variant, workload and dialect is measured when.
//!
//! Pure: from options and manifests to a list. Repetitions are interleaved, round after round over
//! all rows: a machine that becomes slower in the course of an hour slows every row alike. Within a
//! round one workload follows the other, so that the rows of a ranking are measured close together. Where
//! there are repetitions their order is drawn by lot, so that none is always measured behind the same other.

mod ways;

use crate::options::{RowOrder, RunOptions, VariantChoice};
use project::Refusal;
use project::manifest::{
    DEFAULT_VARIANT, Dialect, Manifest, Problem, Variant, Workload, suggestion,
};
use project::workload::{NamedPlan, Schedule};
use project::{ServerFolder, contestant, in_results, through};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use record::ServerIdentity;
use std::sync::Arc;
pub use ways::{Way, Ways};

/// One measurement that is to be made.
#[derive(Clone, Debug)]
pub struct Row {
    /// The server's folder.
    pub entry: ServerFolder,
    /// The variant, or what is wrong with the manifest.
    pub subject: Result<Variant, Vec<Problem>>,
    /// What it is measured with.
    pub workload: Arc<NamedPlan>,
    /// In which message format.
    pub dialect: Dialect,
    /// Number of this repetition, from 1.
    pub repetition: u32,
    /// It is the second row of a server that is measured twice.
    pub again: bool,
    /// The proxy between clients and server.
    pub proxy: Way,
}

/// The rows, and what the options leave out of the manifests, in words.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// In the order of measurement.
    pub rows: Vec<Row>,
    /// Number of servers that exist and are not measured.
    pub other_servers: usize,
    /// Variants that exist and are not measured.
    pub other_variants: Vec<String>,
    /// Rows that are not measured, since variant and workload do not fit, each with the reason.
    pub unfit: Vec<(Row, String)>,
}

impl Row {
    /// Name of the variant.
    pub fn variant(&self) -> &str {
        self.subject
            .as_ref()
            .map_or(DEFAULT_VARIANT, |variant| &variant.name)
    }

    /// Name of the variant in results.
    pub fn named_variant(&self) -> String {
        match &self.proxy {
            None => self.variant().to_owned(),
            Some(folder) => through(self.variant(), &folder.proxy.name),
        }
    }

    /// Name of the server in results.
    fn server(&self) -> String {
        in_results(&self.entry.name, self.again)
    }

    /// Name of the measurement's file, without its extension.
    pub fn file_name(&self) -> String {
        format!(
            "{}.{}.{}.{}.{}",
            self.server(),
            self.named_variant(),
            self.workload.file_name(),
            self.dialect.name(),
            self.repetition
        )
    }

    /// What is measured, for people.
    pub fn label(&self) -> String {
        let name = contestant(&self.server(), &self.named_variant());
        format!("{name} {} {}", self.workload.name, self.dialect.name())
    }

    /// Which request.
    pub fn request(&self) -> Workload {
        self.workload.request()
    }

    /// The clients of its steps.
    pub fn schedule(&self) -> Schedule {
        let own = self.manifest().and_then(|manifest| manifest.step_size);
        self.workload.schedule(own)
    }

    /// The manifest, when it could be read.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.entry.manifest.as_ref().ok()
    }

    /// The server that is measured, for records.
    pub fn identity(&self) -> ServerIdentity {
        let unknown = || "unknown".to_owned();
        let manifest = self.manifest();
        ServerIdentity {
            name: self.server(),
            variant: self.named_variant(),
            variant_summary: self.subject.as_ref().ok().and_then(|v| v.summary.clone()),
            language: manifest.map_or_else(unknown, |m| m.language.clone()),
            library: manifest.map_or_else(unknown, |m| m.library.clone()),
            homepage: manifest.map_or_else(String::new, |m| m.homepage.clone()),
            class: manifest.map_or_else(unknown, |m| m.class.name().to_owned()),
            library_version: None,
            runtime: None,
            json: manifest.and_then(|m| m.json),
            released: manifest.and_then(|m| m.released),
            old_because: manifest.and_then(|m| m.old_because.clone()),
        }
    }
}

/// The rows for these options, each by each of the ways of its workload.
///
/// # Errors
/// When a variant is named that no selected server has, or nothing is left to measure.
pub fn plan(entries: &[ServerFolder], ways: &Ways, options: &RunOptions) -> Result<Rows, Refusal> {
    check_names(entries, &options.variants)?;
    check_twice(entries, &options.twice)?;
    let mut planned = Rows::default();
    for workload in &options.workloads {
        planned.add(
            (entries, &ways.to(workload)),
            options,
            &Arc::new(workload.clone()),
        );
    }
    if planned.rows.is_empty() {
        return Err(nothing(&planned));
    }
    let round = std::mem::take(&mut planned.rows);
    planned.rows = (1..=options.repeat)
        .flat_map(|repetition| in_order(round.clone(), options.order, repetition))
        .collect();
    Ok(planned)
}

/// The rows of a round in the order in which they are measured.
fn in_order(mut round: Vec<Row>, order: RowOrder, repetition: u32) -> Vec<Row> {
    for row in &mut round {
        row.repetition = repetition;
    }
    if let RowOrder::Drawn(number) = order {
        let seed = u64::from(number) << 32 | u64::from(repetition);
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        let of_workloads = round.chunk_by_mut(|a, b| a.workload.name == b.workload.name);
        of_workloads.for_each(|rows| rows.shuffle(&mut draws));
    }
    round
}

fn nothing(planned: &Rows) -> Refusal {
    let reasons = planned
        .unfit
        .iter()
        .map(|(row, reason)| (row.workload.name.as_str(), reason.as_str()));
    let reasons: Vec<String> = alike(reasons)
        .iter()
        .map(|(workloads, reason)| format!("{}: {reason}", distinct(workloads).join(", ")))
        .collect();
    Refusal::new(format!(
        "nothing to measure: no selected variant fits ({}); see `shootout list`",
        reasons.join("; ")
    ))
}

/// Neighbours that are alike once.
fn distinct<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let mut names = names.to_vec();
    names.dedup();
    names
}

impl Rows {
    /// Adds the rows of one workload; those that are there twice stand apart, at the end.
    fn add(
        &mut self,
        of: (&[ServerFolder], &[Way]),
        options: &RunOptions,
        workload: &Arc<NamedPlan>,
    ) {
        let first = self.rows.len();
        self.add_once(of, options, workload);
        let again: Vec<Row> = self.rows[first..]
            .iter()
            .filter(|row| options.twice.contains(&row.entry.name))
            .map(|row| Row {
                again: true,
                ..row.clone()
            })
            .collect();
        self.rows.extend(again);
    }

    fn add_once(
        &mut self,
        (entries, ways): (&[ServerFolder], &[Way]),
        options: &RunOptions,
        workload: &Arc<NamedPlan>,
    ) {
        let asked = |variant: &Variant| match options.dialects.as_slice() {
            [] => workload.dialects(variant),
            dialects => dialects.to_vec(),
        };
        for entry in entries {
            let row = |subject, dialect, way: &Way| Row {
                entry: entry.clone(),
                subject,
                workload: Arc::clone(workload),
                dialect,
                repetition: 1,
                again: false,
                proxy: way.clone(),
            };
            let manifest = match &entry.manifest {
                Ok(manifest) => manifest,
                Err(problems) => {
                    let dialect = workload.dialect().unwrap_or(Dialect::Text);
                    let dialects = match options.dialects.as_slice() {
                        [] => &[dialect],
                        dialects => dialects,
                    };
                    let unread = |dialect: &Dialect| row(Err(problems.clone()), *dialect, &None);
                    self.rows.extend(dialects.iter().map(unread));
                    continue;
                }
            };
            let unfit = |variant: &Variant, dialect, way: &Way| match way {
                None => workload.unfit(variant, dialect),
                Some(folder) => workload.unfit_through(&folder.proxy, variant, dialect),
            };
            let fits = |variant: &Variant| {
                let asked = asked(variant).into_iter();
                let mut found = asked.flat_map(|d| ways.iter().map(move |way| (d, way)));
                found.any(|(dialect, way)| unfit(variant, dialect, way).is_none())
            };
            let first = manifest.variants.iter().position(fits).unwrap_or(0);
            for (number, variant) in manifest.variants.iter().enumerate() {
                if !chosen(&options.variants, number == first, variant) {
                    let name = contestant(&entry.name, &variant.name);
                    if fits(variant) && !self.other_variants.contains(&name) {
                        self.other_variants.push(name);
                    }
                    continue;
                }
                for dialect in asked(variant) {
                    for way in ways {
                        let row = row(Ok(variant.clone()), dialect, way);
                        match unfit(variant, dialect, way) {
                            None => self.rows.push(row),
                            Some(reason) => self.unfit.push((row, reason)),
                        }
                    }
                }
            }
        }
    }
}

/// Variants put together that are alike in something, in the order of their first.
pub fn alike<'v, T: PartialEq>(
    variants: impl IntoIterator<Item = (&'v str, T)>,
) -> Vec<(Vec<&'v str>, T)> {
    let mut groups: Vec<(Vec<&str>, T)> = Vec::new();
    for (name, value) in variants {
        match groups.iter_mut().find(|(_, other)| *other == value) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], value)),
        }
    }
    groups
}

/// A server and some of its variants.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The server's folder.
    pub entry: &'a ServerFolder,
    /// Its manifest.
    pub manifest: &'a Manifest,
    /// Names of the variants.
    pub variants: Vec<String>,
}

impl<'a> Wanted<'a> {
    /// Every variant of the servers whose manifest can be read.
    pub fn all(entries: &'a [ServerFolder]) -> Vec<Self> {
        entries
            .iter()
            .filter_map(|entry| {
                let manifest = entry.manifest.as_ref().ok()?;
                let variants = manifest.variants.iter().map(|v| v.name.clone()).collect();
                Some(Self {
                    entry,
                    manifest,
                    variants,
                })
            })
            .collect()
    }

    /// The variants that these rows measure.
    pub fn by(rows: &'a [Row]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for row in rows {
            let Some(manifest) = row.manifest() else {
                continue;
            };
            let known = all.iter_mut().find(|w| w.entry.name == row.entry.name);
            let name = row.variant().to_owned();
            match known {
                Some(wanted) if wanted.variants.contains(&name) => {}
                Some(wanted) => wanted.variants.push(name),
                None => all.push(Self {
                    entry: &row.entry,
                    manifest,
                    variants: vec![name],
                }),
            }
        }
        all
    }
}

fn chosen(choice: &VariantChoice, is_first: bool, variant: &Variant) -> bool {
    match choice {
        VariantChoice::All => true,
        VariantChoice::First => is_first,
        VariantChoice::Named(names) => names.contains(&variant.name),
    }
}

fn check_twice(entries: &[ServerFolder], twice: &[String]) -> Result<(), Refusal> {
    let known = || entries.iter().map(|entry| entry.name.as_str());
    match twice
        .iter()
        .find(|name| !known().any(|other| other == *name))
    {
        Some(name) => Err(Refusal::new(format!(
            "--twice: no selected server \"{name}\"{}",
            suggestion(name, known())
        ))),
        None => Ok(()),
    }
}

fn check_names(entries: &[ServerFolder], choice: &VariantChoice) -> Result<(), Refusal> {
    let VariantChoice::Named(names) = choice else {
        return Ok(());
    };
    let mut known: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry.manifest.as_ref().ok())
        .flat_map(|manifest| {
            manifest
                .variants
                .iter()
                .map(|variant| variant.name.as_str())
        })
        .collect();
    known.sort_unstable();
    known.dedup();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Refusal::new(format!(
            "no selected server has a variant \"{name}\"{}",
            suggestion(name, known)
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
