use super::*;
use crate::dialect::NoVariables;
use proptest::prelude::*;

const VERSIONS: [Version; 2] = [Version::V3, Version::V5];

/// The number of a client.
struct Client(&'static str);

impl Variables for Client {
    fn write(&self, name: &str, out: &mut Vec<u8>) {
        assert_eq!(name, "client");
        out.extend_from_slice(self.0.as_bytes());
    }
}

fn codec(version: Version, workload: Workload, padding: &str) -> Mqtt {
    with_qos(version, workload, padding, 0)
}

fn with_qos(version: Version, workload: Workload, padding: &str, qos: u8) -> Mqtt {
    let message = plan::Message {
        padding: padding.len() as u32,
        mqtt: Some(plan::MqttTerms {
            subscribe_qos: qos,
            username: (qos == 1).then(|| "user-{client}".to_owned()),
            password: (qos == 1).then(|| "{password}".to_owned()),
            client_id: (qos == 1).then(|| "c{client}".to_owned()),
        }),
        ..plan::Message::default()
    };
    let terms = Terms::new(&message, None);
    Mqtt::new(version, workload, Body::new(padding.to_owned()), terms)
}

fn message(kind: Kind, stamp: u64, topic: Option<u32>) -> Result<Incoming, Malformed> {
    Ok(Incoming::Message {
        kind,
        stamp,
        intact: true,
        topic,
    })
}

#[test]
fn packets_are_laid_out_as_the_standards_say() {
    let echo = codec(Version::V3, Workload::Echo, "xy");
    let connect = b"\x10\x0c\0\x04MQTT\x04\x02\0\x3c\0\0".to_vec();
    assert_eq!(echo.open(None), Opening::Introduce);
    let introduced = echo.introduction(&NoVariables);
    assert_eq!(introduced, Opening::SendAsIs(connect));
    let own = b"\x82\x1b\0\x01\0\x16websocket-bench/echo/7\0";
    assert_eq!(echo.own_subscription(7), own);
    let mut out = Vec::new();
    echo.request(Workload::Echo, 0, 0x0102, &Client("7"), &mut out);
    assert_eq!(
        out,
        b"\x30\x22\0\x16websocket-bench/echo/7\0\0\0\0\0\0\x01\x02xy"
    );
    assert_eq!(echo.parse(&out), message(Kind::Echo, 0x0102, None));

    let five = codec(Version::V5, Workload::Rooms, "");
    let connect = b"\x10\x0d\0\x04MQTT\x05\x02\0\x3c\0\0\0".to_vec();
    let introduced = five.introduction(&NoVariables);
    assert_eq!(introduced, Opening::SendAsIs(connect));
    let leave = b"\xa2\x1b\0\x04\0\0\x16websocket-bench/room-3".to_vec();
    assert_eq!(five.subscription(3, false, &NoVariables), Some(leave));
    out.clear();
    five.request(Workload::Rooms, 3, 0x0102, &NoVariables, &mut out);
    let publish = b"\x32\x23\0\x16websocket-bench/room-3\x01\x03\0\0\0\0\0\0\0\x01\x02";
    assert_eq!(out, publish);
}

#[test]
fn a_client_is_ready_when_the_broker_has_confirmed_its_subscription() {
    for (version, connected, subscribed) in [
        (Version::V3, &b"\x20\x02\0\0"[..], &b"\x90\x03\0\x01\0"[..]),
        (
            Version::V5,
            b"\x20\x06\0\0\x03\x21\0\x14",
            b"\x90\x04\0\x01\0\0",
        ),
    ] {
        let echo = codec(version, Workload::Echo, "");
        assert_eq!(echo.opened(connected, None), Opening::SubscribeToOwn);
        assert_eq!(echo.opened(subscribed, None), Opening::Ready);
        let all = codec(version, Workload::Broadcast, "");
        let Opening::SendAsIs(subscribe) = all.opened(connected, None) else {
            panic!("no subscription");
        };
        assert!(subscribe.ends_with(b"websocket-bench/all\0"));
        let rooms = codec(version, Workload::Rooms, "");
        let asked = rooms.subscription(0, true, &NoVariables).unwrap();
        assert_eq!(rooms.opened(connected, Some(0)), Opening::SendAsIs(asked));
        assert_eq!(rooms.opened(subscribed, Some(0)), Opening::Ready);
        assert!(matches!(
            rooms.opened(subscribed, Some(1)),
            Opening::Refused(_)
        ));
        let held = codec(version, Workload::Connect, "");
        assert_eq!(held.opened(connected, None), Opening::Ready);
    }
    let refused = |version, message: &[u8]| {
        let Opening::Refused(words) = codec(version, Workload::Echo, "").opened(message, None)
        else {
            panic!("{message:?}");
        };
        words
    };
    let words = refused(Version::V3, b"\x20\x02\0\x05");
    assert!(
        words.contains("0x05: it does not let clients in"),
        "{words}"
    );
    let words = refused(Version::V5, b"\x90\x04\0\x01\0\x87");
    assert!(
        words.contains("the subscription, with code 0x87"),
        "{words}"
    );
    let words = refused(Version::V3, b"hello");
    assert!(words.starts_with("not MQTT: `hello`"), "{words}");
}

#[test]
fn answers_without_a_stamp_name_the_identifier() {
    let v3 = codec(Version::V3, Workload::Broadcast, "");
    let v5 = codec(Version::V5, Workload::Broadcast, "");
    let acknowledged = Ok(Incoming::Acknowledged(0x0102));
    assert_eq!(v3.parse(b"\x40\x02\x01\x02"), acknowledged);
    for form in [
        &b"\x40\x02\x01\x02"[..],
        b"\x40\x03\x01\x02\x10",
        b"\x40\x04\x01\x02\0\0",
    ] {
        assert_eq!(v5.parse(form), acknowledged);
    }
    assert_eq!(v5.parse(b"\x40\x03\x01\x02\x97"), Ok(Incoming::Refused));
    assert_eq!(v5.parse(b"\xe0\x01\x93"), Ok(Incoming::Refused));
    assert_eq!(v3.parse(b"\xb0\x02\0\x09"), Ok(Incoming::UnsubscribedAs(9)));
    let left = Ok(Incoming::UnsubscribedAs(9));
    assert_eq!(v5.parse(b"\xb0\x04\0\x09\0\x11"), left);
    assert_eq!(v3.parse(b"\xd0\0"), Ok(Incoming::Heartbeat));
    // An identifier is never 0, and follows from the number of the request.
    assert_eq!(
        (identifier(0), identifier(0xFFFE), identifier(0xFFFF)),
        (1, 0xFFFF, 1)
    );
}

#[test]
fn what_is_cut_wrong_is_malformed() {
    for message in [
        &b""[..],
        b"\x30",
        // A length of five bytes, and one beyond the message.
        b"\x30\x80\x80\x80\x80\x01",
        b"\x30\x7f\0\x01a",
        // A topic and properties beyond the packet, and no stamp.
        b"\x30\x04\0\x09ab",
        b"\x30\x18\0\x13websocket-bench/all\x09\0",
        b"\x30\x16\0\x13websocket-bench/all\0",
        // Another topic; QoS 1; retained.
        b"\x30\x0c\0\x01x\0\0\0\0\0\0\0\0\0",
        b"\x32\x0c\0\x01x\0\0\0\0\0\0\0\0\0",
        b"\x31\x0c\0\x01x\0\0\0\0\0\0\0\0\0",
        // A SUBACK of two topics, and one with QoS 1.
        b"\x90\x05\0\x01\0\0\0",
        b"\x90\x04\0\x01\0\x01",
        b"\x40\x05\0\x01\0\0\0",
        b"\xb0\x02\0\x01",
        b"\x20\x03\0\0\0",
    ] {
        let five = codec(Version::V5, Workload::Broadcast, "");
        assert!(five.parse(message).is_err(), "{message:?}");
    }
    let echo = codec(Version::V3, Workload::Echo, "");
    let long = b"\x30\xff\xff\x03\0";
    assert!(!echo.goes_on(long));
    let part = echo.parse(long).unwrap_err();
    assert!(
        part.0.contains("is longer than any that is due"),
        "{}",
        part.0
    );
}

/// Values of a row of the data file.
struct Row;

impl Variables for Row {
    fn write(&self, name: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(match name {
            "client" => b"7",
            "password" => "s\u{e9}".as_bytes(),
            name => panic!("{name}"),
        });
    }
}

#[test]
fn connect_says_who_the_client_is() {
    let all = with_qos(Version::V3, Workload::Broadcast, "", 1);
    let connect = b"\x10\x1b\0\x04MQTT\x04\xc2\0\x3c\0\x02c7\0\x06user-7\0\x03s\xc3\xa9".to_vec();
    let mut five = connect.clone();
    (five[1], five[8]) = (0x1c, 5);
    five.insert(12, 0);
    assert_eq!(all.introduction(&Row), Opening::SendAsIs(connect));
    let all = with_qos(Version::V5, Workload::Broadcast, "", 1);
    assert_eq!(all.introduction(&Row), Opening::SendAsIs(five));

    struct Long;
    impl Variables for Long {
        fn write(&self, _: &str, out: &mut Vec<u8>) {
            out.resize(0x1_0000, b'x');
        }
    }
    let Opening::Refused(words) = all.introduction(&Long) else {
        panic!("it is sent");
    };
    assert!(words.starts_with("message.mqtt.username has more than 65535 bytes"));
    let Opening::Refused(words) = all.opened(b"\x20\x03\0\x86\0", None) else {
        panic!("it is let in");
    };
    assert!(
        words.contains("it does not take message.mqtt.username"),
        "{words}"
    );
}

#[test]
fn deliveries_with_qos_1_are_acknowledged() {
    for version in VERSIONS {
        let all = with_qos(version, Workload::Broadcast, "xy", 1);
        let mut sent = Vec::new();
        all.request(Workload::Broadcast, 0, 7, &NoVariables, &mut sent);
        for first in [0x32, 0x3a] {
            sent[0] = first;
            assert_eq!(all.parse(&sent), message(Kind::Broadcast, 7, None));
            let [high, low] = identifier(7).to_be_bytes();
            let acknowledgement = all.acknowledgement(&sent);
            assert_eq!(acknowledgement.as_deref(), Some(&[0x40, 2, high, low][..]));
        }
        for first in [0x30, 0x33, 0x34] {
            sent[0] = first;
            assert!(all.parse(&sent).is_err(), "{first:#x}");
            assert_eq!(all.acknowledgement(&sent), None);
        }
        let Opening::SendAsIs(subscribe) = all.opened(b"\x20\x03\0\0\0", None) else {
            assert_eq!(version, Version::V3);
            continue;
        };
        assert!(subscribe.ends_with(b"websocket-bench/all\x01"));
    }
    let all = with_qos(Version::V3, Workload::Broadcast, "", 1);
    assert_eq!(
        all.parse(b"\x90\x03\0\x01\x01"),
        Ok(Incoming::SubscribedAs(1))
    );
    let granted = all.parse(b"\x90\x03\0\x01\0").unwrap_err().0;
    assert!(
        granted.contains("than what was asked for, which is QoS 1"),
        "{granted}"
    );
    assert!(
        all.parse(b"\x32\x1f\0\x13websocket-bench/all\0\0\0\0\0\0\0\0\0\x01")
            .is_err()
    );
}

proptest! {
    /// Law: a packet that is cut anywhere goes on, and a whole one does not.
    #[test]
    fn a_beginning_of_a_packet_goes_on(padding in "[a-z]{0,300}", at: prop::sample::Index) {
        let all = codec(Version::V3, Workload::Broadcast, &padding);
        let mut sent = Vec::new();
        all.request(Workload::Broadcast, 0, 7, &NoVariables, &mut sent);
        prop_assert!(!all.goes_on(&sent));
        let (begun, _) = sent.split_at(1 + at.index(sent.len() - 1));
        prop_assert!(all.goes_on(begun));
        prop_assert_eq!(all.cut(begun), (begun, &[][..]));
    }
    /// Law: packets in one message are the packets that it was made of, in their order.
    #[test]
    fn packets_that_come_together_are_told_apart(
        stamps in proptest::collection::vec(any::<u64>(), 1..6),
        padding in "[a-z]{0,300}",
        five: bool,
    ) {
        let codec = codec(VERSIONS[usize::from(five)], Workload::Broadcast, &padding);
        let mut all = Vec::new();
        for stamp in &stamps {
            codec.request(Workload::Echo, 0, *stamp, &Client("12"), &mut all);
        }
        let mut rest = &all[..];
        for stamp in &stamps {
            let (first, behind) = codec.cut(rest);
            prop_assert_eq!(codec.parse(first), message(Kind::Echo, *stamp, None));
            rest = behind;
        }
        prop_assert!(rest.is_empty());
    }

    /// Law: whatever is cut makes the message again, each cut takes something, and nothing panics.
    #[test]
    fn any_bytes_are_cut_and_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for version in VERSIONS {
            let codec = codec(version, Workload::Broadcast, "");
            let mut rest = &bytes[..];
            let mut again = Vec::new();
            while !rest.is_empty() {
                let (first, behind) = codec.cut(rest);
                prop_assert!(!first.is_empty());
                again.extend_from_slice(first);
                let _ = (codec.parse(first), codec.opened(first, Some(1)));
                rest = behind;
            }
            prop_assert_eq!(&again, &bytes);
        }
    }
}
