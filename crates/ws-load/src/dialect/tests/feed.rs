//! What a server sends by itself: what a rule may say of it, and what is read of a message.

use super::super::{FeedMessage, FeedTerms, Said, check_dialect, read_dialect};
use super::*;

const EXCHANGE: &str = r#"
name = "exchange"
summary = "Trades of several symbols, each numbered."

[[receive]]
means = "feed"
when = { "/type" = "trade" }
sequence = "/seq"
key = "/symbol"
sent_at = "/time"
sent_unit = "us"

[[receive]]
means = "feed"
pattern = "T|{key}|{sequence}|{sent_at}|{any}"
sent_unit = "iso"
resumes = true
"#;

fn fed(text: &str) -> std::sync::Arc<dyn Codec> {
    let file = read_dialect(text).unwrap();
    check_dialect(&file).unwrap();
    codec_of_all(&crate::test_plan("ws://h/").with(|plan| {
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(file));
    }))
}

fn read(codec: &dyn Codec, message: &str) -> FeedMessage {
    match codec.parse(message.as_bytes()) {
        Ok(Incoming::Feed(message)) => message,
        other => panic!("{message}: {other:?}"),
    }
}

fn number(of: FeedMessage) -> (u64, u64, bool) {
    match of.number {
        Said::This(of) => (of.sequence, of.number, of.resumes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_says_its_number_its_sequence_and_when_it_was_sent() {
    let codec = fed(EXCHANGE);
    let due = FeedTerms {
        is_numbered: true,
        is_dated: true,
    };
    assert_eq!(codec.feed(), Some(due));
    let one = read(
        &*codec,
        r#"{"type":"trade","seq":7,"symbol":"A","time":1500}"#,
    );
    let (a, seven, resumes) = number(one);
    assert_eq!((seven, resumes), (7, false));
    assert_eq!(one.sent_ns, Said::This(1_500_000));
    let text = read(
        &*codec,
        r#"{"type":"trade","seq":"8","symbol":"A","time":"2"}"#,
    );
    assert_eq!(number(text), (a, 8, false));
    assert_eq!(text.sent_ns, Said::This(2_000));
    let other = read(
        &*codec,
        r#"{"type":"trade","seq":8,"symbol":"B","time":0.5}"#,
    );
    assert_ne!(number(other).0, a);
    assert_eq!(other.sent_ns, Said::This(500));

    let line = read(&*codec, "T|A|12|1970-01-01T00:00:01.5Z|100@3");
    let (of_line, twelve, resumes) = number(line);
    assert_eq!((twelve, resumes), (12, true));
    assert_ne!(of_line, a, "each rule has sequences of its own");
    assert_eq!(line.sent_ns, Said::This(1_500_000_000));
    assert_eq!(
        text.number,
        read(&*codec, r#"{"symbol":"A","seq":8,"type":"trade"}"#).number
    );
    assert_eq!(of(Dialect::Text, "ws://h/", 0).feed(), None);
}

#[test]
fn what_cannot_be_read_is_said_to_be_so() {
    let codec = fed(EXCHANGE);
    for text in [
        r#"{"type":"trade","symbol":"A"}"#,
        r#"{"type":"trade","symbol":"A","seq":-1}"#,
        r#"{"type":"trade","symbol":"A","seq":1.5}"#,
        r#"{"type":"trade","symbol":"A","seq":[1]}"#,
        r#"{"type":"trade","symbol":null,"seq":1}"#,
        r#"{"type":"trade","seq":1}"#,
        "T|A|x|1969-01-01T00:00:00Z|",
    ] {
        let message = read(&*codec, text);
        assert_eq!(message.number, Said::Unreadable, "{text}");
        assert_eq!(message.sent_ns, Said::Unreadable, "{text}");
    }
    for time in ["-5", "1e300", "\"soon\"", "18446744073709551615"] {
        let text = format!(r#"{{"type":"trade","symbol":"A","seq":1,"time":{time}}}"#);
        assert_eq!(read(&*codec, &text).sent_ns, Said::Unreadable, "{time}");
    }
    let bare = fed(&EXCHANGE.replace(
        "sequence = \"/seq\"\nkey = \"/symbol\"\nsent_at = \"/time\"\nsent_unit = \"us\"\n",
        "",
    ));
    let message = read(&*bare, r#"{"type":"trade"}"#);
    assert_eq!(
        (message.number, message.sent_ns),
        (Said::NotAsked, Said::NotAsked)
    );
}

#[test]
fn keys_of_a_feed_have_their_place() {
    let refusal = |from: &str, to: &str| {
        assert!(EXCHANGE.contains(from), "{from}");
        let file = read_dialect(&EXCHANGE.replacen(from, to, 1)).unwrap();
        check_dialect(&file).unwrap_err().to_string()
    };
    let first = "means = \"feed\"\nwhen";
    let ignored = "means = \"ignored\"\nwhen";
    let words = refusal(first, ignored);
    assert!(
        words.contains("`receive[1].key` has no sense without `means = \"feed\"`"),
        "{words}"
    );
    let words = refusal("sequence = \"/seq\"\n", "");
    assert!(
        words.contains("`receive[1].key` has no sense without `sequence"),
        "{words}"
    );
    let words = refusal("sent_at = \"/time\"\n", "");
    assert!(
        words.contains("`receive[1].sent_unit` has no sense without `sent_at"),
        "{words}"
    );
    assert!(words.contains("leave it out"), "{words}");
    let words = refusal("{key}|{sequence}", "{any}|{any}");
    assert!(words.contains("receive[2].resumes"), "{words}");
    let words = refusal("{any}\"", "{volume}\"");
    assert!(
        words.contains("has {volume}, which means nothing in a feed"),
        "{words}"
    );
    let words = refusal("{any}\"", "{stamp}\"");
    assert!(words.contains("receive[2].pattern"), "{words}");
    let words = refusal("key = \"/symbol\"", "key = \"symbol\"");
    assert!(words.contains("receive[1].key"), "{words}");
    let words = refusal("key = \"/symbol\"", "stamp = \"/symbol\"");
    assert!(words.contains("no use for `stamp`"), "{words}");
    let words = refusal("[[receive]]", "[[open.receive]]");
    assert!(words.contains("open.receive[1].means"), "{words}");
    let words = refusal(
        "means = \"feed\"\npattern = \"T|{key}|{sequence}|{sent_at}|{any}\"\nsent_unit = \"iso\"\nresumes = true\n",
        "means = \"ignored\"\ntext = \"x\"\nsequence = \"/seq\"\n",
    );
    assert!(words.contains("receive[2]"), "{words}");
}

#[test]
fn a_feed_alone_needs_no_request_and_is_no_load_of_its_own() {
    let file = read_dialect(EXCHANGE).unwrap();
    assert_eq!(check_dialect(&file), Ok(()));
    let of = |load| {
        crate::test_plan("ws://h/").with(|plan| {
            plan.load = load;
            plan.message.dialect = Dialect::File;
            plan.message.definition = Some(Box::new(file.clone()));
        })
    };
    let words = check_message(&of(plan::Load::closed(1, 1)))
        .unwrap_err()
        .to_string();
    assert!(words.contains("has no `"), "{words}");
}
