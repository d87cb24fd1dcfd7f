//! A server that is up: its process group or its nodes, its services, and the ways between them that can
//! be cut.

use super::certificate::Certificate;
use super::front::Front;
use super::part::{Death, Part};
use super::relay::{Pace, Relay};
use super::services::Services;
use super::stop::StopReport;
use crate::target::target;
use conformance::Target;
use project::manifest::Variant;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// A server that has been ready, and its services. Dropped, all are killed with all that they
/// started.
#[derive(Debug)]
pub struct Server {
    /// At least one.
    pub(super) nodes: Vec<Part>,
    pub(super) services: Services,
    /// By the number of the node.
    pub(super) links: BTreeMap<u32, Relay>,
    /// Each node as it is asked whether it is ready.
    pub(super) asked: Vec<Target>,
    /// How long a node may take to be ready.
    pub(super) patience: Duration,
    pub(super) path: String,
    /// Absent without TLS.
    pub(super) certificate: Option<Certificate>,
    /// The proxy before it.
    pub(super) front: Option<Front>,
}

impl Server {
    /// Process id of the leader of the server, or of its first node.
    pub fn pid(&self) -> u32 {
        self.nodes[0].pid()
    }

    /// Process ids of the leaders of nodes and services.
    pub fn pids(&self) -> Vec<u32> {
        let nodes = self.nodes.iter().map(Part::pid);
        nodes.chain(self.services.pids()).collect()
    }

    /// The port of the server, or of its first node.
    pub fn port(&self) -> u16 {
        self.nodes[0].port()
    }

    /// The ports that clients connect to, node by node.
    pub fn ports(&self) -> Vec<u16> {
        self.nodes.iter().map(Part::port).collect()
    }

    /// The addresses of its nodes, in order, where clients choose one; none where it has one node, or a
    /// proxy chooses.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        let clients_choose = self.nodes.len() > 1 && self.front.is_none();
        let addresses = self.nodes.iter().map(address);
        addresses.filter(|_| clients_choose).collect()
    }

    /// Where clients connect: its WebSocket, that of its first node, or that of the proxy before it.
    pub fn url(&self) -> String {
        let address = match &self.front {
            None => self.nodes[0].address(),
            Some(front) => front.address().to_string(),
        };
        let scheme = match self.shown_certificate() {
            None => "ws",
            Some(_) => "wss",
        };
        format!("{scheme}://{address}{}", self.path)
    }

    /// The file of the certificate that clients see, which is its own authority; absent without TLS.
    pub fn authority(&self) -> Option<&Path> {
        self.shown_certificate().map(|of| of.cert.as_path())
    }

    fn shown_certificate(&self) -> Option<&Certificate> {
        match &self.front {
            None => self.certificate.as_ref(),
            Some(front) => front.certificate.as_ref(),
        }
    }

    /// Process id and port of the proxy before it.
    pub fn proxy(&self) -> Option<(u32, u16)> {
        let front = self.front.as_ref()?;
        Some((front.part.pid(), front.part.port()))
    }

    /// The server, or its first node, in the terms of the checks, of which each answer has this time.
    pub fn target(&self, variant: &Variant, timeout: Duration) -> Target {
        let tls = self.certificate.as_ref().map(|of| of.tls.clone());
        target(variant, address(&self.nodes[0]), tls, timeout)
    }

    /// What has ended by itself: a service first, since the server may have ended because of it, or
    /// the server or a node, or the proxy. What a fault has ended has not ended by itself.
    pub fn death(&mut self) -> Option<Death> {
        let of_service = self.services.death().map(|(death, _)| death);
        let of_server = of_service.or_else(|| self.nodes.iter_mut().find_map(Part::death));
        of_server.or_else(|| self.front.as_mut().and_then(Front::death))
    }

    /// The last lines of its output, or of that of the service, node or proxy that has ended.
    pub fn log_tail(&mut self) -> Option<String> {
        if let Some((_, tail)) = self.services.death() {
            return tail;
        }
        if let Some(front) = &mut self.front
            && front.part.exited().is_some()
        {
            return front.part.log_tail();
        }
        let ended = self
            .nodes
            .iter_mut()
            .position(|node| node.death().is_some());
        self.nodes[ended.unwrap_or(0)].log_tail()
    }

    /// Ends the nodes, the services, and everything that they started, and says how that went.
    pub fn stop(mut self) -> StopReport {
        let died = self.services.deaths();
        let crashed: Vec<Option<Death>> = self.nodes.iter_mut().map(Part::death).collect();
        let front = self.front.take().map(|mut front| {
            let died = front.death();
            front.part.stop(died)
        });
        // A node may wait for what it has sent.
        for link in self.links.values_mut() {
            let _ = link.set_pace(Pace::Free);
        }
        let nodes = self.nodes.into_iter().zip(crashed);
        let mut stopped: Vec<_> = nodes.map(|(node, died)| node.stop(died)).collect();
        stopped.extend(front);
        let mut services = self.services.stop(died);
        services.reverse();
        stopped.append(&mut services);
        StopReport(stopped)
    }
}

pub(super) fn address(node: &Part) -> SocketAddr {
    SocketAddr::new(node.place().host(), node.port())
}
