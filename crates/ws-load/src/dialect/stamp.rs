//! The stamp: eight bytes in every payload that say which sample a message belongs to.
//!
//! The upper 24 bits are the run's nonce, which sets messages of another generator on the same server
//! apart; the lower 40 count the samples of the run.

use crate::plan::mix;

const SEQUENCE_BITS: u32 = 40;

/// How a dialect writes a stamp: always in the same number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StampForm {
    /// 16 lower-case hexadecimal digits.
    Hex,
    /// 8 bytes, big-endian.
    Binary,
    /// 8 bytes, little-endian.
    Little,
}

/// The stamps of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps {
    nonce: u64,
}

impl Stamps {
    /// Most samples of a run.
    pub(crate) const SAMPLES: u64 = 1 << SEQUENCE_BITS;

    /// Stamps under the lower 24 bits of `nonce`.
    pub(crate) const fn new(nonce: u64) -> Self {
        Self {
            nonce: nonce << SEQUENCE_BITS,
        }
    }

    /// The stamps of the run that has this seed.
    pub(crate) const fn of_run(seed: u64) -> Self {
        Self::new(mix(seed, 0))
    }

    /// The stamp of a sample of the run.
    pub(crate) const fn stamp(self, sample: u64) -> u64 {
        self.nonce | sample
    }

    /// The sample that a stamp belongs to; `None` for one of another run.
    pub(crate) const fn sample(self, stamp: u64) -> Option<u64> {
        let sample = stamp ^ self.nonce;
        if sample >> SEQUENCE_BITS == 0 {
            Some(sample)
        } else {
            None
        }
    }
}

impl StampForm {
    /// Bytes on the wire.
    pub(crate) const fn width(self) -> usize {
        match self {
            Self::Hex => 16,
            Self::Binary | Self::Little => 8,
        }
    }

    /// Appends the stamp to `out`.
    pub(crate) fn write(self, stamp: u64, out: &mut Vec<u8>) {
        match self {
            Self::Hex => {
                let mut digits = [0; 16];
                for (place, digit) in digits.iter_mut().enumerate() {
                    let nibble = stamp >> (60 - 4 * place) & 0xF;
                    *digit = b"0123456789abcdef"[nibble as usize];
                }
                out.extend_from_slice(&digits);
            }
            Self::Binary => out.extend_from_slice(&stamp.to_be_bytes()),
            Self::Little => out.extend_from_slice(&stamp.to_le_bytes()),
        }
    }

    /// Reads a stamp of exactly [`StampForm::width`] bytes.
    #[inline]
    pub(crate) fn read(self, bytes: &[u8]) -> Option<u64> {
        match self {
            Self::Hex => bytes.first_chunk::<16>().and_then(parse_hex),
            Self::Binary => bytes.first_chunk().map(|b| u64::from_be_bytes(*b)),
            Self::Little => bytes.first_chunk().map(|b| u64::from_le_bytes(*b)),
        }
    }
}

#[inline]
fn parse_hex(digits: &[u8; 16]) -> Option<u64> {
    let mut value = 0u64;
    let mut bad = 0u8;
    for &digit in digits {
        let nibble = HEX[digit as usize];
        bad |= nibble;
        value = value << 4 | u64::from(nibble & 0xF);
    }
    (bad & 0x80 == 0).then_some(value)
}

const HEX: [u8; 256] = {
    let mut table = [0x80u8; 256];
    let mut i = 0;
    while i < 10 {
        table[b'0' as usize + i] = i as u8;
        i += 1;
    }
    let mut i = 0;
    while i < 6 {
        table[b'a' as usize + i] = 10 + i as u8;
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stamps_survive_each_form(stamp: u64) {
            for form in [StampForm::Hex, StampForm::Binary, StampForm::Little] {
                let mut bytes = Vec::new();
                form.write(stamp, &mut bytes);
                prop_assert_eq!(bytes.len(), form.width());
                prop_assert_eq!(form.read(&bytes), Some(stamp));
            }
            let mut hex = Vec::new();
            StampForm::Hex.write(stamp, &mut hex);
            prop_assert_eq!(hex, format!("{stamp:016x}").into_bytes());
        }

        #[test]
        fn a_sample_is_found_only_under_its_own_nonce(a in 0u64..1 << 24, b in 0u64..1 << 24, n in 0..Stamps::SAMPLES) {
            let stamp = Stamps::new(a).stamp(n);
            prop_assert_eq!(Stamps::new(a).sample(stamp), Some(n));
            prop_assert_eq!(Stamps::new(b).sample(stamp), (a == b).then_some(n));
        }
    }

    #[test]
    fn the_nonce_is_above_the_count_of_samples() {
        assert_eq!(Stamps::SAMPLES, 1 << 40);
        assert_eq!(Stamps::new(0xABCDEF).stamp(0x12), 0xABCDEF00_00000012);
        assert_ne!(Stamps::of_run(1).stamp(0), Stamps::of_run(2).stamp(0));
    }

    #[test]
    fn other_bytes_are_no_digits() {
        assert_eq!(StampForm::Hex.read(b"000000000000000G"), None);
        assert_eq!(StampForm::Hex.read(b"000000000000000A"), None);
        for beside in b"/:`g" {
            let mut digits = *b"0000000000000000";
            digits[15] = *beside;
            assert_eq!(StampForm::Hex.read(&digits), None, "{}", *beside as char);
        }
        assert_eq!(StampForm::Hex.read(b"00000"), None);
    }
}
