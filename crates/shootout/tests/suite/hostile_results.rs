//! Directories of results that were made to hurt their reader: each is refused with what is wrong with
//! it, by every command that reads records, with bounded memory.

use crate::support::Project;
use board::records;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;

/// Memory that a command may take for its data, in bytes.
const MEMORY: u64 = 512 << 20;

/// A directory in a project, and what is wrong with it.
struct Hostile {
    name: &'static str,
    make: fn(&Path),
    words: &'static str,
}

const ALL: [Hostile; 18] = [
    Hostile {
        name: "link-to-zeros",
        make: |dir| symlink("/dev/zero", dir.join("a.json")).unwrap(),
        words: "a.json: is a symbolic link",
    },
    Hostile {
        name: "packed-link-to-zeros",
        make: |dir| symlink("/dev/zero", dir.join("a.json.gz")).unwrap(),
        words: "a.json: is a symbolic link",
    },
    Hostile {
        name: "link-to-a-file-outside",
        make: |dir| symlink("/etc/hostname", dir.join("a.json")).unwrap(),
        words: "a.json: is a symbolic link",
    },
    Hostile {
        name: "report-of-zeros",
        make: |dir| {
            fs::write(dir.join("a.json"), measured(|_| {})).unwrap();
            symlink("/dev/zero", dir.join("report.md")).unwrap();
        },
        words: "report.md: is a symbolic link",
    },
    Hostile {
        name: "session-of-zeros",
        make: |dir| {
            fs::write(dir.join("a.json"), measured(|_| {})).unwrap();
            symlink("/dev/zero", dir.join("session.json")).unwrap();
        },
        words: "session.json: is a symbolic link",
    },
    Hostile {
        name: "directories-in-a-ring",
        make: |dir| symlink(dir, dir.join("run-1")).unwrap(),
        words: "run-1: is a symbolic link",
    },
    Hostile {
        name: "pipe",
        make: |dir| {
            let mut command = std::process::Command::new("mkfifo");
            assert!(command.arg(dir.join("a.json")).status().unwrap().success());
        },
        words: "a.json: is no file",
    },
    Hostile {
        name: "sparse",
        make: |dir| {
            File::create(dir.join("a.json"))
                .unwrap()
                .set_len(1 << 40)
                .unwrap()
        },
        words: "a.json: has more than 16 MiB",
    },
    Hostile {
        name: "packed-zeros",
        make: |dir| {
            let file = File::create(dir.join("a.json.gz")).unwrap();
            let mut out = GzEncoder::new(file, Compression::fast());
            for _ in 0..64 {
                out.write_all(&vec![b' '; 1 << 20]).unwrap();
            }
            out.finish().unwrap();
        },
        words: "a.json: has more than 16 MiB unpacked",
    },
    Hostile {
        name: "many-packed-zeros",
        make: |dir| {
            let mut out = GzEncoder::new(Vec::new(), Compression::fast());
            out.write_all(&vec![b' '; 16 << 20]).unwrap();
            let packed = out.finish().unwrap();
            for number in 0..26 {
                fs::write(dir.join(format!("{number}.json.gz")), &packed).unwrap();
            }
        },
        words: "have more than 256 MiB unpacked",
    },
    Hostile {
        name: "nested",
        make: |dir| {
            let deep = "[".repeat(100_000) + &"]".repeat(100_000);
            let text = measured(|record| record["x"] = json!("DEEP"));
            fs::write(dir.join("a.json"), text.replace("\"DEEP\"", &deep)).unwrap();
        },
        words: "recursion limit exceeded",
    },
    Hostile {
        name: "many-values",
        make: |dir| {
            let text = measured(|record| record["x"] = json!(vec![0; 300_000]));
            fs::write(dir.join("a.json"), text).unwrap();
        },
        words: "has more than 250000 values",
    },
    Hostile {
        name: "wide-histograms",
        make: |dir| {
            let text = measured(|record| record["x"] = json!(vec![wide(); 10_000]));
            fs::write(dir.join("a.json"), text).unwrap();
        },
        words: "has other bounds than a recorder's",
    },
    Hostile {
        name: "wide-histogram-of-a-step",
        make: |dir| {
            let text = measured(|record| record["run"]["steps"][0]["completion"] = wide());
            fs::write(dir.join("a.json"), text).unwrap();
        },
        words: "has other bounds than a recorder's",
    },
    Hostile {
        name: "long-name",
        make: |dir| {
            let text = measured(|record| record["server"]["name"] = json!("n".repeat(15 << 20)));
            for number in 0..3 {
                fs::write(dir.join(format!("{number}.json")), &text).unwrap();
            }
        },
        words: "has a text of more than 256 KiB",
    },
    Hostile {
        name: "name-of-a-page",
        make: |dir| {
            let text = measured(|record| record["server"]["name"] = json!("n".repeat(200_000)));
            for number in 0..20 {
                fs::write(dir.join(format!("{number}.json")), &text).unwrap();
            }
        },
        words: "its names and its reason have",
    },
    Hostile {
        name: "one-measurement-in-many-files",
        make: |dir| {
            let text = measured(|_| {});
            for number in 0..600 {
                fs::write(dir.join(format!("{number}.json")), &text).unwrap();
            }
        },
        words: "the rest of its records is not looked at",
    },
    Hostile {
        name: "many-files",
        make: |dir| {
            for number in 0..=50_000 {
                File::create(dir.join(format!("{number}.json"))).unwrap();
            }
        },
        words: "more than 50000 entries",
    },
];

/// A published measurement, changed.
fn measured(change: impl Fn(&mut Value)) -> String {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/2026-11-again/run-13");
    let files = records::files(&run).unwrap();
    let mut record: Value = serde_json::from_str(&records::text(&files[0]).unwrap()).unwrap();
    change(&mut record);
    record.to_string()
}

/// A distribution whose histogram is of the widest bounds: 1 to 2^63 - 1 by five digits, one sample.
fn wide() -> Value {
    json!({
        "count": 1, "min_ns": 1, "mean_ns": 1.0, "p50_ns": 1, "p90_ns": 1, "p95_ns": 1, "p99_ns": 1,
        "p999_ns": null, "max_ns": 1,
        "histogram": "HISTEwAAAAEAAAAAAAAABQAAAAAAAAABf/////////8/8AAAAAAAAAI=",
    })
}

/// The exit code of a command that takes no more than [`MEMORY`], and what it says.
#[track_caller]
fn bounded(project: &Project, arguments: &str) -> (Option<i32>, String) {
    let mut command = project.command(arguments);
    // SAFETY: setrlimit may be called between fork and exec (signal-safety(7) names it not, and it is a
    // system call alone).
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit {
                rlim_cur: MEMORY,
                rlim_max: MEMORY,
            };
            match libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert_eq!(output.status.signal(), None, "{arguments}: {text}");
    assert!(!text.contains("panicked"), "{arguments}: {text}");
    (output.status.code(), text)
}

#[test]
fn a_directory_that_was_made_to_hurt_is_refused_within_bounded_memory() {
    for hostile in ALL {
        let project = Project::new();
        let dir = project.path("results/hostile");
        fs::create_dir_all(&dir).unwrap();
        (hostile.make)(&dir);
        for arguments in [
            "check results/hostile",
            "report results/hostile",
            "compare results/hostile results/hostile",
            "site results --out site",
        ] {
            let name = hostile.name;
            let (code, text) = bounded(&project, arguments);
            if arguments.starts_with("check") {
                assert_eq!(code, Some(1), "{name}: {text}");
                assert!(text.contains(hostile.words), "{name}: {text}");
            }
            if name.starts_with("link") && !arguments.starts_with("check") {
                assert!(
                    text.contains("symbolic link"),
                    "{name}: {arguments}: {text}"
                );
            }
        }
    }
}

#[test]
fn a_report_is_not_written_through_a_link_of_the_directory() {
    let project = Project::new();
    let dir = project.path("results/hostile");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("a.json"), measured(|_| {})).unwrap();
    let mine = project.path("mine.txt");
    fs::write(&mine, "mine").unwrap();
    for name in ["report.md", "report.html"] {
        symlink(&mine, dir.join(name)).unwrap();
        project
            .shootout("report results/hostile")
            .expect(1, &[name, "is a symbolic link"]);
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
        fs::remove_file(dir.join(name)).unwrap();
    }
}

#[test]
fn a_run_that_was_made_to_hurt_is_not_resumed_and_leads_nowhere() {
    const RESUME: &str = "run --resume results/hostile";
    let project = Project::new();
    let dir = project.path("results/hostile");
    let session = dir.join("session.json");
    fs::create_dir_all(dir.join("logs")).unwrap();
    let mine = project.path("mine.txt");
    fs::write(&mine, "mine").unwrap();
    let no_file = "is no file and no directory";
    for name in ["session.json", ".lock", ".session.json.tmp", "logs/a.log"] {
        for to in [Path::new("/dev/zero"), &mine] {
            symlink(to, dir.join(name)).unwrap();
            let (code, text) = bounded(&project, RESUME);
            assert_eq!(code, Some(1), "{name}: {text}");
            assert!(text.contains(no_file), "{name}: {text}");
            fs::remove_file(dir.join(name)).unwrap();
        }
    }
    let mut command = std::process::Command::new("mkfifo");
    assert!(command.arg(&session).status().unwrap().success());
    let (code, text) = bounded(&project, RESUME);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains(no_file), "{text}");
    fs::remove_file(&session).unwrap();
    File::create(&session).unwrap().set_len(1 << 40).unwrap();
    let (code, text) = bounded(&project, RESUME);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("has more than 16 MiB"), "{text}");
    fs::write(&session, format!("[{}0]", "0,".repeat(300_000))).unwrap();
    let (code, text) = bounded(&project, RESUME);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("more than 250000 values"), "{text}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
}
