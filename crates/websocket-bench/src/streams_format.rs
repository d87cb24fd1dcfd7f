//! Answers in parts and dialogues, in human-readable form.

use record::{Dialogues, Latency, PartNumbers, Streams, latency_text as latency};

/// Answers that came in parts, one figure to a line.
pub(crate) fn streams(of: &Streams) -> String {
    let mut text = format!(
        "    parts        {} of {} answers{}{}",
        of.parts,
        of.answers,
        of.per_answer.map_or_else(String::new, |each| format!(
            "; each answer {} to {}, median {}",
            each.min, each.max, each.median
        )),
        ends(of),
    );
    for (name, times) in [("first part", &of.first), ("between", &of.between)] {
        if let Some(times) = times {
            text.push_str(&format!("\n    {name:12} {}", figures(times)));
        }
    }
    if let Some(rates) = of.per_second {
        text.push_str(&format!(
            "\n    parts/s      median {:.1}, p5 {:.1}",
            rates.median, rates.p5
        ));
    }
    if of.numbers != PartNumbers::default() {
        text.push_str(&format!("\n    faulty parts {}", found(&of.numbers)));
    }
    text
}

/// Dialogues, and the answers of each kind, one to a line.
pub(crate) fn dialogues(of: &Dialogues) -> String {
    let mut text = format!(
        "    dialogues    {} begun, {} finished{}",
        of.begun,
        of.finished,
        match of.unfinished {
            0 => String::new(),
            count => format!(", {count} unfinished"),
        },
    );
    if let Some(time) = &of.time {
        text.push_str(&format!("; {}", figures(time)));
    }
    for kind in &of.kinds {
        let times = kind.time.as_ref();
        let times = times.map_or_else(|| "none".to_owned(), figures);
        text.push_str(&format!(
            "\n      {:10} {} answers; {times}",
            kind.kind, kind.answers
        ));
    }
    text
}

fn figures(of: &Latency) -> String {
    let figures = [of.p50_ns, of.p95_ns, of.p99_ns, of.max_ns].map(latency);
    let [p50, p95, p99, max] = figures.each_ref().map(|figure| figure.trim());
    format!("p50 {p50}, p95 {p95}, p99 {p99}, max {max}")
}

fn ends(of: &Streams) -> String {
    let counts = [
        (of.cut, "ended with their connection"),
        (of.unfinished, "did not end"),
    ];
    words(&counts, "; ", "; ")
}

fn found(of: &PartNumbers) -> String {
    let counts = [
        (of.missing, "missing"),
        (of.repeats, "repeats"),
        (of.steps_back, "steps back"),
        (of.unreadable, "without a number that can be read"),
        (of.unawaited, "of answers that are not awaited"),
    ];
    words(&counts, "", ", ")
}

fn words(counts: &[(u64, &str)], before: &str, between: &str) -> String {
    let there = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = there
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match words.is_empty() {
        true => String::new(),
        false => format!("{before}{}", words.join(between)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{KindTimes, PartCounts, PartRates, Recorder};

    fn times(ms: &[u64]) -> Option<Latency> {
        let mut recorder = Recorder::default();
        ms.iter().for_each(|ms| recorder.record(ms * 1_000_000));
        recorder.latency()
    }

    #[test]
    fn answers_in_parts_are_told_by_their_times_and_what_is_wrong_by_its_counts() {
        let mut of = Streams {
            answers: 2,
            parts: 9,
            unfinished: 0,
            cut: 1,
            per_answer: Some(PartCounts {
                min: 4,
                median: 4,
                max: 5,
            }),
            first: times(&[20, 30]),
            between: None,
            per_second: Some(PartRates {
                p5: 19.96,
                median: 20.04,
            }),
            numbers: PartNumbers::default(),
        };
        let text = streams(&of);
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert_eq!(
            lines[0],
            "parts        9 of 2 answers; each answer 4 to 5, median 4; 1 ended with their connection"
        );
        assert!(lines[1].starts_with("first part   p50 20ms"), "{text}");
        assert_eq!(lines[2], "parts/s      median 20.0, p5 20.0");
        of.numbers.missing = 1;
        of.numbers.unawaited = 2;
        let text = streams(&of);
        let last = "faulty parts 1 missing, 2 of answers that are not awaited";
        assert!(text.ends_with(last), "{text}");
    }

    #[test]
    fn dialogues_are_told_with_the_answers_of_each_kind() {
        let text = dialogues(&Dialogues {
            begun: 3,
            finished: 2,
            unfinished: 1,
            time: times(&[5_000]),
            kinds: vec![KindTimes {
                kind: "login".to_owned(),
                answers: 3,
                time: None,
            }],
        });
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert!(
            lines[0].starts_with("dialogues    3 begun, 2 finished, 1 unfinished; p50 5"),
            "{text}"
        );
        assert_eq!(lines[1], "login      3 answers; none");
    }
}
