//! `shootout list`: the servers and their variants, and the workloads.

use super::Context;
use crate::exit::Exit;
use board::terminal::{aligned, one_line};
use project::Refusal;
use project::ServerFolder;
use project::manifest::lines;
use project::manifest::{Manifest, RawEcho, Variant};
use project::workload;
use serde_json::{Value, json};

/// `shootout list --workloads`: the plans of workloads/, each with its reason.
pub(super) fn workloads(context: &Context<'_>, as_json: bool) -> Result<Exit, Refusal> {
    let all = workload::list(&context.project.workloads())?;
    if as_json {
        let all: Vec<Value> = all
            .iter()
            .map(|one| match &one.about {
                Ok((request, reason)) => {
                    json!({ "name": one.name, "request": request, "reason": reason })
                }
                Err(problem) => json!({ "name": one.name, "problem": problem }),
            })
            .collect();
        return print_json(&all);
    }
    let mut grid = vec![["WORKLOAD", "REQUEST", "REASON"].map(str::to_owned)];
    grid.extend(all.iter().map(|one| match &one.about {
        Ok((request, reason)) => [one.name.clone(), (*request).to_owned(), one_line(reason)],
        Err(problem) => {
            let problem = format!("unusable: {}", one_line(problem));
            [one.name.clone(), "-".into(), problem]
        }
    }));
    for line in aligned(&grid, |_| false) {
        say!("{line}");
    }
    Ok(Exit::Ok)
}

fn print_json(all: &[Value]) -> Result<Exit, Refusal> {
    let text = serde_json::to_string_pretty(all)
        .map_err(|error| Refusal::new(format!("the list cannot be written: {error}")))?;
    say!("{text}");
    Ok(Exit::Ok)
}

pub(super) fn list(context: &Context<'_>, as_json: bool) -> Result<Exit, Refusal> {
    let entries = context.project.select(&[])?;
    if as_json {
        let all: Vec<Value> = entries.iter().map(entry_json).collect();
        return print_json(&all);
    }
    let mut grid = vec![
        [
            "SERVER", "VARIANT", "LANGUAGE", "LIBRARY", "SPEAKS", "SUMMARY",
        ]
        .map(str::to_owned),
    ];
    for entry in &entries {
        match &entry.manifest {
            Ok(manifest) => {
                grid.extend(manifest.variants.iter().map(|v| line(manifest, v)));
            }
            Err(problems) => grid.push([
                entry.name.clone(),
                "-".into(),
                "-".into(),
                "-".into(),
                "-".into(),
                format!("unusable: {}", lines(problems).replace('\n', "; ")),
            ]),
        }
    }
    for line in aligned(&grid, |_| false) {
        say!("{line}");
    }
    Ok(Exit::Ok)
}

fn line(manifest: &Manifest, variant: &Variant) -> [String; 6] {
    [
        manifest.name.clone(),
        variant.name.clone(),
        manifest.language.clone(),
        manifest.library.clone(),
        speaks(variant),
        variant
            .summary
            .clone()
            .unwrap_or_else(|| manifest.summary.clone()),
    ]
}

fn speaks(variant: &Variant) -> String {
    let words: Vec<&str> = variant.dialects.iter().map(|d| d.name()).collect();
    words.join(",")
}

fn entry_json(entry: &ServerFolder) -> Value {
    match &entry.manifest {
        Ok(manifest) => json!({
            "name": manifest.name,
            "language": manifest.language,
            "library": manifest.library,
            "homepage": manifest.homepage,
            "class": manifest.class,
            "summary": manifest.summary,
            "json": manifest.json,
            "released": manifest.released,
            "old-because": manifest.old_because,
            "step-size": manifest.step_size,
            "variants": manifest.variants.iter().map(|variant| json!({
                "name": variant.name,
                "summary": variant.summary,
                "runtime": variant.runtime.as_ref().map(|runtime| &runtime.name),
                "dialects": variant.dialects,
                "workloads": variant.workloads.iter().map(|w| w.name()).collect::<Vec<_>>(),
                "multi-process": variant.multi_process,
                "compression": variant.compression,
                "requires": manifest
                    .requires
                    .iter()
                    .filter(|needed| needed.variants.covers(&variant.name))
                    .map(|needed| &needed.what)
                    .collect::<Vec<_>>(),
                "services": variant.services.iter().map(|s| &s.name).collect::<Vec<_>>(),
                "raw-echo": has_raw_echo(manifest, variant),
            })).collect::<Vec<_>>(),
        }),
        Err(problems) => json!({ "name": entry.name, "problem": lines(problems) }),
    }
}

fn has_raw_echo(manifest: &Manifest, variant: &Variant) -> bool {
    match &manifest.raw_echo {
        Some(RawEcho::Modes(modes)) => modes.iter().any(|mode| mode.name == variant.name),
        Some(RawEcho::None(_)) | None => false,
    }
}
