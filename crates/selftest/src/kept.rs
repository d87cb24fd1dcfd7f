//! The ceiling of this generator on this machine, from the certificate that a test leaves in the user's
//! cache directory. Without one, nothing is known, and nothing is held against it.

use host_facts::user_cache;
use plan::Plan;
use record::{BUSY, Ceiling, Certificate, Environment, Json};
use std::io;
use std::path::{Path, PathBuf};

/// Payloads whose lengths differ by less than this cost about the same: they come in one read.
const SIMILAR_BYTES: u32 = 1024;

/// Where the certificate lies; `None` for a user without a home.
fn certificate_path() -> Option<PathBuf> {
    Some(user_cache()?.join("websocket-bench/selftest.json"))
}

/// Keeps a certificate with a ceiling for later runs. If it cannot be written, later runs know no
/// ceiling.
pub(super) fn keep(certificate: &Certificate) {
    if certificate.ceilings.is_empty() {
        return;
    }
    if let Some(path) = certificate_path() {
        let _ = write(&path, certificate);
    }
}

fn write(path: &Path, certificate: &Certificate) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = std::fs::File::create(&draft)?;
    certificate.write_json(&mut file)?;
    std::fs::rename(&draft, path)
}

/// Messages per second that were reached on this machine with a plan of this kind.
pub fn known_ceiling(plan: &Plan) -> Option<f64> {
    let text = std::fs::read_to_string(certificate_path()?).ok()?;
    find(
        &Certificate::from_json(&text).ok()?,
        plan,
        &Environment::collect(),
    )
}

fn find(certificate: &Certificate, plan: &Plan, here: &Environment) -> Option<f64> {
    let there = &certificate.environment;
    // A home directory may be used on several machines.
    if there.cpu_model != here.cpu_model || there.cores != here.cores {
        return None;
    }
    // Each backend has a ceiling of its own.
    if certificate.io != plan.generator.io {
        return None;
    }
    let of_this_kind = |ceiling: &&Ceiling| {
        let padding = ceiling.payload_padding.abs_diff(plan.message.padding);
        ceiling.workload == plan.workload()
            && ceiling.dialect == plan.message.dialect
            && ceiling.threads == plan.generator.threads
            && padding < SIMILAR_BYTES
            // Paddings of several sizes are like none that was measured.
            && (&plan.message.sizes, &plan.message.lines) == (&None, &None)
            // Below that the other side of the test was the limit, and the rate is no ceiling.
            && ceiling.busiest_thread > BUSY
    };
    let found = certificate.ceilings.iter().find(of_this_kind)?;
    Some(found.messages_per_second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bench, uninterrupted};
    use plan::{Dialect, Io, Timestamps, Workload};
    use record::{SELFTEST_FORMAT, Tool, VERSION};
    use std::net::{Ipv4Addr, SocketAddr};

    fn plan(workload: Workload) -> Plan {
        let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let plan = bench(&uninterrupted).plan(nowhere, workload, 100);
        plan.with(|plan| plan.generator.threads = 2)
    }

    fn certificate(busiest_thread: f64) -> Certificate {
        let ceiling = |workload, messages_per_second, busiest_thread| Ceiling {
            workload,
            dialect: Dialect::Text,
            clients: 100,
            payload_padding: 200,
            threads: 2,
            messages_per_second,
            cpu_ns_per_message: 1000.0,
            busiest_thread,
        };
        Certificate {
            format: SELFTEST_FORMAT.into(),
            version: VERSION,
            tool: Tool {
                name: "websocket-bench".into(),
                version: "0".into(),
            },
            started: String::new(),
            seed: 0,
            ended: String::new(),
            command: Vec::new(),
            short: false,
            timestamps: Timestamps::User,
            io: Io::Epoll,
            environment: Environment::collect(),
            parts: Vec::new(),
            not_made: Vec::new(),
            ceilings: vec![
                ceiling(Workload::Broadcast, 7e5, 0.99),
                ceiling(Workload::Echo, 1e5, busiest_thread),
            ],
        }
    }

    #[test]
    fn a_ceiling_counts_for_a_plan_of_its_kind_on_its_machine() {
        let here = Environment::collect();
        let echo = plan(Workload::Echo);
        let broadcast = plan(Workload::Broadcast);
        assert_eq!(find(&certificate(0.98), &echo, &here), Some(1e5));
        assert_eq!(find(&certificate(0.98), &broadcast, &here), Some(7e5));
        assert_eq!(find(&certificate(0.6), &echo, &here), None);
        let of_another_kind: [fn(&mut Plan); 4] = [
            |plan| plan.message.dialect = Dialect::Binary,
            |plan| plan.message.padding = 5000,
            |plan| plan.generator.threads = 1,
            |plan| plan.generator.io = Io::Uring,
        ];
        for change in of_another_kind {
            let mut other = echo.clone();
            change(&mut other);
            assert_eq!(find(&certificate(0.98), &other, &here), None, "{other:?}");
        }
        let elsewhere = Environment {
            cores: here.cores + 1,
            ..here
        };
        assert_eq!(find(&certificate(0.98), &echo, &elsewhere), None);
    }

    #[test]
    fn a_kept_certificate_is_the_one_that_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("selftest.json");
        let kept = certificate(0.98);
        write(&path, &kept).unwrap();
        write(&path, &kept).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(serde_json::from_str::<Certificate>(&text).unwrap(), kept);
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1
        );
    }
}
