//! The options of a run: everything that decides its rows and their figures.
//!
//! Pure data; the command line makes it.

use project::leaves;
use project::manifest::Dialect;
use project::workload::NamedPlan;
use record::Network;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

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
    /// What they are measured with, in this order.
    pub workloads: Vec<NamedPlan>,
    /// In which message formats; when empty, each variant in text, or in what it speaks instead.
    pub dialects: Vec<Dialect>,
    /// Servers that are measured a second time, as rows of another name.
    #[serde(default)]
    pub twice: Vec<String>,
    /// How often each row is measured.
    pub repeat: u32,
    /// In which order.
    #[serde(default)]
    pub order: RowOrder,
    /// Which cores.
    pub pin: Pin,
    /// What lies between server and clients; loopback, when absent.
    #[serde(default)]
    pub network: Option<Network>,
    /// The proxies through which each row is measured, and [`project::NO_PROXY`]; those of each workload,
    /// when empty.
    #[serde(default)]
    pub via: Vec<String>,
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

/// The order of the rows of a workload in each round of repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowOrder {
    /// By the names of servers, and as the manifests list their variants.
    #[default]
    Listed,
    /// Drawn by lot for each round, all from this number.
    Drawn(u32),
}

/// A text that names no order.
#[derive(Debug, thiserror::Error)]
#[error("write `listed`, or the number of a draw that a run has printed")]
pub struct NoOrder;

impl FromStr for RowOrder {
    type Err = NoOrder;

    fn from_str(text: &str) -> Result<Self, NoOrder> {
        match text {
            "listed" => Ok(Self::Listed),
            number => number.parse().map(Self::Drawn).map_err(|_| NoOrder),
        }
    }
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
    /// Every server and variant, once.
    fn default() -> Self {
        Self {
            quick: false,
            servers: Vec::new(),
            variants: VariantChoice::All,
            workloads: vec![NamedPlan::default()],
            dialects: Vec::new(),
            twice: Vec::new(),
            repeat: 1,
            order: RowOrder::Listed,
            pin: Pin::Auto,
            network: None,
            via: Vec::new(),
        }
    }
}

/// The options that differ, each as "name was stored, now given". Keys of the plan have the names
/// that `--set` gives them.
pub fn differences(stored: &RunOptions, given: &RunOptions) -> Vec<String> {
    let (stored, given) = (values(stored), values(given));
    let all: BTreeSet<&String> = stored.keys().chain(given.keys()).collect();
    all.into_iter()
        .filter(|key| stored.get(*key) != given.get(*key))
        .map(|key| {
            let said = |value: Option<&Value>| match value {
                None | Some(Value::Null) => "not given".to_owned(),
                Some(value) => value.to_string(),
            };
            let (was, now) = (said(stored.get(key)), said(given.get(key)));
            format!("{key} was {was}, now {now}")
        })
        .collect()
}

/// The values of options by their names. How the user came to a plan does not matter.
fn values(options: &RunOptions) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let Ok(Value::Object(all)) = serde_json::to_value(options) else {
        return found;
    };
    for (key, value) in all {
        if key != "workloads" {
            found.insert(format!("--{key}"), value);
        }
    }
    let names: Vec<&str> = options.workloads.iter().map(|w| w.name.as_str()).collect();
    found.insert("--workload".into(), names.join(",").into());
    for workload in &options.workloads {
        let scope = match options.workloads.len() {
            1 => String::new(),
            _ => format!("{}:", workload.name),
        };
        let keys = leaves(&workload.plan).into_iter();
        found.extend(keys.map(|(key, value)| (format!("{scope}{key}"), value)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Load;

    #[test]
    fn options_survive_being_stored() {
        let options = RunOptions {
            variants: VariantChoice::Named(vec!["clustered".into()]),
            pin: Pin::Cores {
                server: Some(vec![0, 1]),
                generator: None,
            },
            ..RunOptions::default()
        };
        let text = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<RunOptions>(&text).unwrap(), options);
    }

    #[test]
    fn differences_are_named_as_they_are_given() {
        let stored = RunOptions::default();
        let mut given = RunOptions {
            repeat: 3,
            ..stored.clone()
        };
        given.workloads[0].plan.load = Load::closed(8, 100);
        given.workloads[0].set.push("load.in_flight=8".into());
        assert_eq!(
            differences(&stored, &given),
            [
                "--repeat was 1, now 3",
                "load.closed.in_flight was 4, now 8"
            ]
        );
        assert!(differences(&stored, &stored).is_empty());
        let two = |padding| {
            let mut two = stored.clone();
            two.workloads.push(stored.workloads[0].clone());
            two.workloads[1].name = "second".into();
            two.workloads[1].plan.message.padding = padding;
            two
        };
        assert_eq!(
            differences(&two(0), &two(9)),
            ["second:message.padding was 0, now 9"]
        );
    }
}
