//! The payload of a close frame (RFC 6455, sections 5.5.1 and 7.4).

/// A close frame's payload: a code and a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseFrame {
    /// Close code: a registered one, or one of 3000 to 4999.
    pub code: u16,
    /// UTF-8 text, at most 123 bytes.
    pub reason: String,
}

/// A close payload that RFC 6455 forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseError {
    /// One byte cannot hold a code (5.5.1).
    #[error("close frame with a payload of one byte (RFC 6455, 5.5.1)")]
    Truncated,
    /// A code that may not be sent (7.4.1, 7.4.2).
    #[error("close code {0} may not be sent (RFC 6455, 7.4)")]
    Code(u16),
    /// A reason that is not UTF-8 (5.5.1).
    #[error("close reason is not UTF-8 (RFC 6455, 5.5.1)")]
    Reason,
}

impl CloseFrame {
    /// Parses a close payload; an empty one means "no code" and gives `None`.
    ///
    /// # Errors
    /// [`CloseError`] for a payload of one byte, a code that may not be sent, or a reason that is
    /// not UTF-8.
    pub fn parse(payload: &[u8]) -> Result<Option<Self>, CloseError> {
        let Some((code, reason)) = payload.split_first_chunk::<2>() else {
            return if payload.is_empty() {
                Ok(None)
            } else {
                Err(CloseError::Truncated)
            };
        };
        let code = u16::from_be_bytes(*code);
        if !may_be_sent(code) {
            return Err(CloseError::Code(code));
        }
        let reason = simdutf8::basic::from_utf8(reason).map_err(|_| CloseError::Reason)?;
        Ok(Some(Self {
            code,
            reason: reason.to_owned(),
        }))
    }

    /// The payload bytes of this close frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.code.to_be_bytes().to_vec();
        out.extend_from_slice(self.reason.as_bytes());
        out
    }
}

/// 1004-1006 and 1015 are reserved, 1016-2999 unassigned (RFC 6455, 7.4; 1012-1014 came later by
/// the IANA registry).
const fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_reasons_are_read_and_written_alike() {
        let close = CloseFrame {
            code: 1001,
            reason: "até já".into(),
        };
        assert_eq!(CloseFrame::parse(&close.encode()), Ok(Some(close)));
        assert_eq!(CloseFrame::parse(b""), Ok(None));
    }

    #[test]
    fn forbidden_payloads_are_refused_by_name() {
        assert_eq!(CloseFrame::parse(&[3]), Err(CloseError::Truncated));
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535u16] {
            assert_eq!(
                CloseFrame::parse(&code.to_be_bytes()),
                Err(CloseError::Code(code))
            );
        }
        assert_eq!(CloseFrame::parse(&[3, 0xE8, 0xFF]), Err(CloseError::Reason));
    }
}
