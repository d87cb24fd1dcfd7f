//! Dialect files: their schema, and that they survive every way that they are kept and sent in.

use plan::{Condition, DialectFile, JsonType, Meaning, Scalar, dialect_schema};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of the project, as text.
fn files() -> Vec<String> {
    let folder = fs::read_dir(root().join("dialects")).unwrap();
    let files: Vec<_> = folder
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert!(files.len() >= 4, "{} files", files.len());
    files
}

#[test]
fn docs_hold_the_schema_of_a_dialect_and_the_files_fit_it() {
    let path = root().join("docs/schema/dialect.v1.schema.json");
    let schema = serde_json::to_value(dialect_schema()).unwrap();
    let generated = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    if env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == generated,
        "regenerate it with `UPDATE_SCHEMA=1 cargo test -p plan --test suite dialect_file`"
    );
    let validator = jsonschema::validator_for(&schema).unwrap();
    for text in files() {
        let mut file: Value = toml::from_str(&text).unwrap();
        assert!(validator.is_valid(&file), "{text}");
        file["receive"][0]["wen"] = json!({});
        assert!(!validator.is_valid(&file));
        file["receive"][0].as_object_mut().unwrap().remove("wen");
        file["receive"][0]["when"] = json!({"/a": {"equals": 1}});
        assert!(!validator.is_valid(&file));
    }
}

#[test]
fn files_survive_records_and_the_wire() {
    for text in files() {
        let file: DialectFile = toml::from_str(&text).unwrap();
        let json = serde_json::to_string(&file).unwrap();
        assert_eq!(serde_json::from_str::<DialectFile>(&json).unwrap(), file);
        let bytes = postcard::to_stdvec(&file).unwrap();
        assert_eq!(postcard::from_bytes::<DialectFile>(&bytes).unwrap(), file);
    }
}

#[test]
fn a_value_alone_stands_for_equality() {
    let file: DialectFile = toml::from_str(
        r#"
name = "a"
summary = "b"
[send]
echo = "{payload}"
[[receive]]
means = "echo"
when = { "/s" = "x", "/i" = -3, "/b" = true, "/t" = { is = ["absent"], length = 2, none_of = [1] } }
"#,
    )
    .unwrap();
    let rule = &file.receive[0];
    assert_eq!(rule.means, Meaning::Echo);
    for (pointer, scalar) in [
        ("/s", Scalar::Text("x".to_owned())),
        ("/i", Scalar::Integer(-3)),
        ("/b", Scalar::Boolean(true)),
    ] {
        assert_eq!(rule.when[pointer], Condition::equals(scalar));
    }
    let tests = Condition {
        is: vec![JsonType::Absent],
        length: Some(2),
        none_of: vec![Scalar::Integer(1)],
        one_of: Vec::new(),
    };
    assert_eq!(rule.when["/t"], tests);
    assert!(file.keeps_order && file.open.receive.is_empty());
}
