//! Hosts for these tests: network namespaces on a bridge that is in a namespace too, so that
//! nothing of this machine's own network is touched.

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use test_servers::skipped;

/// The start of every name, before the id of the process that made it.
const PREFIX: &str = "wsbench";
static MADE: AtomicU32 = AtomicU32::new(0);

/// Hosts on one bridge; removed when dropped.
pub(crate) struct Network {
    /// `wsbench-<pid>-<number>`, the start of its namespaces' names.
    name: String,
    hosts: Vec<String>,
}

impl Network {
    /// Makes the hosts 10.77.0.1, 10.77.0.2 and so on; `None`, and the test is skipped, where that is
    /// not permitted.
    pub(crate) fn new(hosts: u32) -> Option<Self> {
        sweep();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let mut network = Self {
            name: format!("{PREFIX}-{}-{number}", std::process::id()),
            hosts: Vec::new(),
        };
        let first = network.name.clone() + "-0";
        if let Err(reason) = ip(&["netns", "add", &first]) {
            skipped(&format!("no network namespaces can be made here: {reason}"));
            return None;
        }
        network.hosts.push(first.clone());
        let inside = |arguments: &str| {
            let all: Vec<&str> = ["-n", &first]
                .into_iter()
                .chain(arguments.split(' '))
                .collect();
            ip(&all)
        };
        if let Err(reason) = inside("link add bridge type bridge") {
            skipped(&format!("no bridge can be made here: {reason}"));
            return None;
        }
        inside("link set bridge up").unwrap();
        for number in 1..=hosts {
            let host = format!("{}-{number}", network.name);
            ip(&["netns", "add", &host]).unwrap();
            network.hosts.push(host.clone());
            inside(&format!(
                "link add port{number} type veth peer name eth0 netns {host}"
            ))
            .unwrap();
            inside(&format!("link set port{number} master bridge up")).unwrap();
            let address = format!("{}/24", Self::address(number));
            for arguments in [
                vec!["link", "set", "lo", "up"],
                vec!["address", "add", &address, "dev", "eth0"],
                vec!["link", "set", "eth0", "up"],
            ] {
                let all: Vec<&str> = ["-n", &host].into_iter().chain(arguments).collect();
                ip(&all).unwrap();
            }
        }
        Some(network)
    }

    /// The address of a host.
    pub(crate) fn address(host: u32) -> String {
        format!("10.77.0.{host}")
    }

    /// A command that runs on a host; its process is the program's own.
    pub(crate) fn on(&self, host: u32, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.hosts[host as usize]])
            .arg(program.as_ref())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Does something on a host, on a thread that is there.
    pub(crate) fn do_on<R: Send>(&self, host: u32, act: impl FnOnce() -> R + Send) -> R {
        let file = File::open(format!("/run/netns/{}", self.hosts[host as usize])).unwrap();
        std::thread::scope(|scope| {
            let there = scope.spawn(move || {
                // SAFETY: the descriptor is open, and the call changes this thread alone.
                let entered = unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) };
                assert_eq!(entered, 0, "{}", std::io::Error::last_os_error());
                act()
            });
            there.join().unwrap()
        })
    }

    /// Cuts a host off, or connects it again.
    pub(crate) fn cut(&self, host: u32, cut: bool) {
        let state = if cut { "down" } else { "up" };
        let port = format!("port{host}");
        ip(&["-n", &self.hosts[0], "link", "set", &port, state]).unwrap();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for host in &self.hosts {
            if let Err(reason) = ip(&["netns", "delete", host]) {
                eprintln!("{host} is left: {reason}");
            }
        }
    }
}

/// Removes what runs that were killed have left.
fn sweep() {
    let Ok(found) = fs::read_dir("/run/netns") else {
        return;
    };
    for entry in found.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let mut parts = name.split('-');
        if let (Some(PREFIX), Some(pid)) = (parts.next(), parts.next())
            && !Path::new(&format!("/proc/{pid}")).exists()
        {
            // Another test may have been faster.
            let _ = ip(&["netns", "delete", &name]);
        }
    }
}

fn ip(arguments: &[&str]) -> Result<Output, String> {
    let output = Command::new("ip")
        .args(arguments)
        .output()
        .map_err(|error| format!("`ip` (iproute2): {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!(
        "ip {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}
