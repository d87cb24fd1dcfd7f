//! The network of a row: made for it alone, and looked at before it is used.

use super::{Bench, Trouble};
use crate::network::Link;
use crate::progress::Progress;
use crate::rows::Row;
use board::status;
use record::{Measurement, Network, NetworkUse, Status};
use std::sync::Arc;

/// How often a network is looked at that is not what was asked for: the machine may have been busy for
/// a moment.
const PROBES: u32 = 3;

/// A network of which nothing is known but what it is to be.
pub fn asked(network: &Network) -> NetworkUse {
    NetworkUse {
        asked: network.clone(),
        congestion_control: None,
        probe: None,
        to_server: None,
        to_clients: None,
    }
}

pub(super) fn no_network(error: std::io::Error) -> Trouble {
    Trouble::new(Status::StartFailed, format!("the network failed: {error}"))
}

impl Bench<'_> {
    /// The network that is asked for, made for this row alone and looked at; `None` on loopback.
    pub(super) fn link(
        &self,
        row: &Row,
        measurement: &mut Measurement,
        progress: &Progress,
    ) -> Result<Option<Arc<Link>>, Trouble> {
        let (Some(asked), Some(network)) = (self.network, &mut measurement.network) else {
            return Ok(None);
        };
        progress.phase("looking at the network");
        let link = Link::new(asked, self.cores(row).generator())
            .map_err(|error| Trouble::new(Status::StartFailed, error.to_string()))?;
        network.congestion_control = link.congestion_control();
        let mut found = Ok(());
        for _ in 0..PROBES {
            network.probe = Some(link.probe().map_err(no_network)?);
            found = status::network(network);
            if found.is_ok() || self.interrupt.requested() {
                break;
            }
        }
        found?;
        // What the probe sent is not the clients'.
        link.traffic().map_err(no_network)?;
        Ok(Some(Arc::new(link)))
    }
}
