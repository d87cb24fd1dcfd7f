//! What is offered of TLS: versions, a certificate of the clients', and what comes of it.

use crate::support::{assert_valid, no_listener, run};
use record::TlsUse;
use rustls::RootCertStore;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{SupportedProtocolVersion, version};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use test_servers::TlsServer;

pub(crate) const BOTH: &[&SupportedProtocolVersion] = &[&version::TLS12, &version::TLS13];

/// A certificate and its key.
pub(crate) struct Pair(rcgen::CertifiedKey<rcgen::KeyPair>);

impl Pair {
    pub(crate) fn new() -> Self {
        Self(rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap())
    }

    /// The files of both, as flags.
    fn flags(&self, folder: &Path) -> String {
        let (cert, key) = self.files(folder);
        format!(
            "--client-cert {} --client-key {}",
            cert.display(),
            key.display()
        )
    }

    pub(crate) fn pem(&self) -> String {
        self.0.cert.pem()
    }

    pub(crate) fn files(&self, folder: &Path) -> (PathBuf, PathBuf) {
        let (cert, key) = (folder.join("client.pem"), folder.join("client.key"));
        std::fs::write(&cert, self.pem()).unwrap();
        std::fs::write(&key, self.0.signing_key.serialize_pem()).unwrap();
        (cert, key)
    }
}

/// A server that speaks these versions and, if given, asks its clients for that certificate.
fn server(versions: &[&'static SupportedProtocolVersion], clients: Option<&Pair>) -> TlsServer {
    server_with(&Pair::new(), versions, clients)
}

/// The same with that certificate.
pub(crate) fn server_with(
    Pair(own): &Pair,
    versions: &[&'static SupportedProtocolVersion],
    clients: Option<&Pair>,
) -> TlsServer {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(pair) => {
            let mut roots = RootCertStore::empty();
            roots.add(pair.0.cert.der().clone()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        }
    };
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let config = builder.with_single_cert(vec![own.cert.der().clone()], key);
    TlsServer::start(([127, 0, 0, 1], 0).into(), Arc::new(config.unwrap())).unwrap()
}

/// An echo of 4 clients with these flags.
fn echo(server: &TlsServer, flags: &str) -> String {
    format!(
        "echo wss://localhost:{}/ws --insecure -c 2 -s 20 --step-size 4 --total-steps 1 --limit-rtt 20s {flags}",
        server.addr().port()
    )
}

/// What the only step of a run says of TLS.
fn told(server: &TlsServer, flags: &str, folder: &TempDir) -> TlsUse {
    let path = folder.path().join("run.json");
    let ran = run(&format!(
        "{} --json {}",
        echo(server, flags),
        path.display()
    ))
    .exits(0);
    let line = "    tls          4 handshakes, 0 resumed, p50 ";
    assert!(ran.stdout.contains(line), "{ran:#?}");
    let record = assert_valid(&path);
    *record.steps[0].tls.clone().unwrap()
}

#[test]
fn the_version_is_one_that_was_offered_and_is_recorded_with_the_cipher_suite() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(BOTH, None);
    for (flags, version, suite) in [
        ("", "1.3", "TLS_AES_"),
        ("--tls-min 1.3", "1.3", "TLS_AES_"),
        ("--tls-max 1.2", "1.2", "TLS_ECDHE_ECDSA_WITH_"),
        (
            "--processes 2 --tls-max 1.2",
            "1.2",
            "TLS_ECDHE_ECDSA_WITH_",
        ),
    ] {
        let told = told(&server, flags, &folder);
        assert_eq!((told.handshakes, told.resumed), (4, 0), "{flags}");
        assert_eq!(told.handshake.unwrap().count, 4);
        let [agreed] = &told.agreed[..] else {
            panic!("{:?}", told.agreed);
        };
        assert_eq!((&*agreed.version, agreed.handshakes), (version, 4));
        assert!(agreed.cipher_suite.starts_with(suite), "{agreed:?}");
    }
}

#[test]
fn a_server_of_another_version_is_told_from_one_that_fails() {
    let old = server(&[&version::TLS12], None);
    let new = server(&[&version::TLS13], None);
    run(&echo(&old, "")).exits(0);
    run(&echo(&new, "")).exits(0);
    for (server, flags, words) in [
        (
            &old,
            "--tls-min 1.3",
            "does not speak TLS 1.3, and nothing else",
        ),
        (
            &new,
            "--tls-max 1.2",
            "does not speak TLS 1.2, and nothing else",
        ),
    ] {
        run(&echo(server, flags)).exits(1).says(&[
            words,
            "connection.tls.min (--tls-min) and connection.tls.max (--tls-max)",
        ]);
    }
}

#[test]
fn clients_show_their_certificate_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::new();
    let flags = pair.flags(folder.path());
    for versions in [&[&version::TLS12][..], &[&version::TLS13]] {
        let server = server(versions, Some(&pair));
        run(&echo(&server, &flags)).exits(0);
        run(&echo(&server, &format!("{flags} --processes 2"))).exits(0);
        run(&echo(&server, ""))
            .exits(1)
            .says(&["it wants a client certificate", "--client-cert"]);
    }
}

#[test]
fn a_certificate_that_cannot_be_shown_is_told_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = Pair::new().files(folder.path());
    let (cert, key) = (cert.display(), key.display());
    let other = folder.path().join("other.key");
    let other = other.display();
    std::fs::write(other.to_string(), Pair::new().0.signing_key.serialize_pem()).unwrap();
    let server = server(BOTH, None);
    for (flags, words) in [
        (
            format!("--client-cert {cert} --client-key {other}"),
            ["the key is not that of the certificate", "other.key"],
        ),
        (
            format!("--client-cert {cert} --client-key {cert}"),
            ["cannot read the key", "no PEM private key in it"],
        ),
        (
            format!("--client-cert {key} --client-key {key}"),
            ["cannot read certificates from", "client.key"],
        ),
        (
            format!("--client-cert {cert} --client-key /nowhere.key"),
            [
                "cannot read the key",
                "connection.tls.client_key (--client-key)",
            ],
        ),
    ] {
        run(&echo(&server, &flags))
            .exits(1)
            .says_in_one_line(&words);
    }
}

#[test]
fn what_contradicts_itself_is_refused() {
    let addr = no_listener();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    let plan = path.display();
    let refused = |arguments: String, words: &[&str]| run(&arguments).exits(1).says(words);
    for (flags, words) in [
        ("--tls-min 1.3 --tls-max 1.2", "--tls-min 1.3 is above"),
        ("--tls-min 1.1", "expected 1.2 or 1.3"),
        ("--client-cert x", "--client-key"),
        ("--client-key x", "--client-cert"),
        (
            "--client-cert x --client-key y -w 127.0.0.1:9",
            "would go to the workers in clear text",
        ),
    ] {
        refused(format!("echo wss://{addr}/ {flags}"), &[words]);
    }
    for flag in [
        "--tls-min 1.2",
        "--tls-max 1.3",
        "--client-cert x --client-key y",
    ] {
        refused(
            format!("echo ws://{addr}/ {flag}"),
            &[flag.split(' ').next().unwrap(), "not a wss:// URL"],
        );
    }
    for (tls, url, words) in [
        ("", "ws", "begins with ws://"),
        ("min = 1.3\nmax = 1.2", "wss", "above connection.tls.max"),
        ("min = \"1.1\"", "wss", "`1.1` is no version of TLS"),
        (
            "client_cert = \"x\"",
            "wss",
            "give connection.tls.client_key",
        ),
        (
            "client_key = \"x\"",
            "wss",
            "give connection.tls.client_cert",
        ),
    ] {
        std::fs::write(&path, format!("[connection.tls]\n{tls}\n")).unwrap();
        refused(format!("run {plan} {url}://{addr}/"), &["plan.toml", words]);
    }
}
