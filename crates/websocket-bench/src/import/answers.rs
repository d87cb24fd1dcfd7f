//! Which messages of a server answer which of the client.
//!
//! What comes before the client's next message may be an answer. It is taken for one when it follows
//! all messages of the client that look alike, and when the server says such a message at no other
//! time. All else is taken for what the server says by itself.

use super::conversation::Conversation;
use super::looks::{Look, Sight};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Most rules for answers, of the 64 that a dialect may have: one is for heartbeats, one for all else.
pub(super) const MOST_RULES: usize = 62;
/// Most different messages of a server that each rule is tried with.
const MOST_TRIED: usize = 10_000;

/// What is known of the answer to a message of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It looks like this.
    Looks(Look),
    /// The server said nothing before the client's next message.
    Nothing,
    /// What came does not come after each such message, or comes at other times too.
    Unclear,
    /// There are more different answers than a dialect has rules.
    Beyond,
}

impl Answer {
    pub(super) const fn look(&self) -> Option<&Look> {
        match self {
            Self::Looks(look) => Some(look),
            _ => None,
        }
    }
}

/// Messages of the client that look alike.
#[derive(Default)]
struct Class {
    count: usize,
    /// Looks, by number, that each of them was followed by before the client's next message. The
    /// first in the capture comes first.
    candidates: Vec<usize>,
}

/// The looks of messages by number. A look is made again of the first message that has it, so that a
/// capture of many different messages takes little memory.
#[derive(Default)]
struct Numbers {
    by_hash: HashMap<u64, u32>,
    /// The first message of each look, and how many messages of the server look so.
    first: Vec<u32>,
    heard: Vec<u32>,
}

impl Numbers {
    fn number(&mut self, look: &Look, at: usize) -> usize {
        let mut hasher = DefaultHasher::new();
        look.hash(&mut hasher);
        let next = self.first.len();
        let number = *self.by_hash.entry(hasher.finish()).or_insert(next as u32) as usize;
        if number == next {
            self.first.push(at as u32);
            self.heard.push(0);
        }
        number
    }
}

/// How the answer to each message of the client looks, in their order.
pub(super) fn answers(conversation: &Conversation<'_>, sight: &Sight<'_>) -> Vec<Answer> {
    let said = &conversation.said;
    let mut numbers = Numbers::default();
    let mut classes: BTreeMap<usize, Class> = BTreeMap::new();
    // The look of each message of the client, and whether the server said something after it.
    let mut sends: Vec<(usize, bool)> = Vec::new();
    let mut at = 0;
    while let Some(message) = said.get(at) {
        let look = numbers.number(&sight.look(message), at);
        at += 1;
        if !message.is_sent {
            numbers.heard[look] += 1;
            continue;
        }
        // What it was followed by, each look once.
        let (mut followed, mut known) = (Vec::new(), HashSet::new());
        while let Some(next) = said.get(at).filter(|next| !next.is_sent) {
            let look = numbers.number(&sight.look(next), at);
            numbers.heard[look] += 1;
            if known.insert(look as u32) {
                followed.push(look);
            }
            at += 1;
        }
        sends.push((look, !followed.is_empty()));
        let class = classes.entry(look).or_default();
        class.count += 1;
        match class.count {
            1 => class.candidates = followed,
            _ => class
                .candidates
                .retain(|look| known.contains(&(*look as u32))),
        }
    }
    let first = |look: usize| &said[numbers.first[look] as usize];
    let is_other = |look: usize| sight.look(first(look)) == Look::Other;
    for class in classes.values_mut() {
        class.candidates.retain(|look| !is_other(*look));
    }
    let heard = (0..numbers.first.len()).filter(|look| numbers.heard[*look] > 0);
    let tried: Vec<(usize, Look)> = heard
        .take(MOST_TRIED)
        .map(|look| (look, sight.look(first(look))))
        .collect();
    let looks = loop {
        settle(&mut classes, &numbers.heard);
        let looks = chosen(&sends, &classes, |look| sight.look(first(look)));
        let wrong = wrong_rules(&looks, &tried, |look| first(look).text);
        if wrong.is_empty() {
            break looks;
        }
        for class in classes.values_mut() {
            class.candidates.retain(|look| !wrong.contains(look));
        }
    };
    let answers = sends.iter().map(
        |(look, is_followed)| match classes[look].candidates.first() {
            Some(answer) => match looks.iter().find(|(look, _)| look == answer) {
                Some((_, look)) => Answer::Looks(look.clone()),
                None => Answer::Beyond,
            },
            None if *is_followed => Answer::Unclear,
            None => Answer::Nothing,
        },
    );
    answers.collect()
}

/// The looks of the answers that have a rule, by number: those that are awaited first.
fn chosen(
    sends: &[(usize, bool)],
    classes: &BTreeMap<usize, Class>,
    look: impl Fn(usize) -> Look,
) -> Vec<(usize, Look)> {
    let mut seen = HashSet::new();
    let answers = sends
        .iter()
        .filter_map(|(look, _)| classes[look].candidates.first().copied());
    let each = answers.filter(|answer| seen.insert(*answer));
    each.take(MOST_RULES).map(|of| (of, look(of))).collect()
}

/// The looks whose rules would take messages that are not of them.
fn wrong_rules<'t>(
    looks: &[(usize, Look)],
    tried: &[(usize, Look)],
    text: impl Fn(usize) -> &'t str,
) -> HashSet<usize> {
    let mut rules: Vec<&(usize, Look)> = looks.iter().collect();
    rules.sort_by_key(|(_, look)| look.rank());
    let taken = tried.iter().filter_map(|(number, look)| {
        let text = text(*number);
        let rule = rules.iter().find(|rule| rule.1.covers(look, text))?;
        (rule.0 != *number).then_some(rule.0)
    });
    taken.collect()
}

/// Leaves out the looks that the server's messages have at other times too, until none is left.
fn settle(classes: &mut BTreeMap<usize, Class>, heard: &[u32]) {
    loop {
        let mut claims: BTreeMap<usize, usize> = BTreeMap::new();
        for class in classes.values() {
            if let Some(first) = class.candidates.first() {
                *claims.entry(*first).or_default() += class.count;
            }
        }
        claims.retain(|look, count| heard[*look] as usize != *count);
        if claims.is_empty() {
            return;
        }
        for class in classes.values_mut() {
            class.candidates.retain(|look| !claims.contains_key(look));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conversation::{Asked, Said};
    use super::super::looks::example;
    use super::super::variables::Known;
    use super::*;
    use proptest::prelude::*;

    /// How the answers to messages look, those of the client behind `>`.
    fn told(lines: &[&str]) -> Vec<Option<String>> {
        told_beside(lines, &[])
    }

    fn conversation<'l>(lines: &[&'l str]) -> Conversation<'l> {
        let said = lines.iter().map(|line| Said {
            number: 1,
            asked: Asked::Nothing,
            at_ns: 0,
            is_sent: line.starts_with('>'),
            text: line.trim_start_matches('>'),
        });
        Conversation {
            is_engine_io: lines.iter().any(|line| line.starts_with("0{")),
            said: said.collect(),
            heartbeats: 0,
            longest_heard: 0,
        }
    }

    fn told_beside(lines: &[&str], others: &[&[&str]]) -> Vec<Option<String>> {
        let own = conversation(lines);
        let others: Vec<_> = others.iter().map(|lines| conversation(lines)).collect();
        let known = Known::default();
        let sight = Sight::new(&own, &others, &known);
        let answers = answers(&own, &sight).into_iter();
        answers
            .map(|answer| match answer.look()? {
                Look::Text(text) => Some(text.clone()),
                Look::Head(text) => Some(format!("{text}...")),
                Look::Tail(text) => Some(format!("...{text}")),
                Look::Json(prefix, held) => Some(format!("{prefix}{}", example(held))),
                Look::Other => None,
            })
            .collect()
    }

    #[test]
    fn an_answer_follows_each_message_that_looks_alike_and_nothing_else() {
        let news = r#"{"type":"news","n":1}"#;
        let said = r#"{"type":"said","n":5}"#;
        // News come of themselves too.
        let lines = [
            news,
            r#">{"type":"say","text":"a"}"#,
            news,
            said,
            r#">{"type":"say","text":"b"}"#,
            said,
            news,
            r#">{"type":"typing"}"#,
            news,
            ">ping",
            "pong",
        ];
        let answer = Some(r#"{"n":1,"type":"said"}"#.to_owned());
        assert_eq!(
            told(&lines),
            [answer.clone(), answer, None, Some("pong".to_owned())]
        );
    }

    #[test]
    fn requests_under_way_at_once_have_no_answer_that_is_told() {
        let lines = [r#">{"id":1}"#, r#">{"id":2}"#, r#"{"ok":1}"#, r#"{"ok":2}"#];
        assert_eq!(told(&lines), [None, None]);
    }

    #[test]
    fn socket_io_is_told_by_prefix_and_event() {
        let lines = [
            r#">42["join",7]"#,
            r#"42["joined",{"n":7}]"#,
            r#"42["news"]"#,
        ];
        assert_eq!(told(&lines), [Some(r#"42["joined"]"#.to_owned())]);
    }

    #[test]
    fn an_identifier_of_the_session_is_not_awaited() {
        let admin = [
            "0{\"sid\":\"a\"}",
            ">40/admin,",
            "40/admin,{\"sid\":\"s-1\"}",
        ];
        assert_eq!(
            told(&admin),
            [Some("40/admin,{\"sid\":\"...\"}".to_owned())]
        );
        for (answer, expected) in [
            ("welcome 9f86d081884c7d659a2feaa0c55ad015", "welcome ..."),
            ("V1StGXR8_Z5jdHi6B-myT is yours", "... is yours"),
            ("session=abc; ok", "session=..."),
            ("CONNECTED\nsession:a\n\n\0", "CONNECTED\n..."),
            ("pong", "pong"),
            ("ready 1", "ready 1"),
        ] {
            assert_eq!(told(&[">hello", answer]), [Some(expected.to_owned())]);
        }
        let other: &[&str] = &[">hello", "you are xyz"];
        assert_eq!(
            told_beside(&[">hello", "you are abc"], &[other]),
            [Some("you are ...".to_owned())]
        );
    }

    #[test]
    fn a_rule_that_would_take_other_messages_is_none() {
        // The news begin as the answer does.
        let lines = [
            ">ask",
            "item 9f86d081884c7d659a2feaa0c55ad015",
            ">typing",
            "typed",
            "item list",
        ];
        assert_eq!(told(&lines), [None, Some("typed".to_owned())]);
    }

    #[test]
    fn hundreds_of_acknowledgements_have_one_rule() {
        let of = |ask: &dyn Fn(usize) -> [String; 2]| {
            let texts: Vec<String> = std::iter::once("0{\"sid\":\"a\"}".to_owned())
                .chain((0..400).flat_map(ask))
                .collect();
            let lines: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut answers = told(&lines);
            assert_eq!(answers.len(), 400);
            answers.dedup();
            answers
        };
        for (expected, ask) in [
            (
                "43...",
                (|n| [format!(">42{n}[\"x\",{n}]"), format!("43{n}[\"ok\"]")]) as fn(usize) -> _,
            ),
            ("43/a,...", |n| {
                [format!(">42/a,{n}[\"x\"]"), format!("43/a,{n}[{n}]")]
            }),
            ("is ...", |n| [format!(">ask {n}"), format!("is {n}")]),
            ("[1]", |n| {
                [format!(">[{n},\"x\"]"), format!("[{n},\"ok\"]")]
            }),
            ("{\"t\":\"...\"}", |n| {
                [
                    format!(">{{\"t\":\"q{n}\"}}"),
                    format!("{{\"t\":\"a{n}\"}}"),
                ]
            }),
        ] {
            assert_eq!(of(&|n| ask(n)), [Some(expected.to_owned())]);
        }
    }

    #[test]
    fn many_looks_take_no_time_that_grows_with_their_square() {
        let word = |n: usize| -> String {
            let letter = |at: u32| char::from(b'a' + (n / 26_usize.pow(at) % 26) as u8);
            (0..4).map(letter).collect()
        };
        let texts: Vec<String> = (0..10_000)
            .flat_map(|n| [format!(">ask {}", word(n)), format!("is {}", word(n))])
            .collect();
        let lines: Vec<&str> = texts.iter().map(String::as_str).collect();
        let answers = told(&lines);
        assert_eq!(answers.iter().flatten().count(), MOST_RULES);
    }

    proptest! {
        #[test]
        fn each_message_of_the_client_has_an_answer_or_a_reason(
            lines in prop::collection::vec(
                r#">?([ -~\n\u{e9}]{0,9}|4[0-6]{1,2}(-|/a,)?[0-9]?\["e",1\]|\{"t":("a"|1|[0-9])\}|[\u{e9}a]{60,70})"#,
                0..20,
            ),
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let sends = lines.iter().filter(|line| line.starts_with('>')).count();
            prop_assert_eq!(told(&lines).len(), sends);
            prop_assert_eq!(told_beside(&lines, &[&lines]).len(), sends);
        }
    }
}
