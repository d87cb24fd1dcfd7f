//! Proxies: those that open a way, and those that do not.

use crate::front::{Front, Verdict};
use crate::support::{Ran, bench, finish, no_listener};
use std::sync::Arc;
use test_servers::TlsServer;

fn through(proxy: &str, url: &str, arguments: &[&str]) -> Ran {
    let all = [
        "echo",
        url,
        "--proxy",
        proxy,
        "-s",
        "60",
        "--step-size",
        "6",
        "--total-steps",
        "1",
    ];
    finish(
        bench()
            .args(all)
            .args(["--limit-rtt", "20s"])
            .args(arguments),
    )
}

fn opening(head: &str) -> Verdict {
    match head.starts_with("CONNECT server.invalid:") {
        true => Verdict::Tunnel("HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n"),
        false => Verdict::Refuse("HTTP/1.1 400 No\r\n\r\n".to_owned()),
    }
}

fn authority(front: &Front) -> String {
    front.addr.to_string()
}

#[test]
fn a_proxy_opens_a_way_on_both_backends_and_in_processes() {
    let front = Front::start(opening);
    let proxy = format!("http://me:p%40ss@{}", authority(&front));
    for more in [&["--io", "epoll"][..], &[], &["--processes", "2"]] {
        through(&proxy, "ws://server.invalid/ws", more).exits(0);
        let heads = front.seen();
        assert_eq!(heads.len(), 6, "{heads:?}");
        for head in heads {
            assert!(
                head.starts_with(
                    "CONNECT server.invalid:80 HTTP/1.1\r\nHost: server.invalid:80\r\n"
                ),
                "{head}"
            );
            assert!(
                head.contains("\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n"),
                "{head}"
            );
        }
    }
    finish(bench().args([
        "connect",
        "ws://server.invalid/ws",
        "--proxy",
        &proxy,
        "--clients",
        "3",
        "--hold",
        "100ms",
    ]))
    .exits(0);
}

#[test]
fn tls_is_spoken_to_the_server_behind_the_proxy() {
    let (config, pem) = crate::tls::config();
    let server = TlsServer::start(([127, 0, 0, 1], 0).into(), Arc::clone(&config)).unwrap();
    let front = Front::before(server.addr(), |_| {
        Verdict::Tunnel("HTTP/1.1 200 OK\r\n\r\n")
    });
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, pem).unwrap();
    let proxy = format!("http://{}", authority(&front));
    let trusting = ["--ca", ca.to_str().unwrap()];
    // The certificate is that of `localhost`: of the name that is asked for, not of the host.
    let named = [&trusting[..], &["--sni", "localhost"]].concat();
    through(&proxy, "wss://server.invalid/ws", &named).exits(0);
    through(&proxy, "wss://server.invalid/ws", &trusting)
        .exits(1)
        .says_in_one_line(&["certificate"]);
}

#[test]
fn proxies_that_open_no_way_end_the_run_with_what_they_said() {
    for (judge, words) in [
        (
            (|_: &str| {
                Verdict::Refuse(
                    "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"\u{9b}2J\"\r\n\r\n"
                        .to_owned(),
                )
            }) as fn(&str) -> Verdict,
            &[
                "the proxy 127.0.0.1:",
                "HTTP 407 No",
                "wants authorization",
                "user and password before the host of target.proxy (--proxy)",
            ][..],
        ),
        (
            |_| Verdict::Refuse("HTTP/1.1 502 Bad\r\n\r\n".to_owned()),
            &["HTTP 502 Bad", "can reach the server"],
        ),
        (
            |_| Verdict::Refuse("HTTP/1.1 200 OK\r\n\r\ngarbage".to_owned()),
            &["7 bytes follow its answer"],
        ),
        (
            |_| Verdict::Refuse("SSH-2.0-OpenSSH\r\n".to_owned()),
            &["is not HTTP"],
        ),
        (
            |_| Verdict::Refuse(String::new()),
            &[
                "the proxy 127.0.0.1:",
                "closed the connection before it answered CONNECT",
            ],
        ),
        (
            |_| Verdict::Endless("X-Header: 0123456789abcdef\r\n"),
            &["is not HTTP"],
        ),
        (
            |_| Verdict::Endless("HTTP/1.1 100 Continue\r\n\r\n"),
            &["longer than", "interim answers"],
        ),
        (
            |_| Verdict::Silence,
            &["was silent before it answered CONNECT", "within 0.3 s"],
        ),
    ] {
        let front = Front::start(judge);
        let proxy = format!("http://{}", authority(&front));
        for io in ["epoll", "auto"] {
            let patience = match words[0].contains("was silent") {
                true => "300ms",
                false => "10s",
            };
            let ran = through(
                &proxy,
                "ws://server.invalid/ws",
                &["--connect-timeout", patience, "--io", io],
            );
            let ran = ran.exits(1);
            assert!(!ran.stderr.contains('\u{9b}'), "{ran:?}");
            ran.says_in_one_line(words);
        }
    }
    let nobody = format!("http://{}", no_listener());
    through(&nobody, "ws://server.invalid/ws", &[])
        .exits(1)
        .says_in_one_line(&["the proxy 127.0.0.1:", "refused the connection"]);
}

/// A gigabyte of header lines, of which a client reads no more than a head may have.
#[test]
fn an_answer_without_an_end_is_given_up() {
    let front = Front::start(|_| {
        Verdict::Refuse(format!(
            "HTTP/1.1 200 OK\r\n{}",
            "X-Header: 0123456789abcdef\r\n".repeat(1 << 20)
        ))
    });
    let proxy = format!("http://{}", authority(&front));
    through(&proxy, "ws://server.invalid/ws", &[])
        .exits(1)
        .says_in_one_line(&["longer than 16384 bytes"]);
}
