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
    Mqtt::new(version, workload, Body::new(padding.to_owned()))
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
    assert_eq!(echo.open(None), Opening::SendAsIs(connect));
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
    assert_eq!(five.open(None), Opening::SendAsIs(connect));
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
    let part = codec(Version::V3, Workload::Echo, "").parse(b"\x30\x7f\0");
    assert!(part.unwrap_err().0.contains("are not put together"));
}

proptest! {
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
