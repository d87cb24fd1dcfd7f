//! The command lines of 2016 to 2018, hosts aside, and the lines that they print.

use crate::handmade;
use crate::support::{Ran, honest, run, undisturbed, url};
use regex::Regex;

/// The line of 2016, with finer units, and what was added to its end.
const LINE: &str = r"^clients: +\d+    95per-rtt: +[\d.]+(us|ms)    min-rtt: +[\d.]+(us|ms)    median-rtt: +[\d.]+(us|ms)    max-rtt: +[\d.]+(us|ms)(    over the limit)?(    95per-rtt at least: [\d.]+(us|ms))?    sent: [\d.]+[kM]?/s [\d.]+ [kMG]?B/s    received: [\d.]+[kM]?/s [\d.]+ [kMG]?B/s$";

/// Asserts that one line was printed per step, each of so many clients.
#[track_caller]
fn assert_lines(ran: &Ran, clients: &[u64]) {
    let form = Regex::new(LINE).unwrap();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), clients.len(), "{ran:#?}");
    for (line, clients) in lines.iter().zip(clients) {
        assert!(form.is_match(line), "{line}");
        assert!(
            line.starts_with(&format!("clients: {clients:5} ")),
            "{line}"
        );
    }
}

#[test]
fn the_plain_line_of_2016() {
    let server = honest();
    let url = url(server.addr());
    let ran = run(&format!(
        "broadcast {url} -c 4 -s 40 --step-size 1000 --total-steps 2 --limit-rtt 20s"
    ));
    assert_lines(&ran.exits(0), &[1000, 2000]);
}

#[test]
fn source_addresses_two_and_nine_with_one_twice() {
    let server = honest();
    let url = url(server.addr());
    let two = run(&format!(
        "broadcast {url} -c 4 -s 40 -l 127.0.0.2 -l 127.0.0.3 --step-size 1000 --total-steps 1 --limit-rtt 20s"
    ));
    assert_lines(&two.exits(0), &[1000]);
    let nine: String = [2, 3, 4, 4, 5, 6, 7, 8, 9]
        .iter()
        .map(|last| format!(" -l 127.0.0.{last}"))
        .collect();
    let ran = run(&format!(
        "broadcast {url} -c 4 -s 40 --step-size 1000{nine} --total-steps 1 --limit-rtt 20s"
    ));
    assert_lines(&ran.exits(0), &[1000]);
}

#[test]
fn the_long_flags_of_2016_with_padding() {
    let server = honest();
    let url = url(server.addr());
    let ran = run(&format!(
        "broadcast {url} -l 127.0.0.2 -l 127.0.0.3 -l 127.0.0.4 --concurrent 4 --sample-size 100 \
         --step-size 1000 --payload-padding 200 --total-steps 1 --limit-rtt 20s"
    ));
    assert_lines(&ran.exits(0), &[1000]);
}

#[test]
fn a_url_without_a_path_and_flags_before_the_url() {
    let server = honest();
    let addr = server.addr();
    let ran = run(&format!(
        "broadcast --concurrent 4 --sample-size 100 --step-size 50 --total-steps 1 --limit-rtt 20s ws://{addr}"
    ));
    assert_lines(&ran.exits(0), &[50]);
}

#[test]
fn initial_clients_in_both_message_formats_of_round_two() {
    let server = honest();
    let addr = server.addr();
    for dialect in ["json", "binary"] {
        let ran = run(&format!(
            "broadcast ws://{addr}/{dialect} -l 127.0.0.2 -l 127.0.0.3 --concurrent 4 \
             --sample-size 100 --initial-clients 600 --step-size 100 --payload-padding 200 \
             --server-type {dialect} --total-steps 2 --limit-rtt 20s"
        ));
        assert_lines(&ran.exits(0), &[600, 700]);
    }
}

#[test]
fn phoenix_with_the_url_at_the_end() {
    let addr = handmade::phoenix();
    let ran = run(&format!(
        "broadcast --server-type phoenix -c 4 -s 40 --step-size 100 -l 127.0.0.2 -l 127.0.0.3 \
         ws://{addr}/socket/websocket --total-steps 2 --limit-rtt 20s"
    ));
    assert_lines(&ran.exits(0), &[100, 200]);
}

#[test]
fn action_cable_with_an_origin() {
    let addr = handmade::action_cable();
    let start = format!(
        "broadcast ws://{addr}/cable -c 4 -s 40 --server-type actioncable --step-size 100 \
         --total-steps 2 --limit-rtt 20s"
    );
    let ran = run(&format!("{start} --origin http://bench.example/"));
    assert_lines(&ran.exits(0), &[100, 200]);
    run(&format!("{start} --origin http://other.example/"))
        .exits(1)
        .says_in_one_line(&["nothing was measured", "HTTP 404"]);
}

#[test]
fn the_250_ms_example_of_the_announcement() {
    let server = honest();
    let url = url(server.addr());
    let arguments = format!(
        "broadcast {url} --concurrent 10 --sample-size 100 --step-size 1000 \
         --limit-percentile 95 --limit-rtt 250ms --total-steps 1"
    );
    let ran = undisturbed(|| run(&arguments));
    assert_lines(&ran.exits(0), &[1000]);
}

#[test]
fn the_step_over_the_limit_is_printed_and_is_the_last() {
    let server = honest();
    let url = url(server.addr());
    let ran = run(&format!(
        "broadcast {url} -c 4 -s 40 --step-size 100 --limit-rtt 1us"
    ))
    .exits(0)
    .says_in_one_line(&[
        "carried within the limit: no step",
        "at 100 clients the 95th percentile",
    ]);
    assert_lines(&ran, &[100]);
    assert!(ran.stdout.contains("    over the limit    "), "{ran:#?}");
}

#[test]
fn another_percentile_is_named_in_the_line() {
    let server = honest();
    let url = url(server.addr());
    let ran = run(&format!(
        "broadcast {url} --step-size 10 --total-steps 1 --limit-rtt 20s --limit-percentile 99.5"
    ))
    .exits(0);
    assert!(
        ran.stdout.starts_with("clients:    10    99.5per-rtt: "),
        "{ran:#?}"
    );
}

#[test]
fn echo_prints_the_same_line() {
    let server = honest();
    let url = url(server.addr());
    let ran = run(&format!(
        "echo {url} -c 10 -s 500 --step-size 20 --total-steps 2 --limit-rtt 20s"
    ));
    assert_lines(&ran.exits(0), &[20, 40]);
}
