//! Secrets of texts that have a meaning by their lines: YAML, sections, tables, parts of a form.

use super::names::is_secret_name;
use super::values::regex;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A name of YAML whose value stands on the lines below.
static OPENS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"^([ \t]*(?:- +)*)["']?([\p{L}][\w .-]{0,63})["']?[ \t]*:[ \t]*(?:[|>][+-]?\d?)?[ \t]*$"#,
    )
});
/// What stands before the value on such a line.
static BEFORE: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"^[ \t]*(?:- +)*(?:["']?[\p{L}][\w.-]*["']?[ \t]*:[ \t]+)?["']?"#));
static SECTION: LazyLock<Regex> = LazyLock::new(|| regex(r"^[ \t]*\[([\w.:-]+)\][ \t]*$"));
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| regex(r"^[ \t]*[\w.-]+[ \t]*=[ \t]*(.+)$"));
/// A part of a form (RFC 7578, 4.2) with its name and its value.
static PART: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i)form-data;[^\r\n]*?name="([^"\r\n]+)"[^\r\n]*(?:\r?\n[^\r\n]+)*\r?\n\r?\n([^\r\n]+)"#,
    )
});
/// Fields of a table are between two of one of these.
const SEPARATORS: [char; 4] = ['\t', ';', '|', ','];

/// A line without its end, and where it begins.
type Line<'t> = (usize, &'t str);

/// Finds them.
pub(super) fn look(text: &str, out: &mut dyn FnMut(Range<usize>, String)) {
    if !text.trim_end().contains('\n') {
        return;
    }
    for part in PART
        .captures_iter(text)
        .filter(|part| is_secret_name(&part[1]))
    {
        out(
            part.get(2).map_or(0..0, |value| value.range()),
            part[1].to_owned(),
        );
    }
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line.trim_end_matches(['\r', '\n', '\0']))
    });
    let lines: Vec<Line<'_>> = lines.collect();
    for (number, (_, line)) in lines.iter().enumerate() {
        let below = &lines[number + 1..];
        if let Some(opens) = OPENS.captures(line).filter(|of| is_secret_name(&of[2])) {
            look_at_block(&opens[1], &opens[2], below, out);
        }
        if let Some(section) = SECTION.captures(line).filter(|of| is_secret_name(&of[1])) {
            let own = below
                .iter()
                .take_while(|(_, line)| !line.trim_start().starts_with('['));
            for (at, line) in own {
                if let Some(value) = ASSIGNED.captures(line).and_then(|of| of.get(1)) {
                    out(at + value.start()..at + value.end(), section[1].to_owned());
                }
            }
        }
    }
    look_at_table(&lines, out);
}

/// True of what YAML writes in the place of a value that stands on the lines below.
pub(super) fn opens_block(value: &str) -> bool {
    let rest = value.trim().strip_prefix(['|', '>']);
    rest.is_some_and(|rest| rest.len() < 3 && rest.chars().all(|c| "+-123456789".contains(c)))
}

fn look_at_block(
    before: &str,
    name: &str,
    below: &[Line<'_>],
    out: &mut dyn FnMut(Range<usize>, String),
) {
    let margin = |line: &str| line.len() - line.trim_start().len();
    for (at, line) in below {
        let is_item = line.trim_start().starts_with("- ") && margin(line) >= before.len();
        let is_below = margin(line) > before.len() || is_item;
        if line.trim().is_empty() {
            continue;
        }
        if !is_below {
            break;
        }
        let begin = BEFORE.find(line).map_or(0, |before| before.end());
        let value = line[begin..].trim_end().trim_end_matches(['"', '\'']);
        out(at + begin..at + begin + value.len(), name.to_owned());
    }
}

/// Finds the columns of a table whose first line names them.
fn look_at_table(lines: &[Line<'_>], out: &mut dyn FnMut(Range<usize>, String)) {
    let Some(((_, head), rows)) = lines.split_first() else {
        return;
    };
    let bare = |field: &str| field.trim().trim_matches('"').to_owned();
    let is_name = |field: &str| {
        let name = bare(field);
        // A table of Markdown begins and ends with a bar.
        (usize::from(!head.starts_with('|'))..=64).contains(&name.len())
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-.".contains(c))
    };
    let Some(separator) = SEPARATORS.into_iter().find(|by| head.contains(*by)) else {
        return;
    };
    let names: Vec<&str> = head.split(separator).collect();
    if !names.iter().all(|name| is_name(name)) {
        return;
    }
    for (at, row) in rows {
        let fields: Vec<&str> = row.split(separator).collect();
        if fields.len() != names.len() {
            continue;
        }
        let mut at = *at;
        for (name, field) in names.iter().zip(fields) {
            if is_secret_name(&bare(name)) {
                let begin = at + field.len() - field.trim_start().len();
                out(begin..begin + field.trim().len(), bare(name));
            }
            at += field.len() + separator.len_utf8();
        }
    }
}
