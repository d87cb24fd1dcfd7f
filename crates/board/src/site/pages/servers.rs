//! The page of all servers: what they are made with, and what the checks say of each variant.

use super::{Page, Site};
use crate::report::figures;
use crate::site::SiteError;
use crate::site::board::key;
use askama::Template;
use project::contestant;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Template)]
#[template(path = "site/servers.html")]
struct Servers {
    page: Page,
    sentences: [String; 2],
    servers: Vec<Server>,
}

/// A variant of a server.
struct Server {
    key: String,
    name: String,
    href: String,
    language: String,
    class: String,
    library: String,
    version: String,
    /// Passed, waived, failed, failed of the Autobahn|Testsuite.
    counts: [Option<usize>; 4],
}

pub(super) fn render(site: &Site<'_>) -> Result<String, SiteError> {
    let page = Servers {
        page: site.page("Servers and conformance", "servers.html", ""),
        sentences: sentences(site),
        servers: servers(site),
    };
    Ok(page.render()?)
}

/// What the checks found, and what the Autobahn|Testsuite did.
fn sentences(site: &Site<'_>) -> [String; 2] {
    let lines = &site.gathered.conformance;
    let clean = lines
        .iter()
        .filter(|line| line.waived.is_empty() && line.failed.is_empty());
    let servers: BTreeSet<&str> = lines.iter().map(|line| line.server.as_str()).collect();
    let suite = &site.gathered.autobahn;
    let whole = suite.iter().filter(|record| record.failed.is_empty());
    let count = |number: usize| figures::count(number as u64);
    [
        format!(
            "Of {} variants of {} servers, {} pass every conformance check that applies to them; the \
             others have a waiver with its reason, or fail.",
            count(lines.len()),
            count(servers.len()),
            count(clean.count())
        ),
        format!(
            "{} of {} raw echoes pass the Autobahn|Testsuite without a failed case.",
            count(whole.count()),
            count(suite.len())
        ),
    ]
}

fn servers(site: &Site<'_>) -> Vec<Server> {
    let mut rows: BTreeMap<String, Server> = BTreeMap::new();
    for manifest in &site.gathered.manifests {
        for variant in &manifest.variants {
            let key = key(&manifest.name, &variant.name);
            rows.insert(
                key.clone(),
                Server {
                    key,
                    name: contestant(&manifest.name, &variant.name),
                    href: site.server_href(&manifest.name, ""),
                    language: manifest.language.clone(),
                    class: manifest.class.name().to_owned(),
                    library: manifest.library.clone(),
                    version: "–".to_owned(),
                    counts: [None; 4],
                },
            );
        }
    }
    for line in &site.gathered.conformance {
        if let Some(row) = rows.get_mut(&key(&line.server, &line.variant)) {
            row.version.clone_from(&line.version);
            row.counts[0] = Some(line.passed.len());
            row.counts[1] = Some(line.waived.len());
            row.counts[2] = Some(line.failed.len());
        }
    }
    for record in &site.gathered.autobahn {
        if let Some(row) = rows.get_mut(&key(&record.server.name, &record.server.variant)) {
            row.counts[3] = Some(record.failed.len());
        }
    }
    rows.into_values().collect()
}
