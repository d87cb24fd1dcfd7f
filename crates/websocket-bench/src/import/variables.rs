//! Texts of the client with variables in the places of what is secret, and of what differs between
//! connections.

use super::conversation::Conversation;
use super::handshake::is_like_token;
use super::leaves::{Leaf, leaves};
use run_record::{LONGEST_VARIABLE, PLACEHOLDERS, escaped_braces, is_secret};
use std::collections::BTreeMap;
use std::ops::Range;

/// Names that say a secret only in handshakes: as names of a message's fields they are common.
const COMMON: [&str; 3] = ["code", "key", "ticket"];
/// Most variables of a plan.
pub(super) const MOST_VARIABLES: usize = 64;

/// The texts of a client as templates, and what their variables stand for.
#[derive(Debug, Default)]
pub(super) struct Templates {
    pub(super) texts: Vec<String>,
    /// Columns whose values differ, with the value of each connection.
    pub(super) differing: Vec<(String, Vec<String>)>,
    /// Columns that must be filled in, since they are secret.
    pub(super) secret: Vec<String>,
}

/// True of a string or a number that a plan must not hold.
fn is_hidden(leaf: &Leaf, text: &str) -> bool {
    let value = &text[leaf.range.clone()];
    let has_name = is_secret(&leaf.key) && !COMMON.contains(&leaf.key.as_str());
    let is_token = leaf.is_string && value.starts_with("eyJ") && is_like_token(value);
    !value.is_empty() && (has_name || is_token)
}

/// True when the messages of two connections are the same but for strings and numbers.
fn is_alike(one: &str, other: &str, leaves_of: (&[Leaf], &[Leaf])) -> bool {
    let (of_one, of_other) = leaves_of;
    let between = |text: &str, leaves: &[Leaf]| -> Vec<String> {
        let ends = leaves.iter().map(|leaf| leaf.range.end);
        let starts = leaves.iter().map(|leaf| leaf.range.start);
        let gaps = std::iter::once(0)
            .chain(ends)
            .zip(starts.chain([text.len()]));
        gaps.map(|(from, to)| text[from..to].to_owned()).collect()
    };
    of_one.len() == of_other.len() && between(one, of_one) == between(other, of_other)
}

/// The templates of the first conversation, with variables where the others differ from it. `None`
/// where one of them says something else, or where there are too many variables.
pub(super) fn templates(all: &[&Conversation<'_>]) -> Option<Templates> {
    let (first, others) = all.split_first().expect("there is one");
    let mut out = Templates::default();
    let mut columns = Columns::default();
    let others: Vec<Vec<&str>> = others
        .iter()
        .map(|of| of.sends().map(|said| said.text).collect())
        .collect();
    let sends: Vec<&str> = first.sends().map(|said| said.text).collect();
    if others.iter().any(|of| of.len() != sends.len()) {
        return None;
    }
    for (at, text) in sends.into_iter().enumerate() {
        let own = leaves(text);
        let mut theirs = Vec::new();
        for texts in &others {
            let leaves = leaves(texts[at]);
            if !is_alike(text, texts[at], (&own, &leaves)) {
                return None;
            }
            theirs.push((texts[at], leaves));
        }
        let mut holes: Vec<(Range<usize>, String)> = Vec::new();
        for (index, leaf) in own.iter().enumerate() {
            let value = text[leaf.range.clone()].to_owned();
            if is_hidden(leaf, text) {
                holes.push((leaf.range.clone(), columns.secret(&leaf.key, &value)));
                continue;
            }
            let of_others = theirs
                .iter()
                .map(|(text, leaves)| text[leaves[index].range.clone()].to_owned());
            let row: Vec<String> = std::iter::once(value).chain(of_others).collect();
            if row.iter().all(|value| *value == row[0]) {
                continue;
            }
            // No variable has these.
            if row.iter().any(|value| value.contains(['"', '\\'])) {
                return None;
            }
            holes.push((leaf.range.clone(), columns.differing(&leaf.key, row)));
        }
        out.texts.push(with_holes(text, &holes));
        if columns.names.len() > MOST_VARIABLES {
            return None;
        }
    }
    out.differing = columns.differing;
    out.secret = columns.secret.into_values().collect();
    Some(out)
}

fn with_holes(text: &str, holes: &[(Range<usize>, String)]) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for (range, name) in holes {
        out.push_str(&escaped_braces(&text[from..range.start]));
        out.push_str(&format!("{{{name}}}"));
        from = range.end;
    }
    out.push_str(&escaped_braces(&text[from..]));
    out
}

/// The columns so far.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    differing: Vec<(String, Vec<String>)>,
    /// By field and value: what was the same stays the same.
    secret: BTreeMap<(String, String), String>,
}

impl Columns {
    /// A name that no other column has.
    fn name(&mut self, key: &str) -> String {
        let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = key.chars().take(LONGEST_VARIABLE / 2).map(fits).collect();
        let name = if name.is_empty() {
            "value".to_owned()
        } else {
            name
        };
        let is_free = |name: &String| {
            !self.names.contains(name)
                && !PLACEHOLDERS.contains(&name.as_str())
                && name != "client"
                && name != "any"
        };
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(is_free);
        let free = free.expect("numbers do not end");
        self.names.push(free.clone());
        free
    }

    fn secret(&mut self, key: &str, value: &str) -> String {
        let known = (key.to_owned(), value.to_owned());
        if let Some(name) = self.secret.get(&known) {
            return name.clone();
        }
        let name = self.name(key);
        self.secret.insert(known, name.clone());
        name
    }

    fn differing(&mut self, key: &str, row: Vec<String>) -> String {
        if let Some((name, _)) = self.differing.iter().find(|(_, known)| *known == row) {
            return name.clone();
        }
        let name = self.name(key);
        self.differing.push((name.clone(), row));
        name
    }
}
