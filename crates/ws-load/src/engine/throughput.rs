//! Echoes per time of a raw echo: packs of frames over randomly chosen connections.

use super::local::Local;
use super::{Ended, Engine, TICK, Team};
use crate::clock;
use crate::error::RunError;
use crate::worker::{Command, PacksOrder, Report};
use run_record::{End, Load, Outcome, Plan, Raw};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What is sent, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packs {
    /// Payload of each frame.
    pub payload_bytes: u64,
    /// Frames that are sent in one go over one connection; each is a message of its own.
    pub frames: u32,
    /// After this no further iteration is begun.
    pub duration: Duration,
    /// How long nothing at all may come back.
    pub patience: Duration,
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
/// echoes have come.
///
/// # Errors
/// [`RunError`] when no connection can even be tried.
pub fn throughput(
    plan: &Plan,
    packs: Packs,
    interrupted: &AtomicBool,
) -> Result<Throughput, RunError> {
    let plan = Plan {
        load: Load::Raw(Raw {
            payload: packs.payload_bytes,
            pack: packs.frames,
            duration: packs.duration.into(),
        }),
        ..plan.clone()
    };
    let mut nobody = |_: &run_record::Event| {};
    let team = Local::hire(&plan)?;
    let mut engine = Engine::new(&plan, team, None, interrupted, &mut nobody);
    let mut found = Throughput {
        echoes: 0,
        iterations: 0,
        elapsed_ns: 0,
        outcome: Outcome {
            end: End::StepsDone,
            detail: "the time was over".to_owned(),
            carried_clients: None,
            edge: None,
        },
    };
    let ended = engine
        .connect(0, plan.clients_at(0))
        .and_then(|()| engine.iterate(packs, &mut found));
    if let Err(ended) = ended {
        found.outcome.end = ended.end;
        found.outcome.detail = ended.detail;
    }
    engine.team.dismiss(interrupted);
    Ok(found)
}

impl Engine<'_, Local<'_>> {
    fn iterate(&mut self, packs: Packs, found: &mut Throughput) -> Result<(), Ended> {
        let began_ns = clock::now_ns();
        let order = PacksOrder {
            payload_bytes: packs.payload_bytes,
            frames: packs.frames,
            until_ns: began_ns + clock::nanos(packs.duration),
            seed: self.plan.generator.seed,
        };
        self.team.crew.tell_all(|| Command::Packs(order));
        let mut waiting = self.team.crew.len();
        let mut ended = Ok(());
        let (mut seen, mut seen_ns) = (0, began_ns);
        while waiting > 0 {
            match self.team.crew.wait(TICK) {
                Some(Report::Packs(part)) => {
                    waiting -= 1;
                    found.echoes += part.echoes;
                    found.iterations += part.iterations;
                    let elapsed_ns = part.last_ns.saturating_sub(began_ns);
                    found.elapsed_ns = found.elapsed_ns.max(elapsed_ns);
                    if let (Some(fault), Ok(())) = (part.fault, &ended) {
                        ended = Err(Ended::new(End::ServerLost, fault));
                        self.team.crew.tell_all(|| Command::Wake);
                    }
                }
                Some(Report::Broken(error)) => {
                    let words = format!("the kernel refuses to go on: {error}");
                    return Err(Ended::new(End::MachineLimit, words));
                }
                Some(_) | None => {}
            }
            if self.team.crew.bytes() > seen {
                (seen, seen_ns) = (self.team.crew.bytes(), clock::now_ns());
            }
            if let Some((_, words)) = self.team.crew.take_hung() {
                waiting -= 1;
                if ended.is_ok() {
                    ended = Err(Ended::new(End::WorkerLost, words));
                    self.team.crew.tell_all(|| Command::Wake);
                }
            }
            let silent_ns = clock::now_ns().saturating_sub(seen_ns);
            let given_up = self.check_interrupt().err().or_else(|| {
                (silent_ns > clock::nanos(packs.patience)).then(|| {
                    Ended::new(
                        End::TimedOut,
                        format!(
                            "nothing came back for {} s; is it a raw echo, and does it take messages of {} bytes?",
                            packs.patience.as_secs(),
                            packs.payload_bytes
                        ),
                    )
                })
            });
            if let (Some(given_up), Ok(())) = (given_up, &ended) {
                ended = Err(given_up);
                self.team.crew.tell_all(|| Command::Wake);
            }
        }
        ended
    }
}
