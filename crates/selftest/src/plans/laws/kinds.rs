//! What must hold of loads without requests, and of searches.

use super::Trial;
use plan::Clients;
use record::End;
use test_servers::oracle::{Asked, Fate};

impl Trial<'_> {
    /// Connections that are opened and held.
    pub(super) fn hold_connections(&mut self) {
        let asked = self.told.asked.len() as u64;
        self.exactly("requests of connections that are held", 0, asked);
        let opened = self.told.connections.len() as u64;
        let steps = self.record.steps.iter();
        let (mut planned, mut reported, mut dropped, mut lost, mut sent, mut answered) =
            (0, 0, 0, 0, 0, 0);
        for held in steps.filter_map(|step| step.connections.as_deref()) {
            planned += held.planned;
            reported += held.opened;
            dropped += held.drops.total();
            lost += held.pings.unanswered + held.pings.cut_off;
            sent += held.pings.sent;
            answered += held.pings.answered;
        }
        self.exactly("connections that were opened", opened, reported);
        self.exactly("connections that were planned", opened, planned);
        let samples = self.sum(|step| step.samples);
        self.exactly("connections that are timed", opened, samples);
        self.exactly("connections that nobody ended", 0, dropped + lost);
        self.exactly("pings that were answered", sent, answered);
        self.exactly("pings that came", self.told.pings, sent);
    }

    /// The run ended because no sender of its last step got what the dialect file says, and the server
    /// gave that to none.
    pub(super) fn is_contradicted(&self) -> bool {
        if self.record.outcome.end != End::DialectContradicted {
            return false;
        }
        let last = self.record.steps.last();
        let sent = last.map_or(0, |step| step.throughput.unwrap_or_default().sent);
        let asked = self.told.asked.iter().rev().take(sent as usize);
        let is_own = |asked: &Asked| {
            let mut own = asked
                .copies
                .iter()
                .filter(|copy| copy.client == asked.client);
            own.any(|copy| copy.fate != Fate::Lost)
        };
        let has_results = asked.clone().any(|asked| asked.result_ns.is_some());
        !has_results || !asked.clone().any(is_own)
    }

    /// The edge that a search has found lies where its server is comfortable no more.
    pub(super) fn hold_search(&mut self) {
        let (Clients::Search(search), Some(most)) =
            (self.plan().clients, self.case.server.comfortable)
        else {
            return;
        };
        let most = f64::from(most);
        let edge = self.record.outcome.edge;
        let (passed, failed) = edge.map_or((None, None), |edge| (edge.passed, edge.failed));
        let found = format!("{most} are known, {passed:?} passed and {failed:?} failed");
        let is_right =
            passed.is_none_or(|passed| passed <= most) && failed.is_none_or(|failed| failed > most);
        self.says("the edge of a search", is_right, || found.clone());
        let is_found = self.record.outcome.end == End::EdgeFound;
        let is_close = match (passed, failed) {
            (Some(passed), Some(failed)) => failed - passed <= (search.precision * failed).max(1.0),
            _ => false,
        };
        self.says("a search comes to its edge", !is_found || is_close, || {
            found
        });
    }
}
