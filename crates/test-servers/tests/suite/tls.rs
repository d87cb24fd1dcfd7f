//! The protocol over TLS.

use crate::support::{Client, connect};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, StreamOwned};
use std::sync::Arc;
use test_servers::TlsServer;

#[test]
fn echo_and_broadcast_over_tls() {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = certified.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(certified.signing_key.serialize_der().into());
    let server_config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let server = TlsServer::start(([127, 0, 0, 1], 0).into(), Arc::new(server_config)).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client_config = Arc::new(
        ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth(),
    );
    let open = || {
        let name = "localhost".try_into().unwrap();
        let tls = ClientConnection::new(Arc::clone(&client_config), name).unwrap();
        Client::upgrade(StreamOwned::new(tls, connect(server.addr()))).unwrap()
    };
    let (mut sender, mut listener) = (open(), open());
    // Longer than a TLS record.
    let payload = format!("\"{}\"", "p".repeat(100_000));
    sender.text("broadcast", &payload);
    let sent = sender.until_echo();
    assert_eq!(sent.len(), 2);
    assert!(sent[1].contains("broadcastResult") && sent[1].contains(&payload));
    assert_eq!(listener.until_echo(), sent[..1]);
}
