//! What this machine allows: how many clients, and which cores for server and generator.
//!
//! Reads limits; changes none.

use crate::options::Pin;
use crate::sample::cpus;
use board::terminal::listed;
use project::Refusal;
use record::{Environment, Pinning};
use std::net::{IpAddr, Ipv4Addr, TcpListener};

/// Open files that a server or the generator needs beside its connections: a Java virtual machine
/// holds about 100, each with its libraries.
const OTHER_FILES: u64 = 256;
/// Source addresses that clients are spread over: each has its own range of ports.
const ADDRESSES: u8 = 3;

/// How many clients this machine can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Clients.
    pub clients: u64,
    /// The limit that decides it and how to raise it.
    pub limit: String,
    /// Source addresses of the clients.
    pub local_addrs: Vec<IpAddr>,
}

/// Looks at the limits of this machine and process.
pub fn capacity(environment: &Environment) -> Capacity {
    let local_addrs: Vec<IpAddr> = (1..=ADDRESSES)
        .map(|last| IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)))
        .filter(|addr| TcpListener::bind((*addr, 0)).is_ok())
        .collect();
    capacity_of(environment, local_addrs)
}

fn capacity_of(environment: &Environment, local_addrs: Vec<IpAddr>) -> Capacity {
    let files = environment.file_limit.hard.saturating_sub(OTHER_FILES);
    let (first, last) = environment.local_ports.unwrap_or((32_768, 60_999));
    let ports_each = u64::from(last.saturating_sub(first)) + 1;
    let ports = ports_each * local_addrs.len().max(1) as u64;
    let (clients, limit) = if files <= ports {
        (
            files,
            format!(
                "{} open files for each process; raise it with `ulimit -Hn` as root or in \
                 /etc/security/limits.conf",
                environment.file_limit.hard
            ),
        )
    } else {
        (
            ports,
            format!(
                "{ports_each} outgoing ports on each of {} addresses; widen \
                 net.ipv4.ip_local_port_range with sysctl",
                local_addrs.len()
            ),
        )
    };
    Capacity {
        clients,
        limit,
        local_addrs,
    }
}

/// Which cores each side gets, and how many threads it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cores {
    /// The cores that each side is pinned to; absent without pinning.
    pub pinning: Option<Pinning>,
    /// Whether the user said which.
    pub is_given: bool,
    /// Threads of the server.
    pub server_threads: usize,
    /// Threads of the generator.
    pub generator_threads: usize,
}

impl Cores {
    /// Cores of the server; empty without pinning.
    pub fn server(&self) -> &[usize] {
        self.pinning.as_ref().map_or(&[], |p| &p.server_cpus)
    }

    /// Cores of the generator; empty without pinning.
    pub fn generator(&self) -> &[usize] {
        self.pinning.as_ref().map_or(&[], |p| &p.generator_cpus)
    }

    /// The same for a server of several nodes: nothing is pinned unless the user said where. Nodes and
    /// a broker need more than half of a small machine, and the loads of their workloads need little.
    pub fn for_nodes(&self) -> Self {
        Self {
            pinning: self.pinning.clone().filter(|_| self.is_given),
            ..self.clone()
        }
    }
}

/// Chooses the cores. The number of threads is the same with and without pinning, so that
/// `--no-pin` changes the pinning only.
///
/// # Errors
/// When the cores that were asked for are not allowed, overlap, or leave none for the other side.
pub fn cores(pin: &Pin, environment: &Environment) -> Result<Cores, Refusal> {
    let allowed = &environment.allowed_cpus;
    let chosen = match pin {
        Pin::Auto => cpus::split(allowed),
        Pin::Off => {
            return Ok(Cores {
                pinning: None,
                ..threads(cpus::split(allowed), allowed.len())
            });
        }
        Pin::Cores { server, generator } => {
            let rest = |taken: &[usize]| -> Vec<usize> {
                allowed
                    .iter()
                    .copied()
                    .filter(|cpu| !taken.contains(cpu))
                    .collect()
            };
            let server_cpus = match (server, generator) {
                (Some(cpus), _) => cpus.clone(),
                (None, Some(taken)) => rest(taken),
                (None, None) => allowed.clone(),
            };
            let generator_cpus = generator.clone().unwrap_or_else(|| rest(&server_cpus));
            check("--server-cpus", &server_cpus, allowed)?;
            check("--generator-cpus", &generator_cpus, allowed)?;
            if let Some(both) = server_cpus.iter().find(|cpu| generator_cpus.contains(cpu)) {
                return Err(Refusal::new(format!(
                    "core {both} is given to the server and to the generator; give each its own, \
                     or use --no-pin"
                )));
            }
            Some((server_cpus, generator_cpus))
        }
    };
    Ok(Cores {
        is_given: matches!(pin, Pin::Cores { .. }),
        ..threads(chosen, allowed.len())
    })
}

fn threads(split: Option<(Vec<usize>, Vec<usize>)>, allowed: usize) -> Cores {
    let Some((server_cpus, generator_cpus)) = split else {
        return Cores {
            pinning: None,
            is_given: false,
            server_threads: allowed.max(1),
            generator_threads: allowed.max(1),
        };
    };
    Cores {
        server_threads: server_cpus.len(),
        generator_threads: generator_cpus.len(),
        pinning: Some(Pinning {
            server_cpus,
            generator_cpus,
        }),
        is_given: false,
    }
}

fn check(option: &str, cpus: &[usize], allowed: &[usize]) -> Result<(), Refusal> {
    if cpus.is_empty() {
        return Err(Refusal::new(format!(
            "{option}: no core is left for this side; allowed: {}",
            listed(allowed)
        )));
    }
    match cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        Some(cpu) => Err(Refusal::new(format!(
            "{option}: core {cpu} is not allowed for this process; allowed: {}",
            listed(allowed)
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::FileLimit;

    fn environment(hard: u64, cpus: &[usize]) -> Environment {
        Environment {
            file_limit: FileLimit { soft: 1024, hard },
            local_ports: Some((32_768, 60_999)),
            allowed_cpus: cpus.to_vec(),
            ..Environment::collect()
        }
    }

    fn addresses() -> Vec<IpAddr> {
        (1..=3)
            .map(|n| IpAddr::V4(Ipv4Addr::new(127, 0, 0, n)))
            .collect()
    }

    #[test]
    fn the_smaller_limit_decides_and_is_named() {
        let files = capacity_of(&environment(20_000, &[0]), addresses());
        assert_eq!(files.clients, 20_000 - OTHER_FILES);
        assert!(files.limit.starts_with("20000 open files"));
        let ports = capacity_of(&environment(1_000_000, &[0]), addresses());
        assert_eq!(ports.clients, 3 * 28_232);
        assert!(ports.limit.contains("28232 outgoing ports on each of 3"));
    }

    #[test]
    fn cores_that_are_asked_for_are_checked() {
        let here = environment(1024, &[0, 1, 2]);
        let cores_of = |server: Option<Vec<usize>>, generator: Option<Vec<usize>>| {
            cores(&Pin::Cores { server, generator }, &here).map_err(|e| e.to_string())
        };
        let chosen = cores_of(Some(vec![1]), None).unwrap();
        assert_eq!(
            (chosen.server(), chosen.generator()),
            (&[1][..], &[0, 2][..])
        );
        assert_eq!(chosen.generator_threads, 2);
        assert!(
            cores_of(Some(vec![7]), None)
                .unwrap_err()
                .contains("core 7 is not allowed")
        );
        assert!(
            cores_of(Some(vec![0]), Some(vec![0]))
                .unwrap_err()
                .contains("core 0 is given")
        );
        assert!(
            cores_of(Some(vec![0, 1, 2]), None)
                .unwrap_err()
                .contains("no core is left")
        );
    }

    #[test]
    fn nodes_have_only_cores_that_are_asked_for() {
        let here = environment(1024, &[0, 1]);
        let own = Pin::Cores {
            server: Some(vec![1]),
            generator: None,
        };
        for (pin, kept) in [(Pin::Auto, false), (Pin::Off, false), (own, true)] {
            let usual = cores(&pin, &here).unwrap();
            let pinning = usual.pinning.clone().filter(|_| kept);
            let expected = Cores {
                pinning,
                ..usual.clone()
            };
            assert_eq!(usual.for_nodes(), expected, "{pin:?}");
        }
    }

    #[test]
    fn a_single_core_is_shared_and_says_so_by_having_no_pinning() {
        let one = cores(&Pin::Auto, &environment(1024, &[0])).unwrap();
        assert_eq!(one.pinning, None);
        assert_eq!((one.server_threads, one.generator_threads), (1, 1));
    }
}
