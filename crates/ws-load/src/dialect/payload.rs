//! The payload that JSON dialects carry: a stamp and, unless empty, the padding.

use super::pointers::parse_whole;
use super::{StampForm, Stamps};
use crate::lines::{Line, Lines};
use crate::plan::mix;
use plan::{Message, Sizes};
use serde_json::Value;
use std::sync::Arc;

/// What stands before the stamp.
pub(super) const BEFORE_STAMP: &str = r#"{"stamp":""#;
/// What stands between the stamp and the padding.
pub(super) const AFTER_STAMP: &str = r#"","padding":""#;

/// Sets the choice of sizes apart from all else that is drawn from a run's seed.
const SIZE: u64 = 0x0073_697A_6573;

/// The payload of every request but for its stamp.
#[derive(Clone, Debug)]
pub(super) struct Body(Arc<Padding>);

#[derive(Debug)]
struct Padding {
    longest: String,
    /// Sizes in bytes, each with the sum of its weight and those before it. Empty where all requests
    /// have the longest.
    sizes: Vec<(usize, u64)>,
    /// What requests carry in the place of both.
    lines: Option<Arc<Lines>>,
}

impl Body {
    pub(super) fn new(padding: String) -> Self {
        Self(Arc::new(Padding {
            longest: padding,
            sizes: Vec::new(),
            lines: None,
        }))
    }

    /// The body of a plan: its lines, or the digits of the tool of 2016, 1234567890, repeated.
    pub(super) fn from_message(message: &Message, lines: Option<Arc<Lines>>) -> Self {
        let longest = message.longest_padding() as usize;
        let sizes = message.sizes.iter().flat_map(Sizes::all);
        let sizes = sizes.scan(0, |end, (bytes, weight)| {
            *end += u64::from(weight);
            Some((bytes as usize, *end))
        });
        let sizes: Vec<_> = sizes.collect();
        Self(Arc::new(Padding {
            longest: "1234567890".chars().cycle().take(longest).collect(),
            sizes: if sizes.len() > 1 { sizes } else { Vec::new() },
            lines,
        }))
    }

    /// The size of a request's padding, by its place among several.
    pub(super) fn size(&self, stamp: u64) -> Option<u32> {
        let (_, total) = self.0.sizes.last()?;
        let drawn = mix(SIZE, stamp) % total;
        Some(self.0.sizes.partition_point(|(_, end)| *end <= drawn) as u32)
    }

    /// How many sizes there are.
    pub(super) fn sizes(&self) -> u32 {
        self.0.sizes.len().max(1) as u32
    }

    /// The padding of a request.
    pub(super) fn padding(&self, stamp: u64) -> Line<'_> {
        if let Some(lines) = &self.0.lines {
            return lines.of_request(number_of(stamp) - 1);
        }
        Line::plain(match self.size(stamp) {
            None => &self.0.longest,
            Some(size) => &self.0.longest[..self.0.sizes[size as usize].0],
        })
    }

    /// The lines that differ from request to request.
    pub(super) fn lines(&self) -> Option<&Lines> {
        self.0.lines.as_deref().filter(|lines| lines.count() > 1)
    }

    /// The padding of all requests, where it is the same and needs no escapes.
    pub(super) fn fixed(&self) -> Option<&str> {
        let is_fixed = self.0.sizes.is_empty() && self.0.lines.is_none();
        is_fixed.then_some(&*self.0.longest)
    }

    /// Reads a payload back: its stamp, and whether all else is as it was written.
    pub(super) fn read(&self, payload: &Value) -> Option<(u64, bool)> {
        let object = payload.as_object()?;
        let stamp = read_stamp(object.get("stamp")?.as_str()?)?;
        let padding = object.get("padding").map(Value::as_str);
        let due = self.padding(stamp).text;
        let intact = match padding {
            None => due.is_empty() && object.len() == 1,
            Some(text) => text == Some(due) && object.len() == 2,
        };
        Some((stamp, intact))
    }
}

/// The stamp that a text is and nothing else.
pub(super) fn read_stamp(text: &str) -> Option<u64> {
    let form = StampForm::Hex;
    (text.len() == form.width()).then(|| form.read(text.as_bytes()))?
}

/// Reads a payload that is JSON in a text, as [`Body::read`] does.
pub(super) fn parse_payload(text: &str, body: &Body) -> Option<(u64, bool)> {
    let (payload, repeats) = parse_whole(text).ok()?;
    let (stamp, intact) = body.read(&payload)?;
    Some((stamp, intact && !repeats))
}

/// The number of a request within its run, from 1 on: many protocols keep 0 for themselves.
pub(super) const fn number_of(stamp: u64) -> u64 {
    stamp % Stamps::SAMPLES + 1
}

/// The stamp of the request of a number.
pub(super) fn stamp_of(number: u64, stamps: Stamps) -> Option<u64> {
    let sample = number.checked_sub(1)?;
    (sample < Stamps::SAMPLES).then(|| stamps.stamp(sample))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Size;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_request_is_found_by_its_number(seed: u64, sample in 0..Stamps::SAMPLES) {
            let stamps = Stamps::of_run(seed);
            let number = number_of(stamps.stamp(sample));
            prop_assert_eq!(number, sample + 1);
            prop_assert_eq!(stamp_of(number, stamps), Some(stamps.stamp(sample)));
        }
    }

    fn sizes(of: &[(u32, u32)]) -> Body {
        let sizes = of.iter().map(|(bytes, weight)| Size {
            bytes: *bytes,
            weight: *weight,
        });
        let message = Message {
            sizes: Some(Sizes::Weighted(sizes.collect())),
            ..Message::default()
        };
        Body::from_message(&message, None)
    }

    #[test]
    fn sizes_come_by_their_weights() {
        let body = sizes(&[(0, 6), (3, 3), (12, 1)]);
        let mut counts = [0_u32; 13];
        for sample in 0..100_000 {
            counts[body.padding(Stamps::of_run(7).stamp(sample)).text.len()] += 1;
        }
        // 100,000 draws: a standard deviation is below 160.
        for (size, due) in [(0, 60_000), (3, 30_000), (12, 10_000)] {
            assert!(counts[size].abs_diff(due) < 800, "{counts:?}");
        }
        assert_eq!(body.fixed(), None);
        assert_eq!(sizes(&[(5, 9)]).fixed(), Some("12345"));
    }

    #[test]
    fn a_payload_of_another_size_than_its_request_is_not_intact() {
        let body = sizes(&[(0, 1), (3, 1)]);
        for stamp in 0..64 {
            let text = format!("{stamp:016x}");
            let without = serde_json::json!({"stamp": text});
            let with = serde_json::json!({"stamp": text, "padding": "123"});
            let is_empty = body.padding(stamp).text.is_empty();
            assert_eq!(body.read(&without), Some((stamp, is_empty)));
            assert_eq!(body.read(&with), Some((stamp, !is_empty)));
        }
    }

    #[test]
    fn no_request_has_another_number() {
        let stamps = Stamps::of_run(1);
        assert_eq!(stamp_of(0, stamps), None);
        assert_eq!(stamp_of(Stamps::SAMPLES + 1, stamps), None);
        assert_eq!(stamp_of(u64::MAX, stamps), None);
    }

    #[test]
    fn a_stamp_with_more_behind_it_is_none() {
        assert_eq!(read_stamp("00000000000000ab"), Some(0xAB));
        assert_eq!(read_stamp("00000000000000ab0"), None);
        assert_eq!(read_stamp("00000000000000a"), None);
    }
}
