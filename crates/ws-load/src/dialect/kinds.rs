//! The kinds of requests that a client makes for itself, and of which kind each is.
//!
//! The kind follows from the stamp alone, so that an answer is known to be of the wrong kind wherever
//! it comes.

use super::bytes;
use super::error::DialectError;
use super::payload::Body;
use super::template::Template;
use crate::plan::mix;
use plan::{DialectFile, Rule};

/// Sets the choice of kinds apart from all else that is drawn from a run's seed.
const CHOICE: u64 = 0x006B_696E_6473;

/// A kind as a file has it: its key there, its name unless it is the only one, its template.
pub(super) struct Written<'f> {
    pub(super) key: String,
    pub(super) name: Option<&'f str>,
    pub(super) message: &'f str,
    pub(super) is_answered: bool,
}

/// The kinds of a file: one without a name, or several.
pub(super) fn written(file: &DialectFile) -> Vec<Written<'_>> {
    let only = file.send.echo.iter().map(|message| Written {
        key: "send.echo".to_owned(),
        name: None,
        message,
        is_answered: true,
    });
    let several = file.send.kinds.iter().enumerate();
    let several = several.map(|(index, kind)| Written {
        key: format!("send.kinds[{}].message", index + 1),
        name: Some(&kind.name),
        message: &kind.message,
        is_answered: kind.answered,
    });
    only.chain(several).collect()
}

impl Written<'_> {
    /// True of a rule for answers to requests of this kind.
    pub(super) fn is_answered_by(&self, rule: &Rule) -> bool {
        rule.kind
            .as_deref()
            .is_none_or(|kind| Some(kind) == self.name)
    }
}

/// The kinds, compiled.
#[derive(Debug)]
pub(super) struct Kinds {
    templates: Vec<Template>,
    /// The sum of the weights of each kind and those before it.
    ends: Vec<u64>,
}

impl Kinds {
    /// # Errors
    /// The first template that makes no sense.
    pub(super) fn compile(file: &DialectFile, body: &Body) -> Result<Self, DialectError> {
        let templates = written(file)
            .iter()
            .map(|kind| bytes::request(file, &kind.key, kind.message, body))
            .collect::<Result<_, _>>()?;
        let weights = file.send.kinds.iter().map(|kind| u64::from(kind.weight));
        let ends = weights.scan(0, |end, weight| {
            *end += weight;
            Some(*end)
        });
        Ok(Self {
            templates,
            ends: ends.collect(),
        })
    }

    /// All that were not forgotten.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.templates.iter()
    }

    /// Keeps what tells kinds apart alone.
    pub(super) fn forget_templates(&mut self) {
        self.templates = Vec::new();
    }

    /// The kind of the request with this stamp; `None` where there is one kind alone.
    pub(super) fn kind(&self, stamp: u64) -> Option<u32> {
        let total = *self.ends.last().filter(|_| self.ends.len() > 1)?;
        let drawn = mix(CHOICE, stamp) % total;
        Some(self.ends.partition_point(|end| *end <= drawn) as u32)
    }

    /// The template of a request of a script, by the place of its kind.
    pub(super) fn of_script(&self, kind: u32) -> Option<&Template> {
        self.templates.get(kind as usize)
    }

    /// The template of that request; `None` where a file has no kind.
    pub(super) fn template(&self, stamp: u64) -> Option<&Template> {
        self.templates.get(self.kind(stamp).unwrap_or(0) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Stamps;
    use super::*;

    fn of(weights: &[u64]) -> Kinds {
        let mut end = 0;
        let ends = weights.iter().map(|weight| {
            end += weight;
            end
        });
        Kinds {
            templates: Vec::new(),
            ends: ends.collect(),
        }
    }

    #[test]
    fn kinds_come_by_their_weights() {
        let kinds = of(&[6, 3, 1]);
        let mut counts = [0_u32; 3];
        for sample in 0..100_000 {
            let kind = kinds.kind(Stamps::of_run(7).stamp(sample)).unwrap();
            counts[kind as usize] += 1;
        }
        // 100,000 draws: a standard deviation is below 160.
        for (count, due) in counts.into_iter().zip([60_000, 30_000, 10_000]) {
            assert!(count.abs_diff(due) < 800, "{counts:?}");
        }
    }

    #[test]
    fn a_single_kind_has_no_number() {
        assert_eq!(of(&[]).kind(5), None);
        assert_eq!(of(&[3]).kind(5), None);
    }

    #[test]
    fn runs_differ_in_the_order_of_kinds() {
        let kinds = of(&[1, 1]);
        let order = |seed| {
            let stamps = Stamps::of_run(seed);
            (0..64)
                .map(|sample| kinds.kind(stamps.stamp(sample)).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
