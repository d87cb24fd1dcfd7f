//! Messages of feeds: which faults they are, and whose.

use super::Verifier;
use crate::dialect::{FeedMessage, Malformed};
use crate::io::realtime_lead_ns;
use crate::message::FeedPart;
use crate::net::Endpoint;
use crate::verify::feeds::{FeedFault, Feeds};

/// The realtime clock is looked at anew when a read is so much later than the last look.
const LOOK_NS: u64 = 10_000_000;

/// How far the realtime clock is ahead of the one of all other times.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lead {
    looked_ns: u64,
    lead_ns: i64,
}

impl Lead {
    /// A moment of the realtime clock, looked at in a read at `read_ns`.
    fn realtime(&mut self, at_ns: u64, read_ns: u64) -> u64 {
        if self.looked_ns == 0 || read_ns.abs_diff(self.looked_ns) > LOOK_NS {
            self.lead_ns = realtime_lead_ns();
            self.looked_ns = read_ns;
        }
        at_ns.saturating_add_signed(self.lead_ns)
    }
}

/// True where a server behind this address has the clock of this machine.
fn shares_clock(server: &Endpoint) -> bool {
    match server {
        Endpoint::Tcp(addr) => addr.ip().is_loopback(),
        Endpoint::Proxy(_) => false,
        Endpoint::Unix(_) => true,
    }
}

impl Verifier {
    /// Follows feeds, if the dialect has any.
    pub(crate) fn follow_feeds(&mut self, server: &Endpoint) {
        let terms = self.codec.feed();
        self.feeds = terms.map(|terms| Box::new(Feeds::new(terms, shares_clock(server))));
    }

    /// A client that reads all it gets is ready, on a new connection.
    pub(crate) fn feed_begins(&mut self, slot: u32, now_ns: u64) {
        if let Some(feeds) = &mut self.feeds {
            feeds.client_ready(slot, now_ns);
        }
    }

    /// The connection of the client in this slot has ended: the client or the server closed it.
    pub(crate) fn feed_ends(&mut self, slot: u32, now_ns: u64) {
        if let Some(feeds) = &mut self.feeds {
            feeds.client_gone(slot, now_ns);
        }
    }

    /// It has left its room and kept its connection.
    pub(crate) fn feed_stays(&mut self, slot: u32, now_ns: u64) {
        if let Some(feeds) = &mut self.feeds {
            feeds.client_stays(slot, now_ns);
        }
    }

    /// The server has confirmed that.
    pub(super) fn feed_leaves_room(&mut self, slot: u32) {
        if let Some(feeds) = &mut self.feeds {
            feeds.client_left_room(slot);
        }
    }

    /// A step begins. Ages count from `aged_from_ns` on.
    pub(crate) fn begin_feeds(&mut self, now_ns: u64, aged_from_ns: u64) {
        if let Some(feeds) = &mut self.feeds {
            feeds.begin_step(now_ns, aged_from_ns);
        }
    }

    /// Ages count from this moment on.
    pub(crate) fn age_feeds_from(&mut self, from_ns: u64) {
        if let Some(feeds) = &mut self.feeds {
            feeds.age_from(from_ns);
        }
    }

    #[cold]
    pub(super) fn feed(&mut self, slot: u32, message: &FeedMessage, payload: &[u8], at_ns: u64) {
        if self.is_unawaited(slot) && !self.is_visiting(slot) {
            self.tally.slow.messages += 1;
            return;
        }
        let (lead, read_ns) = (&mut self.lead, self.reading.read.at_ns);
        let Some(feeds) = &mut self.feeds else { return };
        let realtime_ns = || lead.realtime(at_ns, read_ns);
        match feeds.message(slot, message, at_ns, realtime_ns) {
            None => {}
            Some(FeedFault::Duplicate) => self.tally.faults.duplicate += 1,
            Some(FeedFault::Reordered) => {
                self.tally.faults.reordered += u64::from(self.terms.keeps_order)
            }
            Some(FeedFault::Malformed) => {
                let why =
                    "a message of a feed without a number, or without a key, that can be read";
                self.note_malformed(slot, payload, &Malformed(why.to_owned()));
            }
        }
    }

    /// The step ends. What is missing by then is lost.
    pub(crate) fn finish_feeds(&mut self, now_ns: u64) -> Option<Box<FeedPart>> {
        let part = self.feeds.as_mut()?.finish(now_ns);
        let missing = part.numbers.map_or(0, |numbers| numbers.missing);
        self.tally.faults.lost = self.tally.faults.lost.saturating_add(missing);
        Some(Box::new(part))
    }
}
