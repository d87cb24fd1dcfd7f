//! From the command to the first answered echo.

use super::certificate::Certificate;
use super::part::{Launch, LaunchError, Part};
use super::services::{ServiceError, Services};
use super::{Death, Server, Spec, port};
use crate::interrupt::Interrupt;
use crate::process::describe_exit;
use crate::target::target;
use project::manifest::Start;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

const ATTEMPTS: u32 = 3;
const POLL: Duration = Duration::from_millis(20);
/// Longest attempt at readiness, so that an exit of the server is noticed soon.
const ONE_ATTEMPT: Duration = Duration::from_secs(1);

/// Why a server is not running.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program is not there, or the log cannot be written.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The certificate of a server with TLS cannot be made or written.
    #[error("no certificate for the server: {0}")]
    Certificate(io::Error),
    /// No port is free.
    #[error("no free port on {0} for the server")]
    NoPort(IpAddr),
    /// It ended before it was ready.
    #[error("the server ended before it was ready: {how}", how = describe_exit(*.0))]
    Exited(ExitStatus),
    /// It did not answer in time.
    #[error("no handshake and echo was answered within {time}; last: {1}", time = humantime::format_duration(*.0))]
    NeverReady(Duration, String),
    /// A service that it needs did not start.
    #[error("the service {0} did not start: {1}")]
    Service(String, ServiceError),
    /// A service that it needs ended before the server was ready.
    #[error("before the server was ready, {0}")]
    ServiceDied(Death),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

impl StartError {
    /// True where only a wait ran out, which a busy machine can do to any server.
    pub(crate) const fn is_late(&self) -> bool {
        matches!(
            self,
            Self::NeverReady(..) | Self::Service(_, ServiceError::NeverReady(..))
        )
    }
}

/// The error, and the end of the log of the process that it is about.
pub type Failure = (StartError, Option<String>);

/// Starts the services of a variant and its server, and waits until that has answered a handshake
/// and an echo. Must be called from a thread that outlives the server.
///
/// # Errors
/// [`StartError`], with the end of the log of what failed where it wrote one. Nothing is left
/// running.
pub fn start(spec: &Spec<'_>, interrupt: &Interrupt) -> Result<Server, Failure> {
    let certificate = spec
        .variant
        .tls
        .then(|| Certificate::beside(spec.log))
        .transpose()
        .map_err(|error| (StartError::Certificate(error), None))?;
    let mut services =
        Services::start(spec, interrupt).map_err(|(name, error, tail)| match error {
            ServiceError::Interrupted => (StartError::Interrupted, None),
            error => (StartError::Service(name, error), tail),
        })?;
    let mut attempt = 1;
    loop {
        let host = spec.place.host();
        let port = port::free(&spec.place).ok_or((StartError::NoPort(host), None))?;
        match start_on(spec, &mut services, (port, certificate.as_ref()), interrupt) {
            Err((StartError::Exited(_), _))
                if attempt < ATTEMPTS && port::listening(&spec.place, port) =>
            {
                attempt += 1;
            }
            Err(failure) => {
                services.stop_all();
                return Err(failure);
            }
            Ok(server) => {
                return Ok(Server {
                    server,
                    services,
                    path: spec.variant.path.clone(),
                    certificate,
                });
            }
        }
    }
}

fn start_on(
    spec: &Spec<'_>,
    services: &mut Services,
    (port, certificate): (u16, Option<&Certificate>),
    interrupt: &Interrupt,
) -> Result<Part, Failure> {
    let values = spec.values(Start {
        host: spec.place.host().to_string(),
        port: Some(port),
        threads: spec.threads,
        certificate: certificate.map(|of| (of.cert.clone(), of.key.clone())),
        services: services.ports.clone(),
    });
    let variant = spec.variant;
    let mut server = Part::start(Launch {
        who: "the server".into(),
        command: variant.command.iter().map(|w| values.expand(w)).collect(),
        env: variant
            .env
            .iter()
            .map(|(key, value)| (key.clone(), values.expand(value)))
            .collect(),
        dir: spec.dir,
        cpus: spec.cpus,
        place: spec.place.clone(),
        port,
        grace: spec.grace,
        log: spec.log.to_owned(),
    })
    .map_err(|error| (error.into(), None))?;
    match wait_ready(&mut server, services, (spec, certificate), interrupt) {
        Ok(()) => Ok(server),
        Err((error, of_service)) => {
            let tail = of_service.or_else(|| server.log_tail());
            server.stop(None);
            Err((error, tail))
        }
    }
}

fn wait_ready(
    server: &mut Part,
    services: &mut Services,
    (spec, certificate): (&Spec<'_>, Option<&Certificate>),
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let deadline = Instant::now() + spec.ready_timeout;
    let addr = SocketAddr::new(spec.place.host(), server.port());
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let tls = certificate.map(|of| of.tls.clone());
        let patience = left.clamp(POLL, ONE_ATTEMPT);
        let target = target(spec.variant, addr, tls, patience);
        let answer = conformance::ready(&target);
        if let Some((death, tail)) = services.death() {
            return Err((StartError::ServiceDied(death), tail));
        }
        if let Some(status) = server.exited() {
            return Err((StartError::Exited(status), None));
        }
        let Err(error) = answer else { return Ok(()) };
        if interrupt.requested() {
            return Err((StartError::Interrupted, None));
        }
        if Instant::now() >= deadline {
            let said = error.to_string();
            return Err((StartError::NeverReady(spec.ready_timeout, said), None));
        }
        std::thread::sleep(POLL);
    }
}
