//! The null server keeps the part of the protocol that a yardstick needs.

use crate::support::{Client, connect};
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use test_servers::{NullOptions, NullServer, NullServers};
use ws_proto::{
    DecodeError, Decoder, DeflateOffer, Deflater, Event, Inflater, Opcode, Sender, encode_frame,
    mark_compressed,
};

fn open(addr: SocketAddr) -> Client<TcpStream> {
    Client::upgrade(connect(addr)).unwrap()
}

fn start() -> NullServer {
    NullServer::start(NullOptions::default()).unwrap()
}

#[test]
fn echo_broadcast_and_result_on_both_dialects() {
    let server = start();
    let mut clients: Vec<_> = (0..20).map(|_| open(server.addr())).collect();
    clients[7].text("broadcast", "[1]");
    clients[7].send(Opcode::Binary, b"b\0\0\0\x01x");
    let sent = clients[7].until_echo();
    assert_eq!(
        sent,
        [
            r#"{"type":"broadcast","payload":[1]}"#,
            r#"{"type":"broadcastResult","payload":[1]}"#,
            "b\0\0\0\x01x",
            "r\0\0\0\x01x",
        ]
    );
    clients.remove(7);
    for client in &mut clients {
        assert_eq!(client.until_echo(), [&sent[0][..], &sent[2]]);
    }
}

#[test]
fn pings_fragments_and_close_are_answered() {
    let server = start();
    let mut client = open(server.addr());
    // The fragments of an echo, with a ping between them, all under a mask of zeros.
    let (start, end) = (br#"{"type":"ec"#, br#"ho","payload":1}"#);
    let mut stream = vec![0x01, 0x80 | start.len() as u8, 0, 0, 0, 0];
    stream.extend_from_slice(start);
    stream.extend_from_slice(&[0x89, 0x80, 0, 0, 0, 0]);
    stream.extend_from_slice(&[0x80, 0x80 | end.len() as u8, 0, 0, 0, 0]);
    stream.extend_from_slice(end);
    client.stream.write_all(&stream).unwrap();
    assert_eq!(client.next().unwrap(), "ping or pong");
    assert_eq!(client.next().unwrap(), r#"{"type":"echo","payload":1}"#);
    client.send(Opcode::Close, &[0x03, 0xE8]);
    assert_eq!(client.next().unwrap(), "close [3, 232]");
    assert_eq!(client.next(), Err("end".into()));
}

#[test]
fn a_slow_client_gets_everything_in_order() {
    let server = start();
    let mut slow = open(server.addr());
    let mut sender = open(server.addr());
    let padding = "p".repeat(100_000);
    for n in 0..100 {
        sender.text("broadcast", &format!(r#""{n} {padding}""#));
        // Takes its own copy and the result, so that only the other client falls behind.
        sender.next().unwrap();
        sender.next().unwrap();
    }
    for n in 0..100 {
        let message = slow.next().unwrap();
        assert!(
            message.contains(&format!("\"{n} p")),
            "{n}: {}",
            &message[..60]
        );
    }
}

#[test]
fn raw_echo_sends_anything_back() {
    let server = NullServer::start(NullOptions {
        echo_raw: true,
        ..NullOptions::default()
    })
    .unwrap();
    let mut client = open(server.addr());
    client.send(Opcode::Text, b"no request at all");
    assert_eq!(client.next().unwrap(), "no request at all");
}

#[test]
fn idle_and_half_open_connections_do_no_harm() {
    let server = start();
    let idle: Vec<_> = (0..50).map(|_| connect(server.addr())).collect();
    let mut client = open(server.addr());
    drop(idle);
    client.text("broadcast", "1");
    assert_eq!(client.until_echo().len(), 2);
}

#[test]
fn several_processes_share_a_port_and_end_with_their_owner() {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_null-server"));
    let any = (std::net::Ipv4Addr::LOCALHOST, 0).into();
    let servers = NullServers::start(program, any, true, 3).unwrap();
    let addr = servers.addr();
    for _ in 0..30 {
        let mut client = open(addr);
        client.send(Opcode::Text, b"as it is");
        assert_eq!(client.next().unwrap(), "as it is");
    }
    drop(servers);
    assert!(TcpStream::connect(addr).is_err());
}

#[test]
fn the_raw_echo_has_the_name_that_it_has_at_other_servers() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_null-server"))
        .arg("--raw-echo")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let said = server.stdout.take().unwrap();
    BufReader::new(said).read_line(&mut line).unwrap();
    let addr = line
        .trim_end()
        .strip_prefix("listening on ")
        .map(|addr| addr.parse().unwrap());
    let answer = addr.map(|addr| {
        let mut client = open(addr);
        client.send(Opcode::Text, b"as it is");
        client.next().unwrap()
    });
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(answer.as_deref(), Some("as it is"), "{line}");
}

#[test]
fn compressed_messages_are_answered_in_kind_and_one_frame_fits_all() {
    let server = NullServer::start(NullOptions {
        deflate: true,
        ..NullOptions::default()
    })
    .unwrap();
    let offer = DeflateOffer::default();
    let open = || {
        let mut client = connect(server.addr());
        let key = "dGhlIHNhbXBsZSBub25jZQ==";
        write!(
            client,
            "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\
             Sec-WebSocket-Extensions: {offer}\r\n\r\n"
        )
        .unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let extensions = "Sec-WebSocket-Extensions: ";
        let line = head.lines().find_map(|line| line.strip_prefix(extensions));
        let terms = offer.answered(line).unwrap();
        assert!(terms.client_no_context_takeover && !terms.server_no_context_takeover);
        (client, terms)
    };
    let (mut sender, terms) = open();
    let (mut hearer, _) = open();
    let (mut to_sender, mut to_hearer) = (Vec::new(), Vec::new());
    for number in 0..3 {
        let message = format!(r#"{{"type":"broadcast","payload":{number}}}"#);
        let mut payload = Vec::new();
        Deflater::new(&terms, Sender::Client, 6).deflate(message.as_bytes(), &mut payload);
        let mut frame = Vec::new();
        encode_frame(&mut frame, Opcode::Text, Some([1, 2, 3, 4]), &payload);
        mark_compressed(&mut frame[0]);
        sender.write_all(&frame).unwrap();
        let result = message.replace("broadcast", "broadcastResult");
        to_sender.extend([message.clone(), result]);
        to_hearer.push(message);
    }
    for (client, expected) in [(&mut sender, to_sender), (&mut hearer, to_hearer)] {
        let mut decoder = Decoder::new(Sender::Server, 1 << 20);
        decoder.permit_compressed();
        let mut inflater = Inflater::new(&terms, Sender::Server);
        let mut got = Vec::new();
        while got.len() < expected.len() {
            let mut bytes = [0; 4096];
            let count = client.read(&mut bytes).unwrap();
            assert_ne!(count, 0, "the server closed after {got:?}");
            let fed = decoder.feed_marking(&bytes[..count], |event, mark| {
                let Event::Message { payload, .. } = event else {
                    panic!("{event:?}");
                };
                assert!(mark.compressed);
                let mut message = Vec::new();
                inflater.inflate(payload, 1 << 20, &mut message)?;
                got.push(String::from_utf8(message).unwrap());
                Ok::<_, DecodeError>(())
            });
            fed.unwrap();
        }
        assert_eq!(got, expected);
    }
    let refused = Client::upgrade(connect(server.addr()));
    assert!(refused.is_err(), "a client without an offer was taken");
}
