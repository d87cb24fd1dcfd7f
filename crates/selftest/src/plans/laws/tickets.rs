//! What must hold of requests over HTTP before the connections.

use super::Trial;
use plan::Clients;
use record::HttpRequests;
use std::collections::HashSet;

impl Trial<'_> {
    /// Each client asked for its ticket once, and showed it with each of its connections.
    pub(super) fn hold_tickets(&mut self) {
        let wrong = self.told.wrong_tickets;
        self.exactly("connections without the ticket of their client", 0, wrong);
        let of = |count: fn(&HttpRequests) -> u64| {
            self.sum(|step| {
                let steps = step.http.iter().flat_map(|of| &of.steps);
                steps.map(count).sum()
            })
        };
        let (made, failed) = (of(|of| of.requests), of(|of| of.failed));
        let asked = self.told.tickets.len() as u64;
        // Those of a step that was broken off before it began are in no record.
        self.within("requests for tickets", 0..=asked, made);
        self.exactly("requests for tickets that failed", 0, failed);
        // Each try of a search has clients of its own.
        if !matches!(self.plan().clients, Clients::Search(_)) {
            let clients: HashSet<u64> = self.told.tickets.iter().copied().collect();
            let again = asked - clients.len() as u64;
            self.exactly("tickets that a client asked for again", 0, again);
        }
    }
}
