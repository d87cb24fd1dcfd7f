//! A small broker of MQTT 3.1.1, which cuts each packet at another place into two messages of WebSocket.

use crate::raw_peer::{frame, switching};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use ws_proto::{DecodeError, Decoder, Event, Opcode, Sender, accept_for};

const TOPIC: &[u8] = b"websocket-bench/all";

#[derive(Default)]
pub(crate) struct Broker {
    /// The QoS of the deliveries.
    qos: u8,
    /// The delivery, from 0 on, that is made twice, the second time with DUP.
    twice: Option<u64>,
    deliveries: AtomicU64,
    cuts: AtomicUsize,
    /// PUBACKs of clients.
    acknowledged: AtomicU64,
    subscribers: Mutex<Vec<TcpStream>>,
}

impl Broker {
    /// Starts one whose deliveries have this QoS.
    pub(crate) fn start(qos: u8, twice: Option<u64>) -> (SocketAddr, Arc<Self>) {
        let broker = Arc::new(Self {
            qos,
            twice,
            ..Self::default()
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let of_all = Arc::clone(&broker);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let broker = Arc::clone(&of_all);
                thread::spawn(move || broker.serve(stream.unwrap()));
            }
        });
        (addr, broker)
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::SeqCst)
    }

    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        stream.set_nodelay(true).ok()?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).ok()?;
        let (_, key) = head.split_once("Sec-WebSocket-Key: ")?;
        let accept = accept_for(key.lines().next()?);
        let answer = switching(&accept, "Sec-WebSocket-Protocol: mqtt\r\n");
        stream.write_all(&answer).ok()?;
        let mut decoder = Decoder::new(Sender::Client, 1 << 20);
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let (mut packets, mut is_closed) = (Vec::new(), false);
            decoder
                .feed(&buffer[..count], |event| {
                    match event {
                        Event::Message { payload, .. } => packets.push(payload.to_vec()),
                        Event::Close(_) => is_closed = true,
                        Event::Ping(_) | Event::Pong(_) => {}
                    }
                    Ok::<_, DecodeError>(())
                })
                .ok()?;
            packets.iter().for_each(|packet| self.take(packet, &stream));
            if is_closed {
                return stream.write_all(&frame(Opcode::Close, &[])).ok();
            }
        }
        Some(())
    }

    /// Answers a packet of a client. Each is short: its length has one byte.
    fn take(&self, packet: &[u8], client: &TcpStream) {
        match packet[0] >> 4 {
            1 => self.say(client, &[0x20, 2, 0, 0], &[]),
            8 => {
                let mut subscribers = self.subscribers.lock().unwrap();
                subscribers.push(client.try_clone().unwrap());
                self.say(client, &[0x90, 3, packet[2], packet[3], self.qos], &[]);
            }
            3 => self.publish(packet, client),
            4 => drop(self.acknowledged.fetch_add(1, Ordering::SeqCst)),
            _ => {}
        }
    }

    /// Delivers to all, then confirms it to the publisher.
    fn publish(&self, packet: &[u8], publisher: &TcpStream) {
        let at = 4 + TOPIC.len();
        let (identifier, payload) = packet[at..].split_at(2);
        let subscribers = self.subscribers.lock().unwrap();
        for client in &*subscribers {
            let number = self.deliveries.fetch_add(1, Ordering::SeqCst);
            let own = ((number % 0xFFFF) as u16 + 1).to_be_bytes();
            let own = if self.qos == 0 { &[] } else { &own[..] };
            let topic = &packet[2..at];
            let body = [topic, own, payload].concat();
            let delivery = |flags: u8| {
                let head = [0x30 | flags | self.qos << 1, body.len() as u8];
                [&head[..], &body].concat()
            };
            self.say(client, &delivery(0), &[]);
            if self.twice == Some(number) {
                self.say(client, &delivery(8), &[]);
            }
        }
        let confirmed = [0x40, 2, identifier[0], identifier[1]];
        // Two packets in the messages that the cut makes.
        self.say(publisher, &[0xD0, 0], &confirmed);
    }

    /// Writes packets in two messages; the first is shorter with each cut, down to one byte.
    fn say(&self, mut client: &TcpStream, packet: &[u8], behind: &[u8]) {
        let all = [packet, behind].concat();
        let cut = 1 + self.cuts.fetch_add(1, Ordering::SeqCst) % (all.len() - 1);
        let (one, other) = all.split_at(cut);
        let frames = [one, other].map(|part| frame(Opcode::Binary, part));
        // A client that is gone hears nothing.
        let _ = client.write_all(&frames.concat());
    }
}
