//! What a run was asked for: everything that decides its rows and their figures.
//!
//! Pure data; how the options are given is the command line's matter.

use crate::manifest::{Dialect, Workload};
use run_record::Measure;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Options of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunOptions {
    /// A short look instead of the full measurement.
    pub quick: bool,
    /// Servers by name; all, when empty.
    pub servers: Vec<String>,
    /// Which variants of each.
    pub variants: VariantChoice,
    /// Which request.
    pub workload: Workload,
    /// In which message formats.
    pub dialects: Vec<Dialect>,
    /// How often each row is measured.
    pub repeat: u32,
    /// Requests in flight.
    pub concurrent: u32,
    /// Requests a step.
    pub sample_size: u32,
    /// Clients of the first step.
    pub initial_clients: u32,
    /// Clients that each step adds.
    pub step_size: u32,
    /// Steps at most; up to the machine's limits, when absent.
    pub total_steps: Option<u32>,
    /// Bytes of padding in each payload.
    pub payload_padding: u32,
    /// Percentile that the limit applies to.
    pub limit_percentile: f64,
    /// The limit.
    #[serde(with = "duration")]
    pub limit_rtt: Duration,
    /// The latency that the limit applies to.
    pub measure: Measure,
    /// Which cores.
    pub pin: Pin,
}

/// Which variants are measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VariantChoice {
    /// Every variant.
    All,
    /// The first that each manifest declares.
    First,
    /// Those of these names.
    Named(Vec<String>),
}

/// Which cores the server and the generator get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pin {
    /// Different cores for each, chosen from those that are allowed.
    Auto,
    /// Any core for both.
    Off,
    /// These.
    Cores {
        /// Cores of the server; chosen, when absent.
        server: Option<Vec<usize>>,
        /// Cores of the generator; chosen, when absent.
        generator: Option<Vec<usize>>,
    },
}

impl Default for RunOptions {
    /// Every server and variant with the parameters of the second round of 2016: broadcasts, 4 at
    /// a time, 100 a step, 1,000 clients more each step, 200 bytes of padding, until the 95th
    /// percentile passes 500 ms.
    fn default() -> Self {
        Self {
            quick: false,
            servers: Vec::new(),
            variants: VariantChoice::All,
            workload: Workload::Broadcast,
            dialects: vec![Dialect::Text],
            repeat: 1,
            concurrent: 4,
            sample_size: 100,
            initial_clients: 1000,
            step_size: 1000,
            total_steps: None,
            payload_padding: 200,
            limit_percentile: 95.0,
            limit_rtt: Duration::from_millis(500),
            measure: Measure::Completion,
            pin: Pin::Auto,
        }
    }
}

impl RunOptions {
    /// What `--quick` asks for: about three minutes for four servers.
    pub fn quick() -> Self {
        Self {
            quick: true,
            variants: VariantChoice::First,
            total_steps: Some(5),
            ..Self::default()
        }
    }

    /// Clients of the last of `steps` steps.
    pub fn clients_after(&self, steps: u32) -> u64 {
        u64::from(self.initial_clients)
            + u64::from(steps.saturating_sub(1)) * u64::from(self.step_size)
    }
}

/// The options that differ, each as "name: stored, given".
pub fn differences(stored: &RunOptions, given: &RunOptions) -> Vec<String> {
    let (Ok(serde_json::Value::Object(stored)), Ok(serde_json::Value::Object(given))) =
        (serde_json::to_value(stored), serde_json::to_value(given))
    else {
        return Vec::new();
    };
    stored
        .iter()
        .filter_map(|(key, value)| {
            let other = given.get(key)?;
            (other != value).then(|| format!("--{key} was {value}, now {other}"))
        })
        .collect()
}

mod duration {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(value: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&humantime::format_duration(*value).to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(d)?;
        humantime::parse_duration(&text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_being_stored() {
        let options = RunOptions {
            variants: VariantChoice::Named(vec!["clustered".into()]),
            pin: Pin::Cores {
                server: Some(vec![0, 1]),
                generator: None,
            },
            ..RunOptions::quick()
        };
        let text = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<RunOptions>(&text).unwrap(), options);
    }

    #[test]
    fn differences_are_named() {
        let stored = RunOptions::default();
        let given = RunOptions {
            concurrent: 8,
            ..stored.clone()
        };
        assert_eq!(differences(&stored, &given), ["--concurrent was 4, now 8"]);
        assert!(differences(&stored, &stored).is_empty());
    }
}
