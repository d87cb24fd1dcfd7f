//! Commands are checked before they are obeyed: they come from a network, and their values are used as
//! indices, sizes and times.

use crate::clock;
use crate::control::{RunError, available_bytes};
use crate::dialect::Stamps;
use crate::message::{Command, CompleteSample, OpenTerms, SentSample, Share, StepTerms};
use crate::plan::{Hearing as _, Parties, Schedule, Script, opens_by_clock, sender_of};
use crate::verify::StepLedger;
use plan::{LONGEST_NS, MOST_CLIENTS, Plan, PlanError, SearchOf, Workload, within};

/// A command that is not obeyed. The site ends with it.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It holds a value that no plan of this run can lead to.
    #[error("the command {command} is refused: {source}")]
    Value {
        /// Which command.
        command: &'static str,
        /// The value, and what it may be.
        source: PlanError,
    },
    /// It does not fit this run or the commands before it.
    #[error("the command {command} is refused: {reason}")]
    OutOfTurn {
        /// Which command.
        command: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The ledger of the step would take too much of this machine's memory.
    #[error(
        "the command begin is refused: the ledger of {samples} samples takes {bytes} bytes, and half of what this machine has left is {half}; lower load.closed.samples or load.open.rate, or take a larger machine"
    )]
    Memory {
        /// Samples of the step.
        samples: u32,
        /// What they take.
        bytes: u64,
        /// What they may.
        half: u64,
    },
}

/// What the next command may be, after those so far.
pub struct Permits<'a> {
    plan: &'a Plan,
    share: Share,
    /// Clients of all sites that were wanted last.
    clients: Option<u64>,
    step: Option<Step>,
    /// A step has begun and not been finished.
    is_open: bool,
}

struct Step {
    terms: StepTerms,
    /// Who sends what is drawn for a client.
    senders: Parties,
    /// Samples before this index have been told: they are released in their order.
    next: u32,
    started: bool,
}

/// A moment of another clock: a day away at most, and the clocks may differ a little.
const LATEST_NS: u64 = 2 * LONGEST_NS;
/// Standard deviations of a Poisson process that are allowed for; it is beyond them once in 10^23.
const DEVIATIONS: f64 = 10.0;

/// Whether each of so many sites can open connections by a plan: before any of them is started.
///
/// # Errors
/// [`RunError::TooManySites`] and [`RunError::WatchedBySites`].
pub fn check_sites(plan: &Plan, sites: u32) -> Result<(), RunError> {
    if sites > 1 && plan.watch().is_some() {
        return Err(RunError::WatchedBySites);
    }
    let at_once = plan.connection.at_once;
    if sites > at_once && !opens_by_clock(plan) {
        return Err(RunError::TooManySites { sites, at_once });
    }
    Ok(())
}

impl<'a> Permits<'a> {
    /// Before the first command of a run with this plan, which is valid, at that site.
    pub const fn new(plan: &'a Plan, share: Share) -> Self {
        Self {
            plan,
            share,
            clients: None,
            step: None,
            is_open: false,
        }
    }

    /// Checks the next command.
    ///
    /// # Errors
    /// [`CommandError`] when it is not to be obeyed; the site ends then, and nothing more is checked.
    pub fn check(&mut self, command: &Command) -> Result<(), CommandError> {
        match command {
            Command::Open { clients } => self.open(*clients),
            Command::OpenAndHold(terms) => self.connect(terms),
            Command::Hold { until_ns } => {
                self.is_for("hold", &[Workload::Connect])?;
                moment("hold", "until_ns", *until_ns)
            }
            Command::Begin(terms) => self.begin(*terms),
            Command::Send(samples) => self.send(samples),
            Command::CountFrom { from_ns } => {
                if !self.is_open {
                    return Err(out_of_turn("count-from", "no step is under way"));
                }
                moment("count-from", "from_ns", *from_ns)
            }
            Command::Start { load, start_ns } => {
                let step = self.step("start", true)?;
                if std::mem::replace(&mut step.started, true) {
                    return Err(out_of_turn("start", "the step has been started"));
                }
                valued("start", load.validate())?;
                moment("start", "start_ns", *start_ns)
            }
            Command::Sent(samples) => self.sent(samples),
            Command::Complete(samples) => self.complete(samples),
            Command::Finish => {
                if !std::mem::replace(&mut self.is_open, false) {
                    return Err(out_of_turn("finish", "no step is under way"));
                }
                Ok(())
            }
            Command::Renew => {
                *self = Self::new(self.plan, self.share);
                Ok(())
            }
            Command::GiveUp { .. } | Command::Close => Ok(()),
            Command::Watch { .. } => Err(out_of_turn(
                "watch",
                "one process watches messages, and not several",
            )),
            Command::Raw(_) => Err(out_of_turn(
                "raw",
                "a raw echo is measured by one process alone",
            )),
        }
    }

    fn is_for(&self, command: &'static str, workloads: &[Workload]) -> Result<(), CommandError> {
        if workloads.contains(&self.plan.workload()) {
            return Ok(());
        }
        Err(out_of_turn(command, "the run has another workload"))
    }

    fn open(&mut self, clients: u64) -> Result<(), CommandError> {
        self.is_for(
            "open",
            &[Workload::Echo, Workload::Broadcast, Workload::Rooms],
        )?;
        if self.is_open {
            return Err(out_of_turn("open", "a step is under way"));
        }
        valued("open", within("clients", clients, (1, MOST_CLIENTS)))?;
        self.clients = Some(clients);
        Ok(())
    }

    fn connect(&mut self, terms: &OpenTerms) -> Result<(), CommandError> {
        self.is_for("connect", &[Workload::Connect])?;
        if std::mem::replace(&mut self.is_open, true) {
            return Err(out_of_turn("connect", "a step is under way"));
        }
        valued("connect", within("wanted", terms.wanted, (1, MOST_CLIENTS)))?;
        valued("connect", within("have", terms.have, (0, terms.wanted)))?;
        let planned = self.plan.connect().and_then(|connect| {
            let rate = connect.rate?;
            Some((rate, connect.arrivals, self.plan.generator.seed))
        });
        let told = terms
            .by_clock
            .map(|by_clock| (by_clock.rate, by_clock.arrivals, by_clock.seed));
        if planned != told {
            return Err(out_of_turn("connect", "its rate is not the plan's"));
        }
        let start_ns = terms.by_clock.map_or(0, |by_clock| by_clock.start_ns);
        moment("connect", "start_ns", start_ns)
    }

    fn begin(&mut self, terms: StepTerms) -> Result<(), CommandError> {
        let refused = |reason| Err(out_of_turn("begin", reason));
        self.is_for(
            "begin",
            &[Workload::Echo, Workload::Broadcast, Workload::Rooms],
        )?;
        if std::mem::replace(&mut self.is_open, true) {
            return refused("a step is under way");
        }
        if self.clients != Some(terms.clients) {
            return refused("its clients are not those that were opened");
        }
        if terms.by_clock != self.plan.open_loop().is_some() {
            return refused("it mixes an open loop with a closed one");
        }
        let samples = (1, self.most_samples());
        valued("begin", within("samples", terms.samples, samples))?;
        valued(
            "begin",
            within("warm_up", terms.warm_up, (0, terms.samples - 1)),
        )?;
        let last = Stamps::SAMPLES - u64::from(terms.samples);
        valued(
            "begin",
            within("first_sample", terms.first_sample, (0, last)),
        )?;
        let bytes = u64::from(terms.samples) * StepLedger::BYTES_PER_SAMPLE;
        if let Some(half) = available_bytes().map(|available| available / 2)
            && bytes > half
        {
            let samples = terms.samples;
            return Err(CommandError::Memory {
                samples,
                bytes,
                half,
            });
        }
        let Plan {
            audience,
            populations,
            ..
        } = self.plan;
        let nobody_waits = std::iter::empty();
        self.step = Some(Step {
            terms,
            senders: audience.parties(populations, terms.clients, nobody_waits),
            next: 0,
            started: false,
        });
        Ok(())
    }

    /// The largest step that the plan can lead to.
    fn most_samples(&self) -> u32 {
        let search = self.plan.search().map(|search| search.of);
        match self.plan.open_loop() {
            None => self.plan.samples(),
            Some(_) if search == Some(SearchOf::Rate) => u32::MAX,
            Some(load) => {
                let expected = Schedule::new(load.clone(), 0, 0)
                    .with_script(Script::new(self.plan).as_ref(), self.clients.unwrap_or(0))
                    .expected();
                // A float beyond the numbers of the type becomes the largest of them.
                (expected + DEVIATIONS * expected.sqrt() + 100.0) as u32
            }
        }
    }

    fn step(&mut self, command: &'static str, by_clock: bool) -> Result<&mut Step, CommandError> {
        match &mut self.step {
            None => Err(out_of_turn(command, "no step has begun")),
            Some(step) if step.terms.by_clock != by_clock => Err(out_of_turn(
                command,
                "it mixes an open loop with a closed one",
            )),
            Some(step) => Ok(step),
        }
    }

    fn send(&mut self, samples: &[u32]) -> Result<(), CommandError> {
        let (share, plan) = (self.share, self.plan);
        let is_open = self.is_open;
        let step = self.step("send", false)?;
        if !is_open {
            return Err(out_of_turn("send", "no step is under way"));
        }
        for index in samples {
            let permitted = (step.next, step.terms.samples - 1);
            valued("send", within("index", *index, permitted))?;
            step.next = index + 1;
            let sample = step.terms.first_sample + u64::from(*index);
            let clients = step.terms.clients;
            let drawn = sender_of(plan.generator.seed, sample, clients);
            let sender = step.senders.sender(&plan.populations, drawn, clients);
            if !share.has(sender) {
                return Err(out_of_turn(
                    "send",
                    "the sample's sender is at another site",
                ));
            }
        }
        Ok(())
    }

    /// The terms of the step that news of other sites are about.
    fn told_of(&self, command: &'static str) -> Result<StepTerms, CommandError> {
        self.is_for(command, &[Workload::Broadcast, Workload::Rooms])?;
        let step = self.step.as_ref();
        step.map(|step| step.terms)
            .ok_or_else(|| out_of_turn(command, "no step has begun"))
    }

    fn complete(&self, samples: &[CompleteSample]) -> Result<(), CommandError> {
        let terms = self.told_of("complete")?;
        let indices = (0, terms.samples - 1);
        let mut all = samples.iter();
        all.try_for_each(|sample| valued("complete", within("index", sample.index, indices)))
    }

    fn sent(&self, samples: &[SentSample]) -> Result<(), CommandError> {
        let terms = self.told_of("sent")?;
        for sample in samples {
            let indices = (0, terms.samples - 1);
            valued("sent", within("index", sample.index, indices))?;
            let sender = u64::from(sample.sender);
            valued("sent", within("sender", sender, (0, terms.clients - 1)))?;
            if self.share.has(sender) {
                return Err(out_of_turn("sent", "its sender is a client of this site"));
            }
        }
        Ok(())
    }
}

fn moment(command: &'static str, field: &'static str, at_ns: u64) -> Result<(), CommandError> {
    let latest_ns = clock::now_ns() + LATEST_NS;
    valued(command, within(field, at_ns, (0, latest_ns)))
}

fn valued(command: &'static str, checked: Result<(), PlanError>) -> Result<(), CommandError> {
    checked.map_err(|source| CommandError::Value { command, source })
}

const fn out_of_turn(command: &'static str, reason: &'static str) -> CommandError {
    CommandError::OutOfTurn { command, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{Keeper, Terms};
    use plan::{Arrivals, Audience, Load, Nanos, OpenLoop, Population, Reading, Rooms};

    const LOAD: OpenLoop = OpenLoop {
        rate: 100.0,
        ramp: None,
        arrivals: Arrivals::Constant,
        duration: Nanos(1_000_000_000),
        warm_up: Nanos(0),
    };

    /// Takes all commands but the last, and says why that is refused.
    fn refused(plan: &Plan, commands: &[Command]) -> String {
        let mut permits = Permits::new(plan, Share { number: 0, of: 2 });
        let (last, others) = commands.split_last().unwrap();
        for command in others {
            permits.check(command).unwrap();
        }
        permits.check(last).unwrap_err().to_string()
    }

    fn begin(by_clock: bool) -> Command {
        Command::Begin(StepTerms {
            first_sample: 0,
            samples: 20,
            warm_up: 0,
            by_clock,
            clients: 10,
        })
    }

    #[test]
    fn a_command_out_of_turn_is_refused_with_the_reason() {
        let plan = crate::test_plan("ws://127.0.0.1:1/");
        let by_clock = Plan {
            load: Load::Open(LOAD),
            ..plan.clone()
        };
        let open = || Command::Open { clients: 10 };
        let start = || Command::Start {
            load: LOAD,
            start_ns: 0,
        };
        let elsewhere = (0..20).find(|sample| sender_of(plan.generator.seed, *sample, 10) % 2 == 1);
        let elsewhere = vec![elsewhere.unwrap() as u32];
        for (words, plan, commands) in [
            (
                "no step is under way",
                &plan,
                vec![Command::CountFrom { from_ns: 0 }],
            ),
            ("no step is under way", &plan, vec![open(), Command::Finish]),
            (
                "a step is under way",
                &plan,
                vec![open(), begin(false), begin(false)],
            ),
            (
                "a step is under way",
                &plan,
                vec![open(), begin(false), open()],
            ),
            (
                "no step is under way",
                &plan,
                vec![
                    open(),
                    begin(false),
                    Command::Finish,
                    Command::Send(vec![0]),
                ],
            ),
            (
                "no step has begun",
                &plan,
                vec![open(), Command::Send(vec![0])],
            ),
            (
                "at another site",
                &plan,
                vec![open(), begin(false), Command::Send(elsewhere)],
            ),
            (
                "mixes an open loop",
                &plan,
                vec![open(), begin(false), start()],
            ),
            (
                "another workload",
                &plan,
                vec![Command::Hold { until_ns: 0 }],
            ),
            (
                "has been started",
                &by_clock,
                vec![open(), begin(true), start(), start()],
            ),
        ] {
            let error = refused(plan, &commands);
            assert!(error.contains(words), "{error}, and not {words}");
        }
    }

    /// Another client sends in the place of one that reads slowly, maybe one of another site.
    #[test]
    fn a_site_is_told_to_send_what_its_own_clients_send() {
        let slow = Population {
            reads: Reading::Stopped,
            ..Population::default()
        };
        let sites = [0, 1].map(|number| Share { number, of: 2 });
        for audience in [Audience::Everyone, Audience::Room(Rooms::Equal(3))] {
            let plan = Plan {
                audience,
                populations: vec![Population::default(), slow],
                ..crate::test_plan("ws://127.0.0.1:1/")
            };
            let Command::Begin(terms) = begin(false) else {
                unreachable!()
            };
            let workers = [(0, 2), (1, 2)].into_iter();
            let ledger = StepLedger::new(Terms::new(&plan, terms, Keeper::Coordinator, workers));
            for (index, share) in (0..20).flat_map(|index| sites.map(|share| (index, share))) {
                let mut permits = Permits::new(&plan, share);
                permits.check(&Command::Open { clients: 10 }).unwrap();
                permits.check(&begin(false)).unwrap();
                let sends = permits.check(&Command::Send(vec![index])).is_ok();
                assert_eq!(sends, share.has(ledger.sender(index)), "{index} {share:?}");
            }
        }
    }
}
