//! Output without a terminal and on one, and the output of a verbose run.

use crate::support::{
    Ran, bench, faulty_server, finish, honest, no_listener, run, undisturbed, url, wait,
};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{FromRawFd as _, OwnedFd};
use test_servers::fault::Fault;

#[test]
fn without_a_terminal_or_with_no_color_there_are_no_escape_codes() {
    let server = faulty_server(Fault::Duplicates, 1000);
    let faulty = format!(
        "broadcast {} --step-size 5 --total-steps 1 --limit-rtt 20s",
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
        "broadcast {url} -s 40 --step-size 10 --total-steps 1 --limit-rtt 20s -v --timestamps user"
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

/// What a run writes to its stderr where that is a terminal.
fn on_a_terminal(arguments: &str) -> Ran {
    let (mut here, mut there) = (0, 0);
    let mut size = libc::winsize {
        ws_row: 40,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: all pointers are valid for the call or null, as openpty(3) allows.
    let opened = unsafe {
        libc::openpty(
            &raw mut here,
            &raw mut there,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &raw mut size,
        )
    };
    assert_eq!(opened, 0);
    // SAFETY: openpty has opened both, and each has one owner from here on.
    let (mut here, there) = unsafe { (File::from_raw_fd(here), OwnedFd::from_raw_fd(there)) };
    let mut command = bench();
    command.args(arguments.split_whitespace());
    let mut child = command.env("TERM", "xterm").stderr(there).spawn().unwrap();
    // The terminal ends when the last process that has it ends, and not while this one does.
    drop(command);
    let (mut seen, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = here.read(&mut piece) {
        seen.extend_from_slice(&piece[..count]);
    }
    Ran {
        code: wait(&mut child).code().expect("it ended by itself"),
        stdout: String::new(),
        stderr: String::from_utf8_lossy(&seen).into_owned(),
    }
}

#[test]
fn a_terminal_shows_the_last_second_and_the_last_minute_as_a_heat_map() {
    let server = honest();
    let load = format!(
        "echo {} --step-size 5 --total-steps 1 --limit-rtt 20s --rate 200 --duration 4s",
        url(server.addr())
    );
    let shown = |arguments: &str| undisturbed(|| on_a_terminal(arguments)).exits(0).stderr;
    let plain = shown(&load);
    for words in ["5 clients, samples", "received ", "p99 ", "faults 0"] {
        assert!(plain.contains(words), "{words}: {plain:?}");
    }
    // Shades that the bar has not.
    let hot = ['▒', '▓'];
    assert!(!plain.contains(hot), "{plain}");
    let live = shown(&format!("{load} --live"));
    assert!(live.contains(hot), "{live}");
}
