//! `--expect`: exit code 2, and the words for it.

use crate::support::{honest, odd, run, url};
use test_servers::odd::Behaviour;

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
    let server = odd(Behaviour::Duplicates, 1);
    let url = url(server.addr());
    run(&format!(
        "broadcast {url} --step-size 5 --total-steps 1 --expect clients>=100"
    ))
    .exits(3)
    .says(&["1 duplicate", "expectation failed: clients>=100"]);
}
