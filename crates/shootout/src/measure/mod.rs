//! One row: build, check, start, measure, stop, and the record of it.
//!
//! A failure ends this row with a status and a reason, and no other row. Writes no files but logs;
//! what the figures mean is for `report`.

mod again;
mod beside;
mod faults;
mod over;
mod ready;
mod steps;
mod through;
mod verdict;

use crate::build::{BuildError, Builds};
use crate::generator::Task;
use crate::interrupt::Interrupt;
use crate::machine::{Capacity, Cores};
use crate::network::{Link, Location};
use crate::progress::Progress;
use crate::quiet;
use crate::rows::{Row, Wanted};
use crate::sample::Sampler;
use crate::sample::cpus::Confined;
use crate::session::now;
use crate::supervise::{self, Cuts, Server, Spec, StartError, Through};
use beside::Meanwhile;
use board::status::{INTERRUPTED, Objection};
use faults::Timetable;
use host_facts::Others;
pub use over::asked;
use over::no_network;
use plan::Plan;
use project::manifest::{Manifest, Variant};
use project::workload::{self, Schedule, Terms};
use project::{Project, manifest::lines};
use ready::Verified;
use record::{End, MEASUREMENT_FORMAT, Measurement, Network, RunRecord, Status, VERSION};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use steps::Steps;
use through::Followed;

/// How often the server is sampled within a step.
const SAMPLING: Duration = Duration::from_millis(100);
/// For how long it is seen what else this machine does, before a server is started.
const LOOKS: Duration = Duration::from_millis(250);

/// Why a row has no valid result.
#[derive(Clone, Debug)]
struct Trouble {
    status: Status,
    reason: String,
    log_tail: Option<String>,
}

impl Trouble {
    fn new(status: Status, reason: impl Into<String>) -> Self {
        Self {
            status,
            reason: reason.into(),
            log_tail: None,
        }
    }

    fn with_log(mut self, tail: Option<String>) -> Self {
        self.log_tail = tail;
        self
    }

    fn interrupted() -> Self {
        Self::new(Status::Interrupted, INTERRUPTED)
    }
}

impl From<Objection> for Trouble {
    fn from(objection: Objection) -> Self {
        Self::new(objection.status, objection.reason)
    }
}

/// The record of a row whose variant and workload do not fit.
pub fn not_applicable(row: &Row, reason: &str) -> Measurement {
    Measurement {
        status: Status::NotApplicable,
        reason: Some(reason.to_owned()),
        ..blank(row)
    }
}

/// The record of a row before anything is known but what it is.
fn blank(row: &Row) -> Measurement {
    Measurement {
        format: MEASUREMENT_FORMAT.into(),
        version: VERSION,
        server: row.identity(),
        workload: row.request(),
        workload_name: Some(row.workload.name.clone()),
        dialect: row.dialect.record(),
        repetition: row.repetition,
        started: now(),
        status: Status::Ok,
        reason: None,
        log_tail: None,
        conformance: None,
        pinning: None,
        network: None,
        proxy: through::asked(row),
        nodes: row.subject.as_ref().ok().and_then(|variant| variant.nodes),
        claim: row.subject.as_ref().ok().and_then(|variant| variant.claim),
        faults: Vec::new(),
        busy_before: None,
        busy_during: None,
        idle: None,
        server_steps: Vec::new(),
        server_series: None,
        run: None,
    }
}

/// What a server is started in, and what stands before it; on loopback and alone, by default.
#[derive(Default)]
struct Around<'a> {
    place: Location,
    cuts: Cuts<'a>,
    through: Option<Through<'a>>,
}

/// Everything that the rows of a run have in common.
pub struct Bench<'a> {
    project: &'a Project,
    cores: &'a Cores,
    cores_for_nodes: Cores,
    capacity: &'a Capacity,
    generator: PathBuf,
    results: PathBuf,
    logs: PathBuf,
    skip_build: bool,
    undisturbed: bool,
    check_again: bool,
    network: Option<&'a Network>,
    interrupt: &'a Interrupt,
    wanted: Vec<Wanted<'a>>,
    built: HashMap<String, Builds>,
    verified: HashMap<(String, String), Verified>,
    /// The version of each proxy, or why it cannot be used.
    proxies: HashMap<String, Result<String, BuildError>>,
}

impl<'a> Bench<'a> {
    /// A bench for `rows`, which are those of one run. Plans go to the directory of its results,
    /// `results`, and logs to `logs`.
    pub fn new(
        project: &'a Project,
        rows: &'a [Row],
        machine: (&'a Cores, &'a Capacity),
        generator: PathBuf,
        (results, logs): (PathBuf, PathBuf),
        interrupt: &'a Interrupt,
    ) -> Self {
        Self {
            project,
            cores: machine.0,
            cores_for_nodes: machine.0.for_nodes(),
            capacity: machine.1,
            generator,
            results,
            logs,
            skip_build: false,
            undisturbed: false,
            check_again: false,
            network: None,
            interrupt,
            wanted: Wanted::by(rows),
            built: HashMap::new(),
            verified: HashMap::new(),
            proxies: HashMap::new(),
        }
    }

    /// Uses servers as they were built before.
    pub fn skip_build(mut self, skip: bool) -> Self {
        self.skip_build = skip;
        self
    }

    /// Waits for a quiet machine before each row, and measures a row again that was disturbed.
    pub fn undisturbed(mut self, undisturbed: bool) -> Self {
        self.undisturbed = undisturbed;
        self
    }

    /// Checks the conformance of servers also if they have passed within the last week.
    pub fn check_again(mut self, check_again: bool) -> Self {
        self.check_again = check_again;
        self
    }

    /// Measures over this network instead of loopback.
    pub fn over(mut self, network: Option<&'a Network>) -> Self {
        self.network = network;
        self
    }

    /// The cores of a row.
    fn cores(&self, row: &Row) -> &Cores {
        match row.workload.is_for_nodes() {
            true => &self.cores_for_nodes,
            false => self.cores,
        }
    }

    /// Measures one row.
    pub fn measure(&mut self, row: &Row, progress: &Progress) -> Measurement {
        let (undisturbed, interrupt) = (self.undisturbed, self.interrupt);
        let measure = || self.measure_once(row, progress);
        let is_over = || interrupt.requested();
        let say =
            |words: &str| progress.line(&format!("  {}: measured again: {words}", row.label()));
        match undisturbed {
            true => again::least_disturbed(measure, is_over, say),
            false => again::until_known(measure, is_over, say),
        }
    }

    fn measure_once(&mut self, row: &Row, progress: &Progress) -> Measurement {
        let mut measurement = blank(row);
        measurement.pinning.clone_from(&self.cores(row).pinning);
        measurement.network = self.network.map(asked);
        if let Err(trouble) = self.attempt(row, &mut measurement, progress) {
            measurement.status = trouble.status;
            measurement.reason = Some(trouble.reason);
            measurement.log_tail = trouble.log_tail;
        }
        measurement
    }

    fn attempt(
        &mut self,
        row: &Row,
        measurement: &mut Measurement,
        progress: &Progress,
    ) -> Result<(), Trouble> {
        let (manifest, variant) = match (&row.entry.manifest, &row.subject) {
            (Ok(manifest), Ok(variant)) => (manifest, variant),
            (Err(problems), _) | (_, Err(problems)) => {
                return Err(Trouble::new(Status::BuildFailed, lines(problems)));
            }
        };
        let built = self.build(row, variant, progress)?;
        measurement.server.library_version = Some(built.version.clone());
        measurement.server.runtime.clone_from(&built.runtime);
        let (schedule, held) = self.schedules(row);
        if held.is_empty() {
            return Err(Trouble::new(
                Status::GeneratorLimited,
                format!(
                    "this machine holds {} clients, fewer than the {} of the first step: {}",
                    self.capacity.clients, schedule.initial_clients, self.capacity.limit
                ),
            ));
        }
        let (conformance, passed) = self.verify(row, (manifest, variant), &built, progress);
        measurement.conformance = conformance;
        passed?;

        if self.undisturbed {
            quiet::wait(self.interrupt, &mut |busy| {
                progress.phase(&format!(
                    "waiting for a quiet machine, {:.0}% busy",
                    busy * 100.0
                ));
            });
        }
        let through = self.through(row)?;
        if let (Some((_, version)), Some(of)) = (&through, &mut measurement.proxy) {
            of.version = Some(version.clone());
        }
        let link = self.link(row, measurement, progress)?;
        let _inside = link
            .as_ref()
            .map(|link| link.enter())
            .transpose()
            .map_err(no_network)?;
        let place = link.as_ref().map(Location::beyond).unwrap_or_default();
        let server = (row, manifest, variant);
        let way = (place, through.map(|(through, _)| through), link.as_deref());
        self.under_load(server, (schedule, held), way, measurement, progress)
    }

    /// Starts the server, lets the generator load it, stops it, and says whether that was as it must be.
    fn under_load(
        &self,
        (row, manifest, variant): (&Row, &Manifest, &Variant),
        (schedule, held): (Schedule, Schedule),
        (place, through, link): (Location, Option<Through<'_>>, Option<&Link>),
        measurement: &mut Measurement,
        progress: &Progress,
    ) -> Result<(), Trouble> {
        progress.phase("starting");
        measurement.busy_before = host_facts::busy_share(LOOKS);
        let log = self.logs.join(format!("{}.server.log", row.file_name()));
        let around = Around {
            place: place.clone(),
            cuts: Cuts {
                nodes: Timetable::links(&row.workload.plan.faults),
                cpus: self.cores(row).generator(),
            },
            through,
        };
        let mut server = self.start((row, manifest, variant), around, &log)?;
        // The sampler and this thread keep off the server's cores.
        let _confined = Confined::to(self.cores(row).generator())
            .map_err(|error| Trouble::new(Status::StartFailed, format!("cannot pin: {error}")))?;
        let (pids, ports) = (server.pids(), server.ports());
        // It asks the kernel for the sockets of the network in which it was started.
        let sampler = place
            .there(|| Sampler::start(&pids, &ports, SAMPLING))
            .and_then(|sampler| sampler)
            .map_err(|error| Trouble::new(Status::StartFailed, format!("no sampler: {error}")))?;
        let idle = sampler.snapshot();
        measurement.idle = Some(idle.memory);
        let proxy = Followed::start(&server, &place)?;

        let (task, plan) = self
            .task(row, (held, &place), &server)
            .map_err(|error| Trouble::new(Status::GeneratorLimited, error))?;
        let mut meanwhile = Meanwhile {
            steps: Steps::new(&sampler, idle.at),
            proxy: proxy.as_ref().map(Followed::steps),
            progress,
            sampler: &sampler,
            faults: Timetable::new(&plan.faults, plan.generator.seed),
            pids,
        };
        let others = Others::now();
        let ended = task.run(&mut server, self.interrupt, &mut meanwhile);
        let others = others.zip(Others::now());
        if let (Some(link), Some(network)) = (link, &mut measurement.network) {
            let (to_server, to_clients) = link.traffic().map_err(no_network)?;
            network.to_server = Some(to_server);
            network.to_clients = Some(to_clients);
        }
        measurement.busy_during = others.map(|(before, now)| now.share_since(&before));
        measurement.server_steps = meanwhile.steps.into_vec();
        if let (Some(used), Some(of)) = (meanwhile.proxy, &mut measurement.proxy) {
            used.into(of);
        }
        measurement.faults = meanwhile.faults.finish();
        measurement.server_series = Some(sampler.series(idle.at, Instant::now()));
        drop(sampler);

        progress.phase("stopping");
        let log_tail = server.log_tail();
        let stopped = server.stop();
        let ended = ended.map_err(|error| {
            let program = self.project.shown(&self.generator);
            Trouble::new(
                Status::GeneratorLimited,
                format!("{program} could not run: {error}"),
            )
        })?;
        let _ = std::fs::remove_file(&task.record);
        let verdict = verdict::verdict(&ended, &stopped, &measurement.faults, log_tail);
        let verdict = verdict::over(measurement.network.as_ref(), verdict);
        let verdict = verdict::behind(measurement.proxy.as_ref(), verdict);
        measurement.run = ended.record.map(|mut run| {
            // Records are published: where the project lies on this machine is not their business.
            for word in &mut run.command {
                *word = self.project.shown(Path::new(word));
            }
            let cut = schedule != held;
            self.name_machine_limit(cut, run)
        });
        verdict
    }

    /// A run whose steps were cut to what this machine holds has ended at the machine's limit.
    fn name_machine_limit(&self, cut: bool, mut run: RunRecord) -> RunRecord {
        if cut && run.outcome.end == End::StepsDone {
            run.outcome.end = End::MachineLimit;
            run.outcome.detail =
                format!("no further step fits this machine: {}", self.capacity.limit).into();
        }
        run
    }

    fn start(
        &self,
        (row, manifest, variant): (&Row, &Manifest, &Variant),
        around: Around<'_>,
        log: &Path,
    ) -> Result<Server, Trouble> {
        let bin = self.project.bin();
        let cores = self.cores(row);
        let spec = Spec::new(
            manifest,
            variant,
            (&row.entry.dir, &bin),
            (cores.server_threads, cores.server()),
            log,
        )
        .at(around.place)
        .with_cuts(around.cuts)
        .through(around.through);
        supervise::start(&spec, self.interrupt).map_err(|(error, tail)| match error {
            StartError::Interrupted => Trouble::interrupted(),
            error => Trouble::new(Status::StartFailed, error.to_string()).with_log(tail),
        })
    }

    /// The steps of a row as they are asked for, and as the machine holds them.
    fn schedules(&self, row: &Row) -> (Schedule, Schedule) {
        let asked = row.schedule();
        (asked, asked.within(self.capacity.clients))
    }

    /// What the generator is to do, with the file of its plan written, and the plan.
    fn task(
        &self,
        row: &Row,
        (schedule, place): (Schedule, &Location),
        server: &Server,
    ) -> Result<(Task<'_>, Plan), String> {
        let name = row.file_name();
        let local_addrs = place.clients();
        let local_addrs = local_addrs.as_ref().unwrap_or(&self.capacity.local_addrs);
        let terms = Terms {
            schedule,
            dialect: row.dialect,
            repetition: row.repetition,
            local_addrs,
            threads: self.cores(row).generator_threads,
            authority: server.authority(),
            nodes: &server.addresses(),
        };
        let plan = self.results.join(format!("{name}.plan.toml"));
        let of_row = row.workload.of_row(&terms);
        let text = workload::plan_file(&of_row).map_err(|error| error.to_string())?;
        std::fs::write(&plan, text)
            .map_err(|error| format!("{}: {error}", self.project.shown(&plan)))?;
        let task = Task {
            program: &self.generator,
            plan,
            cpus: self.cores(row).generator(),
            record: self.logs.join(format!("{name}.run.json")),
            log: self.logs.join(format!("{name}.generator.log")),
        };
        Ok((task, of_row.0))
    }
}
