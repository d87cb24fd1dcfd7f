//! Which node of the server each client connects to.

use super::clients::ClientTable;
use crate::io::Token;
use crate::net::Endpoint;

/// The nodes that the clients of a worker connect to, by slot. Empty where the server has one address.
#[derive(Debug, Default)]
pub(super) struct Nodes(Vec<u32>);

impl ClientTable {
    /// A client is about to make an attempt: its first goes to the node of its number, and each that
    /// follows a failed one to the node after.
    pub(super) fn choose_node(&mut self, slot: Token) {
        let nodes = self.common.target.nodes();
        if nodes == 1 {
            return;
        }
        let failed = self.lives.as_ref().map_or(0, |lives| lives.failures(slot));
        let node = ((self.client(slot) + u64::from(failed)) % nodes) as u32;
        let all = &mut self.nodes.0;
        if all.len() <= slot as usize {
            all.resize(slot as usize + 1, 0);
        }
        all[slot as usize] = node;
    }

    /// The number of the node that a client connected to last, from 0.
    pub(super) fn node(&self, slot: Token) -> u32 {
        self.nodes.0.get(slot as usize).copied().unwrap_or(0)
    }

    /// Where that is.
    pub(super) fn endpoint(&self, slot: Token) -> Endpoint {
        self.common.target.node(self.node(slot)).clone()
    }
}
