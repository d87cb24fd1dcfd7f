//! `websocket-bench selftest`: what this program reports, held against servers whose doing is
//! known.
//!
//! Each part is a file: it measures, and a pure function judges the figures. A part says
//! inconclusive where the noise of the machine, by the generator's or the server's own books,
//! explains a difference; it is tried again before it is said. No part measures a server of a
//! user.

mod arrivals;
mod bench;
mod books;
mod bounds;
mod ceiling;
mod certificate;
mod child;
mod deliveries;
mod faults;
mod fit;
mod freeze;
mod last_listener;
mod service_times;
mod sites;
#[cfg(test)]
mod testing;

use crate::args::{Part, SelftestArgs};
use crate::bench::{catch_signals, now, tool};
use crate::draft;
use crate::exit::Exit;
use crate::output::RecordFile;
use bench::Bench;
use run_record::{
    Ceiling, Certificate, Check, Environment, FileLimit, Proof, ProofVerdict, SELFTEST_FORMAT,
    VERSION,
};
use std::error::Error;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// An inconclusive part is tried so often ...
const ATTEMPTS: u32 = 3;
/// ... as long as another try and the parts that follow end within the promised time: three
/// minutes, or half a minute.
const PATIENCE: Duration = Duration::from_secs(170);
const SHORT_PATIENCE: Duration = Duration::from_secs(27);

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
    measure: fn(&Bench<'_>) -> Result<Findings, String>,
}

impl Chapter {
    const fn takes(&self, short: bool) -> Duration {
        if short { self.takes.1 } else { self.takes.0 }
    }
}

const CHAPTERS: [Chapter; 8] = [
    service_times::CHAPTER,
    freeze::CHAPTER,
    faults::CHAPTER,
    last_listener::CHAPTER,
    arrivals::CHAPTER,
    ceiling::CHAPTER,
    deliveries::CHAPTER,
    sites::CHAPTER,
];

/// Makes the test, prints the certificate and writes it.
///
/// # Errors
/// In words, when the test cannot be made here or an output cannot be written.
pub(crate) fn selftest(args: &SelftestArgs) -> Result<Exit, Box<dyn Error>> {
    if args.json.as_deref() == Some(Path::new("-")) {
        return Err("--json writes to a file, not to stdout; name a file".into());
    }
    let timestamps = draft::timestamps(args.timestamps)?;
    let (io, _) = draft::io(args.io, timestamps)?;
    let patience = if args.short { SHORT_PATIENCE } else { PATIENCE };
    let wanted = |chapter: &&Chapter| args.only.is_empty() || args.only.contains(&chapter.part);
    let chapters: Vec<&Chapter> = CHAPTERS.iter().filter(wanted).collect();
    let seed = args.seed.unwrap_or_else(draft::random_seed);
    let interrupted = catch_signals()?;
    FileLimit::raise();
    let began = Instant::now();
    let mut certificate = Certificate {
        format: SELFTEST_FORMAT.to_owned(),
        version: VERSION,
        tool: tool(),
        started: now(),
        ended: now(),
        command: std::env::args().collect(),
        short: args.short,
        seed,
        timestamps,
        io,
        environment: Environment::collect(),
        parts: Vec::new(),
        not_made: chapters.iter().map(|c| c.id.to_owned()).collect(),
        ceilings: Vec::new(),
    };
    let file = args
        .json
        .as_deref()
        .map(|path| RecordFile::new(path, &certificate))
        .transpose()?;
    let bench = Bench {
        short: args.short,
        seed,
        timestamps,
        io,
        prove_hindered: ws_load::probe_kernel_timestamps().is_ok(),
        interrupted: &interrupted,
        generate: &|plan| bench::in_process(plan, &interrupted),
    };
    certificate::print_head(&certificate)?;
    for (number, chapter) in chapters.iter().enumerate() {
        let rest = chapters[number + 1..].iter().map(|c| c.takes(args.short));
        let end = began + patience.saturating_sub(rest.sum());
        let made = prove(chapter, &bench, end)
            .map_err(|error| format!("part ({}) could not be made: {error}", chapter.id))?;
        let Some((proof, ceilings)) = made else { break };
        certificate::print_part(&proof)?;
        certificate.parts.push(proof);
        certificate.not_made.remove(0);
        certificate.ceilings.extend(ceilings);
        certificate.ended = now();
        // Not even a kill loses what was proved.
        if let Some(file) = &file {
            file.save(&certificate)?;
        }
    }
    certificate.ended = now();
    if let Some(file) = file {
        file.finish(&certificate)?;
    }
    crate::ceiling::keep(&certificate);
    certificate::print_verdict(&certificate)?;
    Ok(if certificate.is_complete() {
        exit(certificate.verdict(), args.short)
    } else {
        Exit::Interrupted
    })
}

const fn exit(verdict: ProofVerdict, short: bool) -> Exit {
    match verdict {
        ProofVerdict::Pass => Exit::Measured,
        ProofVerdict::Inconclusive if short => Exit::Measured,
        ProofVerdict::Inconclusive | ProofVerdict::Fail => Exit::Invalid,
    }
}

/// Tries a part until it is conclusive or the time is up. `None` when it was interrupted: what was
/// measured until then says nothing.
fn prove(
    chapter: &Chapter,
    bench: &Bench<'_>,
    end: Instant,
) -> Result<Option<(Proof, Vec<Ceiling>)>, String> {
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
    use run_record::{Io, Timestamps};
    use std::cell::Cell;
    use std::sync::atomic::AtomicBool;

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

    fn noisy_at_first(_: &Bench<'_>) -> Result<Findings, String> {
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
        assert_eq!(exit(ProofVerdict::Pass, false), Exit::Measured);
        assert_eq!(exit(ProofVerdict::Inconclusive, true), Exit::Measured);
        assert_eq!(exit(ProofVerdict::Inconclusive, false), Exit::Invalid);
        assert_eq!(exit(ProofVerdict::Fail, true), Exit::Invalid);
        assert_eq!(Findings::default().verdict(), ProofVerdict::Inconclusive);
    }

    #[test]
    fn the_parts_are_a_to_h() {
        let ids: String = CHAPTERS.iter().map(|chapter| chapter.id).collect();
        assert_eq!(ids, "abcdefgh");
    }
}
