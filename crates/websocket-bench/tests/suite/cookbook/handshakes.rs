//! Connections, logging in, and ways to the server.

use super::Case;
use super::servers::{self, TOKEN};
use super::task::{Task, built};
use crate::dialects::Server;
use crate::front::{Front, Verdict};
use crate::shared::Process;
use crate::support::{faulty_server, honest};
use crate::tls_offered;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use test_servers::fault::Fault;

pub(super) const CONNECTIONS: &[Case] = &[
    ("How many connections can my server hold?", how_many),
    ("Ramp up: N new users per second", ramp),
    (
        "Hold idle connections with pings, and read the memory per connection",
        idle,
    ),
    (
        "Subscribe to a market data feed and count the updates",
        feed,
    ),
    ("Does a market data feed skip updates?", numbered_feed),
    ("TLS with a certificate of my own authority", own_authority),
    ("Client certificates (mutual TLS)", client_certificates),
    ("Through an HTTP proxy", proxy),
    ("A server that listens on a Unix socket", unix_socket),
    ("One node behind a load balancer", one_node),
];

pub(super) const LOGINS: &[Case] = &[
    ("Log in with a bearer token", bearer),
    (
        "A different token for each user, from a CSV file",
        token_of_each,
    ),
    ("Log in with a session cookie", cookie),
    ("User and token in the URL", in_the_url),
    (
        "The token as a subprotocol, as browsers send it",
        as_subprotocol,
    ),
    (
        "Log in with the first message, with ids that must rise",
        first_message,
    ),
    ("Log in over HTTP, and connect with a ticket", over_http),
];

fn over_http(task: Task) {
    let server = Server::start("login.js", &[]);
    let addr = server.url.split('/').nth(2).unwrap().parse().unwrap();
    let task = task.at(addr);
    task.holds();
    let step = "step 1 of [[open.http]] (POST /login) was answered 401";
    task.with("password of bob", "another").fails(1, &[step]);
}

fn how_many(task: Task) {
    let server = honest();
    let task = task.at(server.addr());
    task.holds();
    let taken = AtomicU32::new(0);
    let full = Front::start(move |_| match taken.fetch_add(1, Ordering::Relaxed) {
        0..300 => Verdict::Pass(""),
        _ => Verdict::Refuse("HTTP/1.1 503 Full\r\n\r\n".to_owned()),
    });
    task.at(full.addr)
        .fails(3, &["opened       100 of 200", "HTTP 503"]);
}

fn ramp(task: Task) {
    task.at(honest().addr()).holds();
}

/// The server is a process of its own, whose memory nothing else changes.
fn idle(task: Task) {
    let mut command = Command::new(built("liar-server"));
    let server = Process::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let line = server.prints("listening on ");
    let addr = line.trim_start_matches("listening on ").parse().unwrap();
    let task = task.at(addr);
    task.holds();
    let drops = faulty_server(Fault::ResetsAtPing, 3);
    task.at(drops.addr()).fails(3, &["dropped      3 reset"]);
}

fn feed(task: Task) {
    let front = servers::feed();
    let task = task.at(front.addr);
    let all = format!(" {} messages came", 50 * servers::UPDATES);
    let ran = task.holds();
    assert!(ran.stdout.contains(&all), "{ran:#?}");
    task.with("btcusdt@trade", "another")
        .fails(1, &["HTTP 404"]);
}

fn numbered_feed(task: Task) {
    let (whole, skipping) = (servers::trades(None), servers::trades(Some(7)));
    let task = task.at(whole.addr);
    task.holds();
    // Of each symbol, at each client.
    task.at(skipping.addr).fails(
        3,
        &[
            "numbers      100 missing, 100 gaps",
            "100 lost",
            "`sequence`",
        ],
    );
}

fn own_authority(task: Task) {
    let own = tls_offered::Pair::new();
    let server = tls_offered::server_with(&own, tls_offered::BOTH, None);
    std::fs::write(task.path("ca.pem"), own.pem()).unwrap();
    let task = task.with(
        "localhost:8443",
        format!("localhost:{}", server.addr().port()),
    );
    task.holds();
    std::fs::write(task.path("ca.pem"), tls_offered::Pair::new().pem()).unwrap();
    task.fails(1, &["certificate"]);
}

fn client_certificates(task: Task) {
    let [own, client, other] = [(); 3].map(|()| tls_offered::Pair::new());
    let server = tls_offered::server_with(&own, tls_offered::BOTH, Some(&client));
    std::fs::write(task.path("ca.pem"), own.pem()).unwrap();
    client.files(&task.path(""));
    let task = task.with(
        "localhost:8443",
        format!("localhost:{}", server.addr().port()),
    );
    task.holds();
    other.files(&task.path(""));
    task.fails(1, &["nothing was measured"]);
}

fn proxy(task: Task) {
    let proxy = Front::start(|head| {
        let is_right = head.starts_with("CONNECT server.example:80 ")
            && head.contains("\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n");
        match is_right {
            true => Verdict::Tunnel("HTTP/1.1 200 Connection established\r\n\r\n"),
            false => Verdict::Refuse("HTTP/1.1 407 No\r\n\r\n".to_owned()),
        }
    });
    let task = task.with("127.0.0.1:3128", proxy.addr.to_string());
    task.holds();
    task.with("me:secret", "me:wrong").fails(1, &["407"]);
}

fn unix_socket(task: Task) {
    let _server = Front::on_unix(&task.path("chat.sock"));
    task.holds();
}

fn one_node(task: Task) {
    let front = guarded(|head| head.contains("\r\nHost: chat.example"));
    let port = front.addr.port().to_string();
    let task = task.with("chat.example:8080", format!("chat.example:{port}"));
    task.holds();
    assert_eq!(front.seen().len(), 20);
}

/// A server behind a guard that refuses other handshakes with 401.
fn guarded(is_right: impl Fn(&str) -> bool + Send + Sync + 'static) -> Front {
    guarded_with(is_right, "")
}

fn guarded_with(
    is_right: impl Fn(&str) -> bool + Send + Sync + 'static,
    adds: &'static str,
) -> Front {
    Front::start(move |head| match is_right(head) {
        true => Verdict::Pass(adds),
        false => Verdict::Refuse("HTTP/1.1 401 No\r\n\r\n".to_owned()),
    })
}

/// What a handshake has between two texts.
fn between<'h>(head: &'h str, before: &str, after: &str) -> &'h str {
    let (_, rest) = head.split_once(before).unwrap_or_default();
    rest.split_once(after).unwrap_or_default().0
}

fn bearer(task: Task) {
    let front = guarded(|head| between(head, "Authorization: Bearer ", "\r\n") == TOKEN);
    let task = task.at(front.addr);
    task.holds();
    task.with(TOKEN, "pepper").fails(1, &["HTTP 401"]);
}

/// The users of the page's file, and those that came.
fn assert_all_came(front: &Front, user: impl Fn(&str) -> String) {
    let mut came: Vec<String> = front.seen().iter().map(|head| user(head)).collect();
    came.sort();
    assert_eq!(came, ["ann", "bob", "eve"]);
}

fn token_of_each(task: Task) {
    let token = |head: &str| between(head, "Authorization: Bearer sesame-", "\r\n").to_owned();
    let front = guarded(move |head| ["ann", "bob", "eve"].contains(&&*token(head)));
    let task = task.at(front.addr);
    task.holds();
    assert_all_came(&front, token);
    task.with("sesame-eve", "pepper").fails(1, &["HTTP 401"]);
}

fn cookie(task: Task) {
    let front = guarded(|head| {
        between(head, "Cookie: ", "\r\n") == "session=sesame"
            && between(head, "Origin: ", "\r\n").starts_with("http://127.0.0.1:")
    });
    let task = task.at(front.addr);
    task.holds();
    task.with("SESSION=sesame", "SESSION=pepper")
        .fails(1, &["HTTP 401"]);
}

fn in_the_url(task: Task) {
    let user = |head: &str| between(head, "GET /ws/", "?").to_owned();
    let front =
        guarded(move |head| between(head, "?token=", " HTTP") == format!("sesame-{}", user(head)));
    let task = task.at(front.addr);
    task.holds();
    assert_all_came(&front, user);
    task.with("eve,", "eva,").fails(1, &["HTTP 401"]);
}

fn as_subprotocol(task: Task) {
    let is_right = |head: &str| head.contains("chat.v1") && head.contains("bearer.sesame");
    let adds = "Sec-WebSocket-Protocol: chat.v1\r\n";
    let front = guarded_with(is_right, adds);
    let task = task.at(front.addr);
    task.holds();
    task.at(guarded(is_right).addr).fails(1, &["subprotocol"]);
}

fn first_message(task: Task) {
    let task = task.at(servers::login());
    task.holds();
    task.with("sesame\n", "pepper\n")
        .fails(1, &["the server does not know the token"]);
}
