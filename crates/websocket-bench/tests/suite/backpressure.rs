//! A server that opens connections and then reads nothing: what it did not take was not sent, with
//! TLS and over several processes as well.

use crate::support::{bench, finish, record};
use crate::tls;
use ::record::{End, Verdict};
use std::sync::Arc;
use test_servers::faulty::{Family, FaultyPeer, behaviours};

/// 400 echoes of 60,000 bytes in two seconds, far more than the kernel keeps for two connections.
const PLANNED: u64 = 400;
const LOAD: &str = "--rate 200 --arrivals constant --duration 2s --payload-padding 60000 \
                    --server-type binary --step-size 2 --total-steps 1 --sample-timeout 3s";

#[track_caller]
fn assert_not_taken(over_tls: bool, flags: &str) {
    let deaf = behaviours(Family::Floods)
        .iter()
        .find(|of| of.name == "takes-nothing")
        .unwrap();
    let tls = over_tls.then(|| Arc::clone(&tls::config().0));
    let (scheme, more) = if over_tls {
        ("wss", "--insecure")
    } else {
        ("ws", "")
    };
    let server = FaultyPeer::start(*deaf, tls).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let arguments = format!(
        "echo {scheme}://{}/ws {LOAD} {more} {flags} --json {}",
        server.addr(),
        path.display()
    );
    let ran = finish(bench().args(arguments.split_whitespace())).exits(3);
    let record = record(&path);
    assert_eq!(record.outcome.end, End::TimedOut, "{ran:?}");
    let step = &record.steps[0];
    let (sent, not_taken) = (step.sent.unwrap(), step.backpressure.unwrap());
    assert_eq!(step.samples_planned, PLANNED);
    assert!(sent < PLANNED / 2, "{sent} of {PLANNED} sent");
    assert_eq!(
        (not_taken.late, not_taken.unsent),
        (PLANNED - sent, PLANNED - sent)
    );
    assert_eq!(step.faults.lost, sent, "of what was sent, and no more");
    assert_eq!((step.samples, &step.completion), (0, &None));
    // It is the server's doing, and not that of a generator that did not send.
    assert_eq!(step.verdict, Verdict::Fail, "{:?}", step.verdict_reasons);
    let reasons = step.verdict_reasons.join("; ");
    assert!(reasons.contains("it did not read"), "{reasons}");
}

#[test]
fn what_a_server_does_not_take_over_tls_was_not_sent() {
    for io in ["epoll", "auto"] {
        assert_not_taken(true, &format!("--io {io}"));
    }
}

#[test]
fn what_a_server_does_not_take_from_several_processes_was_not_sent() {
    assert_not_taken(false, "--processes 2");
}
