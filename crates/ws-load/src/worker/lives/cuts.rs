//! Clients that are cut off, all at one moment.

use super::{Client, Lives, Whereabouts};
use crate::io::Token;
use plan::Life;

/// A cut that is planned or under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutUnderWay {
    pub(super) at_ns: u64,
    /// Clients before this slot are cut.
    pub(super) next: Token,
}

impl Lives {
    /// The next client that is to be cut. One that is just then without a connection is none of them.
    pub(super) fn next_cut(&mut self, now_ns: u64) -> Option<Token> {
        let cut = self.cut.filter(|cut| cut.at_ns <= now_ns)?;
        let is_cut = |client: &Client| {
            matches!(client.life, Life::Cut(_)) && client.place == Whereabouts::Here
        };
        let mut rest = self.clients.iter().enumerate().skip(cut.next as usize);
        let found = rest.find(|(_, client)| is_cut(client));
        let Some((slot, _)) = found else {
            self.cut = None;
            return None;
        };
        let slot = slot as Token;
        self.cut = Some(CutUnderWay {
            next: slot + 1,
            ..cut
        });
        self.part.cut += 1;
        self.part.cut_late_ns = self.part.cut_late_ns.max(now_ns - cut.at_ns);
        self.gone(slot, cut.at_ns);
        self.client(slot).is_cut = true;
        Some(slot)
    }
}
