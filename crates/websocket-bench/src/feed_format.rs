//! What came of feeds, in human-readable form.

use record::{Feed, FeedAge, FeedClock, FeedNumbers, FeedRates, latency_text as latency};

/// Messages, what their numbers show, and how old they were, one to a line.
pub(crate) fn feed(of: &Feed) -> String {
    let mut text = format!(
        "    feed         {} messages to {} clients, {}/s{}{}",
        of.messages,
        of.clients,
        rate(of.per_second),
        of.per_client.as_ref().map_or_else(String::new, rates),
        silent(of.silent_clients),
    );
    if let Some(numbers) = &of.numbers {
        text.push_str(&format!("\n    numbers      {}", found(numbers)));
    }
    if let Some(age) = &of.age {
        text.push_str(&format!("\n    age          {}", ages(age)));
    }
    text
}

fn rate(per_second: f64) -> String {
    match per_second {
        100.0.. => format!("{per_second:.0}"),
        _ => format!("{per_second:.2}"),
    }
}

fn rates(of: &FeedRates) -> String {
    format!(
        "; each client {}/s to {}/s, median {}/s",
        rate(of.min),
        rate(of.max),
        rate(of.median)
    )
}

fn silent(clients: u64) -> String {
    match clients {
        0 => String::new(),
        1 => "; 1 client got none".to_owned(),
        several => format!("; {several} clients got none"),
    }
}

fn found(of: &FeedNumbers) -> String {
    let counts = [
        (of.missing, "missing"),
        (of.gaps, "gaps"),
        (of.repeats, "repeats"),
        (of.steps_back, "steps back"),
        (of.after_step, "after the step in which they were missing"),
        (of.unreadable, "without a number that can be read"),
        (of.unfollowed, "of more keys than are followed"),
    ];
    let there = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = there
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match words.is_empty() {
        true => "each was the next".to_owned(),
        false => words.join(", "),
    }
}

fn ages(of: &FeedAge) -> String {
    let figures = of.age.as_ref().map_or_else(
        || "none".to_owned(),
        |age| {
            let figures = [age.p50_ns, age.p95_ns, age.p99_ns, age.max_ns].map(latency);
            let [p50, p95, p99, max] = figures.each_ref().map(|figure| figure.trim());
            format!("p50 {p50}, p95 {p95}, p99 {p99}, max {max}")
        },
    );
    let negative = match of.negative {
        0 => String::new(),
        count => format!(
            "; {count} below 0, by up to {}",
            latency(of.most_negative_ns).trim()
        ),
    };
    let unreadable = match of.unreadable {
        0 => String::new(),
        count => format!("; {count} without a time that can be read"),
    };
    let clock = match of.clock {
        FeedClock::Shared => "",
        FeedClock::Unknown => "; how far the server's clock is from this one is unknown",
    };
    format!("{figures}{negative}{unreadable}{clock}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_is_said_in_three_lines_and_what_did_not_in_words() {
        let mut of = Feed {
            clients: 3,
            silent_clients: 1,
            messages: 600,
            elapsed_ns: 2_000_000_000,
            per_second: 300.0,
            per_client: Some(FeedRates {
                min: 0.0,
                median: 99.5,
                max: 200.0,
            }),
            numbers: Some(FeedNumbers::default()),
            age: Some(FeedAge {
                clock: FeedClock::Unknown,
                age: None,
                negative: 2,
                most_negative_ns: 3_000_000,
                unreadable: 0,
            }),
        };
        let text = feed(&of);
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert_eq!(
            lines,
            [
                "feed         600 messages to 3 clients, 300/s; each client 0.00/s to 200/s, median \
                 99.50/s; 1 client got none",
                "numbers      each was the next",
                "age          none; 2 below 0, by up to 3.0ms; how far the server's clock is from \
                 this one is unknown",
            ]
        );
        of.numbers = Some(FeedNumbers {
            gaps: 2,
            missing: 5,
            repeats: 1,
            ..FeedNumbers::default()
        });
        assert!(feed(&of).contains("5 missing, 2 gaps, 1 repeats"));
    }
}
