//! The columns of a ranking: those of every workload, and those of what its plan asks for.

use super::figures;
use super::ranking::{MemoryKind, Row, Score, Step, grows};
use super::subject::Subject;
use super::table::{Cell, NOTHING};
use super::words;
use plan::{Dialect, Life, Measure, Nanos, Plan, Reading, Workload};
use record::{CompressionUse, JsonReading};

mod failover;
mod leaving;

const NEVER: &str = "never";

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) title: String,
    /// What it is, in a sentence.
    pub(crate) meaning: String,
    pub(crate) numeric: bool,
}

/// A column, and what a row has in it.
pub(crate) struct Filled {
    pub(crate) column: Column,
    pub(crate) cell: Box<dyn Fn(&Row<'_>) -> Cell>,
}

fn figure(
    title: impl Into<String>,
    meaning: impl Into<String>,
    cell: impl Fn(&Row<'_>) -> Cell + 'static,
) -> Filled {
    Filled {
        column: Column {
            title: title.into(),
            meaning: meaning.into(),
            numeric: true,
        },
        cell: Box::new(cell),
    }
}

fn word(title: &str, meaning: &str, cell: impl Fn(&Row<'_>) -> Cell + 'static) -> Filled {
    let filled = figure(title, meaning, cell);
    Filled {
        column: Column {
            numeric: false,
            ..filled.column
        },
        ..filled
    }
}

/// A figure of the step that the figures of a row are from.
fn at_step(
    title: impl Into<String>,
    meaning: impl Into<String>,
    cell: impl Fn(&Step) -> Cell + 'static,
) -> Filled {
    figure(title, meaning, move |row| {
        row.shown_step().map_or_else(|| Cell::word(NOTHING), &cell)
    })
}

/// The columns for rows of one workload and dialect.
pub(crate) fn filled(rows: &[Row<'_>], subject: &Subject<'_>) -> Vec<Filled> {
    let plan = rows.iter().find_map(Row::plan);
    let request = rows[0].workload();
    let has = |of: fn(&Plan) -> bool| plan.is_some_and(of);
    let mut columns = contestant(rows);
    if subject.score == Score::Loss {
        columns.extend(failover::columns());
        columns.push(status());
        return columns;
    }
    columns.extend(latencies(request));
    if has(|plan| plan.warm_up != Nanos(0)) {
        columns.push(figure(
            "cold p95",
            "95th percentile of completion in the first step of the warm-up, just after the start.",
            |row| Cell::latency(row.cold().as_ref(), |latency| latency.p95_ns),
        ));
    }
    if matches!(request, Workload::Broadcast | Workload::Rooms) {
        columns.push(delivery(request, plan));
    }
    if subject.score == Score::Rate {
        columns.push(rate());
    }
    if subject.score == Score::Return {
        columns.extend(leaving::cut());
    }
    let lives = |is: fn(&Life) -> bool| {
        plan.is_some_and(|plan| plan.populations.iter().any(|of| is(&of.life)))
    };
    if lives(|life| matches!(life, Life::ChangesRoom(_))) {
        columns.extend(leaving::room_changes());
    }
    if lives(|life| matches!(life, Life::ComesAndGoes(_) | Life::Cut(_))) {
        columns.extend(leaving::of_those(subject.score));
    }
    if lives(|life| *life != Life::Stays) {
        columns.push(leaving::lost());
    }
    let reads_slowly = has(|plan| plan.populations.iter().any(|p| p.reads != Reading::Full));
    if reads_slowly {
        columns.extend([cut_off(), kept()]);
    }
    if has(|plan| plan.connection.compression.is_some()) {
        columns.extend(compression());
    }
    if request == Workload::Connect {
        columns.extend(held());
    }
    columns.extend(match reads_slowly {
        true => whole_memory(),
        false => memory(rows),
    });
    if request != Workload::Connect {
        columns.push(cost(subject.score));
    }
    if rows.iter().any(Row::is_behind_proxy) {
        columns.extend(proxy(request));
    }
    columns.push(status());
    columns
}

fn status() -> Filled {
    word(
        "status",
        "Whether there is a result, and if not, why.",
        |row| Cell::word(row.status.name()),
    )
}

fn contestant(rows: &[Row<'_>]) -> Vec<Filled> {
    let mut columns = vec![
        figure(
            "#",
            "Place among the rows that have a result; a range where the repetitions do not tell \
             rows apart.",
            place,
        ),
        word("server", "Folder of the server.", |row| {
            Cell::word(&row.server().name)
        }),
        word("variant", "Variant of the server.", |row| {
            Cell::word(&row.server().variant)
        }),
        word(
            "version",
            "Version of the library, as the built server prints it; with its year, where that is more than \
             two years before the measurement.",
            |row| Cell::word(words::version(row).unwrap_or_else(|| NOTHING.to_owned())),
        ),
    ];
    if rows.iter().any(|row| row.server().runtime.is_some()) {
        columns.push(word(
            "runtime",
            "What runs or compiled the server.",
            |row| Cell::word(row.server().runtime.as_deref().unwrap_or(NOTHING)),
        ));
    }
    let reads = |row: &Row<'_>| {
        row.server()
            .json
            .filter(|_| row.dialect() != Dialect::Binary)
    };
    if rows.iter().any(|row| reads(row).is_some()) {
        columns.push(word(
            "JSON",
            "How the server reads a message: the payload as a tree of values, raw as the bytes that came, or \
             neither (sax).",
            move |row| Cell::word(reads(row).map_or(NOTHING, JsonReading::name)),
        ));
    }
    columns.push(figure(
        "clients",
        "Clients of the last step within the limit: the median over the repetitions, of two in the \
         middle the lower. ≥ where something other than the server ended the run. In brackets the 95 % interval of 6 \
         repetitions or more, else their range.",
        clients,
    ));
    columns
}

fn latencies(request: Workload) -> [Filled; 3] {
    let what = match request {
        Workload::Connect => "the time to the accepted upgrade",
        Workload::Rooms => "completion (the last client of the room has it)",
        Workload::Echo | Workload::Broadcast => "completion",
    };
    [
        figure(
            "p50",
            format!("Median of {what} at that step: the median over the repetitions."),
            |row| percentile(row, Measure::Completion, 50.0),
        ),
        figure(
            "p95",
            format!(
                "95th percentile of {what} at that step: the median over all repetitions that had it, \
                 whether they kept the limit there or not; in brackets the 95 % interval of 6 or more, else their range."
            ),
            p95,
        ),
        figure(
            "p99",
            format!("99th percentile of {what} at that step: the median over the repetitions."),
            |row| percentile(row, Measure::Completion, 99.0),
        ),
    ]
}

fn percentile(row: &Row<'_>, of: Measure, percentile: f64) -> Cell {
    time(row.latency(of, percentile))
}

/// A time, which may never have come.
fn time(ns: Option<f64>) -> Cell {
    match ns {
        Some(never) if never.is_infinite() => Cell::word(NEVER),
        ns => Cell::figure(ns, |ns| figures::time(*ns)),
    }
}

/// Deliveries at the percentile of the limit, where that is on them.
fn delivery(request: Workload, plan: Option<&Plan>) -> Filled {
    let limit = plan.map(|plan| plan.limits);
    let is_99 =
        limit.is_some_and(|limit| limit.of == Measure::Delivery && limit.percentile == 99.0);
    let who = match request {
        Workload::Rooms => "over all deliveries to members of the room",
        _ => "over all listeners",
    };
    let of = if is_99 { 99.0 } else { 95.0 };
    figure(
        format!("delivery p{of}"),
        format!("{of}th percentile {who} at that step: the median over the repetitions."),
        move |row| percentile(row, Measure::Delivery, of),
    )
}

fn cost(score: Score) -> Filled {
    const TITLE: &str = "cpu/msg";
    const MEANING: &str = "CPU time of the server for one message delivered";
    match score {
        Score::Cost => figure(
            TITLE,
            format!(
                "{MEANING}, and of the proxy before it where it has one: the median over the repetitions."
            ),
            |row| Cell::figure(row.figure(Score::Cost, None), |ns| figures::time(*ns)),
        ),
        _ => at_step(TITLE, format!("{MEANING}."), |step| {
            Cell::figure(step.cpu_per_message_ns, |ns| figures::time(*ns))
        }),
    }
}

/// What the proxy takes on top of the server's own.
fn proxy(request: Workload) -> Vec<Filled> {
    let memory = at_step(
        "proxy mem/conn",
        "Memory of the proxy above idle, divided by the clients.",
        |step| {
            let memory = step.proxy_memory.map(|memory| memory.bytes);
            Cell::figure(memory, above_idle)
        },
    );
    let cost = at_step(
        "proxy cpu/msg",
        "CPU time of the proxy for one message delivered.",
        |step| Cell::figure(step.proxy_cpu_ns, |ns| figures::time(*ns)),
    );
    let has_messages = request != Workload::Connect;
    [memory]
        .into_iter()
        .chain(has_messages.then_some(cost))
        .collect()
}

fn rate() -> Filled {
    figure(
        "rate",
        "Highest rate of requests a second within the limit: the median over the repetitions.",
        |row| {
            Cell::figure(row.figure(Score::Rate, None), |rate| {
                figures::count(rate.round() as u64)
            })
        },
    )
}

fn cut_off() -> Filled {
    at_step(
        "cut off",
        "How many of the clients that read slowly or not at all the server cut off. It is its \
         defence, and no fault.",
        |step| {
            let slow = step.extra.slow.as_ref();
            Cell {
                value: slow.map(|slow| slow.cut_off.to_string()),
                range: None,
                text: slow.map_or_else(
                    || NOTHING.to_owned(),
                    |slow| format!("{} of {}", slow.cut_off, slow.clients),
                ),
            }
        },
    )
}

fn kept() -> Filled {
    at_step(
        "kept",
        "What the server and its sockets had kept for one client that read slowly and was not cut \
         off when the step was over, of the client with the most.",
        |step| {
            let kept = step.extra.slow.as_ref().and_then(|slow| slow.kept_bytes);
            Cell::figure(kept, |bytes| figures::bytes(*bytes as f64))
        },
    )
}

fn compression() -> [Filled; 2] {
    let each = |bytes: fn(&CompressionUse) -> u64, of: fn(&CompressionUse) -> u64| {
        move |step: &Step| {
            let used = step.extra.compression.filter(|used| of(used) > 0)?;
            Some(bytes(&used) as f64 / of(&used) as f64)
        }
    };
    let ratio = each(
        |used| used.received_inflated_bytes,
        |used| used.received_bytes,
    );
    let size = each(|used| used.received_bytes, |used| used.received);
    [
        at_step(
            "ratio",
            "Bytes of the compressed messages received once inflated, over their bytes on the \
             wire. Padding is one letter over and over: real documents compress less.",
            move |step| Cell::figure(ratio(step), |ratio| format!("{ratio:.1}")),
        ),
        at_step(
            "wire/msg",
            "Bytes on the wire of one compressed message received.",
            move |step| Cell::figure(size(step), |bytes| figures::bytes(*bytes)),
        ),
    ]
}

fn held() -> [Filled; 3] {
    [
        at_step(
            "opened/s",
            "Accepted upgrades a second, from the first intended start to the last upgrade.",
            |step| {
                let held = step.extra.held.as_ref();
                Cell::figure(held.map(|held| held.opened_per_second), |rate| {
                    figures::count(rate.round() as u64)
                })
            },
        ),
        at_step(
            "ping p99",
            "99th percentile of the time from a ping to its pong while the connections are held.",
            |step| {
                let held = step.extra.held.as_ref();
                let ping = held.and_then(|held| held.ping.as_ref());
                Cell::latency(ping, |latency| latency.p99_ns)
            },
        ),
        at_step(
            "dropped",
            "Connections that ended and that the generator did not close.",
            |step| {
                let held = step.extra.held.as_ref();
                Cell::figure(held.map(|held| held.dropped), |count| {
                    figures::count(*count)
                })
            },
        ),
    ]
}

fn memory(rows: &[Row<'_>]) -> Vec<Filled> {
    let kinds = rows
        .iter()
        .filter_map(|row| Some(row.shown_step()?.memory?.kind));
    let kinds: Vec<MemoryKind> = kinds.collect();
    let memory = if kinds.contains(&MemoryKind::Resident) {
        "Memory of the process tree above idle, divided by the clients. At least one row knows \
         only resident memory, in which shared pages count once per process."
    } else {
        "Proportional memory (shared pages count once) of the process tree above idle, divided \
         by the clients."
    };
    vec![
        at_step("mem/conn", memory, |step| {
            let memory = step.memory.map(|memory| memory.bytes);
            Cell::figure(memory, above_idle)
        }),
        at_step(
            "sock/conn",
            "Kernel memory of the server's sockets above idle, divided by the clients.",
            |step| Cell::figure(step.sockets, above_idle),
        ),
    ]
}

/// A server that gave memory back while it was loaded has less than when it was idle.
fn above_idle(bytes: &f64) -> String {
    match *bytes < 0.0 {
        true => "< 0 B".to_owned(),
        false => figures::bytes(*bytes),
    }
}

/// Memory that is not shared out: a few slow clients take nearly all of it.
fn whole_memory() -> Vec<Filled> {
    let whole = |each: Option<f64>, step: &Step| each.map(|bytes| bytes * step.clients as f64);
    vec![
        at_step(
            "memory",
            "What the process tree had above idle in the largest sample of the step.",
            move |step| {
                let each = step.memory.map(|memory| memory.bytes);
                Cell::figure(whole(each, step), |bytes| figures::bytes(*bytes))
            },
        ),
        at_step(
            "in sockets",
            "Kernel memory of the server's sockets above idle in the largest sample of the step.",
            move |step| Cell::figure(whole(step.sockets, step), |bytes| figures::bytes(*bytes)),
        ),
    ]
}

fn place(row: &Row<'_>) -> Cell {
    let Some(place) = row.place else {
        return Cell::word(NOTHING);
    };
    Cell {
        value: Some(place.best.to_string()),
        range: None,
        text: place.to_string(),
    }
}

fn p95(row: &Row<'_>) -> Cell {
    let mut cell = percentile(row, Measure::Completion, 95.0);
    if let Some(interval) = row.completion_interval(95.0) {
        let [low, high] = [interval.low, interval.high].map(|end| time(Some(end)).text);
        cell.text.push_str(&format!(" ({low}–{high})"));
    }
    cell
}

fn clients(row: &Row<'_>) -> Cell {
    let Some(carried) = &row.carried else {
        return Cell::word(NOTHING);
    };
    // A plan with one number of clients does not ask whether the server carries more.
    let shown = match carried.clients() {
        Some(fixed) if !row.plan().is_some_and(grows) => figures::count(fixed),
        _ => words::carried(carried),
    };
    let differ = carried.smallest != carried.largest;
    let interval = row.clients_interval().filter(|_| differ);
    Cell {
        value: Some(carried.median.to_string()),
        range: differ.then_some((carried.smallest, carried.largest)),
        text: match interval {
            Some(interval) => format!("{shown} ({})", words::interval(interval)),
            None => shown,
        },
    }
}
