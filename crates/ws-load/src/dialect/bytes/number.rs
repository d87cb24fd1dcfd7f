//! Numbers as they stand in a message.

use plan::NumberForm;

/// Most bytes that a varint of 64 bits has.
const LONGEST_VARINT: usize = 10;

/// Appends a number. One that is too high for its form loses its upper bits, which the check of a file
/// excludes.
pub(super) fn write(form: NumberForm, number: u64, out: &mut Vec<u8>) {
    match form {
        NumberForm::Text => {
            use std::io::Write as _;
            write!(out, "{number}").expect("a Vec takes everything");
        }
        NumberForm::BigEndian(bytes) => {
            out.extend_from_slice(&number.to_be_bytes()[8 - usize::from(bytes)..]);
        }
        NumberForm::LittleEndian(bytes) => {
            out.extend_from_slice(&number.to_le_bytes()[..usize::from(bytes)]);
        }
        NumberForm::Varint => {
            let mut rest = number;
            while rest > 0x7F {
                out.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            out.push(rest as u8);
        }
    }
}

/// The number that a message begins with, and what follows it.
pub(super) fn read(form: NumberForm, message: &[u8]) -> Option<(u64, &[u8])> {
    let (bytes, rest) = split(form, message)?;
    let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    let number = match form {
        NumberForm::Text => std::str::from_utf8(bytes).ok()?.parse().ok()?,
        NumberForm::BigEndian(_) => bytes.iter().fold(0, fold),
        NumberForm::LittleEndian(_) => bytes.iter().rev().fold(0, fold),
        NumberForm::Varint => {
            let last = bytes.last()?;
            if bytes.len() == LONGEST_VARINT && *last > 1 {
                return None;
            }
            let septets = bytes.iter().rev().map(|byte| u64::from(byte & 0x7F));
            septets.fold(0, |number, septet| number << 7 | septet)
        }
    };
    Some((number, rest))
}

/// The bytes of the number that a message begins with, and what follows them.
pub(super) fn split(form: NumberForm, message: &[u8]) -> Option<(&[u8], &[u8])> {
    let bytes = match form {
        NumberForm::Text => message.iter().take_while(|of| of.is_ascii_digit()).count(),
        NumberForm::BigEndian(bytes) | NumberForm::LittleEndian(bytes) => usize::from(bytes),
        NumberForm::Varint => {
            let last = message
                .iter()
                .take(LONGEST_VARINT)
                .position(|of| *of < 0x80);
            last? + 1
        }
    };
    message.split_at_checked(bytes).filter(|_| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn form() -> impl Strategy<Value = NumberForm> {
        prop_oneof![
            Just(NumberForm::Text),
            Just(NumberForm::Varint),
            (1..=8_u8).prop_map(NumberForm::BigEndian),
            (1..=8_u8).prop_map(NumberForm::LittleEndian),
        ]
    }

    proptest! {
        #[test]
        fn a_number_is_read_back(form in form(), number: u64, shift in 0..64_u32) {
            let number = (number >> shift) & form.highest();
            let mut message = Vec::new();
            write(form, number, &mut message);
            if let Some(width) = form.width() {
                prop_assert_eq!(message.len(), width);
            }
            message.extend(b"x1");
            prop_assert_eq!(read(form, &message), Some((number, &b"x1"[..])));
        }

        #[test]
        fn whatever_comes_is_read_without_a_panic(form in form(), message: Vec<u8>) {
            if let Some((_, rest)) = read(form, &message) {
                prop_assert!(rest.len() < message.len());
            }
        }
    }

    #[test]
    fn what_is_no_number_of_the_form_is_none() {
        for (form, message) in [
            (NumberForm::Text, &b""[..]),
            (NumberForm::Text, b"x"),
            (NumberForm::Text, b"99999999999999999999"),
            (NumberForm::BigEndian(2), b"\x01"),
            (NumberForm::LittleEndian(8), b"1234567"),
            (NumberForm::Varint, b""),
            (NumberForm::Varint, b"\x80\x80"),
            (NumberForm::Varint, &[0xFF; 11]),
            (
                NumberForm::Varint,
                b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02",
            ),
        ] {
            assert_eq!(read(form, message), None, "{form:?} {message:?}");
        }
    }
}
