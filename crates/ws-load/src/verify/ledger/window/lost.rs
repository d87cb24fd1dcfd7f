//! Clients that are gone: what they waited for is missing, and what only they waited for is done.

use super::broadcast::{Broadcasts, State};
use super::entry::Entry;
use super::{Arrival, Listeners, Missing, StepLedger};
use crate::plan::Hearers;

impl Broadcasts {
    /// As [`super::Window::clients_lost`].
    pub(super) fn clients_lost(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        lost: &[u64],
        mut on_done: impl FnMut(u32, Arrival),
    ) -> Missing {
        let mut missing = self.unheard_by(ledger, listeners, lost, &mut on_done);
        for number in 0..self.entries.len() as u32 {
            match &mut self.entries[number as usize] {
                Entry::Free => {}
                Entry::Unconfirmed(unconfirmed) => {
                    let waited = unconfirmed.live.lose(lost);
                    unconfirmed.faults.lost += u64::from(waited);
                    if waited > 0 {
                        let live = &unconfirmed.live;
                        ledger.abandon(live.index);
                        if live.missing == 0 {
                            on_done(live.index, live.last);
                        }
                    }
                }
                Entry::Live(live) => {
                    let waited = live.lose(lost);
                    let answers = live.awaits_result && listeners.is_in(live.sent.sender, lost);
                    live.awaits_result &= !answers;
                    missing.deliveries += u64::from(waited);
                    missing.results += u64::from(answers);
                    let index = live.index;
                    if waited > 0 || answers {
                        ledger.abandon(index);
                    }
                    if let Some(last) = self.retire_if_done(number) {
                        on_done(index, last);
                    }
                }
            }
        }
        missing
    }

    /// The same for samples without an entry: all listeners wait for those.
    fn unheard_by(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        lost: &[u64],
        on_done: &mut impl FnMut(u32, Arrival),
    ) -> Missing {
        let mut missing = Missing::default();
        let mut done = Vec::new();
        let mut counted: Option<(Hearers<'_>, u32)> = None;
        for (index, sent) in self.unheard(ledger) {
            let hearers = listeners.hearers(ledger.audience, index);
            // Most samples have the same audience, which is counted once.
            let waited = match counted {
                Some((same, waited)) if std::ptr::eq(same.slots, hearers.slots) => waited,
                _ => hearers.among(lost),
            };
            counted = Some((hearers, waited));
            missing.deliveries += u64::from(waited);
            missing.results += u64::from(listeners.is_in(sent.sender, lost));
            ledger.abandon(index);
            if waited == hearers.count {
                done.push(index);
                on_done(index, sent.at_ns.into());
            }
        }
        for index in done {
            self.set_state(index, State::Done);
        }
        missing
    }
}
