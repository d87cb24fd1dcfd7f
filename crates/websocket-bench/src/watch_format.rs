//! What became of the messages of a watched step, in human-readable form.

use record::{Fates, Latency, Watched, latency_text};

/// Messages, deliveries by what became of them, and latencies, one to a line.
pub(crate) fn watched(of: &Watched) -> String {
    let mut all = of.of_confirmed;
    all.add(of.of_unconfirmed);
    let mut text = format!("    messages     {}", messages(of));
    text.push_str(&format!(
        "\n    deliveries   {} of {} came live ({}){}",
        all.live,
        all.all(),
        share(all.live, all.all()),
        match all.made_good {
            0 => String::new(),
            kept => format!(", {kept} later, when their clients were back"),
        }
    ));
    if all.lost() > 0 {
        text.push_str(&format!("\n    lost         {}", lost(&all)));
        if of.silent_clients > 0 {
            text.push_str(&format!(
                "; {} clients lost messages in silence",
                of.silent_clients
            ));
        }
        let confirmed = of.of_confirmed.lost();
        if !of.has_no_results && confirmed > 0 {
            text.push_str(&format!(
                "\n    confirmed    {confirmed} of the lost deliveries are of messages that the server had \
                 confirmed"
            ));
        }
    }
    let wrong = [
        (of.duplicate, "came twice on a connection"),
        (of.repeated, "came again on a later connection"),
        (of.reordered, "came after a later one of their publisher"),
    ];
    for (count, words) in wrong.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!("\n    wrong        {count} {words}"));
    }
    for (name, latency) in [("same node", &of.same_node), ("cross node", &of.cross_node)] {
        if let Some(latency) = latency {
            text.push_str(&format!("\n    {name:<13}{}", times(latency)));
        }
    }
    if let Some(latency) = &of.bystander_latency {
        text.push_str(&format!(
            "\n    bystanders   {} clients whose connection lasted: {}",
            of.bystanders,
            times(latency)
        ));
    }
    text
}

fn messages(of: &Watched) -> String {
    let mut text = format!("{} of {} were sent", of.sent, of.planned);
    match of.has_no_results {
        true => text.push_str("; this dialect confirms none"),
        false => text.push_str(&format!(", {} were confirmed", of.confirmed)),
    }
    if of.refused > 0 {
        text.push_str(&format!(", {} were refused", of.refused));
    }
    if of.sent < of.planned {
        text.push_str("; the clients that were to send the others had no connection");
    }
    text
}

fn lost(all: &Fates) -> String {
    let kinds = [
        (all.lost_silent, "in silence (the connection stayed)"),
        (all.lost_joining, "in the first second of a connection"),
        (all.lost_cut, "with a connection that ended"),
        (all.lost_away, "while the client had no connection"),
    ];
    let words: Vec<String> = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    words.join(", ")
}

/// A share in percent, with as many digits as tell it from all.
fn share(part: u64, all: u64) -> String {
    let percent = part as f64 * 100.0 / all.max(1) as f64;
    let missing = 100.0 - percent;
    let digits = match missing {
        _ if part == all => return "100%".to_owned(),
        0.1.. => 2,
        0.001.. => 4,
        _ => 6,
    };
    format!("{percent:.digits$}%")
}

fn times(of: &Latency) -> String {
    let time = |ns| latency_text(ns).trim().to_owned();
    format!(
        "p50 {}, p99 {}, max {}",
        time(of.p50_ns),
        time(of.p99_ns),
        time(of.max_ns)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_never_rounded_to_all() {
        assert_eq!(share(10, 10), "100%");
        assert_eq!(share(1, 2), "50.00%");
        assert_eq!(share(99_999, 100_000), "99.9990%");
        assert_eq!(share(99_999_999, 100_000_000), "99.999999%");
        assert_eq!(share(0, 0), "100%");
    }

    #[test]
    fn only_what_happened_is_told() {
        let mut of = Watched {
            planned: 10,
            sent: 10,
            confirmed: 10,
            ..Watched::default()
        };
        of.of_confirmed.live = 40;
        assert_eq!(
            watched(&of),
            "    messages     10 of 10 were sent, 10 were confirmed\n    deliveries   40 of 40 came live \
             (100%)"
        );
        of.of_confirmed.live = 35;
        of.of_confirmed.lost_silent = 3;
        of.of_confirmed.made_good = 2;
        of.silent_clients = 1;
        let text = watched(&of);
        assert!(
            text.contains("35 of 40 came live (87.50%), 2 later"),
            "{text}"
        );
        assert!(
            text.contains("lost         3 in silence (the connection stayed); 1 clients lost"),
            "{text}"
        );
    }
}
