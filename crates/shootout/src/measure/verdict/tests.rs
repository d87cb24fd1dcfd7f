//! Each end of a run has the status that names who is to blame.

use super::*;
use crate::supervise::{Death, Stopped};
use plan::{Load, Plan};
use record::{
    Environment, Faults, GeneratorUse, Outcome, RUN_FORMAT, StepRecord, Tool, VERSION, Verdict,
};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

fn step(clients: u64) -> StepRecord {
    StepRecord {
        clients,
        samples_planned: 10,
        samples: 10,
        ..StepRecord::default()
    }
}

fn record(end: End, steps: Vec<StepRecord>) -> RunRecord {
    RunRecord {
        format: RUN_FORMAT.into(),
        version: VERSION,
        tool: Tool {
            name: "websocket-bench".into(),
            version: "0".into(),
        },
        started: String::new(),
        ended: String::new(),
        command: Vec::new(),
        server: None,
        plan: Plan::new("ws://127.0.0.1:1/").with(|plan| plan.load = Load::closed(4, 10)),
        unchecked: None,
        payload_lines: None,
        environment: Environment::collect(),
        outcome: Outcome {
            end,
            detail: "in words".into(),
            carried_clients: RunRecord::carried(&steps),
            edge: None,
            unmeasured: Vec::new(),
        },
        warm_up: None,
        steps,
    }
}

fn ended(code: i32, record: RunRecord) -> Ended {
    Ended {
        status: Some(ExitStatus::from_raw(code << 8)),
        record: Some(record),
        said: Some("a complaint".into()),
        silent: false,
        interrupted: false,
    }
}

/// A server that went as it should.
fn went() -> Stopped {
    Stopped {
        who: "the server".into(),
        died: None,
        killed_after: None,
        left: Vec::new(),
        still_listening: None,
    }
}

fn gone() -> StopReport {
    StopReport(vec![went()])
}

fn died(who: &str) -> Stopped {
    Stopped {
        who: who.into(),
        died: Some(Death {
            who: who.into(),
            status: ExitStatus::from_raw(9),
        }),
        ..went()
    }
}

fn status(ended: &Ended, stopped: &StopReport) -> (Status, String) {
    match verdict(ended, stopped, &[], Some("log".into())) {
        Ok(()) => (Status::Ok, String::new()),
        Err(trouble) => (trouble.status, trouble.reason),
    }
}

#[test]
fn a_run_that_found_the_limit_is_ok() {
    let over = StepRecord {
        over_limit: true,
        ..step(20)
    };
    let ended = ended(0, record(End::OverLimit, vec![step(10), over]));
    assert_eq!(status(&ended, &gone()).0, Status::Ok);
}

#[test]
fn a_crash_outweighs_what_the_generator_says() {
    let lost = ended(3, record(End::ServerLost, vec![step(10)]));
    let stopped = StopReport(vec![died("the server")]);
    let trouble = verdict(&lost, &stopped, &[], Some("log".into())).unwrap_err();
    assert_eq!(trouble.status, Status::Crashed);
    assert_eq!(trouble.log_tail.as_deref(), Some("log"));
    assert!(
        trouble
            .reason
            .contains("signal 9 (SIGKILL); 10 clients were measured last"),
        "{}",
        trouble.reason
    );
}

#[test]
fn faults_are_told_in_words() {
    let faulty = StepRecord {
        faults: Faults {
            lost: 3,
            ..Faults::default()
        },
        ..step(10)
    };
    let ended = ended(3, record(End::StepsDone, vec![faulty]));
    assert_eq!(
        status(&ended, &gone()),
        (Status::Faulty, "faults: 3 lost".into())
    );
}

#[test]
fn the_steps_own_verdict_says_whether_the_generator_was_the_limit() {
    let busy = |verdict, over_limit| StepRecord {
        over_limit,
        generator: GeneratorUse {
            busiest_thread: 0.97,
            ..GeneratorUse::default()
        },
        verdict,
        verdict_reasons: vec!["the busiest thread used 97% of a core".into()],
        ..step(20)
    };
    let within = ended(0, record(End::StepsDone, vec![busy(Verdict::Pass, false)]));
    assert_eq!(status(&within, &gone()).0, Status::Ok);
    let steps = vec![step(10), busy(Verdict::GeneratorLimited, true)];
    let broken = ended(3, record(End::GeneratorLimited, steps));
    let (status, reason) = status(&broken, &gone());
    assert_eq!(status, Status::GeneratorLimited);
    assert!(
        reason.contains("at 20 clients") && reason.contains("97%"),
        "{reason}"
    );
}

#[test]
fn a_run_of_noisy_steps_alone_is_noisy_and_no_fault_of_the_server() {
    let noisy = StepRecord {
        verdict: Verdict::Noisy,
        verdict_reasons: vec!["the clock was stepped".into()],
        ..step(10)
    };
    let alone = ended(3, record(End::StepsDone, vec![noisy.clone()]));
    assert_eq!(
        status(&alone, &gone()),
        (
            Status::Noisy,
            "every step was noisy: the clock was stepped".into()
        )
    );
    let among = ended(0, record(End::StepsDone, vec![step(10), noisy]));
    assert_eq!(status(&among, &gone()).0, Status::Ok);
}

#[test]
fn the_other_ends_have_their_own_statuses() {
    for (code, end, steps, expected) in [
        (3, End::TimedOut, vec![step(10)], Status::Timeout),
        (3, End::ServerLost, vec![step(10)], Status::Faulty),
        (0, End::ConnectFailed, vec![step(10)], Status::Ok),
        (1, End::ConnectFailed, vec![], Status::Faulty),
        (1, End::MachineLimit, vec![], Status::GeneratorLimited),
        (
            130,
            End::Interrupted,
            vec![step(10)],
            Status::GeneratorLimited,
        ),
    ] {
        let ended = ended(code, record(end, steps));
        assert_eq!(status(&ended, &gone()).0, expected, "{end:?}");
    }
}

#[test]
fn a_service_that_ends_is_named_before_the_server_that_dies_of_it() {
    let lost = ended(3, record(End::ServerLost, vec![step(10)]));
    let stopped = StopReport(vec![died("the server"), died("the service store")]);
    let (status, reason) = status(&lost, &stopped);
    assert_eq!(status, Status::Crashed);
    assert_eq!(
        reason,
        "the service store ended by itself: signal 9 (SIGKILL); the server ended by itself: \
         signal 9 (SIGKILL); 10 clients were measured last"
    );
}

#[test]
fn a_leak_counts_when_nothing_else_is_wrong() {
    let stopped = StopReport(vec![Stopped {
        still_listening: Some(9000),
        ..went()
    }]);
    let fine = ended(0, record(End::StepsDone, vec![step(10)]));
    assert_eq!(
        status(&fine, &stopped),
        (
            Status::Leaked,
            "after the server had ended, port 9000 still accepted connections".into()
        )
    );
    let late = ended(3, record(End::TimedOut, vec![]));
    assert_eq!(status(&late, &stopped).0, Status::Timeout);
}

#[test]
fn the_users_wish_and_a_mute_generator_come_first() {
    let fine = || record(End::StepsDone, vec![step(10)]);
    let stopped = Ended {
        interrupted: true,
        ..ended(130, fine())
    };
    assert_eq!(status(&stopped, &gone()).0, Status::Interrupted);
    let done = Ended {
        interrupted: true,
        ..ended(0, fine())
    };
    assert_eq!(status(&done, &gone()).0, Status::Ok);
    let mute = Ended {
        silent: true,
        ..ended(0, fine())
    };
    assert_eq!(status(&mute, &gone()).0, Status::Timeout);
    let failed = Ended {
        record: None,
        ..ended(1, fine())
    };
    let (status, reason) = status(&failed, &gone());
    assert_eq!(status, Status::GeneratorLimited);
    assert!(reason.ends_with("(exit code 1): a complaint"), "{reason}");
}

#[test]
fn a_fault_that_did_not_happen_outweighs_the_figures_of_a_whole_run_alone() {
    let failed = FaultDone {
        planned: plan::Fault {
            at: plan::Nanos::secs(10),
            jitter: plan::Nanos(0),
            deed: plan::FaultDeed::Start,
            what: plan::FaultPart::Node(2),
        },
        due_ns: 10_000_000_000,
        began_ns: Some(10_001_000_000),
        ended_ns: None,
        failure: Some("node 2 was not ready".into()),
    };
    let of = |end, steps, done: &FaultDone| {
        let found = verdict(
            &ended(0, record(end, steps)),
            &gone(),
            std::slice::from_ref(done),
            None,
        );
        found.map_err(|trouble| (trouble.status, trouble.reason))
    };
    assert_eq!(
        of(End::StepsDone, vec![step(10)], &failed),
        Err((
            Status::FaultFailed,
            "the fault \"start node:2\", due at 10.0 s, did not happen as planned: node 2 was not ready"
                .into()
        ))
    );
    let early = of(End::TimedOut, vec![step(10)], &failed);
    assert_eq!(early, Err((Status::Timeout, "in words".into())));
    let done = FaultDone {
        ended_ns: Some(10_900_000_000),
        failure: None,
        ..failed.clone()
    };
    assert_eq!(of(End::StepsDone, vec![step(10)], &done), Ok(()));
    let late = FaultDone {
        began_ns: Some(10_300_000_000),
        ..done
    };
    let (status, reason) = of(End::StepsDone, vec![step(10)], &late).unwrap_err();
    assert_eq!(status, Status::FaultFailed);
    assert!(reason.ends_with(": it began 300 ms late"), "{reason}");
}

#[test]
fn what_came_wrong_through_a_proxy_may_be_of_either() {
    let proxy = ProxyUse {
        name: "front".into(),
        homepage: String::new(),
        version: None,
        ends_tls: false,
        idle: None,
        steps: Vec::new(),
        series: None,
    };
    let said = |proxy: Option<&ProxyUse>, status| {
        let trouble = Err(Trouble::new(status, "3 lost"));
        behind(proxy, trouble).unwrap_err().reason
    };
    let words = "3 lost; the messages passed through front, which may have done it";
    assert_eq!(said(Some(&proxy), Status::Faulty), words);
    assert_eq!(said(None, Status::Faulty), "3 lost");
    assert_eq!(said(Some(&proxy), Status::Crashed), "3 lost");
    assert!(behind(Some(&proxy), Ok(())).is_ok());
}
