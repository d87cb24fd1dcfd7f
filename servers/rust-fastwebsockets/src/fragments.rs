//! Makes messages of frames, up to a size. The library's own collector (`FragmentCollectorRead`)
//! has a limit for one frame, and none for all fragments of a message.

use crate::outbox::Message;
use fastwebsockets::{Frame, OpCode, WebSocketError};

#[derive(Default)]
pub(crate) struct Fragments(Option<(OpCode, Vec<u8>)>);

impl Fragments {
    /// Adds a frame of data, and returns the message that it completes.
    pub(crate) fn add(
        &mut self,
        frame: Frame<'_>,
        limit: usize,
    ) -> Result<Option<Message>, WebSocketError> {
        let last = frame.fin;
        let message = match (frame.opcode, self.0.take()) {
            (OpCode::Continuation, None) => return Err(WebSocketError::InvalidContinuationFrame),
            (OpCode::Continuation, Some((opcode, mut payload))) => {
                if payload.len() + frame.payload.len() > limit {
                    return Err(WebSocketError::FrameTooLarge);
                }
                payload.extend_from_slice(&frame.payload);
                (opcode, payload)
            }
            (_, Some(_)) => return Err(WebSocketError::InvalidFragment),
            // In one frame, whose UTF-8 the library has checked.
            (_, None) if last => return Ok(Some(frame.into())),
            (opcode, None) => (opcode, Vec::from(frame.payload)),
        };
        if !last {
            self.0 = Some(message);
            return Ok(None);
        }
        let (opcode, payload) = message;
        if opcode == OpCode::Text && std::str::from_utf8(&payload).is_err() {
            return Err(WebSocketError::InvalidUTF8);
        }
        let payload = payload.into();
        Ok(Some(Message { opcode, payload }))
    }
}
