//! What a client says when the server has asked who it is: it is secret whatever it looks like.

use super::conversation::{Asked, Said};
use super::leaves::{json_at, leaves};
use super::purposes::says_purpose;
use super::secrets::{Secret, apart, is_open, is_word, secrets};

/// The secrets of a message, in their order and apart from each other.
pub(super) fn secrets_of(said: &Said<'_>) -> Vec<Secret> {
    let text = said.text;
    let mut found = secrets(text);
    if said.asked == Asked::Nothing {
        return found;
    }
    let name = || "asked".to_owned();
    let Some(at) = json_at(text) else {
        let is_secret = said.asked == Asked::ByPrompt || !is_word(text.trim());
        let end = text.trim_end().len();
        found.extend(is_secret.then(|| Secret {
            range: 0..end,
            name: name(),
        }));
        return apart(text, found);
    };
    let all: Vec<_> = leaves(text).filter(|leaf| leaf.is_string).collect();
    let is_named_list = text[at..].starts_with('[') && all.len() > 1;
    for leaf in all.into_iter().skip(usize::from(is_named_list)) {
        let is_told = says_purpose(leaf.key) || is_open(leaf.key);
        if !is_told && (said.asked == Asked::ByPrompt || !is_word(&text[leaf.range.clone()])) {
            found.push(Secret {
                range: leaf.range,
                name: name(),
            });
        }
    }
    apart(text, found)
}
