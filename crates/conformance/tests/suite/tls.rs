//! Servers that are checked over TLS.

use conformance::{Found, ReadyError, Target, Tls, checks, ready, run_check};
use rustls::pki_types::PrivateKeyDer;
use std::sync::Arc;
use std::time::Duration;
use test_servers::TlsServer;

/// A correct server, and its certificate.
fn server() -> (TlsServer, String) {
    let issued = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(issued.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![issued.cert.der().clone()], key)
        .unwrap();
    let server = TlsServer::start(([127, 0, 0, 1], 0).into(), Arc::new(config)).unwrap();
    (server, issued.cert.pem())
}

fn target(server: &TlsServer, pem: &str) -> Target {
    Target {
        tls: Some(Tls::trusting(pem).unwrap()),
        timeout: Duration::from_secs(20),
        ..Target::new(server.addr())
    }
}

#[test]
fn checks_are_run_over_tls() {
    let (server, pem) = server();
    let target = target(&server, &pem);
    ready(&target).unwrap();
    for id in [
        "rfc6455-4.2.2-accept-key",
        "rfc6455-5.5.1-close-echo",
        "protocol-echo",
        "protocol-broadcast-exactly-once",
        "protocol-limit-accepted",
    ] {
        let check = checks().find(|check| check.id == id).expect(id);
        let outcome = run_check(&target, check, target.dialects[0]);
        assert!(matches!(outcome.verdict, Found::Pass), "{outcome:?}");
    }
}

#[test]
fn no_other_certificate_is_trusted_and_none_that_is_no_certificate() {
    let (server, _) = server();
    let (_other, pem) = self::server();
    let error = ready(&target(&server, &pem)).unwrap_err();
    assert!(
        matches!(&error, ReadyError::Connect(error) if error.to_string().contains("certificate")),
        "{error:?}"
    );
    assert!(Tls::trusting("no certificate").is_err());
}
