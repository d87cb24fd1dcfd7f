//! The proxy of a row: started when the server behind it is ready, and stopped before that.

use super::certificate::Certificate;
use super::part::{self, Death, Launch, LaunchError, Part};
use super::{LOG_LINES, Spec, port};
use crate::interrupt::Interrupt;
use crate::process::{describe_exit, tail};
use crate::target::target;
use conformance::Target;
use project::ProxyFolder;
use project::manifest::ProxyValues;
use record::FileLimit;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

const ATTEMPTS: u32 = 3;
const POLL: Duration = Duration::from_millis(20);
/// Most files that a proxy is told of: where a machine sets no limit, some would reserve gigabytes.
const MOST_FILES: u64 = 65_536;
/// Longest attempt at readiness, so that its end is noticed soon.
const ONE_ATTEMPT: Duration = Duration::from_secs(1);

/// The proxy that a server is to have before it.
#[derive(Clone, Copy, Debug)]
pub struct Through<'a> {
    /// Its folder.
    pub folder: &'a ProxyFolder,
    /// Whether clients speak TLS to it.
    pub ends_tls: bool,
}

/// Why a proxy is not running.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The program is not there, or its log cannot be written.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// No port is free.
    #[error("no free port on {0}")]
    NoPort(IpAddr),
    /// A file of its folder cannot be read, or its configuration cannot be written.
    #[error("{path}: {1}", path = .0.display())]
    File(PathBuf, io::Error),
    /// It ended before it was ready.
    #[error("it ended before it was ready: {how}", how = describe_exit(*.0))]
    Exited(ExitStatus),
    /// It passed nothing on in time.
    #[error("no handshake and echo was answered through it within {time}; last: {1}", time = humantime::format_duration(*.0))]
    NeverReady(Duration, String),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

/// A proxy that is ready. Dropped, it is killed with all that it started.
#[derive(Debug)]
pub(super) struct Front {
    pub(super) part: Part,
    /// As it is asked whether it is ready, and how long that may take.
    pub(super) asked: (Target, Duration),
    /// The command that reloads it, and what its placeholders stand for.
    reload: Option<(Vec<String>, ProxyValues)>,
    /// Absent without TLS.
    pub(super) certificate: Option<Certificate>,
}

impl Front {
    /// Starts a proxy before the server at `servers`, of which each is a node, and waits until an echo is
    /// answered through it.
    ///
    /// # Errors
    /// [`ProxyError`], with the end of its log where it wrote one. Nothing of it is left running.
    pub(super) fn start(
        spec: &Spec<'_>,
        through: Through<'_>,
        servers: &[SocketAddr],
        interrupt: &Interrupt,
    ) -> Result<Self, (ProxyError, Option<String>)> {
        let log = part::beside(spec.log, &through.folder.proxy.name);
        let mut attempt = 1;
        loop {
            let port = port::free(&spec.place).ok_or(ProxyError::NoPort(spec.place.host()));
            let port = port.map_err(|error| (error, None))?;
            match Self::try_start(spec, through, (servers, port), &log, interrupt) {
                Ok(front) => return Ok(front),
                // Another process took the port between the check and the proxy's own attempt.
                Err(ProxyError::Exited(_))
                    if attempt < ATTEMPTS && port::listening(&spec.place, port) =>
                {
                    attempt += 1;
                }
                Err(error) => return Err((error, tail(&log, LOG_LINES))),
            }
        }
    }

    fn try_start(
        spec: &Spec<'_>,
        through: Through<'_>,
        (servers, port): (&[SocketAddr], u16),
        log: &Path,
        interrupt: &Interrupt,
    ) -> Result<Self, ProxyError> {
        let proxy = &through.folder.proxy;
        let certificate = match through.ends_tls {
            true => {
                let made = Certificate::beside(log);
                Some(made.map_err(|error| ProxyError::File(log.to_owned(), error))?)
            }
            false => None,
        };
        let values = values(spec, through, (servers, port), log, certificate.as_ref())?;
        let expanded = |(key, value): (&String, &String)| (key.clone(), values.expand(value));
        let part = Part::start(Launch {
            who: format!("the proxy {}", proxy.name),
            command: proxy.command.iter().map(|w| values.expand(w)).collect(),
            env: proxy.env.iter().map(expanded).collect(),
            dir: values.run.clone(),
            cpus: spec.cpus.to_vec(),
            place: spec.place.clone(),
            port,
            grace: proxy.grace,
            log: log.to_owned(),
        })?;
        let tls = certificate.as_ref().map(|of| of.tls.clone());
        let address = SocketAddr::new(spec.place.host(), port);
        let asked = target(spec.variant, address, tls, ONE_ATTEMPT);
        let mut front = Self {
            part,
            asked: (asked, proxy.ready_timeout),
            reload: proxy.reload.clone().map(|command| (command, values)),
            certificate,
        };
        front.wait_ready(interrupt)?;
        Ok(front)
    }

    fn wait_ready(&mut self, interrupt: &Interrupt) -> Result<(), ProxyError> {
        let (asked, time) = self.asked.clone();
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let answer = conformance::ready(&Target {
                timeout: left.clamp(POLL, ONE_ATTEMPT),
                ..asked.clone()
            });
            if let Some(status) = self.part.exited() {
                return Err(ProxyError::Exited(status));
            }
            let Err(error) = answer else {
                return Ok(());
            };
            if interrupt.requested() {
                return Err(ProxyError::Interrupted);
            }
            if Instant::now() >= until {
                return Err(ProxyError::NeverReady(time, error.to_string()));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Where clients connect.
    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::new(self.part.place().host(), self.part.port())
    }

    /// How it ended, if it has.
    pub(super) fn death(&mut self) -> Option<Death> {
        self.part.death()
    }

    /// Starts the command that has it take its configuration again; `None` where its manifest has none.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn reload(&self) -> Option<Result<Part, LaunchError>> {
        let (command, values) = self.reload.as_ref()?;
        let values = values.clone().of_process(self.part.pid());
        let command = command.iter().map(|word| values.expand(word));
        Some(self.part.beside("reload", command.collect()))
    }
}

/// What its placeholders stand for, with its configuration written.
fn values(
    spec: &Spec<'_>,
    through: Through<'_>,
    (servers, port): (&[SocketAddr], u16),
    log: &Path,
    certificate: Option<&Certificate>,
) -> Result<ProxyValues, ProxyError> {
    let file = |path: &Path| {
        let path = path.to_owned();
        move |error| ProxyError::File(path, error)
    };
    let folder = through.folder;
    let name = match (&folder.proxy.tls_config, through.ends_tls) {
        (Some(name), true) => name,
        _ => &folder.proxy.config,
    };
    let run = log.with_extension("run");
    fs::create_dir_all(&run).map_err(file(&run))?;
    let run = fs::canonicalize(&run).map_err(file(&run))?;
    let config = run.join(name);
    let certificate = match certificate {
        None => None,
        Some(of) => {
            let pem = run.join("cert-and-key.pem");
            write_both(&of.cert, &of.key, &pem).map_err(file(&pem))?;
            let absolute = |path: &Path| fs::canonicalize(path).map_err(file(path));
            Some([absolute(&of.cert)?, absolute(&of.key)?, pem])
        }
    };
    let values = ProxyValues {
        listens: SocketAddr::new(spec.place.host(), port),
        servers: servers.to_vec(),
        pid: None,
        threads: spec.threads,
        files: FileLimit::current().hard.min(MOST_FILES),
        dir: folder.dir.clone(),
        run,
        config: config.clone(),
        certificate,
    };
    let template = folder.dir.join(name);
    let text = fs::read_to_string(&template).map_err(file(&template))?;
    fs::write(&config, values.configuration(&text)).map_err(file(&config))?;
    Ok(values)
}

/// The certificate and its key in one file, for its owner alone.
fn write_both(cert: &Path, key: &Path, both: &Path) -> io::Result<()> {
    match fs::remove_file(both) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(both)?;
    file.write_all(&fs::read(cert)?)?;
    file.write_all(&fs::read(key)?)
}
