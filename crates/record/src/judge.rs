//! What a step says, and of whom: a pure function of its figures.
//!
//! The order is that of certainty. What the server did is counted exactly, whatever the generator
//! was like. Whether the generator put the planned load on the server decides whether the latencies
//! answer the question. Only then is a latency held against the limit. Nothing is measured here.

use super::{Churn, CutRecord, Faults, SiteUse, StepRecord, Told, Verdict};
use plan::{Audience, Connect, Load, Measure, Plan, Population, Timestamps};

/// Share of the planned requests that must go out within the planned time (lancet and nighthawk
/// draw the line there, too).
const SENT: f64 = 0.99;
/// Share of a core above which a loop has no room for what comes unevenly.
pub const BUSY: f64 = 0.9;
/// Far more than the control frames of a server that only has not answered yet.
const FLOOD_BYTES: u64 = 1 << 20;
/// A shorter step is a burst, which keeps any loop busy; one that breaks a limit of some use lasts
/// longer.
const BURST_NS: u64 = 50_000_000;
/// A lag of the generator above this share of the reported 99th percentile is a visible part of it.
const LAG: f64 = 0.1;
/// Lags below this are within the error that is stated for every latency.
const SMALL_LAG_NS: u64 = 100_000;
/// Share of the ceiling above which queues build up in the generator.
const NEAR_CEILING: f64 = 0.8;
/// Little's law holds exactly over a whole step; what is left is the histogram's resolution.
const LITTLE: f64 = 0.05;
/// Share of reads that may lack a stamp before the percentiles rest on the others' times.
const UNSTAMPED: f64 = 0.01;

/// A verdict and its reasons. The reasons of a pass say what makes the server look worse than it may
/// be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What the step says.
    pub verdict: Verdict,
    /// Why, in words.
    pub reasons: Vec<Told>,
}

/// Judges the figures of a step of `plan`. `ceiling` is the rate of messages, per second, that this
/// generator has been seen to reach here with such a plan, where that is known.
pub fn judge(step: &StepRecord, plan: &Plan, ceiling: Option<f64>) -> Judgement {
    let told = |verdict, reasons: Vec<String>| Judgement {
        verdict,
        reasons: reasons.into_iter().map(Told::from).collect(),
    };
    let faults = counted_faults(step);
    if !faults.is_empty() {
        return told(Verdict::Fail, vec![format!("faults: {faults}")]);
    }
    if let Some(words) = kept_too_much(step, plan) {
        return told(Verdict::Fail, vec![words]);
    }
    let signs = signs(step, plan, ceiling);
    if let Some(short) = sent_too_few(step) {
        let reasons = std::iter::once(short).chain(signs).collect();
        return told(Verdict::GeneratorLimited, reasons);
    }
    if let Some(unknown) = below_the_clocks(step, plan) {
        return told(Verdict::GeneratorLimited, vec![unknown]);
    }
    let failure = failure(step, plan).map(|words| match not_taken(step) {
        Some(first) => format!("{first}; {words}"),
        None => words,
    });
    if failure.is_some() && !signs.is_empty() {
        return told(Verdict::GeneratorLimited, signs);
    }
    if step.timed_out {
        return told(Verdict::Fail, failure.into_iter().collect());
    }
    let noise = noise(step, plan);
    if !noise.is_empty() {
        return told(Verdict::Noisy, noise);
    }
    let not_back = not_back(step, plan);
    if let Some(failure) = failure {
        let reasons = std::iter::once(failure).chain(not_back).collect();
        return told(Verdict::Fail, reasons);
    }
    if let Some(words) = not_back {
        let signs = signs_in_storm(step, plan);
        let verdict = match signs.is_empty() {
            true => Verdict::Fail,
            false => Verdict::GeneratorLimited,
        };
        return told(verdict, signs.into_iter().chain([words]).collect());
    }
    match too_late_to_tell(step, plan) {
        Some(reason) => told(Verdict::GeneratorLimited, vec![reason]),
        None => {
            let late = late_attempts(step, plan);
            told(Verdict::Pass, signs.into_iter().chain(late).collect())
        }
    }
}

/// Judges a step that the user ended before its time: what was seen of faults by then counts, and
/// nothing else does.
pub fn judge_interrupted(step: &StepRecord) -> Judgement {
    if !step.faults.is_empty() {
        return Judgement {
            verdict: Verdict::Fail,
            reasons: vec![format!("faults: {}", step.faults).into()],
        };
    }
    Judgement {
        verdict: Verdict::Interrupted,
        reasons: vec![
            match &step.connections {
                Some(held) => format!(
                    "it was ended after {:.1} s of its hold",
                    held.held_ns as f64 / 1e9
                ),
                None => format!(
                    "it was ended after {} of {} samples",
                    step.samples, step.samples_planned
                ),
            }
            .into(),
        ],
    }
}

/// Faults that no lateness of the generator explains. What is missing when a step is given up is
/// the time-out in other words, but for what the numbers of a feed and of parts show.
pub fn counted_faults(step: &StepRecord) -> Faults {
    let mut faults = step.faults;
    if step.timed_out && faults.disconnected == 0 {
        (faults.lost, faults.unanswered) = (step.numbered_faults().lost, 0);
    }
    faults
}

/// What the server kept for a client that reads slowly, in words, where the plan allows less. It was
/// received and counted: no lateness of the generator explains it.
pub fn kept_too_much(step: &StepRecord, plan: &Plan) -> Option<String> {
    let allowed = plan.limits.kept_bytes?;
    let kept = step.slow_readers.as_ref()?.most_kept_bytes?;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    (kept > allowed).then(|| {
        format!(
            "the server kept {:.1} MB for a client that reads slowly, above the limit of {:.1} MB, \
             and did not cut it off",
            megabytes(kept),
            megabytes(allowed)
        )
    })
}

/// Clients that were cut off and are not back as the plan wants it, in words: by its limit, or all of
/// them when the step ends. How long those take that are not back then is not known.
pub fn not_back(step: &StepRecord, plan: &Plan) -> Option<String> {
    let (churn, cut) = storm(step, plan)?;
    let limit = plan.limits.back;
    let took_ns = cut.back_within(percentile_back(plan));
    let all = cut.clients;
    let who = match percentile_back(plan) {
        100.0.. => "all".to_owned(),
        percentile => format!("{percentile}%"),
    };
    let late = churn.attempt_lag.as_ref().map_or(0, |lag| lag.max_ns);
    let waited = match is_visible(late, took_ns.unwrap_or(since_cut_ns(step, cut))) {
        true => format!(
            "; attempts began up to {} late, with {} at once (connection.at_once)",
            time(late),
            plan.connection.at_once
        ),
        false => String::new(),
    };
    match (took_ns, limit) {
        (Some(_), None) => None,
        (Some(took_ns), Some(limit)) if took_ns <= limit.time.ns() => None,
        (Some(took_ns), Some(limit)) => Some(format!(
            "{who} of the {all} clients that were cut off were back after {}, above the limit of \
             {}{waited}",
            time(took_ns),
            time(limit.time.ns())
        )),
        (None, _) => Some(format!(
            "{} of {all} clients that were cut off were back when the step ended, {} after the cut, \
             and {who} were to be{}; how long the others take is not known; of {} attempts {} failed \
             and {} were under way then{waited}",
            cut.back,
            time(since_cut_ns(step, cut)),
            limit.map_or_else(String::new, |of| format!(" within {}", time(of.time.ns()))),
            churn.attempts,
            churn.failures.total(),
            churn.unfinished
        )),
    }
}

/// The cut of a step whose clients were to come back.
fn storm<'a>(step: &'a StepRecord, plan: &Plan) -> Option<(&'a Churn, &'a CutRecord)> {
    let mut populations = plan.populations.iter();
    let churn = step.churn.as_deref()?;
    let cut = churn.cut.as_ref().filter(|cut| cut.clients > 0)?;
    let returns = populations.any(Population::returns_after_cut);
    returns.then_some((churn, cut))
}

fn percentile_back(plan: &Plan) -> f64 {
    plan.limits.back.map_or(100.0, |limit| limit.percentile)
}

const fn since_cut_ns(step: &StepRecord, cut: &CutRecord) -> u64 {
    step.elapsed_ns.saturating_sub(cut.at_ns)
}

/// What speaks for the generator as the limit where clients are not back in time.
fn signs_in_storm(step: &StepRecord, plan: &Plan) -> Vec<String> {
    let would_be_in_time = storm(step, plan).is_some_and(|(churn, cut)| {
        let lag_ns = churn.generator_lag.as_ref().map_or(0, |lag| lag.max_ns);
        let took_ns = cut.back_within(percentile_back(plan));
        took_ns
            .zip(plan.limits.back)
            .is_none_or(|(took_ns, limit)| took_ns.saturating_sub(lag_ns) <= limit.time.ns())
    });
    let late = late_attempts(step, plan).filter(|_| would_be_in_time);
    let signs = [busy(step), without_ports(step), late];
    signs.into_iter().flatten().collect()
}

/// The generator was late with attempts to come back for which there was a place.
fn late_attempts(step: &StepRecord, plan: &Plan) -> Option<String> {
    let (churn, cut) = storm(step, plan)?;
    let latest_ns = churn.generator_lag.as_ref()?.max_ns;
    let took_ns = cut.back_within(percentile_back(plan));
    let took_ns = took_ns.unwrap_or(since_cut_ns(step, cut));
    is_visible(latest_ns, took_ns).then(|| {
        format!(
            "the generator began attempts to come back up to {} late, more than a tenth of the {} \
             that they took",
            time(latest_ns),
            time(took_ns)
        )
    })
}

/// A lag that is a visible part of what is reported.
fn is_visible(lag_ns: u64, reported_ns: u64) -> bool {
    lag_ns > SMALL_LAG_NS && lag_ns as f64 > LAG * reported_ns as f64
}

fn failure(step: &StepRecord, plan: &Plan) -> Option<String> {
    let limits = &plan.limits;
    if step.timed_out {
        let mut words = format!(
            "{} of {} samples were complete when one had taken {}",
            step.samples,
            step.samples_planned,
            time(plan.limits.sample_timeout.ns())
        );
        if let Some(bytes) = flood(step) {
            let megabytes = bytes as f64 / 1e6;
            words.push_str(&format!(
                "; the server sent {megabytes:.1} MB of frames meanwhile and not one message"
            ));
        }
        return Some(words);
    }
    let limited_ns = step.limited_ns.filter(|_| step.over_limit)?;
    Some(format!(
        "the {}th percentile is {}, above the limit of {}",
        limits.percentile,
        time(limited_ns),
        time(limits.time.ns())
    ))
}

/// Bytes received in a step in which a server sent frames without end (pings, empty fragments) and
/// not one message: reading them is what keeps the generator busy, and no lateness of its own.
fn flood(step: &StepRecord) -> Option<u64> {
    let received = step.throughput?;
    (received.received == 0 && received.received_bytes > FLOOD_BYTES)
        .then_some(received.received_bytes)
}

/// The server stopped reading: in plain words, since a time-out alone would not say it.
fn not_taken(step: &StepRecord) -> Option<String> {
    let of = step.backpressure?;
    Some(format!(
        "the server did not take {} of {} requests in time, {} of them not at all: it did not read, \
         and its connections were full (backpressure)",
        of.late, step.samples_planned, of.unsent
    ))
}

fn sent_too_few(step: &StepRecord) -> Option<String> {
    let (sent, planned) = (step.sent?, step.samples_planned);
    // The generator was ready to send what the server would not take.
    let ready = sent + step.backpressure.map_or(0, |of| of.late);
    let share = |sent: u64, planned: u64| sent as f64 * 100.0 / planned.max(1) as f64;
    let rows = step.sites.iter();
    let behind = rows.filter_map(|site| Some((site, site.sent?, site.samples_planned?)));
    let behind = behind.filter(|(_, sent, planned)| !all_sent(*sent, *planned));
    let worst = behind.min_by(|a, b| share(a.1, a.2).total_cmp(&share(b.1, b.2)));
    let of_worst = worst.map_or_else(String::new, |(site, sent, planned)| {
        format!(", at worker {} {sent} of {planned}", site.name)
    });
    (!all_sent(ready, planned)).then(|| {
        format!(
            "only {:.1}% of the planned requests went out in time ({sent} of {planned}{of_worst})",
            share(sent, planned)
        )
    })
}

/// Of a broadcast, send and receipt may be at different sites, and a latency means nothing that is
/// below what is known of their clocks. An echo or a result is sent and received at one site.
fn below_the_clocks(step: &StepRecord, plan: &Plan) -> Option<String> {
    if plan.audience == Audience::Sender || plan.limits.of == Measure::Ack {
        return None;
    }
    let bound_ns = SiteUse::clocks_bound_ns(&step.sites);
    let medians = [
        ("completion", &step.completion),
        ("delivery", &step.delivery),
    ];
    let (name, median_ns) = medians
        .into_iter()
        .filter_map(|(name, latency)| Some((name, latency.as_ref()?.p50_ns)))
        .find(|(_, median_ns)| *median_ns < bound_ns)?;
    Some(format!(
        "the clocks of the sites are known to {:.0} us only, and the median {name} is {}; measure \
         the sender's result (limits.of = \"ack\"), or take workers on one machine or a quicker network",
        bound_ns as f64 / 1e3,
        time(median_ns)
    ))
}

/// Whether so many sends within the planned time are the planned load.
pub fn all_sent(sent: u64, planned: u64) -> bool {
    sent as f64 >= SENT * planned as f64
}

/// What speaks for the generator as the limit, should the step have failed.
fn signs(step: &StepRecord, plan: &Plan, ceiling: Option<f64>) -> Vec<String> {
    let generator = &step.generator;
    let mut signs: Vec<String> = below_the_stamps(step, plan).into_iter().collect();
    if flood(step).is_some() {
        return signs;
    }
    signs.extend(busy(step));
    // Of a step that was given up, the slowest are not in the histogram.
    let given_up_ns = step.timed_out.then_some(plan.limits.sample_timeout.ns());
    let reported = step.measured(plan.limits.of).map(|l| l.p99_ns);
    let reported = reported.max(given_up_ns);
    // The kernel's stamps end a latency before the generator's read. Without them the read adds its
    // lag, no more: where the limit would be broken without it as well, it excuses nothing.
    let receive_lag = match plan.generator.timestamps {
        Timestamps::Kernel => None,
        Timestamps::User => generator.receive_lag.as_ref().filter(|lag| {
            let without = step.limited_ns.unwrap_or(0).saturating_sub(lag.p99_ns);
            without <= plan.limits.time.ns()
        }),
    };
    for (name, lag) in [("sent", step.send_lag.as_ref()), ("read", receive_lag)] {
        let (Some(lag), Some(reported)) = (lag, reported) else {
            continue;
        };
        if is_visible(lag.p99_ns, reported) {
            let latest = step
                .sites
                .iter()
                .filter(|site| name == "sent" && site.send_lag_p99_ns.is_some())
                .max_by_key(|site| site.send_lag_p99_ns);
            let who = latest.map_or_else(
                || "the generator".to_owned(),
                |site| format!("the generator, at its latest the worker {},", site.name),
            );
            signs.push(format!(
                "{who} {name} up to {} late (99th percentile), more than a tenth of the \
                 {} that it reports",
                time(lag.p99_ns),
                time(reported)
            ));
        }
    }
    let rate = generator.messages as f64 * 1e9 / step.elapsed_ns.max(1) as f64;
    if let Some(ceiling) = ceiling.filter(|ceiling| rate > NEAR_CEILING * ceiling) {
        signs.push(format!(
            "{rate:.0} messages per second are more than {:.0}% of the {ceiling:.0} that \
             `selftest` found possible here",
            NEAR_CEILING * 100.0
        ));
    }
    signs.extend(without_ports(step));
    signs
}

fn busy(step: &StepRecord) -> Option<String> {
    let share = step.generator.busiest_thread;
    if share <= BUSY || step.elapsed_ns < BURST_NS {
        return None;
    }
    let busiest = step
        .sites
        .iter()
        .max_by(|a, b| a.busiest_thread.total_cmp(&b.busiest_thread));
    let of = busiest.map_or_else(
        || "the generator's".to_owned(),
        |site| format!("worker {}'s", site.name),
    );
    let percent = share * 100.0;
    Some(format!("{of} busiest thread used {percent:.0}% of a core"))
}

fn without_ports(step: &StepRecord) -> Option<String> {
    let churn = step.churn.as_ref().filter(|of| of.failures.machine > 0)?;
    Some(format!(
        "{} of {} attempts to reconnect failed because this machine had no port or file left",
        churn.failures.machine, churn.attempts
    ))
}

/// Messages that came in one read share the stamp of the last of them. Where the limit is broken by
/// their latest possible times and kept by their earliest, it is not known what the server did.
fn below_the_stamps(step: &StepRecord, plan: &Plan) -> Option<String> {
    let limits = &plan.limits;
    let at_least_ns = step.limited_at_least_ns.filter(|_| step.over_limit)?;
    let shared = step.generator.shared_stamps.as_ref()?;
    (at_least_ns <= limits.time.ns()).then(|| {
        format!(
            "the {}th percentile is known only to lie between {} and {}, with the limit of {} in \
             between: {} messages came in one read with a later one and may have arrived up to {} \
             before its stamp",
            limits.percentile,
            time(at_least_ns),
            time(step.limited_ns.unwrap_or(at_least_ns)),
            time(limits.time.ns()),
            shared.count,
            time(shared.max_ns)
        )
    })
}

/// What makes the figures doubtful.
fn noise(step: &StepRecord, plan: &Plan) -> Vec<String> {
    let generator = &step.generator;
    let mut noise = Vec::new();
    if !step.is_complete() {
        noise.push(format!(
            "it was ended after {} of {} samples",
            step.samples, step.samples_planned
        ));
    }
    if plan.generator.timestamps == Timestamps::Kernel {
        if generator.clock_steps > 0 {
            noise.push(
                "the realtime clock, which the kernel's stamps are of, was stepped in the step \
                 (NTP or an administrator); repeat it when the clock is steady, or take \
                 generator.timestamps = \"user\""
                    .to_owned(),
            );
        }
        let unstamped = generator.unstamped_reads as f64 / generator.reads.max(1) as f64;
        if unstamped > UNSTAMPED {
            noise.push(format!(
                "the kernel gave no stamp for {:.1}% of the reads; take generator.timestamps = \"user\"",
                unstamped * 100.0
            ));
        }
    }
    if let Some(law) = step.in_flight.filter(|law| law.deviation > LITTLE) {
        noise.push(format!(
            "{:.3} requests were in flight and not {:.3}, as throughput and mean completion say \
             (Little's law, {:.0}% apart): the instrument contradicts itself",
            law.seen,
            law.expected,
            law.deviation * 100.0
        ));
    }
    noise
}

/// In a closed loop a late generator lowers the load: it sends the next request only when it has read
/// the answer. The kernel's stamps keep that lateness out of the latency, so that near the limit the
/// result of a prompt generator is unknown.
fn too_late_to_tell(step: &StepRecord, plan: &Plan) -> Option<String> {
    let unread_ns = step.in_flight?.unread_ns;
    let spared = plan.open_loop().is_none() && plan.generator.timestamps == Timestamps::Kernel;
    let with_it = step.limited_ns? as f64 + unread_ns;
    (spared && with_it > plan.limits.time.ns() as f64).then(|| {
        format!(
            "the generator read answers {} late on average and sent the next requests as much \
             later; with that time the limit of {} would be broken",
            time(unread_ns as u64),
            time(plan.limits.time.ns())
        )
    })
}

/// What can be done about a generator that is the limit.
pub fn remedy(plan: &Plan) -> &'static str {
    match &plan.load {
        Load::Open(_) => {
            "lower load.open.rate, or give the generator more cores and generator.threads"
        }
        Load::Connect(Connect { rate: Some(_), .. }) => {
            "lower load.connect.rate, or give the generator more cores and generator.threads"
        }
        _ => "give the generator more cores and generator.threads, or a machine of its own",
    }
}

/// A time as people read it.
fn time(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{:.0} us", ns as f64 / 1e3),
        1_000_000..10_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.0} ms", ns as f64 / 1e6),
    }
}
