//! What passes between a node and the broker: a kind, a number, whether it is counted, and bytes.

use std::io::{self, ErrorKind, Read, Write};

/// Longest message between nodes, as of a client.
const LONGEST: u32 = 17 * 1024 * 1024;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A node has a broadcast for all.
    Publish,
    /// The broker has one for the clients of a node.
    Message,
    /// The broker has passed on the broadcast of that number.
    Taken,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// The publishing node's own number of the broadcast.
    pub(super) number: u64,
    /// It is a message of a load generator.
    pub(super) is_counted: bool,
    pub(super) bytes: Vec<u8>,
}

impl Frame {
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut frame = (self.bytes.len() as u32).to_be_bytes().to_vec();
        frame.push(match self.kind {
            Kind::Publish => b'p',
            Kind::Message => b'm',
            Kind::Taken => b't',
        });
        frame.extend(self.number.to_be_bytes());
        frame.push(self.is_counted.into());
        frame.extend(&self.bytes);
        to.write_all(&frame)
    }

    pub(super) fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; 14];
        from.read_exact(&mut head)?;
        let [l0, l1, l2, l3, kind, number @ .., is_counted] = head;
        let length = u32::from_be_bytes([l0, l1, l2, l3]);
        let kind = match kind {
            b'p' => Kind::Publish,
            b'm' => Kind::Message,
            b't' => Kind::Taken,
            _ => return Err(ErrorKind::InvalidData.into()),
        };
        if length > LONGEST {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut bytes = vec![0; length as usize];
        from.read_exact(&mut bytes)?;
        Ok(Self {
            kind,
            number: u64::from_be_bytes(number),
            is_counted: is_counted != 0,
            bytes,
        })
    }
}
