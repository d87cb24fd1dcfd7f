//! Where the records of a TLS stream end (RFC 8446, 5.1): whether a read stopped within one.
//!
//! The TLS session keeps the beginning of a record, and does not show that it has one.

/// Type, version and length.
const HEADER: usize = 5;

/// How far into a record a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Records {
    /// Bytes of a header that have come, and the value of its length field so far.
    header: u8,
    length: u16,
    /// Bytes of the record that are still to come.
    missing: u16,
}

impl Records {
    /// Takes the next bytes of the stream.
    pub(super) fn advance(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.missing > 0 {
                let taken = bytes.len().min(usize::from(self.missing));
                self.missing -= taken as u16;
                bytes = &bytes[taken..];
                continue;
            }
            // The length is the last two bytes of the header.
            self.length = self.length << 8 | u16::from(bytes[0]);
            self.header += 1;
            bytes = &bytes[1..];
            if usize::from(self.header) == HEADER {
                *self = Self {
                    missing: self.length,
                    ..Self::default()
                };
            }
        }
    }

    /// True between two records.
    pub(super) const fn is_between(&self) -> bool {
        self.missing == 0 && self.header == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stream_is_between_records_where_one_ends_and_nowhere_else(
            lengths in proptest::collection::vec(0u16..700, 1..6),
            cuts in proptest::collection::vec(1usize..200, 1..40),
        ) {
            let mut stream = Vec::new();
            let mut ends = vec![0];
            for length in lengths {
                stream.extend_from_slice(&[23, 3, 3]);
                stream.extend_from_slice(&length.to_be_bytes());
                stream.resize(stream.len() + usize::from(length), 0xa5);
                ends.push(stream.len());
            }
            let (mut records, mut at) = (Records::default(), 0);
            for cut in cuts {
                let next = stream.len().min(at + cut);
                records.advance(&stream[at..next]);
                at = next;
                prop_assert_eq!(records.is_between(), ends.contains(&at));
            }
        }
    }
}
