//! The services of a row: started before the server, stopped after it.

use super::part::{self, Death, Launch, LaunchError, Part};
use super::{LOG_LINES, Spec, port};
use crate::interrupt::Interrupt;
use crate::process::{describe_exit, tail};
use project::manifest::{Service, Start};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

const ATTEMPTS: u32 = 3;
const POLL: Duration = Duration::from_millis(20);

/// Why a service is not running.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The program is not there, or its log cannot be written.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// No port is free.
    #[error("no free port on {0}")]
    NoPort(IpAddr),
    /// It ended before it was ready.
    #[error("it ended before it was ready: {how}", how = describe_exit(*.0))]
    Exited(ExitStatus),
    /// It did not listen in time.
    #[error("{0} accepted no connection within {time}", time = humantime::format_duration(*.1))]
    NeverReady(String, Duration),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The services of one variant, running. Dropped, they are killed with all that they started.
#[derive(Debug, Default)]
pub(super) struct Services {
    parts: Vec<Part>,
    /// Their ports by name.
    pub(super) ports: BTreeMap<String, u16>,
    /// Which of them passes messages between nodes, and how long it may take to be ready.
    broker: Option<(usize, Duration)>,
}

/// A service that did not start: its name, why, and the end of its log.
pub(super) type Failure = (String, ServiceError, Option<String>);

impl Services {
    /// Starts the services of the variant in their order, each when the one before is ready.
    pub(super) fn start(spec: &Spec<'_>, interrupt: &Interrupt) -> Result<Self, Failure> {
        let mut attempt = 1;
        loop {
            match Self::try_start(spec, interrupt) {
                // Another process took the port between the check and the service's own attempt.
                Err((_, ServiceError::Exited(_), _, true)) if attempt < ATTEMPTS => attempt += 1,
                Err((name, error, tail, _)) => return Err((name, error, tail)),
                Ok(services) => return Ok(services),
            }
        }
    }

    fn try_start(
        spec: &Spec<'_>,
        interrupt: &Interrupt,
    ) -> Result<Self, (String, ServiceError, Option<String>, bool)> {
        let mut services = Self::default();
        for service in &spec.variant.services {
            let Some(port) = port::free(&spec.place) else {
                let none = ServiceError::NoPort(spec.place.host());
                return Err((service.name.clone(), none, None, false));
            };
            services.ports.insert(service.name.clone(), port);
        }
        for service in &spec.variant.services {
            let port = services.ports[&service.name];
            let part = services
                .launch(spec, service, port)
                .and_then(|mut part| wait_ready(&mut part, service, interrupt).map(|()| part));
            match part {
                Ok(part) => {
                    if service.broker {
                        services.broker = Some((services.parts.len(), service.ready_timeout));
                    }
                    services.parts.push(part);
                }
                Err(error) => {
                    let log = tail(&part::beside(spec.log, &service.name), LOG_LINES);
                    let taken = port::listening(&spec.place, port);
                    return Err((service.name.clone(), error, log, taken));
                }
            }
        }
        Ok(services)
    }

    fn launch(&self, spec: &Spec<'_>, service: &Service, port: u16) -> Result<Part, ServiceError> {
        let values = spec.values(Start {
            host: spec.place.host().to_string(),
            node: None,
            threads: spec.threads,
            certificate: None,
            services: self.ports.clone(),
        });
        let part = Part::start(Launch {
            who: format!("the service {}", service.name),
            command: service.command.iter().map(|w| values.expand(w)).collect(),
            env: BTreeMap::new(),
            dir: spec.dir.to_owned(),
            cpus: spec.cpus.to_vec(),
            place: spec.place.clone(),
            port,
            grace: spec.grace,
            log: part::beside(spec.log, &service.name),
        })?;
        Ok(part)
    }

    /// The broker, and how long it may take to be ready.
    pub(super) fn broker(&mut self) -> Option<(&mut Part, Duration)> {
        let (at, patience) = self.broker?;
        Some((&mut self.parts[at], patience))
    }

    pub(super) fn pids(&self) -> impl Iterator<Item = u32> {
        self.parts.iter().map(Part::pid)
    }

    /// The first that has ended, and the end of its log.
    pub(super) fn death(&mut self) -> Option<(Death, Option<String>)> {
        self.parts.iter_mut().find_map(|part| {
            let death = part.death()?;
            Some((death, part.log_tail()))
        })
    }

    /// The services that have ended, to be told apart from those that are stopped later.
    pub(super) fn deaths(&mut self) -> Vec<Option<Death>> {
        self.parts.iter_mut().map(Part::death).collect()
    }

    /// Stops them when no server runs.
    pub(super) fn stop_all(mut self) {
        let died = self.deaths();
        self.stop(died);
    }

    /// Stops them in the reverse order of their start.
    pub(super) fn stop(self, died: Vec<Option<Death>>) -> Vec<super::stop::Stopped> {
        let all = self.parts.into_iter().zip(died).rev();
        all.map(|(part, died)| part.stop(died)).collect()
    }
}

fn wait_ready(
    part: &mut Part,
    service: &Service,
    interrupt: &Interrupt,
) -> Result<(), ServiceError> {
    let deadline = Instant::now() + service.ready_timeout;
    loop {
        let ready = part.is_listening();
        if let Some(status) = part.exited() {
            return Err(ServiceError::Exited(status));
        }
        if ready {
            return Ok(());
        }
        if interrupt.requested() {
            return Err(ServiceError::Interrupted);
        }
        if Instant::now() >= deadline {
            return Err(ServiceError::NeverReady(
                part.address(),
                service.ready_timeout,
            ));
        }
        std::thread::sleep(POLL);
    }
}
