//! The C loops that throw the bytes away: the yardsticks.

use crate::figure::Figure;
use crate::peer::{Load, Peer, Request};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a loop waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Epoll,
    Uring,
}

/// When a loop takes a broadcast for complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Complete {
    /// When every socket has had its bytes.
    Each,
    /// When so many bytes have come in all: it runs ahead of the slowest.
    Total,
}

/// Whether each read brings the kernel's stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamps {
    None,
    Kernel,
}

#[derive(Debug)]
pub(crate) struct Bare {
    kind: Kind,
    complete: Complete,
    stamps: Stamps,
    program: PathBuf,
}

impl Bare {
    /// Compiles the loop into `directory`. The one on epoll alone can have stamps.
    pub(crate) fn compile(
        (kind, complete, stamps): (Kind, Complete, Stamps),
        directory: &Path,
    ) -> Self {
        let file = match kind {
            Kind::Epoll => "epoll",
            Kind::Uring => "uring",
        };
        let program = directory.join(file);
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/generator/bare");
        let status = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-o"])
            .arg(&program)
            .arg(format!("{sources}/{file}.c"))
            .status()
            .expect("a C compiler is needed: apt-get install gcc");
        assert!(status.success(), "{file}.c does not compile");
        Self {
            kind,
            complete,
            stamps,
            program,
        }
    }
}

impl Peer for Bare {
    fn name(&self) -> String {
        let kind = match self.kind {
            Kind::Epoll => "bare epoll loop",
            Kind::Uring => "bare io_uring loop",
        };
        match (self.complete, self.stamps) {
            (_, Stamps::Kernel) => format!("{kind}, kernel stamps"),
            (Complete::Each, Stamps::None) => kind.to_owned(),
            (Complete::Total, Stamps::None) => format!("{kind}, runs ahead"),
        }
    }

    fn can(&self, load: &Load) -> bool {
        self.complete == Complete::Each || load.request == Request::Broadcast
    }

    fn measure(&self, load: &Load) -> Result<Figure, String> {
        let numbers = [
            u64::from(load.server.port()),
            load.clients,
            load.concurrent,
            load.samples,
            load.padding,
        ];
        let output = Command::new(&self.program)
            .args(numbers.map(|n| n.to_string()))
            .args([load.dialect_name(), load.request_name()])
            .arg(match self.complete {
                Complete::Each => "each",
                Complete::Total => "total",
            })
            .arg(match self.stamps {
                Stamps::None => "none",
                Stamps::Kernel => "kernel",
            })
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("it does not start: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers: Vec<f64> = text
            .split_whitespace()
            .filter_map(|n| n.parse().ok())
            .collect();
        let [cpu_ns, deliveries, reads] = numbers[..] else {
            return Err(format!("it printed `{text}`"));
        };
        Ok(Figure {
            cpu_ns: cpu_ns / deliveries,
            per_read: Some(deliveries / reads),
        })
    }
}
