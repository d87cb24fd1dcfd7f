//! The options of `shootout run`, and the run options that they make.

use crate::manifest::{Dialect, Workload};
use crate::options::{Pin, RunOptions, VariantChoice};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, value_parser};
use run_record::Measure;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Without options it measures every server and variant that can be built here, with the parameters of
2016: broadcasts in text (or in the format that the variant speaks), 4 in flight, 100 a step, 200
bytes of padding. Each step has 1,000 clients more (or what the manifest says), until the 95th
percentile of the completion is above 500 ms or this machine holds no more clients.

Examples:
  shootout run --quick --yes                    a first result on a fresh machine
  shootout run --servers a,b --dialects text,binary --repeat 3
  shootout run --workload echo --step-size 500 --limit-rtt 100ms
  shootout run --resume                         continues the newest run
  shootout run --resume results/local/X         continues that one

Status of a row without a result, with a reason each: missing-toolchain, build-failed,
start-failed, nonconforming, crashed, timeout, faulty, leaked, generator-limited, interrupted.

Exit codes: 0 every row has a result, 1 usage or environment, 3 a row has none, 130 interrupted,
141 the reader of stdout went away.";

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
    /// Request: broadcast (to all clients) or echo (to the sender) [default: broadcast]
    #[arg(long, value_parser = workload_parser(), value_name = "REQUEST")]
    pub workload: Option<Workload>,
    /// Message formats; each is a row of its own [default: text, else the first of the variant]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORMAT,..")]
    pub dialects: Vec<Dialect>,
    /// A short run: the first variant of each server, 5 steps; about three minutes for four servers
    #[arg(long)]
    pub quick: bool,
    /// Repetitions of each row, interleaved, with the server restarted for each [default: 1]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,

    /// Requests in flight [default: 4]
    #[arg(long, value_name = "N", help_heading = "Load", value_parser = value_parser!(u32).range(1..))]
    pub concurrent: Option<u32>,
    /// Requests a step [default: 100]
    #[arg(long, value_name = "N", help_heading = "Load", value_parser = value_parser!(u32).range(1..))]
    pub sample_size: Option<u32>,
    /// Clients of the first step [default: what the server's manifest says, or 1000]
    #[arg(long, value_name = "N", help_heading = "Load", value_parser = value_parser!(u32).range(1..))]
    pub initial_clients: Option<u32>,
    /// Clients that each step adds [default: what the server's manifest says, or 1000]
    #[arg(long, value_name = "N", help_heading = "Load", value_parser = value_parser!(u32).range(1..))]
    pub step_size: Option<u32>,
    /// Largest number of steps [default: up to this machine's limits; with --quick 5]
    #[arg(long, value_name = "N", help_heading = "Load", value_parser = value_parser!(u32).range(1..))]
    pub total_steps: Option<u32>,
    /// Bytes of padding in each payload [default: 200]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub payload_padding: Option<u32>,
    /// Percentile that the limit applies to [default: 95]
    #[arg(long, value_name = "P", help_heading = "Load", value_parser = percentile)]
    pub limit_percentile: Option<f64>,
    /// Limit of the latency: a step above it ends the row [default: 500ms]
    #[arg(long, value_name = "TIME", help_heading = "Load", value_parser = latency)]
    pub limit_rtt: Option<Duration>,
    /// Latency that the limit applies to: completion (at the last listener), delivery (at each), or
    /// ack (the result at the sender, as in 2016) [default: completion]
    #[arg(long, value_name = "CLOCK", help_heading = "Load", value_parser = measure_parser())]
    pub measure: Option<Measure>,

    /// Lets server and generator use any core
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
    /// What a new run is asked for.
    pub fn options(&self) -> RunOptions {
        let base = if self.quick {
            RunOptions::quick()
        } else {
            RunOptions::default()
        };
        self.over(base)
    }

    /// `base` with everything replaced that was given.
    pub fn over(&self, base: RunOptions) -> RunOptions {
        let mut dialects = Vec::new();
        for dialect in &self.dialects {
            if !dialects.contains(dialect) {
                dialects.push(*dialect);
            }
        }
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
            workload: self.workload.unwrap_or(base.workload),
            dialects: given(&dialects, base.dialects),
            repeat: self.repeat.unwrap_or(base.repeat),
            concurrent: self.concurrent.unwrap_or(base.concurrent),
            sample_size: self.sample_size.unwrap_or(base.sample_size),
            initial_clients: self.initial_clients.or(base.initial_clients),
            step_size: self.step_size.or(base.step_size),
            total_steps: self.total_steps.or(base.total_steps),
            payload_padding: self.payload_padding.unwrap_or(base.payload_padding),
            limit_percentile: self.limit_percentile.unwrap_or(base.limit_percentile),
            limit_rtt: self.limit_rtt.unwrap_or(base.limit_rtt),
            measure: self.measure.unwrap_or(base.measure),
            pin,
        }
    }
}

fn given<T: Clone>(given: &[T], base: Vec<T>) -> Vec<T> {
    if given.is_empty() {
        base
    } else {
        given.to_vec()
    }
}

fn workload_parser() -> impl clap::builder::TypedValueParser<Value = Workload> {
    PossibleValuesParser::new(["broadcast", "echo"]).map(|word| match word.as_str() {
        "echo" => Workload::Echo,
        _ => Workload::Broadcast,
    })
}

fn measure_parser() -> impl clap::builder::TypedValueParser<Value = Measure> {
    PossibleValuesParser::new(["completion", "delivery", "ack"]).map(|word| match word.as_str() {
        "delivery" => Measure::Delivery,
        "ack" => Measure::Ack,
        _ => Measure::Completion,
    })
}

fn percentile(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 100.0 => Ok(value),
        _ => Err("a percentile is above 0 and at most 100, like 95".into()),
    }
}

fn latency(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(value) if !value.is_zero() => Ok(value),
        Ok(_) => Err("the limit must be above 0; write it like 500ms or 1s".into()),
        Err(error) => Err(format!("{error}; write it like 500ms or 1s")),
    }
}

fn cpu_list(text: &str) -> Result<CpuList, String> {
    let wrong = || format!("\"{text}\" is no list of cores; write it like 0-3,8");
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

    #[test]
    fn given_options_replace_those_of_the_base() {
        let options = args("--quick --sample-size 7 --dialects binary,text,binary").options();
        assert_eq!(options.sample_size, 7);
        assert_eq!(options.total_steps, RunOptions::quick().total_steps);
        assert_eq!(options.dialects, [Dialect::Binary, Dialect::Text]);
        let again = args("--concurrent 9").over(options.clone());
        assert_eq!((again.concurrent, again.sample_size), (9, 7));
        assert_eq!(args("").over(options.clone()), options);
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
        for wrong in [
            "--limit-percentile 0",
            "--limit-rtt 0s",
            "--concurrent 0",
            "--repeat 0",
            "--workload flood",
            "--no-pin --server-cpus 1",
            "--resume --out x",
        ] {
            let words = ["shootout", "run"]
                .into_iter()
                .chain(wrong.split_whitespace());
            assert!(Cli::try_parse_from(words).is_err(), "{wrong}");
        }
    }
}
