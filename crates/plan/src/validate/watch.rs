//! What a plan may say of messages that are watched, of the nodes of a server, and of faults.

use super::super::bounds::{MOST_FAULTS, MOST_NODES, MOST_PROXIES, MOST_WATCHED, RATES, TIMES};
use super::super::error::{Checked, contradiction, within};
use super::{
    Audience, Clients, Dialect, LONGEST, Load, Nanos, Plan, Population, Reading, Target, Watch,
};

impl Plan {
    /// Every client of a watched step hears everything, and comes back whatever ends its connection.
    pub(super) fn validate_watch(&self) -> Checked {
        let Load::Watch(watch) = &self.load else {
            return Ok(());
        };
        let Clients::Steps(steps) = &self.clients else {
            return Ok(());
        };
        if steps.count != Some(1) {
            return Err(contradiction(
                "clients.steps.count",
                "is not 1, and load.watch is one step: write count = 1",
            ));
        }
        if self.audience != Audience::Everyone {
            return Err(contradiction(
                "audience",
                "is not everyone, and load.watch follows each message to each client: leave it out",
            ));
        }
        let is_plain = |of: &Population| of.reads == Reading::Full && !of.leaves();
        if self.populations.len() != 1 || !self.populations.iter().all(is_plain) {
            return Err(contradiction(
                "populations",
                "has clients that leave or read slowly, or several kinds, and by load.watch all read \
                 everything and come back when their connection ends: write reconnect alone",
            ));
        }
        let deliveries = watch.messages().saturating_mul(steps.first.into());
        within("load.watch.rate", deliveries, (1, MOST_WATCHED)).map_err(|_| {
            contradiction(
                "load.watch.rate",
                "times load.watch.duration times clients.steps.first is no number of deliveries \
                 between 1 and 50,000,000, each of which is followed: change one of them",
            )
        })
    }

    pub(super) fn validate_faults(&self) -> Checked {
        within("fault", self.faults.len(), (0, MOST_FAULTS))?;
        if self.faults.is_empty() {
            return Ok(());
        }
        let Load::Watch(watch) = &self.load else {
            return Err(contradiction(
                "fault",
                "belongs to load.watch, which says what became of each message meanwhile",
            ));
        };
        for fault in &self.faults {
            if fault.at.ns().saturating_add(fault.jitter.ns()) >= watch.duration.ns() {
                return Err(contradiction(
                    "fault.at",
                    "is not before the end of the step, which is load.watch.duration, with its jitter",
                ));
            }
            if !fault.deed.fits(fault.what) {
                return Err(contradiction(
                    "fault.do",
                    "is not what can be done there: a link is cut and healed, a proxy is reloaded, and a \
                     node, the broker or a proxy is killed, terminated, started, frozen or thawed",
                ));
            }
        }
        Ok(())
    }

    pub(super) fn validate_via(&self) -> Checked {
        within("via", self.via.len(), (0, MOST_PROXIES))?;
        match has_one_twice(&self.via) {
            true => Err(contradiction(
                "via",
                "names a proxy twice: write each name once",
            )),
            false => Ok(()),
        }
    }

    pub(super) fn validate_dialects(&self) -> Checked {
        if has_one_twice(&self.dialects) {
            return Err(contradiction(
                "dialects",
                "names a dialect twice: write each name once",
            ));
        }
        let is_foreign =
            |dialect| matches!(dialect, Dialect::File | Dialect::Mqtt | Dialect::Mqtt5);
        match self.dialects.iter().copied().any(is_foreign) {
            true => Err(contradiction(
                "dialects",
                "names a dialect that no manifest of a server has: these are text, binary, phoenix, \
                 actioncable and socketio",
            )),
            false => Ok(()),
        }
    }
}

fn has_one_twice<T: PartialEq>(list: &[T]) -> bool {
    let is_twice = |at: usize| list[..at].contains(&list[at]);
    (0..list.len()).any(is_twice)
}

impl Watch {
    pub(super) fn validate(&self) -> Checked {
        within("load.watch.rate", self.rate, RATES)?;
        within("load.watch.duration", self.duration, (Nanos(1), LONGEST))?;
        within("load.watch.patience", self.patience, TIMES)
    }
}

impl Target {
    /// Nodes take the place of the one address that everything else is about.
    pub(super) fn validate_nodes(&self) -> Checked {
        within("target.nodes", self.nodes.len(), (0, MOST_NODES))?;
        let is_elsewhere = self.unix_socket.is_some() || self.proxy.is_some();
        if !self.nodes.is_empty() && (is_elsewhere || !self.resolve.is_empty()) {
            return Err(contradiction(
                "target.nodes",
                "gives addresses, as target.unix_socket, target.proxy and target.resolve do: leave one \
                 out",
            ));
        }
        Ok(())
    }
}
