//! Secrets in settings of a plan, in what is pushed and shown of a run, and in arguments at the wrong
//! place.

use crate::front::{Front, Verdict};
use crate::support::{bench, finish};

const SECRET: &str = "Kx82nvQ0";

#[test]
fn a_secret_of_a_setting_reaches_the_server_and_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let plan = "audience = \"sender\"\n[clients.steps]\nfirst = 2\ncount = 1\n\
                [load.closed]\nsamples = 20\n[limits]\ntime = \"20s\"\n";
    std::fs::write(at("plan.toml"), plan).unwrap();
    let server = Front::start(|_| Verdict::Pass(""));
    for setting in [
        "connection={headers=[\"Authorization: Bearer Kx82nvQ0\"]}",
        "connection . headers = [\"X-Auth-Key: Kx82nvQ0\"]",
        "connection.cookies=[\"a=Kx82nvQ0\"]",
        "connection.query=[\"room=Kx82nvQ0\"]",
        "connection.origin=\"https://u:Kx82nvQ0@h/?token=Kx82nvQ0\"",
    ] {
        let written = ["json", "events", "csv", "junit", "html"];
        for more in [&[][..], &["--processes", "2"], &["--print-plan"]] {
            let mut command = bench();
            command.arg("run").arg(at("plan.toml")).arg(server.url());
            command.args(["--set", setting, "-v"]).args(more);
            if more != ["--print-plan"] {
                for output in written {
                    command.arg(format!("--{output}")).arg(at(output));
                }
            }
            let ran = finish(&mut command).exits(0);
            assert!(!ran.stdout.contains(SECRET), "{setting}: {ran:#?}");
            assert!(!ran.stderr.contains(SECRET), "{setting}: {ran:#?}");
            for output in written {
                let text = std::fs::read_to_string(at(output)).unwrap();
                assert!(!text.contains(SECRET), "{setting}: {output}: {text}");
            }
            let is_run = more != ["--print-plan"];
            let seen: String = server.seen().into_iter().collect();
            assert!(!is_run || seen.contains(SECRET), "{setting}: {seen}");
        }
    }
}

#[test]
fn a_secret_at_a_wrong_place_is_in_no_message() {
    let url = "ws://u:Kx82nvQ0@127.0.0.1:1/?token=Kx82nvQ0";
    let http = "http://u:Kx82nvQ0@127.0.0.1:1/?token=Kx82nvQ0";
    for arguments in [
        &[url][..],
        &["run", url],
        &["run", "x.toml", url, url],
        &["compare", http],
        &["import", http],
        &["echo", "ws://h/", "--otlp", http],
        &["echo", "ws://h/", "--otlp", "https://u:Kx82nvQ0@h/"],
        &["echo", "ws://h/", "--json", http],
        &["echo", "ws://h/", "--data", http],
        &["echo", "ws://h/", "--proxy", "socks5://u:Kx82nvQ0@h:1"],
        &["echo", "ws://h/", "--subprotocol", "bad Kx82nvQ0"],
        &["echo", "ws://h/", "--header", "badKx82nvQ0"],
        &["echo", "ws://h/", "--cookie", "Kx82nvQ0"],
        &["throughput", url],
        &["scalability", url],
        &["connect", "ws://u:Kx82nvQ0@[::1"],
    ] {
        let ran = finish(bench().args(arguments));
        assert_ne!(ran.code, 0, "{arguments:?}");
        assert!(!ran.stdout.contains(SECRET), "{arguments:?}: {ran:#?}");
        assert!(!ran.stderr.contains(SECRET), "{arguments:?}: {ran:#?}");
    }
}
