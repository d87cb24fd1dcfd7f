//! Answers that come in parts: whose a part is, which one, and what a file has to say of it.

use super::error::DialectError;
use super::feed::{At, Said, Text};
use super::kinds;
use super::pattern::Pattern;
use super::placeholders::Hole;
use super::pointers::{Pointers, pointer};
use super::requirements::READY;
use super::rules::Match;
use plan::{DialectFile, Meaning, PART, PARTS, Rule};

/// A part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) whose: Whose,
    /// The kind of the requests whose answers have such parts, if it is one kind alone.
    pub(crate) of_kind: Option<u32>,
    /// Its number within the answer.
    pub(crate) part: Said<u64>,
}

/// The request whose answer a part is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The one with this stamp.
    Stamp(u64),
    /// The one of the connection that said this sequence.
    Sequence(u64),
    /// The oldest of the connection that has no answer.
    Oldest,
}

/// Where the messages of a rule say which part they are, or how many parts there were.
#[derive(Debug, Default)]
pub(super) struct Places {
    part: Option<At>,
    parts: Option<At>,
}

/// True of a rule in whose pattern names have a meaning.
pub(super) fn takes_names(rule: &Rule) -> bool {
    let is_last = rule.means == Meaning::Echo && rule.has_parts();
    is_last
        || matches!(
            rule.means,
            Meaning::KeepAlive | Meaning::Feed | Meaning::Progress
        )
}

impl Places {
    /// # Errors
    /// A pointer that is none, or a pattern with a name that has no meaning there.
    pub(super) fn new(
        key: &str,
        rule: &Rule,
        pattern: Option<&Pattern>,
        pointers: &mut Pointers,
    ) -> Result<Self, DialectError> {
        if !matches!(rule.means, Meaning::Progress | Meaning::Echo) {
            return Ok(Self::default());
        }
        if let Some(pattern) = pattern {
            check_pattern(key, rule, pattern)?;
        }
        let mut at = |name: &str, text: &Option<String>| {
            let named = pattern.and_then(|of| of.names().position(|known| known == name));
            match (named, text.as_deref()) {
                (Some(place), _) => Ok(Some(At::Named(place))),
                (None, None) => Ok(None),
                (None, Some(text)) => {
                    let id = pointer(&format!("{key}.{name}"), text, false, pointers)?;
                    Ok(Some(At::Pointer(id)))
                }
            }
        };
        Ok(Self {
            part: at(PART, &rule.part)?,
            parts: at(PARTS, &rule.parts)?,
        })
    }
}

/// The pattern of a part, or of a last message, names nothing but what is read of it.
fn check_pattern(key: &str, rule: &Rule, pattern: &Pattern) -> Result<(), DialectError> {
    let (known, is_part) = match rule.means {
        Meaning::Progress => (PART, true),
        _ => (PARTS, false),
    };
    let carried = [Hole::Payload, Hole::Padding];
    let problem = match pattern.names().find(|name| *name != known) {
        Some(name) => format!("has {{{name}}}, which means nothing there"),
        None if is_part && carried.into_iter().any(|hole| pattern.has(hole)) => {
            "looks for a payload, which is in the last message of an answer".to_owned()
        }
        None => return Ok(()),
    };
    Err(DialectError::unfit(
        format!("{key}.pattern"),
        problem,
        format!("write {{{known}}}, {{stamp}} or {{sequence}}, and {{any}} for the others"),
    ))
}

/// Which keys of answers in parts a rule may have.
pub(super) fn check_keys(key: &str, rule: &Rule) -> Result<(), DialectError> {
    let keys = [
        ("part", rule.part.is_some(), Meaning::Progress, "progress"),
        ("parts", rule.parts.is_some(), Meaning::Echo, "echo"),
    ];
    let misplaced = keys
        .into_iter()
        .find(|(_, there, means, _)| *there && rule.means != *means);
    match misplaced {
        None => Ok(()),
        Some((name, _, _, needed)) => Err(DialectError::unfit(
            format!("{key}.{name}"),
            format!("has no sense without `means = \"{needed}\"`"),
            "leave it out, or write it in the other rule",
        )),
    }
}

/// Parts belong to requests whose answers are awaited, and say whose they are in a way that is known.
pub(super) fn check(file: &DialectFile) -> Result<(), DialectError> {
    let rules = || file.receive.iter().zip(1..);
    let key = |index: usize, name: &str| format!("{READY}[{index}].{name}");
    let has_parts = rules().any(|(rule, _)| rule.means == Meaning::Progress);
    let is_last = |rule: &Rule| rule.means == Meaning::Echo && rule.has_parts();
    if let Some((_, index)) = rules().find(|(rule, _)| is_last(rule) && !has_parts) {
        return Err(DialectError::unfit(
            key(index, "parts"),
            "counts the parts of an answer, and no rule recognises a part",
            "write [[receive]] with `means = \"progress\"`, or leave it out",
        ));
    }
    for (rule, index) in rules().filter(|(rule, _)| rule.means == Meaning::Progress) {
        let unfit = |name: &str, problem: &str, remedy: &str| {
            Err(DialectError::unfit(key(index, name), problem, remedy))
        };
        let kinds = kinds::written(file);
        let mut own = kinds.iter().filter(|kind| kind.is_answered_by(rule));
        if own.clone().next().is_none() {
            return unfit(
                "means",
                "is `progress`, and there is no request whose answer could have parts",
                "write `echo` or [[send.kinds]] under [send], or leave the rule out",
            );
        }
        if own.clone().all(|kind| !kind.is_answered) {
            return unfit(
                "kind",
                "is one to which no answer is awaited",
                "write `answered = true` there, or leave the rule out",
            );
        }
        check_way(file, rule, index)?;
        let lacks = |text: &str, hole: &str| !text.contains(hole);
        let missing = match rule {
            _ if rule.has_sequence() => own.find(|of| lacks(of.message, "{sequence}")),
            Rule {
                number: Some(_), ..
            } => own.find(|of| lacks(of.message, "{number}")),
            Rule { in_order: true, .. } => None,
            _ => own.find(|of| !super::template::Template::has_stamp(of.message)),
        };
        if let Some(kind) = missing {
            return Err(DialectError::unfit(
                kind.key.clone(),
                "does not carry what the parts of its answer say",
                "write {stamp}, {number} or {sequence}, whichever the rule that means `progress` names",
            ));
        }
    }
    Ok(())
}

/// Sequences and orders of requests are kept where answers need them.
fn check_way(file: &DialectFile, rule: &Rule, index: usize) -> Result<(), DialectError> {
    let mut answers = file.receive.iter().filter(|of| of.means == Meaning::Echo);
    let (name, is_same) = match rule {
        Rule { in_order: true, .. } => ("in_order", answers.all(|of| of.in_order)),
        _ if rule.has_sequence() => ("sequence", answers.all(Rule::has_sequence)),
        _ => return Ok(()),
    };
    match is_same {
        true => Ok(()),
        false => Err(DialectError::unfit(
            format!("{READY}[{index}].{name}"),
            "is not what the rules for the last messages of answers say",
            format!(
                "write `{name}` in the rules that mean `echo` too, or `stamp` or `number` here"
            ),
        )),
    }
}

impl Match<'_, '_> {
    /// The number of a part.
    pub(super) fn part(&self) -> Said<u64> {
        self.count_at(self.rule.places.part)
    }

    /// How many parts an answer has, where its last message says so.
    pub(super) fn parts(&self) -> Said<u64> {
        self.count_at(self.rule.places.parts)
    }

    fn count_at(&self, at: Option<At>) -> Said<u64> {
        let Some(at) = at else {
            return Said::NotAsked;
        };
        let count = self.text_at(at).and_then(|text| match text {
            Text::Raw(text) => text.parse().ok(),
            Text::Number(number) => number.as_u64(),
        });
        count.into()
    }
}
