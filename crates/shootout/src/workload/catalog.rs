//! The workloads of a project: its plans in workloads/, by name and reason.

use super::NamedPlan;
use crate::exit::Refusal;
use crate::manifest::suggestion;
use plan_file::PlanFile;
use std::fs;
use std::path::Path;

/// A plan of workloads/.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Name of its file without the ending: what `--workload` takes.
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
        let plan = PlanFile::read(&path).and_then(|file| file.plan());
        found.push(Listed {
            name: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into(),
            about: plan.map(|plan| {
                let reason = plan.reason.clone();
                (plan.workload().name(), reason.unwrap_or_default())
            }),
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The plan that the user names, with every `set` over it: one of `folder` by its name, or a file of
/// the user's own by its path, which has a `/` or ends in `.toml`.
///
/// # Errors
/// When there is no such plan, or it is none that `shootout` can run.
pub fn read_named(folder: &Path, named: &str, set: Vec<String>) -> Result<NamedPlan, Refusal> {
    let is_path = named.contains('/') || named.ends_with(".toml");
    let (source, path) = if is_path {
        let path = std::path::absolute(named)
            .map_err(|error| Refusal::new(format!("{named}: {error}")))?;
        (path.display().to_string(), path)
    } else {
        (named.to_owned(), folder.join(format!("{named}.toml")))
    };
    if !is_path && !path.is_file() {
        return Err(unknown(folder, named));
    }
    let file = PlanFile::read(&path).map_err(Refusal::new)?;
    NamedPlan::new(source, file, set)
}

fn unknown(folder: &Path, named: &str) -> Refusal {
    let all = match list(folder) {
        Ok(all) => all,
        Err(refusal) => return refusal,
    };
    let mut words = format!(
        "no workload \"{named}\"{}",
        suggestion(named, all.iter().map(|one| one.name.as_str()))
    );
    let width = all
        .iter()
        .map(|one| one.name.len())
        .max()
        .unwrap_or_default();
    for one in &all {
        let about = match &one.about {
            Ok((_, reason)) => reason,
            Err(problem) => problem,
        };
        words.push_str(&format!("\n  {:width$}  {about}", one.name));
    }
    words.push_str("\na file of your own is named by its path, like ./mine.toml");
    Refusal::new(words)
}
