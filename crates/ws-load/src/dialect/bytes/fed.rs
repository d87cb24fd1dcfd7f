//! What a message of a feed in bytes says of itself.

use super::number;
use crate::dialect::error::DialectError;
use crate::dialect::feed::{FeedMessage, FeedNumber, Said, moment_of_number, moment_of_text};
use crate::dialect::rules::Match;
use plan::{FEED_NAMES, HoleForm, Rule, SentUnit};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// What is read of the messages of a rule that means `feed`.
#[derive(Debug)]
pub(in crate::dialect) struct FedBytes {
    is_numbered: bool,
    key: Option<usize>,
    sent_at: Option<(usize, Option<HoleForm>)>,
    sent_unit: SentUnit,
    resumes: bool,
}

impl FedBytes {
    /// # Errors
    /// A name in the pattern that means nothing there, or a hole of a request.
    pub(super) fn new(
        key: &str,
        rule: &Rule,
        outline: &Rule,
        names: &[(String, Option<HoleForm>)],
    ) -> Result<Self, DialectError> {
        let pattern = outline.pattern.as_deref().unwrap_or_default();
        let carried = ["{stamp}", "{padding}", "{topic}"];
        let other = names
            .iter()
            .find(|(of, _)| !FEED_NAMES.contains(&of.as_str()));
        let is_request = outline.number.is_some() || carried.iter().any(|of| pattern.contains(of));
        if other.is_some() || is_request {
            return Err(DialectError::unfit(
                format!("{key}.pattern"),
                match other {
                    Some((name, _)) => format!("has {{{name}}}, which means nothing in a feed"),
                    None => "looks for what a request carried, and a feed answers none".to_owned(),
                },
                "write {sequence}, {key}, {sent_at} and {any} alone",
            ));
        }
        let at = |name: &str| names.iter().position(|(of, _)| of == name);
        Ok(Self {
            is_numbered: pattern.contains("{sequence}"),
            key: at("key"),
            sent_at: at("sent_at").map(|at| (at, names[at].1)),
            sent_unit: rule.sent_unit.unwrap_or_default(),
            resumes: rule.resumes,
        })
    }
}

impl Match<'_, '_> {
    /// What a message in bytes says of itself; `None` of one in text.
    pub(in crate::dialect) fn fed_bytes(&self) -> Option<FeedMessage> {
        let (of, held) = self.in_bytes()?;
        let fed = of.fed.as_ref()?;
        let named = |at: usize| held.named.get(at).copied().unwrap_or_default();
        let number = held.sequence.map(|number| {
            let mut hasher = DefaultHasher::new();
            self.index.hash(&mut hasher);
            if let Some(at) = fed.key {
                named(at).hash(&mut hasher);
            }
            FeedNumber {
                sequence: hasher.finish(),
                number,
                resumes: fed.resumes,
            }
        });
        let sent_ns = fed.sent_at.map(|(at, form)| match form {
            Some(HoleForm::Number(form)) => number::read(form, named(at))
                .and_then(|(number, _)| moment_of_number(number, fed.sent_unit)),
            _ => std::str::from_utf8(named(at))
                .ok()
                .and_then(|text| moment_of_text(text, fed.sent_unit)),
        });
        Some(FeedMessage {
            number: match fed.is_numbered {
                false => Said::NotAsked,
                true => number.into(),
            },
            sent_ns: sent_ns.map_or(Said::NotAsked, Said::from),
        })
    }
}
