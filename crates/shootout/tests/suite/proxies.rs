//! `shootout run --via`: rows through a proxy, with a relay of a few lines and with the proxies of the
//! project.

use crate::support::{Project, SHORT, Server, running};
use record::{Measurement, Status};
use std::fs;
use std::path::Path;
use test_servers::skipped;

/// Passes bytes on, from where its configuration says to one of those that it names, in turn. When it is
/// reloaded, it ends every connection.
const RELAY: &str = r#"
import os, signal, socket, sys, threading
text = open(sys.argv[1]).read().split()
(host, port), connections, servers = text[0].rsplit(":", 1), int(text[1]), text[2:]
clients = []
def copy(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        pass
def end_all(*_):
    for client in clients:
        try:
            client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
    clients.clear()
signal.signal(signal.SIGUSR1, end_all)
listener = socket.create_server((host, int(port)), backlog=128)
for number in range(connections):
    client = listener.accept()[0]
    name = servers[number % len(servers)]
    print("to", name, flush=True)
    server_host, server_port = name.rsplit(":", 1)
    server = socket.create_connection((server_host, int(server_port)))
    clients.append(client)
    for pair in (client, server), (server, client):
        threading.Thread(target=copy, args=pair, daemon=True).start()
print("that was the last one", flush=True)
os._exit(7)
"#;

/// Adds a proxy, which ends with the connection after so many.
pub(crate) fn add(project: &Project, name: &str, connections: u32, more: &str) {
    let dir = project.path(&format!("proxies/{name}"));
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("relay.py"), RELAY).unwrap();
    let config = format!("{{host}}:{{port}} {connections}\n{{server}}\n");
    fs::write(dir.join("relay.conf"), config).unwrap();
    let manifest = format!(
        r#"proxy = 1
name = "{name}"
homepage = "https://example.org"
summary = "A relay."
{more}
[version]
command = ["echo", "relay 3.2.1"]
matches = 'relay (\S+)'

[run]
command = ["python3", "{{dir}}/relay.py", "{{config}}"]
config = "relay.conf"
reload = ["kill", "-USR1", "{{pid}}"]
ready-timeout = "60s"
"#
    );
    fs::write(dir.join("proxy.toml"), manifest).unwrap();
}

fn project() -> Project {
    let project = Project::new();
    project.add(&Server::default());
    project
}

fn row(project: &Project, via: &str, workload: &str) -> Measurement {
    project.measurement(&format!("go-example.{via}.{workload}.text.1"))
}

#[test]
fn each_way_is_a_row_and_what_the_proxy_uses_stands_apart() {
    let project = project();
    add(&project, "relay", 10_000, "");
    let done = project.shootout(&format!("{SHORT} --via none,relay"));
    done.expect(
        0,
        &[
            "2 rows",
            "each through: none, relay",
            "go-example (via-relay)",
            "proxy cpu/msg",
        ],
    );
    let straight = row(&project, "default", "broadcast");
    assert!(straight.proxy.is_none());
    let through = row(&project, "via-relay", "broadcast");
    let proxy = through.proxy.unwrap();
    assert_eq!(proxy.version.as_deref(), Some("3.2.1"));
    assert!(!proxy.ends_tls);
    assert!(proxy.idle.unwrap().resident_bytes > 0);
    let run = through.run.unwrap();
    assert_eq!(proxy.steps.len(), run.steps.len());
    assert_eq!(proxy.steps.len(), through.server_steps.len());
    assert!(proxy.series.unwrap().rows.iter().any(|row| row.cpu_ns > 0));
    let port = |of: &record::RunRecord| of.plan.target.url.clone();
    assert_ne!(port(&run), port(&straight.run.unwrap()));
    assert_eq!(running(&project.path("proxies").display().to_string()), 0);

    fs::write(project.path("proxies/relay/relay.conf"), "changed").unwrap();
    let other = project.shootout("run --resume out");
    let words = "the folder of the proxy relay has changed since go-example.via-relay.";
    other.expect(1, &[words, "delete that to measure it again"]);
    let again = project.shootout("run --resume out --via relay");
    again.expect(
        1,
        &[
            "cannot resume",
            "--via was [\"none\",\"relay\"], now [\"relay\"]",
        ],
    );
}

#[test]
fn a_proxy_that_fails_is_named_and_the_server_is_not_blamed() {
    let project = project();
    // A connection for what is asked before it counts as ready, and half of the clients.
    add(&project, "brief", 11, "");
    add(&project, "closed", 0, "");
    let lacking = "[[requires]]\nwhat = \"the relay\"\nprobe = [\"no-such-relay\"]\n\
                   remedy = \"write one\"\n";
    add(&project, "lacking", 1, lacking);
    let done = project.shootout(&format!("{SHORT} --via brief,closed,lacking"));
    done.expect(3, &["3 rows"]);
    for (via, status, says) in [
        (
            "via-brief",
            Status::Crashed,
            "the proxy brief ended by itself: exit code 7",
        ),
        (
            "via-closed",
            Status::StartFailed,
            "the proxy closed did not start: it ended before it was ready: exit code 7",
        ),
        (
            "via-lacking",
            Status::MissingToolchain,
            "the proxy lacking: the relay is missing (`no-such-relay` is not installed); remedy: write one",
        ),
    ] {
        let of = row(&project, via, "broadcast");
        let reason = of.reason.unwrap_or_default();
        assert_eq!(of.status, status, "{via}: {reason}");
        assert!(reason.contains(says), "{via}: {reason}");
        if status != Status::MissingToolchain {
            let tail = of.log_tail.unwrap_or_default();
            assert!(tail.contains("that was the last one"), "{via}: {tail}");
        }
    }
    let unknown = project.shootout("run --out other --via closd");
    unknown.expect(1, &["--via: no proxy \"closd\"; did you mean \"closed\"?"]);
    fs::write(project.path("proxies/closed/proxy.toml"), "proxy = 1\n").unwrap();
    let wrong = project.shootout("run --out other --via closed");
    wrong.expect(1, &["proxies/closed/proxy.toml:1:1: missing key \"name\""]);
}

/// The proxies of the project that are installed here.
fn installed() -> Vec<String> {
    let proxies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proxies");
    let names = ["nginx", "haproxy", "caddy"];
    let is_there = |name: &&str| {
        let manifest = fs::read_to_string(proxies.join(name).join("proxy.toml")).unwrap();
        let (_, command) = manifest.split_once("command = [\"").unwrap();
        Path::new(command.split('"').next().unwrap()).exists()
    };
    names
        .into_iter()
        .filter(is_there)
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_proxies_of_the_project_pass_messages_on_and_end_tls() {
    let installed = installed();
    if installed.is_empty() {
        skipped("no proxy is installed; apt-get install haproxy");
        return;
    }
    let project = project();
    let proxies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proxies");
    std::os::unix::fs::symlink(proxies, project.path("proxies")).unwrap();
    let done = project.shootout(&format!(
        "{SHORT} --workload broadcast,tls --via {}",
        installed.join(",")
    ));
    done.expect(0, &[]);
    for name in &installed {
        for (workload, ends_tls) in [("broadcast", false), ("tls", true)] {
            let of = row(&project, &format!("via-{name}"), workload);
            assert_eq!(of.status, Status::Ok, "{name}: {:?}", of.reason);
            let proxy = of.proxy.unwrap();
            assert_eq!(proxy.ends_tls, ends_tls, "{name}");
            let version = proxy.version.unwrap();
            assert!(
                version.starts_with(|c: char| c.is_ascii_digit()),
                "{version}"
            );
            let run = of.run.unwrap();
            assert_eq!(
                run.plan.target.url.starts_with("wss://"),
                ends_tls,
                "{name}"
            );
            assert_eq!(run.outcome.carried_clients, Some(40), "{name}");
        }
    }
}
