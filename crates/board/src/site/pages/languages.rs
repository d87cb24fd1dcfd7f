//! Languages beside each other: the cheapest server of each, and the one in the middle.

use super::Site;
use crate::site::field::{Bar, Field, Line};
use crate::stats;
use std::collections::BTreeMap;

/// A language.
pub(super) struct Language {
    pub(super) name: String,
    /// Its cheapest server.
    pub(super) server: String,
    pub(super) href: String,
    /// The multiple of that server, of each and in the middle, as a number and as it is shown.
    pub(super) cheapest: (f64, String),
    pub(super) median: (f64, String),
    /// How many servers have a figure.
    pub(super) servers: usize,
}

/// The languages of the servers that have a bar, the one with the cheapest server first.
pub(super) fn languages(site: &Site<'_>, field: &Field<'_>) -> Vec<Language> {
    let mut by_language: BTreeMap<&str, Vec<(&Line, &Bar)>> = BTreeMap::new();
    for line in &field.lines {
        if let Some(bar) = &line.bar {
            let all = by_language.entry(&line.language).or_default();
            all.push((line, bar));
        }
    }
    let shown = |times: f64| (times, format!("{times:.2}×"));
    let mut languages: Vec<Language> = by_language
        .into_iter()
        .map(|(name, all)| {
            let (line, bar) = all[0];
            let times: Vec<f64> = all.iter().map(|(_, bar)| bar.times).collect();
            Language {
                name: name.to_owned(),
                server: line.name.clone(),
                href: site.server_href(&line.server, ""),
                cheapest: shown(bar.times),
                median: shown(stats::median(&times)),
                servers: all.len(),
            }
        })
        .collect();
    languages.sort_by(|a, b| a.cheapest.0.total_cmp(&b.cheapest.0));
    languages
}

/// The three languages of the most servers, in a sentence; `None` where fewer than two have several.
pub(super) fn between(languages: &[Language]) -> Option<String> {
    let mut most: Vec<&Language> = languages.iter().filter(|of| of.servers > 1).collect();
    most.sort_by_key(|of| std::cmp::Reverse(of.servers));
    let first: Vec<&Language> = most.into_iter().take(3).collect();
    if first.len() < 2 {
        return None;
    }
    let each = first.iter().map(|of| {
        format!(
            "{}: {} at best ({}), {} in the middle of {} servers",
            of.name, of.cheapest.1, of.server, of.median.1, of.servers
        )
    });
    Some(format!("{}.", each.collect::<Vec<_>>().join("; ")))
}
