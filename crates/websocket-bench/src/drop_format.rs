//! Connections that ended although the generator did not close them, in human-readable form.

use record::{DropCause, DropTimes};
use ws_proto::escaped;

/// Causes that are shown.
const SHOWN: usize = 5;

/// The most frequent causes, one to a line: how many, when, and how the first ended.
pub(crate) fn drops(of: &DropTimes) -> String {
    let shown = of.causes.iter().take(SHOWN);
    let mut lines: Vec<String> = shown.map(|cause| line(of.interval_ns, cause)).collect();
    let others: u64 = of.causes.iter().skip(SHOWN).map(|cause| cause.count).sum();
    if others > 0 {
        lines.push(format!(
            "    ended        {others} in other ways (see the record)"
        ));
    }
    lines.join("\n")
}

fn line(interval_ns: u64, cause: &DropCause) -> String {
    let seconds = interval_ns / 1_000_000_000;
    let at = |interval: u64| interval.saturating_mul(seconds);
    let intervals = &cause.intervals;
    let when = match (intervals.keys().next(), intervals.keys().next_back()) {
        (Some(first), Some(last)) => format!(
            ", {} s to {} s after the step began",
            at(*first),
            at(last.saturating_add(1))
        ),
        _ => String::new(),
    };
    let most = intervals
        .iter()
        .max_by_key(|(at, count)| (**count, std::cmp::Reverse(**at)));
    let most = most.filter(|_| intervals.len() > 1);
    let most = most.map_or_else(String::new, |(interval, count)| {
        format!(" (most at {} s: {count})", at(*interval))
    });
    format!(
        "    ended        {} {}{when}{most}; the first: {}",
        cause.count,
        cause.name(),
        escaped(&cause.first)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{DropHow, Told};

    #[test]
    fn a_cause_has_its_time_its_highest_second_and_the_words_of_the_first() {
        let cause = DropCause {
            how: DropHow::Closed,
            code: Some(1001),
            count: 480,
            first: Told::from("127.0.0.1:9 closed the connection with 1001 \"going away\""),
            intervals: [(12, 100), (13, 300), (15, 80)].into(),
        };
        let times = DropTimes {
            interval_ns: 1_000_000_000,
            causes: vec![cause; 7],
        };
        let text = drops(&times);
        assert_eq!(
            text.lines().next(),
            Some(
                "    ended        480 closed 1001, 12 s to 16 s after the step began (most at 13 s: 300); \
                 the first: 127.0.0.1:9 closed the connection with 1001 \"going away\""
            )
        );
        assert_eq!(text.lines().count(), 6);
        assert!(
            text.ends_with("960 in other ways (see the record)"),
            "{text}"
        );
    }
}
