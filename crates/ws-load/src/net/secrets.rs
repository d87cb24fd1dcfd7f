//! What the plan shows a server or a proxy and no words of a peer may tell.

use super::data::FieldPlace;
use percent_encoding::percent_decode_str;
use plan::{Connection, Part, REDACTED_VALUE, is_secret, parts};
use std::borrow::Cow;
use ws_proto::printable;

/// Shorter values are in words by chance.
const SHORTEST: usize = 4;
/// Of a secret that is cut short, so many bytes at least are recognised.
const SHORTEST_BEGIN: usize = 8;
/// What stands where a word of a peer was cut, as [`printable`] writes it.
const CUT: &str = "... (";

/// Values that are the same for all clients.
#[derive(Clone, Debug, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// The values of a plan and their parts, since a server may tell one cookie of several. `target`
    /// is the path and query of the URL, `users` what users of URLs are shown as.
    pub(super) fn new<'a>(
        plan: &Connection,
        target: &str,
        users: impl Iterator<Item = Cow<'a, str>>,
    ) -> Self {
        let entries = plan
            .entries()
            .filter(|entry| !entry.name.eq_ignore_ascii_case("host"));
        let origin = plan.origin.as_deref().unwrap_or_default();
        let of_origin = user_of(origin).into_iter().map(str::to_owned);
        let literal = |text: &str| {
            let texts = parts(text).into_iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.into_owned()),
                Part::Variable(_) => None,
            });
            texts.collect::<Vec<_>>()
        };
        let values = entries
            .map(|entry| entry.value)
            .chain(parameters_of(target))
            .chain(parameters_of(origin))
            .chain(plan.subprotocols.iter().map(String::as_str))
            .flat_map(literal)
            .chain(users.map(Cow::into_owned))
            .chain(of_origin);
        let is_end = |c: char| matches!(c, ' ' | ';' | ',' | '=' | ':');
        let is_scheme = |part: &str| {
            ["basic", "bearer", "digest"].contains(&part.to_ascii_lowercase().as_str())
        };
        let mut all = Vec::new();
        for value in values {
            let pieces = value.split(is_end).chain([value.as_str()]);
            all.extend(pieces.filter(|part| !is_scheme(part)).map(str::to_owned));
        }
        Self(all)
    }

    /// With values that are told as they are.
    pub(super) fn and(mut self, values: impl Iterator<Item = String>) -> Self {
        self.0.extend(values);
        self
    }

    /// Words of a peer without these values and those of a row, however a peer writes them, and
    /// without the beginning of one where the words were cut.
    pub(super) fn silent<'a>(&'a self, row: impl Iterator<Item = &'a str>, words: &str) -> String {
        let values = row.chain(self.0.iter().map(String::as_str));
        let mut forms: Vec<String> = values
            .filter(|value| value.len() >= SHORTEST)
            .flat_map(|value| {
                let decoded = percent_decode_str(value).decode_utf8_lossy().into_owned();
                let shown = printable(value.as_bytes(), value.len());
                [
                    value.to_owned(),
                    FieldPlace::Url.written(value),
                    decoded,
                    shown,
                ]
            })
            .filter(|form| form.len() >= SHORTEST)
            .collect();
        // The longest first, so that no rest of one is left that begins with another.
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        // What is cut short comes before all: a shorter value may be a part of what is left of it.
        let mut words = without_begins(&forms, words);
        for form in &forms {
            words = words.replace(form.as_str(), REDACTED_VALUE);
        }
        words
    }
}

/// The values of a URL's parameters that are secrets by their names.
fn parameters_of(url: &str) -> impl Iterator<Item = &str> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let parameters = query.split('&').filter_map(|text| text.split_once('='));
    let secret = parameters.filter(|(name, _)| is_secret(name));
    secret.map(|(_, value)| value)
}

/// What stands before the `@` of a URL's host.
fn user_of(url: &str) -> Option<&str> {
    let (_, behind) = url.split_once("://")?;
    let authority = behind.split(['/', '?', '#']).next()?;
    authority.rsplit_once('@').map(|(user, _)| user)
}

/// The words without the beginning of a secret at their end, and at each place where they were cut.
fn without_begins(secrets: &[String], words: &str) -> String {
    let mut out = String::new();
    for (at, piece) in words.split(CUT).enumerate() {
        if at > 0 {
            out.push_str(CUT);
        }
        let begin = secrets
            .iter()
            .filter_map(|secret| longest_begin(secret, piece))
            .max();
        match begin {
            Some(len) => {
                out.push_str(&piece[..piece.len() - len]);
                out.push_str(REDACTED_VALUE);
            }
            None => out.push_str(piece),
        }
    }
    out
}

/// Bytes at the end of a text with which a secret begins.
fn longest_begin(secret: &str, text: &str) -> Option<usize> {
    let longest = secret.len().min(text.len());
    let is_begin = |len: &usize| {
        secret.is_char_boundary(*len) && secret.get(..*len).is_some_and(|of| text.ends_with(of))
    };
    (SHORTEST_BEGIN..=longest).rev().find(is_begin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Plan;

    fn silent(row: &[&str], words: &str) -> String {
        let plan = Plan::default().with(|plan| {
            plan.connection.headers = vec![
                "X-Short: abcd".to_owned(),
                "Authorization: Bearer abcd-and{{the}rest".to_owned(),
            ];
            plan.connection.cookies = vec!["id=cookie-1".to_owned()];
            plan.connection.origin = Some("https://ann:of-origin@h/?token=of-query".to_owned());
        });
        let users = ["Basic dTpw", "pass word", "pass"].into_iter();
        let target = "/ws?room=lobby&token=in%2Bthe+url";
        let secrets = Secrets::new(&plan.connection, target, users.map(Cow::from));
        secrets.silent(row.iter().copied(), words)
    }

    #[test]
    fn a_value_that_begins_like_a_longer_one_leaves_no_rest_of_it() {
        assert_eq!(
            silent(&[], "abcd-and{the}rest, abcd"),
            "<redacted>, <redacted>"
        );
        assert_eq!(silent(&["cookie"], "no cookie-1"), "no <redacted>");
        assert_eq!(silent(&["row", "row-long"], "row-long"), "<redacted>");
        assert_eq!(silent(&[], "pass word"), "<redacted>");
    }

    #[test]
    fn values_of_urls_are_found_as_they_stand_there_and_decoded() {
        assert_eq!(
            silent(&[], "in%2Bthe+url in+the+url of lobby, dTpw"),
            "<redacted> <redacted> of lobby, <redacted>"
        );
        assert_eq!(silent(&[], "of-origin of-query"), "<redacted> <redacted>");
        assert_eq!(
            silent(&["a+b\\c"], "a%2Bb%5Cc a+b\\\\c"),
            "<redacted> <redacted>"
        );
    }

    #[test]
    fn a_secret_that_was_cut_short_is_not_told_to_where_it_was_cut() {
        assert_eq!(silent(&[], "of abcd-and{th"), "of <redacted>");
        let row = ["0123456789"];
        assert_eq!(
            silent(
                &row,
                "`x 012345678... (5 more bytes)` (012345678... (2 more bytes))"
            ),
            "`x <redacted>... (5 more bytes)` (<redacted>... (2 more bytes))"
        );
        assert_eq!(silent(&row, "012345"), "012345");
    }
}
