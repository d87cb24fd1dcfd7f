//! Figures in human-readable form.

use plan::Plan;
use record::{
    CompressionUse, Connections, Heartbeats, Latency, MemoryUse, SlowReaders, StepRecord,
    Throughput, TlsUse, Verdict, latency_text as latency,
};
use ws_proto::escaped;

/// `100/s`; with decimals where a whole number would be another rate.
fn per_second(rate: f64) -> String {
    match rate {
        100.0.. => format!("{rate:.0}/s"),
        _ => {
            let text = format!("{rate:.3}");
            format!("{}/s", text.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

/// In place of a figure without samples.
const NONE: &str = " none";

/// The ancestor's line: clients, limited percentile, minimum, median, maximum.
pub(crate) fn step_line(plan: &Plan, step: &StepRecord) -> String {
    let measured = step.measured(plan.limits.of);
    let figure = |of: fn(&Latency) -> u64| {
        measured.map_or_else(|| NONE.to_owned(), |measured| latency(of(measured)))
    };
    let limited = step.limited_ns.map_or_else(|| NONE.to_owned(), latency);
    let rate = step.rate.map_or_else(String::new, |from| {
        let ramp = plan.open_loop().and_then(|open| open.ramp);
        let rate = match ramp {
            None => per_second(from),
            Some(ramp) => format!(
                "{} to {} in {}",
                per_second(from),
                per_second(ramp.to),
                ramp.over
            ),
        };
        format!("    rate: {rate}")
    });
    let mut line = format!(
        "clients: {:5}{rate}    {}per-rtt: {limited}    min-rtt: {}    median-rtt: {}    max-rtt: {}",
        step.clients,
        plan.limits.percentile,
        figure(|l| l.min_ns),
        figure(|l| l.p50_ns),
        figure(|l| l.max_ns),
    );
    if let Some(uncorrected) = &step.uncorrected {
        let uncorrected = uncorrected.recorder().map_or_else(
            |_| NONE.to_owned(),
            |recorder| latency(recorder.percentile(plan.limits.percentile)),
        );
        line.push_str(&format!("    uncorrected: {uncorrected}"));
    }
    if step.over_limit {
        line.push_str("    over the limit");
    }
    if !step.is_complete() {
        line.push_str(&format!(
            "    {} of {} samples",
            step.samples, step.samples_planned
        ));
    }
    if let Some(of) = &step.backpressure {
        line.push_str(&format!(
            "    backpressure: {} requests not taken in time, {} not at all",
            of.late, of.unsent
        ));
    }
    if step.timed_out {
        line.push_str("    timed out");
    }
    if record::not_back(step, plan).is_some() {
        line.push_str("    clients not back in time");
    }
    match step.verdict {
        Verdict::Pass | Verdict::Fail if !step.faults.is_empty() => {
            line.push_str(&format!("    faults: {}", step.faults));
        }
        // What the server failed in has been said.
        Verdict::Pass | Verdict::Fail => {}
        // After how many samples has been said.
        Verdict::Interrupted => line.push_str("    interrupted"),
        Verdict::GeneratorLimited | Verdict::Noisy => line.push_str(&format!(
            "    {}: {}",
            step.verdict.name(),
            step.verdict_reasons.join("; ")
        )),
    }
    if let Some(at_least_ns) = visibly_less(step) {
        line.push_str(&format!(
            "    {}per-rtt at least: {}",
            plan.limits.percentile,
            latency(at_least_ns).trim_start()
        ));
    }
    if let Some(of) = &step.throughput {
        for (name, messages, bytes) in [
            ("sent", of.sent_per_second, of.sent_bytes_per_second),
            (
                "received",
                of.received_per_second,
                of.received_bytes_per_second,
            ),
        ] {
            line.push_str(&format!(
                "    {name}: {}/s {}B/s",
                quantity(messages, ""),
                quantity(bytes, " ")
            ));
        }
    }
    line
}

/// What the limited figure is at least, where that is less by more than a tenth and 100 us: then
/// messages that shared a stamp decide it.
fn visibly_less(step: &StepRecord) -> Option<u64> {
    let (at_least_ns, at_most_ns) = (step.limited_at_least_ns?, step.limited_ns?);
    let less_ns = at_most_ns.saturating_sub(at_least_ns);
    (less_ns > 100_000 && less_ns > at_most_ns / 10).then_some(at_least_ns)
}

/// A number of at most four digits, and the prefix of its unit behind `space`: `9999`, `12.3k`,
/// `1.2M`.
fn quantity(number: f64, space: &str) -> String {
    let (scaled, prefix) = match number {
        ..9_999.5 => return format!("{number:.0}{space}"),
        ..999_950.0 => (number / 1e3, "k"),
        ..999_950_000.0 => (number / 1e6, "M"),
        _ => (number / 1e9, "G"),
    };
    format!("{scaled:.1}{space}{prefix}")
}

/// What became of the clients that read slowly.
pub(crate) fn slow_readers(of: &SlowReaders) -> String {
    let first = of
        .first_cut_off
        .as_deref()
        .map(|words| format!(": {}", escaped(words)));
    let kept = match (of.kept_bytes, of.most_kept_bytes) {
        (Some(bytes @ 1..), Some(most)) => format!(
            "; it had kept {}B for the others, {}B for one",
            quantity(bytes as f64, " "),
            quantity(most as f64, " ")
        ),
        _ => String::new(),
    };
    format!(
        "    slow readers {} clients took {} messages; the server cut off {}{}{kept}",
        of.clients,
        of.messages,
        of.cut_off,
        first.unwrap_or_default(),
    )
}

/// How much shorter compression made what was received and sent.
pub(crate) fn compression(of: &CompressionUse, all: &Throughput) -> String {
    let part = |compressed: u64, messages: u64, wire: u64, inflated: u64| match compressed {
        0 => "none".to_owned(),
        _ => format!(
            "{:.1}x ({wire} bytes in place of {inflated}; {compressed} of {messages} messages)",
            inflated as f64 / wire.max(1) as f64,
        ),
    };
    format!(
        "    compression: received {}, sent {}",
        part(
            of.received,
            all.received,
            of.received_bytes,
            of.received_inflated_bytes
        ),
        part(of.sent, all.sent, of.sent_bytes, of.sent_inflated_bytes),
    )
}

/// TLS handshakes, and what was agreed on in them.
pub(crate) fn tls(of: &TlsUse) -> String {
    let agreed: Vec<String> = of
        .agreed
        .iter()
        .map(|one| {
            let count = match of.agreed.len() {
                1 => String::new(),
                _ => format!("{} ", one.handshakes),
            };
            format!("{count}TLS {} {}", one.version, one.cipher_suite)
        })
        .collect();
    let agreed = match agreed.is_empty() {
        true => String::new(),
        false => format!("; {}", escaped(&agreed.join(", "))),
    };
    format!(
        "    tls          {} handshakes, {} resumed{}{agreed}",
        of.handshakes,
        of.resumed,
        spread(&of.handshake),
    )
}

/// Heartbeats, and how many of them the server answered.
pub(crate) fn heartbeats(of: &Heartbeats) -> String {
    let answers = match (of.answered, of.unanswered) {
        (0, 0) => String::new(),
        (answered, 0) => format!(", {answered} answered{}", spread(&of.round_trip)),
        (answered, unanswered) => format!(
            ", {answered} answered{}; {unanswered} not answered in time",
            spread(&of.round_trip)
        ),
    };
    format!("    heartbeats   {} sent{answers}", of.sent)
}

/// What a `connect` step has besides: how it opened, what became of the pings, what it cost.
pub(crate) fn connections(of: &Connections) -> String {
    let pings = &of.pings;
    let mut text = format!(
        "    opened       {} of {}, {:.0}/s; tcp part{}\n    held         {:.1} s; {} pings, {} answered{}\n    dropped      {}\n",
        of.opened,
        of.planned,
        of.opened_per_second,
        spread(&of.tcp).trim_start_matches(','),
        of.held_ns as f64 / 1e9,
        pings.sent,
        pings.answered,
        spread(&pings.round_trip),
        of.drops,
    );
    if of.unasked_messages > 0 {
        let came = match of.unasked_messages {
            1 => "1 message".to_owned(),
            several => format!("{several} messages"),
        };
        text.push_str(&format!(
            "    unasked      {came} came that nothing asked for\n"
        ));
    }
    let unknown = of.server_unknown.as_deref();
    match (&of.server, unknown) {
        (Some(used), _) => text.push_str(&memory("server", used, unknown)),
        (None, Some(reason)) => {
            text.push_str(&format!("    server       memory unknown: {reason}"))
        }
        (None, None) => {}
    }
    if let Some(used) = &of.generator {
        text.push('\n');
        text.push_str(&memory("generator", used, None));
    }
    let kernel = of.kernel.as_ref();
    match kernel.and_then(|used| used.bytes_per_connection) {
        Some(each) if each < 0.0 => text.push_str(
            "\n    kernel       less memory than before: something else on this machine gave back more than the connections took",
        ),
        Some(each) => text.push_str(&format!(
            "\n    kernel       {each:.0} bytes per connection, of both ends where both are here and whatever else the machine did"
        )),
        None => {}
    }
    text
}

/// `, p50 1ms, p95 ...`; nothing without samples.
pub(crate) fn spread(of: &Option<Latency>) -> String {
    of.as_ref().map_or_else(String::new, |l| {
        let figures = [l.p50_ns, l.p95_ns, l.p99_ns, l.max_ns].map(latency);
        let [p50, p95, p99, max] = figures.each_ref().map(|figure| figure.trim());
        format!(", p50 {p50}, p95 {p95}, p99 {p99}, max {max}")
    })
}

fn memory(name: &str, used: &MemoryUse, unknown: Option<&str>) -> String {
    let Some(each) = used.process_bytes_per_connection else {
        let reason = unknown.unwrap_or("no connection was open");
        return format!("    {name:<11}  memory per connection unknown: {reason}");
    };
    let sockets = used
        .socket_bytes_per_connection
        .map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes:.0} bytes"));
    let processes = match used.after.processes {
        1 => "1 process".to_owned(),
        several => format!("{several} processes"),
    };
    format!(
        "    {name:<11}  {each:.0} bytes of memory per connection ({processes}), {sockets} in queues of the kernel",
    )
}

/// All three latencies of a step and the generator's own use, one to a line.
pub(crate) fn step_details(step: &StepRecord) -> String {
    let mut text = String::new();
    for (name, measured) in [
        ("completion", &step.completion),
        ("uncorrected", &step.uncorrected),
        ("delivery", &step.delivery),
        ("ack", &step.ack),
        ("send lag", &step.send_lag),
        ("receive lag", &step.generator.receive_lag),
        ("stamp error", &step.generator.shared_stamps),
    ] {
        if let Some(l) = measured {
            text.push_str(&format!(
                "    {name:<11}  p50 {}  p90 {}  p95 {}  p99 {}  max {}  ({} samples)\n",
                latency(l.p50_ns),
                latency(l.p90_ns),
                latency(l.p95_ns),
                latency(l.p99_ns),
                latency(l.max_ns),
                l.count
            ));
        }
    }
    let generator = &step.generator;
    text.push_str(&format!(
        "    generator    CPU {:.2} us per message, busiest thread {:.0}%, largest lag {}, {:.1} messages per read, {} samples of {} in {:.2} s",
        generator.cpu_ns as f64 / 1e3 / generator.messages.max(1) as f64,
        generator.busiest_thread * 100.0,
        latency(generator.largest_lag_ns).trim(),
        generator.messages as f64 / generator.reads.max(1) as f64,
        step.samples,
        step.samples_planned,
        step.elapsed_ns as f64 / 1e9,
    ));
    if let Some(law) = &step.in_flight {
        text.push_str(&format!(
            "\n    in flight    {:.3} on average, {:.3} by Little's law, {:.1}% apart",
            law.seen,
            law.expected,
            law.deviation * 100.0
        ));
    }
    let reasons = step.verdict_reasons.join("; ");
    let words = if reasons.is_empty() {
        String::new()
    } else {
        format!(": {reasons}")
    };
    text.push_str(&format!(
        "\n    verdict      {}{words}",
        step.verdict.name()
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_written_as_they_are() {
        for (rate, text) in [
            (0.5, "0.5/s"),
            (10.0, "10/s"),
            (33.333_333, "33.333/s"),
            (133.333_333, "133/s"),
            (200_000.0, "200000/s"),
        ] {
            assert_eq!(per_second(rate), text);
        }
    }

    #[test]
    fn quantities_have_the_prefix_of_their_size() {
        let cases = [
            (0.0, "0"),
            (9_999.4, "9999"),
            (9_999.6, "10.0k"),
            (123_456.0, "123.5k"),
            (999_960.0, "1.0M"),
            (93_100_000.0, "93.1M"),
            (1_200_000_000.0, "1.2G"),
        ];
        for (number, text) in cases {
            assert_eq!(quantity(number, ""), text);
        }
        assert_eq!(quantity(93_100_000.0, " "), "93.1 M");
        assert_eq!(quantity(12.0, " "), "12 ");
    }
}
