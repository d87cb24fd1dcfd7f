//! One case, carried out: a server of this process, and this very program as a child.

use super::case::{Case, LINES, MOST_CLIENTS};
use super::laws::{self, Broken, Reported};
use run_record::{Load, Nanos, Plan, RunRecord};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use test_servers::oracle::Oracle;

/// For everything but the load and its time-outs: connections, and what slow readers are let read at
/// the end of a step.
const ASIDE: Duration = Duration::from_secs(60);
const LOOKS: Duration = Duration::from_millis(5);

/// Files that every case may use, and what a case leaves.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes one of this process.
    pub(super) fn new() -> std::io::Result<Self> {
        static FOLDERS: AtomicU64 = AtomicU64::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("websocket-bench-plans-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        let folder = Self(path);
        let numbers: String = (0..MOST_CLIENTS).map(|n| format!("{n}\n")).collect();
        fs::write(folder.data(), format!("n\n{numbers}"))?;
        let line = |n: usize| format!("{} äöü\n", "line".repeat(20 + 30 * n));
        fs::write(folder.lines(), (0..LINES).map(line).collect::<String>())?;
        Ok(folder)
    }

    fn data(&self) -> PathBuf {
        self.0.join("clients.csv")
    }

    fn lines(&self) -> PathBuf {
        self.0.join("lines.txt")
    }

    /// The plan of a case against its server.
    pub(super) fn plan(&self, case: &Case, server: &Oracle) -> Plan {
        let mut plan = case.plan.clone();
        let url = plan
            .target
            .url
            .replacen("127.0.0.1:1", &server.addr().to_string(), 1);
        plan.target.url = url;
        plan.connection.data = Some(self.data());
        plan.message.lines = case.has_lines.then(|| self.lines());
        plan
    }

    /// A file of the case with this number.
    fn of(&self, number: u64, name: &str) -> PathBuf {
        self.0.join(format!("{number}.{name}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How cases are carried out.
pub(super) struct Runner<'a> {
    pub(super) folder: &'a Folder,
    /// A plan as a file that the program reads.
    pub(super) write_plan: fn(&Plan) -> Result<String, String>,
    pub(super) interrupted: &'a AtomicBool,
}

impl Runner<'_> {
    /// Carries a case out and returns the laws that it breaks. `number` is that of no other case at
    /// the same time. `None` when it was interrupted.
    ///
    /// # Errors
    /// In words, when this machine cannot carry it out.
    pub(super) fn carry_out(
        &self,
        case: &Case,
        number: u64,
    ) -> Result<Option<Vec<Broken>>, String> {
        let server = Oracle::start(case.server)
            .map_err(|error| format!("the server of the plan does not start: {error}"))?;
        let plan = self.folder.plan(case, &server);
        let (file, record) = (
            self.folder.of(number, "toml"),
            self.folder.of(number, "json"),
        );
        let told = self.folder.of(number, "txt");
        fs::write(&file, (self.write_plan)(&plan)?).map_err(|error| error.to_string())?;
        let _ = fs::remove_file(&record);
        let child = start(&file, &record, &told, case.processes)?;
        let Some(exit) = self.wait(child, longest(&plan)) else {
            return Ok(None);
        };
        let words = || fs::read_to_string(&told).unwrap_or_default();
        let (law, because) = match &exit {
            None => (
                "the run ends in time",
                format!("it did not within {:?}", longest(&plan)),
            ),
            Some(_) => ("the run leaves a record", words()),
        };
        let text = fs::read_to_string(&record).ok();
        let measured = text.and_then(|text| serde_json::from_str::<RunRecord>(&text).ok());
        let broken = match (exit, measured) {
            (Some(exit), Some(measured)) => {
                let reported = Reported {
                    faults: measured.faults(),
                    steps: measured.steps,
                    outcome: measured.outcome,
                    exit,
                };
                laws::broken(case, &server.told(), &reported)
            }
            _ => vec![Broken {
                law,
                words: because,
            }],
        };
        for file in [file, record, told] {
            let _ = fs::remove_file(file);
        }
        Ok(Some(broken))
    }

    /// How a child ended: its code, or `None` for one that had to be killed. The outer `None` is an
    /// interrupt.
    fn wait(&self, mut child: Child, longest: Duration) -> Option<Option<Option<i32>>> {
        let began = Instant::now();
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                return Some(Some(status.code()));
            }
            let interrupted = self.interrupted.load(Ordering::Relaxed);
            if interrupted || began.elapsed() > longest {
                let _ = child.kill();
                let _ = child.wait();
                return (!interrupted).then_some(None);
            }
            std::thread::sleep(LOOKS);
        }
    }
}

fn start(plan: &Path, record: &Path, told: &Path, processes: u32) -> Result<Child, String> {
    let program = std::env::current_exe().map_err(|e| format!("where is this program? {e}"))?;
    let told = File::create(told).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command
        .args(["run", "--no-progress", "--json"])
        .arg(record)
        .arg(plan);
    if processes > 1 {
        command.args(["--processes", &processes.to_string()]);
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(told);
    crate::child::ends_with_us(&mut command);
    command
        .spawn()
        .map_err(|error| format!("the generator does not start: {error}"))
}

/// Within this time every run of a plan must end.
fn longest(plan: &Plan) -> Duration {
    let of_load = match &plan.load {
        Load::Open(open) => open.length(),
        Load::Closed(_) | Load::Connect(_) | Load::Raw(_) => Nanos::secs(30),
    };
    let of_step = of_load.ns() + 2 * plan.limits.sample_timeout.ns();
    ASIDE + 2 * Duration::from_nanos(of_step)
}
