//! The options of `shootout compare`.

use board::compare::{Figure, UnknownFigure};
use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
A and B are records (of shootout run, or of websocket-bench --json), or directories of them. In two
directories rows are matched by server, variant, workload and dialect. Where A and B have one
row each, these two are compared, whatever their names. A directory of websocket-bench records is
one row, each file a repetition.

Each repetition, that is each start of a server, gives one figure: a percentile of its whole
histogram, at the largest number of clients that every repetition of both sides was measured with.
The medians of the sides are compared by an exact Mann-Whitney U test, corrected by Holm for the
number of comparisons, and by a bootstrap interval of their ratio. A difference is shown when the
corrected p is at most 0.05 and the interval excludes 1; otherwise the line is \"no
difference shown\", which does not mean that there is none. At least 4 repetitions a side are needed,
5 for up to 6 comparisons; 10 are good. With fewer figures (--figures p50) smaller differences show.

Examples:
  shootout compare results/local/before results/local/after
  shootout compare results/local/X --servers my-server,other:clustered
  shootout compare --servers a,b              the same in the newest run
  shootout compare before/ after/ --figures p95 --tolerance 5 --json comparison.json

Exit codes:
  0    everything was compared, no regression is shown
  1    wrong usage, or a file cannot be read
  2    a regression: B is shown to be worse than A, its whole interval beyond the tolerance
  3    not comparable: different plans, processors or cores (also pinned against not pinned), too
       few repetitions, or a row without a result; the output says which. When another row shows
       a regression, the code is 2
  141  stdout was closed by its reader; the code was 0 otherwise";

/// Options of `shootout compare`.
#[derive(Clone, Debug, Args)]
#[command(after_help = HELP)]
pub struct CompareArgs {
    /// Two records or directories, A and B; with --servers one directory [default then: the newest
    /// under results/local/]
    #[arg(value_name = "A B", num_args = 0..=2)]
    pub paths: Vec<PathBuf>,
    /// Compares two servers of one run, each NAME or NAME:VARIANT
    #[arg(long, value_name = "A,B", value_parser = two)]
    pub servers: Option<[String; 2]>,
    /// Figures to compare: clients, p50, p99.9, ...; a percentile needs a sample beyond it in each
    /// repetition (p99.9: 1,000 samples) [default: p50,p95,p99,p99.9,clients]
    #[arg(long, value_delimiter = ',', value_name = "FIGURE,..", value_parser = figure)]
    pub figures: Vec<Figure>,
    /// Percent by which B may be worse without being a regression
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = percent)]
    pub tolerance: f64,
    /// Writes the findings as JSON, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

fn two(text: &str) -> Result<[String; 2], String> {
    let names: Vec<String> = text.split(',').map(str::to_owned).collect();
    <[String; 2]>::try_from(names)
        .ok()
        .filter(|names| names.iter().all(|name| !name.is_empty()))
        .ok_or_else(|| "two servers, like my-server,other:clustered".to_owned())
}

fn figure(text: &str) -> Result<Figure, UnknownFigure> {
    text.parse()
}

/// A text that is no percentage.
#[derive(Debug, thiserror::Error)]
#[error("a percentage from 0 to below 100, like 5")]
struct NoPercentage;

/// A share of one.
fn percent(text: &str) -> Result<f64, NoPercentage> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    number
        .parse()
        .ok()
        .filter(|percent| (0.0..100.0).contains(percent))
        .map(|percent: f64| percent / 100.0)
        .ok_or(NoPercentage)
}
