//! Texts of a known shape: `MESSAGE\n{any}\n\n{payload}\0`.
//!
//! A pattern is matched from left to right without backtracking, so that any message costs one search
//! for each text of the pattern.

use super::bytes::Held;
use super::error::DialectError;
use super::payload::{Body, parse_payload, read_stamp};
use super::placeholders::{Hole, Token, cut};
use super::{StampForm, Stamps};

/// The shape of a message.
#[derive(Debug)]
pub(super) struct Pattern {
    tokens: Vec<Token>,
}

/// What stands in the holes of a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Captured<'m> {
    pub(super) stamp: Option<&'m str>,
    pub(super) payload: Option<&'m str>,
    pub(super) padding: Option<&'m str>,
    pub(super) sequence: Option<&'m str>,
    /// What has a name in the pattern, in the order of [`Pattern::names`].
    pub(super) named: Vec<&'m str>,
    /// Of a message in bytes: all of that.
    pub(super) bytes: Option<Held<'m>>,
}

const OF_PATTERNS: [Hole; 5] = [
    Hole::Payload,
    Hole::Stamp,
    Hole::Padding,
    Hole::Sequence,
    Hole::Any,
];

/// True where neither text begins with the other.
pub(super) fn differ(one: &str, other: &str) -> bool {
    let mut pairs = one.bytes().zip(other.bytes());
    pairs.any(|(one, other)| one != other)
}

impl Pattern {
    /// # Errors
    /// When the pattern could match in several ways, or has a placeholder of the request twice.
    pub(super) fn compile(key: &str, text: &str) -> Result<Self, DialectError> {
        Self::new(key, text, false)
    }

    /// The same, where a name in braces that is none of these stands for any text, and is kept.
    ///
    /// # Errors
    /// As [`Pattern::compile`]; a name that stands there twice.
    pub(super) fn with_names(key: &str, text: &str) -> Result<Self, DialectError> {
        let pattern = Self::new(key, text, true)?;
        let names: Vec<&str> = pattern.names().collect();
        match (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
            None => Ok(pattern),
            Some(at) => Err(DialectError::unfit(
                key,
                format!("has {{{}}} twice", names[at]),
                "write another name, or {any}",
            )),
        }
    }

    /// The names in the pattern, in their order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().filter_map(|token| match token {
            Token::Variable(name) => Some(name.as_str()),
            _ => None,
        })
    }

    fn new(key: &str, text: &str, has_names: bool) -> Result<Self, DialectError> {
        let tokens = cut(key, text, &OF_PATTERNS, has_names)?;
        let open_ended = |token: &Token| match token {
            Token::Hole(hole) => *hole != Hole::Stamp,
            Token::Variable(_) => true,
            Token::Literal(_) => false,
        };
        let is_unclear =
            |pair: &[Token]| open_ended(&pair[0]) && !matches!(pair[1], Token::Literal(_));
        if tokens.windows(2).any(is_unclear) {
            return Err(DialectError::unfit(
                key,
                "does not say where one placeholder ends and the next begins",
                "write a text between them",
            ));
        }
        let carries = [Hole::Payload, Hole::Stamp, Hole::Padding];
        let has_other = carries.into_iter().any(|hole| has(&tokens, hole));
        for hole in [Hole::Payload, Hole::Stamp, Hole::Padding, Hole::Sequence] {
            let times = tokens.iter().filter(|t| **t == Token::Hole(hole)).count();
            if hole == Hole::Sequence && times > 0 && (times > 1 || has_other) {
                return Err(DialectError::unfit(
                    key,
                    "says twice which request it answers",
                    "write {sequence} once, and {any} for the others",
                ));
            }
            if times > 1 || times == 1 && hole != Hole::Payload && has(&tokens, Hole::Payload) {
                return Err(DialectError::unfit(
                    key,
                    "holds the stamp or the padding twice",
                    "write {payload} once, or {stamp} and {padding} once each; {any} for the others",
                ));
            }
        }
        Ok(Self { tokens })
    }

    /// True where the pattern names a place for it.
    pub(super) fn has(&self, hole: Hole) -> bool {
        has(&self.tokens, hole)
    }

    /// True where no message that begins with `head` has this shape.
    pub(super) fn differs_from(&self, head: &str) -> bool {
        match self.tokens.first() {
            Some(Token::Literal(text)) => differ(text, head),
            _ => false,
        }
    }

    /// True where a text may end what it holds of a request before its end.
    pub(super) fn may_cut(&self) -> bool {
        let is_carried =
            |token: &Token| matches!(token, Token::Hole(Hole::Payload | Hole::Padding));
        let at = self.tokens.iter().position(is_carried);
        at.is_some_and(|at| at + 2 < self.tokens.len())
    }

    /// What stands in the holes of a message of this shape.
    pub(super) fn captures<'m>(&self, message: &'m str) -> Option<Captured<'m>> {
        let mut captured = Captured::default();
        let mut rest = message;
        let mut open = None;
        for (index, token) in self.tokens.iter().enumerate() {
            match (token, open) {
                (Token::Literal(text), None) => rest = rest.strip_prefix(text.as_str())?,
                (Token::Literal(text), Some(token)) => {
                    let is_last = index + 1 == self.tokens.len();
                    let (held, after) = match is_last {
                        true => (rest.strip_suffix(text.as_str())?, ""),
                        false => rest.split_once(text.as_str())?,
                    };
                    captured.keep(token, held);
                    rest = after;
                    open = None;
                }
                (Token::Hole(Hole::Stamp), _) => {
                    let (stamp, after) = rest.split_at_checked(StampForm::Hex.width())?;
                    captured.stamp = Some(stamp);
                    rest = after;
                }
                (token, _) => open = Some(token),
            }
        }
        if let Some(token) = open {
            captured.keep(token, rest);
            rest = "";
        }
        rest.is_empty().then_some(captured)
    }
}

fn has(tokens: &[Token], hole: Hole) -> bool {
    tokens.contains(&Token::Hole(hole))
}

impl<'m> Captured<'m> {
    /// The stamp that an answer carries, and whether the payload is as it was sent.
    pub(super) fn carried(&self, body: &Body, stamps: Stamps) -> Option<(u64, bool)> {
        if let Some(held) = &self.bytes {
            return held.carried(body, stamps);
        }
        if let Some(payload) = self.payload {
            return parse_payload(payload, body);
        }
        let stamp = read_stamp(self.stamp?)?;
        let due = body.padding(stamp).text;
        Some((stamp, self.padding.is_none_or(|padding| padding == due)))
    }

    /// The sequence of the request that it answers.
    pub(super) fn sequence(&self) -> Option<u64> {
        match &self.bytes {
            Some(held) => held.sequence(),
            None => self.sequence?.parse().ok(),
        }
    }

    fn keep(&mut self, token: &Token, held: &'m str) {
        match token {
            Token::Hole(Hole::Payload) => self.payload = Some(held),
            Token::Hole(Hole::Padding) => self.padding = Some(held),
            Token::Hole(Hole::Sequence) => self.sequence = Some(held),
            Token::Variable(_) => self.named.push(held),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured<'m>(pattern: &str, message: &'m str) -> Option<Captured<'m>> {
        Pattern::compile("receive[1].pattern", pattern)
            .unwrap()
            .captures(message)
    }

    #[test]
    fn holes_hold_what_stands_between_the_texts() {
        let stomp = "MESSAGE\n{any}destination:/all\n{any}\n\n{payload}\0";
        let message = "MESSAGE\nid:7\ndestination:/all\nlength:2\n\n{\"a\":\"\n\n\0\"}\0";
        let found = captured(stomp, message).unwrap();
        assert_eq!(found.payload, Some("{\"a\":\"\n\n\0\"}"));
        assert_eq!(captured(stomp, &message[..message.len() - 1]), None);
        assert_eq!(captured(stomp, "MESSAGE\ndestination:/all"), None);
        assert_eq!(captured(stomp, ""), None);

        let line = "echo {stamp}{padding}";
        let found = captured(line, "echo 00000000000000ab123").unwrap();
        assert_eq!(found.stamp, Some("00000000000000ab"));
        assert_eq!(found.padding, Some("123"));
        assert_eq!(captured(line, "echo 00000000000000a"), None);
        assert_eq!(captured(line, "echo 000000000000000\u{e4}"), None);
        assert_eq!(
            captured("a{stamp}b", "a00000000000000abb").unwrap().padding,
            None
        );
        assert_eq!(captured("a{stamp}b", "a00000000000000abbc"), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "ten megabytes take Miri minutes")]
    fn a_message_of_a_few_letters_costs_one_search_for_each_text() {
        let pattern = format!("{{any}}{}b{{any}}c", "a".repeat(1000));
        assert_eq!(captured(&pattern, &"a".repeat(10_000_000)), None);
    }

    #[test]
    fn unclear_patterns_are_refused() {
        let refused = |text: &str| {
            let error = Pattern::compile("receive[1].pattern", text).unwrap_err();
            error.to_string()
        };
        assert!(refused("{any}{payload}").contains("write a text between them"));
        assert!(refused("{any}{stamp}").contains("write a text between them"));
        assert!(refused("{stamp} {payload}").contains("twice"));
        assert!(refused("{stamp} {stamp}").contains("twice"));
        assert!(refused("{sequence} {stamp}").contains("twice"));
        assert!(refused("{sequence} {sequence}").contains("twice"));
        let known = "known here: {stamp}, {sequence}, {payload}, {padding}, {any}";
        assert!(refused("{number}").contains(known));
    }
}
