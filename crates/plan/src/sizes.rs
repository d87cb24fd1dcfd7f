//! Paddings of several sizes.

use super::bounds::MOST_PADDING;
use super::error::{PlanError, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most sizes of a plan. Workers keep the bytes of each that they have seen.
const MOST_SIZES: usize = 64;
/// Largest weight of a size.
const MOST_WEIGHT: u32 = 1_000_000;

/// Bytes of padding, chosen for each request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// These sizes, each as often as its weight says.
    Weighted(Vec<Size>),
    /// Sizes between two, each as often as any other.
    Uniform(Uniform),
}

/// A size and how often it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Bytes of padding.
    pub bytes: u32,
    /// How many requests have this size, as a share of the sum of all weights.
    #[serde(default = "one")]
    pub weight: u32,
}

const fn one() -> u32 {
    1
}

/// Sizes from the first to the last, both included: all of them where there are 64 at most, else 64 at
/// equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Fewest bytes of padding.
    pub from: u32,
    /// Most bytes of padding.
    pub to: u32,
}

impl Sizes {
    /// Every size in bytes, with its weight.
    pub fn all(&self) -> Vec<(u32, u32)> {
        match self {
            Self::Weighted(sizes) => sizes.iter().map(|of| (of.bytes, of.weight)).collect(),
            Self::Uniform(Uniform { from, to }) => {
                let (from, span) = (u64::from(*from), u64::from(to.saturating_sub(*from)));
                let last = span.min(MOST_SIZES as u64 - 1);
                let size = |n: u64| (from + n * span / last.max(1)) as u32;
                (0..=last).map(|n| (size(n), 1)).collect()
            }
        }
    }

    /// # Errors
    /// As [`super::Plan::validate`].
    pub(super) fn validate(&self) -> Result<(), PlanError> {
        let bytes = |field, bytes| within(field, bytes, (0, MOST_PADDING));
        match self {
            Self::Weighted(sizes) => {
                within("message.sizes.weighted", sizes.len(), (1, MOST_SIZES))?;
                sizes.iter().try_for_each(|of| {
                    bytes("message.sizes.weighted.bytes", of.bytes)?;
                    within("message.sizes.weighted.weight", of.weight, (1, MOST_WEIGHT))
                })
            }
            Self::Uniform(Uniform { from, to }) => {
                bytes("message.sizes.uniform.from", *from)?;
                within("message.sizes.uniform.to", *to, (*from, MOST_PADDING))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(from: u32, to: u32) -> Vec<u32> {
        let all = Sizes::Uniform(Uniform { from, to }).all();
        all.into_iter().map(|(bytes, _)| bytes).collect()
    }

    #[test]
    fn uniform_sizes_are_at_equal_distances_and_include_both_ends() {
        assert_eq!(uniform(5, 5), [5]);
        assert_eq!(uniform(5, 8), [5, 6, 7, 8]);
        let many = uniform(0, MOST_PADDING);
        assert_eq!((many.len(), many[0], many[63]), (64, 0, MOST_PADDING));
        let gaps = many.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.clone().max().unwrap() - gaps.min().unwrap() <= 1);
    }
}
