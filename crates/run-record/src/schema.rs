//! JSON Schemas of the records, from the same types that write them.

use crate::{Measurement, RunRecord};

/// Schema of [`RunRecord`].
pub fn run_schema() -> schemars::Schema {
    schemars::schema_for!(RunRecord)
}

/// Schema of [`Measurement`].
pub fn measurement_schema() -> schemars::Schema {
    schemars::schema_for!(Measurement)
}
