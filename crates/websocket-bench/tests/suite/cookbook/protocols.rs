//! Protocols of frameworks, brokers and others. The servers of some are made with the protocol's own
//! library, or are brokers.

use super::Case;
use super::servers;
use super::task::{SERVER, Task};
use crate::bytes::{self, nats::Nats};
use crate::dialects::go_server::GoServer;
use crate::dialects::mosquitto::Mosquitto;
use crate::dialects::rabbitmq::RabbitMq;
use crate::dialects::soketi::Soketi;
use crate::dialects::{Server, relay};
use std::net::SocketAddr;
use test_servers::skipped;

pub(super) const FRAMEWORKS: &[Case] = &[
    ("Socket.IO: namespace, token and acknowledgement", socket_io),
    (
        "Socket.IO with its default transports: polling, then the upgrade",
        polling,
    ),
    ("Phoenix channels with a heartbeat", phoenix),
    (
        "Action Cable: a channel of a Rails application",
        action_cable,
    ),
    ("SignalR without negotiation", signal_r),
    ("STOMP to Spring's simple broker", spring),
    ("GraphQL subscriptions (graphql-ws)", graphql),
];

pub(super) const BROKERS: &[Case] = &[
    ("STOMP over WebSocket to RabbitMQ", rabbitmq),
    ("MQTT over WebSocket", mqtt),
    (
        "Pusher's protocol (Soketi): client events in a private channel",
        pusher,
    ),
    (
        "Soketi's own benchmark: a backend publishes over HTTP",
        backend,
    ),
    ("Centrifugo", centrifugo),
    (
        "Centrifugo: a backend publishes over HTTP",
        centrifugo_backend,
    ),
    ("NATS over WebSocket", nats),
    ("MQTT with name and password", mqtt_with_users),
    ("WAMP: publish and subscribe", wamp),
    (
        "SignalR with MessagePack and negotiation",
        signal_r_messagepack,
    ),
];

pub(super) const OTHERS: &[Case] = &[
    ("JSON-RPC: the latency of a method", json_rpc),
    ("Protobuf: a chat whose messages are binary", protobuf),
    (
        "A chat that sends every message to everyone and confirms nothing",
        chat,
    ),
    ("OCPP 1.6 charge points", ocpp),
    ("Home Assistant: events", home_assistant),
    ("AWS AppSync Events: a channel of all", appsync),
    (
        "A gateway with heartbeats, as Discord's: a bot creates messages over HTTP",
        gateway,
    ),
    (
        "A language model: the time to the first token, and tokens per second",
        model,
    ),
    ("A session in which users think: log in, list, buy", session),
    ("A mix: nine searches for each purchase", shop),
];

/// A sample whose message was left out is given up.
const GIVE_UP: &str = "--sample-timeout 8s --limit-rtt 7s";

/// The authority of a URL.
fn addr_of(url: &str) -> SocketAddr {
    url.split('/').nth(2).unwrap().parse().unwrap()
}

/// The task of the page holds, and of a message with this mark that is left out it says that it is lost.
fn holds_and_finds_a_loss(task: Task, server: SocketAddr, mark: &'static [u8]) -> Task {
    let task = task.at(server);
    task.holds();
    finds_a_loss(task, server, mark, None)
}

fn finds_a_loss(
    task: Task,
    server: SocketAddr,
    mark: &'static [u8],
    separator: Option<&'static [u8]>,
) -> Task {
    let (between, _) = relay::leaving_out(server, mark, separator, 17);
    let task = task.at(between).more(GIVE_UP);
    task.fails(3, &["1 lost"]);
    task.at(server).more("")
}

fn socket_io(task: Task) {
    let server = Server::start("socketio.js", &[]);
    let task = holds_and_finds_a_loss(task, addr_of(&server.url), b"43/orders,");
    let words = ["the server refused the namespace", "does not open the door"];
    task.with("sesame\n", "pepper\n").fails(1, &words);
}

fn phoenix(task: Task) {
    let task = holds_and_finds_a_loss(task, servers::phoenix(), br#""new_msg""#);
    task.with("sesame\n", "pepper\n")
        .fails(1, &["the channel refused the join"]);
}

fn action_cable(task: Task) {
    let task = holds_and_finds_a_loss(task, servers::action_cable(), br#""body""#);
    task.with("/cable", "/another").fails(1, &["HTTP 401"]);
}

fn signal_r(task: Task) {
    let task = holds_and_finds_a_loss(task, servers::signal_r(), b"ReceiveMessage");
    task.with(r#"\"version\":1"#, r#"\"version\":2"#)
        .more("--connect-timeout 2s")
        .fails(1, &["0 of 30 clients"]);
}

fn spring(task: Task) {
    let task = holds_and_finds_a_loss(task, servers::spring(), b"MESSAGE\n");
    task.with("accept-version:1.2", "accept-version:1.0")
        .fails(1, &["the broker refused the client"]);
}

fn graphql(task: Task) {
    let task = holds_and_finds_a_loss(task, servers::graphql(), br#""news":"#);
    task.with("sesame\n", "pepper\n")
        .fails(1, &["0 of 30 clients"]);
}

fn rabbitmq(task: Task) {
    match RabbitMq::start() {
        Ok(broker) => drop(
            task.with("127.0.0.1:15674", broker.addr().to_string())
                .holds(),
        ),
        Err(reason) => skipped(&reason),
    }
}

fn mqtt(task: Task) {
    match Mosquitto::start() {
        Ok(broker) => {
            let addr = addr_of(broker.url()).to_string();
            drop(task.with("127.0.0.1:9001", addr).holds());
        }
        Err(reason) => skipped(&reason),
    }
}

fn mqtt_with_users(task: Task) {
    match Mosquitto::start_with_users(&[("ann", "pepper-1"), ("bob", "pepper-2")]) {
        Ok(broker) => {
            let addr = addr_of(broker.url()).to_string();
            let task = task.with("127.0.0.1:9001", addr);
            task.holds();
            let refused = ["does not take message.mqtt.username", "0x05"];
            task.with("bob,pepper-2", "bob,pepper-3").fails(1, &refused);
        }
        Err(reason) => skipped(&reason),
    }
}

fn pusher(task: Task) {
    let server = match Soketi::start() {
        Ok(server) => server,
        Err(reason) => return skipped(&reason),
    };
    let task = task.with("127.0.0.1:6001", addr_of(&server.url()).to_string());
    task.holds();
    task.with("the-secret-of-the-application", "another-secret")
        .fails(1, &["the server refused the client"]);
}

fn polling(task: Task) {
    let server = Server::start("socketio.js", &[("TRANSPORTS", "polling,websocket")]);
    let task = task.at(addr_of(&server.url));
    task.holds();
    task.with("2probe", "2prob")
        .more("--connect-timeout 2s")
        .fails(1, &["before it confirmed the subscription"]);
}

/// A shorter hold than that of the page.
fn backend(task: Task) {
    let server = match Soketi::start() {
        Ok(server) => server,
        Err(reason) => return skipped(&reason),
    };
    let task = task
        .with("127.0.0.1:6001", addr_of(&server.url()).to_string())
        .with("publications: 300", "publications: 20")
        .more("--set load.open.duration=2s");
    task.holds();
    // Soketi answers 200 to a wrong signature as well.
    let short =
        "--set load.open.duration=1s --set clients.steps.first=20 --set clients.steps.count=1";
    task.with("the-secret-of-the-application", "another-secret")
        .more(&format!(
            "{short} --set limits.sample_timeout=8s --set limits.time=7s"
        ))
        .fails(
            1,
            &["the server took none", "was answered 200, but `/error` is"],
        );
}

fn centrifugo(task: Task) {
    match GoServer::start("centrifuge") {
        Ok(server) => {
            let addr = addr_of(server.url()).to_string();
            drop(task.with("127.0.0.1:8000", addr).holds());
        }
        Err(reason) => skipped(&reason),
    }
}

fn wamp(task: Task) {
    match GoServer::start("wamp") {
        Ok(router) => drop(holds_and_finds_a_loss(task, addr_of(router.url()), b"[36,")),
        Err(reason) => skipped(&reason),
    }
}

fn signal_r_messagepack(task: Task) {
    let server = match GoServer::start("signalr") {
        Ok(server) => server,
        Err(reason) => return skipped(&reason),
    };
    let task = holds_and_finds_a_loss(task, addr_of(server.url()), b"ReceiveMessage");
    task.with("/connectionToken", "/url")
        .fails(1, &["without `id`"]);
}

fn centrifugo_backend(task: Task) {
    let server = match GoServer::start("centrifuge") {
        Ok(server) => server,
        Err(reason) => return skipped(&reason),
    };
    let place = "127.0.0.1:8000";
    let addr = addr_of(server.url());
    let task = task.with(place, addr.to_string());
    task.holds();
    let task = task.with("the-api-key", "another-key").more(GIVE_UP);
    task.fails(
        1,
        &[
            "the server took none: a publication (POST",
            "was answered 401",
        ],
    );
    let task = task.with("the-api-key", "the-api-key");
    let task = published_beside(task, "/api/publish", addr).with("--sample-size 40", ONE_BY_ONE);
    many_find_a_loss(task, place, addr, b"\"pub\":", Some(b"\n"));
}

/// What is published goes to the server, whatever is between it and the clients.
fn published_beside(task: Task, path: &'static str, server: SocketAddr) -> Task {
    task.with(path, format!("http://{server}{path}"))
}

/// The same with 500 clients of two processes, and of a message that is left out it says that it alone is
/// lost.
fn many_find_a_loss(
    task: Task,
    place: &'static str,
    server: SocketAddr,
    mark: &'static [u8],
    separator: Option<&'static [u8]>,
) {
    let task = task.with("initial-clients 30", "initial-clients 500");
    let task = task.more("--processes 2 --connect-timeout 60s");
    task.fails(0, &["carried within the limit: 500 clients"]);
    let (between, _) = relay::leaving_out(server, mark, separator, 777);
    let task = task.with(place, between.to_string());
    let task = task.more(&format!("--connect-timeout 60s {GIVE_UP}"));
    task.fails(3, &["at fault: 1 lost"]);
}

/// Fewer requests for 500 clients, one at a time.
const ONE_BY_ONE: &str = "--sample-size 10 --concurrent 1";

fn home_assistant(task: Task) {
    let server = Server::start("home-assistant.js", &[]);
    let place = "127.0.0.1:8123";
    let addr = addr_of(&server.url);
    let task = task.with(place, addr.to_string());
    task.holds();
    task.with("sesame\n", "pepper\n").fails(
        1,
        &["the server does not know the token: Invalid access token"],
    );
}

/// What becomes of the file for AppSync where events are published over HTTP.
const OVER_HTTP: [(&str, &str); 2] = [
    (
        "[send]\nbroadcast = '",
        "[send.http]\nurl = \"/event\"\nheaders = { x-api-key = \"{key}\" }\nbody = '",
    ),
    (
        r#"means = "result"
when = { "/type" = "publish_success", "/failed" = { length = 0 } }
stamp = "/id"
example = '{"type":"publish_success","id":"{stamp}","successful":[{"index":0}],"failed":[]}'"#,
        r#"means = "ignored"
when = { "/type" = "publish_success" }"#,
    ),
];

fn appsync(task: Task) {
    let server = Server::start("appsync.js", &[]);
    let addr = addr_of(&server.url);
    let task = task.at(addr);
    task.holds();
    let task = task.with("da2-sesame", "da2-pepper");
    let words = "the server refused the client: You are not authorized to make this call.";
    task.fails(1, &[words]);
    let task = task.with("da2-sesame", "da2-sesame");
    let with = |task: Task, (of_page, text)| task.with(of_page, text);
    let task = OVER_HTTP.into_iter().fold(task, with);
    task.fails(0, &["publications: 40 requests", "(1200 samples)"]);
    let back = OVER_HTTP.map(|(of_page, _)| (of_page, of_page));
    let task = back.into_iter().fold(task, with);
    let task = task.with("--sample-size 40", ONE_BY_ONE);
    many_find_a_loss(task, SERVER, addr, b"\"data\"", None);
}

/// Keeps the number of a message in the gateway's file.
const LAST: &str = "capture = { s = \"/s\" }\npayload";

fn gateway(task: Task) {
    let server = Server::start("gateway.js", &[("INTERVAL", "2000"), ("GRACE", "60000")]);
    let addr = addr_of(&server.url);
    let task = task.at(addr);
    task.holds();
    let task = task.with("sesame\n", "pepper\n");
    task.fails(1, &["4004 \"Authentication failed\""]);
    // One whose beats say each time what it was told first.
    let task = task.with("sesame\n", "sesame\n").with(LAST, "payload");
    task.fails(3, &["4007 \"Invalid seq\""]);
    let task = task.with(LAST, LAST);
    // One that takes the interval for seconds.
    let hasty = Server::start("gateway.js", &[("INTERVAL", "1000"), ("GRACE", "0")]);
    let task = task
        .at(addr_of(&hasty.url))
        .with("{interval}ms", "{interval}s");
    task.fails(3, &["4009 \"Session timed out\""]);
    let task = task.at(addr).with("{interval}ms", "{interval}ms");
    let task = published_beside(task, "/api/v10/channels/42/messages", addr);
    let task = task.with("--rate 10", "--rate 2");
    many_find_a_loss(task, SERVER, addr, b"MESSAGE_CREATE", None);
}

fn nats(task: Task) {
    let server = match Nats::start() {
        Ok(server) => server,
        Err(reason) => return skipped(&reason),
    };
    let place = "127.0.0.1:9222";
    let addr = addr_of(&server.url);
    let task = task.with(place, addr.to_string());
    task.holds();
    let (between, _) = relay::leaving_out(addr, b"MSG all 1 ", None, 17);
    let task = task.with(place, between.to_string()).more(GIVE_UP);
    task.fails(3, &["1 lost"]);
    // A subscription without a number.
    task.with(place, addr.to_string())
        .with("SUB all 1", "SUB")
        .more("--connect-timeout 2s")
        .fails(1, &["the server refused the client"]);
}

fn protobuf(task: Task) {
    let server = bytes::server("protobuf.js");
    holds_and_finds_a_loss(task, addr_of(&server.url), b"\x12\x641234567890");
}

fn json_rpc(task: Task) {
    let task = holds_and_finds_a_loss(task, servers::json_rpc("eth_getBalance"), b"\"result\"");
    let other = servers::json_rpc("eth_chainId");
    task.at(other).more(GIVE_UP).fails(3, &["50 refused"]);
}

fn chat(task: Task) {
    holds_and_finds_a_loss(task, servers::chat("text"), b"\"text\"");
}

fn ocpp(task: Task) {
    let server = servers::central_system();
    let task = task.at(server);
    task.holds();
    // A charge point that answers with another identifier than the call had.
    let wrong = task.with("[3,{id},", "[3,\"{id}-\",");
    wrong.more(GIVE_UP).fails(3, &["timed out"]);
}

fn model(task: Task) {
    holds_and_finds_a_loss(task, servers::model(), br#""index":2"#);
}

fn session(task: Task) {
    let task = task.at(servers::session(false));
    task.holds();
    task.at(servers::session(true)).fails(3, &["malformed"]);
}

fn shop(task: Task) {
    let task = task.at(servers::shop(false));
    task.holds();
    task.at(servers::shop(true)).fails(3, &["corrupt"]);
}
