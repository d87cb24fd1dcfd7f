//! Who may talk to whom: a token that both sides share, certificates that each checks of the other,
//! or both.
//!
//! A token authenticates the caller, but it is readable in the packets: on a network that is shared
//! with others, TLS is needed too.

use crate::address;
use crate::error::RemoteError;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use subtle::ConstantTimeEq as _;
use tonic::Status;
use tonic::metadata::{AsciiMetadataValue, MetadataMap};
use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

/// Environment variable that holds a token.
pub const TOKEN_VARIABLE: &str = "WEBSOCKET_BENCH_TOKEN";
/// A token of 16 hexadecimal digits takes 2^63 tries on average.
const SHORTEST_TOKEN: usize = 16;
const HEADER: &str = "authorization";
const SCHEME: &str = "Bearer ";

/// A secret that both sides share.
#[derive(Clone)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// A token as it stands in `place`, white space around it aside.
    ///
    /// # Errors
    /// When it is too short to protect anything, or cannot stand in a header.
    pub fn new(text: &str, place: &str) -> Result<Self, RemoteError> {
        let text = text.trim();
        let wrong = |reason| RemoteError::Token {
            place: place.to_owned(),
            reason,
        };
        if text.is_empty() {
            return Err(wrong("is empty"));
        }
        if text.len() < SHORTEST_TOKEN {
            return Err(wrong("has fewer than 16 characters"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("has characters other than printable ASCII"));
        }
        Ok(Self(text.to_owned()))
    }

    /// A token for one run, from the system's source of randomness.
    ///
    /// # Errors
    /// When the system has none.
    pub(crate) fn one_time() -> Result<Self, RemoteError> {
        let mut bytes = [0; 32];
        rustls::crypto::ring::default_provider()
            .secure_random
            .fill(&mut bytes)
            .map_err(|_| RemoteError::Runtime(std::io::Error::other("no random numbers")))?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// For the environment of a child.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

/// A certificate of one's own, and the authority that the other side's must come from.
#[derive(Clone)]
struct Mutual {
    identity: Identity,
    authority: Certificate,
}

/// The credentials that a side presents and requires.
#[derive(Clone, Default)]
pub struct Credentials {
    token: Option<Token>,
    tls: Option<Mutual>,
}

impl Credentials {
    /// A token alone.
    pub(crate) fn of_token(token: Token) -> Self {
        Self {
            token: Some(token),
            tls: None,
        }
    }

    /// Reads what there is: the token from `token_file` or else from `variable`, the value of
    /// [`TOKEN_VARIABLE`]; `tls` names certificate, key and authorities.
    ///
    /// # Errors
    /// When a file cannot be read or does not hold what it should.
    pub fn read(
        token_file: Option<&Path>,
        variable: Option<&str>,
        tls: Option<[&Path; 3]>,
    ) -> Result<Self, RemoteError> {
        let token = match (token_file, variable) {
            (Some(path), _) => {
                let bytes = read_secret("--token-file", "the token", path)?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                Some(Token::new(&text, &path.display().to_string())?)
            }
            (None, Some(text)) => Some(Token::new(text, TOKEN_VARIABLE)?),
            (None, None) => None,
        };
        let tls = tls.map(Mutual::read).transpose()?;
        Ok(Self { token, tls })
    }

    /// Whether only peers with credentials, or of this machine, can use a listener on `address`.
    pub(crate) fn guard(&self, address: SocketAddr) -> bool {
        address::is_loopback(address.ip()) || self.are_any()
    }

    /// True when there is anything to show.
    pub(crate) fn are_any(&self) -> bool {
        self.token.is_some() || self.tls.is_some()
    }

    /// True when connections are TLS.
    pub(crate) fn use_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// The header that a caller presents.
    pub(crate) fn header(&self) -> Option<(&'static str, AsciiMetadataValue)> {
        let token = self.token.as_ref()?;
        let mut value: AsciiMetadataValue = format!("{SCHEME}{}", token.0)
            .parse()
            .expect("a token is printable ASCII");
        value.set_sensitive(true);
        Some((HEADER, value))
    }

    /// Checks the token of a caller, in a time that does not depend on how much of it is right.
    ///
    /// # Errors
    /// The status to answer with.
    pub(crate) fn admit(&self, shown: &MetadataMap) -> Result<(), Status> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let Some(shown) = shown.get(HEADER) else {
            return Err(Status::unauthenticated(
                "it wants a token, and none was given",
            ));
        };
        let shown = shown.as_encoded_bytes();
        let expected = format!("{SCHEME}{}", token.0);
        if bool::from(shown.ct_eq(expected.as_bytes())) {
            return Ok(());
        }
        Err(Status::unauthenticated(
            "the token is not the one it was started with",
        ))
    }

    /// TLS for a caller of `host`.
    pub(crate) fn client_tls(&self, host: &str) -> Option<ClientTlsConfig> {
        let tls = self.tls.as_ref()?;
        let config = ClientTlsConfig::new()
            .domain_name(host)
            .ca_certificate(tls.authority.clone())
            .identity(tls.identity.clone());
        Some(config)
    }

    /// TLS for a listener, which wants a certificate of its callers.
    pub(crate) fn server_tls(&self) -> Option<ServerTlsConfig> {
        let tls = self.tls.as_ref()?;
        let config = ServerTlsConfig::new()
            .identity(tls.identity.clone())
            .client_ca_root(tls.authority.clone());
        Some(config)
    }
}

impl Mutual {
    fn read([cert, key, ca]: [&Path; 3]) -> Result<Self, RemoteError> {
        let key_pem = read_secret("--tls-key", "the key", key)?;
        PrivateKeyDer::from_pem_slice(&key_pem).map_err(|error| RemoteError::Pem {
            path: key.to_owned(),
            reason: format!("no private key in PEM: {error}"),
        })?;
        Ok(Self {
            identity: Identity::from_pem(certificates(cert)?, key_pem),
            authority: Certificate::from_pem(certificates(ca)?),
        })
    }
}

/// The contents of a file that holds at least one certificate.
fn certificates(path: &Path) -> Result<Vec<u8>, RemoteError> {
    let pem = read(path)?;
    let wrong = |reason| RemoteError::Pem {
        path: path.to_owned(),
        reason,
    };
    let mut count = 0;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        certificate.map_err(|error| wrong(format!("no certificate in PEM: {error}")))?;
        count += 1;
    }
    if count == 0 {
        return Err(wrong("no certificate in PEM".to_owned()));
    }
    Ok(pem)
}

fn read_secret(
    flag: &'static str,
    holds: &'static str,
    path: &Path,
) -> Result<Vec<u8>, RemoteError> {
    std::fs::read(path).map_err(|source| RemoteError::Secret {
        flag,
        holds,
        source,
    })
}

fn read(path: &Path) -> Result<Vec<u8>, RemoteError> {
    std::fs::read(path).map_err(|source| RemoteError::Read {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn shown(value: &str) -> MetadataMap {
        let mut map = MetadataMap::new();
        map.insert(HEADER, value.parse().unwrap());
        map
    }

    #[test]
    fn only_the_whole_token_is_admitted() {
        let own = Credentials::read(None, Some(TOKEN), None).unwrap();
        let (_, header) = own.header().unwrap();
        assert!(own.admit(&shown(header.to_str().unwrap())).is_ok());
        for wrong in [
            "",
            TOKEN,
            "Bearer ",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
        ] {
            assert!(own.admit(&shown(wrong)).is_err(), "{wrong}");
        }
        assert!(own.admit(&MetadataMap::new()).is_err());
        assert!(Credentials::default().admit(&MetadataMap::new()).is_ok());
    }

    #[test]
    fn a_token_is_trimmed_and_long_enough_and_printable() {
        let token = Token::new(&format!(" {TOKEN}\n"), "x").unwrap();
        assert_eq!(token.reveal(), TOKEN);
        for (text, words) in [
            (" \n", "is empty"),
            ("123456789abcdef", "fewer than 16"),
            ("0123456789abcdef 0", "printable"),
            ("0123456789abcdefß", "printable"),
        ] {
            let error = Token::new(text, "token.txt").unwrap_err().to_string();
            assert!(
                error.contains("token.txt") && error.contains(words),
                "{error}"
            );
        }
    }

    #[test]
    fn one_time_tokens_differ_and_stay_out_of_debug_output() {
        let (one, other) = (Token::one_time().unwrap(), Token::one_time().unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(one.reveal().len(), 64);
        assert!(!format!("{one:?}").contains(one.reveal()));
    }

    #[test]
    fn only_loopback_needs_nothing() {
        let none = Credentials::default();
        assert!(none.guard("127.0.0.1:1".parse().unwrap()));
        assert!(!none.guard("0.0.0.0:1".parse().unwrap()));
        let own = Credentials::read(None, Some(TOKEN), None).unwrap();
        assert!(own.guard("0.0.0.0:1".parse().unwrap()));
    }

    #[test]
    fn a_file_of_credentials_that_cannot_be_used_is_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let missing = folder.path().join("missing");
        let (short, plain) = (file("short", "0123"), file("plain", "no PEM"));
        // The marker alone says what a PEM block is; what is in it is not read here.
        let key = file(
            "key",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        );
        let broken = file("broken", "-----BEGIN CERTIFICATE-----\nAAAA\n");
        let refused = |token: Option<&Path>, tls: Option<[&Path; 3]>| {
            let read = Credentials::read(token, None, tls);
            read.err().expect("none of them can be used").to_string()
        };
        for (error, place, words) in [
            (
                refused(None, Some([&missing, &key, &plain])),
                &missing,
                "cannot read",
            ),
            (refused(Some(&short), None), &short, "fewer than 16"),
            (
                refused(None, Some([&plain, &plain, &plain])),
                &plain,
                "no private key",
            ),
            (
                refused(None, Some([&plain, &key, &plain])),
                &plain,
                "no certificate",
            ),
            (
                refused(None, Some([&key, &key, &plain])),
                &key,
                "no certificate",
            ),
            (
                refused(None, Some([&broken, &key, &plain])),
                &broken,
                "no certificate",
            ),
        ] {
            let place = place.display().to_string();
            assert!(error.contains(&place) && error.contains(words), "{error}");
        }
        for (error, flag) in [
            (refused(Some(&missing), None), "--token-file"),
            (refused(None, Some([&plain, &missing, &plain])), "--tls-key"),
        ] {
            assert!(error.starts_with(flag), "{error}");
            assert!(!error.contains("missing"), "{error}");
        }
        let token = file("token", &format!("{TOKEN}\n"));
        // The token of the file counts, and not that of the variable.
        let read = Credentials::read(Some(&token), Some("0"), None).unwrap();
        assert!(read.admit(&shown(&format!("Bearer {TOKEN}"))).is_ok());
        assert!(read.admit(&MetadataMap::new()).is_err());
    }
}
