//! websocket-bench, which verifies every message.

use crate::figure::Figure;
use crate::peer::{Load, Peer};
use record::{RunRecord, StepRecord};
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[derive(Debug)]
pub(crate) struct Ours {
    pub(crate) io: &'static str,
    pub(crate) timestamps: &'static str,
    /// Where the record may lie meanwhile.
    pub(crate) record: PathBuf,
}

impl Ours {
    /// Measures one step and returns its record.
    pub(crate) fn step(&self, load: &Load) -> Result<StepRecord, String> {
        let url = format!("ws://{}/ws", load.server);
        let status = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
            .args([load.request_name(), &url])
            .args(["--server-type", load.dialect_name()])
            .args(["--io", self.io, "--timestamps", self.timestamps])
            .args(["--total-steps", "1", "--limit-rtt", "20s"])
            .args(["--concurrent", &load.concurrent.to_string()])
            .args(["--sample-size", &load.samples.to_string()])
            .args(["--step-size", &load.clients.to_string()])
            .args(["--payload-padding", &load.padding.to_string()])
            .arg("--json")
            .arg(&self.record)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|error| format!("it does not start: {error}"))?;
        if !status.success() {
            return Err(format!("it ended with {status}"));
        }
        let text = std::fs::read_to_string(&self.record).map_err(|error| error.to_string())?;
        let record: RunRecord = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let step = record.steps.into_iter().next();
        step.ok_or_else(|| "it measured nothing".to_owned())
    }
}

impl Peer for Ours {
    fn name(&self) -> String {
        let io = match self.io {
            "uring" => "io_uring",
            io => io,
        };
        format!("websocket-bench, {io}, {} stamps", self.timestamps)
    }

    fn can(&self, _: &Load) -> bool {
        true
    }

    fn measure(&self, load: &Load) -> Result<Figure, String> {
        let generator = self.step(load)?.generator;
        Ok(Figure {
            cpu_ns: generator.cpu_ns as f64 / load.deliveries() as f64,
            per_read: Some(generator.messages as f64 / generator.reads as f64),
        })
    }
}
