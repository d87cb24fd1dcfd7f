//! The tools: where they are found, how they are told what to do.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const CLIENTS: u64 = 1000;
pub(crate) const PADDING: u64 = 200;

pub(crate) const BARE: &str = "bare epoll loop";
pub(crate) const OURS: &str = "websocket-bench";
pub(crate) const CPP_BENCH: &str = "cpp-bench";
pub(crate) const ANCESTOR: &str = "websocket-bench of 2016";
pub(crate) const K6: &str = "k6";
pub(crate) const ARTILLERY: &str = "Artillery";
pub(crate) const TSUNG: &str = "tsung";
const THOR: &str = "thor";

/// The working directory of every tool.
pub(crate) struct Bench {
    pub(crate) port: u16,
    pub(crate) directory: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    Broadcast,
    Echo,
}

impl Workload {
    const fn name(self) -> &'static str {
        match self {
            Self::Broadcast => "broadcast",
            Self::Echo => "echo",
        }
    }
}

/// What a tool is to do.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) workload: Workload,
    pub(crate) dialect: &'static str,
    pub(crate) concurrent: u64,
}

/// A load generator.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// What it looks at in a message.
    pub(crate) checks: &'static str,
    /// The one command that brings it.
    pub(crate) install: &'static str,
    pub(crate) find: fn(&Bench) -> Option<PathBuf>,
    pub(crate) command: fn(&Path, &Bench, Load, u64) -> Command,
    /// It cannot close the loop of a broadcast, and only receives.
    pub(crate) listens: bool,
    /// A program that it needs beside it.
    pub(crate) beside: Option<fn() -> Command>,
}

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: BARE,
        checks: "nothing, it counts bytes",
        install: "apt-get install gcc",
        find: compile_bare,
        command: bare,
        listens: false,
        beside: None,
    },
    Tool {
        name: OURS,
        checks: "every byte, exactly once, in order",
        install: "make",
        find: |_| Some(env!("CARGO_BIN_EXE_websocket-bench").into()),
        command: ours,
        listens: false,
        beside: None,
    },
    Tool {
        name: CPP_BENCH,
        checks: "every byte, exactly once",
        install: "make -C cross-check",
        find: |_| {
            let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bin/cpp-bench");
            built.exists().then_some(built)
        },
        command: cpp_bench,
        listens: false,
        beside: None,
    },
    Tool {
        name: ANCESTOR,
        checks: "the type",
        install: "build github.com/hashrocket/websocket-shootout and set WEBSOCKET_BENCH_2016 to \
                  its bin/websocket-bench",
        find: |_| env::var_os("WEBSOCKET_BENCH_2016").map(PathBuf::from),
        command: ancestor,
        listens: false,
        beside: None,
    },
    Tool {
        name: K6,
        checks: "what its script does: the JSON is parsed, the type compared, deliveries counted",
        install: "go install go.k6.io/k6@v1.8.1",
        find: |_| in_path("k6"),
        command: k6,
        listens: false,
        beside: None,
    },
    Tool {
        name: ARTILLERY,
        checks: "of a broadcast nothing; of an echo the type, after parsing the JSON",
        install: "npm install --global --ignore-scripts artillery@2.0.34 (Node 22.18 or newer)",
        find: |_| in_path("artillery"),
        command: artillery,
        listens: true,
        beside: None,
    },
    Tool {
        name: TSUNG,
        checks: "nothing but, of an echo, that a frame came",
        install: "apt-get install tsung (measured with 1.7.0)",
        find: |_| in_path("tsung"),
        command: tsung,
        listens: true,
        beside: Some(epmd),
    },
    Tool {
        name: THOR,
        checks: "nothing",
        install: "npm install --global thor@1.0.0 (takes two of its parts from GitHub; listed, not \
                  measured)",
        find: |_| None,
        command: |program, _, _, _| Command::new(program),
        listens: false,
        beside: None,
    },
];

/// The text request, as long as that of the bare loop.
pub(crate) fn request(workload: Workload) -> String {
    format!(
        r#"{{"type":"{}","payload":{{"stamp":"0000000000000000","padding":"{}"}}}}"#,
        workload.name(),
        "1234567890".repeat(PADDING as usize / 10)
    )
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

fn compile_bare(bench: &Bench) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/generator/bare/epoll.c");
    if !source.is_file() {
        return None;
    }
    let program = bench.directory.join("bare_epoll");
    let status = Command::new("cc")
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(source)
        .status()
        .ok()?;
    status.success().then_some(program)
}

fn bare(program: &Path, bench: &Bench, load: Load, samples: u64) -> Command {
    let mut command = Command::new(program);
    let numbers = [
        u64::from(bench.port),
        CLIENTS,
        load.concurrent,
        samples,
        PADDING,
    ];
    command
        .args(numbers.map(|number| number.to_string()))
        .args([load.dialect, load.workload.name(), "each"]);
    command
}

/// The flags that the ancestor has, and all that succeed it.
fn of_the_family(program: &Path, load: Load, samples: u64) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--concurrent", &load.concurrent.to_string()])
        .args(["--sample-size", &samples.to_string()])
        .args(["--step-size", &CLIENTS.to_string()])
        .args(["--payload-padding", &PADDING.to_string()])
        .args(["--total-steps", "1", "--limit-rtt", "20s"]);
    command
}

fn ancestor(program: &Path, bench: &Bench, load: Load, samples: u64) -> Command {
    let mut command = Command::new(program);
    command.args([
        load.workload.name(),
        &format!("ws://127.0.0.1:{}/ws", bench.port),
    ]);
    command
        .args(["--server-type", load.dialect])
        .args(of_the_family(program, load, samples).get_args());
    command
}

fn ours(program: &Path, bench: &Bench, load: Load, samples: u64) -> Command {
    let mut command = ancestor(program, bench, load, samples);
    command.arg("--no-progress");
    command
}

fn cpp_bench(program: &Path, bench: &Bench, load: Load, samples: u64) -> Command {
    let mut command = of_the_family(program, load, samples);
    command.args(["--port", &bench.port.to_string(), "--path", "/ws"]);
    command
}

fn k6(program: &Path, bench: &Bench, load: Load, samples: u64) -> Command {
    let mut command = Command::new(program);
    command
        .args(["run", "--quiet", "--no-usage-report", "--no-summary"])
        // Its REST interface would listen on a port of its own.
        .args(["--address", ""])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/k6.js"))
        .env("URL", format!("ws://127.0.0.1:{}/ws", bench.port))
        .env("WORKLOAD", load.workload.name())
        .env("CLIENTS", CLIENTS.to_string())
        .env("SENDERS", load.concurrent.to_string())
        .env("COUNT", samples.to_string())
        .env("PADDING", PADDING.to_string());
    command
}

/// Fills a configuration in: the echoes of each client. While broadcasts come, clients of Artillery
/// send nothing and those of tsung, which must ask for something, a single echo.
fn fill(name: &str, template: &str, bench: &Bench, load: Load, samples: u64) -> PathBuf {
    let (count, hold) = match load.workload {
        Workload::Broadcast => (1, "40"),
        Workload::Echo => (samples, "10"),
    };
    let text = template
        .replace("{url}", &format!("ws://127.0.0.1:{}/ws", bench.port))
        .replace("{port}", &bench.port.to_string())
        .replace("{clients}", &CLIENTS.to_string())
        .replace("{count}", &count.to_string())
        .replace("{hold}", hold)
        .replace("{request}", &request(Workload::Echo));
    let file = bench.directory.join(name);
    fs::write(&file, text).expect("the temporary directory can be written");
    file
}

fn artillery(program: &Path, bench: &Bench, load: Load, samples: u64) -> Command {
    let template = include_str!("artillery.yml");
    let file = fill("artillery.yml", template, bench, load, samples);
    let mut command = Command::new(program);
    command
        .args(["run", "--quiet", "--scenario-name", load.workload.name()])
        .arg(file)
        .env("ARTILLERY_DISABLE_TELEMETRY", "true");
    command
}

fn tsung(program: &Path, bench: &Bench, load: Load, samples: u64) -> Command {
    let template = include_str!("tsung.xml");
    let file = fill("tsung.xml", template, bench, load, samples);
    let mut command = Command::new(program);
    command
        .arg("-f")
        .arg(file)
        .arg("-l")
        .arg(bench.directory.join("tsung-log"))
        .arg("start")
        .env("HOME", &bench.directory)
        .env("ERL_EPMD_PORT", EPMD_PORT);
    command
}

/// Erlang's name service, on a port of its own and of this machine alone.
const EPMD_PORT: &str = "43690";

fn epmd() -> Command {
    let mut command = Command::new("epmd");
    command.args(["-port", EPMD_PORT, "-address", "127.0.0.1"]);
    command
}
