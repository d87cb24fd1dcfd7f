//! One case, carried out: a server of this process, and the load generator as a child.

use super::WritePlan;
use super::case::{Case, LINES, MOST_CLIENTS};
use super::laws::{self, Broken, Reported};
use crate::error::Unmade;
use plan::{Clients, Load, Nanos, Plan};
use record::{Json, RunRecord};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use test_servers::oracle::{Oracle, Told};

/// For everything but the load and its time-outs: connections, and what slow readers are let read at
/// the end of a step.
const ASIDE: Duration = Duration::from_secs(60);
const LOOKS: Duration = Duration::from_millis(5);
/// Longest time until a server has read what its clients sent before they closed.
const READ: Duration = Duration::from_secs(20);

/// Files that every case may use, and what a case leaves.
pub(super) struct Folder {
    path: PathBuf,
    /// Of servers that speak TLS; its certificate is one of the files.
    tls: Arc<ServerConfig>,
}

impl Folder {
    /// Makes one of this process.
    ///
    /// # Errors
    /// When a file cannot be written, or no certificate be made.
    pub(super) fn new() -> io::Result<Self> {
        static FOLDERS: AtomicU64 = AtomicU64::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("websocket-bench-plans-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        let (tls, certificate) = certificate().map_err(io::Error::other)?;
        let folder = Self { path, tls };
        fs::write(folder.certificate(), certificate)?;
        let numbers: String = (0..MOST_CLIENTS).map(|n| format!("{n}\n")).collect();
        fs::write(folder.data(), format!("n\n{numbers}"))?;
        let line = |n: usize| format!("{} äöü\n", "line".repeat(20 + 30 * n));
        fs::write(folder.lines(), (0..LINES).map(line).collect::<String>())?;
        Ok(folder)
    }

    fn certificate(&self) -> PathBuf {
        self.path.join("certificate.pem")
    }

    fn data(&self) -> PathBuf {
        self.path.join("clients.csv")
    }

    fn lines(&self) -> PathBuf {
        self.path.join("lines.txt")
    }

    /// The server of a case.
    ///
    /// # Errors
    /// When no port can be bound.
    pub(super) fn start(&self, case: &Case) -> io::Result<Oracle> {
        match case.plan.target.is_secure() {
            true => Oracle::start_tls(case.server, Arc::clone(&self.tls)),
            false => Oracle::start(case.server),
        }
    }

    /// The plan of a case against its server.
    pub(super) fn plan(&self, case: &Case, server: &Oracle) -> Plan {
        let mut plan = case.plan.clone();
        let url = plan
            .target
            .url
            .replacen("127.0.0.1:1", &server.addr().to_string(), 1);
        plan.target.url = url;
        plan.target.ca_file = plan.target.is_secure().then(|| self.certificate());
        plan.connection.data = Some(self.data());
        plan.message.lines = case.has_lines.then(|| self.lines());
        plan
    }

    /// A file of the case with this number.
    fn file(&self, number: u64, name: &str) -> PathBuf {
        self.path.join(format!("{number}.{name}"))
    }
}

/// A certificate of its own for 127.0.0.1, for a server and as PEM.
fn certificate() -> Result<(Arc<ServerConfig>, String), Box<dyn Error + Send + Sync>> {
    let issued = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::try_from(issued.signing_key.serialize_der())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![issued.cert.der().clone()], key)?;
    Ok((Arc::new(config), issued.cert.pem()))
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// How cases are carried out.
pub(super) struct Runner<'a> {
    pub(super) folder: &'a Folder,
    /// The load generator.
    pub(super) program: &'a Path,
    /// A plan as a file that the program reads.
    pub(super) write_plan: WritePlan,
    pub(super) interrupted: &'a AtomicBool,
}

impl Runner<'_> {
    /// Carries a case out and returns the laws that it breaks. `number` is that of no other case at
    /// the same time. `None` when it was interrupted.
    ///
    /// # Errors
    /// When this machine cannot carry it out.
    pub(super) fn carry_out(
        &self,
        case: &Case,
        number: u64,
    ) -> Result<Option<Vec<Broken>>, Unmade> {
        // Its server has a thread for each connection: of some such at once, threads would be short.
        static LARGE: Mutex<()> = Mutex::new(());
        let is_large = case.plan.clients.first() >= MOST_CLIENTS;
        let _alone = is_large.then(|| LARGE.lock().unwrap_or_else(PoisonError::into_inner));
        let server = self.folder.start(case).map_err(Unmade::ServerOfPlan)?;
        let plan = self.folder.plan(case, &server);
        let (file, record) = (
            self.folder.file(number, "toml"),
            self.folder.file(number, "json"),
        );
        let told = self.folder.file(number, "txt");
        let text = (self.write_plan)(&plan).map_err(Unmade::Unprintable)?;
        fs::write(&file, text)?;
        let _ = fs::remove_file(&record);
        let child = self.generate(&file, &record, &told, case.processes)?;
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
        let measured = text.and_then(|text| RunRecord::from_json(&text).ok());
        let broken = match (exit, measured) {
            (Some(exit), Some(measured)) => {
                let reported = Reported {
                    faults: measured.faults(),
                    steps: measured.steps,
                    outcome: measured.outcome,
                    exit,
                };
                laws::broken(case, &told_by(&server), &reported)
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

    fn generate(
        &self,
        plan: &Path,
        record: &Path,
        told: &Path,
        processes: u32,
    ) -> Result<Child, Unmade> {
        let told = File::create(told)?;
        let mut command = Command::new(self.program);
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
        command.spawn().map_err(|error| Unmade::Generator {
            program: self.program.to_owned(),
            error,
        })
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

/// Within this time every run of a plan must end.
fn longest(plan: &Plan) -> Duration {
    let of_load = match (&plan.load, &plan.clients) {
        // So many tries, of which each takes a second or two.
        (_, Clients::Search(_)) => Nanos::secs(60),
        (Load::Open(open), _) => open.length(),
        (Load::Closed(_) | Load::Connect(_) | Load::Watch(_), _) => Nanos::secs(30),
    };
    let of_step = of_load.ns() + 2 * plan.limits.sample_timeout.ns();
    ASIDE + 2 * Duration::from_nanos(of_step)
}

/// What a server did, once it has seen its clients go: a request that brings nothing to its sender, and
/// has no other client in its room, may be unread when the run is over.
fn told_by(server: &Oracle) -> Told {
    let end = Instant::now() + READ;
    while server.connected() > 0 && Instant::now() < end {
        std::thread::sleep(LOOKS);
    }
    server.told()
}
