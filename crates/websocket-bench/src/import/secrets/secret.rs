//! A part of a text that a plan must not hold.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Secret {
    pub(in super::super) range: Range<usize>,
    /// What it is called, or what stands nearest to it.
    pub(in super::super) name: String,
}
