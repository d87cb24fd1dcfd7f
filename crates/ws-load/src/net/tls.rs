//! TLS to a server: what is offered, whom to trust, who the client is, and what a failure means in
//! words.

use super::TargetError;
use plan::{Plan, TlsVersion};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{AlertDescription, CertificateError, DigitallySignedStruct, SignatureScheme};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use ws_proto::printable;

/// Most bytes of a certificate's text that are shown.
const MAX_SHOWN: usize = 200;

/// What TLS connections need.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    /// It resumes nothing.
    pub(crate) config: Arc<rustls::ClientConfig>,
    pub(crate) name: ServerName<'static>,
    /// A client that comes back may resume its session.
    pub(crate) resumption: bool,
}

/// What of TLS is offered to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    min: TlsVersion,
    max: TlsVersion,
    /// The clients have a certificate.
    certificate: bool,
}

impl Offered {
    pub(crate) fn new(plan: &Plan) -> Self {
        let tls = plan.connection.tls.clone().unwrap_or_default();
        Self {
            min: tls.min,
            max: tls.max,
            certificate: tls.client_cert.is_some(),
        }
    }
}

impl fmt::Display for Offered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.min == self.max {
            true => write!(f, "TLS {}", self.min.name()),
            false => write!(f, "TLS {} and {}", self.min.name(), self.max.name()),
        }
    }
}

impl Tls {
    pub(crate) fn new(host: &str, plan: &Plan) -> Result<Self, TargetError> {
        let wanted = plan.connection.tls.clone().unwrap_or_default();
        let host = wanted.server_name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(host.to_owned()).map_err(|_| TargetError::ServerName {
            host: host.to_owned(),
        })?;
        let offered = Offered::new(plan);
        let versions: Vec<_> = [
            (TlsVersion::V1_2, &rustls::version::TLS12),
            (TlsVersion::V1_3, &rustls::version::TLS13),
        ]
        .into_iter()
        .filter(|(version, _)| (offered.min..=offered.max).contains(version))
        .map(|(_, version)| version)
        .collect();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .expect("ring offers both versions, and a plan leaves one of them");
        let verifier: Arc<dyn ServerCertVerifier> = if plan.target.verify_certificate {
            Arc::new(Trusted::new(plan, provider)?)
        } else {
            Arc::new(Unchecked(provider))
        };
        let builder = builder
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match (&wanted.client_cert, &wanted.client_key) {
            (Some(cert), Some(key)) => builder
                .with_client_auth_cert(read(cert)?, read_key(key)?)
                .map_err(|error| unfit_pair(cert, key, &error))?,
            _ => builder.with_no_client_auth(),
        };
        config.resumption = Resumption::disabled();
        Ok(Self {
            config: Arc::new(config),
            name,
            resumption: wanted.resumption,
        })
    }
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TargetError> {
    use rustls::pki_types::pem::Error;
    PrivateKeyDer::from_pem_file(path).map_err(|error| TargetError::Key {
        reason: match error {
            Error::NoItemsFound => "no PEM private key in it; an encrypted key has to be \
                                    decrypted first"
                .to_owned(),
            error => error.to_string(),
        },
    })
}

fn unfit_pair(cert: &Path, key: &Path, error: &rustls::Error) -> TargetError {
    TargetError::KeyOfAnother {
        cert: cert.to_owned(),
        key: key.to_owned(),
        reason: match error {
            rustls::Error::InconsistentKeys(_) => {
                "the key is not that of the certificate".to_owned()
            }
            error => error.to_string(),
        },
    }
}

/// Checks certificates against the system's authorities and those of `--ca`.
///
/// A server's own certificate given as `--ca` is trusted as well, also where it says of itself that
/// it is an authority's (`openssl req -x509` makes such), which a chain to it may not end with. As
/// of any authority that was given, that very certificate is what the user trusts; its name and its
/// validity are still checked.
#[derive(Debug)]
struct Trusted {
    chains: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl Trusted {
    fn new(plan: &Plan, provider: Arc<CryptoProvider>) -> Result<Self, TargetError> {
        let mut store = rustls::RootCertStore::empty();
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let given = plan
            .target
            .ca_file
            .as_deref()
            .map_or(Ok(Vec::new()), read)?;
        let path = plan
            .target
            .ca_file
            .as_deref()
            .unwrap_or(Path::new("the system's"));
        for certificate in &given {
            store
                .add(certificate.clone())
                .map_err(|error| unreadable(path, error.to_string()))?;
        }
        let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider);
        let chains = builder.build().map_err(|_| {
            unreadable(
                path,
                "there is not one; give the server's authority in target.ca_file, or check nothing: target.verify_certificate = false"
                    .to_owned(),
            )
        })?;
        Ok(Self { chains, given })
    }
}

fn read(path: &Path) -> Result<Vec<CertificateDer<'static>>, TargetError> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(path, error.to_string()))?;
    if certificates.is_empty() {
        return Err(unreadable(path, "no PEM certificate in it".to_owned()));
    }
    Ok(certificates)
}

fn unreadable(path: &Path, reason: String) -> TargetError {
    TargetError::Certificates {
        path: path.to_owned(),
        reason,
    }
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.chains.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            Err(error) if is_authority_s(&error) && self.given.contains(end_entity) => {
                let parsed = ParsedCertificate::try_from(end_entity)?;
                verify_server_name(&parsed, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chains.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chains.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// The certificate of an authority where that of a server is due: webpki's `CaUsedAsEndEntity`,
/// which it finds after it has checked the validity.
fn is_authority_s(error: &rustls::Error) -> bool {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(other)) => {
            other.to_string() == "CaUsedAsEndEntity"
        }
        _ => false,
    }
}

/// Why TLS does not come about with a server, and what to do.
pub(crate) fn words(error: &rustls::Error, offered: Offered) -> String {
    use CertificateError as Bad;
    use rustls::{Error, PeerIncompatible};
    let shown = |text: String| printable(text.as_bytes(), MAX_SHOWN);
    match error {
        Error::InvalidCertificate(Bad::UnknownIssuer) => {
            "its certificate is of no authority that is known here; give the authority's, or the \
             server's own if it signed itself, in target.ca_file, or check nothing: \
             target.verify_certificate = false"
                .to_owned()
        }
        Error::InvalidCertificate(Bad::Expired | Bad::ExpiredContext { .. }) => {
            "its certificate has expired; renew it, look at the clock of this machine, or check \
             nothing: target.verify_certificate = false"
                .to_owned()
        }
        Error::InvalidCertificate(Bad::NotValidYet | Bad::NotValidYetContext { .. }) => {
            "its certificate is not valid yet; look at the clocks of both machines, or check \
             nothing: target.verify_certificate = false"
                .to_owned()
        }
        Error::InvalidCertificate(Bad::NotValidForName) => wrong_name("another name", "its name"),
        Error::InvalidCertificate(Bad::NotValidForNameContext {
            expected,
            presented,
        }) => wrong_name(
            &match presented.as_slice() {
                [] => "no name at all".to_owned(),
                names => shown(names.join(", ")),
            },
            &format!("`{}`", shown(expected.to_str().into_owned())),
        ),
        Error::InvalidCertificate(_) if is_authority_s(error) => {
            "its certificate is an authority's own (CA:TRUE) and no server's; give that very \
             certificate in target.ca_file, have one issued by it for the server, or check nothing: \
             target.verify_certificate = false"
                .to_owned()
        }
        Error::InvalidCertificate(other) => format!(
            "its certificate is not accepted ({}); check nothing: target.verify_certificate = false",
            shown(other.to_string())
        ),
        Error::AlertReceived(AlertDescription::ProtocolVersion) => no_version(offered),
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "it wants a client certificate: give one in connection.tls.client_cert, and its key in \
             connection.tls.client_key"
                .to_owned()
        }
        Error::AlertReceived(alert) => format!(
            "it refused TLS with the alert {alert:?}; its log says why. Offered were {offered}, \
             and {} client certificate",
            if offered.certificate { "a" } else { "no" }
        ),
        Error::InvalidMessage(_) => {
            "what it says is not TLS; is the URL to begin with ws:// there?".to_owned()
        }
        Error::PeerIncompatible(
            PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
            | PeerIncompatible::ServerDoesNotSupportTls12Or13,
        ) => no_version(offered),
        Error::PeerIncompatible(why) => {
            format!("it does not speak {offered} as they are spoken here ({why:?})")
        }
        other => format!("TLS failed: {}", shown(other.to_string())),
    }
}

/// The versions that the server speaks are none of those that were offered.
fn no_version(offered: Offered) -> String {
    let remedy = match offered.min == offered.max {
        true => {
            "offer another version by connection.tls.min and connection.tls.max, or have it \
                 speak this one"
        }
        false => "older versions are not spoken here: have it speak one of these",
    };
    format!("it does not speak {offered}, and nothing else is offered; {remedy}")
}

fn wrong_name(names: &str, wanted: &str) -> String {
    format!(
        "its certificate is for {names}, and the URL asks for {wanted}; use a name of the \
         certificate in the URL, or check nothing: target.verify_certificate = false"
    )
}

/// Accepts any certificate, when the user asked for it; signatures are still checked.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
