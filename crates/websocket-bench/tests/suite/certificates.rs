//! Certificates that a server shows: whom `--ca` trusts, and what is said of the others.

use crate::support::run;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use test_servers::TlsServer;

/// A server with a certificate of its own, and that certificate as PEM.
fn server_with(params: &CertificateParams) -> (TlsServer, String) {
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let private = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    let server = TlsServer::start(([127, 0, 0, 1], 0).into(), Arc::new(config)).unwrap();
    (server, certificate.pem())
}

fn params() -> CertificateParams {
    CertificateParams::new(["localhost".to_owned()]).unwrap()
}

fn start_of_run(host: &str, server: &TlsServer) -> String {
    format!(
        "broadcast wss://{host}:{}/ws -s 20 --step-size 8 --total-steps 1 --limit-rtt 20s",
        server.addr().port()
    )
}

/// As `openssl req -x509` makes them: an authority's certificate that a server shows as its own.
#[test]
fn a_server_s_own_certificate_is_trusted_by_file_even_where_it_is_an_authority_s() {
    let mut params = params();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let (server, pem) = server_with(&params);
    let start = start_of_run("localhost", &server);
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, &pem).unwrap();
    run(&format!("{start} --ca {}", ca.display())).exits(0);
    // Another certificate of the same kind is not that one.
    let (_other, pem) = server_with(&params);
    std::fs::write(&ca, &pem).unwrap();
    run(&format!("{start} --ca {}", ca.display()))
        .exits(1)
        .says_in_one_line(&["target.ca_file (--ca)", "--insecure"]);
    run(&start).exits(1).says_in_one_line(&[
        "is an authority's own (CA:TRUE)",
        "give that very certificate in target.ca_file (--ca)",
    ]);
}

#[test]
fn what_is_wrong_with_a_certificate_is_told_with_the_remedy() {
    let of_another_name = || CertificateParams::new(["other.example".to_owned()]).unwrap();
    let expired = || {
        let mut params = params();
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 1, 1);
        params
    };
    let authority_s = |mut params: CertificateParams| {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
    };
    for (params, words) in [
        (
            of_another_name(),
            ["is for DnsName(\"other.example\")", "asks for `localhost`"],
        ),
        (
            authority_s(of_another_name()),
            ["is for DnsName(\"other.example\")", "asks for `localhost`"],
        ),
        (expired(), ["has expired", "clock of this machine"]),
        (
            authority_s(expired()),
            ["has expired", "clock of this machine"],
        ),
    ] {
        let (server, pem) = server_with(&params);
        let folder = tempfile::tempdir().unwrap();
        let ca = folder.path().join("ca.pem");
        std::fs::write(&ca, &pem).unwrap();
        let start = start_of_run("localhost", &server);
        run(&format!("{start} --ca {}", ca.display()))
            .exits(1)
            .says_in_one_line(&words);
        run(&format!("{start} --insecure")).exits(0);
    }
}

#[test]
fn a_server_without_tls_is_told_from_one_with() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // What the client thinks of it is the test's.
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            thread::spawn(move || stream.read_to_end(&mut Vec::new()));
        }
    });
    run(&format!("echo wss://{addr}/ws --insecure --step-size 2"))
        .exits(1)
        .says(&["not TLS", "ws://"]);
}
