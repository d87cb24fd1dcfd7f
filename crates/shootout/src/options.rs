//! The options of a run: everything that decides its rows and their figures.
//!
//! Pure data; the command line makes it.

use crate::manifest::{Dialect, Workload};
use run_record::Measure;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Clients of the first step and of each further one, unless the user or the manifest says
/// otherwise: those of the second round of 2016.
const USUAL_STEP: u32 = 1000;

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
    /// In which message formats; when empty, each variant in text, or in what it speaks instead.
    pub dialects: Vec<Dialect>,
    /// How often each row is measured.
    pub repeat: u32,
    /// Requests in flight.
    pub concurrent: u32,
    /// Requests a step.
    pub sample_size: u32,
    /// Clients of the first step; what suits the row, when absent.
    pub initial_clients: Option<u32>,
    /// Clients that each step adds; what suits the row, when absent.
    pub step_size: Option<u32>,
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
            dialects: Vec::new(),
            repeat: 1,
            concurrent: 4,
            sample_size: 100,
            initial_clients: None,
            step_size: None,
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

    /// The steps of a server whose manifest asks for steps of `own` clients. The user's options
    /// come first, then the manifest, then the usual steps.
    pub fn schedule(&self, own: Option<u32>) -> Schedule {
        let usual = own.unwrap_or(USUAL_STEP);
        Schedule {
            initial_clients: self.initial_clients.unwrap_or(usual),
            step_size: self.step_size.unwrap_or(usual),
            total_steps: self.total_steps,
        }
    }
}

/// How many clients each step has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Clients of the first step.
    pub initial_clients: u32,
    /// Clients that each further step adds.
    pub step_size: u32,
    /// Steps at most, where that is limited.
    pub total_steps: Option<u32>,
}

impl Schedule {
    /// The same with no more steps than `capacity` clients allow: 0 when not even the first fits.
    #[must_use]
    pub fn within(self, capacity: u64) -> Self {
        let held = match capacity.checked_sub(u64::from(self.initial_clients)) {
            None => 0,
            Some(room) => {
                let steps = room.checked_div(u64::from(self.step_size));
                steps.map_or(u32::MAX, |steps| {
                    u32::try_from(steps + 1).unwrap_or(u32::MAX)
                })
            }
        };
        let total_steps = self.total_steps.map_or(held, |asked| asked.min(held));
        Self {
            total_steps: Some(total_steps),
            ..self
        }
    }

    /// True when not even the first step is left.
    pub fn is_empty(&self) -> bool {
        self.total_steps == Some(0)
    }

    /// Clients of the last step; of the first, where their number is not limited.
    pub fn last_clients(&self) -> u64 {
        let further = self.total_steps.map_or(0, |steps| steps.saturating_sub(1));
        u64::from(self.initial_clients) + u64::from(further) * u64::from(self.step_size)
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
            (other != value).then(|| format!("--{key} was {}, now {}", said(value), said(other)))
        })
        .collect()
}

fn said(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "not given".into(),
        value => value.to_string(),
    }
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
    fn what_is_given_goes_before_the_manifest_and_that_before_the_usual() {
        let quick = RunOptions::quick();
        let clients = |options: &RunOptions, own| {
            let schedule = options.schedule(own).within(20_000);
            (schedule.initial_clients, schedule.last_clients())
        };
        assert_eq!(clients(&quick, None), (1000, 5000));
        assert_eq!(clients(&quick, Some(100)), (100, 500));
        assert_eq!(clients(&RunOptions::default(), Some(100)), (100, 20_000));
        let given = RunOptions {
            initial_clients: Some(50),
            step_size: Some(10),
            ..quick
        };
        assert_eq!(clients(&given, Some(100)), (50, 90));
    }

    #[test]
    fn steps_end_at_the_machines_capacity() {
        let steps = |options: &RunOptions, capacity| {
            options.schedule(None).within(capacity).total_steps.unwrap()
        };
        let full = RunOptions::default();
        assert_eq!(steps(&full, 999), 0);
        assert_eq!(steps(&full, 1000), 1);
        assert_eq!(steps(&full, 19_744), 19);
        assert_eq!(steps(&RunOptions::quick(), 19_744), 5);
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
