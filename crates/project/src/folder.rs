//! Where things are in the project, and the servers that it holds.
//!
//! Knows no server by name: a folder with a manifest is one.

use crate::Refusal;
use crate::manifest::{self, Manifest, PROXY_FILE, Problem, Proxy, lines, suggestion};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder in results/ for runs without `--out`, which are not published.
pub const LOCAL: &str = "local";

/// The project's folder.
#[derive(Clone, Debug)]
pub struct Project {
    root: PathBuf,
}

/// A folder under servers/ that has a manifest.
#[derive(Clone, Debug)]
pub struct ServerFolder {
    /// Folder name.
    pub name: String,
    /// The folder, absolute.
    pub dir: PathBuf,
    /// The manifest, or what is wrong with it.
    pub manifest: Result<Manifest, Vec<Problem>>,
}

/// A folder under proxies/, and the manifest in it.
#[derive(Clone, Debug)]
pub struct ProxyFolder {
    /// The folder, absolute.
    pub dir: PathBuf,
    /// The manifest.
    pub proxy: Proxy,
}

impl Project {
    /// The project at `root`, or the one around the working directory.
    ///
    /// # Errors
    /// When there is no servers/ folder.
    pub fn find(root: Option<&Path>) -> Result<Self, Refusal> {
        let candidates: Vec<PathBuf> = match root {
            Some(root) => vec![root.to_owned()],
            None => std::env::current_dir()
                .map(|dir| dir.ancestors().map(Path::to_owned).collect())
                .unwrap_or_default(),
        };
        let found = candidates.iter().find(|dir| dir.join("servers").is_dir());
        let Some(found) = found else {
            return Err(Refusal::new(match root {
                Some(root) => format!("{}: no servers/ folder there", root.display()),
                None => "no project here: no servers/ folder in this directory or above; \
                         name the project with --root DIR"
                    .to_owned(),
            }));
        };
        let root = fs::canonicalize(found)
            .map_err(|error| Refusal::new(format!("{}: {error}", found.display())))?;
        Ok(Self { root })
    }

    /// The project's folder, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Programs: those of the project and those of the servers.
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// Logs and stamps, that may be deleted at any time.
    pub fn cache(&self) -> PathBuf {
        self.root.join("target/shootout")
    }

    /// Plans with a name and a reason.
    pub fn workloads(&self) -> PathBuf {
        self.root.join("workloads")
    }

    /// The directory of runs without `--out`.
    pub fn results(&self) -> PathBuf {
        self.root.join("results").join(LOCAL)
    }

    /// Summaries of the Autobahn|Testsuite.
    pub fn autobahn(&self) -> PathBuf {
        self.root.join("results/autobahn")
    }

    /// A path as it is shown: relative to the working directory or the project where it can be.
    pub fn shown(&self, path: &Path) -> String {
        let here = std::env::current_dir().unwrap_or_default();
        path.strip_prefix(&here)
            .or_else(|_| path.strip_prefix(&self.root))
            .unwrap_or(path)
            .display()
            .to_string()
    }

    /// Every server, sorted by name.
    ///
    /// # Errors
    /// When servers/ cannot be read.
    pub fn servers(&self) -> Result<Vec<ServerFolder>, Refusal> {
        let servers = self.root.join("servers");
        let listing = fs::read_dir(&servers)
            .map_err(|error| Refusal::new(format!("{}: {error}", servers.display())))?;
        let mut entries: Vec<ServerFolder> = listing
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|dir| dir.join(manifest::FILE).is_file())
            .map(|dir| self.entry(dir))
            .collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The named servers, in that order; all, when none is named.
    ///
    /// # Errors
    /// When a name is unknown or a named server's manifest is wrong.
    pub fn select(&self, names: &[String]) -> Result<Vec<ServerFolder>, Refusal> {
        let mut all = self.servers()?;
        if names.is_empty() {
            if all.is_empty() {
                return Err(Refusal::new(format!(
                    "{}: no server there; see docs/adding-a-server.md",
                    self.root.join("servers").display()
                )));
            }
            return Ok(all);
        }
        let is_known = |name: &&String| all.iter().any(|entry| entry.name == **name);
        let unknown = names.iter().filter(|name| !is_known(name)).map(|name| {
            let near = suggestion(name, all.iter().map(|entry| entry.name.as_str()));
            format!("no server \"{name}\"{near}")
        });
        let unknown: Vec<String> = unknown.collect();
        if !unknown.is_empty() {
            return Err(Refusal::new(unknown.join("\n")));
        }
        let mut selected: Vec<ServerFolder> = Vec::new();
        for name in names {
            // One that is named twice is taken already.
            let Some(at) = all.iter().position(|entry| entry.name == *name) else {
                continue;
            };
            let entry = all.swap_remove(at);
            if let Err(problems) = &entry.manifest {
                return Err(Refusal::new(lines(problems)));
            }
            selected.push(entry);
        }
        Ok(selected)
    }

    /// Names of the proxies, sorted.
    pub fn proxies(&self) -> Vec<String> {
        let listing = fs::read_dir(self.root.join("proxies"));
        let folders = listing.into_iter().flatten().filter_map(Result::ok);
        let folders = folders.map(|entry| entry.path());
        let folders = folders.filter(|dir| dir.join(PROXY_FILE).is_file());
        let mut names: Vec<String> = folders.map(|dir| folder_name(&dir)).collect();
        names.sort();
        names
    }

    /// The proxy of that name.
    ///
    /// # Errors
    /// When there is none, or its manifest is wrong.
    pub fn proxy(&self, name: &str) -> Result<ProxyFolder, Refusal> {
        let known = self.proxies();
        if !known.iter().any(|other| other == name) {
            let near = suggestion(name, known.iter().map(String::as_str));
            return Err(Refusal::new(format!("no proxy \"{name}\"{near}")));
        }
        let dir = self.root.join("proxies").join(name);
        let shown = Path::new("proxies").join(name).join(PROXY_FILE);
        let text = fs::read_to_string(dir.join(PROXY_FILE))
            .map_err(|error| Refusal::new(format!("{}: {error}", shown.display())))?;
        let proxy = Proxy::parse(&text, &shown, name);
        let proxy = proxy.map_err(|problems| Refusal::new(lines(&problems)))?;
        Ok(ProxyFolder { dir, proxy })
    }

    fn entry(&self, dir: PathBuf) -> ServerFolder {
        let name = folder_name(&dir);
        let path = dir.join(manifest::FILE);
        let shown = Path::new("servers").join(&name).join(manifest::FILE);
        let manifest = match fs::read_to_string(&path) {
            Ok(text) => Manifest::parse(&text, &shown, &name),
            Err(error) => Err(vec![Problem {
                file: shown,
                place: None,
                message: error.to_string(),
            }]),
        };
        ServerFolder {
            name,
            dir,
            manifest,
        }
    }
}

fn folder_name(dir: &Path) -> String {
    let name = dir.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
