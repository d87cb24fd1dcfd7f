//! What messages bring besides answers to requests, to be followed up by the scenario.

use super::Verifier;

/// A client, by its slot, and a message for the server.
pub(crate) type Answer = (u32, Box<[u8]>);

/// What came since it was last followed up.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    /// The client that got the latest keep-alive, and what it is to be answered with.
    pub(crate) keep_alive: Option<Answer>,
    /// Clients whose heartbeats were answered, and when.
    pub(crate) heartbeats: Vec<(u32, u64)>,
}

impl Verifier {
    pub(super) fn asides(&mut self) -> &mut Asides {
        self.asides.get_or_insert_default()
    }
}
