//! Who has passed every check on this machine, with all that decides it as it is now.
//!
//! The checks of a row take longer than its measurement. So what they found of a variant that passed is
//! kept in the user's cache, outside every checkout, under a fingerprint of: this program, the kernel and
//! the processor; the server's folder and its programs in `bin`; the versions of its library, its runtime
//! and its services; the variant and its threads. A variant that fails is forgotten, and nothing is kept for
//! longer than a week.

use crate::build::{self, Built, Print};
use crate::session::now;
use board::records;
use host_facts::user_cache;
use project::manifest::Variant;
use project::{Project, ServerFolder};
use record::{Conformance, Environment, Json as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// All that decides what the checks find, beside this program and the machine.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The project.
    pub project: &'a Project,
    /// The server.
    pub entry: &'a ServerFolder,
    /// Its variant.
    pub variant: &'a Variant,
    /// The build.
    pub built: &'a Built,
    /// Number of cores that the server is told to use.
    pub threads: usize,
}

/// The file of a variant as it is now.
#[derive(PartialEq)]
pub struct Passed(PathBuf);

impl Subject<'_> {
    /// `None` where something that decides the checks cannot be read, or a service does not tell its version.
    pub fn passed(&self) -> Option<Passed> {
        let Self { entry, variant, .. } = self;
        let services = self.built.services.as_ref()?;
        let here = Environment::collect();
        let mut print = Print::default();
        print.add(&this_program()?);
        print.add(&here.kernel);
        print.add(&format!("{:?} {}", here.cpu_model, here.cores));
        print.add(&build::fingerprint(&entry.dir)?);
        let words = variant.command.iter();
        for (_, program) in words.clone().filter_map(|word| word.split_once("{bin}/")) {
            print.add_file(&self.project.bin().join(program)).ok()?;
        }
        // Some rows start what is neither in `bin` nor in their folder.
        let elsewhere = words.map(Path::new);
        for program in elsewhere.filter(|word| word.is_absolute() && word.is_file()) {
            print.add_file(program).ok()?;
        }
        print.add(&build::last_built(self.project, &entry.name, &variant.name));
        print.add(&self.built.version);
        print.add(self.built.runtime.as_deref().unwrap_or_default());
        for word in [&entry.name, &variant.name].into_iter().chain(services) {
            print.add(word);
        }
        let folder = user_cache()?.join("websocket-shootout/passed");
        let name = format!("{}.{}.json", print.text(), self.threads);
        Some(Passed(folder.join(name)))
    }
}

impl Passed {
    /// What the checks found, where the variant passed them within the last week.
    pub fn conformance(&self) -> Option<Conformance> {
        if !is_fresh(&self.0) {
            return None;
        }
        let conformance = Conformance::from_json(&records::text(&self.0).ok()?).ok()?;
        let checked = humantime::parse_rfc3339(conformance.checked.as_deref()?).ok()?;
        let is_complete = conformance::check_ids()
            .iter()
            .all(|id| conformance.checks.iter().any(|check| check.id == *id));
        (is_recent(checked) && is_complete && conformance.passed()).then_some(conformance)
    }

    /// Forgets that the variant passed, with any number of threads: it has failed now.
    pub fn forget(&self) {
        let print = |file: &Path| Some(file.file_name()?.to_str()?.split('.').next()?.to_owned());
        for file in self.beside() {
            if print(&file) == print(&self.0) {
                let _ = fs::remove_file(file);
            }
        }
    }

    /// All files of the folder.
    fn beside(&self) -> impl Iterator<Item = PathBuf> {
        let all = self.0.parent().and_then(|folder| fs::read_dir(folder).ok());
        all.into_iter().flatten().flatten().map(|file| file.path())
    }

    /// Keeps what the checks found of `subject`, and removes what is older than a week. A server that has
    /// changed its own folder meanwhile may be another one the next time: nothing is kept of it. If it cannot
    /// be written, the next run is only slower.
    pub fn keep(&self, subject: &Subject<'_>, conformance: &Conformance) {
        if subject.passed().as_ref() != Some(self) {
            return;
        }
        let conformance = Conformance {
            checked: Some(now()),
            ..conformance.clone()
        };
        let (Some(folder), Ok(text)) = (self.0.parent(), conformance.to_json()) else {
            return;
        };
        let _ = fs::create_dir_all(folder);
        let draft = self.0.with_extension(format!("{}.tmp", std::process::id()));
        let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, &self.0));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        for old in self.beside().filter(|file| !is_fresh(file)) {
            let _ = fs::remove_file(old);
        }
    }
}

/// Tells one build of this program from another. To read all of it would take as long as some rows' checks.
fn this_program() -> Option<String> {
    let meta = fs::metadata("/proc/self/exe").ok()?;
    Some(format!("{} {:?}", meta.len(), meta.modified().ok()?))
}

fn is_fresh(file: &Path) -> bool {
    let written = fs::metadata(file).and_then(|meta| meta.modified());
    written.is_ok_and(is_recent)
}

fn is_recent(moment: SystemTime) -> bool {
    moment.elapsed().is_ok_and(|age| age < KEPT_FOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{CheckOutcome, CheckVerdict};

    fn of(checked: &str, ids: &[&str], verdict: CheckVerdict) -> Conformance {
        let outcome = |id: &&str| CheckOutcome {
            id: (*id).to_owned(),
            section: String::new(),
            dialect: None,
            verdict,
            detail: None,
            link: None,
        };
        Conformance {
            checked: Some(checked.to_owned()),
            checks: ids.iter().map(outcome).collect(),
        }
    }

    #[test]
    fn only_a_recent_pass_of_every_check_counts() {
        let folder = tempfile::tempdir().unwrap();
        let passed = Passed(folder.path().join("print.2.json"));
        let counts = |kept: &Conformance| {
            fs::write(&passed.0, kept.to_json().unwrap()).unwrap();
            passed.conformance().is_some()
        };
        let all = conformance::check_ids();
        let today = now();
        assert!(counts(&of(&today, &all, CheckVerdict::Pass)));
        assert!(!counts(&of(&today, &all, CheckVerdict::Fail)));
        assert!(!counts(&of(&today, &all[1..], CheckVerdict::Pass)));
        for date in ["2016-11-29T00:00:00Z", "2116-11-29T00:00:00Z", "today"] {
            assert!(!counts(&of(date, &all, CheckVerdict::Pass)), "{date}");
        }
        let mut undated = of(&today, &all, CheckVerdict::Pass);
        undated.checked = None;
        assert!(!counts(&undated));
    }

    const MANIFEST: &str = r#"
manifest = 1
name = "go-example"
language = "Go"
library = "lib"
homepage = "https://example.org"
class = "idiomatic"
summary = "How."
json = "tree"
[run]
command = ["{bin}/server", "{port}"]
path = "/"
[version]
command = ["true"]
matches = '(x)'
[supports]
dialects = ["text"]
workloads = ["echo"]
[[variant]]
name = "default"
[[variant]]
name = "another"
"#;

    /// A project with one server.
    fn project() -> (tempfile::TempDir, Project) {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["workloads", "bin", "servers/go-example"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("bin/server"), "program").unwrap();
        fs::write(dir.path().join("servers/go-example/server.toml"), MANIFEST).unwrap();
        let project = Project::find(Some(dir.path())).unwrap();
        (dir, project)
    }

    fn built() -> Built {
        Built {
            version: "1.2.3".into(),
            runtime: Some("Go 1.26".into()),
            services: Some(vec!["7.0.15".into()]),
            reused: false,
        }
    }

    /// The file of a variant as it is now.
    fn file(project: &Project, variant: &str, built: &Built, threads: usize) -> Option<Passed> {
        let [entry] = &project.select(&[]).unwrap()[..] else {
            panic!("one server");
        };
        let subject = Subject {
            project,
            entry,
            variant: entry.manifest.as_ref().unwrap().variant(variant).unwrap(),
            built,
            threads,
        };
        subject.passed()
    }

    #[test]
    fn a_variant_whose_service_tells_no_version_is_always_checked() {
        let (_dir, project) = project();
        let built = Built {
            services: None,
            ..built()
        };
        assert!(file(&project, "default", &built, 2).is_none());
    }

    #[test]
    fn all_that_decides_the_checks_decides_the_file() {
        let (dir, project) = project();
        let of = |variant: &str, built: &Built, threads: usize| {
            let file = file(&project, variant, built, threads);
            file.unwrap().0
        };
        let now = || of("default", &built(), 2);
        let first = now();
        assert_eq!(now(), first);
        for changed in ["servers/go-example/server.go", "bin/server"] {
            let path = dir.path().join(changed);
            let before = fs::read(&path).ok();
            fs::write(&path, "another").unwrap();
            assert_ne!(now(), first, "{changed}");
            match before {
                Some(before) => fs::write(&path, before).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            assert_eq!(now(), first, "{changed}");
        }
        let newer = Built {
            version: "1.2.4".into(),
            ..built()
        };
        let elsewhere = Built {
            runtime: Some("Go 1.27".into()),
            ..built()
        };
        let beside = Built {
            services: Some(vec!["7.0.16".into()]),
            ..built()
        };
        for other in [newer, elsewhere, beside] {
            assert_ne!(of("default", &other, 2), first);
        }
        assert_ne!(of("default", &built(), 1), first);
        assert_ne!(of("another", &built(), 2), first);
    }

    #[test]
    fn nothing_is_kept_of_a_server_that_has_changed_its_folder() {
        let (dir, project) = project();
        let [entry] = &project.select(&[]).unwrap()[..] else {
            panic!("one server");
        };
        let built = built();
        let subject = Subject {
            project: &project,
            entry,
            variant: entry.manifest.as_ref().unwrap().variant("default").unwrap(),
            built: &built,
            threads: 2,
        };
        let passed = subject.passed().unwrap();
        fs::write(dir.path().join("servers/go-example/log"), "started").unwrap();
        passed.keep(
            &subject,
            &of(&now(), &conformance::check_ids(), CheckVerdict::Pass),
        );
        assert!(!passed.0.exists());
    }

    #[test]
    fn what_is_old_or_cannot_be_read_is_no_pass() {
        let folder = tempfile::tempdir().unwrap();
        let passed = Passed(folder.path().join("print.2.json"));
        let whole = of(&now(), &conformance::check_ids(), CheckVerdict::Pass);
        fs::write(&passed.0, whole.to_json().unwrap()).unwrap();
        assert!(passed.conformance().is_some());
        let written = fs::File::options().write(true).open(&passed.0).unwrap();
        // timed: a day more than a week, however long this takes
        let old = SystemTime::now() - Duration::from_secs(8 * 24 * 60 * 60);
        written.set_modified(old).unwrap();
        assert!(passed.conformance().is_none());
        fs::write(&passed.0, "{}").unwrap();
        assert!(passed.conformance().is_none());
    }

    #[test]
    fn what_is_no_file_is_no_pass() {
        let folder = tempfile::tempdir().unwrap();
        let passed = Passed(folder.path().join("print.2.json"));
        assert!(passed.conformance().is_none());
        let pipe = std::ffi::CString::new(passed.0.to_str().unwrap()).unwrap();
        // SAFETY: a path that ends with a zero, and a mode.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        assert!(passed.conformance().is_none());
    }

    #[test]
    fn a_variant_is_forgotten_with_any_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["print.1.json", "print.2.json", "another.2.json"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        Passed(folder.path().join("print.4.json")).forget();
        let kept: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].file_name(), "another.2.json");
    }
}
