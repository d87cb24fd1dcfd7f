//! The examples of docs/plan.md, each carried out against a server that delays what it sends by a known
//! time and demands that publishers are members.

use crate::support::{record, run};
use std::fs;
use std::path::Path;
use std::time::Duration;
use test_servers::oracle::{Oracle, OracleOptions};

const DELAY: Duration = Duration::from_millis(20);
const DELAY_NS: u64 = DELAY.as_nanos() as u64;

/// An example as it stands on the page, and the parts that make a plan of it.
const EXAMPLES: [(&str, &str); 12] = [
    ("equal = 1000", "[audience.room]\nEXAMPLE\n"),
    ("members = 10", "[audience.room]\nEXAMPLE\n"),
    (
        "reads = { bytes_per_second = 1024 }",
        "[[populations]]\n[[populations]]\nEXAMPLE\n",
    ),
    (
        "reads = \"stopped\"",
        "[audience.room]\nmembers = 3\n[[populations]]\n[[populations]]\nEXAMPLE\n",
    ),
    (
        "life = { comes_and_goes = { stays = \"10s\", away = \"2s\" } }",
        "[audience.room]\nequal = 1000\n[[populations]]\n[[populations]]\nEXAMPLE\n",
    ),
    (
        "life = { cut = { at = \"20s\" } }",
        "[[populations]]\n[[populations]]\nreconnect = { first = \"1ms\" }\nEXAMPLE\n",
    ),
    (
        "life = { changes_room = { stays = \"10s\", away = \"500ms\" } }",
        "[audience.room]\nmembers = 5\n[[populations]]\n[[populations]]\nEXAMPLE\n",
    ),
    (
        "reconnect = { first = \"500ms\", factor = 2.0, most = \"10s\", jitter = 0.5 }",
        "[[populations]]\n[[populations]]\nEXAMPLE\n\
         life = { comes_and_goes = { stays = \"1s\", away = \"100ms\" } }\n",
    ),
    (
        "reconnect = \"never\"",
        "[[populations]]\n[[populations]]\nEXAMPLE\n\
         life = { comes_and_goes = { stays = \"1s\", away = \"100ms\" } }\n",
    ),
    (
        "sizes = { weighted = [{ bytes = 100, weight = 9 }, { bytes = 4000 }] }",
        "[message]\nEXAMPLE\n",
    ),
    (
        "sizes = { uniform = { from = 100, to = 4000 } }",
        "[message]\nEXAMPLE\n",
    ),
    (
        "client_max_window_bits = 15",
        "[connection.compression]\nEXAMPLE\n",
    ),
];

#[test]
fn each_example_of_the_page_is_right_against_a_server_that_delays() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/plan.md")).unwrap();
    for (example, parts) in EXAMPLES {
        assert!(page.contains(example), "{example}");
        let server = Oracle::start(OracleOptions {
            delay: DELAY,
            members_only: true,
            ..OracleOptions::default()
        })
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [plan, json] = ["plan.toml", "run.json"].map(|name| folder.path().join(name));
        // Within the second that is measured here.
        let example = example.replace("at = \"20s\"", "at = \"200ms\"");
        let load = "[load.open]\nrate = 100.0\nduration = \"1s\"\n\
                    [clients.steps]\nfirst = 40\nadd = 1\ncount = 1\n\
                    [limits]\ntime = \"10s\"\n";
        fs::write(
            &plan,
            format!("{}{load}", parts.replace("EXAMPLE", &example)),
        )
        .unwrap();
        let ran = run(&format!(
            "run {} ws://{}/ --json {}",
            plan.display(),
            server.addr(),
            json.display()
        ));
        ran.exits(0);
        let record = record(&json);
        let [step] = &record.steps[..] else {
            panic!("{example}: {:?}", record.outcome);
        };
        assert!(
            step.is_complete() && step.faults.is_empty(),
            "{example}: {step:?}"
        );
        for latency in [&step.completion, &step.delivery, &step.ack] {
            let least = latency.as_ref().unwrap().min_ns;
            assert!(least >= DELAY_NS * 99 / 100, "{example}: {least} ns");
        }
        assert_eq!(server.told().outsiders, 0, "{example}");
    }
}
