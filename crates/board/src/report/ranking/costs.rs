//! What a delivered message costs a server, and what that goes into.

use super::usage::delivered;
use plan::Workload;
use record::{Measurement, ServerStep, StepRecord};

/// For one message delivered and verified, at one number of clients: sums over the repetitions that
/// hold a figure, over the messages of these. A figure is absent where no repetition holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Costs {
    /// Repetitions with a step of this number of clients in which messages were delivered.
    pub repetitions: usize,
    /// CPU time of the server in nanoseconds.
    pub cpu_ns: Option<f64>,
    /// The kernel's share of it, from 0 to 1.
    pub kernel_share: Option<f64>,
    /// Context switches where a thread waited.
    pub voluntary: Option<f64>,
    /// Context switches where the kernel took the core away.
    pub involuntary: Option<f64>,
    /// Most threads of the server at the end of a step.
    pub threads: Option<u64>,
    /// Threads that ended in the steps; what they counted last is missing.
    pub ended_threads: u64,
    /// TCP segments with data that came to the generator, over all messages that it received.
    pub segments: Option<f64>,
    /// Reads of the generator, over all messages that it received.
    pub reads: Option<f64>,
    /// Bytes of frames that the generator received, over all messages that it received.
    pub bytes: Option<f64>,
}

/// A step of one repetition.
struct Part<'a> {
    server: &'a ServerStep,
    step: &'a StepRecord,
    /// Messages delivered.
    messages: f64,
}

/// At this number of clients: of each repetition the last step that passed, else the last.
pub(super) fn costs(repetitions: &[&Measurement], clients: u64) -> Costs {
    let parts = repetitions.iter().filter_map(|of| part(of, clients));
    let parts: Vec<Part<'_>> = parts.collect();
    let known =
        |of: &dyn Fn(&Part<'_>) -> Option<f64>| ratio(&parts, of, &|part| Some(part.messages));
    let received = |part: &Part<'_>| Some(part.step.throughput?.received as f64);
    let switches = |part: &Part<'_>| part.server.switches;
    let all = |part: &Part<'_>| {
        let kernel_ns = part.server.kernel_ns?;
        Some(part.server.user_ns?.saturating_add(kernel_ns) as f64)
    };
    let threads = parts.iter().filter_map(switches);
    Costs {
        repetitions: parts.len(),
        cpu_ns: known(&|part| Some(part.server.cpu_ns as f64)),
        kernel_share: ratio(&parts, &|part| Some(part.server.kernel_ns? as f64), &all),
        voluntary: known(&|part| Some(switches(part)?.voluntary as f64)),
        involuntary: known(&|part| Some(switches(part)?.involuntary as f64)),
        threads: threads.clone().map(|of| of.threads).max(),
        ended_threads: threads
            .map(|of| of.ended_threads)
            .fold(0, u64::saturating_add),
        segments: ratio(
            &parts,
            &|part| Some(part.step.received_segments? as f64),
            &received,
        ),
        reads: ratio(
            &parts,
            &|part| Some(part.step.generator.reads as f64),
            &|part| Some(part.step.generator.messages as f64),
        ),
        bytes: ratio(
            &parts,
            &|part| Some(part.step.throughput?.received_bytes as f64),
            &received,
        ),
    }
}

fn part<'a>(of: &'a Measurement, clients: u64) -> Option<Part<'a>> {
    let run = of.run.as_ref()?;
    if run.plan.workload() == Workload::Connect {
        return None;
    }
    let of_clients = || {
        let both = run.steps.iter().zip(&of.server_steps);
        both.filter(|(step, _)| step.clients == clients)
    };
    let passed = of_clients().rfind(|(step, _)| step.passed());
    let (step, server) = passed.or_else(|| of_clients().next_back())?;
    let messages = delivered(step)?;
    (messages > 0.0).then_some(Part {
        server,
        step,
        messages,
    })
}

type Of<'f> = &'f dyn Fn(&Part<'_>) -> Option<f64>;

/// One sum over another, of the parts that hold both.
fn ratio(parts: &[Part<'_>], of: Of<'_>, over: Of<'_>) -> Option<f64> {
    let held = parts.iter().filter_map(|part| of(part).zip(over(part)));
    let (sum, whole) = held.fold((0.0, 0.0), |(sum, whole), (of, over)| {
        (sum + of, whole + over)
    });
    (whole > 0.0).then(|| sum / whole)
}
