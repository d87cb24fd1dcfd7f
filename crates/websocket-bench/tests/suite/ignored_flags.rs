//! Flags that would have no effect are refused, and what is accepted is carried out as it stands.

use crate::support::{honest, no_listener, record, run, undisturbed, url};
use plan::Nanos;

#[test]
fn flags_without_an_effect_are_refused_with_what_they_need() {
    let addr = no_listener();
    for (arguments, words) in [
        (
            format!("echo ws://{addr}/ --token-file x"),
            &["--token-file is for workers", "-w or --await-workers"][..],
        ),
        (
            format!("connect ws://{addr}/ --processes 2 --token-file x"),
            &["--token-file is for workers", "not shown to the server"],
        ),
        (
            format!("echo ws://{addr}/ --tls-cert x --tls-key x --tls-ca x"),
            &["--tls-cert is for workers"],
        ),
        (
            format!("echo ws://{addr}/ --rate 10:200/60s --duration 10s"),
            &[
                "--duration 10s is shorter than the ramp",
                "takes 1m",
                "raise --duration",
            ],
        ),
        (
            format!("echo ws://{addr}/#there"),
            &["has a fragment", "%23"],
        ),
        (
            format!("echo ws://{addr}/ -s 10 --expect p99.9999<1s"),
            &[
                "--expect p99.9999<1s",
                "of 10 samples",
                "at least 1000000 samples",
                "expect `max`",
            ],
        ),
        (
            format!("broadcast ws://{addr}/ -s 20 --expect p99<1s"),
            &["of 20 samples", "at least 100 samples"],
        ),
        (
            format!("connect ws://{addr}/ --clients 9 --expect p90<1s"),
            &["of 9 samples", "at least 10 samples"],
        ),
        (format!("echo ws://{addr}/ --duration 5s"), &["--rate"]),
        (format!("echo ws://{addr}/ --warm-up 5s"), &["--rate"]),
        (
            format!("echo ws://{addr}/ --arrivals constant"),
            &["--rate"],
        ),
        (format!("echo ws://{addr}/ --search-tries 3"), &["--search"]),
        (
            format!("echo ws://{addr}/ --search-precision 3"),
            &["--search"],
        ),
        (
            format!("echo ws://{addr}/ --await-timeout 3s"),
            &["--await-workers"],
        ),
        ("worker --await-timeout 3s".to_owned(), &["--coordinator"]),
    ] {
        let ran = run(&arguments).exits(1).says(words);
        assert!(!ran.stderr.contains("secret"), "{ran:#?}");
    }
}

#[test]
fn a_delivery_has_a_sample_for_each_listener() {
    let server = honest();
    let url = url(server.addr());
    let step = "-s 20 --step-size 10 --total-steps 1 --limit-rtt 20s";
    run(&format!("broadcast {url} {step} --expect delivery.p99<20s")).exits(0);
    run(&format!("broadcast {url} {step} --expect max<20s")).exits(0);
}

#[test]
fn a_percentile_that_the_samples_of_an_open_loop_do_not_have_is_not_met() {
    let server = honest();
    let arguments = format!(
        "echo {} --rate 20 --duration 500ms --step-size 2 --limit-rtt 20s --expect p99.9<10s",
        url(server.addr())
    );
    undisturbed(|| run(&arguments))
        .exits(2)
        .says(&["expectation failed: p99.9<10s: no percentile that high of"]);
}

#[test]
fn a_ramp_is_carried_out_whole_and_printed_as_it_was() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let arguments = format!(
        "echo {} --rate 10:200/11s --step-size 2 --limit-rtt 20s --json {}",
        url(server.addr()),
        path.display()
    );
    let ran = undisturbed(|| run(&arguments)).exits(0);
    assert!(
        ran.stdout.contains("rate: 10/s to 200/s in 11s"),
        "{ran:#?}"
    );
    let plan = record(&path).plan;
    assert_eq!(plan.open_loop().unwrap().duration, Nanos::secs(11));
}

#[test]
fn the_most_padding_is_what_servers_take() {
    let server = honest();
    let step = "-c 1 -s 2 --step-size 1 --total-steps 1 --limit-rtt 20s";
    for dialect in ["json", "binary"] {
        run(&format!(
            "echo {} {step} --server-type {dialect} --payload-padding 16776192",
            url(server.addr())
        ))
        .exits(0);
    }
}
