//! Brings the suite: a Python 2.7 that is here already, a virtual environment of its own in the
//! cache, and exactly the packages of requirements.txt.
//!
//! The suite needs Python 2, so nothing else can depend on it; nothing is installed outside the
//! cache.

use super::SUITE_VERSION;
use super::broken::Broken;
use crate::interrupt::Interrupt;
use crate::process::{Job, JobError, describe_exit};
use sha1::{Digest as _, Sha1};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const REQUIREMENTS: &str = include_str!("requirements.txt");
/// The last line of virtualenv that can make an environment for Python 2.7.
const VIRTUALENV: &str = "virtualenv==20.15.1";
const STEP_TIMEOUT: Duration = Duration::from_secs(900);

/// Why the suite cannot run here.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// The suite's own requirement.
    #[error(
        "no Python 2.7 is here, which the Autobahn|Testsuite needs; bring one with \
         `pyenv install 2.7.18`, or name one in SHOOTOUT_PYTHON2"
    )]
    NoPython2,
    /// A step of the installation failed.
    #[error("the Autobahn|Testsuite could not be installed: {0}")]
    Failed(Broken),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The suite's program; installs it into `cache` when it is not there, and tells `say` so.
///
/// # Errors
/// [`Unavailable`].
pub fn install(
    cache: &Path,
    interrupt: &Interrupt,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, Unavailable> {
    let python = python2().ok_or(Unavailable::NoPython2)?;
    let stamp = Sha1::digest(format!(
        "{}\n{VIRTUALENV}\n{REQUIREMENTS}",
        python.display()
    ));
    let stamp: String = stamp.iter().map(|byte| format!("{byte:02x}")).collect();
    let (program, stamp_file) = (cache.join("venv/bin/wstest"), cache.join("installed"));
    if program.is_file() && fs::read_to_string(&stamp_file).is_ok_and(|found| found == stamp) {
        return Ok(program);
    }
    say(&format!(
        "installing the Autobahn|Testsuite {SUITE_VERSION} into {} (about a minute)",
        cache.display()
    ));
    let installer = Installer {
        cache,
        interrupt,
        log: cache.join("install.log"),
    };
    installer.prepare()?;
    installer.step(
        "python3 -m pip install --quiet --disable-pip-version-check --target boot",
        &[VIRTUALENV],
        &[],
    )?;
    let python = python.to_string_lossy();
    installer.step(
        "python3 -m virtualenv --quiet --python",
        &[&python, "venv"],
        &[("PYTHONPATH", "boot")],
    )?;
    installer.step(
        "venv/bin/pip install --quiet --no-deps --requirement requirements.txt",
        &[],
        &[],
    )?;
    fs::write(&stamp_file, stamp).map_err(|error| installer.failed(error))?;
    Ok(program)
}

struct Installer<'a> {
    cache: &'a Path,
    interrupt: &'a Interrupt,
    log: PathBuf,
}

impl Installer<'_> {
    fn prepare(&self) -> Result<(), Unavailable> {
        let prepared = fs::create_dir_all(self.cache)
            .and_then(|()| {
                ["boot", "venv"].iter().try_for_each(|part| {
                    let part = self.cache.join(part);
                    if part.exists() {
                        fs::remove_dir_all(part)?;
                    }
                    Ok(())
                })
            })
            .and_then(|()| fs::write(self.cache.join("requirements.txt"), REQUIREMENTS))
            .and_then(|()| fs::write(&self.log, ""));
        prepared.map_err(|error| self.failed(error))
    }

    fn step(&self, words: &str, more: &[&str], env: &[(&str, &str)]) -> Result<(), Unavailable> {
        let command: Vec<String> = words
            .split(' ')
            .chain(more.iter().copied())
            .map(str::to_owned)
            .collect();
        let env: BTreeMap<String, String> = env
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let job = Job {
            command: &command,
            dir: self.cache,
            env: &env,
            log: &self.log,
            timeout: STEP_TIMEOUT,
        };
        match job.run(self.interrupt) {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.failed(format!(
                "`{}` ended with {}",
                command.join(" "),
                describe_exit(status)
            ))),
            Err(JobError::Interrupted) => Err(Unavailable::Interrupted),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, reason: impl std::fmt::Display) -> Unavailable {
        Unavailable::Failed(Broken::new(reason, &self.log))
    }
}

/// A Python 2.7 that runs: the one that is named, one of the search path, or one of pyenv's.
fn python2() -> Option<PathBuf> {
    let named = std::env::var_os("SHOOTOUT_PYTHON2").map(PathBuf::from);
    let of_path = ["python2.7", "python2"].map(PathBuf::from);
    named
        .into_iter()
        .chain(of_path)
        .chain(of_pyenv())
        .find(|candidate| is_python27(candidate))
}

fn of_pyenv() -> Vec<PathBuf> {
    let root = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")));
    let Some(Ok(versions)) = root.map(|root| fs::read_dir(root.join("versions"))) else {
        return Vec::new();
    };
    versions
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("2.7"))
        })
        .map(|path| path.join("bin/python2.7"))
        .collect()
}

fn is_python27(candidate: &Path) -> bool {
    Command::new(candidate)
        .args(["-c", "import sys; sys.exit(sys.version_info[:2] != (2, 7))"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
