//! What must hold of heartbeats, and of what clients are asked.

use super::Trial;
use plan::{Population, Reading};

impl Trial<'_> {
    /// No client was silent or said what another one says, and each answered what it was asked.
    pub(super) fn hold_beats(&mut self) {
        let beats = |of: fn(&record::Heartbeats) -> u64| {
            self.sum(|step| step.heartbeats.as_deref().map_or(0, of))
        };
        let (sent, answered) = (beats(|of| of.sent), beats(|of| of.answered));
        let unanswered = beats(|of| of.unanswered);
        // Where a client's receive buffer is full, its kernel drops what comes, acknowledgements among it,
        // and then what it sends may not leave either.
        let may_be_stuck = |client: Option<u64>| {
            let of = client.map(|client| ws_load::population_of(self.plan(), client));
            of.is_none_or(|of| of.reads != Reading::Full)
        };
        let connections = self.told.connections.iter();
        let any_stuck = connections.clone().any(|of| may_be_stuck(of.client));
        let silenced = self.told.silenced.iter();
        let silenced = silenced.filter(|client| !may_be_stuck(**client)).count() as u64;
        // What was on its way when a connection ended may not have come.
        let ended = connections.count() as u64;
        let came = match any_stuck {
            true => u64::MAX,
            false => self.told.beats + ended,
        };
        self.within("heartbeats that came", 0..=came, sent);
        self.within(
            "heartbeats that were answered",
            0..=sent - sent.min(unanswered),
            answered,
        );
        self.exactly("clients that were silent", 0, silenced);
        let wrong = self.told.wrong_beats + self.told.wrong_answers;
        self.exactly("heartbeats and answers that are wrong", 0, wrong);
        // All but those of a connection's last heartbeats, which its client may not have read. One that
        // reads slowly may have read none.
        let open = self.told.questions - self.told.right_answers.min(self.told.questions);
        let reads_all = |of: &Population| of.reads == Reading::Full;
        if self.case.plan.populations.iter().all(reads_all) {
            let most = ended * u64::from(self.case.server.asks) * 4;
            self.within("questions without an answer", 0..=most, open);
        }
    }

    /// Messages that brought no answer to a request.
    pub(super) fn asides(&self) -> u64 {
        self.told.beats - self.told.unheard + self.told.questions
    }
}
