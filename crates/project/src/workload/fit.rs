//! Whether a workload and a variant fit, by what plan and manifest declare.

use super::NamedPlan;
use crate::manifest::{Dialect, Manifest, Proxy, Variant, Workload};
use plan::{FaultDeed, FaultPart};

impl NamedPlan {
    /// Why this variant is not measured with this plan in this message format; `None` when it is.
    ///
    /// A variant that compresses is measured only where the plan offers compression. Without an
    /// offer it sends what the variant without compression sends: it would stand in the ranking a
    /// second time, under a name that promises compressed messages. A variant with TLS is measured only
    /// where the plan asks for it, since its every message costs more. A variant with nodes is measured only
    /// where the plan is for nodes.
    pub fn unfit(&self, variant: &Variant, dialect: Dialect) -> Option<String> {
        let reason = self.unfit_server(variant, dialect);
        reason.or_else(|| self.unfit_straight())
    }

    /// What is said against a row without a proxy, whatever its server is.
    fn unfit_straight(&self) -> Option<String> {
        let mut faults = self.plan.faults.iter();
        faults.any(|fault| fault.what == FaultPart::Proxy).then(|| {
            "no proxy stands before it, and a fault of this workload is of the proxy".into()
        })
    }

    /// What is said against a server, by whatever way clients come to it.
    fn unfit_server(&self, variant: &Variant, dialect: Dialect) -> Option<String> {
        let request = self.request();
        if !variant.dialects.contains(&dialect) {
            return Some(format!(
                "its manifest declares no {} dialect",
                dialect.name()
            ));
        }
        // Every server can hold connections.
        if request != Workload::Connect && !variant.workloads.contains(&request) {
            return Some(format!("its manifest declares no {}", request.name()));
        }
        if request == Workload::Rooms && !has_topics(dialect) {
            return Some(format!("the {} dialect has no topics", dialect.name()));
        }
        let compression = match (self.compresses(), variant.compression) {
            (true, false) => Some("its manifest declares no compression"),
            (false, true) => Some("it compresses, and this workload offers no compression"),
            _ => None,
        };
        let tls = match (self.is_secure(), variant.tls) {
            (true, false) => Some("its manifest declares no TLS"),
            (false, true) => Some("it has TLS, and this workload asks for none"),
            _ => None,
        };
        let alike = compression.or(tls).map(str::to_owned);
        alike.or_else(|| self.unfit_nodes(variant))
    }

    /// The same where clients come through a proxy, which speaks to the server without TLS.
    pub fn unfit_through(
        &self,
        proxy: &Proxy,
        variant: &Variant,
        dialect: Dialect,
    ) -> Option<String> {
        if variant.tls {
            return Some("it has TLS, and a proxy speaks to a server without".into());
        }
        if self.is_secure() && proxy.tls_config.is_none() {
            return Some(format!("{} is set up without TLS", proxy.name));
        }
        let mut faults = self.plan.faults.iter();
        if proxy.reload.is_none() && faults.any(|fault| fault.deed == FaultDeed::Reload) {
            return Some(format!(
                "the manifest of {} has no command that reloads it",
                proxy.name
            ));
        }
        let behind = Variant {
            tls: self.is_secure(),
            ..variant.clone()
        };
        self.unfit_server(&behind, dialect)
    }

    /// What is said against the nodes of a variant, where this plan is for nodes, and of a variant with
    /// nodes where it is not: each broadcast goes through a broker there.
    fn unfit_nodes(&self, variant: &Variant) -> Option<String> {
        let nodes = match (self.is_for_nodes(), variant.nodes) {
            (false, None) => return None,
            (false, Some(_)) => {
                return Some("it has several nodes, and this workload is for one".into());
            }
            (true, None) => return Some("its manifest declares no nodes".into()),
            (true, Some(nodes)) => nodes,
        };
        self.plan.faults.iter().find_map(|fault| {
            let what = fault.what;
            match what {
                FaultPart::Node(number) | FaultPart::Link(number) if number > nodes => Some(
                    format!("it has {nodes} nodes, and a fault of this workload is of {what}"),
                ),
                FaultPart::Link(_) | FaultPart::Broker if variant.broker().is_none() => {
                    Some(format!(
                        "its manifest declares no broker, and a fault of this workload is of {what}"
                    ))
                }
                _ => None,
            }
        })
    }

    /// Whether a server has a variant that is measured with this plan.
    pub fn is_for(&self, manifest: &Manifest) -> bool {
        let fits = |variant: &Variant| {
            let mut dialects = variant.dialects.iter();
            dialects.any(|dialect| self.unfit_server(variant, *dialect).is_none())
        };
        manifest.variants.iter().any(fits)
    }

    /// Whether clients connect over TLS.
    pub const fn is_secure(&self) -> bool {
        self.plan.connection.tls.is_some()
    }

    /// Whether it is about a server of several nodes.
    pub fn is_for_nodes(&self) -> bool {
        let plan = &self.plan;
        plan.nodes || plan.watch().is_some() || !plan.faults.is_empty()
    }

    /// Whether clients offer permessage-deflate.
    pub const fn compresses(&self) -> bool {
        self.plan.connection.compression.is_some()
    }
}

/// Whether a dialect can say that a client publishes to a topic. Binary has no file, and no topics.
fn has_topics(dialect: Dialect) -> bool {
    let file = plan::built_in_dialect(dialect.name());
    file.is_some_and(|file| file.send.publish.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_those_of_the_dialect_files() {
        for (dialect, expected) in [
            (Dialect::Text, true),
            (Dialect::Binary, false),
            (Dialect::Phoenix, true),
            (Dialect::ActionCable, true),
            (Dialect::SocketIo, true),
        ] {
            assert_eq!(has_topics(dialect), expected, "{}", dialect.name());
        }
    }
}
