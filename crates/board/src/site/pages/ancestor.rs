//! 2016 beside today.

use super::{Page, Site};
use crate::report::figures;
use crate::site::SiteError;
use crate::site::ancestor::{Ancestor, Block, Step};
use crate::site::text;

use askama::Template;
use project::workload;

#[derive(Template)]
#[template(path = "site/ancestor.html")]
struct Then<'s> {
    page: Page,
    about: String,
    limit: &'static str,
    tables: Vec<Table<'s>>,
}

struct Table<'s> {
    name: String,
    hardware: String,
    blocks: Vec<Shown<'s>>,
}

struct Shown<'s> {
    server: String,
    generator: String,
    /// Clients of the last step, its p95 and median, memory: text, and the number that sorts.
    numbers: [(String, Option<String>); 4],
    /// Page, server, and its figures in the newest round.
    today: Vec<(String, String, String)>,
    server_command: Option<&'s str>,
    bench_command: &'s str,
    extra: Vec<String>,
    /// Clients, p95, min, median, max.
    steps: Vec<[String; 5]>,
}

pub(super) fn render(site: &Site<'_>) -> Result<String, SiteError> {
    let ancestor = &site.gathered.ancestor;
    let tables = ancestor.tables.iter().map(|table| {
        let mut hardware: Vec<&str> = table
            .blocks
            .iter()
            .map(|block| block.hardware.as_str())
            .collect();
        hardware.dedup();
        Table {
            name: table.name.clone(),
            hardware: hardware.join("; "),
            blocks: table
                .blocks
                .iter()
                .map(|block| shown(site, block))
                .collect(),
        }
    });
    let page = Then {
        page: site.page("2016 beside today", "2016.html", ""),
        about: ancestor
            .about
            .as_deref()
            .map(text::html)
            .unwrap_or_default(),
        limit: Ancestor::limit(),
        tables: tables.collect(),
    };
    Ok(page.render()?)
}

fn shown<'s>(site: &Site<'_>, block: &'s Block) -> Shown<'s> {
    let last = block.steps.last();
    let number = |value: Option<f64>, unit: &str| match value {
        Some(value) => (format!("{value}{unit}"), Some(value.to_string())),
        None => ("–".to_owned(), None),
    };
    let clients = last.map(|step| step.clients);
    let clients = match clients {
        Some(clients) => (figures::count(clients), Some(clients.to_string())),
        None => ("–".to_owned(), None),
    };
    let mut extra = Vec::new();
    if let Some(rate) = block.connections_per_ms {
        extra.push(format!("Connections per millisecond: {rate}"));
    }
    if let Some(rate) = block.connections_per_mb {
        extra.push(format!("Connections per megabyte: {rate}"));
    }
    Shown {
        server: block.server.clone(),
        generator: format!("{}, {}", block.generator, block.message),
        numbers: [
            clients,
            number(last.map(|step| step.p95_ms), " ms"),
            number(last.map(|step| step.median_ms), " ms"),
            number(block.memory_mb_approx.map(|mb| mb as f64), " MB"),
        ],
        today: today(site, &block.server),
        server_command: block.server_command.as_deref(),
        bench_command: &block.bench_command,
        extra,
        steps: block.steps.iter().map(cells).collect(),
    }
}

fn cells(step: &Step) -> [String; 5] {
    let ms = |ms: f64| format!("{ms} ms");
    let Step {
        clients,
        p95_ms,
        min_ms,
        median_ms,
        max_ms,
    } = *step;
    [
        figures::count(clients),
        ms(p95_ms),
        ms(min_ms),
        ms(median_ms),
        ms(max_ms),
    ]
}

/// The servers of today whose manifest says that this row was theirs, with their figures under the
/// plan of 2016.
fn today(site: &Site<'_>, then: &str) -> Vec<(String, String, String)> {
    let manifests = site.gathered.manifests.iter();
    let heirs = manifests.filter(|manifest| manifest.in_2016.iter().any(|name| name == then));
    heirs
        .map(|manifest| {
            let newest = site.round.map(|round| &round.name);
            let points = site.points.iter().filter(|point| {
                Some(&point.round) == newest
                    && point.server == manifest.name
                    && point.workload == workload::USUAL
            });
            let figures: Vec<String> = points
                .map(|point| format!("{} {} clients", point.dialect, point.figure))
                .collect();
            let words = match figures.as_slice() {
                [] => String::new(),
                figures => format!(": {}", figures.join(", ")),
            };
            (
                site.server_href(&manifest.name, ""),
                manifest.name.clone(),
                words,
            )
        })
        .collect()
}
