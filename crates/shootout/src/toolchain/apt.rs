//! Debian packages: the command that installs them, and running it.
//!
//! Asks for no consent; the caller does.

use crate::interrupt::Interrupt;
use crate::process::{Job, JobError, describe_exit, tail};
use project::Refusal;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A large toolchain over a slow line.
const TIMEOUT: Duration = Duration::from_secs(3600);
const LOG_LINES: usize = 20;
/// Between two lines that show how far apt-get is: rare enough for a log of CI.
const INTERVAL: Duration = Duration::from_secs(10);
/// Seconds that apt-get waits for another one that holds the lock: unattended upgrades take
/// minutes on a fresh machine.
const LOCK: &str = "DPkg::Lock::Timeout=600";

/// A package that could not be installed, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its name.
    pub package: String,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.package, self.reason)
    }
}

/// The one command that installs these packages, as a user would type it.
pub fn install_command(packages: &[String]) -> String {
    let mut words = sudo().map(|sudo| vec![sudo]).unwrap_or_default();
    words.extend(install_words(packages));
    words.join(" ")
}

/// Installs the packages with one command; fetches the package lists first when they do not have
/// them all. If that fails, installs one after the other, so that a package that cannot be
/// installed does not stop the others. `say` is told what is being done, and every ten seconds the
/// last line of apt-get's output.
///
/// # Errors
/// When this is no Debian or the user may not install; with the remedy.
pub fn install(
    packages: &[String],
    cache: &Path,
    interrupt: &Interrupt,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Failed>, Refusal> {
    let mut apt = Apt {
        prefix: prefix(packages)?,
        cache,
        log: cache.join("logs/setup.log"),
        interrupt,
        say,
    };
    let _ = std::fs::remove_file(&apt.log);
    let mut unknown = unknown(packages);
    let mut updated = false;
    if !unknown.is_empty() {
        apt.update("fetching the package lists")?;
        updated = true;
        unknown = self::unknown(packages);
    }
    let mut failed: Vec<Failed> = unknown
        .iter()
        .map(|package| Failed {
            package: package.clone(),
            reason: "it is in none of this machine's package lists".into(),
        })
        .collect();
    let known: Vec<String> = packages
        .iter()
        .filter(|package| !unknown.contains(package))
        .cloned()
        .collect();
    if known.is_empty() {
        return Ok(failed);
    }
    (apt.say)(&format!("installing {}", known.join(" ")));
    let mut result = apt.install(&known)?;
    if result.is_err() && !updated {
        apt.update("fetching the package lists, since the install failed with the old ones")?;
        result = apt.install(&known)?;
    }
    let Err(reason) = result else {
        return Ok(failed);
    };
    let [package] = known.as_slice() else {
        (apt.say)("not all can be installed together; installing one after the other");
        for package in &known {
            (apt.say)(&format!("installing {package}"));
            if let Err(reason) = apt.install(std::slice::from_ref(package))? {
                let package = package.clone();
                failed.push(Failed { package, reason });
            }
        }
        return Ok(failed);
    };
    let package = package.clone();
    failed.push(Failed { package, reason });
    Ok(failed)
}

/// What makes the user root.
fn prefix(packages: &[String]) -> Result<Vec<String>, Refusal> {
    if find("apt-get").is_none() {
        return Err(Refusal::new(format!(
            "apt-get is not on this machine; install what brings these Debian packages: {}",
            packages.join(" ")
        )));
    }
    if is_root() {
        return Ok(Vec::new());
    }
    // sudo passes no environment on.
    let env = environment().map(|(name, value)| format!("{name}={value}"));
    let sudo = sudo().map(|sudo| [sudo, "env".to_owned()].into_iter().chain(env).collect());
    sudo.ok_or_else(|| {
        Refusal::new(format!(
            "installing needs root and there is no sudo; run as root: {}",
            install_words(packages).join(" ")
        ))
    })
}

fn environment() -> impl Iterator<Item = (String, String)> {
    [("DEBIAN_FRONTEND", "noninteractive"), ("LC_ALL", "C")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
}

struct Apt<'a> {
    prefix: Vec<String>,
    cache: &'a Path,
    log: PathBuf,
    interrupt: &'a Interrupt,
    say: &'a mut dyn FnMut(&str),
}

impl Apt<'_> {
    /// A failure to fetch the lists does not stop: the old ones may do.
    fn update(&mut self, why: &str) -> Result<(), Refusal> {
        (self.say)(why);
        let words = ["apt-get", "update"].map(str::to_owned);
        if let Err(reason) = self.run(&words)? {
            (self.say)(&format!(
                "going on with the package lists there are: {reason}"
            ));
        }
        Ok(())
    }

    fn install(&mut self, packages: &[String]) -> Result<Result<(), String>, Refusal> {
        let mut words = install_words(packages);
        words.extend(["-o".to_owned(), LOCK.to_owned()]);
        self.run(&words)
    }

    /// Runs a command; the inner error is its reason, with the end of what it said.
    fn run(&mut self, words: &[String]) -> Result<Result<(), String>, Refusal> {
        let command: Vec<String> = self.prefix.iter().chain(words).cloned().collect();
        let job = Job {
            command: &command,
            dir: self.cache,
            env: &environment().collect::<BTreeMap<_, _>>(),
            log: &self.log,
            timeout: TIMEOUT,
        };
        let mut said = (Instant::now(), None);
        let ended = job.run_watched(self.interrupt, &mut || {
            if said.0.elapsed() < INTERVAL {
                return;
            }
            let line = tail(&self.log, 1);
            if let (Some(line), true) = (&line, line != said.1) {
                (self.say)(line);
            }
            said = (Instant::now(), line);
        });
        let reason = match ended {
            Ok(status) if status.success() => return Ok(Ok(())),
            Ok(status) => describe_exit(status),
            Err(JobError::Interrupted) => return Err(Refusal::new("interrupted")),
            Err(error) => error.to_string(),
        };
        let last = tail(&self.log, LOG_LINES).unwrap_or_default();
        let errors: Vec<&str> = last
            .lines()
            .filter(|line| line.starts_with("E: "))
            .collect();
        let said = match errors.as_slice() {
            [] => last.lines().last().unwrap_or_default().to_owned(),
            errors => errors.join(" "),
        };
        let shown = words.join(" ");
        Ok(Err(format!(
            "`{shown}` ended with {reason}: {said}; the log is {}",
            self.log.display()
        )))
    }
}

fn install_words(packages: &[String]) -> Vec<String> {
    ["apt-get", "install", "-y", "--no-install-recommends"]
        .into_iter()
        .map(str::to_owned)
        .chain(packages.iter().cloned())
        .collect()
}

/// The packages that the package lists of this machine do not name.
fn unknown(packages: &[String]) -> Vec<String> {
    let listed = Command::new("apt-cache")
        .arg("policy")
        .args(packages)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = listed.map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let named = |package: &&String| {
        let heading = format!("{package}:");
        !text.lines().any(|line| line == heading)
    };
    packages.iter().filter(named).cloned().collect()
}

fn sudo() -> Option<String> {
    (!is_root() && find("sudo").is_some()).then(|| "sudo".to_owned())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|candidate| candidate.is_file())
}
