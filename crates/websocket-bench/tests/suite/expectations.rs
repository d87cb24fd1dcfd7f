//! `--expect`: exit code 2, and the words for it.

use crate::support::{faulty_server, honest, run, undisturbed, url};
use test_servers::fault::Fault;

#[test]
fn expectations_that_hold_change_nothing() {
    let server = honest();
    let url = url(server.addr());
    run(&format!(
        "broadcast {url} -s 100 --step-size 10 --total-steps 2 --limit-rtt 20s --expect clients>=20 \
         --expect p99<29s --expect delivery.max<29s --expect ack.mean<29s"
    ))
    .exits(0);
}

#[test]
fn each_expectation_that_fails_is_named_with_its_figure() {
    let server = honest();
    let url = url(server.addr());
    run(&format!(
        "broadcast {url} --step-size 10 --total-steps 1 --limit-rtt 20s --expect clients>=11 \
         --expect p50<1ns --expect clients>=10"
    ))
    .exits(2)
    .says(&[
        "clients>=11: 10 clients were carried",
        "p50<1ns: ",
        " at 10 clients",
    ]);
}

#[test]
fn an_invalid_result_outweighs_a_failed_expectation() {
    let server = faulty_server(Fault::Duplicates, 1);
    let url = url(server.addr());
    run(&format!(
        "broadcast {url} --step-size 5 --total-steps 1 --limit-rtt 20s --expect clients>=100"
    ))
    .exits(3)
    .says(&["1 duplicate", "expectation failed: clients>=100"]);
}

#[test]
fn faults_drops_and_throughput_can_be_expected() {
    let server = honest();
    let base = format!(
        "echo {} --initial-clients 5 --rate 200 --duration 500ms --total-steps 1 --limit-rtt 20s",
        url(server.addr())
    );
    let kept = format!(
        "{base} --expect faults<=0 --expect drops<=0 --expect received>=10/s --expect sent>=10/s"
    );
    undisturbed(|| run(&kept)).exits(0);
    let missed = format!("{base} --expect received>=1000000/s --expect sent>=2000000/s");
    undisturbed(|| run(&missed)).exits(2).says(&[
        "expectation failed: received>=1000000/s: ",
        "/s at 5 clients",
        "expectation failed: sent>=2000000/s: ",
    ]);
    let server = faulty_server(Fault::Duplicates, 2);
    let url = url(server.addr());
    let once = format!("broadcast {url} --step-size 5 --total-steps 1 --limit-rtt 20s");
    let ran = run(&format!("{once} --expect faults<=1 --expect drops<=0"))
        .exits(3)
        .says(&["expectation failed: faults<=1: 2 in all steps together"]);
    assert!(!ran.stderr.contains("drops<=0"), "{ran:#?}");
    run(&format!("{once} --expect faults<=1/s")).exits(1);
}
