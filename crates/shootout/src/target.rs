//! A variant in the terms of the `conformance` crate.

use conformance::{Target, Tls};
use project::manifest::{Dialect, Variant, Workload};
use std::net::SocketAddr;
use std::time::Duration;

/// A variant at an address, for the checks. `tls` is how it is spoken to, where the variant has TLS.
/// `timeout` bounds each wait for an answer.
pub(crate) fn target(
    variant: &Variant,
    addr: SocketAddr,
    tls: Option<Tls>,
    timeout: Duration,
) -> Target {
    Target {
        addr,
        host: addr.to_string(),
        path: variant.path.clone(),
        dialects: variant
            .dialects
            .iter()
            .flat_map(|d| checked(*d))
            .copied()
            .collect(),
        workloads: variant.workloads.iter().map(|w| asked(*w)).collect(),
        compression: variant.compression,
        tls,
        memory: None,
        // What passes between nodes comes as late as what passes between the processes of one.
        multi_process: variant.multi_process || variant.nodes.is_some(),
        origin: None,
        timeout,
    }
}

/// The dialects of the checks: of Phoenix, both serializers.
const fn checked(dialect: Dialect) -> &'static [conformance::Dialect] {
    match dialect {
        Dialect::Text => &[conformance::Dialect::Text],
        Dialect::Binary => &[conformance::Dialect::Binary],
        Dialect::Phoenix => &[
            conformance::Dialect::PhoenixV1,
            conformance::Dialect::PhoenixV2,
        ],
        Dialect::ActionCable => &[conformance::Dialect::ActionCable],
        Dialect::SocketIo => &[conformance::Dialect::SocketIo],
    }
}

const fn asked(workload: Workload) -> conformance::ProtocolRequest {
    match workload {
        // Held connections need no more of the protocol than echoes.
        Workload::Echo | Workload::Connect => conformance::ProtocolRequest::Echo,
        Workload::Broadcast => conformance::ProtocolRequest::Broadcast,
        Workload::Rooms => conformance::ProtocolRequest::Rooms,
    }
}
