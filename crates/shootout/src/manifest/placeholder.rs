//! Placeholders in commands and environments: `{host}`, `{port}`, `{threads}`, `{bin}`, `{dir}`.
//!
//! Pure text; does not know which command it works on.

use std::path::PathBuf;

/// Every placeholder.
pub(super) const ALL: [&str; 5] = ["host", "port", "threads", "bin", "dir"];
/// Those that have a value before the server is started: in build steps and the version command.
pub(super) const BUILD: [&str; 2] = ["bin", "dir"];

/// What the placeholders stand for.
#[derive(Clone, Debug)]
pub struct Values {
    /// The project's bin/, absolute.
    pub bin: PathBuf,
    /// The server's folder, absolute.
    pub dir: PathBuf,
    /// Host, port and number of cores; absent in build steps.
    pub start: Option<(String, u16, usize)>,
}

impl Values {
    /// Replaces the placeholders of `text`. Text in braces that is no placeholder stays as it is:
    /// `find` has refused it when the manifest was read, where it matters.
    pub fn expand(&self, text: &str) -> String {
        let mut out = text
            .replace("{bin}", &self.bin.to_string_lossy())
            .replace("{dir}", &self.dir.to_string_lossy());
        if let Some((host, port, threads)) = &self.start {
            out = out
                .replace("{host}", host)
                .replace("{port}", &port.to_string())
                .replace("{threads}", &threads.to_string());
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
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
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
            start: Some(("127.0.0.1".into(), 9000, 2)),
        };
        assert_eq!(
            values.expand("{bin}/x -a {host}:{port} -t{threads} {dir}"),
            "/p/bin/x -a 127.0.0.1:9000 -t2 /p/servers/go-example"
        );
        values.start = None;
        assert_eq!(values.expand("{bin} {port}"), "/p/bin {port}");
    }

    #[test]
    fn finds_names_but_not_shell_variables_or_code() {
        assert_eq!(find("{bin}/a {prot}"), ["bin", "prot"]);
        assert!(find("${HOME} awk '{print $1}' {} { a }").is_empty());
    }
}
