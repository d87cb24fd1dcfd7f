//! What runs or compiled a server: asked with the library's version, of the program that was built.

use crate::support::{Project, SHORT, Server};
use project::manifest::Manifest;
use record::JsonReading;
use std::fs;
use std::path::Path;

/// Writes the compiler's version into the program, as compilers do.
const COMPILED: &str = "released = 2020\nold-because = \"nobody has a newer one\"\n\
    [[requires]]\nwhat = \"a compiler\"\nprobe = [\"true\"]\nremedy = \"none\"\n\
    [[build]]\nrun = [\"cp\", \"compiler\", \"{bin}/program\"]\n\
    [runtime]\nname = \"Shc\"\ncommand = [\"cat\", \"{bin}/program\"]\nmatches = 'shc (\\S+)'\n";

fn project(more: &str) -> Project {
    let project = Project::new();
    // `released` stands before the first table.
    let (keys, tables) = more.split_at(more.find('[').unwrap_or(0));
    project.add(&Server {
        more: tables,
        ..Server::default()
    });
    let manifest = project.path("servers/go-example/server.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let text = text.replacen("json = \"tree\"\n", &format!("json = \"tree\"\n{keys}"), 1);
    fs::write(manifest, text).unwrap();
    project
}

#[test]
fn a_compiler_is_told_by_the_program_that_it_built() {
    let project = project(COMPILED);
    // Not a source: it is outside the folder's files that git would keep.
    fs::write(project.path("servers/go-example/.gitignore"), "compiler\n").unwrap();
    let compiler = project.path("servers/go-example/compiler");
    fs::write(&compiler, "shc 1.5 of today\n").unwrap();
    project
        .shootout("build")
        .expect(0, &["go-example: example 1.2.3, Shc 1.5\n"]);
    fs::write(&compiler, "shc 2.0\n").unwrap();
    project
        .shootout("build")
        .expect(0, &["go-example: example 1.2.3, Shc 1.5 (unchanged)"]);
    project.shootout(&format!("{SHORT} --yes")).expect(
        0,
        &[
            "go-example",
            "example 1.2.3 is of 2020: nobody has a newer one",
        ],
    );
    let server = project
        .measurement("go-example.default.broadcast.text.1")
        .server;
    assert_eq!(server.runtime.as_deref(), Some("Shc 1.5"));
    assert_eq!(server.json, Some(JsonReading::Tree));
    assert_eq!(server.released, Some(2020));
    assert_eq!(
        server.old_because.as_deref(),
        Some("nobody has a newer one")
    );
}

#[test]
fn a_runtime_without_a_command_is_in_the_output_of_the_version() {
    let project = project(
        "[runtime]\nname = \"Example\"\nmatches = 'example v(\\d)'\n\
         [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         version = { command = [\"echo\", \"v9 on example v7\"], matches = '^v(\\d)' }\n\
         [[variant]]\nname = \"c\"\nruntime = { name = \"Other\", matches = 'v1\\.(.*)' }\n",
    );
    project.shootout("build").expect(
        0,
        &[
            "go-example (a): example 1.2.3, Example 1\n",
            "go-example (b): example 9, Example 7\n",
            "go-example (c): example 1.2.3, Other 2.3\n",
        ],
    );
}

#[test]
fn a_runtime_that_is_not_told_fails_the_build_and_says_what_was() {
    let project =
        project("[runtime]\nname = \"Go\"\ncommand = [\"echo\", \"gcc 12\"]\nmatches = 'go(.)'\n");
    project.shootout("build").expect(
        1,
        &[
            "the output of the runtime's version command (`echo gcc 12`) does not match /go(.)/",
            "\n    gcc 12\n",
        ],
    );
}

/// A folder's own keys are read by its manifest's parser; that a row says what runs it is asked here, since
/// a manifest may leave it out.
#[test]
fn every_row_says_what_runs_or_compiled_it_and_how_it_reads_json() {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../servers");
    let mut found = 0;
    for entry in fs::read_dir(servers).unwrap() {
        let file = entry.unwrap().path().join("server.toml");
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        let folder = file
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_string_lossy();
        let manifest = Manifest::parse(&text, &file, &folder).unwrap();
        assert!(
            manifest.json.is_some(),
            "{folder} does not say how it reads JSON"
        );
        for variant in &manifest.variants {
            assert!(
                variant.runtime.is_some(),
                "{folder} {} does not say what runs or compiled it",
                variant.name
            );
        }
        found += 1;
    }
    assert!(found > 1, "{found}");
}
