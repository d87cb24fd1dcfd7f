//! Compression of the messages of a worker's connections (RFC 7692).
//!
//! A direction without context takeover has one state for all connections with the same terms; every
//! other connection has its own, from its first message in that direction on.

use plan::{Compression, Plan};
use record::CompressionUse;
use ws_proto::{DeflateOffer, DeflateTerms, Deflater, InflateError, Inflater, Sender};

/// What is offered under a plan.
pub(crate) fn offer(plan: &Plan) -> Option<DeflateOffer> {
    plan.connection.compression.map(|of| DeflateOffer {
        server_no_context_takeover: of.server_no_context_takeover,
        client_no_context_takeover: of.client_no_context_takeover,
        server_max_window_bits: of.server_max_window_bits,
        client_max_window_bits: of.client_max_window_bits,
    })
}

/// What a connection has agreed to, and its own states.
#[derive(Debug)]
pub(crate) struct Codecs {
    terms: DeflateTerms,
    inflater: Option<Inflater>,
    deflater: Option<Deflater>,
}

impl Codecs {
    pub(crate) const fn new(terms: DeflateTerms) -> Self {
        Self {
            terms,
            inflater: None,
            deflater: None,
        }
    }
}

/// What the connections of a worker share.
#[derive(Debug)]
pub(crate) struct Deflate {
    level: u8,
    /// In bytes.
    longest_message: usize,
    /// One for each window that was agreed to without context takeover.
    inflaters: Shared<Inflater>,
    deflaters: Shared<Deflater>,
    inflated: Vec<u8>,
    /// Since the step began.
    pub(crate) used: CompressionUse,
}

type Shared<T> = Vec<(u8, T)>;

impl Deflate {
    pub(crate) fn new(plan: &Plan, longest_message: u32) -> Self {
        let compression: Compression = plan.connection.compression.unwrap_or_default();
        Self {
            level: compression.level,
            longest_message: longest_message as usize,
            inflaters: Vec::new(),
            deflaters: Vec::new(),
            inflated: Vec::new(),
            used: CompressionUse::default(),
        }
    }

    /// The message that has this compressed payload.
    pub(crate) fn inflate(
        &mut self,
        codecs: &mut Codecs,
        payload: &[u8],
    ) -> Result<&[u8], InflateError> {
        let terms = &codecs.terms;
        let inflater = match terms.server_no_context_takeover {
            true => shared(&mut self.inflaters, terms.server_window_bits, || {
                Inflater::new(terms, Sender::Server)
            }),
            false => codecs
                .inflater
                .get_or_insert_with(|| Inflater::new(terms, Sender::Server)),
        };
        inflater.inflate(payload, self.longest_message, &mut self.inflated)?;
        self.used.received += 1;
        self.used.received_bytes += payload.len() as u64;
        self.used.received_inflated_bytes += self.inflated.len() as u64;
        Ok(&self.inflated)
    }

    /// Puts the compressed payload of a message in the place of what `out` holds. It must be sent
    /// before any later one.
    pub(crate) fn deflate(&mut self, codecs: &mut Codecs, message: &[u8], out: &mut Vec<u8>) {
        let (terms, level) = (&codecs.terms, self.level);
        let deflater = match terms.client_no_context_takeover {
            true => shared(&mut self.deflaters, terms.client_window_bits, || {
                Deflater::new(terms, Sender::Client, level)
            }),
            false => codecs
                .deflater
                .get_or_insert_with(|| Deflater::new(terms, Sender::Client, level)),
        };
        out.clear();
        deflater.deflate(message, out);
        self.used.sent += 1;
        self.used.sent_bytes += out.len() as u64;
        self.used.sent_inflated_bytes += message.len() as u64;
    }
}

/// The shared state of a window, of which there are eight.
fn shared<T>(all: &mut Shared<T>, bits: u8, make: impl FnOnce() -> T) -> &mut T {
    let at = all.iter().position(|(of, _)| *of == bits);
    let at = at.unwrap_or_else(|| {
        all.push((bits, make()));
        all.len() - 1
    });
    &mut all[at].1
}
