//! RFC 6455 seen from the client, and permessage-deflate (RFC 7692), with the few server-side pieces that a test server needs.
//!
//! Purpose: turn bytes into messages and messages into bytes. This crate does no I/O, reads no
//! clock and draws no random numbers: sockets, time and nonces are handed in by the caller.
//! It knows nothing of the echo and broadcast protocol that rides on top.

mod close;
mod connect;
mod decoder;
mod deflate;
mod frame;
mod handshake;
mod printable;

pub use close::{CloseError, CloseFrame};
pub use connect::{ConnectRefusal, ConnectRequest, basic_credentials, parse_connect};
pub use decoder::{DecodeError, Decoder, Event, Mark};
pub use deflate::{
    DeflateOffer, DeflateTerms, Deflater, InflateError, Inflater, NegotiationError, offers,
};
pub use frame::{
    FrameError, FrameHeader, MAX_CONTROL_PAYLOAD, MAX_HEADER, Opcode, Sender, apply_mask,
    encode_fragments, encode_frame, encode_header, mark_compressed,
};
pub use handshake::{
    HandshakeError, MAX_INTERIM, MAX_RESPONSE_HEAD, UpgradeRequest, accept_for, encode_key,
    parse_answer, parse_response,
};
pub use printable::{escaped, printable};
