//! An authority that the client is told to trust, and certificates of it and of others.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use test_servers::faulty::Certificate;

/// Certificates of one test.
pub(crate) struct Certificates {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Certificates {
    pub(crate) fn issue() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let certificates = Self { issuer, folder };
        std::fs::write(certificates.ca(), certificates.issuer.pem()).unwrap();
        certificates
    }

    /// A file with the authority's certificate.
    pub(crate) fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// What a server shows.
    pub(crate) fn config(&self, certificate: Certificate) -> Arc<ServerConfig> {
        let mut params = CertificateParams::default();
        let name = match certificate {
            Certificate::WrongName => SanType::DnsName("\x1b[31mother.example".try_into().unwrap()),
            _ => SanType::IpAddress([127, 0, 0, 1].into()),
        };
        params.subject_alt_names = vec![name];
        if certificate == Certificate::Expired {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let issued = match certificate {
            Certificate::SelfSigned => params.self_signed(&key),
            _ => params.signed_by(&key, &self.issuer),
        };
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![issued.unwrap().der().clone()], key)
            .unwrap();
        Arc::new(config)
    }
}
