//! docs/cookbook.md as data: the tasks, their files, their commands, and the lines that they promise.

use regex::Regex;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A task as it is on the page.
pub(super) struct Entry {
    pub(super) heading: String,
    /// Names and contents.
    pub(super) files: Vec<(String, String)>,
    pub(super) command: String,
    /// Lines of the output, each the beginning of one or all of it.
    pub(super) promised: Vec<String>,
    pub(super) text: String,
}

/// All tasks of the page.
pub(super) fn entries() -> &'static [Entry] {
    static PAGE: OnceLock<Vec<Entry>> = OnceLock::new();
    PAGE.get_or_init(|| {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cookbook.md");
        let page = fs::read_to_string(page).unwrap();
        page.split("\n### ").skip(1).map(Entry::read).collect()
    })
}

impl Entry {
    fn read(text: &str) -> Self {
        let (heading, body) = text.split_once('\n').unwrap();
        let body = body.split("\n## ").next().unwrap();
        let mut entry = Self {
            heading: heading.to_owned(),
            files: Vec::new(),
            command: String::new(),
            promised: Vec::new(),
            text: body.to_owned(),
        };
        let mut rest = body;
        while let Some((before, block)) = rest.split_once("\n```") {
            let (language, block) = block.split_once('\n').unwrap();
            let (block, after) = block.split_once("```").unwrap();
            let label = before.trim_end().lines().last().unwrap_or_default();
            let name = label.strip_prefix('`').and_then(|l| l.strip_suffix("`:"));
            match (name, language) {
                (Some(name), _) => entry.files.push((name.to_owned(), block.to_owned())),
                (None, "sh") => entry.command.push_str(block),
                (None, _) => entry.promised.extend(block.lines().map(str::to_owned)),
            }
            rest = after;
        }
        entry
    }
}

/// What an output must have a line of: figures with a unit are any figures with that kind of unit,
/// `...` is anything, and a line may go on.
pub(super) fn matching(promised: &str) -> Regex {
    const FIGURE: &str = r"\d[\d.]*(?:[kMG]?/s| ?(?:us|ms|s|[kMG]?B)\b|%)";
    let figures = Regex::new(FIGURE).unwrap();
    let exact = |text: &str| {
        let words = text.split(' ').filter(|word| !word.is_empty());
        words.map(regex::escape).collect::<Vec<_>>().join(r"\s+")
    };
    let loose = |part: &str| {
        let (mut out, mut end) = (String::new(), 0);
        for found in figures.find_iter(part) {
            out.push_str(&spaced(&part[end..found.start()], exact));
            out.push_str(FIGURE);
            end = found.end();
        }
        out + &spaced(&part[end..], exact)
    };
    let parts: Vec<String> = promised.trim().split("...").map(loose).collect();
    Regex::new(&format!(r"^\s*{}", parts.join(".*"))).unwrap()
}

/// The same text with white space at its ends where it has some.
fn spaced(text: &str, exact: impl Fn(&str) -> String) -> String {
    let is_blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
    let before = if is_blank(text.chars().next()) {
        r"\s*"
    } else {
        ""
    };
    let after = if is_blank(text.chars().last()) {
        r"\s*"
    } else {
        ""
    };
    format!("{before}{}{after}", exact(text))
}

#[test]
fn figures_may_differ_and_counts_may_not() {
    let line = matching("clients:    50    95per-rtt: 3.7ms    sent: ...");
    assert!(line.is_match("clients:    50    95per-rtt:  12us    sent: 1.2k/s"));
    assert!(!line.is_match("clients:    51    95per-rtt:  12us    sent: 1.2k/s"));
    assert!(!line.is_match("clients:    50    95per-rtt: none    sent: 1.2k/s"));
    let line = matching("    opened       200 of 200, 3174/s");
    assert!(line.is_match("    opened       200 of 200, 99/s; tcp part p50 1us"));
    assert!(!line.is_match("    opened       199 of 200, 99/s; tcp part p50 1us"));
    assert!(!matching("(1200 samples)").is_match("(1199 samples)"));
}

#[test]
fn each_file_of_the_page_has_at_most_30_lines_and_each_task_promises_something() {
    for entry in entries() {
        let heading = &entry.heading;
        for (name, text) in &entry.files {
            assert!(text.lines().count() <= 30, "{heading}: {name}");
        }
        assert!(
            !entry.command.is_empty() && !entry.promised.is_empty(),
            "{heading}"
        );
    }
}
