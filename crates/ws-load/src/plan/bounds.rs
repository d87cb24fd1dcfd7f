//! The longest message that a server may send. No more than this is kept for any peer.

use plan::{Dialect, DialectFile, Plan};

/// Bytes that a JSON writer may make of one: `\u00xx` (RFC 8259, section 7).
const ESCAPED: u32 = 6;
/// Of a payload without its padding: the stamp, and in JSON the names of both.
const STAMP: u32 = 64;

/// Answers in one message where a dialect lets a server put several together. Centrifuge puts 16 there
/// at most, unless it is told otherwise.
const TOGETHER: u32 = 16;

/// So long a template has its place among all else that a message may have.
const SHORT: usize = 4096;

/// What a file's own words in requests and answers may become in an answer, in bytes, where they are
/// more than a message has room for.
fn longest_words(file: &DialectFile) -> u32 {
    let examples = file
        .receive
        .iter()
        .filter_map(|rule| rule.example.as_deref());
    let longest = file.requests().chain(examples).map(str::len).max();
    let longest = longest.filter(|bytes| *bytes > SHORT).unwrap_or(0);
    u32::try_from(longest)
        .unwrap_or(u32::MAX)
        .saturating_mul(ESCAPED)
}

/// True of a file whose server may put several messages into one of WebSocket.
const fn puts_together(file: &DialectFile) -> bool {
    file.separator.is_some() || file.length_prefix.is_some() || file.packed
}

/// Longest message in bytes that a server may legitimately send under a plan. No answer holds more
/// than one payload, which a server may have parsed and written anew. Of a plan with lines `longest_line`
/// has the bytes of the longest.
pub(crate) fn longest_message(plan: &Plan, longest_line: u32) -> u32 {
    let per_byte = match plan.message.dialect {
        Dialect::Binary | Dialect::Mqtt | Dialect::Mqtt5 => 1,
        Dialect::Text
        | Dialect::Phoenix
        | Dialect::ActionCable
        | Dialect::SocketIo
        | Dialect::File => ESCAPED,
    };
    let longest = plan.message.longest_padding().max(longest_line);
    let payload = longest.saturating_add(STAMP);
    let definition = plan.message.definition.as_deref();
    let answers = match plan.message.dialect {
        Dialect::Mqtt | Dialect::Mqtt5 => TOGETHER,
        _ if definition.is_some_and(puts_together) => TOGETHER,
        _ => 1,
    };
    let rest = definition.map_or(DialectFile::ENVELOPE, |file| {
        file.longest_message.saturating_add(longest_words(file))
    });
    payload
        .saturating_mul(per_byte)
        .saturating_mul(answers)
        .saturating_add(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{self, NoVariables};
    use plan::Workload;

    #[test]
    fn besides_its_payload_a_message_may_have_32_kib() {
        let mut plan = crate::test_plan("ws://127.0.0.1:1/ws");
        (plan.message.dialect, plan.message.padding) = (Dialect::Binary, 0);
        assert_eq!(longest_message(&plan, 0), STAMP + (32 << 10));
        assert_eq!(longest_message(&plan, 70_000), 70_000 + STAMP + (32 << 10));
        plan.message.padding = u32::MAX;
        assert_eq!(longest_message(&plan, 0), u32::MAX);
    }

    #[test]
    fn every_request_fits_however_it_is_written() {
        for dialect in [
            Dialect::Text,
            Dialect::Binary,
            Dialect::Phoenix,
            Dialect::ActionCable,
            Dialect::SocketIo,
            Dialect::Mqtt,
            Dialect::Mqtt5,
        ] {
            for padding in [0, 200, 70_000, 16 << 20] {
                let mut plan = crate::test_plan("ws://127.0.0.1:1/ws");
                (plan.message.dialect, plan.message.padding) = (dialect, padding);
                let mut request = Vec::new();
                dialect::codec(&plan, None).request(
                    Workload::Broadcast,
                    0,
                    u64::MAX,
                    &NoVariables,
                    &mut request,
                );
                let most = match dialect {
                    Dialect::Binary => 1,
                    Dialect::Mqtt | Dialect::Mqtt5 => TOGETHER as usize,
                    _ => ESCAPED as usize,
                };
                let longest = longest_message(&plan, 0) as usize;
                assert!(longest >= request.len() * most, "{dialect:?} {padding}");
                assert!(longest <= request.len() * most + 40_000);
            }
        }
    }

    #[test]
    fn an_answer_with_the_words_of_a_long_template_fits() {
        let mut plan = crate::test_plan("ws://127.0.0.1:1/ws");
        let mut lines = plan::built_in_dialect("lines").unwrap().clone();
        lines.send.echo = Some("\u{1}".repeat(100_000));
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(lines));
        let longest = longest_message(&plan, 0);
        assert!((600_000..700_000).contains(&longest), "{longest}");
    }

    #[test]
    fn answers_that_come_together_fit() {
        let mut plan = crate::test_plan("ws://127.0.0.1:1/ws");
        plan.message.padding = 70_000;
        plan.message.dialect = Dialect::File;
        let of = |name| plan::built_in_dialect(name).unwrap().clone();
        plan.message.definition = Some(Box::new(of("lines")));
        let one = longest_message(&plan, 0) - DialectFile::ENVELOPE;
        plan.message.definition = Some(Box::new(of("centrifugo")));
        assert_eq!(
            longest_message(&plan, 0) - DialectFile::ENVELOPE,
            one * TOGETHER
        );
    }
}
