//! Clients that are gone: what they waited for is missing, and what only they waited for is done.

use super::broadcast::{Broadcasts, State};
use super::entry::Entry;
use super::{Arrival, Listeners, Lost, Missing, StepLedger};
use crate::plan::Hearers;

impl Broadcasts {
    /// As [`super::Window::clients_lost`].
    pub(super) fn clients_lost(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        lost: &Lost<'_>,
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
        lost: &Lost<'_>,
        on_done: &mut impl FnMut(u32, Arrival),
    ) -> Missing {
        let mut missing = Missing::default();
        let mut done = Vec::new();
        let mut counted: Option<(Hearers<'_>, u32)> = None;
        for (index, sent) in self.unheard(ledger) {
            let room = ledger.room(index);
            let hearers = listeners.hearers(room);
            // Most samples have the same audience, which is counted once.
            let waited = match counted {
                Some((same, waited)) if std::ptr::eq(same.places, hearers.places) => waited,
                _ => hearers.among(lost.in_room(room)),
            };
            counted = Some((hearers, waited));
            let answers = listeners.is_in(sent.sender, lost);
            missing.deliveries += u64::from(waited);
            missing.results += u64::from(answers);
            if waited > 0 || answers {
                ledger.abandon(index);
            }
            let was_awaited = hearers.count > 0 || listeners.has(sent.sender);
            let is_awaited = listeners.has(sent.sender) && !answers;
            if was_awaited && waited == hearers.count && !is_awaited {
                done.push(index);
                on_done(index, sent.at_ns.into());
            }
        }
        for index in done {
            self.set_state(index, State::Done);
        }
        missing
    }

    /// As [`super::Window::rooms_emptied`].
    pub(super) fn rooms_emptied(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        is_empty: impl Fn(u32) -> bool,
        mut on_done: impl FnMut(u32),
    ) {
        for index in self.first..ledger.len() {
            let is_new = self.state(index) == State::New;
            if is_new && is_empty(ledger.room(index)) && !listeners.awaits(ledger, index) {
                self.set_state(index, State::Done);
                on_done(index);
            }
        }
    }
}
