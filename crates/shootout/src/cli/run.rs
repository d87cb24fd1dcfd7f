//! The options of `shootout run`, and the run options that they make.

use crate::network;
use crate::options::{Pin, RowOrder, RunOptions, VariantChoice};
use clap::{Args, value_parser};
use project::Refusal;
use project::manifest::Dialect;
use project::workload::{self, NamedPlan, ScopedSet};
use record::Network;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const EXAMPLES: &str = "\
Without options it measures every server and variant that can be built here with the workload
`broadcast`: in text (or in the format that the variant speaks), with the parameters of 2016. Each
step adds 1,000 clients (or as many as the manifest says), until the 95th percentile of the completion
is above 500 ms or this machine holds no more clients. --quick measures `cost` instead: the CPU time
of the server for each delivery, under a load that every server carries.

A workload is a plan in workloads/ (`shootout list --workloads`) or a file of your own
(docs/plan.md); `all` is every plan in workloads/. Several are measured one after the other, each
over all rows, and ranked separately. --set KEY=VALUE changes all of them, --set WORKLOAD:KEY=VALUE
changes one. The `step-size` of a manifest applies to workloads that grow up to a limit, unless --set gives
one; a plan with a number of steps keeps its clients. A variant whose manifest does not declare what a
workload needs (rooms, compression, TLS) is not-applicable there, and so is a variant that
compresses, or has TLS, under a workload that asks for neither.

Examples:
  shootout run --quick --yes                    a first result on a fresh machine
  shootout run --servers a,b --dialects text,binary --repeat 3
  shootout run --workload echo --set clients.add=500 --set limits.time=100ms
  shootout run --workload ticker --set load.rate=200 --set load.duration=10s
  shootout run --workload ./mine.toml           a plan of your own
  shootout run --workload all --set churn:load.duration=60s
  shootout run --network wan                    over a network instead of loopback
  shootout run --workload cost --via none,nginx,haproxy     what a proxy costs
  shootout run --resume                         continues the newest run
  shootout run --resume results/local/X         continues that one

Status of a row without a result, with a reason each: missing-toolchain, build-failed,
start-failed, nonconforming, crashed, timeout, faulty, fault-failed, leaked, generator-limited, noisy,
not-applicable, interrupted.

Exit codes: 0 every row that applies has a result, 1 usage or environment, 3 a row has none,
130 interrupted, 141 stdout was closed by its reader.";

/// Options of `shootout run`. An option that is not given keeps its default, or its value in the
/// resumed run.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// Only these servers
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub servers: Vec<String>,
    /// Only these variants [default: all; with --quick the first of each server]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub variants: Vec<String>,
    /// The workloads: plans of workloads/ by their names, `all` of them, or files by their paths
    /// [default: broadcast; with --quick cost]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub workload: Vec<String>,
    /// Changes one key of the plans, e.g. load.rate=200 or clients.first=50; ticker:load.rate=200
    /// changes the plan `ticker` alone. Repeat it for more than one key
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Message formats; each is a row of its own [default: text, else the first of the variant]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORMAT,..")]
    pub dialects: Vec<Dialect>,
    /// A first look in ten minutes: of each language the server that is quickest to build (or the servers
    /// of --servers), its first variant, and what a delivery costs it. With another --workload: 5 steps,
    /// unless its plan says how many. What is ready is measured and shown before anything is installed
    #[arg(long)]
    pub quick: bool,
    /// Repetitions of each row, interleaved, with the server restarted for each [default: 1]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// Order of a workload's rows in each repetition: `listed`, or the seed that an earlier run printed
    /// [default: listed, and with --repeat a new seed]
    #[arg(long, value_name = "ORDER")]
    pub order: Option<RowOrder>,
    /// Measures these servers twice, as the rows NAME and NAME~again. Their difference shows how much
    /// chance alone changes a row
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub twice: Vec<String>,
    /// What lies between server and clients instead of loopback: lan, wan, mobile, or values like
    /// 'delay=20ms jitter=5ms loss=0.1% rate=50mbit' (docs/network.md). Needs root
    #[arg(long, value_name = "NETWORK", value_parser = network::parse)]
    pub network: Option<Network>,
    /// Proxies of proxies/ between clients and server, each a row of its own; `none` is a row without
    /// one (docs/proxies.md). Where the workload has TLS, the proxy ends it
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub via: Vec<String>,
    /// Waits before each row until the machine is quiet, ten minutes at most. Measures a row again if
    /// other programs used more than 5% of the machine meanwhile, up to three times in all
    #[arg(long)]
    pub undisturbed: bool,

    /// Lets server and generator use any core, as they do by default in workloads for several nodes
    #[arg(long, help_heading = "Cores", conflicts_with_all = ["server_cpus", "generator_cpus"])]
    pub no_pin: bool,
    /// Cores of the server, like 0-3,8 [default: the lower half]
    #[arg(long, value_name = "LIST", help_heading = "Cores", value_parser = cpu_list)]
    pub server_cpus: Option<CpuList>,
    /// Cores of the generator [default: the upper half]
    #[arg(long, value_name = "LIST", help_heading = "Cores", value_parser = cpu_list)]
    pub generator_cpus: Option<CpuList>,

    /// Installs missing Debian packages without asking
    #[arg(short, long, help_heading = "Session")]
    pub yes: bool,
    /// Checks the conformance of every server again. Otherwise a server is not checked if it passed on this
    /// machine within the last week, and its folder, programs and tools have not changed
    #[arg(long, help_heading = "Session")]
    pub check_again: bool,
    /// Uses the servers as they are, without building them
    #[arg(long, help_heading = "Session")]
    pub skip_build: bool,
    /// Continues the newest run, or the one in DIR; finished measurements are kept
    #[arg(long, value_name = "DIR", num_args = 0..=1, help_heading = "Session", conflicts_with = "out")]
    pub resume: Option<Option<PathBuf>>,
    /// Directory of the results [default: results/local/<time>/]
    #[arg(long, value_name = "DIR", help_heading = "Session")]
    pub out: Option<PathBuf>,
    /// The load generator [default: bin/websocket-bench]
    #[arg(long, value_name = "FILE", help_heading = "Session", hide = true)]
    pub generator: Option<PathBuf>,
}

/// Numbers of cores.
pub type CpuList = std::sync::Arc<Vec<usize>>;

impl RunArgs {
    /// What a new run is asked for. `workloads` is the folder of the project's plans.
    ///
    /// # Errors
    /// When there is no such workload, or what is set over it is no plan.
    pub fn options(&self, workloads: &Path) -> Result<RunOptions, Refusal> {
        let base = RunOptions {
            workloads: workload::read_all(workloads, &self.named(), &self.sets())?,
            variants: match self.quick {
                true => VariantChoice::First,
                false => VariantChoice::All,
            },
            order: match self.repeat.is_some_and(|repeat| repeat > 1) {
                true => RowOrder::Drawn(draw()),
                false => RowOrder::Listed,
            },
            ..RunOptions::default()
        };
        Ok(self.with(base))
    }

    /// Options of a run that is resumed with everything replaced that was given. Its workloads are
    /// read again only where one or a `--set` is given.
    ///
    /// # Errors
    /// As of [`RunArgs::options`].
    pub fn over(&self, mut stored: RunOptions, workloads: &Path) -> Result<RunOptions, Refusal> {
        let sets = self.sets();
        if !self.workload.is_empty() {
            stored.workloads = workload::read_all(workloads, &self.named(), &sets)?;
        } else if !sets.is_empty() {
            stored.workloads = workload::read_again(workloads, &stored.workloads, &sets)?;
        }
        Ok(self.with(stored))
    }

    /// The workloads that are asked for.
    fn named(&self) -> Vec<&str> {
        match self.workload.as_slice() {
            [] if self.quick => vec![workload::QUICK],
            [] => vec![workload::USUAL],
            named => named.iter().map(String::as_str).collect(),
        }
    }

    fn sets(&self) -> Vec<ScopedSet> {
        self.set.iter().map(|set| ScopedSet::parse(set)).collect()
    }

    fn with(&self, base: RunOptions) -> RunOptions {
        let pin = match (self.no_pin, &self.server_cpus, &self.generator_cpus) {
            (true, ..) => Pin::Off,
            (false, None, None) => base.pin,
            (false, server, generator) => Pin::Cores {
                server: server.as_deref().cloned(),
                generator: generator.as_deref().cloned(),
            },
        };
        RunOptions {
            quick: self.quick || base.quick,
            servers: given(&self.servers, base.servers),
            variants: match self.variants.as_slice() {
                [] => base.variants,
                names => VariantChoice::Named(names.to_vec()),
            },
            workloads: match self.quick || base.quick {
                true => base.workloads.into_iter().map(NamedPlan::quick).collect(),
                false => base.workloads,
            },
            dialects: given(&distinct(&self.dialects), base.dialects),
            twice: given(&self.twice, base.twice),
            repeat: self.repeat.unwrap_or(base.repeat),
            order: self.order.unwrap_or(base.order),
            pin,
            network: self.network.clone().or(base.network),
            via: given(&distinct(&self.via), base.via),
        }
    }
}

/// A number for a draw that nobody has chosen.
fn draw() -> u32 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| now.subsec_micros())
}

/// Each value once, in the order of the first.
fn distinct<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for value in values {
        if !found.contains(value) {
            found.push(value.clone());
        }
    }
    found
}

fn given<T: Clone>(given: &[T], base: Vec<T>) -> Vec<T> {
    if given.is_empty() {
        base
    } else {
        given.to_vec()
    }
}

/// A text that is no list of cores.
#[derive(Debug, thiserror::Error)]
#[error("\"{0}\" is no list of cores; write it like 0-3,8")]
struct NoCores(String);

fn cpu_list(text: &str) -> Result<CpuList, NoCores> {
    let wrong = || NoCores(text.to_owned());
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: usize = first.trim().parse().map_err(|_| wrong())?;
        let last: usize = last.trim().parse().map_err(|_| wrong())?;
        if first > last || last > 4095 {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(CpuList::new(cpus))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser as _;

    fn args(line: &str) -> RunArgs {
        let words = ["shootout", "run"]
            .into_iter()
            .chain(line.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Command::Run(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads")
    }

    #[test]
    fn given_options_replace_those_of_the_base() {
        let options =
            args("--quick --workload broadcast --set load.samples=7 --dialects binary,text,binary");
        let options = options.options(&folder()).unwrap();
        assert_eq!(options.workloads[0].plan.samples(), 7);
        assert_eq!(options.workloads[0].plan.steps(), Some(5));
        assert_eq!(options.dialects, [Dialect::Binary, Dialect::Text]);
        let again = args("--set load.in_flight=9").over(options.clone(), &folder());
        let again = again.unwrap().workloads[0].plan.clone();
        assert_eq!((again.in_flight(), again.samples()), (9, 7));
        assert_eq!(again.steps(), Some(5));
        let same = args("").over(options.clone(), Path::new("/nowhere"));
        assert_eq!(same.unwrap(), options);
    }

    #[test]
    fn several_workloads_keep_their_order_and_their_own_sets() {
        let options =
            args("--workload ticker,echo,ticker --set ticker:load.rate=7 --set limits.time=1s");
        let options = options.options(&folder()).unwrap();
        let names = |options: &RunOptions| -> Vec<String> {
            options.workloads.iter().map(|w| w.name.clone()).collect()
        };
        assert_eq!(names(&options), ["ticker", "echo"]);
        let rate =
            |options: &RunOptions| options.workloads[0].plan.open_loop().map(|open| open.rate);
        assert_eq!(rate(&options), Some(7.0));
        for workload in &options.workloads {
            assert_eq!(workload.plan.limits.time.ns(), 1_000_000_000);
        }
        let again = args("--set echo:load.samples=9").over(options.clone(), &folder());
        let again = again.unwrap();
        assert_eq!(
            (again.workloads[1].plan.samples(), rate(&again)),
            (9, Some(7.0))
        );
        let all = args("--workload all").options(&folder()).unwrap();
        let mut files: Vec<String> = std::fs::read_dir(folder())
            .unwrap()
            .map(|file| {
                file.unwrap()
                    .path()
                    .file_stem()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        files.sort();
        assert_eq!(names(&all), files);
    }

    #[test]
    fn resume_is_optional_about_its_directory() {
        assert_eq!(args("").resume, None);
        assert_eq!(args("--resume").resume, Some(None));
        assert_eq!(args("--resume x").resume, Some(Some("x".into())));
    }

    #[test]
    fn cores_are_read_as_ranges() {
        assert_eq!(*cpu_list("0-2,5,1").unwrap(), [0, 1, 2, 5]);
        for wrong in ["", "a", "3-1", "1,", "99999"] {
            assert!(cpu_list(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for wrong in ["--repeat 0", "--no-pin --server-cpus 1", "--resume --out x"] {
            let words = ["shootout", "run"]
                .into_iter()
                .chain(wrong.split_whitespace());
            assert!(Cli::try_parse_from(words).is_err(), "{wrong}");
        }
        for wrong in [
            "--set limits.percentile=0",
            "--set limits.time=0s",
            "--set load.in_flight=0",
            "--workload flood",
            "--set load.in_flight",
            "--workload ticker --set load.in_flight=4",
            "--workload ticker,flood",
            "--workload ticker,echo --set load.rate=4",
            "--workload ticker --set echo:load.samples=4",
        ] {
            assert!(args(wrong).options(&folder()).is_err(), "{wrong}");
        }
    }
}
