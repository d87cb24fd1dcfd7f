//! What must be there before the build, and the steps of the build.

use super::super::problem::Problems;
use super::super::{Receipt, Requirement, Runtime, Step, raw};
use super::values::{Known, command, env, plain, regex, scope};
use regex::Regex;
use toml::Spanned;

pub(in crate::manifest) fn requirement(
    raw: raw::Requirement,
    variants: &[String],
    p: &mut Problems<'_>,
) -> Requirement {
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
        variants: scope(raw.variants, variants, p),
        probe: plain(raw.probe),
        matches: raw.matches.and_then(|text| regex(&text, p)),
        debian: raw.debian.into_iter().map(Spanned::into_inner).collect(),
        remedy: raw.remedy,
    }
}

pub(super) fn step(raw: raw::Step, variants: &[String], p: &mut Problems<'_>) -> Step {
    Step {
        env: env(&raw.env, Known::Build, p),
        variants: scope(raw.variants, variants, p),
        run: command(raw.run, Known::Build, p),
    }
}

pub(in crate::manifest) fn receipt(raw: raw::Version, p: &mut Problems<'_>) -> Receipt {
    let matches = version(&raw.matches, p);
    Receipt {
        command: command(raw.command, Known::Build, p),
        matches,
    }
}

/// A runtime, which may be told by the output of the version's command.
#[derive(Clone)]
pub(super) struct RuntimeTold {
    name: String,
    command: Option<Vec<String>>,
    matches: Regex,
}

impl RuntimeTold {
    /// That of a variant with this receipt.
    pub(super) fn beside(self, receipt: &Receipt) -> Runtime {
        Runtime {
            name: self.name,
            receipt: Receipt {
                command: self.command.unwrap_or_else(|| receipt.command.clone()),
                matches: self.matches,
            },
        }
    }
}

pub(super) fn runtime(raw: raw::Runtime, p: &mut Problems<'_>) -> RuntimeTold {
    if raw.name.get_ref().trim().is_empty() {
        p.at(Some(raw.name.span()), "a runtime needs a name");
    }
    let matches = version(&raw.matches, p);
    RuntimeTold {
        name: raw.name.into_inner(),
        command: raw.command.map(|given| command(given, Known::Build, p)),
        matches,
    }
}

/// An expression whose first group is a version.
fn version(raw: &Spanned<String>, p: &mut Problems<'_>) -> Regex {
    let matches = regex(raw, p);
    if matches.as_ref().is_some_and(|r| r.captures_len() < 2) {
        p.at(
            Some(raw.span()),
            "group 1 is the version: put it in parentheses, like 'v(\\S+)'",
        );
    }
    matches.unwrap_or_else(|| Regex::new("").expect("the empty expression is valid"))
}
