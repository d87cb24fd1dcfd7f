//! Tokens and certificates between coordinators and workers.

use crate::support::{Ran, bench, finish, honest, no_listener, run, url};
use crate::worker_process::{Process, Worker};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use remote::TOKEN_VARIABLE;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

const SPACED: &str = "a token of several words";
const GOOD: &str = "0123456789abcdef0123456789abcdef";
const WRONG: &str = "0123456789abcdef0123456789abcdee";

fn run_with(token: &str, arguments: &str) -> Ran {
    finish(
        bench()
            .env(TOKEN_VARIABLE, token)
            .args(arguments.split_whitespace()),
    )
}

fn short_run(server: SocketAddr, worker: SocketAddr) -> String {
    format!(
        "echo {} -s 20 --step-size 2 --total-steps 1 --limit-rtt 20s -w {worker}",
        url(server)
    )
}

#[test]
fn strangers_could_reach_it_so_it_refuses_to_start() {
    for address in ["0.0.0.0", "::", "192.0.2.1"] {
        run(&format!("worker -a {address}"))
            .exits(1)
            .says_in_one_line(&[
                "a worker on",
                "every host that can reach it",
                "--token-file",
                TOKEN_VARIABLE,
                "--tls-cert, --tls-key and --tls-ca",
                "loopback",
            ]);
    }
    run(&format!(
        "echo {} --await-workers 1 --listen 0.0.0.0:0",
        url(no_listener())
    ))
    .exits(1)
    .says_in_one_line(&[
        "a coordinator that waits for workers on 0.0.0.0:0",
        "--token-file",
    ]);
    run("worker --coordinator 192.0.2.1:4000")
        .exits(1)
        .says_in_one_line(&[
            "the coordinator 192.0.2.1:4000",
            "not on this machine",
            "--token-file",
        ]);
}

#[test]
fn the_same_token_on_both_sides_opens_any_address() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, format!("{GOOD}\n")).unwrap();
    let worker = Worker::new(
        bench()
            .args(["worker", "-a", "0.0.0.0", "-p", "0", "--token-file"])
            .arg(&file),
    );
    let addr = SocketAddr::from(([127, 0, 0, 1], worker.addr.port()));
    let arguments = short_run(server.addr(), addr);
    run_with(GOOD, &arguments).exits(0);
    run(&format!("{arguments} --token-file {}", file.display())).exits(0);
    run_with(WRONG, &arguments).exits(1).says_in_one_line(&[
        &addr.to_string(),
        "the token is not the one",
        "the same --token-file",
    ]);
    worker
        .process
        .says(&["turned", "away", "the token is not the one"]);
    run(&arguments)
        .exits(1)
        .says_in_one_line(&["it wants a token, and none was given", "--token-file"]);
    worker.process.says(&["turned", "away", "none was given"]);
}

#[test]
fn a_worker_that_dials_in_shows_its_token() {
    let server = honest();
    let flags = format!(
        "echo {} -s 20 --step-size 2 --total-steps 1 --limit-rtt 20s --await-workers 1 --listen 127.0.0.1:0",
        url(server.addr())
    );
    let mut coordinator = Process::start(
        bench()
            .env(TOKEN_VARIABLE, GOOD)
            .args(flags.split_whitespace()),
    );
    let line = coordinator.says(&["waiting for workers on "]);
    let (_, addr) = line.split_once("waiting for workers on ").unwrap();
    let join = format!("worker --coordinator {addr}");
    run_with(WRONG, &join)
        .exits(1)
        .says_in_one_line(&["the coordinator", "the token is not the one"]);
    coordinator.says(&["turned the worker", "away", "the token is not the one"]);
    run_with(GOOD, &join).exits(0);
    coordinator.end().exits(0);
}

#[test]
fn tokens_that_protect_nothing_are_refused() {
    for (token, words) in [
        ("", "is empty"),
        ("short", "fewer than 16"),
        (SPACED, "printable"),
    ] {
        run_with(token, "worker -a 0.0.0.0 -p 0")
            .exits(1)
            .says_in_one_line(&[TOKEN_VARIABLE, words, "openssl rand"]);
    }
    run("worker --token-file no-such-file")
        .exits(1)
        .says_in_one_line(&["--token-file: cannot read the file", "the path of a file"]);
}

/// Certificates in files.
struct Authority {
    folder: tempfile::TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { folder, issuer }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The flags of a side with a certificate for `host`.
    fn flags(&self, host: &str) -> String {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let (cert, key_file) = (
            self.path(&format!("{host}.pem")),
            self.path(&format!("{host}.key")),
        );
        std::fs::write(&cert, certificate.pem()).unwrap();
        std::fs::write(&key_file, key.serialize_pem()).unwrap();
        flags(&cert, &key_file, &self.path("ca.pem"))
    }
}

fn flags(cert: &Path, key: &Path, ca: &Path) -> String {
    format!(
        "--tls-cert {} --tls-key {} --tls-ca {}",
        cert.display(),
        key.display(),
        ca.display()
    )
}

#[test]
fn certificates_of_one_authority_open_any_address_and_others_do_not() {
    let server = honest();
    let (own, other) = (Authority::new(), Authority::new());
    let worker = Worker::start(&format!("-a 0.0.0.0 {}", own.flags("127.0.0.1")));
    let addr = SocketAddr::from(([127, 0, 0, 1], worker.addr.port()));
    let arguments = short_run(server.addr(), addr);
    run(&format!("{arguments} {}", own.flags("coordinator"))).exits(0);
    run(&format!("{arguments} {}", other.flags("coordinator")))
        .exits(1)
        .says_in_one_line(&[&format!("no TLS with the worker {addr}"), "certificate"]);
    // Trusts the worker, but shows a certificate that the worker does not trust.
    let stranger = flags(
        &other.path("coordinator.pem"),
        &other.path("coordinator.key"),
        &own.path("ca.pem"),
    );
    run(&format!("{arguments} {stranger}"))
        .exits(1)
        .says_in_one_line(&[&addr.to_string(), "TLS"]);
    run(&arguments)
        .exits(1)
        .says_in_one_line(&[&addr.to_string(), "TLS"]);
    let named = Worker::start(&own.flags("neptune"));
    run(&format!(
        "{} {}",
        short_run(server.addr(), named.addr),
        own.flags("coordinator")
    ))
    .exits(1)
    .says_in_one_line(&["no TLS with", "the name that it is dialled by"]);
}

#[test]
fn a_worker_dials_in_over_tls() {
    let server = honest();
    let authority = Authority::new();
    let coordinator_flags = format!(
        "echo {} -s 20 --step-size 2 --total-steps 1 --limit-rtt 20s --await-workers 1 --listen 127.0.0.1:0 {}",
        url(server.addr()),
        authority.flags("localhost")
    );
    let mut coordinator = Process::start(bench().args(coordinator_flags.split_whitespace()));
    let line = coordinator.says(&["waiting for workers on 127.0.0.1:"]);
    let (_, port) = line.rsplit_once(':').unwrap();
    run(&format!(
        "worker --coordinator localhost:{port} {}",
        authority.flags("worker")
    ))
    .exits(0);
    coordinator.end().exits(0);
}

#[test]
fn files_that_hold_no_credentials_are_named() {
    let authority = Authority::new();
    let good = authority.flags("localhost");
    let ca = authority.path("ca.pem").display().to_string();
    let empty = authority.path("empty.pem");
    std::fs::write(&empty, "nothing").unwrap();
    let empty = empty.display().to_string();
    for (flags, words) in [
        (good.replace(&ca, &empty), ["empty.pem", "no certificate"]),
        (
            good.replace("localhost.key", "empty.pem"),
            ["empty.pem", "no private key"],
        ),
        (
            good.replace(&ca, "/no/such.pem"),
            ["cannot read", "/no/such.pem"],
        ),
    ] {
        run(&format!("worker {flags}"))
            .exits(1)
            .says_in_one_line(&words);
    }
}
