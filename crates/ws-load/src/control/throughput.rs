//! Echoes per time of a raw echo: packs of frames over randomly chosen connections.

use super::error::RunError;
use super::local::Local;
use super::{Controller, Ended, Workers as _};
use crate::clock;
use crate::message::{Command, RawTerms, Report};
use crate::scenario::Work;
use crate::worker::TICK;
use plan::{Nanos, Plan};
use record::{End, Outcome};
use std::sync::atomic::AtomicBool;

/// Frames of a raw echo, with every byte checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packs {
    /// Bytes of payload in each message.
    pub payload: u64,
    /// Messages that are sent in one write over one connection.
    pub pack: u32,
    /// Time after which no further iteration begins.
    pub duration: Nanos,
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Throughput {
    /// Echoes that were the same as what was sent, in its order.
    pub echoes: u64,
    /// Iterations that were completed, of all workers.
    pub iterations: u64,
    /// From the first send to the last echo.
    pub elapsed_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
}

impl Throughput {
    /// Averaged over the whole time.
    pub fn echoes_per_ms(&self) -> f64 {
        self.echoes as f64 * 1e6 / self.elapsed_ns.max(1) as f64
    }
}

/// Connects the clients of the plan's first step to a raw echo and iterates: each worker sends as
/// many packs as it has connections, over connections chosen at random, and goes on when all their
/// echoes have come. Gives up when nothing at all comes back for the plan's sample time-out. The plan's
/// load is not used.
///
/// # Errors
/// [`RunError`] when no connection can even be tried.
pub fn throughput(
    plan: &Plan,
    packs: Packs,
    interrupted: &AtomicBool,
) -> Result<Throughput, RunError> {
    let mut no_listener = |_: &record::Event| {};
    let workers = Local::start(plan, Work::RawEcho)?;
    let mut controller = Controller::new(plan, workers, None, interrupted, &mut no_listener);
    let mut found = Throughput {
        echoes: 0,
        iterations: 0,
        elapsed_ns: 0,
        outcome: Outcome {
            end: End::StepsDone,
            detail: "the time was over".into(),
            carried_clients: None,
            edge: None,
            unmeasured: Vec::new(),
        },
    };
    let ended = controller
        .connect(0, plan.clients_at(0))
        .and_then(|()| controller.iterate(packs, &mut found));
    if let Err(ended) = ended {
        found.outcome.end = ended.end;
        found.outcome.detail = ended.detail.into();
    }
    controller.workers.stop(interrupted);
    Ok(found)
}

impl Controller<'_, Local<'_>> {
    fn iterate(&mut self, packs: Packs, found: &mut Throughput) -> Result<(), Ended> {
        let began_ns = clock::now_ns();
        self.workers.tell(Command::Raw(RawTerms {
            payload_bytes: packs.payload,
            frames: packs.pack,
            until_ns: began_ns + packs.duration.ns(),
            seed: self.plan.generator.seed,
        }));
        let mut waiting = self.workers.len();
        let mut ended = Ok(());
        let (mut seen, mut seen_ns) = (0, began_ns);
        while waiting > 0 {
            let mut early_end = self.check_interrupt().err();
            match self.workers.wait(TICK) {
                Some((_, Report::Part(part))) => {
                    waiting -= 1;
                    let echoed = part.raw;
                    found.echoes += echoed.echoes;
                    found.iterations += echoed.iterations;
                    let elapsed_ns = echoed.last_ns.saturating_sub(began_ns);
                    found.elapsed_ns = found.elapsed_ns.max(elapsed_ns);
                    early_end = echoed.fault.map(|fault| Ended::new(End::ServerLost, fault));
                }
                Some((_, Report::Broken(words))) => {
                    return Err(Ended::new(End::MachineLimit, words));
                }
                Some((_, Report::Lost(words))) => {
                    waiting -= 1;
                    early_end = Some(Ended::new(End::WorkerLost, words));
                }
                Some(_) | None => {}
            }
            if self.workers.pool.bytes() > seen {
                (seen, seen_ns) = (self.workers.pool.bytes(), clock::now_ns());
            }
            let silent_ns = clock::now_ns().saturating_sub(seen_ns);
            if silent_ns > self.plan.limits.sample_timeout.ns() {
                early_end.get_or_insert_with(|| silent(self.plan, packs));
            }
            if let (Some(early_end), Ok(())) = (early_end, &ended) {
                ended = Err(early_end);
                self.workers.tell(Command::GiveUp { count: false });
            }
        }
        ended
    }
}

fn silent(plan: &Plan, packs: Packs) -> Ended {
    Ended::new(
        End::TimedOut,
        format!(
            "nothing came back for {} s; is it a raw echo, and does it take messages of {} bytes?",
            plan.limits.sample_timeout.ns() as f64 / 1e9,
            packs.payload
        ),
    )
}
