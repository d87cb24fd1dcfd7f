//! Learned envelopes: messages recognised by comparing bytes instead of parsing them.
//!
//! A server's messages of one kind differ in nothing but their stamp. From one message that was
//! parsed and verified, the bytes around the stamp are kept; a later message with the same bytes
//! around another stamp means the same with that stamp, by construction: the stamp has a fixed
//! width, stands once in the message, and its characters need no escaping. Whatever differs in
//! a single byte is not recognised here and is parsed in full.
//!
//! Where requests carry the lines of a file, an answer differs in its line too. Its envelope
//! ([`lined`]) has a second hole, in which the line of its stamp is due.

mod lined;

use crate::dialect::{Carries, Codec, Kind, StampForm};
use lined::Lined;
use memchr::memmem;
use std::collections::HashSet;
use std::sync::Arc;

/// Spellings kept per room and kind and size of request; a server that spells its messages in more ways is parsed.
const CAPACITY: usize = 8;
/// Envelopes with a line that are looked for in vain before none is any more: a server that spells lines
/// in another way, or says how long they are, is parsed.
const MOST_IN_VAIN: u32 = 64;
/// Bytes of spellings that are kept, of all rooms; what comes in others is parsed.
const MOST_BYTES: usize = 64 << 20;

/// The envelopes that were learned so far. What is learned in a room holds its topic.
#[derive(Debug)]
pub(crate) struct Envelopes {
    form: StampForm,
    /// By room; without rooms all messages are of room 0.
    rooms: Vec<Vec<Envelope>>,
    /// What stands behind the stamp: the same in every room where the topic stands before it, so that
    /// a message of any room is compared with bytes that the cache has.
    tails: HashSet<Arc<[u8]>>,
    bytes: usize,
    /// How many envelopes with a line were looked for in vain.
    in_vain: u32,
}

#[derive(Debug)]
struct Envelope {
    kind: Kind,
    /// The kind and the size of the requests that it answers, where there are several.
    variant: Option<u32>,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    /// What stands before the stamp and behind it.
    Stamped(Box<[u8]>, Arc<[u8]>),
    Lined(Lined),
}

impl Envelopes {
    pub(crate) fn new(form: StampForm) -> Self {
        Self {
            form,
            rooms: Vec::new(),
            tails: HashSet::new(),
            bytes: 0,
            in_vain: 0,
        }
    }

    /// The kind and stamp of a message whose envelope is known for requests like that stamp's.
    #[inline]
    pub(crate) fn recognise(
        &self,
        room: u32,
        message: &[u8],
        codec: &dyn Codec,
    ) -> Option<(Kind, u64)> {
        let width = self.form.width();
        self.rooms.get(room as usize)?.iter().find_map(|known| {
            let stamp = match &known.shape {
                Shape::Stamped(head, tail) => {
                    if message.len() != head.len() + width + tail.len() {
                        return None;
                    }
                    let (before, rest) = message.split_at(head.len());
                    let (stamp, after) = rest.split_at(width);
                    if *before != **head || *after != **tail {
                        return None;
                    }
                    self.form.read(stamp)?
                }
                Shape::Lined(of) => of.stamp(message, self.form, codec.lines()?)?,
            };
            let is_like = known.variant.is_none() || known.variant == codec.variant(stamp);
            is_like.then_some((known.kind, stamp))
        })
    }

    /// Keeps the envelope of a message that was parsed and found to carry exactly this.
    #[cold]
    pub(crate) fn learn(
        &mut self,
        room: u32,
        message: &[u8],
        kind: Kind,
        stamp: u64,
        codec: &dyn Codec,
    ) {
        let room = room as usize;
        let variant = codec.variant(stamp);
        let is_alike = |known: &&Envelope| known.variant == variant;
        if self
            .rooms
            .get(room)
            .is_some_and(|known| known.iter().filter(is_alike).count() == CAPACITY)
            || self.bytes + message.len() > MOST_BYTES
        {
            return;
        }
        let Some(shape) = self.shape_of(message, kind, stamp, codec) else {
            return;
        };
        if self.rooms.len() <= room {
            self.rooms.resize_with(room + 1, Vec::new);
        }
        self.bytes += message.len();
        self.rooms[room].push(Envelope {
            kind,
            variant,
            shape,
        });
    }

    fn shape_of(
        &mut self,
        message: &[u8],
        kind: Kind,
        stamp: u64,
        codec: &dyn Codec,
    ) -> Option<Shape> {
        let lines = codec.lines();
        if lines.is_some() && self.in_vain == MOST_IN_VAIN {
            return None;
        }
        let mut needle = Vec::new();
        self.form.write(stamp, &mut needle);
        let width = self.form.width();
        let hole =
            only(message, &needle).filter(|at| codec.is_the_same(message, &(*at..at + width)));
        let shape = match lines.map(|lines| (lines, codec.carries(message))) {
            Some((lines, Carries::Padding(form))) => hole.and_then(|hole| {
                let forms = (self.form, form);
                Lined::new(message, (kind, stamp), hole, forms, lines, codec).map(Shape::Lined)
            }),
            _ => hole.map(|hole| {
                let (head, rest) = message.split_at(hole);
                Shape::Stamped(head.into(), self.tail(&rest[width..]))
            }),
        };
        self.in_vain += u32::from(lines.is_some() && shape.is_none());
        shape
    }

    /// The bytes behind a stamp, kept once.
    fn tail(&mut self, bytes: &[u8]) -> Arc<[u8]> {
        if let Some(known) = self.tails.get(bytes) {
            return Arc::clone(known);
        }
        let new: Arc<[u8]> = bytes.into();
        self.tails.insert(Arc::clone(&new));
        new
    }
}

/// Where a text stands in a message, if it does so once.
fn only(message: &[u8], text: &[u8]) -> Option<usize> {
    let finder = memmem::Finder::new(text);
    let at = finder.find(message)?;
    finder.find(&message[at + 1..]).is_none().then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Incoming, NoVariables, codec_of_all};
    use plan::{Dialect, Sizes, Uniform, Workload};
    use proptest::prelude::*;

    fn plan(dialect: Dialect) -> plan::Plan {
        crate::test_plan("ws://127.0.0.1:1/").with(|plan| {
            plan.message.dialect = dialect;
            plan.message.padding = 20;
        })
    }

    proptest! {
        /// Law: recognised means the parser says the same.
        #[test]
        fn recognition_never_disagrees_with_the_parser(
            binary: bool,
            learned: u64,
            stamp: u64,
            change in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let plan = plan(if binary { Dialect::Binary } else { Dialect::Text });
            let codec = codec_of_all(&plan);
            let mut known = Envelopes::new(codec.stamp_form());
            let mut first = Vec::new();
            codec.request(Workload::Echo, 0, learned, &NoVariables, &mut first);
            known.learn(0, &first, Kind::Echo, learned, &*codec);

            let mut message = Vec::new();
            codec.request(Workload::Echo, 0, stamp, &NoVariables, &mut message);
            prop_assert_eq!(known.recognise(0, &message, &*codec), Some((Kind::Echo, stamp)));
            if let Some((at, byte)) = change {
                let at = at.index(message.len());
                message[at] = byte;
            }
            if let Some((kind, stamp)) = known.recognise(0, &message, &*codec) {
                prop_assert_eq!(
                    codec.parse(&message).unwrap(),
                    Incoming::Message { kind, stamp, intact: true, topic: None }
                );
            }
        }
    }

    /// A message of a known spelling with the stamp of a request of another size is not recognised.
    #[test]
    fn an_envelope_is_for_requests_of_one_size() {
        for dialect in [Dialect::Text, Dialect::Binary] {
            let sizes = Uniform { from: 3, to: 5 };
            let plan = crate::test_plan("ws://127.0.0.1:1/").with(|plan| {
                (plan.message.dialect, plan.message.padding) = (dialect, 0);
                plan.message.sizes = Some(Sizes::Uniform(sizes));
            });
            let codec = codec_of_all(&plan);
            let form = codec.stamp_form();
            let mut known = Envelopes::new(form);
            let written = |stamp| {
                let mut message = Vec::new();
                codec.request(Workload::Echo, 0, stamp, &NoVariables, &mut message);
                message
            };
            for stamp in 0..64 {
                known.learn(0, &written(stamp), Kind::Echo, stamp, &*codec);
            }
            for (learned, stamp) in (0..64).zip(1000..) {
                let same = written(stamp);
                assert_eq!(
                    known.recognise(0, &same, &*codec),
                    Some((Kind::Echo, stamp))
                );
                let (mut of_one, mut of_other) = (Vec::new(), Vec::new());
                form.write(learned, &mut of_one);
                form.write(stamp, &mut of_other);
                let mut mixed = written(learned);
                let is_stamp = |window: &[u8]| window == &of_one[..];
                let hole = mixed.windows(of_one.len()).position(is_stamp).unwrap();
                mixed[hole..hole + of_one.len()].copy_from_slice(&of_other);
                let is_alike = codec.variant(learned) == codec.variant(stamp);
                assert_eq!(known.recognise(0, &mixed, &*codec).is_some(), is_alike);
                let parsed = codec.parse(&mixed).unwrap();
                let expected = Incoming::Message {
                    kind: Kind::Echo,
                    stamp,
                    intact: is_alike,
                    topic: None,
                };
                assert_eq!(parsed, expected);
            }
        }
    }

    #[test]
    fn rooms_keep_what_stands_behind_the_stamp_once_and_are_told_apart() {
        let codec = codec_of_all(&plan(Dialect::Text));
        let mut known = Envelopes::new(StampForm::Hex);
        let message = |room: u32, stamp: u64| {
            format!("[\"room {room}\",\"{stamp:016x}\",\"padding\"]").into_bytes()
        };
        for room in 0..3 {
            known.learn(room, &message(room, 7), Kind::Message, 7, &*codec);
        }
        assert_eq!(known.tails.len(), 1);
        for (room, of) in (0..3).flat_map(|room| (0..3).map(move |of| (room, of))) {
            let found = known.recognise(room, &message(of, 9), &*codec);
            assert_eq!(found, (room == of).then_some((Kind::Message, 9)));
        }
    }

    #[test]
    fn messages_are_learned_until_so_many_bytes_are_kept() {
        let codec = codec_of_all(&plan(Dialect::Text));
        let mut known = Envelopes::new(StampForm::Hex);
        let padding = "x".repeat(MOST_BYTES / 4);
        let message = |room: u32, stamp: u64| format!("{room} {stamp:016x}{padding}").into_bytes();
        let found = |known: &Envelopes| {
            let is_known = |room: &u32| {
                known
                    .recognise(*room, &message(*room, 9), &*codec)
                    .is_some()
            };
            (0..5).filter(is_known).count()
        };
        for room in 0..5 {
            known.learn(room, &message(room, 7), Kind::Message, 7, &*codec);
        }
        assert_eq!(found(&known), 3);
        let short = format!("{:016x}", 7).into_bytes();
        known.learn(4, &short, Kind::Message, 7, &*codec);
        assert_eq!(
            known.recognise(4, &short, &*codec),
            Some((Kind::Message, 7))
        );
    }

    #[test]
    fn an_envelope_with_the_stamp_twice_is_not_learned() {
        let mut known = Envelopes::new(StampForm::Hex);
        let codec = codec_of_all(&plan(Dialect::Text));
        known.learn(
            0,
            b"0000000000000001 0000000000000001",
            Kind::Echo,
            1,
            &*codec,
        );
        assert_eq!(
            known.recognise(0, b"0000000000000002 0000000000000001", &*codec),
            None
        );
        assert!(known.rooms.is_empty());
    }
}
