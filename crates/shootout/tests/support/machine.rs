//! Programs that a test's machine has beside those of the system, and an apt-get that installs more.

use super::Project;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A folder of programs for PATH, beside those of the system.
pub(crate) fn with_path(project: &Project, programs: &[(&str, &str)]) -> String {
    let dir = project.path("path");
    fs::create_dir_all(&dir).unwrap();
    for (name, script) in programs {
        fs::write(dir.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    format!("{}:{}", dir.display(), std::env::var("PATH").unwrap())
}

/// apt-get that knows these packages alone, installs all or nothing, and keeps a log.
pub(crate) fn apt(project: &Project, known: &str, refused: &str) -> String {
    let log = project.path("apt.log");
    let path = project.path("path");
    let install = format!(
        "echo \"$@\" >> {log}; [ $1 = update ] && exit 0; shift 3; \
         for p in \"$@\"; do [ $p = -o ] && break; case \" {refused} \" in *\" $p \"*) \
         echo \"E: $p: unmet dependencies\"; exit 100;; esac; done; \
         for p in \"$@\"; do [ $p = -o ] && break; printf '#!/bin/sh\\n' > {path}/$p; \
         chmod +x {path}/$p; done",
        log = log.display(),
        path = path.display()
    );
    let lists = format!(
        "shift; for p in \"$@\"; do case \" {known} \" in *\" $p \"*) echo \"$p:\";; esac; done; exit 0"
    );
    with_path(
        project,
        &[
            ("apt-get", &install),
            ("apt-cache", &lists),
            ("sudo", "exec \"$@\""),
        ],
    )
}

pub(crate) fn needs(what: &str, probe: &str, how: &str) -> String {
    format!("[[requires]]\nwhat = \"{what}\"\nprobe = [\"{probe}\"]\n{how}\n")
}
