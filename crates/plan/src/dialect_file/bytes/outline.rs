//! A file in bytes as one in text: its holes by their names, and nothing else of its messages.

use super::{BytePart, TemplateForm, byte_parts};
use crate::dialect_file::{DialectFile, FEED_NAMES, Meaning, PLACEHOLDERS, Rule};
use std::borrow::Cow;

impl DialectFile {
    /// What the messages of the file carry, for whatever asks that and not how: of a file in bytes each
    /// message has its holes alone, and what a pattern names counts as captured. A message that is not of
    /// the notation has none.
    pub fn outlined(&self) -> Cow<'_, Self> {
        if self.form == TemplateForm::Text {
            return Cow::Borrowed(self);
        }
        let mut file = self.clone();
        let send = &mut file.send;
        let requests = [
            &mut send.echo,
            &mut send.broadcast,
            &mut send.publish,
            &mut send.subscribe,
            &mut send.unsubscribe,
            &mut file.open.send,
            &mut file.open.returning,
        ];
        let kinds = send.kinds.iter_mut().map(|kind| &mut kind.message);
        let beat = file.heartbeat.iter_mut().map(|beat| &mut beat.send);
        let all = requests.into_iter().flatten().chain(kinds).chain(beat);
        all.for_each(|text| *text = holes(text));
        let rules = file.open.receive.iter_mut().chain(&mut file.receive);
        rules.for_each(outline);
        Cow::Owned(file)
    }
}

fn outline(rule: &mut Rule) {
    let texts = [&mut rule.send, &mut rule.returning, &mut rule.example];
    for text in texts.into_iter().flatten() {
        *text = holes(text);
    }
    let pattern = rule.pattern.take().unwrap_or_default();
    let mut names = Vec::new();
    names_of(&byte_parts(&pattern).unwrap_or_default(), &mut names);
    let at = |name: &str| names.iter().any(|of| of == name).then(String::new);
    (rule.number, rule.topic) = (at("number"), at("topic"));
    let mut kept = String::new();
    for name in names.iter().filter(|name| *name != "any") {
        let is_known = PLACEHOLDERS.contains(&name.as_str());
        let is_of_feed = rule.means == Meaning::Feed && FEED_NAMES.contains(&name.as_str());
        match is_known || is_of_feed {
            true if name != "number" => kept += &format!("{{{name}}}"),
            true => {}
            false => drop(rule.capture.insert(name.clone(), String::new())),
        }
    }
    rule.pattern = Some(kept).filter(|kept| !kept.is_empty());
}

/// The holes of a message, as a text has them.
fn holes(text: &str) -> String {
    let mut names = Vec::new();
    names_of(&byte_parts(text).unwrap_or_default(), &mut names);
    names.iter().map(|name| format!("{{{name}}}")).collect()
}

fn names_of(parts: &[BytePart], names: &mut Vec<String>) {
    for part in parts {
        match part {
            BytePart::Literal(_) => {}
            BytePart::Hole(name, _) => names.push(name.clone()),
            BytePart::Length(_, _, inner) => names_of(inner, names),
        }
    }
}
