//! The proxy of a row: whether it is there, and what it uses while the row is measured.

use super::steps::Steps;
use super::{Bench, SAMPLING, Trouble};
use crate::build::{BuildError, version};
use crate::network::Location;
use crate::rows::Row;
use crate::sample::{Sampler, Snapshot};
use crate::supervise::{Server, Through};
use crate::toolchain;
use record::{Event, ProxyUse, Status};
use std::time::Instant;

/// What is known of the proxy of a row before it is started.
pub(super) fn asked(row: &Row) -> Option<ProxyUse> {
    let proxy = &row.proxy.as_ref()?.proxy;
    Some(ProxyUse {
        name: proxy.name.clone(),
        homepage: proxy.homepage.clone(),
        version: None,
        ends_tls: row.workload.is_secure(),
        idle: None,
        steps: Vec::new(),
        series: None,
    })
}

impl Bench<'_> {
    /// How the proxy of a row is started, and its version; `None` where it has none.
    pub(super) fn through<'r>(
        &mut self,
        row: &'r Row,
    ) -> Result<Option<(Through<'r>, String)>, Trouble> {
        let Some(folder) = row.proxy.as_deref() else {
            return Ok(None);
        };
        let name = &folder.proxy.name;
        if !self.proxies.contains_key(name) {
            let log = self
                .project
                .cache()
                .join("logs")
                .join(format!("proxy-{name}.log"));
            let lacks =
                toolchain::missing(&folder.proxy.requires, &folder.dir, &log, self.interrupt);
            let found = match lacks.is_empty() {
                false => Err(BuildError::Missing(lacks)),
                true => version(&folder.proxy.receipt, &folder.dir, &log, self.interrupt),
            };
            self.proxies.insert(name.clone(), found);
        }
        let version = self.proxies[name].clone().map_err(|error| {
            let reason = format!("the proxy {name}: {}", error.reason(self.project));
            match error {
                BuildError::Interrupted => Trouble::interrupted(),
                BuildError::Missing(_) => Trouble::new(Status::MissingToolchain, reason),
                BuildError::Failed { tail, .. } => {
                    Trouble::new(Status::StartFailed, reason).with_log(tail)
                }
            }
        })?;
        let ends_tls = row.workload.is_secure();
        Ok(Some((Through { folder, ends_tls }, version)))
    }
}

/// Follows the processes of a proxy, which are not those of the server.
pub(super) struct Followed {
    sampler: Sampler,
    pid: u32,
}

impl Followed {
    /// Follows the proxy before a server; `None` where it has none.
    pub(super) fn start(server: &Server, place: &Location) -> Result<Option<Self>, Trouble> {
        let Some((pid, port)) = server.proxy() else {
            return Ok(None);
        };
        let sampler = place
            .there(|| Sampler::start(&[pid], &[port], SAMPLING))
            .and_then(|sampler| sampler);
        let sampler = sampler
            .map_err(|error| Trouble::new(Status::StartFailed, format!("no sampler: {error}")))?;
        Ok(Some(Self { sampler, pid }))
    }

    pub(super) fn steps(&self) -> OfProxy<'_> {
        let idle = self.sampler.snapshot();
        OfProxy {
            sampler: &self.sampler,
            pid: self.pid,
            idle,
            steps: Steps::new(&self.sampler, idle.at),
        }
    }
}

/// What a proxy uses, step by step.
pub(super) struct OfProxy<'a> {
    sampler: &'a Sampler,
    pid: u32,
    idle: Snapshot,
    steps: Steps<'a>,
}

impl OfProxy<'_> {
    pub(super) fn event(&mut self, event: &Event) {
        self.steps.event(event);
    }

    /// Follows the proxy also when it was started again.
    pub(super) fn follow(&mut self, server: &Server) {
        let Some((pid, _)) = server.proxy().filter(|(pid, _)| *pid != self.pid) else {
            return;
        };
        self.sampler.follow_also(&[pid]);
        self.pid = pid;
    }

    /// Writes what was used down, when the generator has ended.
    // timed: the end of the series, which is a moment.
    pub(super) fn into(self, of: &mut ProxyUse) {
        of.idle = Some(self.idle.memory);
        of.steps = self.steps.into_vec();
        of.series = Some(self.sampler.series(self.idle.at, Instant::now()));
    }
}
