//! What must hold of the body of an answer over HTTP.

use super::checks::{Check, checks, first_broken};
use super::error::DialectError;
use super::pointers::Pointers;
use plan::Condition;
use std::collections::BTreeMap;

/// The conditions of a request over HTTP on the JSON of its answer.
#[derive(Debug, Default)]
pub(crate) struct AnswerTerms {
    checks: Vec<Check>,
    pointers: Pointers,
}

impl AnswerTerms {
    /// Those that stand at a key of the file.
    ///
    /// # Errors
    /// A pointer that is none, a condition that tests nothing, too many of them.
    pub(super) fn new(key: &str, when: &BTreeMap<String, Condition>) -> Result<Self, DialectError> {
        let mut pointers = Pointers::default();
        let checks = checks(key, when, &mut pointers)?;
        Ok(Self { checks, pointers })
    }

    /// The same of a file that was checked.
    pub(crate) fn of_checked(when: &BTreeMap<String, Condition>) -> Self {
        Self::new("when", when).unwrap_or_default()
    }

    /// Why a body does not meet them, in words.
    pub(crate) fn unmet(&self, body: &[u8]) -> Option<String> {
        if self.checks.is_empty() {
            return None;
        }
        let text = String::from_utf8_lossy(body);
        match self.pointers.find(&text) {
            Err(why) => Some(format!("the body is {}", why.0)),
            Ok(values) => first_broken(&self.checks, &values).map(|(_, of)| of.found(&values)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Scalar;

    #[test]
    fn the_first_condition_that_does_not_hold_is_named() {
        let when = BTreeMap::from([
            (
                "/error".to_owned(),
                serde_json::from_str(r#"{"is":["absent"]}"#).unwrap(),
            ),
            ("/ok".to_owned(), Condition::equals(Scalar::Boolean(true))),
        ]);
        let terms = AnswerTerms::new("send.http.when", &when).unwrap();
        assert_eq!(terms.unmet(br#"{"ok":true}"#), None);
        let unmet = |body: &str| terms.unmet(body.as_bytes()).unwrap();
        assert_eq!(unmet(r#"{"ok":false}"#), "`/ok` is false");
        assert_eq!(unmet("{}"), "there is no `/ok`");
        assert_eq!(
            unmet(r#"{"ok":true,"error":{"a":1}}"#),
            "`/error` is an object of 1"
        );
        assert_eq!(unmet("fine"), "the body is not JSON");
        assert_eq!(AnswerTerms::default().unmet(b"fine"), None);
    }
}
