//! The ranking as Markdown.

use super::ranking::Row;
use super::subject::Subject;
use super::table::Table;
use super::{by_category, headline};
use record::Measurement;
use std::fmt::Write as _;

/// One table for each workload and dialect, with its rule above and its numbered notes below.
pub(crate) fn table(measurements: &[Measurement]) -> String {
    by_category(measurements, category).join("\n")
}

fn category(rows: &[Row<'_>]) -> String {
    let table = Table::new(rows);
    let mut text = format!(
        "### {}\n\n{}\n\n",
        escaped(&headline::category(&rows[0])),
        escaped(&headline::sentence(rows))
    );
    let subject = Subject::new(rows);
    for words in subject
        .reason()
        .into_iter()
        .chain(table.ranked_by.as_deref())
    {
        let _ = write!(text, "{}\n\n", escaped(words));
    }
    let titles: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
    let rules: Vec<&str> = table
        .columns
        .iter()
        .map(|column| if column.numeric { "--:" } else { "---" })
        .collect();
    if !table.lines.is_empty() {
        let _ = writeln!(text, "| {} |\n|{}|", titles.join(" | "), rules.join("|"));
    }
    for line in &table.lines {
        let mut cells: Vec<String> = line.cells.iter().map(|cell| escaped(&cell.text)).collect();
        if let (Some(status), false) = (cells.last_mut(), line.notes.is_empty()) {
            let numbers: Vec<String> = line.notes.iter().map(usize::to_string).collect();
            let _ = write!(status, " \\[{}\\]", numbers.join(", "));
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    if let Some(remark) = table.remark {
        let _ = writeln!(text, "\n**{remark}**");
    }
    for absent in &table.absent {
        let _ = writeln!(text, "\n{}", escaped(absent));
    }
    if !table.notes.is_empty() {
        text.push('\n');
    }
    for note in &table.notes {
        let _ = write!(text, "{}. {}", note.number, escaped(&note.text));
        if let Some(link) = note.link.as_deref().filter(|link| is_web_address(link)) {
            let _ = write!(
                text,
                " ([link]({}))",
                link.replace(['(', ')', ' ', '\n'], "")
            );
        }
        text.push('\n');
    }
    text
}

/// Whether a link may be offered for a click: nothing but a web page.
pub(crate) fn is_web_address(link: &str) -> bool {
    link.starts_with("https://") || link.starts_with("http://")
}

/// Text that Markdown shows as it is, on one line.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' if out.is_empty() || c != '#' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
