//! The page that puts two to four servers side by side. Its script does it, with the figures that the
//! page holds.

use super::{Page, Site};
use crate::site::SiteError;
use crate::site::board::Ranked;
use askama::Template;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Template)]
#[template(path = "site/side.html")]
struct Side {
    page: Page,
    /// As a literal of the script.
    figures: String,
}

#[derive(Serialize)]
struct Figures<'s> {
    groups: Vec<Group<'s>>,
    rows: BTreeMap<&'s str, Row<'s>>,
}

/// The figures of one ranking.
#[derive(Serialize)]
struct Group<'s> {
    title: &'s str,
    href: String,
    /// The run and its machine.
    from: String,
    /// Name and meaning of each figure.
    heads: Vec<(&'s str, &'s str)>,
    /// The figures of each row, by its key.
    cells: BTreeMap<&'s str, Vec<&'s str>>,
}

#[derive(Serialize)]
struct Row<'s> {
    name: &'s str,
    href: String,
    language: &'s str,
    class: &'s str,
    version: &'s str,
    conformance: String,
}

pub(super) fn render(site: &Site<'_>) -> Result<String, SiteError> {
    let page = Side {
        page: site.page("Servers side by side", "side-by-side.html", ""),
        figures: literal(&figures(site)),
    };
    Ok(page.render()?)
}

/// JSON in which nothing ends the script that it is part of.
fn literal(figures: &Figures<'_>) -> String {
    let json = serde_json::to_string(figures).expect("texts alone");
    json.replace('<', "\\u003c")
}

fn figures<'s>(site: &'s Site<'_>) -> Figures<'s> {
    let mut rows = BTreeMap::new();
    let groups = site.rankings().map(|(machine, ranking)| {
        let lines = || ranking.lines.iter().chain(&ranking.ceilings);
        for line in lines() {
            rows.entry(line.key.as_str()).or_insert_with(|| Row {
                name: &line.name,
                href: site.server_href(&line.server, ""),
                language: &line.language,
                class: &line.class,
                version: &line.dated_version,
                conformance: site
                    .conformance(&line.key)
                    .unwrap_or_else(|| "–".to_owned()),
            });
        }
        let machine = machine.board.machine.as_ref();
        let machine = machine.map_or_else(String::new, |machine| format!(", {}", machine.words()));
        let ranked = ranking.ranked_by.as_deref().unwrap_or_default();
        let heads = [
            ("status", "Whether there is a result, and if not, why."),
            (ranking.kind.words(), ranked),
            ("interval", "Of that figure, over the repetitions."),
        ];
        let columns = ranking.columns.iter();
        let columns = columns.map(|column| (column.title.as_str(), column.meaning.as_str()));
        Group {
            title: &ranking.title,
            href: site.workload_href(&ranking.workload, ""),
            from: format!("{}{machine}", ranking.origin),
            heads: heads.into_iter().chain(columns).collect(),
            cells: lines()
                .map(|line| (line.key.as_str(), cells(line)))
                .collect(),
        }
    });
    let groups = groups.collect();
    Figures { groups, rows }
}

fn cells(line: &Ranked) -> Vec<&str> {
    let ranked = [line.status.name(), &line.figure.text, &line.interval];
    let others = line.cells.iter().map(|cell| cell.text.as_str());
    ranked.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_does_not_end_the_script() {
        let row = Row {
            name: "</script><b>",
            href: String::new(),
            language: "",
            class: "",
            version: "",
            conformance: String::new(),
        };
        let figures = Figures {
            groups: Vec::new(),
            rows: BTreeMap::from([("a/b", row)]),
        };
        let literal = literal(&figures);
        assert!(!literal.contains('<'), "{literal}");
        let read: serde_json::Value = serde_json::from_str(&literal).unwrap();
        assert_eq!(read["rows"]["a/b"]["name"], "</script><b>");
    }
}
