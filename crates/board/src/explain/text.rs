//! An explanation in words.

use super::finding::{ExplainedFigure, ExplainedLoad, Explanation, PartOfCost};
use crate::report::{figures, words};
use crate::terminal::one_line;
use std::fmt::Write as _;

/// The whole explanation for a terminal.
pub fn explanation(of: &Explanation) -> String {
    let row = one_line(&of.row);
    let loads: Vec<String> = of.loads.iter().map(|load| self::load(&row, load)).collect();
    loads.join("\n")
}

fn load(row: &str, of: &ExplainedLoad) -> String {
    let workload = one_line(&of.workload_name);
    let mut text = format!("{row}: {workload} over {}", words::dialect(of.dialect));
    if let Some(network) = &of.network {
        let _ = write!(text, " (network: {})", one_line(network));
    }
    if let Some(clients) = of.clients {
        let clients = figures::count(clients);
        let repetitions = numbered(of.repetitions, "repetition");
        let _ = write!(text, " at {clients} clients, {repetitions}");
    }
    text.push('\n');
    if let Some(reason) = &of.reason {
        let status = of.status.name();
        let _ = writeln!(text, "  mind: its status is {status}: {}", one_line(reason));
    }
    if of.clients.is_none() {
        text.push_str("  No step delivered messages, so there is nothing that one costs.\n");
        return text;
    }
    for line in lines(of) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(line) = missing(of) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// What differs, each in a line, and the rest in one.
fn lines(of: &ExplainedLoad) -> Vec<String> {
    let find = |part| of.figures.iter().find(|figure| figure.part == part);
    let shown = |figure: &&ExplainedFigure| {
        figure.part == PartOfCost::Cpu || figure.differs || figure.median.is_none()
    };
    let Some(cpu) = find(PartOfCost::Cpu) else {
        return Vec::new();
    };
    let mut lines = vec![format!(
        "A delivered message takes {} of CPU time{}.",
        figures::time(cpu.value),
        beside(cpu, figures::time)
    )];
    if let (Some(kernel), Some(share)) = (find(PartOfCost::Kernel), find(PartOfCost::KernelShare)) {
        let median = share.median.map(figures::share);
        lines.push(format!(
            "{} of {} are the kernel's ({}{}).",
            figures::time(kernel.value),
            figures::time(cpu.value),
            figures::share(share.value),
            median.map_or_else(String::new, |median| format!("; the median row: {median}"))
        ));
    }
    let counted = [
        PartOfCost::User,
        PartOfCost::VoluntarySwitches,
        PartOfCost::InvoluntarySwitches,
        PartOfCost::Segments,
        PartOfCost::Bytes,
        PartOfCost::Reads,
    ];
    let counted: Vec<&ExplainedFigure> = counted.into_iter().filter_map(find).collect();
    lines.extend(counted.iter().copied().filter(|of| shown(of)).map(told));
    if of.ended_threads > 0 && find(PartOfCost::VoluntarySwitches).is_some() {
        lines.push(format!(
            "{} ended meanwhile: there were more context switches than that.",
            numbered(of.ended_threads as usize, "thread")
        ));
    }
    let alike: Vec<String> = counted
        .into_iter()
        .filter(|of| !shown(of))
        .map(|of| format!("{} {}", amount(of.part, of.value), name(of.part)))
        .collect();
    if !alike.is_empty() {
        lines.push(format!("Much as the median row: {}.", alike.join(", ")));
    }
    lines.push(match of.others {
        0 => "No other row of this load has a place at as many clients.".to_owned(),
        1 => "The median row is the only other one with a place.".to_owned(),
        others => format!("The median is that of {others} other rows with a place."),
    });
    lines
}

fn told(of: &ExplainedFigure) -> String {
    let shown = |value| amount(of.part, value);
    if of.part == PartOfCost::Segments {
        let sends = match of.value {
            ..0.9 => "It puts several messages into one segment",
            0.9..1.1 => "It sends each message by itself",
            _ => "A message takes several segments",
        };
        return format!(
            "{sends}: {} a message{}.",
            shown(of.value),
            beside(of, shown)
        );
    }
    format!(
        "{} {}{}.",
        shown(of.value),
        name(of.part),
        beside(of, shown)
    )
}

/// The median and the least, in a clause.
fn beside(of: &ExplainedFigure, shown: impl Fn(f64) -> String) -> String {
    let Some(median) = of.median else {
        return String::new();
    };
    let least = of.least.as_ref();
    let least = least.filter(|least| least.value < of.value && least.value < median);
    let least = least.map(|least| format!("; {} in {}", shown(least.value), one_line(&least.row)));
    format!(
        " (the median row: {}{})",
        shown(median),
        least.unwrap_or_default()
    )
}

fn amount(part: PartOfCost, value: f64) -> String {
    match part {
        PartOfCost::Cpu | PartOfCost::Kernel | PartOfCost::User => figures::time(value),
        PartOfCost::KernelShare => figures::share(value),
        PartOfCost::Bytes => figures::bytes(value),
        PartOfCost::VoluntarySwitches
        | PartOfCost::InvoluntarySwitches
        | PartOfCost::Segments
        | PartOfCost::Reads => rate(value),
    }
}

/// A count for each message.
fn rate(value: f64) -> String {
    match value {
        0.0 => "no".to_owned(),
        few if few < 0.001 => "less than 0.001".to_owned(),
        few if few < 0.1 => format!("{few:.3}"),
        other => format!("{other:.2}"),
    }
}

const fn name(part: PartOfCost) -> &'static str {
    match part {
        PartOfCost::Cpu => "of CPU time a message",
        PartOfCost::Kernel => "in the kernel a message",
        PartOfCost::KernelShare => "of it in the kernel",
        PartOfCost::User => "in its own programs a message",
        PartOfCost::VoluntarySwitches => "context switches a message, where a thread waited",
        PartOfCost::InvoluntarySwitches => {
            "context switches a message, where the kernel took the core"
        }
        PartOfCost::Segments => "TCP segments a message",
        PartOfCost::Bytes => "a message on the wire",
        PartOfCost::Reads => "reads of the clients a message",
    }
}

fn missing(of: &ExplainedLoad) -> Option<String> {
    let lacks = |part| of.missing.contains(&part);
    let named = [
        (PartOfCost::Cpu, "CPU time"),
        (PartOfCost::KernelShare, "user and kernel time"),
        (PartOfCost::VoluntarySwitches, "context switches"),
        (PartOfCost::Segments, "TCP segments"),
        (PartOfCost::Bytes, "bytes"),
        (PartOfCost::Reads, "reads"),
    ];
    let named = named.into_iter().filter(|(part, _)| lacks(*part));
    let names: Vec<&str> = named.map(|(_, name)| name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "These records do not hold {}: an earlier version wrote them, or the kernel did not tell; \
             measure again.",
            names.join(", ")
        )
    })
}

fn numbered(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", figures::count(count as u64))
}
