//! The manifest of a proxy that can stand between clients and a server.
//!
//! Reads `proxy.toml` as the manifest of a server is read, with the problems at their places. Runs nothing
//! and looks at no other file of the folder.

use super::check::values::{Known, command, duration, env};
use super::check::{GRACE, READY_TIMEOUT, needs};
use super::problem::Problems;
use super::{Problem, Receipt, Requirement, VERSION, raw, translate};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;

/// Name of the manifest in a proxy's folder.
pub const PROXY_FILE: &str = "proxy.toml";

/// A proxy, as its manifest declares it.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// Folder name.
    pub name: String,
    /// Its own page.
    pub homepage: String,
    /// What it is and how it is set up, in a sentence.
    pub summary: String,
    /// What must be there.
    pub requires: Vec<Requirement>,
    /// How to learn its version.
    pub receipt: Receipt,
    /// Program and arguments, with placeholders.
    pub command: Vec<String>,
    /// Environment on top of the inherited one, with placeholders.
    pub env: BTreeMap<String, String>,
    /// The file of its folder that its configuration is made of.
    pub config: String,
    /// The same where it ends TLS; absent where it cannot.
    pub tls_config: Option<String>,
    /// What has it take its configuration again while it runs, with placeholders; absent where it cannot.
    pub reload: Option<Vec<String>>,
    /// Longest time from the start to the first echo that is answered through it.
    pub ready_timeout: Duration,
    /// Time from TERM to KILL.
    pub grace: Duration,
}

/// The placeholder of what is behind it.
const SERVER: &str = "{server}";

/// What the placeholders of a proxy stand for.
#[derive(Clone, Debug)]
pub struct ProxyValues {
    /// Where it listens: `{host}` and `{port}`.
    pub listens: SocketAddr,
    /// The server behind it, or the nodes of that: a line of the configuration with `{server}` stands there
    /// once for each, with its number from 1 for `{node}`.
    pub servers: Vec<SocketAddr>,
    /// Its process, once it runs: `{pid}`.
    pub pid: Option<u32>,
    /// Number of cores: `{threads}`.
    pub threads: usize,
    /// Files that it may open, with which some proxies reserve memory: `{files}`.
    pub files: u64,
    /// Its folder in the project, absolute: `{dir}`.
    pub dir: PathBuf,
    /// A folder for what it writes, absolute: `{run}`.
    pub run: PathBuf,
    /// Its configuration, absolute: `{config}`.
    pub config: PathBuf,
    /// The files of the certificate, of its key, and of both in one: `{cert}`, `{key}` and `{pem}`. Absent
    /// without TLS.
    pub certificate: Option<[PathBuf; 3]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Raw {
    proxy: Spanned<u32>,
    name: Spanned<String>,
    homepage: String,
    summary: String,
    #[serde(default)]
    requires: Vec<raw::Requirement>,
    version: raw::Version,
    run: Run,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Run {
    command: raw::Words,
    #[serde(default)]
    env: raw::Env,
    config: Spanned<String>,
    tls_config: Option<Spanned<String>>,
    reload: Option<raw::Words>,
    ready_timeout: Option<Spanned<String>>,
    grace: Option<Spanned<String>>,
}

impl Proxy {
    /// Parses `text`, the manifest of the folder `folder`. `file` names it in problems.
    ///
    /// # Errors
    /// All problems of the values; of problems of syntax, keys and types the first.
    pub fn parse(text: &str, file: &Path, folder: &str) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::new(file, text);
        let raw: Raw = match toml::from_str(text) {
            Ok(raw) => raw,
            Err(error) => {
                problems.at(error.span(), translate::message(error.message()));
                return Err(problems.into_vec());
            }
        };
        let p = &mut problems;
        identity(&raw, folder, p);
        let variants: &[String] = &[];
        let requires = raw.requires.into_iter();
        let requires = requires.map(|of| needs::requirement(of, variants, p));
        let requires = requires.collect();
        let proxy = Self {
            requires,
            receipt: needs::receipt(raw.version, p),
            command: command(raw.run.command, Known::Proxy, p),
            env: env(&raw.run.env, Known::Proxy, p),
            config: file_name(&raw.run.config, p),
            tls_config: raw.run.tls_config.map(|name| file_name(&name, p)),
            reload: raw.run.reload.map(|of| command(of, Known::Reload, p)),
            ready_timeout: duration(raw.run.ready_timeout.as_ref(), READY_TIMEOUT, p),
            grace: duration(raw.run.grace.as_ref(), GRACE, p),
            name: raw.name.into_inner(),
            homepage: raw.homepage,
            summary: raw.summary,
        };
        match problems.into_vec() {
            found if found.is_empty() => Ok(proxy),
            found => Err(found),
        }
    }
}

fn identity(raw: &Raw, folder: &str, p: &mut Problems<'_>) {
    let version = *raw.proxy.get_ref();
    if version != VERSION {
        p.at(
            Some(raw.proxy.span()),
            format!(
                "manifest version {version} is not known; this program reads version {VERSION}"
            ),
        );
    }
    let name = raw.name.get_ref();
    if name != folder {
        p.at(
            Some(raw.name.span()),
            format!("the name \"{name}\" is not the folder's, \"{folder}\"; make them equal"),
        );
    }
}

fn file_name(raw: &Spanned<String>, p: &mut Problems<'_>) -> String {
    let name = raw.get_ref();
    if name.is_empty() || name.contains('/') || name == ".." {
        p.at(
            Some(raw.span()),
            format!("\"{name}\" is no name of a file beside the manifest"),
        );
    }
    name.clone()
}

impl ProxyValues {
    /// The same when it runs.
    #[must_use]
    pub fn of_process(self, pid: u32) -> Self {
        Self {
            pid: Some(pid),
            ..self
        }
    }

    /// The configuration that is made of a template.
    pub fn configuration(&self, template: &str) -> String {
        let lines = template.split_inclusive('\n');
        let lines = lines.flat_map(|line| self.for_each_server(line));
        lines.map(|line| self.expand(&line)).collect()
    }

    fn for_each_server(&self, line: &str) -> Vec<String> {
        if !line.contains(SERVER) {
            return vec![line.to_owned()];
        }
        let servers = (1..).zip(&self.servers);
        let filled = |(number, server): (u32, &SocketAddr)| {
            let line = line.replace(SERVER, &server.to_string());
            line.replace("{node}", &number.to_string())
        };
        servers.map(filled).collect()
    }

    /// Replaces the placeholders of a word of a command, or of the environment. Other text in braces stays
    /// as it is.
    pub fn expand(&self, text: &str) -> String {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let mut values = vec![
            ("{host}", self.listens.ip().to_string()),
            ("{port}", self.listens.port().to_string()),
            ("{threads}", self.threads.to_string()),
            ("{files}", self.files.to_string()),
            ("{dir}", shown(&self.dir)),
            ("{run}", shown(&self.run)),
            ("{config}", shown(&self.config)),
        ];
        if let Some(pid) = self.pid {
            values.push(("{pid}", pid.to_string()));
        }
        if let Some([cert, key, pem]) = &self.certificate {
            let files = [("{cert}", cert), ("{key}", key), ("{pem}", pem)];
            values.extend(files.map(|(name, path)| (name, shown(path))));
        }
        let values = values.into_iter();
        values.fold(text.to_owned(), |text, (name, value)| {
            text.replace(name, &value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
proxy = 1
name = "front"
homepage = "https://example.org"
summary = "A proxy."
[[requires]]
what = "front"
probe = ["front", "-v"]
debian = ["front"]
[version]
command = ["front", "-v"]
matches = 'front (\S+)'
[run]
command = ["front", "-f", "{config}", "-p", "{run}/pid"]
config = "front.cfg"
reload = ["kill", "-HUP", "{pid}"]
"#;

    fn parse(text: &str) -> Result<Proxy, String> {
        let parsed = Proxy::parse(text, Path::new("proxies/front/proxy.toml"), "front");
        parsed.map_err(|problems| super::super::lines(&problems))
    }

    #[test]
    fn a_proxy_says_how_it_is_started_and_what_it_needs() {
        let proxy = parse(GOOD).unwrap();
        assert_eq!(proxy.requires[0].debian, ["front"]);
        assert_eq!(
            (proxy.tls_config, proxy.ready_timeout),
            (None, READY_TIMEOUT)
        );
        let values = ProxyValues {
            listens: "127.0.0.1:8000".parse().unwrap(),
            servers: vec!["127.0.0.1:9000".parse().unwrap()],
            pid: None,
            threads: 2,
            files: 20_000,
            dir: "/p/proxies/front".into(),
            run: "/l/run".into(),
            config: "/l/run/front.cfg".into(),
            certificate: Some(["/l/c".into(), "/l/k".into(), "/l/p".into()]),
        };
        let text = "{host}:{port} {threads} {files} {dir} {run} {cert} {key} {pem} {other} { x }";
        assert_eq!(
            values.expand(text),
            "127.0.0.1:8000 2 20000 /p/proxies/front /l/run /l/c /l/k /l/p {other} { x }"
        );
        assert_eq!(
            values.expand(&proxy.command.join(" ")),
            "front -f /l/run/front.cfg -p /l/run/pid"
        );
        assert_eq!(
            values
                .of_process(7)
                .expand(&proxy.reload.unwrap().join(" ")),
            "kill -HUP 7"
        );
    }

    #[test]
    fn a_line_of_the_configuration_stands_once_for_each_node() {
        let values = ProxyValues {
            listens: "127.0.0.1:8000".parse().unwrap(),
            servers: vec![
                "127.0.0.1:9000".parse().unwrap(),
                "127.0.0.1:9001".parse().unwrap(),
            ],
            pid: None,
            threads: 2,
            files: 20_000,
            dir: "/p".into(),
            run: "/r".into(),
            config: "/r/c".into(),
            certificate: None,
        };
        let template = "at {port} {\n  n{node} {server};\n}\nlast {threads} {node}";
        assert_eq!(
            values.configuration(template),
            "at 8000 {\n  n1 127.0.0.1:9000;\n  n2 127.0.0.1:9001;\n}\nlast 2 {node}"
        );
    }

    #[test]
    fn what_cannot_work_is_named_with_its_place() {
        for (from, to, says) in [
            (
                "proxy = 1",
                "proxy = 2",
                "2:9: manifest version 2 is not known",
            ),
            (
                "\"front\"\nhome",
                "\"back\"\nhome",
                "3:8: the name \"back\" is not the folder's",
            ),
            (
                "{config}",
                "{conf}",
                "unknown placeholder \"conf\"; did you mean \"config\"?",
            ),
            ("{run}/pid", "{pid}", "unknown placeholder \"pid\""),
            ("{run}/pid", "{server}", "unknown placeholder \"server\""),
            (
                "\"front.cfg\"",
                "\"../front.cfg\"",
                "is no name of a file beside the manifest",
            ),
            (
                "config = ",
                "confg = ",
                "unknown key \"confg\"; did you mean \"config\"?",
            ),
            (
                "debian = [\"front\"]",
                "",
                "a requirement says how to get it",
            ),
            (r"(\S+)", r"\S+", "group 1 is the version"),
        ] {
            let wrong = parse(&GOOD.replace(from, to)).unwrap_err();
            assert!(wrong.contains(says), "{to}: {wrong}");
            assert!(wrong.starts_with("proxies/front/proxy.toml:"), "{wrong}");
        }
    }
}
