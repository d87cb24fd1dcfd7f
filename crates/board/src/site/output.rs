//! The folder of the site: what is written there, and what of an earlier site goes.

use super::SiteError;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Lists the files of the site, so that the next one takes away what it does not have any more.
const LIST: &str = ".shootout-site";

/// Folders and name of the file that lies deepest: a page of a server on the board of local runs.
const DEEPEST: usize = 3;

/// The files of a site, by their paths in its folder.
#[derive(Debug, Default)]
pub(super) struct Files {
    files: Vec<(String, String)>,
}

impl Files {
    pub(super) fn add(&mut self, path: impl Into<String>, text: String) {
        self.files.push((path.into(), text));
    }

    /// Adds another site as a folder of this one.
    pub(super) fn add_folder(&mut self, folder: &str, site: Self) {
        let files = site.files.into_iter();
        let files = files.map(|(path, text)| (format!("{folder}/{path}"), text));
        self.files.extend(files);
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Writes them into a folder that is new, empty, or holds an earlier site, whose other pages are
    /// deleted.
    pub(super) fn write(&self, out: &Path) -> Result<(), SiteError> {
        let unwritable = |path: &Path| {
            let path = path.to_owned();
            move |source| SiteError::Unwritable { path, source }
        };
        let before = earlier(out)?;
        fs::create_dir_all(out).map_err(unwritable(out))?;
        let list: String = self
            .files
            .iter()
            .map(|(path, _)| format!("{path}\n"))
            .collect();
        for old in before.iter().filter(|old| !self.has(old)) {
            let path = out.join(old);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(unwritable(&path)(error));
                }
                _ => {}
            }
        }
        // The list comes first: of a site that was begun, the next one knows every file.
        let marker = out.join(LIST);
        fs::write(&marker, list).map_err(unwritable(&marker))?;
        for (name, text) in &self.files {
            let path = out.join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(unwritable(folder))?;
            }
            fs::write(&path, text).map_err(unwritable(&path))?;
        }
        Ok(())
    }

    fn has(&self, path: &str) -> bool {
        self.files.iter().any(|(name, _)| name == path)
    }
}

/// The files of the site that a folder holds.
fn earlier(out: &Path) -> Result<Vec<String>, SiteError> {
    match fs::read_to_string(out.join(LIST)) {
        Ok(list) => Ok(list
            .lines()
            .filter(|path| is_within(path))
            .map(str::to_owned)
            .collect()),
        Err(_) => {
            let is_empty = match fs::read_dir(out) {
                Ok(mut entries) => entries.next().is_none(),
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            };
            match is_empty {
                true => Ok(Vec::new()),
                false => Err(SiteError::Occupied(out.to_owned())),
            }
        }
    }
}

/// Whether a path leads to a page of a site and nowhere else.
fn is_within(path: &str) -> bool {
    let path = PathBuf::from(path);
    let mut parts = path.components();
    path.extension().is_some_and(|ending| ending == "html")
        && path.components().count() <= DEEPEST
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> Files {
        let mut files = Files::default();
        for name in names {
            files.add(*name, format!("page {name}"));
        }
        files
    }

    #[test]
    fn pages_that_are_no_more_are_deleted_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("site");
        files(&["index.html", "servers/a.html", "servers/b.html"])
            .write(&out)
            .unwrap();
        fs::write(out.join("CNAME"), "example.org").unwrap();
        files(&["index.html", "servers/b.html"])
            .write(&out)
            .unwrap();
        assert!(!out.join("servers/a.html").exists());
        assert!(out.join("servers/b.html").exists() && out.join("CNAME").exists());
    }

    #[test]
    fn a_folder_with_something_else_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.txt"), "mine").unwrap();
        let refused = files(&["index.html"]).write(dir.path()).unwrap_err();
        assert!(refused.to_string().contains("is not empty"), "{refused}");
        assert!(!dir.path().join("index.html").exists());
    }

    #[test]
    fn a_list_that_was_changed_deletes_nothing_outside() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("site");
        fs::create_dir(&out).unwrap();
        fs::write(dir.path().join("mine.html"), "mine").unwrap();
        let absolute = dir.path().join("mine.html");
        fs::write(
            out.join(LIST),
            format!("../mine.html\n{}\n", absolute.display()),
        )
        .unwrap();
        files(&["index.html"]).write(&out).unwrap();
        assert!(absolute.exists());
    }
}
