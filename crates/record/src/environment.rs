//! The machine that a run was made on, as far as it changes results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs;

/// Limits and identity of the machine and the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Kernel name and release.
    pub kernel: String,
    /// Distribution, as it calls itself.
    pub distribution: Option<String>,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// Cores that are online.
    pub cores: u32,
    /// Cores that this process may run on.
    pub allowed_cpus: Vec<usize>,
    /// Memory of the machine, in bytes.
    pub memory_bytes: Option<u64>,
    /// Open files that this process may have.
    pub file_limit: FileLimit,
    /// First and last port of an outgoing connection.
    pub local_ports: Option<(u16, u16)>,
    /// Longest accept queue (`net.core.somaxconn`).
    pub somaxconn: Option<u32>,
    /// Clock source of the kernel.
    pub clock_source: Option<String>,
}

/// `RLIMIT_NOFILE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileLimit {
    /// In force.
    pub soft: u64,
    /// The process may raise the soft limit up to this.
    pub hard: u64,
}

impl FileLimit {
    /// Raises the soft limit to the hard one; returns what is in force then.
    pub fn raise() -> Self {
        let limit = Self::current();
        let raised = libc::rlimit {
            rlim_cur: limit.hard,
            rlim_max: limit.hard,
        };
        // SAFETY: `raised` is a valid rlimit that outlives the call.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raised) };
        Self::current()
    }

    /// The limits in force.
    pub fn current() -> Self {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: `limit` is a valid rlimit that outlives the call.
        unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
        Self {
            soft: limit.rlim_cur,
            hard: limit.rlim_max,
        }
    }
}

impl Environment {
    /// Looks at this machine and process.
    pub fn collect() -> Self {
        let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
        Self {
            kernel: read("/proc/sys/kernel/osrelease").map_or_else(
                || "unknown".to_owned(),
                |release| format!("Linux {release}"),
            ),
            distribution: read("/etc/os-release")
                .and_then(|text| value_after(&text, "PRETTY_NAME=").map(unquote)),
            cpu_model: cpuinfo
                .lines()
                .find(|line| line.starts_with("model name"))
                .and_then(|line| line.split_once(':'))
                .map(|(_, model)| model.trim().to_owned()),
            cores: cpuinfo
                .lines()
                .filter(|line| line.starts_with("processor"))
                .count() as u32,
            allowed_cpus: allowed_cpus(),
            memory_bytes: read("/proc/meminfo")
                .and_then(|text| value_after(&text, "MemTotal:"))
                .and_then(|value| value.trim_end_matches("kB").trim().parse::<u64>().ok())
                .map(|kib| kib * 1024),
            file_limit: FileLimit::current(),
            local_ports: read("/proc/sys/net/ipv4/ip_local_port_range").and_then(|text| {
                let (first, last) = text.split_once(char::is_whitespace)?;
                Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
            }),
            somaxconn: read("/proc/sys/net/core/somaxconn").and_then(|text| text.parse().ok()),
            clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        }
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}

fn value_after(text: &str, key: &str) -> Option<String> {
    text.lines()
        .find_map(|line| line.strip_prefix(key))
        .map(|value| value.trim().to_owned())
}

fn unquote(value: String) -> String {
    value.trim_matches('"').to_owned()
}

fn allowed_cpus() -> Vec<usize> {
    // SAFETY: an all-zero cpu_set_t is valid, and the call writes within the size it is given.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
        set
    };
    (0..libc::CPU_SETSIZE as usize)
        // SAFETY: the index is below CPU_SETSIZE.
        .filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no getrlimit")]
    fn this_machine_is_described() {
        let here = Environment::collect();
        assert!(here.kernel.starts_with("Linux "));
        assert!(here.cores >= 1);
        assert!(!here.allowed_cpus.is_empty());
        assert!(here.file_limit.soft > 0 && here.file_limit.soft <= here.file_limit.hard);
        assert!(here.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
    }
}
