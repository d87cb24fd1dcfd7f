//! `websocket-bench selftest`: the reports of the load generator, checked against servers whose
//! behaviour is known.
//!
//! Each part is a file: it measures, and a pure function judges the figures. A part is
//! inconclusive where the noise of the machine, by the records of the generator or the server,
//! explains a difference; it is tried again before it is said. No part measures a server of a
//! user.
//!
//! The generator runs on threads of this process or, where it is to be stopped or to have a CPU time of
//! its own, as a child: the caller's program, which must take the arguments of `websocket-bench`.

mod arrivals;
mod bench;
mod bounds;
mod ceiling;
mod certificate;
mod child;
mod deliveries;
mod error;
mod faults;
mod fit;
mod freeze;
mod kept;
mod last_listener;
mod ledger;
mod plans;
mod returns;
mod rooms;
mod service_times;
mod sites;
mod speeds;
#[cfg(test)]
mod testing;
mod wire;

pub use error::Unmade;
pub use kept::known_ceiling;
pub use plans::{KeptPlan, Plans, WritePlan, kept_plan, plans};

use bench::Bench;
use clap::ValueEnum;
use plan::{Io, Timestamps};
use record::{
    Ceiling, Certificate, Check, Environment, FileLimit, Proof, ProofVerdict, RecordFile,
    SELFTEST_FORMAT, Tool, VERSION,
};
use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A part of the certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Service times: known delays are reported correctly
    A,
    /// Frozen server: every request that was due during a stop counts as late
    B,
    /// Faults: every fault is counted exactly
    C,
    /// Last listener: completion waits for it, ack does not
    D,
    /// Arrivals: requests are sent at the planned times
    E,
    /// Ceiling: the highest rate of messages that this generator checks on this machine
    F,
    /// Deliveries: completion, delivery and ack are correct in every dialect
    G,
    /// Sites: two processes report the same as one
    H,
    /// Return after a cut: clients are back when the server lets them in
    I,
    /// Rooms: every fault is counted exactly where messages go to a part of the clients
    J,
    /// Reading speeds: slow clients take the planned bytes per second
    K,
    /// Bytes on the wire: sent and received are what the kernel counts, compressed or not
    L,
}

/// What is to be proved, and the program that is tested.
#[derive(Debug)]
pub struct Request<'a> {
    /// Under a minute: fewer samples, and an inconclusive part is only reported.
    pub short: bool,
    /// Where the certificate is written besides stdout.
    pub json: Option<&'a Path>,
    /// Only these parts; all of them when empty.
    pub only: &'a [Part],
    /// Seed of every random choice.
    pub seed: u64,
    /// The time stamps to prove.
    pub timestamps: Timestamps,
    /// How sockets are read.
    pub io: Io,
    /// The calling program, as the certificate names it.
    pub tool: Tool,
    /// The time of day, as records hold it.
    pub now: fn() -> String,
    /// The user wants it to end.
    pub interrupted: &'a AtomicBool,
}

/// How the test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Every part passed; of the short form, none failed.
    Proved,
    /// A part failed, or the machine was too noisy to tell.
    NotProved,
    /// It was interrupted. The parts that had ended are printed and written.
    Interrupted,
}

/// An inconclusive part is tried so often ...
const ATTEMPTS: u32 = 3;
/// ... as long as another try and the parts that follow end within the promised time: three
/// minutes, or a minute.
const PATIENCE: Duration = Duration::from_secs(170);
const SHORT_PATIENCE: Duration = Duration::from_secs(50);

/// What one try of a part brought.
#[derive(Debug, Default)]
struct Findings {
    checks: Vec<Check>,
    notes: Vec<String>,
    ceilings: Vec<Ceiling>,
}

impl Findings {
    fn verdict(&self) -> ProofVerdict {
        let checks = self.checks.iter().map(|check| check.verdict);
        checks.max().unwrap_or(ProofVerdict::Inconclusive)
    }
}

/// A part of the certificate.
struct Chapter {
    part: Part,
    id: &'static str,
    name: &'static str,
    proves: &'static str,
    /// Time that one try takes, in the full and in the short form.
    takes: (Duration, Duration),
    measure: fn(&Bench<'_>) -> Result<Findings, Unmade>,
}

impl Chapter {
    const fn takes(&self, short: bool) -> Duration {
        if short { self.takes.1 } else { self.takes.0 }
    }
}

const CHAPTERS: [Chapter; 12] = [
    service_times::CHAPTER,
    freeze::CHAPTER,
    faults::CHAPTER,
    last_listener::CHAPTER,
    arrivals::CHAPTER,
    ceiling::CHAPTER,
    deliveries::CHAPTER,
    sites::CHAPTER,
    returns::CHAPTER,
    rooms::CHAPTER,
    speeds::CHAPTER,
    wire::CHAPTER,
];

/// Makes the test, prints the certificate and writes it.
///
/// # Errors
/// In words, when the test cannot be made here or an output cannot be written.
pub fn selftest(request: &Request<'_>) -> Result<Conclusion, Box<dyn Error>> {
    let short = request.short;
    let patience = if short { SHORT_PATIENCE } else { PATIENCE };
    let chapters = request.chapters();
    FileLimit::raise();
    let began = Instant::now();
    let mut certificate = request.empty_certificate(&chapters);
    let file = request
        .json
        .map(|path| RecordFile::new(path, &certificate))
        .transpose()?;
    let generate = |plan: &_| bench::in_process(plan, request.interrupted);
    let bench = request.bench(&generate);
    certificate::print_head(&certificate)?;
    for (number, chapter) in chapters.iter().enumerate() {
        let rest = chapters[number + 1..].iter().map(|c| c.takes(short));
        let end = began + patience.saturating_sub(rest.sum());
        let made = prove(chapter, &bench, end)
            .map_err(|error| format!("part ({}) could not be made: {error}", chapter.id))?;
        let Some((proof, ceilings)) = made else { break };
        certificate::print_part(&proof)?;
        certificate.parts.push(proof);
        certificate.not_made.remove(0);
        certificate.ceilings.extend(ceilings);
        certificate.ended = (request.now)();
        // Not even a kill loses what was proved.
        if let Some(file) = &file {
            file.save(&certificate)?;
        }
    }
    certificate.ended = (request.now)();
    if let Some(file) = file {
        file.finish(&certificate)?;
    }
    kept::keep(&certificate);
    certificate::print_verdict(&certificate)?;
    Ok(if certificate.is_complete() {
        conclusion(certificate.verdict(), short)
    } else {
        Conclusion::Interrupted
    })
}

impl Request<'_> {
    fn chapters(&self) -> Vec<&'static Chapter> {
        let wanted = |chapter: &&Chapter| self.only.is_empty() || self.only.contains(&chapter.part);
        CHAPTERS.iter().filter(wanted).collect()
    }

    fn empty_certificate(&self, chapters: &[&Chapter]) -> Certificate {
        Certificate {
            format: SELFTEST_FORMAT.to_owned(),
            version: VERSION,
            tool: self.tool.clone(),
            started: (self.now)(),
            ended: (self.now)(),
            command: std::env::args().collect(),
            short: self.short,
            seed: self.seed,
            timestamps: self.timestamps,
            io: self.io,
            environment: Environment::collect(),
            parts: Vec::new(),
            not_made: chapters.iter().map(|c| c.id.to_owned()).collect(),
            ceilings: Vec::new(),
        }
    }

    fn bench<'a>(&'a self, generate: &'a bench::Generate<'a>) -> Bench<'a> {
        Bench {
            short: self.short,
            seed: self.seed,
            timestamps: self.timestamps,
            io: self.io,
            prove_hindered: ws_load::probe_kernel_timestamps().is_ok(),
            interrupted: self.interrupted,
            generate,
        }
    }
}

const fn conclusion(verdict: ProofVerdict, short: bool) -> Conclusion {
    match verdict {
        ProofVerdict::Pass => Conclusion::Proved,
        ProofVerdict::Inconclusive if short => Conclusion::Proved,
        ProofVerdict::Inconclusive | ProofVerdict::Fail => Conclusion::NotProved,
    }
}

/// Tries a part until it is conclusive or the time is up. `None` when it was interrupted: what was
/// measured until then says nothing.
fn prove(
    chapter: &Chapter,
    bench: &Bench<'_>,
    end: Instant,
) -> Result<Option<(Proof, Vec<Ceiling>)>, Unmade> {
    let began = Instant::now();
    let mut attempts = 0;
    loop {
        let attempt = Instant::now();
        attempts += 1;
        let found = (chapter.measure)(bench);
        if bench.interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let found = found?;
        let again = attempts < ATTEMPTS && Instant::now() + attempt.elapsed() < end;
        if found.verdict() == ProofVerdict::Inconclusive && again {
            continue;
        }
        let proof = Proof {
            id: chapter.id.to_owned(),
            name: chapter.name.to_owned(),
            proves: chapter.proves.to_owned(),
            verdict: found.verdict(),
            attempts,
            elapsed_ns: began.elapsed().as_nanos() as u64,
            checks: found.checks,
            notes: found.notes,
        };
        return Ok(Some((proof, found.ceilings)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn bench(interrupted: &AtomicBool) -> Bench<'_> {
        Bench {
            short: true,
            seed: 1,
            timestamps: Timestamps::User,
            io: Io::Epoll,
            prove_hindered: false,
            interrupted,
            generate: &|_| unreachable!("the chapters here measure nothing"),
        }
    }

    thread_local! {
        static TRIES: Cell<u32> = const { Cell::new(0) };
    }

    fn noisy_at_first(_: &Bench<'_>) -> Result<Findings, Unmade> {
        TRIES.set(TRIES.get() + 1);
        let measured = if TRIES.get() < 3 { 1 } else { 2 };
        let check = Check::exactly("tries", 2, measured).unless(Some("noise".to_owned()));
        Ok(Findings {
            checks: vec![check],
            ..Findings::default()
        })
    }

    const NOISY: Chapter = Chapter {
        part: Part::A,
        id: "x",
        name: "",
        proves: "",
        takes: (Duration::ZERO, Duration::ZERO),
        measure: noisy_at_first,
    };

    // timed: the time for another try is minutes, and what is measured here takes none.
    #[test]
    fn an_inconclusive_part_is_tried_again_while_there_is_time() {
        let never = AtomicBool::new(false);
        let proved = |end| prove(&NOISY, &bench(&never), end).unwrap().unwrap();
        TRIES.set(0);
        let (proof, _) = proved(Instant::now() + PATIENCE);
        assert_eq!((proof.attempts, proof.verdict), (3, ProofVerdict::Pass));
        TRIES.set(0);
        let (proof, _) = proved(Instant::now());
        assert_eq!(
            (proof.attempts, proof.verdict),
            (1, ProofVerdict::Inconclusive)
        );
    }

    // timed: an interrupted part is not tried again, however much time is left.
    #[test]
    fn what_an_interrupted_part_found_is_no_proof() {
        TRIES.set(0);
        let interrupted = AtomicBool::new(true);
        let made = prove(&NOISY, &bench(&interrupted), Instant::now() + PATIENCE);
        assert!(made.unwrap().is_none());
        assert_eq!(TRIES.get(), 1);
    }

    #[test]
    fn what_is_not_proved_passes_only_when_short() {
        let proved = |verdict, short| conclusion(verdict, short) == Conclusion::Proved;
        assert!(proved(ProofVerdict::Pass, false));
        assert!(proved(ProofVerdict::Inconclusive, true));
        assert!(!proved(ProofVerdict::Inconclusive, false));
        assert!(!proved(ProofVerdict::Fail, true));
        assert_eq!(Findings::default().verdict(), ProofVerdict::Inconclusive);
    }

    #[test]
    fn the_parts_are_a_to_l() {
        let ids: String = CHAPTERS.iter().map(|chapter| chapter.id).collect();
        assert_eq!(ids, "abcdefghijkl");
    }
}
