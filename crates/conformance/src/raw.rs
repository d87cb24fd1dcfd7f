//! Frames made by hand, also those that RFC 6455 forbids. Does no I/O.

use ws_proto::{Opcode, apply_mask};

/// The final bit of a frame's first byte.
pub(crate) const FIN: u8 = 0x80;

/// Any key will do: these frames are not secret.
pub(crate) const MASK: [u8; 4] = [0x5A, 0x01, 0xC3, 0x7E];

/// A masked frame with the given first byte.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = head(first, payload.len(), true);
    out.extend_from_slice(&MASK);
    let start = out.len();
    out.extend_from_slice(payload);
    apply_mask(&mut out[start..], MASK);
    out
}

/// A frame without a mask.
pub(crate) fn unmasked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = head(first, payload.len(), false);
    out.extend_from_slice(payload);
    out
}

/// A message in several masked frames.
pub(crate) fn fragments(opcode: Opcode, parts: &[&[u8]]) -> Vec<Vec<u8>> {
    let last = parts.len() - 1;
    let framed = parts.iter().enumerate().map(|(index, part)| {
        let opcode = if index == 0 { opcode as u8 } else { 0 };
        frame(opcode | if index == last { FIN } else { 0 }, part)
    });
    framed.collect()
}

fn head(first: u8, len: usize, masked: bool) -> Vec<u8> {
    let mask_bit = u8::from(masked) << 7;
    let mut out = vec![first];
    match len {
        0..=125 => out.push(mask_bit | len as u8),
        126..=0xFFFF => {
            out.push(mask_bit | 126);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        _ => {
            out.push(mask_bit | 127);
            out.extend_from_slice(&(len as u64).to_be_bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ws_proto::encode_frame;

    #[test]
    fn good_frames_are_those_of_the_codec() {
        for len in [0, 125, 126, 65535, 65536] {
            let payload = vec![b'x'; len];
            let mut wanted = Vec::new();
            encode_frame(&mut wanted, Opcode::Text, Some(MASK), &payload);
            assert!(frame(FIN | 1, &payload) == wanted);
            wanted.clear();
            encode_frame(&mut wanted, Opcode::Text, None, &payload);
            assert!(unmasked(FIN | 1, &payload) == wanted);
        }
    }

    #[test]
    fn fragments_begin_with_the_opcode_and_end_with_fin() {
        let parts = fragments(Opcode::Binary, &[b"a", b"", b"c"]);
        let firsts: Vec<u8> = parts.iter().map(|part| part[0]).collect();
        assert_eq!(firsts, [0x02, 0x00, 0x80]);
    }
}
