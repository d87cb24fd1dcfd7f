//! Clients that read slowly, after a step: they read what was kept for them.
//!
//! What a server keeps for a client cannot be seen from outside while the client does not read. So
//! when the step is over, and its figures are taken, these clients read as fast as they can. That a
//! server has cut a client off is seen then, too: its end comes behind what was kept.

use super::clients::Session;
use crate::clock;
use crate::io::Token;
use crate::message::StepPart;
use crate::net::Phase;
use plan::Reading;
use std::collections::HashMap;
use std::time::Duration;

/// Longest time that clients catch up, less than the controller waits for the parts of a step. A
/// connection with the smallest receive buffer brings some 36 MB a second, and 6 MB where three programs
/// share a core: what a server keeps beyond its bound must show there too.
const LONGEST: Duration = Duration::from_secs(25);
/// Time without a byte after which nothing more is to come: longer than a server on a busy machine
/// takes to go on with a connection that takes bytes again.
const SILENCE: Duration = Duration::from_millis(500);

/// The end of a step whose slow clients catch up.
#[derive(Debug)]
pub(super) struct CatchUp {
    /// What was measured of the step.
    part: Box<StepPart>,
    /// Bytes that each client has got since.
    got: HashMap<Token, u64>,
    end_ns: u64,
    last_ns: u64,
}

impl CatchUp {
    /// Begins for a step of which `part` was measured. The part comes back when no client of the
    /// worker reads slowly.
    pub(super) fn begin(
        part: Box<StepPart>,
        session: &mut Session<'_>,
    ) -> Result<Self, Box<StepPart>> {
        let slow: Vec<Token> = session.slow_clients().collect();
        if slow.is_empty() {
            return Err(part);
        }
        let now_ns = clock::now_ns();
        Ok(Self {
            part,
            got: slow.into_iter().map(|slot| (slot, 0)).collect(),
            end_ns: now_ns + clock::nanos(LONGEST),
            last_ns: now_ns,
        })
    }

    /// A client has taken bytes. True of one that reads slowly.
    pub(super) fn took(&mut self, slot: Token, bytes: usize, now_ns: u64) -> bool {
        let got = self.got.get_mut(&slot).map(|got| *got += bytes as u64);
        if got.is_some() {
            self.last_ns = now_ns;
        }
        got.is_some()
    }

    /// Ends it with what has come.
    pub(super) const fn hurry(&mut self) {
        self.end_ns = 0;
    }

    /// When it is over at the latest, as far as is known.
    pub(super) fn next_ns(&self) -> u64 {
        self.end_ns.min(self.last_ns + clock::nanos(SILENCE))
    }

    /// The part of the step, with what was kept for clients that are still there.
    pub(super) fn into_part(self, session: &mut Session<'_>) -> Box<StepPart> {
        let mut part = self.part;
        part.slow.is_kept_unknown = self.end_ns == 0;
        for (slot, bytes) in self.got {
            if session.is_slow(slot) {
                part.slow.kept_bytes += bytes;
                part.slow.most_kept_bytes = part.slow.most_kept_bytes.max(bytes);
            }
        }
        part
    }
}

impl Session<'_> {
    /// True of a client that is ready and reads slowly.
    fn is_slow(&mut self, slot: Token) -> bool {
        self.table.reading(slot) != Reading::Full
            && matches!(self.table.get(slot).phase, Phase::Ready)
    }

    fn slow_clients(&mut self) -> impl Iterator<Item = Token> {
        (0..self.table.len() as Token).filter(|slot| self.is_slow(*slot))
    }
}
