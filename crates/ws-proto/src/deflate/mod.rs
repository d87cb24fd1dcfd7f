//! permessage-deflate (RFC 7692): what is agreed in the handshake, and the messages.

mod codec;
mod negotiation;

pub use codec::{Deflater, InflateError, Inflater};
pub use negotiation::{DeflateOffer, DeflateTerms, NegotiationError, offers};

/// The extension's name in `Sec-WebSocket-Extensions`.
const NAME: &str = "permessage-deflate";
