//! `wss://` from the command line.

use crate::support::run;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use test_servers::TlsServer;
use ws_proto::accept_for;

/// A server with a certificate of its own for localhost, and that certificate as PEM.
fn server() -> (TlsServer, String) {
    let (config, pem) = config();
    let server = TlsServer::start(([127, 0, 0, 1], 0).into(), config).unwrap();
    (server, pem)
}

pub(crate) fn config() -> (Arc<rustls::ServerConfig>, String) {
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
    (Arc::new(config), issued.cert.pem())
}

/// Completes the upgrade of each connection, sends close_notify, and then sends more bytes.
fn talks_on_after_its_end() -> SocketAddr {
    let (config, _) = config();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let config = Arc::clone(&config);
            thread::spawn(move || end_and_talk_on(stream.unwrap(), config));
        }
    });
    addr
}

fn end_and_talk_on(mut stream: TcpStream, config: Arc<rustls::ServerConfig>) -> Option<()> {
    let mut tls = rustls::ServerConnection::new(config).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        rustls::Stream::new(&mut tls, &mut stream)
            .read_exact(&mut byte)
            .ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let key = head.split_once("Sec-WebSocket-Key: ")?.1.lines().next()?;
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        accept_for(key)
    );
    rustls::Stream::new(&mut tls, &mut stream)
        .write_all(answer.as_bytes())
        .ok()?;
    tls.send_close_notify();
    let mut last = Vec::new();
    tls.write_tls(&mut last).unwrap();
    last.extend([0x17, 3, 3, 0, 4, 1, 2, 3, 4]);
    stream.write_all(&last).ok()?;
    // Open until the client ends it.
    stream.read_to_end(&mut Vec::new()).ok().map(drop)
}

#[test]
fn certificates_are_checked_trusted_by_file_or_waved_through() {
    let (server, pem) = server();
    let start = format!(
        "broadcast wss://localhost:{}/ws -s 20 --step-size 8 --total-steps 1 --limit-rtt 20s",
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

/// Longer than what a TLS session keeps, and as long as the server takes.
#[test]
fn messages_of_any_length_are_echoed() {
    let (server, _) = server();
    let port = server.addr().port();
    for io in ["epoll", "auto"] {
        for (padding, samples) in [(70_000, 20), (plan::MOST_PADDING, 2)] {
            let ran = run(&format!(
                "echo wss://localhost:{port}/ws --insecure --payload-padding {padding} -c 2 \
                 -s {samples} --step-size 2 --total-steps 1 --io {io} --threads 1 \
                 --limit-rtt 20s --sample-timeout 60s"
            ));
            ran.exits(0);
        }
    }
}

#[test]
fn bytes_after_the_end_of_tls_end_the_connection_and_nothing_else() {
    let addr = talks_on_after_its_end();
    for io in ["epoll", "auto"] {
        let end = |command: &str| {
            run(&format!(
                "{command} wss://localhost:{}/ws --insecure --step-size 1 --total-steps 1 --limit-rtt 20s --io {io}",
                addr.port()
            ))
        };
        end("echo").exits(1).says(&["closed the connection"]);
        end("connect --hold 1s").exits(3).says(&["1 disconnected"]);
    }
}
