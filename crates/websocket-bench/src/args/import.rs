//! A capture that becomes a plan.

use super::values::Unfit;
use clap::Args;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
To record a capture: in Chrome or Edge open DevTools, Network, then load the page, use it, and
choose Export HAR. With mitmproxy: save.har @all FILE.har. A log of frames is one too, as CSV with the
columns time, direction and text, or as JSON objects with these names, one on each line.

Example:
  websocket-bench import shop.har > shop.toml
  websocket-bench run shop.toml --set clients.steps.first=500
  websocket-bench run shop.toml ws://staging.example/ws --json shop.json

Each client connects and sends what the recorded one sent, at the same intervals. Secrets are not copied:
stderr names what you must supply. Read the plan before you pass it on. docs/replay.md says what is taken
for a secret, what is checked and what is not.";

/// A capture.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The capture, as it is or by gzip, of at most 256 MiB: a HAR file with WebSocket messages, or a
    /// list of frames
    #[arg(value_name = "CAPTURE")]
    pub(crate) capture: PathBuf,
    /// Which of several WebSocket connections, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = entry)]
    pub(crate) entry: usize,
    /// The server of a list of frames, which has no URL [default: the one that `run` is given]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// How many clients replay it
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_CLIENTS_A_STEP)))]
    pub(crate) clients: u32,
    /// Send R messages per second over all clients, in place of the recorded gaps
    #[arg(long, value_name = "R", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Make variables of the values that differ between connections to the same place, and write
    /// them here: a row for each connection, and empty columns for secrets
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data_out: Option<PathBuf>,
    /// Also copy values that look secret, from handshake and messages: keep the plan to yourself
    #[arg(long)]
    pub(crate) keep_values: bool,
}

fn entry(text: &str) -> Result<usize, Unfit> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or(Unfit::Ordinal)
}

fn rate(text: &str) -> Result<f64, Unfit> {
    let (least, most) = plan::RATES;
    let rate = text
        .parse()
        .ok()
        .filter(|rate| (least..=most).contains(rate));
    rate.ok_or(Unfit::Number { least, most })
}
