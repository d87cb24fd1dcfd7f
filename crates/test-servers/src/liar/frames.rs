//! Lies about frames: forbidden frames are made acceptable before the codec sees them.

use super::Lie;
use super::hoard::Hoard;
use crate::threaded::FrameFilter;
use ws_proto::apply_mask;

const FIN: u8 = 0x80;
const LIMIT: usize = 16 * 1024 * 1024;
const LOW_LIMIT: usize = 15 * 1024 * 1024;

/// A filter for the lies that need one.
pub(super) fn filter(lie: Lie, hoard: &Hoard) -> Option<Box<dyn FrameFilter>> {
    let needed = matches!(
        lie,
        Lie::AcceptsUnmasked
            | Lie::IgnoresReservedBits
            | Lie::SkipsReservedOpcodes
            | Lie::LosesFragments
            | Lie::LosesLateFragments
            | Lie::KeepsFragments
            | Lie::LosesBehindFragments
            | Lie::LowLimit
            | Lie::LowLimitInFragments
            | Lie::DeafWithinMessage
            | Lie::SkipsContinuation
            | Lie::SkipsInterleaved
            | Lie::AcceptsFragmentedPing
            | Lie::SkipsLongPing
            | Lie::AcceptsInvalidUtf8
            | Lie::AcceptsInvalidFragments
            | Lie::LimitInFragmentsOnly
            | Lie::LimitPerFrame
            | Lie::LimitAtEnd
    );
    needed.then(|| {
        Box::new(Lenient {
            lie,
            hoard: hoard.clone(),
            bytes: Vec::new(),
            fragments: 0,
            length: 0,
            ended: false,
            has_empty: false,
            message: Vec::new(),
        }) as Box<dyn FrameFilter>
    })
}

/// Takes frames apart without judging them.
struct Lenient {
    lie: Lie,
    hoard: Hoard,
    /// The start of a frame whose end has not come.
    bytes: Vec<u8>,
    /// Fragments so far of the message under way.
    fragments: usize,
    /// Bytes in them.
    length: usize,
    /// A fragmented message has ended in what came at once.
    ended: bool,
    /// The second fragment is empty.
    has_empty: bool,
    /// Their payload, for the lies that look at whole messages.
    message: Vec<u8>,
}

/// A frame as it came, unmasked.
struct Frame {
    first: u8,
    masked: bool,
    payload: Vec<u8>,
}

impl Frame {
    /// The first frame of `bytes` and its length there, if it is whole.
    fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let (&[first, second], rest) = bytes.split_first_chunk()?;
        let masked = second & 0x80 != 0;
        let (len, rest) = match second & 0x7F {
            126 => {
                let (len, rest) = rest.split_first_chunk()?;
                (usize::from(u16::from_be_bytes(*len)), rest)
            }
            127 => {
                let (len, rest) = rest.split_first_chunk()?;
                (u64::from_be_bytes(*len) as usize, rest)
            }
            len => (usize::from(len), rest),
        };
        let (key, rest) = match masked {
            true => rest.split_first_chunk().map(|(key, rest)| (*key, rest))?,
            false => ([0; 4], rest),
        };
        let mut payload = rest.get(..len)?.to_vec();
        apply_mask(&mut payload, key);
        let total = bytes.len() - rest.len() + len;
        let frame = Self {
            first,
            masked,
            payload,
        };
        Some((frame, total))
    }

    /// Appends the frame, with a key of zeros if it is masked.
    fn put(&self, out: &mut Vec<u8>) {
        let mask_bit = u8::from(self.masked) << 7;
        out.push(self.first);
        match self.payload.len() {
            len @ 0..=125 => out.push(mask_bit | len as u8),
            len @ 126..=0xFFFF => {
                out.push(mask_bit | 126);
                out.extend_from_slice(&(len as u16).to_be_bytes());
            }
            len => {
                out.push(mask_bit | 127);
                out.extend_from_slice(&(len as u64).to_be_bytes());
            }
        }
        if self.masked {
            out.extend_from_slice(&[0; 4]);
        }
        out.extend_from_slice(&self.payload);
    }
}

impl FrameFilter for Lenient {
    fn filter(&mut self, bytes: &[u8]) -> Result<Vec<u8>, u16> {
        self.bytes.extend_from_slice(bytes);
        let mut out = Vec::new();
        let mut at = 0;
        self.ended = false;
        while let Some((mut frame, len)) = Frame::parse(&self.bytes[at..]) {
            at += len;
            if self.keep(&mut frame)? {
                frame.put(&mut out);
            }
        }
        self.bytes.drain(..at);
        Ok(out)
    }
}

impl Lenient {
    /// Changes the frame as the lie wants it; false drops it, an error is a close code.
    fn keep(&mut self, frame: &mut Frame) -> Result<bool, u16> {
        let opcode = frame.first & 0xF;
        let fin = frame.first & FIN != 0;
        let is_data = opcode < 3;
        let within = self.fragments > 0;
        match self.lie {
            Lie::AcceptsUnmasked => frame.masked = true,
            Lie::IgnoresReservedBits => frame.first &= !0x70,
            Lie::SkipsReservedOpcodes if matches!(opcode, 3..=7 | 0xB..) => return Ok(false),
            Lie::DeafWithinMessage if opcode == 9 && within => return Ok(false),
            Lie::SkipsContinuation if opcode == 0 && !within => return Ok(false),
            Lie::SkipsInterleaved if is_data && opcode != 0 && within => return Ok(false),
            Lie::AcceptsFragmentedPing if opcode == 9 => frame.first |= FIN,
            Lie::SkipsLongPing if opcode >= 8 && frame.payload.len() > 125 => return Ok(false),
            Lie::AcceptsInvalidUtf8 if opcode == 1 && fin => frame.payload = lossy(&frame.payload),
            _ => {}
        }
        if !is_data {
            return Ok(true);
        }
        let fragment = self.fragments;
        let length = self.length + frame.payload.len();
        (self.fragments, self.length) = if fin { (0, 0) } else { (fragment + 1, length) };
        let is_whole = fin && fragment == 0;
        self.ended |= fin && fragment > 0;
        match self.lie {
            Lie::LosesFragments => {
                self.has_empty = match fragment {
                    0 => false,
                    1 => frame.payload.is_empty(),
                    _ => self.has_empty,
                };
                Ok(fin || fragment < 5 || self.has_empty)
            }
            Lie::KeepsFragments => {
                if !fin {
                    self.hoard.keep(100);
                }
                Ok(true)
            }
            Lie::LosesLateFragments => Ok(fin || !(10_000..20_000).contains(&fragment)),
            Lie::LosesBehindFragments => Ok(!is_whole || !self.ended),
            Lie::LowLimit if is_whole && length > LOW_LIMIT => Err(1009),
            Lie::LowLimitInFragments if !is_whole && length > LOW_LIMIT => Err(1009),
            Lie::LimitPerFrame if frame.payload.len() > LIMIT => Err(1009),
            Lie::AcceptsInvalidFragments | Lie::LimitInFragmentsOnly | Lie::LimitAtEnd
                if !fin || fragment > 0 =>
            {
                self.join(frame)
            }
            _ => Ok(true),
        }
    }

    /// Gathers the fragments; the last becomes the whole message, in the opcode of the first.
    fn join(&mut self, frame: &mut Frame) -> Result<bool, u16> {
        if self.message.is_empty() {
            self.message.push(frame.first & 0xF);
        } else if frame.first & 0xF != 0 {
            return Err(1002);
        }
        self.message.append(&mut frame.payload);
        let fin = frame.first & FIN != 0;
        let is_too_long = self.message.len() - 1 > LIMIT;
        if is_too_long && (fin || self.lie != Lie::LimitAtEnd) {
            return Err(1009);
        }
        if !fin {
            return Ok(false);
        }
        let message = std::mem::take(&mut self.message);
        let (opcode, payload) = (message[0], &message[1..]);
        frame.first = FIN | opcode;
        frame.payload = match (self.lie, opcode) {
            (Lie::AcceptsInvalidFragments, 1) => lossy(payload),
            _ => payload.to_vec(),
        };
        Ok(true)
    }
}

fn lossy(bytes: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(bytes).into_owned().into_bytes()
}
