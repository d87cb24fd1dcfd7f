//! `make cross-check`: do websocket-bench and cpp-bench, which share no code, measure the same?
//!
//! Both drive the same server with binary broadcasts, in turn and on the same core, the server on
//! another; each measurement has a server of its own. Compared is the time to the last listener,
//! its median and 95th percentile, as each program itself states it. websocket-bench ends it at
//! its own reads here, as cpp-bench does; what its kernel stamps say stands beside it.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use board::compare::agreement::{Agreement, Paired, paired};
use board::stats::{Resampling, median};
use clap::Parser;
use record::RunRecord;
use serde::Deserialize;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use test_servers::{NullOptions, NullServer};

/// Exit code when the generators do not agree, or when that cannot be told.
const DISAGREE: u8 = 3;

/// Compares the two generators.
#[derive(Parser)]
#[command(bin_name = "make cross-check ARGS=...")]
struct Args {
    /// Rounds; each generator measures once in each
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Clients
    #[arg(long, default_value_t = 1000)]
    clients: u64,
    /// Broadcasts under way
    #[arg(long, default_value_t = 4)]
    concurrent: u64,
    /// Broadcasts per measurement
    #[arg(long, default_value_t = 200)]
    sample_size: u64,
    /// Ratios from 1/(1+T) to 1+T are taken for the same
    #[arg(long, value_name = "T", default_value_t = 0.15)]
    tolerance: f64,
    /// Command of a further server; {port} stands for the port
    #[arg(long)]
    server: Option<String>,
    /// Given by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

/// What one measurement came to: nanoseconds, and CPU per delivery of the whole process.
#[derive(Clone, Copy)]
struct Measured {
    p50: f64,
    p95: f64,
    cpu: f64,
}

/// The file of cpp-bench.
#[derive(Deserialize)]
struct CppFigures {
    steps: Vec<CppStep>,
}

#[derive(Deserialize)]
struct CppStep {
    p50_ns: u64,
    p95_ns: u64,
}

/// A server for one measurement.
enum Server {
    Null(NullServer),
    Program { child: Child, port: u16 },
}

impl Server {
    fn start(command: Option<&str>) -> Result<Self, String> {
        pin(0);
        let Some(command) = command else {
            let server = NullServer::start(NullOptions::default());
            return server.map(Self::Null).map_err(|error| error.to_string());
        };
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| listener.local_addr())
            .map_err(|error| format!("no free port: {error}"))?
            .port();
        let filled = command.replace("{port}", &port.to_string());
        let mut words = filled.split_whitespace();
        let child = Command::new(words.next().unwrap_or_default())
            .args(words)
            .current_dir(root())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("--server: {command}: {error}"))?;
        let server = Self::Program { child, port };
        let since = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if since.elapsed() > Duration::from_secs(20) {
                return Err(format!(
                    "--server: {command}: nothing listens on 127.0.0.1:{port} after 20 s"
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    fn port(&self) -> u16 {
        match self {
            Self::Null(server) => server.addr().port(),
            Self::Program { port, .. } => *port,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Self::Program { child, .. } = self {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    match cross_check(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(DISAGREE),
        Err(error) => {
            eprintln!("cross-check: {error}");
            ExitCode::FAILURE
        }
    }
}

fn cross_check(args: &Args) -> Result<bool, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    println!(
        "{} clients, {} binary broadcasts under way, {} a measurement, padding 200, {} rounds; \
         server on core 0, generators in turn on core 1",
        args.clients, args.concurrent, args.sample_size, args.rounds
    );
    let mut all = compare("null server", None, args, directory.path())?;
    if let Some(command) = &args.server {
        all &= compare(command, Some(command), args, directory.path())?;
    }
    Ok(all)
}

/// Prints what the generators say of one server; true when they agree.
fn compare(
    name: &str,
    command: Option<&str>,
    args: &Args,
    directory: &Path,
) -> Result<bool, String> {
    let (mut cpp, mut user, mut kernel) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..args.rounds {
        // The generator that is first in one round is last in the next.
        let mut order = [0, 1, 2];
        order.rotate_left(round % 3);
        for which in order {
            let server = Server::start(command)?;
            pin(1);
            let port = server.port();
            match which {
                0 => cpp.push(cpp_bench(port, args, directory)?),
                1 => user.push(websocket_bench(port, "user", args, directory)?),
                _ => kernel.push(websocket_bench(port, "kernel", args, directory)?),
            }
        }
    }
    println!("{name}");
    for (generator, measured) in [
        ("cpp-bench", &cpp),
        ("websocket-bench", &user),
        ("websocket-bench, kernel stamps", &kernel),
    ] {
        println!(
            "  {generator:<31} median {:6.2} ms  p95 {:6.2} ms  {:.2} us CPU per delivery, connecting included",
            median(&column(measured, |one| one.p50)) / 1e6,
            median(&column(measured, |one| one.p95)) / 1e6,
            median(&column(measured, |one| one.cpu)) / 1e3,
        );
    }
    let mut all = true;
    for (figure, of) in [
        ("median", (|one| one.p50) as fn(&Measured) -> f64),
        ("p95", |one| one.p95),
    ] {
        let found = paired(
            &column(&cpp, of),
            &column(&user, of),
            args.tolerance,
            Resampling::default(),
        )
        .ok_or("no round was measured (--rounds)")?;
        let (agrees, words) = conclusion(&found, &cpp, &user, args.tolerance);
        println!(
            "  {figure:<6} websocket-bench / cpp-bench {:.3} [{:.3}, {:.3}]: {words}",
            found.ratio, found.interval.low, found.interval.high
        );
        all &= agrees;
    }
    Ok(all)
}

fn conclusion(
    found: &Paired,
    cpp: &[Measured],
    ours: &[Measured],
    tolerance: f64,
) -> (bool, String) {
    let cpu = median(&column(ours, |one| one.cpu)) / median(&column(cpp, |one| one.cpu));
    // The clock of both ends at a read, so that a slower reader sees the last listener later.
    let why =
        format!("on the same core websocket-bench spends {cpu:.2} times the CPU per delivery");
    let tolerance = tolerance * 100.0;
    match found.agreement {
        Agreement::WithinNoise => (true, "they agree within noise".into()),
        Agreement::WithinTolerance => (
            true,
            format!("they agree within {tolerance:.0} percent, not within noise: {why}"),
        ),
        Agreement::Undecided => (
            false,
            format!(
                "cannot tell: the noise would hide more than {tolerance:.0} percent; keep the \
                 machine quiet, or take more rounds (ARGS='--rounds N')"
            ),
        ),
        Agreement::Differ => (
            false,
            format!("they differ, perhaps by more than {tolerance:.0} percent: {why}"),
        ),
    }
}

fn column(measured: &[Measured], of: impl Fn(&Measured) -> f64) -> Vec<f64> {
    measured.iter().map(of).collect()
}

fn cpp_bench(port: u16, args: &Args, directory: &Path) -> Result<Measured, String> {
    let file = directory.join("cpp-bench.json");
    let mut command = generator("cpp-bench", args)?;
    command
        .args(["--port", &port.to_string(), "--path", "/", "--json"])
        .arg(&file);
    let cpu = run(command, args)?;
    let figures: CppFigures = read(&file)?;
    let step = figures.steps.first().ok_or("cpp-bench measured no step")?;
    Ok(Measured {
        p50: step.p50_ns as f64,
        p95: step.p95_ns as f64,
        cpu,
    })
}

fn websocket_bench(
    port: u16,
    timestamps: &str,
    args: &Args,
    directory: &Path,
) -> Result<Measured, String> {
    let file = directory.join("websocket-bench.json");
    let mut command = generator("websocket-bench", args)?;
    command
        .arg(format!("ws://127.0.0.1:{port}/"))
        .args(["--server-type", "binary", "--no-progress"])
        .args(["--timestamps", timestamps, "--json"])
        .arg(&file);
    let cpu = run(command, args)?;
    let record: RunRecord = read(&file)?;
    let step = record.steps.first();
    let completion = step
        .and_then(|step| step.completion.as_ref())
        .ok_or("websocket-bench measured no step")?;
    Ok(Measured {
        p50: completion.p50_ns as f64,
        p95: completion.p95_ns as f64,
        cpu,
    })
}

/// A generator with the flags that both have.
fn generator(name: &str, args: &Args) -> Result<Command, String> {
    let program = root().join("bin").join(name);
    if !program.exists() {
        return Err(format!(
            "{} is not built; run make cross-check",
            program.display()
        ));
    }
    let mut command = Command::new(program);
    let both = [
        ("--concurrent", args.concurrent),
        ("--sample-size", args.sample_size),
        ("--step-size", args.clients),
        ("--payload-padding", 200),
        ("--total-steps", 1),
    ];
    if name == "websocket-bench" {
        // Its load flags come behind the workload.
        command.arg("broadcast");
    }
    for (flag, value) in both {
        command.args([flag, &value.to_string()]);
    }
    command.args(["--limit-rtt", "20s"]);
    Ok(command)
}

/// Runs a generator to its end; its CPU per delivery in nanoseconds.
fn run(mut command: Command, args: &Args) -> Result<f64, String> {
    let before = children_cpu_ns();
    let output = command
        .output()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if !output.status.success() {
        return Err(format!(
            "{} ended with {}: {}",
            command.get_program().display(),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    Ok((children_cpu_ns() - before) / (args.clients * args.sample_size) as f64)
}

fn read<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<T, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// CPU time of all children that have ended and been waited for.
fn children_cpu_ns() -> f64 {
    // SAFETY: an all-zero rusage is valid, and the call fills it; it outlives the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

/// Threads and children inherit the affinity of the thread that starts them.
fn pin(cpu: usize) {
    // SAFETY: an all-zero cpu_set_t is valid; the set outlives the call.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    assert_eq!(done, 0, "the cross-check needs two cores");
}
