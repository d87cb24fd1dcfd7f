//! From the command to the first answered echo.

use super::{HOST, LOG_LINES, Server, Spec, port};
use crate::conform;
use crate::interrupt::Interrupt;
use crate::process::{COOKIE, Group, describe_exit, tail};
use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const ATTEMPTS: u32 = 3;
const POLL: Duration = Duration::from_millis(20);
/// One attempt at readiness may not hide an exit for longer than this.
const ONE_ATTEMPT: Duration = Duration::from_secs(1);
static STARTED: AtomicU32 = AtomicU32::new(0);

/// Why a server is not running.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program is not there or cannot be executed.
    #[error("`{0}` could not be started: {1}")]
    Spawn(String, io::Error),
    /// The log could not be written.
    #[error("{path}: cannot write the log: {1}", path = .0.display())]
    Log(PathBuf, io::Error),
    /// No port is free.
    #[error("no free port on {HOST} for the server")]
    NoPort,
    /// It ended before it was ready.
    #[error("the server ended before it was ready: {how}", how = describe_exit(*.0))]
    Exited(ExitStatus),
    /// It did not answer in time.
    #[error("no handshake and echo was answered within {time}; last: {1}", time = humantime::format_duration(*.0))]
    NeverReady(Duration, String),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Starts a server and waits until it has answered a handshake and an echo. Must be called from a
/// thread that outlives the server.
///
/// # Errors
/// [`StartError`], with the end of the server's log where it wrote one. Nothing is left running.
pub fn start(
    spec: &Spec<'_>,
    interrupt: &Interrupt,
) -> Result<Server, (StartError, Option<String>)> {
    let mut attempt = 1;
    loop {
        let port = port::free().ok_or((StartError::NoPort, None))?;
        match start_on(spec, port, interrupt) {
            Err(StartError::Exited(_)) if attempt < ATTEMPTS && port::listening(port) => {
                attempt += 1;
            }
            result => return result.map_err(|error| (error, tail(spec.log, LOG_LINES))),
        }
    }
}

fn start_on(spec: &Spec<'_>, port: u16, interrupt: &Interrupt) -> Result<Server, StartError> {
    let values = spec.values(port);
    let words: Vec<String> = spec
        .variant
        .command
        .iter()
        .map(|word| values.expand(word))
        .collect();
    let cookie = format!(
        "{}-{}",
        std::process::id(),
        STARTED.fetch_add(1, Ordering::Relaxed)
    );
    let log = open_log(spec)?;
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .current_dir(spec.dir)
        .envs(
            spec.variant
                .env
                .iter()
                .map(|(key, value)| (key, values.expand(value))),
        )
        .env(COOKIE, &cookie)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(|e| log_error(spec, e))?)
        .stderr(log);
    let group = Group::spawn(&mut command, spec.cpus)
        .map_err(|error| StartError::Spawn(words[0].clone(), error))?;
    let mut server = Server {
        group,
        cookie,
        port,
        path: spec.variant.path.clone(),
        grace: spec.grace,
        log: spec.log.to_owned(),
    };
    match wait_ready(&mut server, spec, interrupt) {
        Ok(()) => Ok(server),
        Err(error) => {
            server.stop();
            Err(error)
        }
    }
}

fn wait_ready(
    server: &mut Server,
    spec: &Spec<'_>,
    interrupt: &Interrupt,
) -> Result<(), StartError> {
    let deadline = Instant::now() + spec.ready_timeout;
    let addr = SocketAddr::new(HOST, server.port);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let target = conform::target(spec.variant, addr, left.clamp(POLL, ONE_ATTEMPT));
        let answer = conformance::ready(&target);
        if let Some(status) = server.exited() {
            return Err(StartError::Exited(status));
        }
        let Err(error) = answer else { return Ok(()) };
        if interrupt.requested() {
            return Err(StartError::Interrupted);
        }
        if Instant::now() >= deadline {
            return Err(StartError::NeverReady(
                spec.ready_timeout,
                error.to_string(),
            ));
        }
        std::thread::sleep(POLL);
    }
}

fn open_log(spec: &Spec<'_>) -> Result<File, StartError> {
    if let Some(parent) = spec.log.parent() {
        fs::create_dir_all(parent).map_err(|e| log_error(spec, e))?;
    }
    File::create(spec.log).map_err(|e| log_error(spec, e))
}

fn log_error(spec: &Spec<'_>, error: io::Error) -> StartError {
    StartError::Log(spec.log.to_owned(), error)
}
