//! A client that offers permessage-deflate (RFC 7692).

use super::{Client, MAX_MESSAGE, OpenError, Opening, is_no_101, read_head};
use crate::failure::Failure;
use crate::raw;
use ws_proto::{
    DecodeError, DeflateOffer, DeflateTerms, Deflater, HandshakeError, Inflater, NegotiationError,
    Opcode, Sender, parse_answer,
};

/// In the first byte of a compressed message (RFC 7692, 6.1).
pub(crate) const RSV1: u8 = 0x40;

const LEVEL: u8 = 6;

/// The states of a connection that compresses.
pub(crate) struct Deflate {
    deflater: Deflater,
    inflater: Inflater,
}

impl Deflate {
    fn new(terms: &DeflateTerms) -> Self {
        Self {
            deflater: Deflater::new(terms, Sender::Client, LEVEL),
            inflater: Inflater::new(terms, Sender::Server),
        }
    }

    /// The message that has this compressed payload.
    pub(super) fn inflate(&mut self, payload: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let mut message = Vec::new();
        self.inflater
            .inflate(payload, MAX_MESSAGE as usize, &mut message)?;
        Ok(message)
    }
}

impl Opening {
    /// Waits for the answer to an offer: what came of it, and the connection, which compresses if both
    /// agreed to it.
    pub(crate) fn finish_offered(
        mut self,
        offer: &DeflateOffer,
    ) -> Result<(Client, Result<DeflateTerms, NegotiationError>), OpenError> {
        let failed = |words: String| OpenError::Handshake(words);
        let (head, rest) =
            read_head(&mut self.stream, self.timeout).map_err(|error| failed(error.to_string()))?;
        let subprotocol = self.speech.subprotocol();
        let negotiated = match parse_answer(&head, &self.key, subprotocol, Some(offer)) {
            Ok(Some((_, Some(terms)))) => Ok(terms),
            Err(HandshakeError::Deflate(error)) => Err(error),
            Err(error) if is_no_101(&error) => return Err(failed(error.to_string())),
            // Other headers have checks of their own.
            _ => Err(NegotiationError::Declined),
        };
        let mut client = self.into_client();
        if let Ok(terms) = &negotiated {
            client.decoder.permit_compressed();
            client.deflate = Some(Deflate::new(terms));
        }
        client.feed(&rest);
        Ok((client, negotiated))
    }
}

impl Client {
    /// True when both ends have agreed to compression.
    pub(crate) const fn compresses(&self) -> bool {
        self.deflate.is_some()
    }

    /// The compressed payload of a message. It must be sent, and before any later one.
    pub(crate) fn deflated(&mut self, message: &[u8]) -> Vec<u8> {
        let mut payload = Vec::new();
        if let Some(deflate) = &mut self.deflate {
            deflate.deflater.deflate(message, &mut payload);
        }
        payload
    }

    /// Sends one message in one frame, compressed where both ends have agreed to that.
    pub(crate) fn send_as_agreed(&mut self, opcode: Opcode, message: &[u8]) -> Result<(), Failure> {
        match self.compresses() {
            true => self.send_deflated(opcode, message),
            false => self.send(opcode, message),
        }
    }

    /// Sends one compressed message in one frame.
    pub(crate) fn send_deflated(&mut self, opcode: Opcode, message: &[u8]) -> Result<(), Failure> {
        let payload = self.deflated(message);
        self.send_raw(&raw::frame(raw::FIN | RSV1 | opcode as u8, &payload))
    }
}
