//! Laws of the reader of MQTT packets on any bytes.
//!
//! It ends and does not panic. The packets that a message is cut into are the message. One that it calls
//! an intact answer is a PUBLISH with the QoS of the subscription to a topic of that kind, whose end is the stamp and the
//! padding; the lengths are read here once more, byte by byte.

use ws_load::for_fuzzing::{PADDING, mqtt_packets};

/// Any message. Returns the kinds of the intact answers in it, for version 3.1.1 and then for 5, with
/// QoS 0 and then with QoS 1.
pub(crate) fn check(data: &[u8]) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    for (is_5, qos) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
        let packets = mqtt_packets(data, is_5, qos);
        let parts: Vec<&[u8]> = packets.iter().map(|(packet, _)| *packet).collect();
        assert_eq!(parts.concat(), data, "what is cut is the message");
        assert!(parts.iter().all(|part| !part.is_empty()));
        for (packet, answer) in packets {
            let Some((stamp, kind)) = answer else {
                continue;
            };
            kinds.push(kind);
            let first: &[u8] = if qos == 0 { &[0x30] } else { &[0x32, 0x3A] };
            assert!(
                first.contains(&packet[0]),
                "a PUBLISH with QoS {qos}: {packet:?}"
            );
            let mut at = 1;
            let length = length_at(packet, &mut at);
            assert_eq!(at + length, packet.len(), "{packet:?}");
            let topic = usize::from(packet[at]) << 8 | usize::from(packet[at + 1]);
            let name = &packet[at + 2..at + 2 + topic];
            at += 2 + topic;
            let name = std::str::from_utf8(name).expect("a topic is UTF-8");
            let begins = match kind {
                "echo" => "websocket-bench/echo/",
                "broadcast" => "websocket-bench/all",
                _ => "websocket-bench/room-",
            };
            assert!(name.starts_with(begins), "{kind}: {name}");
            if qos == 1 {
                assert_ne!(packet[at..at + 2], [0, 0], "an identifier: {packet:?}");
                at += 2;
            }
            if is_5 {
                let properties = length_at(packet, &mut at);
                at += properties;
            }
            let payload = [&stamp.to_be_bytes()[..], PADDING.as_bytes()].concat();
            assert_eq!(&packet[at..], payload, "{packet:?}");
        }
    }
    kinds
}

fn length_at(packet: &[u8], at: &mut usize) -> usize {
    let mut length = 0;
    for shift in [0, 7, 14, 21] {
        let byte = packet[*at];
        *at += 1;
        length += usize::from(byte % 128) << shift;
        if byte < 128 {
            return length;
        }
    }
    panic!("a length of more than four bytes: {packet:?}");
}
