//! Debian packages: the command that installs them, and running it.
//!
//! Asks nobody for consent; that is the caller's duty.

use crate::exit::Refusal;
use crate::interrupt::Interrupt;
use crate::process::{Job, JobError, describe_exit, tail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A large toolchain over a slow line.
const TIMEOUT: Duration = Duration::from_secs(3600);
const LOG_LINES: usize = 20;

/// The one command that installs these packages, as a user would type it.
pub fn install_command(packages: &[String]) -> String {
    let mut words = sudo().map(|sudo| vec![sudo]).unwrap_or_default();
    words.extend(install_words(packages));
    words.join(" ")
}

/// Installs the packages; fetches the package lists first when they do not have them all.
///
/// # Errors
/// When this is no Debian, the user may not install, or apt-get fails; with the remedy.
pub fn install(
    packages: &[String],
    cache: &Path,
    interrupt: &Interrupt,
    say: &mut dyn FnMut(&str),
) -> Result<(), Refusal> {
    if find("apt-get").is_none() {
        return Err(Refusal::new(format!(
            "apt-get is not on this machine; install what brings these Debian packages: {}",
            packages.join(" ")
        )));
    }
    let prefix: Vec<String> = if is_root() {
        Vec::new()
    } else if let Some(sudo) = sudo() {
        vec![sudo]
    } else {
        return Err(Refusal::new(format!(
            "installing needs root and there is no sudo; run as root: {}",
            install_words(packages).join(" ")
        )));
    };
    let log = cache.join("logs/setup.log");
    let _ = std::fs::remove_file(&log);
    let run = |words: Vec<String>| {
        let command: Vec<String> = prefix.iter().cloned().chain(words).collect();
        apt(&command, cache, &log, interrupt)
    };
    let update = || vec!["apt-get".to_owned(), "update".to_owned()];
    let mut updated = false;
    if !known(packages) {
        say("fetching the package lists");
        run(update())?;
        updated = true;
    }
    say(&format!("installing {}", packages.join(" ")));
    match run(install_words(packages)) {
        Err(_) if !updated => {
            say("fetching the package lists, since the install failed with the old ones");
            run(update())?;
            run(install_words(packages))
        }
        result => result,
    }
}

fn apt(command: &[String], cache: &Path, log: &Path, interrupt: &Interrupt) -> Result<(), Refusal> {
    let job = Job {
        command,
        dir: cache,
        env: &BTreeMap::from([("DEBIAN_FRONTEND".to_owned(), "noninteractive".to_owned())]),
        log,
        timeout: TIMEOUT,
    };
    let shown = command.join(" ");
    let reason = match job.run(interrupt) {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => describe_exit(status),
        Err(JobError::Interrupted) => return Err(Refusal::new("interrupted")),
        Err(error) => error.to_string(),
    };
    let last = tail(log, LOG_LINES).unwrap_or_default();
    Err(Refusal::new(format!(
        "`{shown}` failed ({reason}); the log is {}\n{last}",
        log.display()
    )))
}

fn install_words(packages: &[String]) -> Vec<String> {
    ["apt-get", "install", "-y", "--no-install-recommends"]
        .into_iter()
        .map(str::to_owned)
        .chain(packages.iter().cloned())
        .collect()
}

/// True when the package lists on this machine have a candidate for each package.
fn known(packages: &[String]) -> bool {
    Command::new("apt-cache")
        .arg("policy")
        .args(packages)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .is_ok_and(|output| {
            let text = String::from_utf8_lossy(&output.stdout);
            let candidates = text
                .lines()
                .filter_map(|line| line.trim().strip_prefix("Candidate: "))
                .filter(|candidate| *candidate != "(none)")
                .count();
            candidates >= packages.len()
        })
}

fn sudo() -> Option<String> {
    (!is_root() && find("sudo").is_some()).then(|| "sudo".to_owned())
}

fn is_root() -> bool {
    // SAFETY: plain system call that cannot fail.
    unsafe { libc::geteuid() == 0 }
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|candidate| candidate.is_file())
}
