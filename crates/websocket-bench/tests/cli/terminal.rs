//! Output without a terminal, and the output of a verbose run.

use crate::support::{bench, faulty_server, finish, honest, no_listener, run, url};
use test_servers::fault::Fault;

#[test]
fn without_a_terminal_or_with_no_color_there_are_no_escape_codes() {
    let server = faulty_server(Fault::Duplicates, 1000);
    let faulty = format!(
        "broadcast {} --step-size 5 --total-steps 1",
        url(server.addr())
    );
    for (arguments, code) in [
        (faulty, 3),
        (format!("broadcast {}", url(no_listener())), 1),
        ("broadcast --help".to_owned(), 0),
        ("broadcast x --bogus".to_owned(), 1),
    ] {
        for no_color in [None, Some("1")] {
            let mut command = bench();
            command.args(arguments.split_whitespace());
            no_color.map(|value| command.env("NO_COLOR", value));
            let ran = finish(&mut command).exits(code);
            assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
            assert!(!ran.stderr.contains(['\u{1b}', '\r']), "{ran:?}");
        }
    }
}

#[test]
fn a_verbose_run_names_the_three_latencies_and_the_generators_use() {
    let server = honest();
    let url = url(server.addr());
    let ran = run(&format!(
        "broadcast {url} -s 40 --step-size 10 --total-steps 1 -v --timestamps user"
    ))
    .exits(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let starts = [
        "clients:    10 ",
        "    completion   p50 ",
        "    delivery     p50 ",
        "    ack          p50 ",
        "    receive lag  p50 ",
        "    generator    CPU ",
        "    in flight    ",
        "    verdict      pass",
    ];
    assert_eq!(lines.len(), starts.len(), "{ran:#?}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
    assert!(
        lines[1].ends_with("(40 samples)") && lines[2].ends_with("(400 samples)"),
        "{ran:#?}"
    );
    for word in [
        "per message",
        "busiest thread",
        "largest lag",
        "40 samples of 40",
    ] {
        assert!(lines[5].contains(word), "{}", lines[5]);
    }
}
