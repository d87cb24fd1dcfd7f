//! permessage-deflate for the null server: one state for all connections in each direction.
//!
//! Every client forgets its messages, as the answer demands (RFC 7692, 7.1.1.2). The server compresses
//! each message by itself, so that one frame fits all, and leaves each client to keep a window all the
//! same: nothing in the answer says that it forgets.

use crate::upgrade::RequestHead;
use ws_proto::{
    DeflateOffer, Deflater, FrameHeader, InflateError, Inflater, Sender, encode_header,
    mark_compressed, offers,
};

/// How hard the server compresses.
const LEVEL: u8 = 6;

/// The window of the server, which a client has to take.
const WINDOW: u8 = 15;

#[derive(Debug)]
pub(super) struct Deflated {
    inflater: Inflater,
    deflater: Deflater,
    payload: Vec<u8>,
}

impl Deflated {
    pub(super) fn new() -> Self {
        let (terms, _) = DeflateOffer {
            server_no_context_takeover: true,
            client_no_context_takeover: true,
            ..DeflateOffer::default()
        }
        .accepted();
        Self {
            inflater: Inflater::new(&terms, Sender::Client),
            deflater: Deflater::new(&terms, Sender::Server, LEVEL),
            payload: Vec::new(),
        }
    }

    /// The answer that opens a connection; `None` for a client whose offers do not fit.
    pub(super) fn accept(request: &RequestHead) -> Option<String> {
        let fits = |offer: &DeflateOffer| offer.server_max_window_bits.is_none_or(|w| w >= WINDOW);
        let offer = offers(&request.extensions).into_iter().find(fits)?;
        let (_, answer) = DeflateOffer {
            client_no_context_takeover: true,
            ..offer
        }
        .accepted();
        let line = format!("\r\nSec-WebSocket-Extensions: {answer}\r\n\r\n");
        Some(request.accept().replace("\r\n\r\n", &line))
    }

    /// Puts the message with this compressed payload in the place of what `out` holds.
    pub(super) fn inflate(
        &mut self,
        payload: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), InflateError> {
        self.inflater.inflate(payload, limit, out)
    }

    /// Compresses the frame that `out` ends with, from `at` on.
    pub(super) fn compress_frame(&mut self, out: &mut Vec<u8>, at: usize) {
        let parsed = FrameHeader::parse(&out[at..], Sender::Server);
        let (header, len) = parsed
            .expect("the server builds frames")
            .expect("the header is whole");
        self.payload.clear();
        self.deflater.deflate(&out[at + len..], &mut self.payload);
        out.truncate(at);
        let header = FrameHeader {
            payload_len: self.payload.len() as u64,
            ..header
        };
        encode_header(out, &header);
        mark_compressed(&mut out[at]);
        out.extend_from_slice(&self.payload);
    }
}
