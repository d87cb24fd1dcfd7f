//! The payload that JSON dialects carry: a stamp and, unless empty, the padding.

use super::{StampForm, Stamps};
use serde_json::Value;

/// What stands before the stamp.
pub(super) const BEFORE_STAMP: &str = r#"{"stamp":""#;
/// What stands between the stamp and the padding.
pub(super) const AFTER_STAMP: &str = r#"","padding":""#;

/// The payload of every request but for its stamp.
#[derive(Debug)]
pub(super) struct Body {
    padding: String,
}

impl Body {
    pub(super) const fn new(padding: String) -> Self {
        Self { padding }
    }

    pub(super) fn padding(&self) -> &str {
        &self.padding
    }

    /// Reads a payload back: its stamp, and whether all else is as it was written.
    pub(super) fn read(&self, payload: &Value) -> Option<(u64, bool)> {
        let object = payload.as_object()?;
        let stamp = read_stamp(object.get("stamp")?.as_str()?)?;
        let padding = object.get("padding").map(Value::as_str);
        let intact = match padding {
            None => self.padding.is_empty() && object.len() == 1,
            Some(text) => text == Some(&self.padding) && object.len() == 2,
        };
        Some((stamp, intact))
    }
}

/// The stamp that a text is and nothing else.
pub(super) fn read_stamp(text: &str) -> Option<u64> {
    let form = StampForm::Hex;
    (text.len() == form.width()).then(|| form.read(text.as_bytes()))?
}

/// The number of a request within its run, from 1 on: many protocols keep 0 for themselves.
pub(super) const fn number_of(stamp: u64) -> u64 {
    stamp % Stamps::SAMPLES + 1
}

/// The stamp of the request of a number.
pub(super) fn stamp_of(number: u64, stamps: Stamps) -> Option<u64> {
    let sample = number.checked_sub(1)?;
    (sample < Stamps::SAMPLES).then(|| stamps.of(sample))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_request_is_found_by_its_number(seed: u64, sample in 0..Stamps::SAMPLES) {
            let stamps = Stamps::of_run(seed);
            let number = number_of(stamps.of(sample));
            prop_assert_eq!(number, sample + 1);
            prop_assert_eq!(stamp_of(number, stamps), Some(stamps.of(sample)));
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
