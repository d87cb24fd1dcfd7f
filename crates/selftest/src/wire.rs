//! (l) Bytes on the wire, with compression and without, are those that the kernel counts.

use super::bench::{Bench, started};
use super::{Chapter, Findings};
use crate::Part;
use crate::error::Unmade;
use plan::{Compression, Dialect, Load, Workload};
use record::{Check, CompressionUse, StepRecord};
use std::time::Duration;
use test_servers::{Counted, CountedServer};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::L,
    id: "l",
    name: "bytes on the wire",
    proves: "The bytes that are reported as sent and received are those that the kernel counts, and \
             what compressed messages expand to is what they are without compression.",
    takes: (Duration::from_secs(3), Duration::from_secs(1)),
    measure,
};

const CLIENTS: u32 = 10;
const BROADCASTS: u32 = 100;
/// Of such a message the header of the frame has four bytes, and four more for a client's mask
/// (RFC 6455, 5.2).
const PADDING: u32 = 2_000;
const HEADER: u64 = 4;
const MASK: u64 = 4;
/// Header of the shortest frame.
const LEAST_HEADER: u64 = 2;

const KEPT: Compression = Compression {
    server_no_context_takeover: false,
    client_no_context_takeover: false,
    server_max_window_bits: None,
    client_max_window_bits: Some(15),
    level: 6,
};
/// Each message by itself, with small windows.
const FORGOTTEN: Compression = Compression {
    server_no_context_takeover: true,
    client_no_context_takeover: true,
    server_max_window_bits: Some(10),
    client_max_window_bits: Some(9),
    level: 1,
};
const WAYS: [(&str, Compression); 2] = [
    ("compressed", KEPT),
    ("compressed, each by itself", FORGOTTEN),
];

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let server = started(CountedServer::start())?;
    let mut found = Findings::default();
    for (dialect, of) in [(Dialect::Text, "text"), (Dialect::Binary, "binary")] {
        let plain = run(bench, &server, dialect, None)?;
        found.checks.extend(plain.judge(of));
        for (name, compression) in WAYS {
            let deflated = run(bench, &server, dialect, Some(compression))?;
            let name = format!("{of}, {name}");
            found.checks.extend(deflated.judge(&name));
            found
                .checks
                .extend(deflated.judge_compression(&name, &plain));
        }
    }
    Ok(found)
}

fn run(
    bench: &Bench<'_>,
    server: &CountedServer,
    dialect: Dialect,
    compression: Option<Compression>,
) -> Result<Wired, Unmade> {
    let mut plan = bench.plan(server.addr(), Workload::Broadcast, CLIENTS);
    plan.load = Load::closed(4, BROADCASTS);
    plan.message.dialect = dialect;
    plan.message.padding = PADDING;
    plan.connection.compression = compression;
    plan.generator.threads = 2;
    let step = bench.run(&plan)?;
    Ok(Wired {
        step,
        counted: server.take(),
    })
}

/// A step, and what the kernel counted of its connections.
struct Wired {
    step: StepRecord,
    counted: Counted,
}

impl Wired {
    /// Why the kernel's count is not that of the step.
    fn excuse(&self) -> Option<String> {
        let Counted {
            connections,
            unknown,
            ..
        } = self.counted;
        if unknown > 0 {
            return Some("this kernel does not count the bytes of a connection".to_owned());
        }
        (connections < CLIENTS.into()).then(|| {
            format!("too little CPU: {connections} of {CLIENTS} connections were closed in time")
        })
    }

    fn judge(&self, name: &str) -> Vec<Check> {
        let reported = self.step.throughput.unwrap_or_default();
        let exactly = |what: &str, known, measured| {
            Check::exactly(&format!("{name}: {what}"), known, measured).unless(self.excuse())
        };
        vec![
            exactly("bytes received", self.counted.sent, reported.received_bytes),
            exactly("bytes sent", self.counted.received, reported.sent_bytes),
            exactly("faults", 0, self.step.faults.total()),
        ]
    }

    /// Holds what compression is said to have done against the kernel, and against the same messages
    /// without it.
    fn judge_compression(&self, name: &str, plain: &Self) -> Vec<Check> {
        let used: CompressionUse = self.step.compression.unwrap_or_default();
        let sent = u64::from(BROADCASTS);
        // Each goes to all, and its result to the sender.
        let received = sent * (u64::from(CLIENTS) + 1);
        let excuse = self.excuse().or_else(|| plain.excuse());
        // Of all frames together: the headers of compressed ones may be shorter.
        let within = |what: &str, counted: u64, messages: u64, mask: u64, measured: u64| {
            let payloads = |header: u64| counted as f64 - (messages * (header + mask)) as f64;
            let (least, most) = (payloads(HEADER), payloads(LEAST_HEADER));
            let what = format!("{name}: {what}");
            let unit = record::Unit::Count;
            Check::between(&what, unit, measured as f64, Some(least), Some(most))
                .unless(excuse.clone())
        };
        let exactly = |what: &str, known, measured| {
            Check::exactly(&format!("{name}: {what}"), known, measured).unless(excuse.clone())
        };
        let (counted, whole) = (self.counted, plain.counted);
        vec![
            exactly("compressed messages received", received, used.received),
            exactly("compressed messages sent", sent, used.sent),
            within(
                "payloads received",
                counted.sent,
                received,
                0,
                used.received_bytes,
            ),
            within(
                "payloads sent",
                counted.received,
                sent,
                MASK,
                used.sent_bytes,
            ),
            exactly(
                "inflated",
                whole.sent.saturating_sub(received * HEADER),
                used.received_inflated_bytes,
            ),
            exactly(
                "before compression",
                whole.received.saturating_sub(sent * (HEADER + MASK)),
                used.sent_inflated_bytes,
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Misreport, bench, failed, planted, uninterrupted};
    use super::*;
    use plan::Plan;
    use record::ProofVerdict;

    /// What fails when this generator is asked; `None` when the machine or the kernel cannot tell.
    fn found_by(generate: &dyn Fn(&Plan) -> Result<StepRecord, Unmade>) -> Option<Vec<String>> {
        let found = measure(&bench(generate)).unwrap();
        let failed = failed(&found.checks)
            .into_iter()
            .map(str::to_owned)
            .collect();
        (found.verdict() != ProofVerdict::Inconclusive).then_some(failed)
    }

    #[test]
    fn the_kernel_and_the_ledger_agree() {
        let failed = found_by(&uninterrupted).unwrap_or_default();
        assert!(failed.is_empty(), "{failed:?}");
    }

    #[test]
    fn each_way_to_miscount_fails() {
        let changes: [Misreport; 5] = [
            // Inflated bytes for those of the wire.
            ("text, compressed: bytes received", |step| {
                if let (Some(all), Some(of)) = (&mut step.throughput, step.compression) {
                    all.received_bytes += of.received_inflated_bytes - of.received_bytes;
                }
            }),
            ("text: bytes received", |step| {
                if let Some(all) = &mut step.throughput {
                    all.received_bytes += 1;
                }
            }),
            // Without the headers.
            ("binary: bytes sent", |step| {
                if let Some(all) = &mut step.throughput {
                    all.sent_bytes -= all.sent * (HEADER + MASK);
                }
            }),
            ("text, compressed: inflated", |step| {
                if let Some(of) = &mut step.compression {
                    of.received_inflated_bytes -= u64::from(PADDING);
                }
            }),
            ("text, compressed: payloads sent", |step| {
                if let Some(of) = &mut step.compression {
                    of.sent_bytes = of.sent_inflated_bytes;
                }
            }),
        ];
        for (expected, change) in changes {
            let wrong = |plan: &Plan| {
                let mut step = uninterrupted(plan)?;
                change(&mut step);
                Ok(step)
            };
            let failed = found_by(&wrong);
            assert!(
                failed.is_none_or(|failed| failed.iter().any(|what| what == expected)),
                "{expected}"
            );
        }
    }

    #[test]
    fn a_generator_that_does_not_compress_fails() {
        let failed = found_by(&planted(|plan| plan.connection.compression = None));
        let expected = "text, compressed: compressed messages received";
        assert!(failed.is_none_or(|failed| failed.iter().any(|what| what == expected)));
    }
}
