//! The ways to a server: TLS, a proxy and a Unix socket are those of the requests over HTTP as well, with
//! Fastify.

use super::logins::{addr, all_with, dialect, step_of, users};
use super::refused::{ECHO, file};
use super::server::start;
use crate::dialects::Server;
use crate::front::{Front, Verdict};
use crate::support::{Ran, assert_valid, dialect_file, no_listener, only_step, run};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use std::path::{Path, PathBuf};

const CLIENTS: u64 = 20;
const SAMPLES: u64 = 10;

/// An authority that is known here alone, and a certificate of it.
struct Authority {
    /// Its own certificate.
    ca: PathBuf,
    cert: PathBuf,
    key: PathBuf,
}

impl Authority {
    fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // A certificate names the authority that it is of.
        params
            .distinguished_name
            .push(DnType::CommonName, format!("{name} authority"));
        let key = || KeyPair::generate().unwrap();
        let own = CertifiedIssuer::self_signed(params, key()).unwrap();
        let names = ["localhost".to_owned(), "server.invalid".to_owned()];
        let of_server = key();
        let params = CertificateParams::new(names).unwrap();
        let cert = params.signed_by(&of_server, &own).unwrap();
        let write = |ending: &str, text: String| {
            let path = folder.join(format!("{name}.{ending}"));
            std::fs::write(&path, text).unwrap();
            path
        };
        Self {
            ca: write("ca.pem", own.pem()),
            cert: write("pem", cert.pem()),
            key: write("key", of_server.serialize_pem()),
        }
    }

    /// A server that shows the certificate, and its port.
    fn server(&self) -> (Server, u16) {
        let (cert, key) = (self.cert.to_str().unwrap(), self.key.to_str().unwrap());
        let server = Server::start("login.js", &[("CERT", cert), ("KEY", key)]);
        let port = addr(&server.url).port();
        (server, port)
    }
}

fn tunnel(server: &Server) -> Front {
    Front::before(addr(&server.url), |head| {
        match head.starts_with("CONNECT server.invalid:") {
            true => Verdict::Tunnel("HTTP/1.1 200 OK\r\n\r\n"),
            false => Verdict::Refuse("HTTP/1.1 400 No\r\n\r\n".to_owned()),
        }
    })
}

/// How a server is reached: its URL, that of the requests over HTTP, and the flags.
struct Way {
    name: &'static str,
    url: String,
    base: String,
    flags: String,
}

#[test]
fn steps_and_publications_go_the_way_of_the_connections() {
    let folder = tempfile::tempdir().unwrap();
    let own = Authority::new(folder.path(), "own");
    let (secure, port) = own.server();
    let plain = Server::start("login.js", &[]);
    let socket = folder.path().join("socket");
    let socket = socket.to_str().unwrap();
    let _local = Server::start("login.js", &[("SOCKET", socket)]);
    let (before_plain, before_secure) = (tunnel(&plain), tunnel(&secure));
    let ca = format!("--ca {}", own.ca.display());
    let proxied = |front: &Front| format!("--proxy http://{}", front.addr);
    let ways = [
        Way {
            name: "TLS",
            url: format!("wss://localhost:{port}/hub"),
            base: String::new(),
            flags: ca.clone(),
        },
        Way {
            name: "TLS by an absolute URL",
            url: format!("wss://localhost:{port}/hub"),
            base: format!("https://localhost:{port}"),
            flags: ca.clone(),
        },
        Way {
            name: "a proxy",
            url: "ws://server.invalid/hub".to_owned(),
            base: String::new(),
            flags: proxied(&before_plain),
        },
        Way {
            name: "a proxy, and another port behind it",
            url: "ws://server.invalid/hub".to_owned(),
            base: "http://server.invalid:8080".to_owned(),
            flags: proxied(&before_plain),
        },
        Way {
            name: "TLS behind a proxy",
            url: "wss://server.invalid/hub".to_owned(),
            base: String::new(),
            flags: format!("{ca} {}", proxied(&before_secure)),
        },
        Way {
            name: "a Unix socket",
            url: "ws://localhost/hub".to_owned(),
            base: String::new(),
            flags: format!("--unix {socket}"),
        },
    ];
    for way in &ways {
        let name = way.name;
        for (workload, more) in [("echo", ""), ("broadcast", "--processes 2")] {
            let more = format!(
                "--sample-size {SAMPLES} --concurrent 2 --limit-rtt 20s {} {more}",
                way.flags
            );
            let step = step_of(CLIENTS, workload, &way.url, &dialect(&way.base), &more);
            assert!(step.faults.is_empty(), "{name}: {}", step.faults);
            assert_eq!((step.clients, step.samples), (CLIENTS, SAMPLES), "{name}");
            let http = step.http.unwrap();
            assert_eq!(http.steps.len(), 2, "{name}");
            http.steps
                .iter()
                .for_each(|of| all_with(of, CLIENTS, "200"));
            assert_eq!(http.publications.is_some(), workload == "broadcast");
            if let Some(published) = &http.publications {
                all_with(published, SAMPLES, "202");
            }
        }
    }
    let asked = before_plain.seen();
    let to = |port: &str| {
        let line = format!("CONNECT server.invalid:{port} HTTP/1.1\r\n");
        asked.iter().filter(|head| head.starts_with(&line)).count() as u64
    };
    // Of each of the two workloads of the other port: the connections, and one at least for the steps.
    assert!(to("8080") >= 2 * CLIENTS, "{asked:?}");
    assert!(to("80") >= 6 * CLIENTS, "{asked:?}");
    assert_eq!(to("8080") + to("80"), asked.len() as u64);
}

/// Echoes in the dialect of `login.js`.
fn echo(folder: &Path, url: &str, more: &str) -> Ran {
    let file = dialect_file(folder, &dialect(""));
    let users = users(folder, "password of");
    run(&format!(
        "echo {url}?ticket={{ticket}} --dialect {file} --data {users} --initial-clients 5 \
         --total-steps 1 --sample-size 5 --limit-rtt 20s {more}"
    ))
}

#[test]
fn a_way_that_is_closed_ends_the_run_with_the_step_and_what_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let (own, another) = (
        Authority::new(folder.path(), "own"),
        Authority::new(folder.path(), "another"),
    );
    let (_secure, port) = own.server();
    let url = format!("wss://localhost:{port}/hub");
    let step = "step 1 of [[open.http]] (POST /login) ";
    echo(folder.path(), &url, &format!("--ca {}", own.ca.display())).exits(0);
    echo(
        folder.path(),
        &url,
        &format!("--ca {}", another.ca.display()),
    )
    .exits(1)
    .says(&[
        step,
        "its certificate is of no authority that is known here",
        "target.ca_file (--ca)",
    ]);

    for (answer, words) in [
        (
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"\u{9b}2J\"\r\n\r\n",
            &[
                "HTTP 407 No",
                "wants authorization",
                "target.proxy (--proxy)",
            ][..],
        ),
        (
            "HTTP/1.1 403 No\r\n\r\n",
            &["HTTP 403 No", "permit CONNECT"],
        ),
        ("SSH-2.0-OpenSSH\r\n", &["is not HTTP"]),
        ("", &["the proxy closed the connection before it answered"]),
    ] {
        let front = Front::start(move |_| Verdict::Refuse(answer.to_owned()));
        let flags = format!("--proxy http://{}", front.addr);
        let ran = echo(folder.path(), "ws://server.invalid/hub", &flags).exits(1);
        assert!(!ran.stderr.contains('\u{9b}'), "{ran:?}");
        ran.says(&[&[step][..], words].concat());
    }
}

#[test]
fn the_flags_of_tls_are_for_the_https_url_of_a_step_beside_a_plain_target() {
    let folder = tempfile::tempdir().unwrap();
    let (own, another) = (
        Authority::new(folder.path(), "own"),
        Authority::new(folder.path(), "another"),
    );
    let (_secure, port) = own.server();
    let (target, _) = start(|asked, _| panic!("{}", asked.line));
    let url = format!("https://localhost:{port}/login");
    let login = format!(
        "[[open.http]]\nurl = \"{url}\"\nbody = '{{\"user\":\"u\",\"password\":\"password of u\"}}'\n"
    );
    let dialect = dialect_file(folder.path(), &file(&login, ECHO));
    let json = folder.path().join("run.json");
    let echo = |flags: &str| {
        run(&format!(
            "echo ws://{target}/ws --dialect {dialect} --initial-clients 4 --total-steps 1 \
             --sample-size 20 --limit-rtt 20s --json {} {flags}",
            json.display()
        ))
    };
    let ca = format!("--ca {}", own.ca.display());
    for flags in [
        ca.clone(),
        format!("{ca} --tls-min 1.3 --processes 2"),
        "--insecure --tls-max 1.2".to_owned(),
    ] {
        echo(&flags).exits(0);
        let record = assert_valid(&json);
        all_with(
            &only_step(&record).http.as_ref().unwrap().steps[0],
            4,
            "200",
        );
    }
    let step = format!("step 1 of [[open.http]] (POST {url}) failed: its certificate");
    echo("").exits(1).says(&[&step]);
    echo(&format!("--ca {}", another.ca.display()))
        .exits(1)
        .says(&[&step, "target.ca_file (--ca)"]);
    // The name that is asked for is that of a wss:// target.
    echo(&format!("{ca} --sni localhost"))
        .exits(1)
        .says(&["--sni is about TLS", "not a wss:// URL"]);

    let plain = file(&login.replace("https://", "http://"), ECHO);
    let plain = dialect_file(folder.path(), &plain);
    run(&format!(
        "echo ws://{} --dialect {plain} --insecure",
        no_listener()
    ))
    .exits(1)
    .says(&[
        "--insecure is about TLS",
        "no request of the dialect file is https",
    ]);
}
