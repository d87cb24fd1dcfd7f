use super::{BEGIN, END, PAGE, Page};
use project::Project;
use std::fs;
use std::path::Path;

fn manifest(name: &str, more: &str) -> String {
    format!(
        "manifest = 1\nname = \"{name}\"\nlanguage = \"L\"\nlibrary = \"l|l\"\n\
         homepage = \"https://example.org\"\nclass = \"idiomatic\"\nsummary = \"s\"\njson = \"tree\"\n\
         [run]\ncommand = [\"x\"]\npath = \"/\"\n\
         [version]\ncommand = [\"x\"]\nmatches = '(.)'\n\
         [supports]\ndialects = [\"text\"]\nworkloads = [\"broadcast\"]\n{more}"
    )
}

fn add(root: &Path, name: &str, more: &str) {
    let folder = root.join("servers").join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("server.toml"), manifest(name, more)).unwrap();
}

/// What differs, then the servers that the page does not have.
fn compared(root: &Path) -> (Vec<String>, Vec<String>) {
    let entries = Project::find(Some(root)).unwrap().servers().unwrap();
    let found = Page::new(root)
        .unwrap()
        .unwrap()
        .compared(&entries)
        .unwrap();
    (found.drift, found.unknown)
}

fn write(root: &Path) -> String {
    let entries = Project::find(Some(root)).unwrap().servers().unwrap();
    Page::new(root).unwrap().unwrap().write(&entries).unwrap();
    fs::read_to_string(root.join(PAGE)).unwrap()
}

const TWO: &str = "[[requires]]\nwhat = \"w\"\nprobe = [\"w\"]\nremedy = \"r\"\nvariants = [\"b\"]\n\
                   [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n";

#[test]
fn the_table_is_made_from_the_manifests_and_the_rest_of_the_page_stays() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    add(root, "x-two", TWO);
    add(
        root,
        "a-one",
        "[[requires]]\nwhat = \"w\"\nprobe = [\"w\"]\nremedy = \"r\"\n",
    );
    fs::write(
        root.join(PAGE),
        format!("Above.\n{BEGIN}old\n{END}Below.\n"),
    )
    .unwrap();
    let page = write(root);
    let table = "| [a-one](a-one) \\* | L | [l\\|l](https://example.org) |  |\n\
                 | [x-two](x-two) | L | [l\\|l](https://example.org) | a, b \\* |\n";
    assert!(page.contains(table), "{page}");
    assert!(
        page.starts_with(&format!("Above.\n{BEGIN}| folder |")),
        "{page}"
    );
    assert!(page.ends_with(&format!("{END}Below.\n")), "{page}");
    assert_eq!(compared(root), (vec![], vec![]));
    assert_eq!(write(root), page);
}

#[test]
fn a_folder_more_is_told_and_one_less_or_changed_is_drift() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    add(root, "a-one", "");
    add(root, "x-two", TWO);
    fs::write(root.join(PAGE), format!("{BEGIN}{END}")).unwrap();
    write(root);
    add(root, "m-new", "");
    assert_eq!(compared(root), (vec![], vec!["m-new".into()]));
    add(root, "x-two", "");
    let changed = "x-two: its line in servers/README.md is not that of its manifest";
    assert_eq!(compared(root).0, [changed]);
    fs::remove_dir_all(root.join("servers/x-two")).unwrap();
    assert_eq!(
        compared(root).0,
        ["x-two: servers/README.md has a line of no server"]
    );
    write(root);
    assert_eq!(compared(root), (vec![], vec![]));
}

#[test]
fn what_is_written_by_hand_in_the_table_is_drift_and_a_page_without_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    add(root, "a-one", "");
    let readme = root.join(PAGE);
    assert!(Page::new(root).unwrap().is_none());
    fs::write(&readme, format!("{BEGIN}{END}")).unwrap();
    let page = write(root).replace(END, &format!("By hand.\n{END}"));
    fs::write(&readme, page).unwrap();
    let what = "servers/README.md: its table of servers is not what the manifests make";
    assert_eq!(compared(root).0, [what]);
    fs::write(&readme, "By hand.\n").unwrap();
    let entries = Project::find(Some(root)).unwrap().servers().unwrap();
    let refused = Page::new(root)
        .unwrap()
        .unwrap()
        .write(&entries)
        .unwrap_err();
    assert!(
        refused.to_string().contains("no place for the table"),
        "{refused}"
    );
}
