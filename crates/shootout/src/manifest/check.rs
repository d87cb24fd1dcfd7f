//! Turns the manifest as written into the manifest as meant, and finds what cannot be meant.
//!
//! Looks at values only; keys and types were settled by the parser.

use super::problem::Problems;
use super::{
    DEFAULT_VARIANT, Dialect, Manifest, Problem, Receipt, Requirement, Step, VERSION, Variant,
    Waiver, Workload, placeholder, raw, suggestion,
};
use regex::Regex;
use std::collections::BTreeMap;
use std::time::Duration;
use toml::Spanned;

const READY_TIMEOUT: Duration = Duration::from_secs(20);
const GRACE: Duration = Duration::from_secs(5);

pub(super) fn manifest(
    raw: raw::Manifest,
    folder: &str,
    mut problems: Problems<'_>,
) -> Result<Manifest, Vec<Problem>> {
    let p = &mut problems;
    if *raw.manifest.get_ref() != VERSION {
        p.at(
            Some(raw.manifest.span()),
            format!(
                "manifest version {} is not known; this program reads version {VERSION}",
                raw.manifest.get_ref()
            ),
        );
    }
    if raw.name.get_ref() != folder {
        p.at(
            Some(raw.name.span()),
            format!(
                "the name \"{}\" is not the folder's, \"{folder}\"; make them equal",
                raw.name.get_ref()
            ),
        );
    }
    let requires = raw
        .requires
        .into_iter()
        .map(|r| requirement(r, p))
        .collect();
    let build = raw
        .build
        .into_iter()
        .map(|step| Step {
            env: env(&step.env, &placeholder::BUILD, p),
            run: command(step.run, &placeholder::BUILD, p),
        })
        .collect();
    let receipt = Receipt {
        command: command(raw.version.command, &placeholder::BUILD, p),
        matches: version_regex(&raw.version.matches, p),
    };
    let ready_timeout = duration(raw.run.ready_timeout.as_ref(), READY_TIMEOUT, p);
    let grace = duration(raw.run.grace.as_ref(), GRACE, p);
    let base = Variant {
        name: DEFAULT_VARIANT.into(),
        summary: None,
        command: command(raw.run.command, &placeholder::ALL, p),
        env: env(&raw.run.env, &placeholder::ALL, p),
        multi_process: false,
        path: path(&raw.run.path, p),
        dialects: not_empty(&raw.supports.dialects, p),
        workloads: not_empty(&raw.supports.workloads, p),
    };
    let variants = variants(raw.variant, base, p);
    let waivers = raw
        .waiver
        .into_iter()
        .map(|raw| waiver(raw, &variants, p))
        .collect();

    let found = problems.into_vec();
    if !found.is_empty() {
        return Err(found);
    }
    Ok(Manifest {
        name: raw.name.into_inner(),
        language: raw.language,
        library: raw.library,
        homepage: raw.homepage,
        class: raw.class,
        summary: raw.summary,
        requires,
        build,
        receipt,
        ready_timeout,
        grace,
        variants,
        waivers,
    })
}

fn requirement(raw: raw::Requirement, p: &mut Problems<'_>) -> Requirement {
    if raw.debian.is_empty() && raw.remedy.is_none() {
        p.at(
            Some(raw.what.span()),
            "a requirement says how to get it: give \"debian\" packages or a \"remedy\"",
        );
    }
    for package in &raw.debian {
        let valid = package
            .get_ref()
            .starts_with(|c: char| c.is_ascii_alphanumeric())
            && package
                .get_ref()
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.:".contains(c));
        if !valid {
            p.at(
                Some(package.span()),
                format!("\"{}\" is not a Debian package name", package.get_ref()),
            );
        }
    }
    if raw.probe.get_ref().is_empty() {
        p.at(Some(raw.probe.span()), "a command needs a program");
    }
    Requirement {
        what: raw.what.into_inner(),
        probe: plain(raw.probe),
        matches: raw.matches.and_then(|text| regex(&text, p)),
        debian: raw.debian.into_iter().map(Spanned::into_inner).collect(),
        remedy: raw.remedy,
    }
}

fn variants(raw: Vec<raw::Variant>, base: Variant, p: &mut Problems<'_>) -> Vec<Variant> {
    if raw.is_empty() {
        return vec![base];
    }
    let mut variants: Vec<Variant> = Vec::new();
    for raw in raw {
        if variants
            .iter()
            .any(|other| other.name == *raw.name.get_ref())
        {
            p.at(
                Some(raw.name.span()),
                format!("a second variant named \"{}\"", raw.name.get_ref()),
            );
        }
        if !is_name(raw.name.get_ref()) {
            p.at(
                Some(raw.name.span()),
                format!(
                    "\"{}\" is no variant name: use lower-case letters, digits and hyphens",
                    raw.name.get_ref()
                ),
            );
        }
        if let (Some(args), Some(_)) = (&raw.args, &raw.command) {
            p.at(
                Some(args.span()),
                "\"args\" are appended to run.command, \"command\" replaces it: give one of them",
            );
        }
        let mut variant = base.clone();
        if let Some(replaced) = raw.command {
            variant.command = command(replaced, &placeholder::ALL, p);
        }
        if let Some(args) = raw.args {
            variant.command.extend(words(args, &placeholder::ALL, p));
        }
        variant.env.extend(env(&raw.env, &placeholder::ALL, p));
        if let Some(given) = &raw.path {
            variant.path = path(given, p);
        }
        if let Some(given) = &raw.dialects {
            variant.dialects = not_empty::<Dialect>(given, p);
        }
        if let Some(given) = &raw.workloads {
            variant.workloads = not_empty::<Workload>(given, p);
        }
        variants.push(Variant {
            name: raw.name.into_inner(),
            summary: raw.summary,
            multi_process: raw.multi_process,
            ..variant
        });
    }
    variants
}

fn waiver(raw: raw::Waiver, variants: &[Variant], p: &mut Problems<'_>) -> Waiver {
    let ids = crate::conform::check_ids();
    if !ids.contains(&raw.check.get_ref().as_str()) {
        p.at(
            Some(raw.check.span()),
            format!(
                "unknown check \"{}\"{}",
                raw.check.get_ref(),
                suggestion(raw.check.get_ref(), ids)
            ),
        );
    }
    for name in raw.variants.iter().flatten() {
        if !variants.iter().any(|v| v.name == *name.get_ref()) {
            p.at(
                Some(name.span()),
                format!(
                    "unknown variant \"{}\"{}",
                    name.get_ref(),
                    suggestion(name.get_ref(), variants.iter().map(|v| v.name.as_str()))
                ),
            );
        }
    }
    if raw.reason.get_ref().trim().is_empty() {
        p.at(Some(raw.reason.span()), "a waiver needs a reason");
    }
    if let Some(date) = &raw.date
        && date.get_ref().parse::<jiff::civil::Date>().is_err()
    {
        p.at(
            Some(date.span()),
            format!(
                "\"{}\" is no date; write it like \"2026-11-21\"",
                date.get_ref()
            ),
        );
    }
    Waiver {
        check: raw.check.into_inner(),
        variants: raw
            .variants
            .map(|names| names.into_iter().map(Spanned::into_inner).collect()),
        reason: raw.reason.into_inner(),
        link: raw.link,
        date: raw.date.map(Spanned::into_inner),
    }
}

fn command(raw: raw::Words, allowed: &[&str], p: &mut Problems<'_>) -> Vec<String> {
    if raw.get_ref().is_empty() {
        p.at(Some(raw.span()), "a command needs a program");
    }
    words(raw, allowed, p)
}

fn words(raw: raw::Words, allowed: &[&str], p: &mut Problems<'_>) -> Vec<String> {
    for word in raw.get_ref() {
        placeholders(word, allowed, p);
    }
    plain(raw)
}

fn plain(raw: raw::Words) -> Vec<String> {
    raw.into_inner()
        .into_iter()
        .map(Spanned::into_inner)
        .collect()
}

fn env(raw: &raw::Env, allowed: &[&str], p: &mut Problems<'_>) -> BTreeMap<String, String> {
    raw.iter()
        .map(|(key, value)| {
            placeholders(value, allowed, p);
            (key.clone(), value.get_ref().clone())
        })
        .collect()
}

fn placeholders(word: &Spanned<String>, allowed: &[&str], p: &mut Problems<'_>) {
    for name in placeholder::find(word.get_ref()) {
        if allowed.contains(&name) {
            continue;
        }
        let message = if placeholder::ALL.contains(&name) {
            format!(
                "{{{name}}} has no value before the server is started; known here: {{bin}}, {{dir}}"
            )
        } else {
            format!(
                "unknown placeholder \"{name}\"{}",
                suggestion(name, allowed.iter().copied())
            )
        };
        p.at(Some(word.span()), message);
    }
}

fn path(raw: &Spanned<String>, p: &mut Problems<'_>) -> String {
    let path = raw.get_ref();
    if !path.starts_with('/') || path.contains(char::is_whitespace) {
        p.at(
            Some(raw.span()),
            format!("\"{path}\" is no path: it begins with / and has no white space"),
        );
    }
    path.clone()
}

fn not_empty<T: Clone>(raw: &Spanned<Vec<T>>, p: &mut Problems<'_>) -> Vec<T> {
    if raw.get_ref().is_empty() {
        p.at(Some(raw.span()), "name at least one");
    }
    raw.get_ref().clone()
}

fn duration(raw: Option<&Spanned<String>>, default: Duration, p: &mut Problems<'_>) -> Duration {
    let Some(raw) = raw else { return default };
    match humantime::parse_duration(raw.get_ref()) {
        Ok(duration) if !duration.is_zero() => duration,
        Ok(_) => {
            p.at(
                Some(raw.span()),
                "a duration of zero leaves no time; write it like \"5s\"",
            );
            default
        }
        Err(error) => {
            p.at(
                Some(raw.span()),
                format!(
                    "\"{}\" is no duration ({error}); write it like \"5s\" or \"1m30s\"",
                    raw.get_ref()
                ),
            );
            default
        }
    }
}

fn regex(raw: &Spanned<String>, p: &mut Problems<'_>) -> Option<Regex> {
    match Regex::new(raw.get_ref()) {
        Ok(regex) => Some(regex),
        Err(error) => {
            let reason = error.to_string();
            let last = reason.lines().last().unwrap_or_default();
            p.at(
                Some(raw.span()),
                format!(
                    "not a regular expression: {}",
                    last.trim_start_matches("error: ")
                ),
            );
            None
        }
    }
}

fn version_regex(raw: &Spanned<String>, p: &mut Problems<'_>) -> Regex {
    let regex = regex(raw, p);
    if regex.as_ref().is_some_and(|r| r.captures_len() < 2) {
        p.at(
            Some(raw.span()),
            "group 1 is the version: put it in parentheses, like 'v(\\S+)'",
        );
    }
    regex.unwrap_or_else(|| Regex::new("").expect("the empty expression is valid"))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}
