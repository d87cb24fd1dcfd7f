//! Plans in files: what flags mean, printed and read again, and what is wrong with a file.

use crate::support::{Ran, assert_valid, bench, finish, honest, no_listener, run, url};
use plan::{Audience, Load, Nanos, Plan, plan_schema};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;

/// Every whole command line of the rounds of 2016 to 2018, in which a name stands for a host that is
/// not known.
const SEEDS: &str = include_str!("seeds.txt");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The plan that arguments mean.
#[track_caller]
fn printed(arguments: &str) -> String {
    let ran = run(&format!("{arguments} --print-plan")).exits(0);
    assert!(ran.stderr.is_empty(), "{ran:#?}");
    ran.stdout
}

/// A folder with a plan in it, and the name of the file.
fn file(text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    fs::write(&path, text).unwrap();
    (folder, path.display().to_string())
}

/// What comes of a file with these arguments after its name.
fn run_file(text: &str, arguments: &str) -> Ran {
    let (_folder, path) = file(text);
    run(&format!("run {path} {arguments}"))
}

#[track_caller]
fn assert_is_its_own_plan(arguments: &str) {
    let plan = printed(arguments);
    let again = run_file(&plan, "--print-plan").exits(0).stdout;
    assert_eq!(again, plan, "{arguments}");
    let plan: Plan = toml::from_str(&plan).unwrap();
    assert_eq!(plan.validate(), Ok(()), "{arguments}");
}

#[test]
fn every_line_of_the_seeds_is_a_plan_that_reads_as_it_prints() {
    assert!(SEEDS.lines().count() > 10);
    for line in SEEDS.lines() {
        assert_is_its_own_plan(line);
    }
}

#[test]
fn every_kind_of_load_is_a_plan_that_reads_as_it_prints() {
    for arguments in [
        "broadcast ws://nowhere.invalid/",
        "echo wss://nowhere.invalid/ --insecure --server-type binary",
        "broadcast wss://nowhere.invalid/ --ca ca.pem --measure ack --timestamps user --io epoll",
        "echo ws://h/ --rate 0.5 --warm-up 1500us --arrivals constant --seed 7 --threads 3",
        "echo ws://h/ --rate 10:200/90s --origin http://h/ -l ::1 --timestamps kernel --io uring",
        "broadcast ws://h/ --search --search-precision 0.1 --limit-percentile 99.9",
        "echo ws://h/ --search rate --rate 100",
        "connect ws://h/ --clients 3",
        "connect ws://h/ --connect-rate 1.5 --hold 1h --ping-interval 2s --ping-timeout 1s",
    ] {
        assert_is_its_own_plan(arguments);
    }
}

#[test]
fn what_is_chosen_for_the_machine_is_printed_when_it_was_given() {
    let plan = printed("echo ws://h/");
    assert!(!plan.contains("[generator]"), "{plan}");
    let plan = printed("echo ws://h/ --seed 5 --io auto");
    assert!(plan.ends_with("[generator]\nseed = 5\n"), "{plan}");
    run("echo ws://h/ --seed 18446744073709551615 --print-plan")
        .exits(1)
        .says_in_one_line(&["this plan has no TOML file"]);
}

#[test]
fn a_broadcast_without_flags_starts_small() {
    let plan: Plan = toml::from_str(&printed("broadcast ws://h/")).unwrap();
    assert_eq!(plan, Plan::new("ws://h/"));
    assert_eq!((plan.clients_at(0), plan.clients_at(1)), (100, 200));
    assert_eq!(plan.load, Load::closed(4, 100));
}

/// The files of workloads/ and what each has on its second line.
fn workloads() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = fs::read_dir(root().join("workloads"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_workload_is_the_plan_of_the_flags_that_it_names_if_flags_can_say_it() {
    assert!(!workloads().is_empty());
    for (name, text) in workloads() {
        let url = match text.contains("[connection.tls]") {
            true => "wss://h/",
            false => "ws://h/",
        };
        let mut lines = text.lines();
        assert_eq!(
            lines.next(),
            Some("#:schema ../docs/schema/plan.v1.schema.json")
        );
        let command = lines.next().unwrap().strip_prefix("# websocket-bench ");
        let command = command.unwrap().replace("URL", url);
        let path = root().join("workloads").join(format!("{name}.toml"));
        let of_file = printed(&format!("run {} {url}", path.display()));
        let plan: Plan = toml::from_str(&of_file).unwrap();
        assert_eq!(plan.name.as_deref(), Some(name.as_str()));
        let reason = plan.reason.expect("a workload says why it exists");
        assert!(reason.ends_with('.') && !reason[..reason.len() - 1].contains(". "));
        let is_for_shootout = |line: &&str| {
            let keys = ["name = ", "reason = ", "dialects = "];
            keys.iter().any(|key| line.starts_with(key))
        };
        let unnamed: Vec<&str> = of_file
            .lines()
            .filter(|line| !is_for_shootout(line))
            .collect();
        // What no flag says is run as a file, and its head names the file.
        if command == format!("run {name}.toml {url}") {
            let has_rooms = matches!(plan.audience, Audience::Room(_));
            assert!(
                plan.populations.len() > 1
                    || has_rooms
                    || plan.ranked_by.is_some()
                    || matches!(plan.load, plan::Load::Watch(_)),
                "{name}: flags can say this"
            );
            continue;
        }
        let of_flags = printed(&command);
        assert_eq!(unnamed, of_flags.lines().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn the_schema_is_that_of_the_plan_and_allows_every_workload() {
    let schema: Value = serde_json::from_str(&run("schema").exits(0).stdout).unwrap();
    assert_eq!(schema, serde_json::to_value(plan_schema()).unwrap());
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, text) in workloads() {
        let workload: Value = toml::from_str(&text).unwrap();
        assert!(validator.is_valid(&workload), "{name}");
        let mut broken = workload;
        broken["limits"]["tim"] = "1s".into();
        assert!(!validator.is_valid(&broken), "{name}");
    }
}

#[test]
fn the_example_of_the_documentation_is_a_plan() {
    let page = fs::read_to_string(root().join("docs/plan.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let ran = run_file(example, "ws://h/ --set load.rate=200 --print-plan").exits(0);
    let plan: Plan = toml::from_str(&ran.stdout).unwrap();
    assert_eq!(plan.open_loop().unwrap().rate, 200.0);
    assert_eq!(plan.name.as_deref(), Some("ticker"));
}

#[test]
fn set_and_url_go_over_the_file_in_their_order() {
    let open = "[target]\nurl = \"ws://a/\"\n[load.open]\nrate = 1\n";
    let printed = |text: &str, arguments: &str| -> Plan {
        let ran = run_file(text, &format!("{arguments} --print-plan")).exits(0);
        toml::from_str(&ran.stdout).unwrap()
    };
    let plan = printed(
        open,
        "ws://b/ --set load.rate=200 --set load.rate=300 --set load.duration=3s \
         --set message.dialect=binary --set target.url=ws://c/ --set generator.threads=3",
    );
    assert_eq!(plan.target.url, "ws://b/");
    assert_eq!(plan.message.dialect, plan::Dialect::Binary);
    assert_eq!(plan.generator.threads, 3);
    let load = plan.open_loop().unwrap();
    assert_eq!((load.rate, load.duration.ns()), (300.0, 3_000_000_000));
    assert_eq!(printed(open, "").target.url, "ws://a/");
    let held = "audience = \"sender\"\n[load.connect]\nrate = 1.0\n";
    let connect = |arguments: &str| printed(held, arguments).connect().unwrap();
    assert_eq!(connect("ws://h/").ping_timeout, Nanos::secs(10));
    let quicker = connect("ws://h/ --set load.ping_interval=3s");
    assert_eq!(quicker.ping_timeout, Nanos::secs(3));
    let both = "ws://h/ --set load.ping_interval=3s --set load.ping_timeout=1s";
    assert_eq!(connect(both).ping_timeout, Nanos::secs(1));
    // What a file lacks may come with --set.
    let plan = printed(
        "[load.open]\n",
        "ws://b/ --set load.rate=5 --set clients.count=1",
    );
    assert_eq!(plan.open_loop().unwrap().rate, 5.0);
    let plan = printed("", "ws://b/ --set load.closed.samples=9");
    assert_eq!(plan.load, Load::closed(4, 9));
}

#[test]
fn what_is_wrong_is_told_with_file_line_and_key() {
    let (url, open) = ("ws://h/", "[load.open]\nrate = 1.0\n");
    for (text, arguments, words) in [
        (
            "\n[limits]\ntim = 1\n",
            url,
            "plan.toml, line 3: unknown key `limits.tim`; did you mean `limits.time`?",
        ),
        (
            "[limits]\ntime = \"0s\"\n",
            url,
            "plan.toml, line 2: `limits.time` is 0s; permitted: 1ns to 1day",
        ),
        (
            "[limits]\ntime = \"soon\"\n",
            url,
            "plan.toml, line 2: `limits.time`: `soon` is no time",
        ),
        ("name = \n", url, "plan.toml, line 1: "),
        (
            "[load.open]\n",
            url,
            "plan.toml, line 1: the key `load.open.rate` is missing",
        ),
        (
            "",
            "",
            "plan.toml names no server: give its URL after the file",
        ),
        ("", "http://h/", "`http://h/`"),
        (
            open,
            "ws://h/ --set load.rat=2",
            "--set load.rat=2: unknown key `load.open.rat`; did you mean `load.open.rate`?",
        ),
        (
            open,
            "ws://h/ --set lod.rate=x",
            "--set lod.rate=<redacted>: unknown key `lod`; did you mean `load`?",
        ),
        (
            open,
            "ws://h/ --set lod.rate=2",
            "--set lod.rate=2: unknown key `lod`; did you mean `load`?",
        ),
        (
            open,
            "ws://h/ --set load.rate=fast",
            "--set load.rate=fast: `load.open.rate`: ",
        ),
        (
            open,
            "ws://h/ --set load.rate=0",
            "`load.open.rate` is 0; permitted: 0.001 to ",
        ),
        (
            open,
            "ws://h/ --set populations.share=2",
            "--set populations.share=2: `populations` is a list",
        ),
        (
            "audience = \"sender\"\n[load.raw]\npayload = 20\npack = 1\n",
            url,
            "unknown key `load.raw`",
        ),
        (
            "[load.connect]\n",
            url,
            "`audience` is not the sender alone, as it is with load.connect",
        ),
    ] {
        let ran = run_file(text, arguments).exits(1);
        assert!(ran.stderr.contains(words), "{words:?} not in {ran:#?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
        assert!(ran.stdout.is_empty(), "{ran:#?}");
    }
    run("run /nowhere/plan.toml ws://h/")
        .exits(1)
        .says_in_one_line(&["cannot read the plan /nowhere/plan.toml", "--print-plan"]);
}

#[test]
fn a_key_of_many_parts_is_refused_with_its_flag() {
    let key = vec!["a"; 30_000].join(".");
    let ran = run_file("", &format!("ws://h/ --set {key}=1")).exits(1);
    for words in ["--set", "30000 parts", "more than 16"] {
        assert!(ran.stderr.contains(words), "{words:?} not in {ran:#?}");
    }
    assert!(ran.stderr.len() < 1_000, "{ran:#?}");
    run_file(&format!("{key} = 1"), "ws://h/")
        .exits(1)
        .says_in_one_line(&["plan.toml"]);
}

#[test]
fn a_file_without_an_end_is_not_read_to_it() {
    run("run /dev/zero ws://h/")
        .exits(1)
        .says_in_one_line(&["cannot read the plan /dev/zero", "longer than 8 MiB"]);
}

#[test]
fn a_plan_may_come_from_stdin() {
    let mut command = bench();
    command
        .args(["run", "-", "ws://h/", "--print-plan"])
        .stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"name = \"piped\"\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("name = \"piped\"\n"), "{text}");
}

#[test]
fn a_certificate_authority_is_found_beside_the_file_that_names_it() {
    let (folder, path) = file("[target]\nurl = \"wss://h/\"\nca_file = \"ca.pem\"\n");
    let plan: Plan = toml::from_str(&printed(&format!("run {path}"))).unwrap();
    assert_eq!(plan.target.ca_file, Some(folder.path().join("ca.pem")));
}

#[test]
fn a_plan_from_a_file_is_carried_out_and_recorded_as_it_is() {
    let server = honest();
    let (folder, path) = file(
        "name = \"small\"\naudience = \"sender\"\n[clients.steps]\nfirst = 5\ncount = 1\n\
         [load.closed]\nsamples = 40\n[limits]\ntime = \"20s\"\n",
    );
    let json = folder.path().join("run.json");
    let arguments = format!(
        "run {path} {} --json {}",
        url(server.addr()),
        json.display()
    );
    run(&arguments).exits(0);
    let record = assert_valid(&json);
    assert_eq!(record.steps[0].samples, 40);
    assert_eq!(record.plan.name.as_deref(), Some("small"));
    // The generator of the record is the one that ran.
    let printed: Plan = toml::from_str(&printed(&arguments)).unwrap();
    let generator = record.plan.generator;
    assert_eq!(printed.with(|plan| plan.generator = generator), record.plan);
    assert!(generator.seed != 1);
}

#[test]
fn a_plan_runs_on_several_processes() {
    let server = honest();
    let text = "[clients.steps]\nfirst = 6\ncount = 1\n[limits]\ntime = \"20s\"\n";
    run_file(text, &format!("{} --processes 2", url(server.addr()))).exits(0);
}

#[test]
fn printing_a_plan_makes_no_connection_and_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    let arguments = format!("echo ws://{}/ --json {}", no_listener(), json.display());
    printed(&arguments);
    assert!(!json.exists());
    let help = finish(bench().args(["run", "--help"])).exits(0).stdout;
    assert!(help.contains("websocket-bench run <PLAN> [URL]"), "{help}");
}
