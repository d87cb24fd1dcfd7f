//! What became of clients that left, in human-readable form.

use record::{AttemptFailures, Churn, CutRecord, Latency, RoomChanges, latency_text};
use ws_proto::escaped;

/// A few lines behind that of the step.
pub(crate) fn churn(of: &Churn) -> String {
    if let Some(rooms) = of
        .rooms
        .as_ref()
        .filter(|_| of.attempts == 0 && of.left == 0)
    {
        return changes(rooms) + &faults(of);
    }
    let mut text = format!(
        "    leaving      {} clients left {} times and were back {} times after {} attempts{}",
        of.clients,
        of.left + of.cut.as_ref().map_or(0, |cut| cut.clients),
        of.reconnected,
        of.attempts,
        failures(&of.failures, of.first_failure.as_deref()),
    );
    if of.unclosed > 0 {
        text.push_str(&format!("; {} closes were not answered", of.unclosed));
    }
    if let Some(lag) = &of.attempt_lag {
        let own = of.generator_lag.as_ref();
        let own = own.map_or_else(String::new, |own| {
            format!(
                ", at most {} of it by the generator itself",
                time(own.max_ns)
            )
        });
        text.push_str(&format!(
            "; attempts were late by p50 {}, max {}{own}",
            time(lag.p50_ns),
            time(lag.max_ns)
        ));
    }
    if let Some(rooms) = &of.rooms {
        text = format!("{}\n{text}", changes(rooms));
    }
    text.push_str(&faults(of));
    if let Some(cut) = &of.cut {
        text.push_str(&cut_lines(cut));
    }
    text
}

fn changes(of: &RoomChanges) -> String {
    let mut text = format!(
        "    rooms        {} clients left {} rooms and joined {}",
        of.clients, of.left, of.joined
    );
    if let Some(join) = &of.join {
        let (p50, p99) = (time(join.p50_ns), time(join.p99_ns));
        text.push_str(&format!(", confirmed after p50 {p50}, p99 {p99}"));
    }
    if of.unanswered > 0 {
        text.push_str(&format!("; {} requests were not answered", of.unanswered));
    }
    text
}

fn faults(of: &Churn) -> String {
    if of.lost + of.duplicate + of.disconnected == 0 {
        return String::new();
    }
    format!(
        "\n    their faults {} messages lost, {} twice, {} connections ended by the server",
        of.lost, of.duplicate, of.disconnected
    )
}

fn cut_lines(cut: &CutRecord) -> String {
    let shares = [
        ("half", cut.back_50_ns),
        ("95%", cut.back_95_ns),
        ("all", cut.back_100_ns),
    ];
    let known = shares.map(|(share, ns)| Some(format!("{share} after {}", time(ns?))));
    let mut known: Vec<String> = known.into_iter().flatten().collect();
    if known.len() < shares.len() {
        let (rest, _) = shares[known.len()];
        let more = if rest == "all" { "" } else { " and more" };
        known.push(format!("{rest}{more} not before the step ended"));
    }
    let p99 = |of: &Option<Latency>| {
        let figures = |of: &Latency| format!("p50 {}, p99 {}", time(of.p50_ns), time(of.p99_ns));
        of.as_ref().map_or_else(|| "none".to_owned(), figures)
    };
    format!(
        "\n    cut          {} of {} clients were back: {}\
         \n    the others   before the cut {}; until all were back {}; after {}",
        cut.back,
        cut.clients,
        known.join(", "),
        p99(&cut.before),
        p99(&cut.during),
        p99(&cut.after),
    )
}

fn failures(of: &AttemptFailures, first: Option<&str>) -> String {
    let reasons = [
        (of.refused, "refused"),
        (of.timed_out, "timed out"),
        (of.closed, "closed"),
        (of.rejected, "rejected"),
        (of.machine, "without a port or file here"),
        (of.other, "failed otherwise"),
    ];
    let told = reasons.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, why)| format!("{count} {why}")).collect();
    match (told.is_empty(), first) {
        (true, _) => String::new(),
        (false, None) => format!(" ({})", told.join(", ")),
        (false, Some(first)) => format!(" ({}; the first: {})", told.join(", "), escaped(first)),
    }
}

fn time(ns: u64) -> String {
    latency_text(ns).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_rooms_stand_alone_where_no_connection_ended() {
        let rooms = RoomChanges {
            clients: 10,
            left: 40,
            asked: 39,
            joined: 38,
            unanswered: 1,
            join: None,
        };
        let mut of = Churn {
            clients: 10,
            rooms: Some(rooms),
            lost: 3,
            ..Churn::default()
        };
        let text = churn(&of);
        let expected = "    rooms        10 clients left 40 rooms and joined 38; 1 requests were not \
                        answered\n    their faults 3 messages lost, 0 twice, 0 connections ended by \
                        the server";
        assert_eq!(text, expected);
        of.attempts = 1;
        assert!(churn(&of).contains("back 0 times after 1 attempts"));
    }

    #[test]
    fn of_those_that_were_not_back_it_is_told_that_the_step_had_ended_and_a_peers_bytes_are_escaped()
     {
        let text = churn(&Churn {
            clients: 10,
            attempts: 12,
            failures: AttemptFailures {
                refused: 2,
                closed: 1,
                ..AttemptFailures::default()
            },
            first_failure: Some("no\u{1b}[2J".into()),
            reconnected: 9,
            cut: Some(CutRecord {
                clients: 10,
                back: 9,
                back_50_ns: Some(1_500_000_000),
                ..CutRecord::default()
            }),
            ..Churn::default()
        });
        assert!(
            text.contains("(2 refused, 1 closed; the first: no\\u{1b}[2J)"),
            "{text}"
        );
        assert!(text.contains("9 of 10 clients were back"), "{text}");
        let known = "half after 1500ms, 95% and more not before the step ended";
        assert!(text.contains(known), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
}
