//! What all records have: their version, and the program that wrote them.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// Version of both record formats; raised when a reader must change.
pub const VERSION: u32 = 2;

/// A program and its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Name of the program.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The version of a record, which is this one.
///
/// # Errors
/// Those of the deserializer, and that the record is of another version.
pub(super) fn of_now<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(deserializer)?;
    if version == VERSION {
        return Ok(version);
    }
    Err(D::Error::custom(format_args!(
        "format version {version} is not known; this program reads version {VERSION}"
    )))
}
