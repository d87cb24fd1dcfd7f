//! The manifests in deploy/: they are YAML, agree with one another, and every command line in them
//! is one that the program takes.

use crate::support::{bench, finish};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use yaml_rust2::{Yaml, YamlLoader};

/// How long a container has after SIGTERM when its pod is deleted with `--grace-period=0 --force`: the
/// `minimumGracePeriodInSeconds` of the kubelet.
const DELETED_BY_FORCE: Duration = Duration::from_secs(2);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy")
}

fn documents(file: &str) -> Vec<Yaml> {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn strings(list: &Yaml) -> Vec<String> {
    let list = list.as_vec().expect("a list");
    list.iter()
        .map(|one| one.as_str().expect("a string").to_owned())
        .collect()
}

/// The value of a flag written as `--flag=value`.
fn value<'a>(line: &'a [String], flag: &str) -> &'a str {
    let start = format!("{flag}=");
    line.iter()
        .find_map(|word| word.strip_prefix(&start))
        .unwrap_or_else(|| panic!("{flag} in {line:?}"))
}

/// Asserts that the program knows every flag: `--help` after them is reached.
#[track_caller]
fn assert_taken(line: &[String]) {
    let ran = finish(bench().args(line).arg("--help")).exits(0);
    assert!(ran.stdout.contains("Usage: websocket-bench"), "{ran:#?}");
}

#[test]
fn the_compose_file_starts_a_coordinator_and_its_workers() {
    let compose = &documents("compose.yaml")[0];
    let command = |service: &str| -> Vec<String> {
        strings(&compose["services"][service]["command"])
            .into_iter()
            .map(|word| match word.split_once("${") {
                Some(("", rest)) if rest.starts_with("TARGET:?") => "ws://h/".to_owned(),
                Some((start, "WORKERS:-2}")) => format!("{start}2"),
                Some(_) => panic!("{word}"),
                None => word,
            })
            .collect()
    };
    let (coordinator, worker) = (command("coordinator"), command("worker"));
    assert_taken(&coordinator);
    assert_taken(&worker);
    assert_eq!(value(&coordinator, "--await-workers"), "2");
    let port = value(&coordinator, "--listen").trim_start_matches("0.0.0.0:");
    assert_eq!(
        value(&worker, "--coordinator"),
        format!("coordinator:{port}")
    );
    let replicas = compose["services"]["worker"]["deploy"]["replicas"].as_str();
    assert_eq!(replicas, Some("${WORKERS:-2}"));
    let built = compose["x-program"]["build"]["dockerfile"]
        .as_str()
        .unwrap();
    assert!(folder().join("..").join(built).is_file(), "{built}");
}

#[test]
fn the_jobs_agree_on_workers_port_and_token() {
    let kustomization = &documents("kubernetes/kustomization.yaml")[0];
    let mut objects = Vec::new();
    for resource in strings(&kustomization["resources"]) {
        objects.extend(documents(&format!("kubernetes/{resource}")));
    }
    let object = |kind: &str, name: &str| -> &Yaml {
        let is_it = |object: &&Yaml| {
            object["kind"].as_str() == Some(kind)
                && object["metadata"]["name"].as_str() == Some(name)
        };
        objects
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("no {kind} {name}"))
    };
    let line = |job: &str| -> Vec<String> {
        let pod = &object("Job", job)["spec"]["template"]["spec"];
        let words = strings(&pod["containers"][0]["args"]);
        words
            .iter()
            .map(|word| {
                word.replace("$(TARGET)", "ws://h/")
                    .replace("$(WORKERS)", "4")
            })
            .collect()
    };
    let (coordinator, worker) = (line("coordinator"), line("worker"));
    assert_taken(&coordinator);
    assert_taken(&worker);

    let workers = &object("Job", "worker")["spec"];
    assert_eq!(workers["completionMode"].as_str(), Some("Indexed"));
    let count: i64 = value(&coordinator, "--await-workers").parse().unwrap();
    assert_eq!(workers["completions"].as_i64(), Some(count));
    assert_eq!(workers["parallelism"].as_i64(), Some(count));
    // All three follow one value.
    let generated = strings(&kustomization["configMapGenerator"][0]["literals"]);
    assert!(
        generated.contains(&format!("WORKERS={count}")),
        "{generated:?}"
    );
    let replaced = &kustomization["replacements"][0];
    assert_eq!(
        replaced["source"]["fieldPath"].as_str(),
        Some("data.WORKERS")
    );
    assert_eq!(
        strings(&replaced["targets"][0]["fieldPaths"]),
        ["spec.completions", "spec.parallelism"]
    );

    let service = &object("Service", "coordinator")["spec"];
    let port = service["ports"][0]["port"].as_i64().unwrap();
    assert_eq!(value(&coordinator, "--listen"), format!("0.0.0.0:{port}"));
    assert_eq!(
        value(&worker, "--coordinator"),
        format!("coordinator:{port}")
    );
    let labels = &object("Job", "coordinator")["spec"]["template"]["metadata"]["labels"];
    assert_eq!(service["selector"], *labels);

    let secret = kustomization["secretGenerator"][0]["name"]
        .as_str()
        .unwrap();
    for (job, line) in [("coordinator", &coordinator), ("worker", &worker)] {
        let pod = &object("Job", job)["spec"]["template"]["spec"];
        let mount = pod["containers"][0]["volumeMounts"][0]["mountPath"]
            .as_str()
            .unwrap();
        assert_eq!(value(line, "--token-file"), format!("{mount}/token"));
        assert_eq!(
            pod["volumes"][0]["secret"]["secretName"].as_str(),
            Some(secret)
        );
    }
}

/// The manifests of servers, relative to deploy/. There may be none: any folder of a server may go.
fn of_servers() -> Vec<String> {
    let servers = fs::read_dir(folder().join("../servers")).unwrap();
    let names = servers.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let folders = names.map(|name| format!("../servers/{name}/kubernetes"));
    folders.filter(|at| folder().join(at).exists()).collect()
}

/// The steps of the patch of a component of a server.
fn steps(server: &str, component: &str) -> Vec<Yaml> {
    let component = &documents(&format!(
        "{server}/components/{component}/kustomization.yaml"
    ))[0];
    let patch = component["patches"][0]["patch"].as_str().unwrap();
    let steps = &YamlLoader::load_from_str(patch).unwrap()[0];
    steps.as_vec().unwrap().clone()
}

/// The time in an argument such as `--drain=15s`.
fn time(step: &Yaml, flag: &str) -> Duration {
    let line = [step["value"].as_str().unwrap().to_owned()];
    humantime::parse_duration(value(&line, flag)).unwrap()
}

#[test]
fn a_pod_of_a_server_has_the_time_that_it_takes_to_end() {
    of_servers().iter().for_each(|at| assert_time_to_end(at));
}

fn assert_time_to_end(at: &str) {
    let server = documents(&format!("{at}/usual/server.yaml"));
    let (service, pod) = (&server[0]["spec"], &server[1]["spec"]["template"]);
    assert_eq!(service["selector"], pod["metadata"]["labels"]);
    let container = &pod["spec"]["containers"][0];
    let port = service["ports"][0]["port"].as_i64().unwrap();
    assert_eq!(
        value(&strings(&container["args"]), "--port"),
        port.to_string()
    );
    let probe = &container["readinessProbe"]["tcpSocket"];
    assert_eq!(probe["port"].as_i64(), Some(port));

    let [wait, grace] = &steps(at, "pre-stop")[..] else {
        panic!("two steps")
    };
    let seconds = |step: &Yaml| Duration::from_secs(step.as_i64().unwrap().try_into().unwrap());
    let wait = seconds(&wait["value"]["preStop"]["sleep"]["seconds"]);
    let drain = time(&steps(at, "drain")[0], "--drain");
    assert!(wait + drain < seconds(&grace["value"]));
    // What is held must come before the server ends, and before the kubelet kills a pod that was deleted
    // by force: Redis drops what it holds of a connection that has ended.
    let hold = time(&steps(at, "hold")[0], "--hold");
    assert!(hold < drain);
    assert!(hold < DELETED_BY_FORCE);
}

#[test]
fn every_component_of_a_server_is_used() {
    of_servers()
        .iter()
        .for_each(|at| assert_components_used(at));
}

fn assert_components_used(at: &str) {
    let mut used = Vec::new();
    for overlay in ["draining", "holding"] {
        let kustomization = &documents(&format!("{at}/{overlay}/kustomization.yaml"))[0];
        used.extend(strings(&kustomization["components"]));
    }
    let mut there: Vec<String> = fs::read_dir(folder().join(at).join("components"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| format!("../components/{name}"))
        .collect();
    used.sort();
    there.sort();
    assert_eq!(used, there);
}

/// The lines that a component gives to a container, or adds to its own.
fn added(component: &Yaml) -> Vec<Vec<String>> {
    let patches = component["patches"].as_vec().unwrap();
    patches
        .iter()
        .map(|patch| {
            let steps = &YamlLoader::load_from_str(patch["patch"].as_str().unwrap()).unwrap()[0];
            let of_args = steps.as_vec().unwrap().iter().filter(|step| {
                let path = step["path"].as_str().unwrap();
                path.contains("/containers/0/args")
            });
            of_args
                .flat_map(|step| match &step["value"] {
                    Yaml::String(word) => vec![word.clone()],
                    list => strings(list),
                })
                .map(|word| {
                    word.replace("$(TARGET)", "ws://h/")
                        .replace("$(WORKERS)", "4")
                })
                .collect()
        })
        .collect()
}

#[test]
fn what_a_component_adds_is_taken_by_the_program() {
    let kustomization = fs::read_to_string(folder().join("kubernetes/kustomization.yaml")).unwrap();
    // As its comment says: without the # it is the list.
    let wanted = kustomization
        .replace("#components:", "components:")
        .replace("#  - components/", "  - components/");
    let wanted = strings(&YamlLoader::load_from_str(&wanted).unwrap()[0]["components"]);
    let mut count = 0;
    for entry in fs::read_dir(folder().join("kubernetes/components")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(wanted.contains(&format!("components/{name}")), "{name}");
        let file = format!("kubernetes/components/{name}/kustomization.yaml");
        let component = &documents(&file)[0];
        assert_eq!(component["kind"].as_str(), Some("Component"), "{name}");
        for line in added(component).iter().filter(|line| !line.is_empty()) {
            let is_whole = !line[0].starts_with('-');
            let start = ["broadcast", "ws://h/"].map(str::to_owned);
            let line: Vec<String> = match is_whole {
                true => line.clone(),
                false => start.into_iter().chain(line.iter().cloned()).collect(),
            };
            assert_taken(&line);
            count += 1;
        }
    }
    // The plan, the record, and both sides of mutual TLS.
    assert_eq!(count, 4);
}
