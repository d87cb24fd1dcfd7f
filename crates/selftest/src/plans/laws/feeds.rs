//! What must hold of what the server sent by itself.

use super::{Kind, Trial};
use plan::Load;
use record::{Faults, FeedNumbers};
use test_servers::oracle::Fed;

impl Trial<'_> {
    /// What clients surely found in their feeds that stay and read, and what those may have found that
    /// leave.
    pub(super) fn fed(&self) -> (Fed, Fed) {
        let (mut surely, mut perhaps) = (Fed::default(), Fed::default());
        for connection in &self.told.connections {
            match self.kind(connection.client) {
                Kind::Awaited => surely.add(&connection.fed),
                Kind::Leaves => perhaps.add(&connection.fed),
                Kind::Slow => {}
            }
        }
        (surely, perhaps)
    }

    fn numbers(&self) -> FeedNumbers {
        let mut all = FeedNumbers::default();
        let feeds = self
            .record
            .steps
            .iter()
            .filter_map(|step| step.feed.as_deref());
        feeds
            .filter_map(|feed| feed.numbers)
            .for_each(|of| all.merge(of));
        all
    }

    /// Faults of all steps that the numbers of feeds show.
    pub(super) fn feed_faults(&self) -> Faults {
        self.numbers().faults()
    }

    /// Each number that was wrong is counted, once.
    pub(super) fn hold_feeds(&mut self) {
        let (surely, perhaps) = self.fed();
        let found = self.numbers();
        let has_requests = !matches!(self.plan().load, Load::Connect(_));
        let is_partial = has_requests && self.is_partial();
        let messages = |step: &record::StepRecord| step.feed.as_deref().map_or(0, |of| of.messages);
        let messages = self.sum(messages);
        // What is read of two that changed places may end between them.
        let halves = |of: &Fed| of.missing + of.steps_back;
        for (law, count, most, reported) in [
            (
                "messages of feeds",
                surely.messages,
                perhaps.messages,
                messages,
            ),
            ("gaps of feeds", surely.gaps, perhaps.gaps, found.gaps),
            (
                "repeats of feeds",
                surely.repeats,
                perhaps.repeats,
                found.repeats,
            ),
            (
                "steps back of feeds",
                surely.steps_back,
                perhaps.steps_back,
                found.steps_back,
            ),
        ] {
            let least = if is_partial { 0 } else { count };
            self.within(law, least..=count + most, reported);
        }
        let (least, most) = match is_partial {
            true => (0, halves(&surely)),
            false => (surely.missing, surely.missing),
        };
        let law = "numbers that are missing in feeds";
        self.within(law, least..=most + halves(&perhaps), found.missing);
        let others = found.unreadable + found.unfollowed;
        self.exactly("numbers of feeds that cannot be read", 0, others);
        let ages = self
            .record
            .steps
            .iter()
            .filter_map(|step| step.feed.as_deref());
        let ages = ages.filter_map(|feed| feed.age.as_ref());
        let undated = ages.map(|age| age.unreadable).sum();
        self.exactly("times of feeds that cannot be read", 0, undated);
    }
}
