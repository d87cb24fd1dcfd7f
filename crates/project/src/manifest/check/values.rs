//! Single values: commands, placeholders, paths, durations, regular expressions, names.

use super::super::problem::Problems;
use super::super::{Scope, Workload, placeholder, raw, suggestion};
use regex::Regex;
use std::collections::BTreeMap;
use std::time::Duration;
use toml::Spanned;

/// Which placeholders have a value in a command.
#[derive(Clone, Copy)]
pub(in crate::manifest) enum Known<'a> {
    /// Those of a command that runs before the server is started.
    Build,
    /// Those of a service, among services of these names.
    Service(&'a [String]),
    /// Those of the server, beside services of these names.
    Server(&'a [String]),
    /// Those of a proxy.
    Proxy,
    /// Those of the command that reloads a proxy.
    Reload,
}

pub(in crate::manifest) fn command(
    raw: raw::Words,
    known: Known<'_>,
    p: &mut Problems<'_>,
) -> Vec<String> {
    if raw.get_ref().is_empty() {
        p.at(Some(raw.span()), "a command needs a program");
    }
    words(raw, known, p)
}

pub(super) fn words(raw: raw::Words, known: Known<'_>, p: &mut Problems<'_>) -> Vec<String> {
    for word in raw.get_ref() {
        placeholders(word, known, p);
    }
    plain(raw)
}

pub(super) fn plain(raw: raw::Words) -> Vec<String> {
    raw.into_inner()
        .into_iter()
        .map(Spanned::into_inner)
        .collect()
}

pub(in crate::manifest) fn env(
    raw: &raw::Env,
    known: Known<'_>,
    p: &mut Problems<'_>,
) -> BTreeMap<String, String> {
    raw.iter()
        .map(|(key, value)| {
            placeholders(value, known, p);
            (key.clone(), value.get_ref().clone())
        })
        .collect()
}

fn placeholders(word: &Spanned<String>, known: Known<'_>, p: &mut Problems<'_>) {
    for name in placeholder::find(word.get_ref()) {
        let message = match name.strip_prefix(placeholder::SERVICE_PREFIX) {
            Some(service) => not_a_service(service, known),
            None => not_a_placeholder(name, known),
        };
        if let Some(message) = message {
            p.at(Some(word.span()), message);
        }
    }
}

fn not_a_service(name: &str, known: Known<'_>) -> Option<String> {
    let services = match known {
        Known::Build => return Some(too_early(&format!("service:{name}"))),
        Known::Service(services) | Known::Server(services) => services,
        Known::Proxy | Known::Reload => &[],
    };
    if services.iter().any(|service| service == name) {
        return None;
    }
    let near = match services {
        [] => "; no [[service]] is declared".to_owned(),
        services => suggestion(name, services.iter().map(String::as_str)),
    };
    Some(format!("unknown service \"{name}\"{near}"))
}

fn not_a_placeholder(name: &str, known: Known<'_>) -> Option<String> {
    let allowed: &[&str] = match known {
        Known::Build => &placeholder::BUILD,
        Known::Service(_) => &placeholder::SERVICE,
        Known::Server(_) => &placeholder::ALL,
        Known::Proxy => &placeholder::PROXY,
        Known::Reload => &placeholder::RELOAD,
    };
    if allowed.contains(&name) {
        return None;
    }
    Some(match known {
        Known::Build if placeholder::ALL.contains(&name) => too_early(name),
        Known::Service(_) if placeholder::ALL.contains(&name) => format!(
            "{{{name}}} is the server's and not known to a service; its own port is \
             {{service:NAME}}"
        ),
        _ => format!(
            "unknown placeholder \"{name}\"{}",
            suggestion(name, allowed.iter().copied())
        ),
    })
}

fn too_early(name: &str) -> String {
    format!("{{{name}}} has no value before the server is started; known here: {{bin}}, {{dir}}")
}

/// The variants that a key names, or all; `names` are all there are.
pub(super) fn scope(raw: Option<raw::Words>, names: &[String], p: &mut Problems<'_>) -> Scope {
    let Some(raw) = raw else {
        return Scope(None);
    };
    if raw.get_ref().is_empty() {
        p.at(
            Some(raw.span()),
            "no variant is named: name at least one, or leave the key out for all",
        );
    }
    for name in raw.get_ref() {
        if !names.contains(name.get_ref()) {
            p.at(
                Some(name.span()),
                format!(
                    "unknown variant \"{}\"{}",
                    name.get_ref(),
                    suggestion(name.get_ref(), names.iter().map(String::as_str))
                ),
            );
        }
    }
    Scope(Some(plain(raw)))
}

/// Reports a name that exists already or has other characters than names may have.
pub(super) fn name(
    raw: &Spanned<String>,
    kind: &str,
    mut others: impl Iterator<Item = String>,
    p: &mut Problems<'_>,
) {
    let name = raw.get_ref();
    if others.any(|other| other == *name) {
        p.at(
            Some(raw.span()),
            format!("a second {kind} named \"{name}\""),
        );
    }
    let valid = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !valid {
        p.at(
            Some(raw.span()),
            format!("\"{name}\" is no {kind} name: use lower-case letters, digits and hyphens"),
        );
    }
}

pub(super) fn path(raw: &Spanned<String>, p: &mut Problems<'_>) -> String {
    let path = raw.get_ref();
    if !path.starts_with('/') || path.contains(char::is_whitespace) {
        p.at(
            Some(raw.span()),
            format!("\"{path}\" is no path: it begins with / and has no white space"),
        );
    }
    path.clone()
}

pub(super) fn not_empty<T: Clone>(raw: &Spanned<Vec<T>>, p: &mut Problems<'_>) -> Vec<T> {
    if raw.get_ref().is_empty() {
        p.at(Some(raw.span()), "name at least one");
    }
    raw.get_ref().clone()
}

/// Every server can hold connections: `connect` is no workload of a manifest.
pub(super) fn workloads(raw: &Spanned<Vec<Workload>>, p: &mut Problems<'_>) -> Vec<Workload> {
    if raw.get_ref().contains(&Workload::Connect) {
        p.at(
            Some(raw.span()),
            "\"connect\" is no workload of the protocol; name \"echo\", \"broadcast\" and \"rooms\", as far as the server has them",
        );
    }
    if raw.get_ref().contains(&Workload::Rooms) && !raw.get_ref().contains(&Workload::Echo) {
        p.at(
            Some(raw.span()),
            "\"rooms\" needs \"echo\" beside it: the checks of rooms ask for echoes to learn that nothing more comes",
        );
    }
    not_empty(raw, p)
}

pub(in crate::manifest) fn duration(
    raw: Option<&Spanned<String>>,
    default: Duration,
    p: &mut Problems<'_>,
) -> Duration {
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

pub(super) fn regex(raw: &Spanned<String>, p: &mut Problems<'_>) -> Option<Regex> {
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
