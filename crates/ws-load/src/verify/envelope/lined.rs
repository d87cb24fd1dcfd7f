//! The envelope of answers that carry the line of their request.

use super::only;
use crate::dialect::{Codec, Incoming, Kind, StampForm, Stamps};
use crate::lines::{Form, Line, Lines};

/// So many requests behind one are looked through for another line.
const MOST_LOOKED_AT: u64 = 64;

/// What stands around the stamp and the line.
#[derive(Debug)]
pub(super) struct Lined {
    head: Box<[u8]>,
    middle: Box<[u8]>,
    tail: Box<[u8]>,
    stamp_is_first: bool,
    form: Form,
    /// Bytes of the line, where what stands around it says so.
    size: Option<usize>,
}

impl Lined {
    /// That of a message that was parsed and found to carry the stamp at `hole` and the line of its
    /// request. It is tried on another request: with that one's line it has to be intact, with this
    /// one's it must not. So what stands in the hole is what the dialect compares, and nothing else.
    pub(super) fn new(
        message: &[u8],
        (kind, stamp): (Kind, u64),
        hole: usize,
        (stamps, form): (StampForm, Form),
        lines: &Lines,
        codec: &dyn Codec,
    ) -> Option<Self> {
        let line_of = |stamp: u64| lines.of_request(stamp % Stamps::SAMPLES);
        let mut own = Vec::new();
        line_of(stamp).write(form, &mut own);
        let at = only(message, &own)?;
        let behind_stamp = hole + stamps.width();
        let stamp_is_first = behind_stamp <= at;
        if !stamp_is_first && at + own.len() > hole {
            return None;
        }
        let (head, middle, tail) = match stamp_is_first {
            true => (hole, behind_stamp..at, at + own.len()),
            false => (at, at + own.len()..hole, behind_stamp),
        };
        if !codec.decides_by(&message[..head], message) {
            return None;
        }
        let lined = Self {
            head: message[..head].into(),
            middle: message[middle].into(),
            tail: message[tail..].into(),
            stamp_is_first,
            form,
            size: codec.says_size().then_some(line_of(stamp).text.len()),
        };
        let variant = codec.variant(stamp);
        let mut others = (1..=MOST_LOOKED_AT).map(|more| {
            let nonce = stamp - stamp % Stamps::SAMPLES;
            nonce + (stamp + more) % Stamps::SAMPLES
        });
        let other = others.find(|other| {
            let line = line_of(*other);
            line.text != line_of(stamp).text
                && lined.is_for(line)
                && codec.variant(*other) == variant
        })?;
        let says = |line_of_other: bool| {
            let mut line = Vec::new();
            line_of(if line_of_other { other } else { stamp }).write(form, &mut line);
            codec.parse(&lined.written(stamps, other, &line))
        };
        let is_intact = |parsed| match parsed {
            Ok(Incoming::Message {
                kind: of,
                stamp,
                intact,
                ..
            }) => Some((of, stamp, intact)),
            _ => None,
        };
        (is_intact(says(true)) == Some((kind, other, true))
            && is_intact(says(false)) == Some((kind, other, false)))
        .then_some(lined)
    }

    /// True of a line that the bytes around it may go with.
    fn is_for(&self, line: Line) -> bool {
        self.size.is_none_or(|size| size == line.text.len())
    }

    fn written(&self, stamps: StampForm, stamp: u64, line: &[u8]) -> Vec<u8> {
        let mut written = Vec::new();
        stamps.write(stamp, &mut written);
        let (first, second) = match self.stamp_is_first {
            true => (&written[..], line),
            false => (line, &written[..]),
        };
        [&self.head, first, &self.middle, second, &self.tail].concat()
    }

    /// The stamp of a message of this shape that carries the line of its request.
    #[inline]
    pub(super) fn stamp(&self, message: &[u8], stamps: StampForm, lines: &Lines) -> Option<u64> {
        let rest = message.strip_prefix(&self.head[..])?;
        let rest = rest.strip_suffix(&self.tail[..])?;
        let width = stamps.width();
        let (stamp, behind, due) = match self.stamp_is_first {
            true => {
                let (stamp, rest) = rest.split_at_checked(width)?;
                (stamp, rest.strip_prefix(&self.middle[..])?, &[][..])
            }
            false => {
                let (rest, stamp) = rest.split_at_checked(rest.len().checked_sub(width)?)?;
                (stamp, rest, &self.middle[..])
            }
        };
        let stamp = stamps.read(stamp)?;
        let line = lines.of_request(stamp % Stamps::SAMPLES);
        (self.is_for(line) && line.behind(self.form, behind)? == due).then_some(stamp)
    }
}

#[cfg(test)]
mod tests;
