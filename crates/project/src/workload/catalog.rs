//! The workloads of a project: its plans in workloads/, by name and reason.

use super::{NamedPlan, ScopedSet};
use crate::Refusal;
use crate::manifest::suggestion;
use plan::Plan;
use plan_file::PlanFile;
use std::fs;
use std::path::{Path, PathBuf};

/// What `--workload` takes for every plan of workloads/.
pub const ALL: &str = "all";

/// A plan of workloads/.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Name of its file without the ending, which is that of the plan: what `--workload` takes.
    pub name: String,
    /// Which request a server is sent, and why the workload exists; or what is wrong with the file.
    pub about: Result<(&'static str, String), String>,
}

/// The plans of a folder, sorted by name. A folder that is missing has none.
///
/// # Errors
/// When it is there and cannot be read.
pub fn list(folder: &Path) -> Result<Vec<Listed>, Refusal> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let unreadable = |error: std::io::Error| Refusal::new(format!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let stem = path.file_stem().unwrap_or_default();
        let name = stem.to_string_lossy().into_owned();
        let plan = PlanFile::read(&path).and_then(|file| file.plan());
        let plan = plan.map_err(|error| error.to_string());
        let about = plan.and_then(|plan| match other_name(&plan, &name) {
            Some(words) => Err(words),
            None => Ok((plan.workload().name(), plan.reason.unwrap_or_default())),
        });
        found.push(Listed { name, about });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// What is wrong with the name of a plan in a file of workloads/: results would have another one than
/// `--workload` takes.
fn other_name(plan: &Plan, file: &str) -> Option<String> {
    let name = plan.name.as_deref().filter(|name| *name != file)?;
    Some(format!(
        "the plan in {file}.toml has the name \"{name}\", under which its results would stand; give \
         file and plan the same name"
    ))
}

/// The plan that the user names, with every `set` over it: one of `folder` by its name, or a file of
/// the user's own by its path, which has a `/` or ends in `.toml`.
///
/// # Errors
/// When there is no such plan, or it is none that `shootout` can run.
pub fn read_named(folder: &Path, named: &str, set: Vec<String>) -> Result<NamedPlan, Refusal> {
    let (source, path) = place(folder, named)?;
    let file = PlanFile::read(&path).map_err(Refusal::from_error)?;
    let plan = NamedPlan::new(source, file, set)?;
    match other_name(&plan.plan, named).filter(|_| !is_path(named)) {
        Some(words) => Err(Refusal::new(words)),
        None => Ok(plan),
    }
}

fn is_path(named: &str) -> bool {
    named.contains('/') || named.ends_with(".toml")
}

/// The source and the file of the plan that the user names.
fn place(folder: &Path, named: &str) -> Result<(String, PathBuf), Refusal> {
    if is_path(named) {
        let path = std::path::absolute(named)
            .map_err(|error| Refusal::new(format!("{named}: {error}")))?;
        return Ok((path.display().to_string(), path));
    }
    let path = folder.join(format!("{named}.toml"));
    match path.is_file() {
        true => Ok((named.to_owned(), path)),
        false => Err(unknown(folder, named)),
    }
}

/// The plans that the user names, each once, in order; [`ALL`] stands for every plan of `folder`.
///
/// # Errors
/// When one of them cannot be run, or results of two would have one name.
pub fn read_all(
    folder: &Path,
    named: &[&str],
    sets: &[ScopedSet],
) -> Result<Vec<NamedPlan>, Refusal> {
    let mut names: Vec<String> = Vec::new();
    for one in named {
        let these = match *one {
            ALL => list(folder)?.into_iter().map(|one| one.name).collect(),
            one => vec![one.to_owned()],
        };
        for name in these {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        return Err(Refusal::new(format!(
            "{}: no workload in this folder",
            folder.display()
        )));
    }
    let wanted = names.iter().map(|name| (name.as_str(), Vec::new()));
    read_each(folder, wanted.collect(), sets)
}

/// Plans that were read before, with more sets over each.
///
/// # Errors
/// As of [`read_all`].
pub fn read_again(
    folder: &Path,
    plans: &[NamedPlan],
    sets: &[ScopedSet],
) -> Result<Vec<NamedPlan>, Refusal> {
    let wanted = plans.iter().map(|p| (p.source.as_str(), p.set.clone()));
    read_each(folder, wanted.collect(), sets)
}

/// The plans of these names with the sets that each has already, and with `sets` over them.
fn read_each(
    folder: &Path,
    wanted: Vec<(&str, Vec<String>)>,
    sets: &[ScopedSet],
) -> Result<Vec<NamedPlan>, Refusal> {
    let names: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
    ScopedSet::check(sets, &names)?;
    let mut plans: Vec<NamedPlan> = Vec::new();
    for name in &names {
        place(folder, name)?;
    }
    for (name, mut own) in wanted {
        own.extend(ScopedSet::of_workload(sets, name));
        let plan = read_named(folder, name, own).map_err(|refusal| match names.len() {
            1 => refusal,
            _ => of_one(name, &refusal, sets),
        })?;
        if let Some(twin) = plans.iter().find(|p| p.file_name() == plan.file_name()) {
            return Err(Refusal::new(format!(
                "results of the workloads {} and {} would have one name, {}; rename one",
                twin.source,
                plan.source,
                plan.file_name()
            )));
        }
        plans.push(plan);
    }
    Ok(plans)
}

/// What is wrong with one workload of several.
fn of_one(name: &str, refusal: &Refusal, sets: &[ScopedSet]) -> Refusal {
    let remedy = match sets {
        [] => "",
        _ => " (a change of one workload alone: --set WORKLOAD:KEY=VALUE)",
    };
    Refusal::new(format!("workload {name}: {refusal}{remedy}"))
}

fn unknown(folder: &Path, named: &str) -> Refusal {
    let all = match list(folder) {
        Ok(all) => all,
        Err(refusal) => return refusal,
    };
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    let hint = suggestion(named, names.iter().copied());
    let there_are = match hint.ends_with('?') {
        true => format!("{hint} There are"),
        false => "; there are".to_owned(),
    };
    Refusal::new(format!(
        "no workload \"{named}\"{there_are} {}; a file of your own is named by its path, like \
         ./mine.toml",
        names.join(", ")
    ))
}
