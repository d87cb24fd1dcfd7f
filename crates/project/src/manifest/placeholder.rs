//! Placeholders in commands and environments: `{host}`, `{port}`, `{threads}`, `{bin}`, `{dir}`,
//! `{cert}`, `{key}`, `{node}`, `{node-ports}`, `{service:NAME}`.
//!
//! Pure text; does not know which command it works on.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Every placeholder but those of services.
pub(super) const ALL: [&str; 9] = [
    "host",
    "port",
    "threads",
    "bin",
    "dir",
    "cert",
    "key",
    "node",
    "node-ports",
];
/// Those of a server with TLS.
pub(super) const CERTIFICATE: [&str; 2] = ["cert", "key"];
/// Those that have a value before the server is started: in build steps and the version command.
pub(super) const BUILD: [&str; 2] = ["bin", "dir"];
/// Those of a service's command.
pub(super) const SERVICE: [&str; 4] = ["host", "threads", "bin", "dir"];
/// Those of a proxy's command.
pub(super) const PROXY: [&str; 10] = [
    "host", "port", "threads", "files", "dir", "run", "config", "cert", "key", "pem",
];
/// Those of the command that reloads a proxy.
pub(super) const RELOAD: [&str; 11] = [
    "pid", "host", "port", "threads", "files", "dir", "run", "config", "cert", "key", "pem",
];
/// What the name of a service's port begins with.
pub(super) const SERVICE_PREFIX: &str = "service:";

/// What the placeholders stand for.
#[derive(Clone, Debug)]
pub struct Values {
    /// The project's bin/, absolute.
    pub bin: PathBuf,
    /// The server's folder, absolute.
    pub dir: PathBuf,
    /// Where the program is started; absent in build steps.
    pub start: Option<Start>,
}

/// A node of a server. One that has no others is the first of one.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its number, from 1.
    pub number: u32,
    /// The ports of all nodes, in the order of their numbers.
    pub ports: Vec<u16>,
}

impl Node {
    /// The node's own port.
    pub fn port(&self) -> u16 {
        self.ports[self.number as usize - 1]
    }

    fn expand(&self, text: &str) -> String {
        let ports: Vec<String> = self.ports.iter().map(u16::to_string).collect();
        text.replace("{port}", &self.port().to_string())
            .replace("{node}", &self.number.to_string())
            .replace("{node-ports}", &ports.join(","))
    }
}

/// What is known when a server or a service is started.
#[derive(Clone, Debug)]
pub struct Start {
    /// Where it listens.
    pub host: String,
    /// Which node of the server it is; absent for a service.
    pub node: Option<Node>,
    /// Number of cores.
    pub threads: usize,
    /// The files of the server's certificate and its key; absent without TLS, and for a service.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Ports of the services by name.
    pub services: BTreeMap<String, u16>,
}

impl Values {
    /// Replaces the placeholders of `text`. Other text in braces stays as it is: where it is wrong,
    /// `find` has refused it when the manifest was read.
    pub fn expand(&self, text: &str) -> String {
        let mut out = text
            .replace("{bin}", &self.bin.to_string_lossy())
            .replace("{dir}", &self.dir.to_string_lossy());
        let Some(start) = &self.start else { return out };
        out = out
            .replace("{host}", &start.host)
            .replace("{threads}", &start.threads.to_string());
        if let Some(node) = &start.node {
            out = node.expand(&out);
        }
        if let Some((cert, key)) = &start.certificate {
            out = out
                .replace("{cert}", &cert.to_string_lossy())
                .replace("{key}", &key.to_string_lossy());
        }
        for (name, port) in &start.services {
            out = out.replace(&format!("{{{SERVICE_PREFIX}{name}}}"), &port.to_string());
        }
        out
    }
}

/// The names in braces in `text`. `${name}` belongs to the shell and is not one of them.
pub(super) fn find(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let shell = rest[..open].ends_with('$');
        rest = &rest[open + 1..];
        let Some(close) = rest.find(['{', '}']) else {
            break;
        };
        let name = &rest[..close];
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
            && name.matches(':').count() <= 1
            && !name.ends_with(':');
        if rest[close..].starts_with('}') && named && !shell {
            names.push(name);
        }
        rest = &rest[close..];
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expands_everything_at_start_and_only_paths_in_a_build() {
        let mut values = Values {
            bin: "/p/bin".into(),
            dir: "/p/servers/go-example".into(),
            start: Some(Start {
                host: "127.0.0.1".into(),
                node: Some(Node {
                    number: 2,
                    ports: vec![8999, 9000],
                }),
                threads: 2,
                certificate: Some(("/l/cert.pem".into(), "/l/key.pem".into())),
                services: BTreeMap::from([("store".into(), 9001)]),
            }),
        };
        assert_eq!(
            values.expand("{bin}/x -a {host}:{port} -t{threads} {dir} s://{host}:{service:store}"),
            "/p/bin/x -a 127.0.0.1:9000 -t2 /p/servers/go-example s://127.0.0.1:9001"
        );
        assert_eq!(values.expand("{cert}:{key}"), "/l/cert.pem:/l/key.pem");
        assert_eq!(
            values.expand("-n {node} of {node-ports}"),
            "-n 2 of 8999,9000"
        );
        values.start = None;
        assert_eq!(values.expand("{bin} {port}"), "/p/bin {port}");
    }

    #[test]
    fn finds_names_but_not_shell_variables_or_code() {
        assert_eq!(
            find("{bin}/a {prot} {service:store}"),
            ["bin", "prot", "service:store"]
        );
        assert!(find("${HOME:-x} awk '{print $1}' {} { a } {a:} {a::b}").is_empty());
    }
}
