//! When connections ended that the generator did not close, and how.

use super::Told;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The drops of a step: connections that ended although the generator did not close them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DropTimes {
    /// Length of an interval in nanoseconds: a second, or as many whole seconds as keep the number of
    /// intervals at 3,600 or below. The first begins with the step: in a `connect` run when the first
    /// connection is due, otherwise when the first request may be sent.
    pub interval_ns: u64,
    /// By how they ended, the most frequent first; [`DropTimes::MOST_CAUSES`] at most.
    pub causes: Vec<DropCause>,
}

/// Connections that ended in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DropCause {
    /// How they ended.
    pub how: DropHow,
    /// The code of the close frame (RFC 6455, 7.4). Absent where none came, or one without a code.
    pub code: Option<u16>,
    /// How many.
    pub count: u64,
    /// How the first of them ended, in words, with the reason that the server gave.
    pub first: Told,
    /// How many ended in each interval, by its number from 0 on. Intervals without any are left out.
    #[serde(deserialize_with = "by_number")]
    pub intervals: BTreeMap<u64, u64>,
}

/// Keys of JSON are strings, and the tagged enum of events keeps them so.
fn by_number<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<u64, u64>, D::Error> {
    if !from.is_human_readable() {
        return BTreeMap::deserialize(from);
    }
    let named = BTreeMap::<String, u64>::deserialize(from)?;
    let number = |(name, count): (String, u64)| match name.parse() {
        Ok(number) => Ok((number, count)),
        Err(_) => Err(D::Error::custom(format_args!(
            "{name:?} is no number of an interval"
        ))),
    };
    named.into_iter().map(number).collect()
}

/// How a connection ended.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DropHow {
    /// By a close frame, or by the end of the stream.
    Closed,
    /// By a reset, or another failure of the network.
    Reset,
    /// A ping was not answered in time.
    Unanswered,
    /// The server broke RFC 6455.
    Broken,
    /// In a way that is not told apart, since there are too many.
    Other,
}

impl DropTimes {
    /// Most causes that are told apart, the one of all others included.
    pub const MOST_CAUSES: usize = 32;

    /// All drops. The sum stops at the highest number: a record of a stranger may have counts whose sum is
    /// higher.
    pub fn count(&self) -> u64 {
        let counts = self.causes.iter().map(|cause| cause.count);
        counts.fold(0, u64::saturating_add)
    }

    /// All drops by the number of their interval, in order.
    pub fn by_interval(&self) -> BTreeMap<u64, u64> {
        let mut all = BTreeMap::new();
        for (interval, count) in self.causes.iter().flat_map(|cause| &cause.intervals) {
            let sum: &mut u64 = all.entry(*interval).or_default();
            *sum = sum.saturating_add(*count);
        }
        all
    }
}

impl DropCause {
    /// `closed 1001`, `reset`: what tells it from other causes.
    pub fn name(&self) -> String {
        let how = match self.how {
            DropHow::Closed => "closed",
            DropHow::Reset => "reset",
            DropHow::Unanswered => "ping unanswered",
            DropHow::Broken => "protocol broken",
            DropHow::Other => "other",
        };
        match self.code {
            Some(code) => format!("{how} {code}"),
            None => how.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_of_all_causes_are_added_up_by_interval() {
        let cause = |how, code, intervals: &[(u64, u64)]| DropCause {
            how,
            code,
            count: intervals.iter().map(|(_, count)| count).sum(),
            first: Told::from("words"),
            intervals: intervals.iter().copied().collect(),
        };
        let times = DropTimes {
            interval_ns: 1_000_000_000,
            causes: vec![
                cause(DropHow::Closed, Some(1001), &[(3, 10), (4, 2)]),
                cause(DropHow::Reset, None, &[(4, 5)]),
            ],
        };
        assert_eq!(times.count(), 17);
        assert_eq!(times.by_interval(), BTreeMap::from([(3, 10), (4, 7)]));
        let names: Vec<String> = times.causes.iter().map(DropCause::name).collect();
        assert_eq!(names, ["closed 1001", "reset"]);
    }
}
