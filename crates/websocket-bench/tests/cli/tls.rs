//! `wss://` from the command line.

use crate::support::run;
use std::sync::Arc;
use test_servers::TlsServer;

/// A server with a certificate of its own for localhost, and that certificate as PEM.
fn server() -> (TlsServer, String) {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key =
        rustls::pki_types::PrivateKeyDer::try_from(issued.signing_key.serialize_der()).unwrap();
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

#[test]
fn certificates_are_checked_trusted_by_file_or_waved_through() {
    let (server, pem) = server();
    let start = format!(
        "broadcast wss://localhost:{}/ws -s 20 --step-size 8 --total-steps 1",
        server.addr().port()
    );
    run(&start)
        .exits(1)
        .says_in_one_line(&["nothing was measured", "certificate"]);
    run(&format!("{start} --insecure")).exits(0);
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, pem).unwrap();
    run(&format!("{start} --ca {}", ca.display())).exits(0);
    std::fs::write(&ca, "no certificate").unwrap();
    run(&format!("{start} --ca {}", ca.display()))
        .exits(1)
        .says_in_one_line(&["cannot read certificates from", "ca.pem"]);
}
