//! The binary dialect: type byte, size, stamp, padding.

use super::StampForm;
use super::payload::Body;
use super::{Codec, Incoming, Kind, Malformed, Variables};
use crate::lines::{Form, Lines};
use plan::Workload;
use ws_proto::Opcode;

const STAMP: usize = 8;

pub(super) struct Binary {
    body: Body,
}

impl Binary {
    pub(super) const fn new(body: Body) -> Self {
        Self { body }
    }
}

impl Codec for Binary {
    fn opcode(&self) -> Opcode {
        Opcode::Binary
    }

    fn stamp_form(&self) -> StampForm {
        StampForm::Binary
    }

    fn request(
        &self,
        workload: Workload,
        _: u32,
        stamp: u64,
        _: &dyn Variables,
        out: &mut Vec<u8>,
    ) {
        out.push(match workload {
            Workload::Echo | Workload::Connect => b'e',
            Workload::Broadcast | Workload::Rooms => b'b',
        });
        let padding = self.body.padding(stamp);
        out.extend_from_slice(&((STAMP + padding.text.len()) as u32).to_be_bytes());
        StampForm::Binary.write(stamp, out);
        padding.write(Form::AsIs, out);
    }

    fn variant(&self, stamp: u64) -> Option<u32> {
        self.body.size(stamp)
    }

    fn lines(&self) -> Option<&Lines> {
        self.body.lines()
    }

    fn says_size(&self) -> bool {
        true
    }

    fn expects(&self, workload: Workload) -> String {
        let first = match workload {
            Workload::Echo | Workload::Connect => "`e`",
            Workload::Broadcast | Workload::Rooms => "`b` or `r`",
        };
        format!("a binary message of the type byte {first}, the size in 4 bytes and the payload")
    }

    fn parse(&self, message: &[u8]) -> Result<Incoming, Malformed> {
        let Some((&type_byte, rest)) = message.split_first() else {
            return Err(Malformed("empty binary message".to_owned()));
        };
        let kind = match type_byte {
            b'e' => Kind::Echo,
            b'b' => Kind::Broadcast,
            b'r' => Kind::Result,
            other => return Err(Malformed(format!("unknown type byte {other:#04x}"))),
        };
        let Some((size, payload)) = rest.split_first_chunk::<4>() else {
            return Err(Malformed("binary message without a size".to_owned()));
        };
        let Some(stamp) = StampForm::Binary.read(payload) else {
            return Err(Malformed("binary message without a stamp".to_owned()));
        };
        let intact = u32::from_be_bytes(*size) as usize == payload.len()
            && payload[STAMP..] == *self.body.padding(stamp).text.as_bytes();
        Ok(Incoming::Message {
            kind,
            stamp,
            intact,
            topic: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::NoVariables;
    use super::*;

    #[test]
    fn a_request_is_laid_out_as_the_protocol_says_and_read_back() {
        let codec = Binary::new(Body::new("xy".into()));
        let mut out = Vec::new();
        codec.request(Workload::Broadcast, 0, 0x0102, &NoVariables, &mut out);
        assert_eq!(out, b"b\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x01\x02xy");
        out[0] = b'r';
        let understood = |intact| {
            Ok(Incoming::Message {
                kind: Kind::Result,
                stamp: 0x0102,
                intact,
                topic: None,
            })
        };
        assert_eq!(codec.parse(&out), understood(true));
        out[14] = b'z';
        assert_eq!(codec.parse(&out), understood(false));
        out.truncate(14);
        assert_eq!(codec.parse(&out), understood(false));
    }

    #[test]
    fn short_and_unknown_messages_are_malformed() {
        let codec = Binary::new(Body::new(String::new()));
        for message in [
            &b""[..],
            b"e",
            b"e\0\0\0\x08",
            b"e\0\0\0\x08\0\0",
            b"x\0\0\0\x08\0\0\0\0\0\0\0\0",
        ] {
            assert!(codec.parse(message).is_err(), "{message:?}");
        }
    }
}
