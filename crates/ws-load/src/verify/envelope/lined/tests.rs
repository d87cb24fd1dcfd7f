use super::super::{Envelopes, Shape};
use crate::dialect::{Codec, Incoming, Kind, NoVariables, Stamps, codec, read_dialect};
use crate::lines::Lines;
use plan::{Audience, Dialect, Plan, Workload};
use proptest::prelude::*;
use std::io::Write as _;
use std::sync::Arc;

const OWN: &str = r#"
name = "own"
summary = "Names of a user's own."

[send]
echo = '{"ask":"{line}","id":"{stamp}"}'
broadcast = '{"all":"{stamp}","text":"{line}"}'

[[receive]]
means = "echo"
when = { "/ask" = { is = ["string"] } }
stamp = "/id"
line = "/ask"
example = '{"ask":"{line}","id":"{stamp}"}'

[[receive]]
means = "delivery"
when = { "/kind" = "all" }
stamp = "/all"
line = "/text"
example = '{"kind":"all","text":"{line}","all":"{stamp}"}'

[[receive]]
means = "result"
when = { "/kind" = "done" }
stamp = "/all"
example = '{"kind":"done","all":"{stamp}"}'
"#;

/// Names of dialects in which an echo comes back as it was sent, but for those of Phoenix and Action
/// Cable.
const SAME: [&str; 6] = ["text", "binary", "mqtt", "lines", "own", "nested"];

fn plan_of(name: &str) -> Plan {
    let file = |text: &str| Some(Box::new(read_dialect(text).unwrap()));
    let mut plan = crate::test_plan("ws://127.0.0.1:1/");
    (plan.audience, plan.message.padding) = (Audience::Sender, 0);
    (plan.message.dialect, plan.message.definition) = match name {
        "text" => (Dialect::Text, None),
        "binary" => (Dialect::Binary, None),
        "mqtt" => (Dialect::Mqtt, None),
        "lines" => {
            let lines = plan::built_in_dialect("lines").unwrap();
            (Dialect::File, Some(Box::new(lines.clone())))
        }
        "nested" => {
            let nested = r#"
name = "nested"
summary = "JSON in a string."
[send]
echo = '{"data":"{escaped_payload}"}'
[[receive]]
means = "echo"
payload = "/data"
payload_form = "string"
example = '{"data":"{escaped_payload}"}'
"#;
            (Dialect::File, file(nested))
        }
        _ => (Dialect::File, file(OWN)),
    };
    plan
}

fn with_lines(mut plan: Plan, lines: &[String]) -> Arc<dyn Codec> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    // A byte order mark ahead of the lines is none of the first line's, which may begin with another.
    write!(file, "\u{feff}{}", lines.join("\n")).unwrap();
    plan.message.lines = Some(file.path().to_owned());
    plan.validate().unwrap();
    crate::dialect::check_message(&plan).unwrap();
    crate::dialect::payload_lines(&plan).unwrap();
    let lines = Lines::new(&plan).unwrap().map(Arc::new);
    codec(&plan, lines)
}

fn written(codec: &dyn Codec, workload: Workload, stamp: u64) -> Vec<u8> {
    let mut out = Vec::new();
    codec.request(workload, 0, stamp, &NoVariables, &mut out);
    out
}

fn intact(kind: Kind, stamp: u64, intact: bool) -> Incoming {
    Incoming::Message {
        kind,
        stamp,
        intact,
        topic: None,
    }
}

/// Texts that a line may be, short ones with much that has to be escaped among them.
fn any_line() -> impl Strategy<Value = String> {
    let odd = proptest::collection::vec(
        proptest::sample::select(vec!['"', '\\', '\t', '{', '}', 'a', '0', 'é', '\u{1}', ' ']),
        1..6,
    );
    prop_oneof![
        "[^\n\r]{1,40}",
        odd.prop_map(|chars| chars.into_iter().collect()),
    ]
}

/// An echo of the server with its stamp replaced by another.
fn with_stamp(codec: &dyn Codec, message: &[u8], old: u64, new: u64) -> Option<Vec<u8>> {
    let form = codec.stamp_form();
    let (mut of_old, mut of_new) = (Vec::new(), Vec::new());
    form.write(old, &mut of_old);
    form.write(new, &mut of_new);
    let at = super::only(message, &of_old)?;
    let mut out = message.to_vec();
    out[at..at + of_old.len()].copy_from_slice(&of_new);
    Some(out)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Laws: any line comes back verified; the line of another request does not; what is recognised is
    /// what the parser says, whatever byte a server changes.
    #[test]
    fn any_lines_come_back_verified_and_no_others(
        name in proptest::sample::select(&SAME[..]),
        lines in proptest::collection::vec(any_line(), 1..6),
        first in 0..Stamps::SAMPLES - 20,
        change in (any::<prop::sample::Index>(), any::<u8>()),
    ) {
        let codec = with_lines(plan_of(name), &lines);
        let stamps = Stamps::of_run(3);
        let mut known = Envelopes::new(codec.stamp_form());
        let line_of = |number: u64| &lines[(number % lines.len() as u64) as usize];
        for number in first..first + 12 {
            let stamp = stamps.stamp(number);
            let message = written(&*codec, Workload::Echo, stamp);
            prop_assert_eq!(codec.parse(&message), Ok(intact(Kind::Echo, stamp, true)));
            if let Some(found) = known.recognise(0, &message, &*codec) {
                prop_assert_eq!(found, (Kind::Echo, stamp));
            } else {
                known.learn(0, &message, Kind::Echo, stamp, &*codec);
            }
            let next = stamps.stamp(number + 1);
            let is_same = line_of(number) == line_of(number + 1);
            if let Some(swapped) = with_stamp(&*codec, &message, stamp, next) {
                let parsed = codec.parse(&swapped).unwrap();
                prop_assert_eq!(parsed, intact(Kind::Echo, next, is_same));
                prop_assert!(is_same || known.recognise(0, &swapped, &*codec).is_none());
            }
            let mut other = message.clone();
            let at = change.0.index(other.len());
            other[at] = change.1;
            if let Some((kind, stamp)) = known.recognise(0, &other, &*codec) {
                prop_assert_eq!(codec.parse(&other), Ok(intact(kind, stamp, true)));
            }
        }
    }
}

fn texts(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// How many of `count` answers were recognised, each learned when it was not.
fn recognised(codec: &dyn Codec, answer: impl Fn(u64) -> Vec<u8>, kind: Kind, count: u64) -> u64 {
    let mut known = Envelopes::new(codec.stamp_form());
    let found = (0..count).filter(|stamp| {
        let message = answer(*stamp);
        let found = known.recognise(0, &message, codec);
        if found.is_none() {
            assert_eq!(codec.parse(&message), Ok(intact(kind, *stamp, true)));
            known.learn(0, &message, kind, *stamp, codec);
        }
        found.is_some()
    });
    found.count() as u64
}

#[test]
fn one_envelope_is_enough_for_all_lines() {
    let lines = texts(&[
        "the first",
        "a \"second\" \\ one",
        "a third, é",
        "\u{1}",
        "5",
    ]);
    for name in ["text", "lines", "own", "nested"] {
        let codec = with_lines(plan_of(name), &lines);
        let answer = |stamp| written(&*codec, Workload::Echo, stamp);
        assert_eq!(recognised(&*codec, answer, Kind::Echo, 1000), 999, "{name}");
    }
    let mut plan = plan_of("own");
    plan.audience = Audience::Everyone;
    let codec = with_lines(plan, &lines);
    let delivery = |stamp: u64| {
        let line = serde_json::to_string(&lines[(stamp % 5) as usize]).unwrap();
        format!(r#"{{"kind":"all","text":{line},"all":"{stamp:016x}","more":[1]}}"#).into_bytes()
    };
    assert_eq!(recognised(&*codec, delivery, Kind::Broadcast, 1000), 999);
    let result = |stamp: u64| format!(r#"{{"kind":"done","all":"{stamp:016x}"}}"#).into_bytes();
    assert_eq!(recognised(&*codec, result, Kind::Result, 1000), 999);
}

#[test]
fn what_was_learned_was_not_looked_for_in_vain() {
    let codec = with_lines(plan_of("own"), &texts(&["one", "two"]));
    let mut known = Envelopes::new(codec.stamp_form());
    let answer = written(&*codec, Workload::Echo, 0);
    known.learn(0, &answer, Kind::Echo, 0, &*codec);
    assert_eq!(known.in_vain, 0);
    assert!(known.recognise(0, &answer, &*codec).is_some());
}

/// The line stands in the name of a field as well, where the dialect does not compare it.
#[test]
fn a_text_that_is_a_line_by_chance_is_not_taken_for_it() {
    let codec = with_lines(plan_of("text"), &texts(&["a", "typ", "padding", "b"]));
    let answer = |stamp| written(&*codec, Workload::Echo, stamp);
    assert_eq!(recognised(&*codec, answer, Kind::Echo, 400), 396);
    // Here it stands in an ignored place, and the one that counts has escapes.
    let codec = with_lines(plan_of("own"), &texts(&["xyz", "uvw"]));
    let spelled = |stamp: u64| {
        let (plain, spelled) = [("xyz", r"\u0078yz"), ("uvw", r"\u0075vw")][(stamp % 2) as usize];
        format!(r#"{{"id":"{stamp:016x}","copy":"{plain}","ask":"{spelled}"}}"#).into_bytes()
    };
    assert_eq!(recognised(&*codec, spelled, Kind::Echo, 1000), 0);
}

/// An envelope whose size is that of one line is not taken for a line of another.
#[test]
fn a_size_that_is_not_of_the_line_leaves_the_message_to_the_parser() {
    let codec = with_lines(plan_of("binary"), &texts(&["one", "two", "three"]));
    let mut known = Envelopes::new(codec.stamp_form());
    let answers = [0, 1, 2].map(|stamp| written(&*codec, Workload::Echo, stamp));
    known.learn(0, &answers[0], Kind::Echo, 0, &*codec);
    let found = |message: &[u8]| known.recognise(0, message, &*codec);
    assert_eq!(found(&answers[1]), Some((Kind::Echo, 1)));
    assert_eq!(found(&answers[2]), None);
    let mut other_size = answers[2].clone();
    other_size[..5].copy_from_slice(&answers[0][..5]);
    assert_eq!(found(&other_size), None);
    assert_eq!(codec.parse(&other_size), Ok(intact(Kind::Echo, 2, false)));
}

/// A server that spells lines in its own way is parsed, and looked at so often only.
#[test]
fn what_is_looked_for_in_vain_is_not_looked_for_for_ever() {
    let codec = with_lines(plan_of("own"), &texts(&["é", "ü"]));
    let mut known = Envelopes::new(codec.stamp_form());
    for stamp in 0..1000_u64 {
        let line = [r"\u00e9", r"\u00fc"][(stamp % 2) as usize];
        let message = format!(r#"{{"ask":"{line}","id":"{stamp:016x}"}}"#).into_bytes();
        assert_eq!(codec.parse(&message), Ok(intact(Kind::Echo, stamp, true)));
        known.learn(0, &message, Kind::Echo, stamp, &*codec);
    }
    assert_eq!(known.in_vain, super::super::MOST_IN_VAIN);
    assert!(known.rooms.is_empty());
}

/// What a pattern before it may match decides on a message too, and it depends on the line.
#[test]
fn a_rule_that_may_match_first_leaves_the_others_to_the_parser() {
    let mut plan = plan_of("own");
    let file = plan.message.definition.as_mut().unwrap();
    let mut refused = file.receive[2].clone();
    (refused.means, refused.stamp, refused.example) = (plan::Meaning::Refused, None, None);
    refused.when.clear();
    refused.pattern = Some("{any}error{any}".to_owned());
    file.receive.insert(0, refused);
    plan.message.definition.as_mut().unwrap().receive[0].pattern =
        Some("{any}error{any}".to_owned());
    let codec = with_lines(plan, &texts(&["fine", "an error"]));
    let message = written(&*codec, Workload::Echo, 0);
    let mut known = Envelopes::new(codec.stamp_form());
    known.learn(0, &message, Kind::Echo, 0, &*codec);
    assert!(known.rooms.is_empty());
    let of_error = written(&*codec, Workload::Echo, 1);
    assert_eq!(codec.parse(&of_error), Ok(Incoming::Refused));
}

#[test]
fn a_file_of_one_line_is_as_a_padding_is() {
    let codec = with_lines(plan_of("text"), &texts(&["\"only\""]));
    let mut known = Envelopes::new(codec.stamp_form());
    let message = written(&*codec, Workload::Echo, 4);
    known.learn(0, &message, Kind::Echo, 4, &*codec);
    assert!(matches!(known.rooms[0][0].shape, Shape::Stamped(..)));
    let other = written(&*codec, Workload::Echo, 5);
    assert_eq!(known.recognise(0, &other, &*codec), Some((Kind::Echo, 5)));
}

/// The plan of a file whose rule cannot tell where some lines end.
#[test]
fn a_line_that_no_rule_can_read_back_is_refused_before_the_run() {
    let text = r#"
name = "cut"
summary = "The line stands before a text."
[send]
echo = '{padding}; {stamp}'
[[receive]]
means = "echo"
pattern = '{padding}; {stamp}'
example = '{padding}; {stamp}'
"#;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"good\ngood too\na; b\n").unwrap();
    let mut plan = plan_of("own");
    plan.message.definition = Some(Box::new(read_dialect(text).unwrap()));
    plan.message.lines = Some(file.path().to_owned());
    let refused = crate::dialect::payload_lines(&plan)
        .unwrap_err()
        .to_string();
    assert!(refused.contains(", line 3: "), "{refused}");
    assert!(refused.contains("with this line; remove it"), "{refused}");
}
