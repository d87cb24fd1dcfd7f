//! What this generator can do at most on this machine, from the certificate that `selftest` leaves
//! in the user's cache directory. Without one, nothing is known, and nothing is held against it.

use run_record::{Environment, Plan};
use serde_json::Value;
use std::path::PathBuf;

/// Below this share of a core the other side of the test was the limit, and the rate that it found
/// is no ceiling of the generator.
const BUSY: f64 = 0.9;
/// Payloads that differ by less cost about the same: they come in one read.
const SIMILAR_BYTES: u64 = 1024;

/// Where the certificate lies; `None` for a user without a home.
pub(crate) fn certificate_path() -> Option<PathBuf> {
    let absolute = |name| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("websocket-bench").join("selftest.json"))
}

/// Messages per second that were reached on this machine with a plan of this kind.
pub(crate) fn known(plan: &Plan) -> Option<f64> {
    let text = std::fs::read_to_string(certificate_path()?).ok()?;
    find(
        &serde_json::from_str(&text).ok()?,
        plan,
        &Environment::collect(),
    )
}

fn find(certificate: &Value, plan: &Plan, here: &Environment) -> Option<f64> {
    let there = &certificate["environment"];
    // Home directories travel from machine to machine.
    if there["cpu_model"].as_str() != here.cpu_model.as_deref()
        || there["cores"].as_u64() != Some(u64::from(here.cores))
    {
        return None;
    }
    let ceilings = certificate["ceilings"].as_array()?;
    let of_this_kind = |ceiling: &&Value| {
        let padding = ceiling["payload_padding"].as_u64();
        serde_json::to_value(plan.workload).is_ok_and(|workload| ceiling["workload"] == workload)
            && serde_json::to_value(plan.dialect).is_ok_and(|dialect| ceiling["dialect"] == dialect)
            && ceiling["threads"].as_u64() == Some(u64::from(plan.threads))
            && padding.is_some_and(|padding| {
                padding.abs_diff(plan.payload_padding.into()) < SIMILAR_BYTES
            })
            && ceiling["busiest_thread"].as_f64() > Some(BUSY)
    };
    ceilings.iter().find(of_this_kind)?["messages_per_second"].as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use crate::planning;
    use clap::Parser as _;
    use serde_json::json;

    fn plan(arguments: &str) -> Plan {
        let line = format!("websocket-bench {arguments} --threads 2 --timestamps user");
        match Cli::parse_from(line.split_whitespace()).command {
            Command::Echo(args) => planning::plan(&args.common, planning::echo(&args.load)),
            Command::Broadcast(args) => {
                planning::plan(&args.common, planning::broadcast(&args.load))
            }
            _ => unreachable!(),
        }
        .unwrap()
    }

    #[test]
    fn a_ceiling_counts_for_a_plan_of_its_kind_on_its_machine() {
        let here = Environment::collect();
        let ceiling = |busiest_thread: f64| {
            json!({
                "environment": here,
                "ceilings": [
                    {"workload": "broadcast", "dialect": "json", "payload_padding": 200,
                     "threads": 2, "messages_per_second": 7e5, "busiest_thread": 0.99},
                    {"workload": "echo", "dialect": "json", "payload_padding": 200,
                     "threads": 2, "messages_per_second": 1e5, "busiest_thread": busiest_thread},
                ],
            })
        };
        let echo = plan("echo ws://127.0.0.1/");
        assert_eq!(find(&ceiling(0.98), &echo, &here), Some(1e5));
        assert_eq!(
            find(&ceiling(0.98), &plan("broadcast ws://127.0.0.1/"), &here),
            Some(7e5)
        );
        assert_eq!(find(&ceiling(0.6), &echo, &here), None);
        for other in ["--server-type binary", "--payload-padding 5000"] {
            let other = plan(&format!("echo ws://127.0.0.1/ {other}"));
            assert_eq!(find(&ceiling(0.98), &other, &here), None);
        }
        let elsewhere = Environment {
            cores: here.cores + 1,
            ..here.clone()
        };
        assert_eq!(find(&ceiling(0.98), &echo, &elsewhere), None);
        assert_eq!(find(&json!({"ceilings": 5}), &echo, &here), None);
    }
}
