//! Files in bytes.

mod refused;

use super::super::{check_dialect, read_dialect};
use super::*;

const PROTOBUF: &str = r#"
name = "protobuf"
summary = "A chat."
opcode = "binary"
form = "hex"

[open]
send = '1a {length:varint}( "bench " {client} )'

[[open.receive]]
means = "ready"
at = { "0" = "22", "-1" = "ff" }

[send]
echo = '2a {length:varint}( 09 {stamp:le8} 12 {length:varint}( {padding} ) )'

[[receive]]
means = "echo"
pattern = '2a {length:varint}( 09 {stamp:le8} 12 {length:varint}( {padding} ) )'
example = '2a {length:varint}( 09 {stamp:le8} 12 {length:varint}( {padding} ) )'
"#;

const ECHO: &str = r#"
name = "bytes"
summary = "Echoes."
opcode = "binary"
form = "hex"

[send]
echo = '01 {stamp:be8} {padding}'

[[receive]]
means = "echo"
pattern = '01 {stamp:be8} {padding}'
example = '01 {stamp:be8} {padding}'
"#;

fn codec_of(text: &str, padding: u32) -> std::sync::Arc<dyn Codec> {
    check_dialect(&read_dialect(text).unwrap()).unwrap();
    unproven(text, padding)
}

/// Of a file whose rules may not understand their own examples.
fn unproven(text: &str, padding: u32) -> std::sync::Arc<dyn Codec> {
    let file = read_dialect(text).unwrap();
    codec_of_all(&crate::test_plan("ws://h/").with(|plan| {
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(file));
        plan.message.padding = padding;
    }))
}

fn written(codec: &dyn Codec, stamp: u64, variables: &dyn Variables) -> Vec<u8> {
    let mut out = Vec::new();
    codec.request(Workload::Echo, 0, stamp, variables, &mut out);
    out
}

struct Client;

impl Variables for Client {
    fn write(&self, name: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(match name {
            "sequence" => b"300",
            "client" => b"7",
            _ => b"\xff\x00",
        });
    }
}

#[test]
fn lengths_count_what_they_enclose() {
    let codec = codec_of(PROTOBUF, 3);
    let request = written(&*codec, 0x0102, &NoVariables);
    assert_eq!(request, b"\x2a\x0e\x09\x02\x01\0\0\0\0\0\0\x12\x03123");
    assert_eq!(codec.parse(&request), message(Kind::Echo, 0x0102, true));
    let mut changed = request.clone();
    changed[14] = b'!';
    assert_eq!(codec.parse(&changed), message(Kind::Echo, 0x0102, false));
    // A group that does not fit is no match.
    for wrong in [0, 1, 9, 12] {
        let mut wrong_length = request.clone();
        wrong_length[1] = wrong;
        assert!(codec.parse(&wrong_length).is_err());
        let mut inner = request.clone();
        inner[12] = wrong;
        assert!(codec.parse(&inner).is_err());
    }
    assert!(codec.parse(&[&request[..], b"1"].concat()).is_err());
    assert!(codec.parse(b"").is_err());
    assert_eq!(codec.stamp_form(), StampForm::Little);
}

#[test]
fn a_length_of_what_differs_is_counted_for_each_message() {
    let text = ECHO.replace(
        "echo = '01 {stamp:be8}",
        "echo = '02 {length}\"\\r\\n\"( {token} {length:le2}( {sequence} ) {sequence:varint} {client:be4} \
         {number:le4} ) 03 {stamp:be8}",
    );
    let request = written(&*codec_of(&text, 0), 41, &Client);
    let inside = b"\xff\x00\x03\x00300\xac\x02\x00\x00\x00\x07\x2a\x00\x00\x00";
    let mut due = format!("\u{2}{}\r\n", inside.len()).into_bytes();
    due.extend(inside);
    due.extend(b"\x03\0\0\0\0\0\0\0\x29");
    assert_eq!(request, due);
}

#[test]
fn the_exchange_is_in_bytes() {
    let codec = codec_of(PROTOBUF, 0);
    let Opening::Fill(fill) = codec.open(None) else {
        panic!("something is open in it");
    };
    assert_eq!(fill.message(&Client), b"\x1a\x07bench 7");
    assert_eq!(codec.opened(b"\x22 welcome \xff", None), Opening::Ready);
    for other in [&b"\x22 welcome"[..], b"\x21\xff", b""] {
        assert!(matches!(codec.opened(other, None), Opening::Refused(_)));
    }
}

#[test]
fn what_is_told_is_kept_as_bytes() {
    let text = format!(
        "{}\n{}",
        ECHO.replace("echo = '01", "echo = '02 {id} 01"),
        "[[open.receive]]\nmeans = \"ready\"\npattern = '07 {id:3} {any}'"
    );
    let codec = codec_of(&text, 0);
    let told = codec.captured(b"\x07\xff\x00\x80 and more");
    assert_eq!(told, [("id".to_owned(), b"\xff\x00\x80".to_vec())]);
    assert_eq!(codec.captured(b"\x07\xff"), []);
    assert_eq!(written(&*codec, 1, &Client)[..4], *b"\x02\xff\x00\x01");
}

#[test]
fn the_answer_to_a_keep_alive_repeats_bytes() {
    let keep_alive = "[[receive]]\nmeans = \"keep-alive\"\npattern = '09 {id:4} {text} 00 {n:varint}'\n\
                      send = '0a {n} {length:be1}( {text} ) {id}'";
    let codec = codec_of(&format!("{ECHO}\n{keep_alive}"), 0);
    let asked = codec.parse(b"\x09\xff\x00\x01\x02abc\x00\x80\x01");
    let answer = b"\x0a\x80\x01\x03abc\xff\x00\x01\x02";
    assert_eq!(asked, Ok(Incoming::Question(answer[..].into())));
    let fixed =
        "[[receive]]\nmeans = \"keep-alive\"\ntext = '\"PING\\r\\n\"'\nsend = '\"PONG\\r\\n\"'";
    let codec = codec_of(&format!("{ECHO}\n{fixed}"), 0);
    let asked = codec.parse(b"PING\r\n");
    assert_eq!(asked, Ok(Incoming::KeepAlive(b"PONG\r\n"[..].into())));
}

#[test]
fn a_feed_is_numbered_and_dated_in_bytes() {
    let feed = "[[receive]]\nmeans = \"feed\"\n\
                pattern = '05 {sequence:be4} {sent_at:le8} {length:be1}( {key} ) {any}'\nsent_unit = \"us\"";
    let codec = codec_of(&format!("{ECHO}\n{feed}"), 0);
    let number = |message: &[u8]| match codec.parse(message) {
        Ok(Incoming::Feed(FeedMessage {
            number: Said::This(number),
            sent_ns: Said::This(sent_ns),
        })) => (number.sequence, number.number, sent_ns),
        other => panic!("{other:?}"),
    };
    let first = number(b"\x05\x00\x00\x01\x02\x07\0\0\0\0\0\0\0\x02ab!!");
    assert_eq!((first.1, first.2), (258, 7000));
    let second = number(b"\x05\x00\x00\x00\x01\x07\0\0\0\0\0\0\0\x02ac");
    assert_ne!(first.0, second.0);
}

#[test]
fn messages_stand_behind_their_length_or_show_their_end() {
    let with = |key: &str| ECHO.replace("form = \"hex\"", &format!("form = \"hex\"\n{key}"));
    let codec = codec_of(&with("length_prefix = \"varint\""), 0);
    assert_eq!(codec.cut(b"\x02ab\x01c"), (&b"ab"[..], &b"\x01c"[..]));
    assert_eq!(codec.cut(b"\x01c"), (&b"c"[..], &b""[..]));
    // One that goes on in the next message of WebSocket is not put together.
    assert_eq!(codec.cut(b"\x03ab"), (&b"\x03ab"[..], &b""[..]));

    let text = with("packed = true").replace(
        "pattern = '01 {stamp:be8} {padding}'",
        "pattern = '01 {stamp:be8} {padding} 0a'",
    );
    let text = text.replace(
        "example = '01 {stamp:be8} {padding}",
        "example = '01 {stamp:be8} {padding} 0a",
    );
    let codec = codec_of(&text, 2);
    let several = b"\x01\0\0\0\0\0\0\0\x0512\x0a\x01\0\0\0\0\0\0\0\x0612\x0a";
    let (first, behind) = codec.cut(several);
    assert_eq!((first.len(), behind.len()), (12, 12));
    assert_eq!(codec.parse(first), message(Kind::Echo, 5, true));
    assert_eq!(codec.cut(behind), (behind, &b""[..]));
    assert!(codec.parse(several).is_err());
    assert_eq!(codec.cut(b"\xff\x0a"), (&b"\xff\x0a"[..], &b""[..]));
}

/// A stamp may be any bytes: an answer whose rule depends on them is not recognised by the bytes around
/// them.
#[test]
fn an_answer_is_learned_only_where_its_stamp_decides_nothing() {
    let learns = |rules: &str, at: &str| {
        let text = ECHO.replace("[[receive]]", &format!("{rules}\n[[receive]]\n{at}"));
        let codec = unproven(&text, 2);
        codec.is_the_same(&written(&*codec, 77, &NoVariables), &(1..9))
    };
    assert!(learns("", ""));
    assert!(learns(
        "[[receive]]\nmeans = \"ignored\"\nprefix = '02'",
        ""
    ));
    assert!(learns(
        "[[receive]]\nmeans = \"ignored\"\ntext = '01 02'",
        ""
    ));
    assert!(learns(
        "[[receive]]\nmeans = \"ignored\"\nat = { \"0\" = \"05\" }",
        ""
    ));
    assert!(learns("", "at = { \"0\" = \"01\", \"-2\" = '\"1\"' }"));
    assert!(!learns(
        "[[receive]]\nmeans = \"ignored\"\npattern = '{any} ff ff ff {any}'",
        ""
    ));
    assert!(!learns(
        "[[receive]]\nmeans = \"ignored\"\nat = { \"8\" = \"00\" }",
        ""
    ));
    assert!(!learns("", "at = { \"1\" = \"b1\" }\n#"));
}
