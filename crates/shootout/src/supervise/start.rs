//! From the command to the first answered echo.

use super::certificate::Certificate;
use super::cluster::{Server, address};
use super::front::{Front, ProxyError};
use super::part::{self, Launch, LaunchError, Part};
use super::relay::Relay;
use super::services::{ServiceError, Services};
use super::{Death, Spec, port};
use crate::interrupt::Interrupt;
use crate::process::describe_exit;
use crate::target::target;
use conformance::Target;
use project::manifest::{Node, Start};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
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
    /// The way between a node and the broker, which the workload cuts, cannot be made.
    #[error("no way between a node and the broker: {0}")]
    Link(io::Error),
    /// It, or a node of it, ended before it was ready.
    #[error("{who} ended before it was ready: {how}", who = .0.who, how = describe_exit(.0.status))]
    Exited(Death),
    /// It did not answer in time.
    #[error("no handshake and echo was answered within {time}; last: {1}", time = humantime::format_duration(*.0))]
    NeverReady(Duration, String),
    /// Its nodes answer, and do not know of each other.
    #[error("its nodes did not pass broadcasts on to each other within {time}; last: {1}", time = humantime::format_duration(*.0))]
    NotFormed(Duration, String),
    /// A service that it needs did not start.
    #[error("the service {0} did not start: {1}")]
    Service(String, ServiceError),
    /// The proxy before it did not start.
    #[error("the proxy {0} did not start: {1}")]
    Proxy(String, ProxyError),
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
            Self::NeverReady(..)
                | Self::NotFormed(..)
                | Self::Service(_, ServiceError::NeverReady(..))
                | Self::Proxy(_, ProxyError::NeverReady(..))
        )
    }
}

/// The error, and the end of the log of the process that it is about.
pub type Failure = (StartError, Option<String>);

/// Starts the services of a variant, its server and the proxy before it, and waits until that has answered a handshake
/// and an echo; of a variant with nodes, until each has, and they pass broadcasts on to each other. Must
/// be called from a thread that outlives the server.
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
    match Nodes::start(spec, &mut services, certificate.as_ref(), interrupt) {
        Err(failure) => {
            services.stop_all();
            Err(failure)
        }
        Ok(nodes) => with_proxy(
            Server {
                nodes: nodes.parts,
                services,
                links: nodes.links,
                asked: nodes.asked,
                patience: spec.ready_timeout,
                path: spec.variant.path.clone(),
                certificate,
                front: None,
            },
            spec,
            interrupt,
        ),
    }
}

/// The server with its proxy before it, where it is to have one.
fn with_proxy(
    mut server: Server,
    spec: &Spec<'_>,
    interrupt: &Interrupt,
) -> Result<Server, Failure> {
    let Some(through) = spec.through else {
        return Ok(server);
    };
    let servers: Vec<_> = server.nodes.iter().map(address).collect();
    match Front::start(spec, through, &servers, interrupt) {
        Ok(front) => {
            server.front = Some(front);
            Ok(server)
        }
        Err((error, tail)) => {
            server.stop();
            Err(match error {
                ProxyError::Interrupted => (StartError::Interrupted, None),
                error => (
                    StartError::Proxy(through.folder.proxy.name.clone(), error),
                    tail,
                ),
            })
        }
    }
}

/// The nodes of a server, and the ways to the broker that will be cut. A server that has none is one.
#[derive(Default)]
struct Nodes {
    parts: Vec<Part>,
    links: BTreeMap<u32, Relay>,
    /// As they are asked whether they are ready.
    asked: Vec<Target>,
}

impl Nodes {
    fn start(
        spec: &Spec<'_>,
        services: &mut Services,
        certificate: Option<&Certificate>,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let mut attempt = 1;
        loop {
            let ports = ports(spec)?;
            let mut nodes = Self::default();
            let started = nodes
                .launch(spec, services, &ports, certificate)
                .and_then(|()| nodes.wait_ready(spec, services, interrupt));
            let Err(failure) = started else {
                return Ok(nodes);
            };
            for node in nodes.parts {
                node.stop(None);
            }
            // Another process may have taken a port between the check and a node's own attempt.
            let is_taken = || ports.iter().any(|port| port::listening(&spec.place, *port));
            let is_over = !matches!(failure.0, StartError::Exited(_)) || attempt == ATTEMPTS;
            if is_over || !is_taken() {
                return Err(failure);
            }
            attempt += 1;
        }
    }

    fn launch(
        &mut self,
        spec: &Spec<'_>,
        services: &Services,
        ports: &[u16],
        certificate: Option<&Certificate>,
    ) -> Result<(), Failure> {
        for number in 1..=ports.len() as u32 {
            let services = self.services(spec, services, number)?;
            let values = spec.values(Start {
                host: spec.place.host().to_string(),
                node: Some(Node {
                    number,
                    ports: ports.to_vec(),
                }),
                threads: spec.threads,
                certificate: certificate.map(|of| (of.cert.clone(), of.key.clone())),
                services,
            });
            let variant = spec.variant;
            let expanded = |(key, value): (&String, &String)| (key.clone(), values.expand(value));
            let (who, log) = match variant.nodes {
                None => ("the server".into(), spec.log.to_owned()),
                Some(_) => (
                    format!("node {number}"),
                    part::beside(spec.log, &format!("node-{number}")),
                ),
            };
            let node = Part::start(Launch {
                who,
                command: variant.command.iter().map(|w| values.expand(w)).collect(),
                env: variant.env.iter().map(expanded).collect(),
                dir: spec.dir.to_owned(),
                cpus: spec.cpus.to_vec(),
                place: spec.place.clone(),
                port: ports[number as usize - 1],
                grace: spec.grace,
                log,
            })
            .map_err(|error| (error.into(), None))?;
            let tls = certificate.map(|of| of.tls.clone());
            let asked = target(variant, address(&node), tls, ONE_ATTEMPT);
            self.asked.push(asked);
            self.parts.push(node);
        }
        Ok(())
    }

    /// The ports of the services as a node knows them: where its way to the broker will be cut, that of
    /// the way.
    fn services(
        &mut self,
        spec: &Spec<'_>,
        services: &Services,
        node: u32,
    ) -> Result<BTreeMap<String, u16>, Failure> {
        let mut ports = services.ports.clone();
        let broker = spec
            .variant
            .broker()
            .filter(|_| spec.cuts.nodes.contains(&node));
        if let Some(port) = broker.and_then(|broker| ports.get_mut(&broker.name)) {
            let link = Relay::start(&spec.place, *port, spec.cuts.cpus);
            let link = link.map_err(|error| (StartError::Link(error), None))?;
            *port = link.port();
            self.links.insert(node, link);
        }
        Ok(ports)
    }

    /// Until each node has answered, and a broadcast at each has reached a client of every other.
    fn wait_ready(
        &mut self,
        spec: &Spec<'_>,
        services: &mut Services,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let time = spec.ready_timeout;
        let until = Instant::now() + time;
        for at in 0..self.parts.len() {
            self.wait(at, (services, interrupt), until, |nodes, patience| {
                let asked = Target {
                    timeout: patience,
                    ..nodes.asked[at].clone()
                };
                let ready = conformance::ready(&asked).map_err(|error| error.to_string());
                let named = |error| match spec.variant.nodes {
                    None => error,
                    Some(_) => format!("node {}: {error}", at + 1),
                };
                ready.map_err(|error| StartError::NeverReady(time, named(error)))
            })?;
        }
        if self.parts.len() == 1 {
            return Ok(());
        }
        let mut attempt = 0;
        self.wait(0, (services, interrupt), until, |nodes, patience| {
            attempt += 1;
            let asked = nodes.asked.iter().cloned();
            let asked: Vec<Target> = asked
                .map(|asked| Target {
                    timeout: patience,
                    ..asked
                })
                .collect();
            let formed = conformance::formed(&asked, attempt);
            formed.map_err(|error| StartError::NotFormed(time, error.to_string()))
        })
    }

    /// Asks until the answer is yes, the time is over, or something has ended. The log of the node `at`
    /// goes with the answer.
    fn wait(
        &mut self,
        at: usize,
        (services, interrupt): (&mut Services, &Interrupt),
        until: Instant,
        mut ask: impl FnMut(&Self, Duration) -> Result<(), StartError>,
    ) -> Result<(), Failure> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let answer = ask(self, left.clamp(POLL, ONE_ATTEMPT));
            if let Some((death, tail)) = services.death() {
                return Err((StartError::ServiceDied(death), tail));
            }
            for node in &mut self.parts {
                if let Some(death) = node.death() {
                    return Err((StartError::Exited(death), node.log_tail()));
                }
            }
            let Err(error) = answer else { return Ok(()) };
            let tail = || self.parts[at].log_tail();
            if interrupt.requested() {
                return Err((StartError::Interrupted, tail()));
            }
            if Instant::now() >= until {
                return Err((error, tail()));
            }
            std::thread::sleep(POLL);
        }
    }
}

/// A free port for each node.
fn ports(spec: &Spec<'_>) -> Result<Vec<u16>, Failure> {
    let host = spec.place.host();
    let none = || (StartError::NoPort(host), None);
    let nodes = 0..spec.variant.nodes.unwrap_or(1);
    nodes
        .map(|_| port::free(&spec.place).ok_or_else(none))
        .collect()
}
