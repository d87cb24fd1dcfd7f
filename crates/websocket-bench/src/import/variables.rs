//! Texts of the client with variables in the places of what is secret, and of what differs between
//! connections.

use super::conversation::{Conversation, Said};
use super::leaves::leaves;
use super::limits::MOST_VARIABLES;
use super::prompts::secrets_of;
use super::purposes::says_purpose;
use super::secrets::{Secret, apart, is_like_token, is_word};
use plan::{LONGEST_VARIABLE, PLACEHOLDERS, escaped_braces};
use std::collections::BTreeMap;
use std::ops::Range;

/// Shortest secret that is looked for where nothing says that it is one, in bytes: a shorter one is found
/// where it is none. One of small letters alone may be a word.
const SHORTEST_KNOWN: usize = 8;
const SHORTEST_WORD: usize = 16;
/// Most such secrets.
const MOST_KNOWN: usize = 256;

/// Secrets of a capture, which may stand in other places of it as well.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Names and values.
    all: Vec<(String, String)>,
}

impl Known {
    /// The secrets of a handshake, and those of messages.
    pub(super) fn new(handshake: &[(String, String)], conversations: &[&Conversation<'_>]) -> Self {
        let mut known = Self::default();
        for (name, value) in handshake {
            known.add(name, value);
        }
        for said in conversations.iter().flat_map(|of| of.sends()) {
            for secret in secrets_of(said) {
                known.add(&secret.name, &said.text[secret.range]);
            }
        }
        known
    }

    fn add(&mut self, name: &str, value: &str) {
        let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
        let shortest = if is_word {
            SHORTEST_WORD
        } else {
            SHORTEST_KNOWN
        };
        let is_new = self.all.iter().all(|(_, known)| known != value);
        if value.len() >= shortest && is_new && self.all.len() < MOST_KNOWN {
            self.all.push((name.to_owned(), value.to_owned()));
        }
    }

    fn in_text<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Secret> + 't {
        self.all.iter().flat_map(move |(name, value)| {
            text.match_indices(value.as_str()).map(|(at, _)| Secret {
                range: at..at + value.len(),
                name: name.clone(),
            })
        })
    }

    /// Where the first of them begins in a text, and where it ends.
    pub(super) fn first_in(&self, text: &str) -> Option<(usize, usize)> {
        let all = self.in_text(text).map(|of| (of.range.start, of.range.end));
        all.min()
    }

    /// The name of one that stands in a text.
    pub(super) fn name_in(&self, text: &str) -> Option<String> {
        self.in_text(text).next().map(|of| of.name)
    }
}

/// The texts of a client as templates, and what their variables stand for.
#[derive(Debug, Default)]
pub(super) struct Templates {
    pub(super) texts: Vec<String>,
    /// Columns whose values differ, with the value of each connection.
    pub(super) differing: Vec<(String, Vec<String>)>,
    /// Columns that must be filled in, since they are secret.
    pub(super) secret: Vec<String>,
    pub(super) copied: Copied,
}

/// What stays as it was recorded.
#[derive(Debug, Default)]
pub(super) struct Copied {
    /// Names of fields with a text, and whether one of their texts is no word.
    pub(super) fields: BTreeMap<String, bool>,
    /// Numbers of messages that are no JSON.
    pub(super) texts: Vec<u32>,
}

impl Copied {
    fn add(&mut self, text: &str, piece: &Piece<'_>, number: u32) {
        let value = &text[piece.range.clone()];
        let is_said = piece.is_string && !value.is_empty();
        if !is_said || says_purpose(piece.key) && is_word(value) {
            return;
        }
        let name = match piece.key {
            "value" => format!("an item of message {number}"),
            name if is_like_token(name) => "a field with a long name".to_owned(),
            name => name.to_owned(),
        };
        *self.fields.entry(name).or_default() |= !is_word(value);
    }
}

/// A part of a text that may be a variable: a string or a number of JSON, or what is secret.
#[derive(Debug)]
struct Piece<'t> {
    range: Range<usize>,
    key: &'t str,
    is_string: bool,
    secrets: Vec<Secret>,
}

impl Piece<'_> {
    fn name(&self) -> &str {
        let first = self.secrets.first().map(|secret| secret.name.as_str());
        first.unwrap_or(self.key)
    }
}

/// The pieces of a text in their order and apart from each other. Without `known` nothing is secret.
fn pieces<'t>(said: &Said<'t>, known: Option<&Known>) -> Vec<Piece<'t>> {
    let text = said.text;
    let mut pieces: Vec<Piece<'t>> = leaves(text)
        .map(|leaf| Piece {
            range: leaf.range,
            key: leaf.key,
            is_string: leaf.is_string,
            secrets: Vec::new(),
        })
        .collect();
    let Some(known) = known else {
        return pieces;
    };
    let leaves = pieces.len();
    let mut hidden = secrets_of(said);
    hidden.extend(known.in_text(text));
    for secret in apart(text, hidden) {
        let at = pieces[..leaves].partition_point(|leaf| leaf.range.end < secret.range.end);
        match pieces[..leaves].get_mut(at) {
            Some(leaf) if leaf.range.start <= secret.range.start => leaf.secrets.push(secret),
            _ => pieces.push(Piece {
                range: secret.range.clone(),
                key: "value",
                is_string: false,
                secrets: vec![secret],
            }),
        }
    }
    pieces.sort_by_key(|piece| (piece.range.start, std::cmp::Reverse(piece.range.end)));
    let mut out: Vec<Piece<'t>> = Vec::new();
    for piece in pieces {
        match out.last_mut() {
            Some(last) if piece.range.start < last.range.end => {
                last.range.end = last.range.end.max(piece.range.end);
                last.secrets = vec![Secret {
                    range: last.range.clone(),
                    name: piece.name().to_owned(),
                }];
            }
            _ => out.push(piece),
        }
    }
    out
}

/// True when the messages of two connections are the same but for their pieces.
fn is_alike(one: (&str, &[Piece<'_>]), other: (&str, &[Piece<'_>])) -> bool {
    fn between<'t>((text, pieces): (&'t str, &[Piece<'_>])) -> Vec<&'t str> {
        let ends = pieces.iter().map(|piece| piece.range.end);
        let starts = pieces.iter().map(|piece| piece.range.start);
        let gaps = std::iter::once(0)
            .chain(ends)
            .zip(starts.chain([text.len()]));
        gaps.map(|(from, to)| &text[from..to]).collect()
    }
    one.1.len() == other.1.len() && between(one) == between(other)
}

/// The templates of the first conversation, with variables where the others differ from it, and where
/// something is secret unless there is no `known`. `None` where one of them says something else, or where
/// there are too many variables.
pub(super) fn templates(all: &[&Conversation<'_>], known: Option<&Known>) -> Option<Templates> {
    let (first, others) = all.split_first().expect("there is one");
    let mut out = Templates::default();
    let mut columns = Columns::default();
    let others: Vec<Vec<&Said<'_>>> = others.iter().map(|of| of.sends().collect()).collect();
    let sends: Vec<&Said<'_>> = first.sends().collect();
    if others.iter().any(|of| of.len() != sends.len()) {
        return None;
    }
    for (at, said) in sends.into_iter().enumerate() {
        let text = said.text;
        let own = pieces(said, known);
        let mut theirs = Vec::new();
        for others in &others {
            let pieces = pieces(others[at], known);
            let other = others[at].text;
            if !is_alike((text, &own), (other, &pieces)) {
                return None;
            }
            theirs.push((other, pieces));
        }
        let mut holes: Vec<(Range<usize>, String)> = Vec::new();
        for (index, piece) in own.iter().enumerate() {
            let value = text[piece.range.clone()].to_owned();
            let of_others = theirs
                .iter()
                .map(|(text, pieces)| &text[pieces[index].range.clone()]);
            let row: Vec<String> = std::iter::once(&*value)
                .chain(of_others)
                .map(str::to_owned)
                .collect();
            if row.iter().all(|other| *other == value) {
                for secret in &piece.secrets {
                    let value = &text[secret.range.clone()];
                    let name = columns.secret(&secret.name, value);
                    holes.push((secret.range.clone(), name));
                }
                if piece.secrets.is_empty() {
                    out.copied.add(text, piece, said.number);
                }
                continue;
            }
            let hidden = std::iter::once(piece).chain(theirs.iter().map(|(_, of)| &of[index]));
            if let Some(secret) = hidden.clone().find(|of| !of.secrets.is_empty()) {
                holes.push((piece.range.clone(), columns.secret(secret.name(), &value)));
                continue;
            }
            // No variable has these.
            if row.iter().any(|value| value.contains(['"', '\\'])) {
                return None;
            }
            holes.push((piece.range.clone(), columns.differing(piece.key, row)));
        }
        if own.is_empty() && !is_word(text) {
            out.copied.texts.push(said.number);
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
        let name = match name.is_empty() || is_like_token(key) {
            true => "value".to_owned(),
            false => name,
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
