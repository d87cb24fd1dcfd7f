//! The parameters of permessage-deflate: written, read and held against each other (RFC 7692, 7.1).

use super::NAME;
use crate::printable;
use std::fmt;

/// Exponents that a window may have (RFC 7692, 7.1.2).
const WINDOWS: std::ops::RangeInclusive<u8> = 8..=15;

/// The window of an end that agreed to no smaller one.
const LARGEST_WINDOW: u8 = 15;

/// Most characters of a peer's word that an error shows.
const MAX_SHOWN: usize = 60;

/// What a client offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DeflateOffer {
    /// The server is to forget each message before the next (7.1.1.1).
    pub server_no_context_takeover: bool,
    /// The client forgets each message before the next (7.1.1.2).
    pub client_no_context_takeover: bool,
    /// Largest window of the server, as an exponent of 2 (7.1.2.1).
    pub server_max_window_bits: Option<u8>,
    /// The client lets the server choose its window, and takes none above this exponent (7.1.2.2).
    /// 15 is written without a value, which means the same.
    pub client_max_window_bits: Option<u8>,
}

/// What both ends keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeflateTerms {
    /// The server forgets each message before the next.
    pub server_no_context_takeover: bool,
    /// The client forgets each message before the next.
    pub client_no_context_takeover: bool,
    /// Window of what the server sends, as an exponent of 2.
    pub server_window_bits: u8,
    /// Window of what the client sends, as an exponent of 2.
    pub client_window_bits: u8,
}

/// An answer, or an offer, that RFC 7692 forbids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NegotiationError {
    /// The server turned nothing on.
    #[error("the server does not negotiate permessage-deflate")]
    Declined,
    /// An extension that was not offered.
    #[error("the server turned on the extension `{0}`, which was not offered (RFC 6455, 9.1)")]
    NotOffered(String),
    /// The extension stands twice in the answer.
    #[error("the server turned on permessage-deflate twice (RFC 7692, 5.1)")]
    Twice,
    /// Bytes that are no list of extensions.
    #[error("`{0}` in Sec-WebSocket-Extensions is no extension or parameter (RFC 6455, 9.1)")]
    Syntax(String),
    /// A parameter that the extension does not have.
    #[error("permessage-deflate has no parameter `{0}` (RFC 7692, 7.1)")]
    Unknown(String),
    /// A parameter that stands twice.
    #[error("the parameter {0} stands twice (RFC 7692, 7.1)")]
    Duplicate(&'static str),
    /// A value that the parameter cannot have.
    #[error("the parameter {name} {}: {expected} (RFC 7692, {clause})", given(.value.as_ref()))]
    Value {
        /// The parameter.
        name: &'static str,
        /// What it was.
        value: Option<String>,
        /// What it may be.
        expected: &'static str,
        /// Where that stands.
        clause: &'static str,
    },
    /// A window larger than the client permits.
    #[error(
        "the server took server_max_window_bits={got}, offered was {offered} at most (RFC 7692, 7.1.2.1)"
    )]
    Larger {
        /// What the answer has.
        got: u8,
        /// What was offered.
        offered: u8,
    },
    /// A parameter of the offer that an answer must repeat.
    #[error("the answer lacks {name}, which the offer has (RFC 7692, {clause})")]
    Missing {
        /// The parameter.
        name: &'static str,
        /// Where that stands.
        clause: &'static str,
    },
    /// A window for a client that did not offer to have it chosen.
    #[error(
        "the server chose client_max_window_bits, which the client did not offer (RFC 7692, 7.1.2.2)"
    )]
    NotChoosable,
}

fn given(value: Option<&String>) -> String {
    value.map_or_else(
        || "has no value".to_owned(),
        |value| format!("has the value `{value}`"),
    )
}

const SERVER_TAKEOVER: &str = "server_no_context_takeover";
const CLIENT_TAKEOVER: &str = "client_no_context_takeover";
const SERVER_WINDOW: &str = "server_max_window_bits";
const CLIENT_WINDOW: &str = "client_max_window_bits";

impl fmt::Display for DeflateOffer {
    /// As in `Sec-WebSocket-Extensions`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)?;
        write_flags(
            f,
            self.server_no_context_takeover,
            self.client_no_context_takeover,
        )?;
        if let Some(bits) = self.server_max_window_bits {
            write!(f, "; {SERVER_WINDOW}={bits}")?;
        }
        match self.client_max_window_bits {
            None => Ok(()),
            Some(LARGEST_WINDOW) => write!(f, "; {CLIENT_WINDOW}"),
            Some(bits) => write!(f, "; {CLIENT_WINDOW}={bits}"),
        }
    }
}

fn write_flags(f: &mut fmt::Formatter<'_>, server: bool, client: bool) -> fmt::Result {
    for (is_set, name) in [(server, SERVER_TAKEOVER), (client, CLIENT_TAKEOVER)] {
        if is_set {
            write!(f, "; {name}")?;
        }
    }
    Ok(())
}

impl DeflateOffer {
    /// What the answer to this offer agrees to: the value of `Sec-WebSocket-Extensions` in the
    /// answer, if it has one.
    ///
    /// # Errors
    /// [`NegotiationError`] when the answer declines, or is none to this offer.
    pub fn answered(&self, answer: Option<&str>) -> Result<DeflateTerms, NegotiationError> {
        let mut agreed = None;
        for extension in elements(answer.unwrap_or_default()) {
            let (name, parameters) = extension.split_once(';').unwrap_or((extension, ""));
            if name.trim() != NAME {
                return Err(NegotiationError::NotOffered(shown(name)));
            }
            if agreed
                .replace(Parameters::read(parameters, true)?)
                .is_some()
            {
                return Err(NegotiationError::Twice);
            }
        }
        let agreed = agreed.ok_or(NegotiationError::Declined)?;
        if self.server_no_context_takeover && !agreed.server_takeover {
            return Err(NegotiationError::Missing {
                name: SERVER_TAKEOVER,
                clause: "7.1.1.1",
            });
        }
        match (self.server_max_window_bits, agreed.server_window) {
            (Some(_), None) => {
                return Err(NegotiationError::Missing {
                    name: SERVER_WINDOW,
                    clause: "7.1.2.1",
                });
            }
            (Some(offered), Some(got)) if got > offered => {
                return Err(NegotiationError::Larger { got, offered });
            }
            _ => {}
        }
        if self.client_max_window_bits.is_none() && agreed.client_window.is_some() {
            return Err(NegotiationError::NotChoosable);
        }
        // A client keeps to its own offer where the answer permits more (7.1.1.2, 7.1.2.2).
        let own = self.client_max_window_bits.unwrap_or(LARGEST_WINDOW);
        Ok(DeflateTerms {
            server_no_context_takeover: agreed.server_takeover,
            client_no_context_takeover: agreed.client_takeover || self.client_no_context_takeover,
            server_window_bits: agreed.server_window.unwrap_or(LARGEST_WINDOW),
            client_window_bits: own.min(agreed.client_window.unwrap_or(LARGEST_WINDOW)),
        })
    }

    /// The terms of a server that takes this offer as it stands, and its answer.
    pub fn accepted(&self) -> (DeflateTerms, String) {
        let terms = DeflateTerms {
            server_no_context_takeover: self.server_no_context_takeover,
            client_no_context_takeover: self.client_no_context_takeover,
            server_window_bits: self.server_max_window_bits.unwrap_or(LARGEST_WINDOW),
            client_window_bits: self.client_max_window_bits.unwrap_or(LARGEST_WINDOW),
        };
        // A window in the answer has a value; one that is not smaller need not be there.
        let answer = Self {
            client_max_window_bits: self
                .client_max_window_bits
                .filter(|bits| *bits < LARGEST_WINDOW),
            ..*self
        };
        (terms, answer.to_string())
    }
}

/// The offers of permessage-deflate in a client's `Sec-WebSocket-Extensions` that a server may take,
/// in their order. Those that RFC 7692, 7.1, has it decline are left out.
pub fn offers(header: &str) -> Vec<DeflateOffer> {
    let offers = elements(header).filter_map(|extension| {
        let (name, parameters) = extension.split_once(';').unwrap_or((extension, ""));
        if name.trim() != NAME {
            return None;
        }
        let read = Parameters::read(parameters, false).ok()?;
        Some(DeflateOffer {
            server_no_context_takeover: read.server_takeover,
            client_no_context_takeover: read.client_takeover,
            server_max_window_bits: read.server_window,
            client_max_window_bits: read.client_window,
        })
    });
    offers.collect()
}

/// The elements of a list; empty ones are no elements (RFC 9110, 5.6.1). A value that is quoted is
/// still a token (RFC 6455, 9.1), and has no comma or semicolon.
fn elements(list: &str) -> impl Iterator<Item = &str> {
    list.split(',')
        .map(str::trim)
        .filter(|element| !element.is_empty())
}

/// The parameters of one element.
#[derive(Debug, Default)]
struct Parameters {
    server_takeover: bool,
    client_takeover: bool,
    server_window: Option<u8>,
    client_window: Option<u8>,
}

impl Parameters {
    fn read(text: &str, is_answer: bool) -> Result<Self, NegotiationError> {
        let mut read = Self::default();
        if text.trim().is_empty() {
            return Ok(read);
        }
        for parameter in text.split(';') {
            let (name, value) = match parameter.split_once('=') {
                Some((name, value)) => (name.trim(), Some(unquoted(value.trim()))),
                None => (parameter.trim(), None),
            };
            if !is_token(name) || value.is_some_and(|value| !is_token(value)) {
                return Err(NegotiationError::Syntax(shown(parameter)));
            }
            match name {
                SERVER_TAKEOVER => flag(&mut read.server_takeover, SERVER_TAKEOVER, value)?,
                CLIENT_TAKEOVER => flag(&mut read.client_takeover, CLIENT_TAKEOVER, value)?,
                SERVER_WINDOW => window(&mut read.server_window, SERVER_WINDOW, value, true)?,
                CLIENT_WINDOW => window(&mut read.client_window, CLIENT_WINDOW, value, is_answer)?,
                _ => return Err(NegotiationError::Unknown(shown(name))),
            }
        }
        Ok(read)
    }
}

fn flag(into: &mut bool, name: &'static str, value: Option<&str>) -> Result<(), NegotiationError> {
    if let Some(value) = value {
        let clause = if name == SERVER_TAKEOVER {
            "7.1.1.1"
        } else {
            "7.1.1.2"
        };
        return Err(wrong(name, Some(value), "it has none", clause));
    }
    if std::mem::replace(into, true) {
        return Err(NegotiationError::Duplicate(name));
    }
    Ok(())
}

fn window(
    into: &mut Option<u8>,
    name: &'static str,
    value: Option<&str>,
    needs_value: bool,
) -> Result<(), NegotiationError> {
    let clause = if name == SERVER_WINDOW {
        "7.1.2.1"
    } else {
        "7.1.2.2"
    };
    let bits = match value {
        None if needs_value => {
            return Err(wrong(name, None, "it is a number from 8 to 15", clause));
        }
        None => LARGEST_WINDOW,
        Some(text) => {
            // Without leading zeroes, and without the sign that a number may have elsewhere.
            let is_plain = !text.starts_with(['0', '+']);
            let bits = text.parse().ok().filter(|bits| WINDOWS.contains(bits));
            bits.filter(|_| is_plain)
                .ok_or_else(|| wrong(name, value, "it is a number from 8 to 15", clause))?
        }
    };
    if into.replace(bits).is_some() {
        return Err(NegotiationError::Duplicate(name));
    }
    Ok(())
}

fn wrong(
    name: &'static str,
    value: Option<&str>,
    expected: &'static str,
    clause: &'static str,
) -> NegotiationError {
    NegotiationError::Value {
        name,
        value: value.map(shown),
        expected,
        clause,
    }
}

fn unquoted(value: &str) -> &str {
    let inner = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    inner.unwrap_or(value)
}

/// RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    let is_char = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(is_char)
}

fn shown(text: &str) -> String {
    printable(text.trim().as_bytes(), MAX_SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: DeflateOffer = DeflateOffer {
        server_no_context_takeover: false,
        client_no_context_takeover: false,
        server_max_window_bits: None,
        client_max_window_bits: None,
    };

    fn any_offer() -> impl Strategy<Value = DeflateOffer> {
        let window = || proptest::option::of(8u8..=15);
        (any::<bool>(), any::<bool>(), window(), window()).prop_map(
            |(server, client, server_bits, client_bits)| DeflateOffer {
                server_no_context_takeover: server,
                client_no_context_takeover: client,
                server_max_window_bits: server_bits,
                client_max_window_bits: client_bits,
            },
        )
    }

    proptest! {
        #[test]
        fn an_offer_is_read_as_it_was_written_and_its_acceptance_agrees(offer in any_offer()) {
            prop_assert_eq!(offers(&format!("x-other, {offer},")), vec![offer]);
            let (terms, answer) = offer.accepted();
            prop_assert_eq!(offer.answered(Some(&answer)), Ok(terms));
        }

        #[test]
        fn any_answer_is_agreed_to_or_refused(offer in any_offer(), answer in "[a-z_=0-9;, \"]{0,80}") {
            let _ = offer.answered(Some(&answer));
            let _ = offers(&answer);
        }
    }

    #[test]
    fn an_offer_alone_lets_the_server_choose() {
        let offer = DeflateOffer {
            client_max_window_bits: Some(15),
            ..PLAIN
        };
        assert_eq!(
            offer.to_string(),
            "permessage-deflate; client_max_window_bits"
        );
        let terms = offer.answered(Some(
            "permessage-deflate;client_max_window_bits=\"10\" ;\tserver_max_window_bits=9; server_no_context_takeover",
        ));
        assert_eq!(
            terms,
            Ok(DeflateTerms {
                server_no_context_takeover: true,
                client_no_context_takeover: false,
                server_window_bits: 9,
                client_window_bits: 10,
            })
        );
    }

    #[test]
    fn a_client_keeps_to_its_own_offer_where_the_answer_permits_more() {
        let offer = DeflateOffer {
            client_no_context_takeover: true,
            client_max_window_bits: Some(10),
            ..PLAIN
        };
        for answer in [
            "permessage-deflate",
            "permessage-deflate; client_max_window_bits=12",
        ] {
            let terms = offer.answered(Some(answer)).unwrap();
            assert!(terms.client_no_context_takeover);
            assert_eq!(terms.client_window_bits, 10);
        }
    }

    #[test]
    fn each_wrong_answer_has_an_error_that_names_its_clause() {
        let limited = DeflateOffer {
            server_no_context_takeover: true,
            server_max_window_bits: Some(10),
            client_max_window_bits: Some(15),
            ..PLAIN
        };
        for (offer, answer, words) in [
            (PLAIN, "", "does not negotiate"),
            (
                PLAIN,
                "x-webkit-deflate-frame",
                "not offered (RFC 6455, 9.1)",
            ),
            (PLAIN, "permessage-deflate, x", "`x`, which was not offered"),
            (
                PLAIN,
                "permessage-deflate, permessage-deflate",
                "twice (RFC 7692, 5.1)",
            ),
            (
                PLAIN,
                "permessage-deflate; mystery",
                "no parameter `mystery` (RFC 7692, 7.1)",
            ),
            (
                PLAIN,
                "permessage-deflate; a b",
                "is no extension or parameter",
            ),
            (PLAIN, "permessage-deflate; ", ""),
            (
                PLAIN,
                "permessage-deflate; ;",
                "is no extension or parameter",
            ),
            (
                PLAIN,
                "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
                "server_no_context_takeover stands twice (RFC 7692, 7.1)",
            ),
            (
                PLAIN,
                "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
                "server_max_window_bits stands twice",
            ),
            (
                PLAIN,
                "permessage-deflate; server_no_context_takeover=1",
                "has the value `1`: it has none (RFC 7692, 7.1.1.1)",
            ),
            (
                PLAIN,
                "permessage-deflate; client_no_context_takeover=true",
                "it has none (RFC 7692, 7.1.1.2)",
            ),
            (
                PLAIN,
                "permessage-deflate; server_max_window_bits",
                "has no value: it is a number from 8 to 15 (RFC 7692, 7.1.2.1)",
            ),
            (
                PLAIN,
                "permessage-deflate; client_max_window_bits=15",
                "client did not offer (RFC 7692, 7.1.2.2)",
            ),
            (
                limited,
                "permessage-deflate; server_no_context_takeover; server_max_window_bits=10; client_max_window_bits",
                "has no value: it is a number from 8 to 15 (RFC 7692, 7.1.2.2)",
            ),
            (
                limited,
                "permessage-deflate; server_no_context_takeover; server_max_window_bits=11",
                "took server_max_window_bits=11, offered was 10 at most (RFC 7692, 7.1.2.1)",
            ),
            (
                limited,
                "permessage-deflate; server_no_context_takeover",
                "lacks server_max_window_bits, which the offer has (RFC 7692, 7.1.2.1)",
            ),
            (
                limited,
                "permessage-deflate; server_max_window_bits=10",
                "lacks server_no_context_takeover, which the offer has (RFC 7692, 7.1.1.1)",
            ),
        ] {
            let verdict = offer.answered(Some(answer));
            match words {
                "" => assert!(verdict.is_ok(), "{answer}"),
                words => {
                    let error = verdict.expect_err(answer).to_string();
                    assert!(error.contains(words), "{answer}: {error}");
                }
            }
        }
        assert_eq!(PLAIN.answered(None), Err(NegotiationError::Declined));
    }

    #[test]
    fn windows_are_numbers_from_8_to_15_without_leading_zeroes() {
        for value in ["7", "16", "08", "+9", "-9", "9.0", "x", "\"9", "", "265"] {
            let answer = format!("permessage-deflate; server_max_window_bits={value}");
            assert!(PLAIN.answered(Some(&answer)).is_err(), "{value}");
            assert_eq!(offers(&answer), [], "{value}");
        }
        for value in 8..=15 {
            let answer = format!("permessage-deflate; server_max_window_bits={value}");
            let terms = PLAIN.answered(Some(&answer)).unwrap();
            assert_eq!(terms.server_window_bits, value);
        }
    }

    #[test]
    fn offers_that_a_server_must_decline_are_left_out_and_others_stay() {
        let header = "permessage-deflate; server_max_window_bits, \
                      permessage-deflate; mystery=1, permessage-deflate";
        assert_eq!(offers(header), [PLAIN]);
    }
}
