//! The rows of a run: which server, variant and dialect is measured when.
//!
//! Pure: from options and manifests to a list. Repetitions are interleaved, round after round over
//! all rows: a machine that becomes slower in the course of an hour slows every row alike.

use crate::exit::Refusal;
use crate::manifest::{DEFAULT_VARIANT, Dialect, Manifest, Problem, Variant, Workload, suggestion};
use crate::options::{RunOptions, VariantChoice};
use crate::project::Entry;
use crate::workload::Schedule;
use run_record::ServerIdentity;

/// One measurement that is to be made.
#[derive(Clone, Debug)]
pub struct Row {
    /// The server's folder.
    pub entry: Entry,
    /// The variant, or what is wrong with the manifest.
    pub subject: Result<Variant, Vec<Problem>>,
    /// Name of the workload.
    pub workload: String,
    /// The same as a part of a file's name.
    pub workload_file: String,
    /// Which request.
    pub request: Workload,
    /// In which message format.
    pub dialect: Dialect,
    /// Number of this repetition, from 1.
    pub repetition: u32,
}

/// The rows, and what the options leave out of the manifests, in words.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// In the order of measurement.
    pub rows: Vec<Row>,
    /// Number of servers that exist and are not measured.
    pub other_servers: usize,
    /// Variants that exist and are not measured.
    pub other_variants: Vec<String>,
    /// Variants that cannot do what is asked for.
    pub unsupported: Vec<String>,
}

impl Row {
    /// Name of the variant.
    pub fn variant(&self) -> &str {
        self.subject
            .as_ref()
            .map_or(DEFAULT_VARIANT, |variant| &variant.name)
    }

    /// Name of the measurement's file, without its extension.
    pub fn file_name(&self) -> String {
        format!(
            "{}.{}.{}.{}.{}",
            self.entry.name,
            self.variant(),
            self.workload_file,
            self.dialect.name(),
            self.repetition
        )
    }

    /// What is measured, for people.
    pub fn label(&self) -> String {
        let name = contestant(&self.entry.name, self.variant());
        format!("{name} {} {}", self.workload, self.dialect.name())
    }

    /// The clients of its steps.
    pub fn schedule(&self, options: &RunOptions) -> Schedule {
        let workload = &options.workload;
        workload.schedule(self.manifest().and_then(|manifest| manifest.step_size))
    }

    /// The manifest, when it could be read.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.entry.manifest.as_ref().ok()
    }

    /// The server that is measured, for records.
    pub fn identity(&self) -> ServerIdentity {
        let unknown = || "unknown".to_owned();
        let manifest = self.manifest();
        ServerIdentity {
            name: self.entry.name.clone(),
            variant: self.variant().to_owned(),
            variant_summary: self.subject.as_ref().ok().and_then(|v| v.summary.clone()),
            language: manifest.map_or_else(unknown, |m| m.language.clone()),
            library: manifest.map_or_else(unknown, |m| m.library.clone()),
            homepage: manifest.map_or_else(String::new, |m| m.homepage.clone()),
            class: manifest.map_or_else(unknown, |m| m.class.name().to_owned()),
            library_version: None,
        }
    }
}

/// The rows for these options.
///
/// # Errors
/// When a variant is named that no selected server has, or nothing is left to measure.
pub fn plan(entries: &[Entry], options: &RunOptions) -> Result<Rows, Refusal> {
    check_names(entries, &options.variants)?;
    let request = options.workload.request();
    let dialects: Vec<Dialect> = match options.workload.dialect() {
        Some(dialect) if options.dialects.is_empty() => vec![dialect],
        _ => options.dialects.clone(),
    };
    let mut planned = Rows::default();
    let mut round: Vec<Row> = Vec::new();
    for entry in entries {
        let row = |subject, dialect| Row {
            entry: entry.clone(),
            subject,
            workload: options.workload.name.clone(),
            workload_file: options.workload.file_name(),
            request: options.workload.request(),
            dialect,
            repetition: 1,
        };
        let manifest = match &entry.manifest {
            Ok(manifest) => manifest,
            Err(problems) => {
                let dialects = or_text(&dialects);
                round.extend(dialects.iter().map(|d| row(Err(problems.clone()), *d)));
                continue;
            }
        };
        for (number, variant) in manifest.variants.iter().enumerate() {
            let name = contestant(&entry.name, &variant.name);
            if !chosen(&options.variants, number, variant) {
                planned.other_variants.push(name);
                continue;
            }
            for dialect in asked(&dialects, variant) {
                if variant.dialects.contains(&dialect) && can(variant, request) {
                    round.push(row(Ok(variant.clone()), dialect));
                } else {
                    planned.unsupported.push(format!(
                        "{name} ({} {})",
                        request.name(),
                        dialect.name()
                    ));
                }
            }
        }
    }
    if round.is_empty() {
        return Err(Refusal::new(format!(
            "nothing to measure: no selected server can do {} in {}; see `shootout list`",
            request.name(),
            or_text(&dialects)
                .iter()
                .map(|d| d.name())
                .collect::<Vec<_>>()
                .join(", ")
        )));
    }
    planned.rows = (1..=options.repeat)
        .flat_map(|repetition| {
            round.iter().map(move |row| Row {
                repetition,
                ..row.clone()
            })
        })
        .collect();
    Ok(planned)
}

/// Whether a variant answers a request. Every server can hold connections.
fn can(variant: &Variant, request: Workload) -> bool {
    request == Workload::Connect || variant.workloads.contains(&request)
}

/// The formats that a variant is to be measured in.
fn asked(dialects: &[Dialect], variant: &Variant) -> Vec<Dialect> {
    if !dialects.is_empty() {
        return dialects.to_vec();
    }
    let text = variant.dialects.iter().find(|d| **d == Dialect::Text);
    text.or(variant.dialects.first())
        .copied()
        .into_iter()
        .collect()
}

fn or_text(dialects: &[Dialect]) -> &[Dialect] {
    if dialects.is_empty() {
        &[Dialect::Text]
    } else {
        dialects
    }
}

/// A server and its variant, for people; without the variant when it is the only one.
pub fn contestant(server: &str, variant: &str) -> String {
    if variant == DEFAULT_VARIANT {
        server.to_owned()
    } else {
        format!("{server} ({variant})")
    }
}

/// The same for some of a server's `of` variants; without names when they are all.
pub fn contestants(server: &str, variants: &[&str], of: usize) -> String {
    if variants.len() == of {
        server.to_owned()
    } else {
        format!("{server} ({})", variants.join(", "))
    }
}

/// Variants put together that are alike in something, in the order of their first.
pub fn alike<'v, T: PartialEq>(
    variants: impl IntoIterator<Item = (&'v str, T)>,
) -> Vec<(Vec<&'v str>, T)> {
    let mut groups: Vec<(Vec<&str>, T)> = Vec::new();
    for (name, value) in variants {
        match groups.iter_mut().find(|(_, other)| *other == value) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], value)),
        }
    }
    groups
}

/// A server and some of its variants.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The server's folder.
    pub entry: &'a Entry,
    /// Its manifest.
    pub manifest: &'a Manifest,
    /// Names of the variants.
    pub variants: Vec<String>,
}

impl<'a> Wanted<'a> {
    /// Every variant of the servers whose manifest can be read.
    pub fn all(entries: &'a [Entry]) -> Vec<Self> {
        entries
            .iter()
            .filter_map(|entry| {
                let manifest = entry.manifest.as_ref().ok()?;
                let variants = manifest.variants.iter().map(|v| v.name.clone()).collect();
                Some(Self {
                    entry,
                    manifest,
                    variants,
                })
            })
            .collect()
    }

    /// The variants that these rows measure.
    pub fn by(rows: &'a [Row]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for row in rows {
            let Some(manifest) = row.manifest() else {
                continue;
            };
            let known = all.iter_mut().find(|w| w.entry.name == row.entry.name);
            let name = row.variant().to_owned();
            match known {
                Some(wanted) if wanted.variants.contains(&name) => {}
                Some(wanted) => wanted.variants.push(name),
                None => all.push(Self {
                    entry: &row.entry,
                    manifest,
                    variants: vec![name],
                }),
            }
        }
        all
    }
}

fn chosen(choice: &VariantChoice, number: usize, variant: &Variant) -> bool {
    match choice {
        VariantChoice::All => true,
        VariantChoice::First => number == 0,
        VariantChoice::Named(names) => names.contains(&variant.name),
    }
}

fn check_names(entries: &[Entry], choice: &VariantChoice) -> Result<(), Refusal> {
    let VariantChoice::Named(names) = choice else {
        return Ok(());
    };
    let mut known: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry.manifest.as_ref().ok())
        .flat_map(|manifest| {
            manifest
                .variants
                .iter()
                .map(|variant| variant.name.as_str())
        })
        .collect();
    known.sort_unstable();
    known.dedup();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Refusal::new(format!(
            "no selected server has a variant \"{name}\"{}",
            suggestion(name, known)
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run_record::{Audience, Connect, Load};
    use std::path::Path;

    fn entry(name: &str, variants: &[&str]) -> Entry {
        let variants: String = variants
            .iter()
            .map(|variant| format!("[[variant]]\nname = \"{variant}\"\n"))
            .collect();
        let text = format!(
            "manifest = 1\nname = \"{name}\"\nlanguage = \"L\"\nlibrary = \"l\"\n\
             homepage = \"h\"\nclass = \"idiomatic\"\nsummary = \"s\"\n\
             [run]\ncommand = [\"x\"]\npath = \"/\"\n\
             [version]\ncommand = [\"x\"]\nmatches = '(.)'\n\
             [supports]\ndialects = [\"text\"]\nworkloads = [\"broadcast\"]\n{variants}"
        );
        Entry {
            name: name.into(),
            dir: "/x".into(),
            manifest: Manifest::parse(&text, Path::new("server.toml"), name),
        }
    }

    fn names(rows: &Rows) -> Vec<String> {
        rows.rows.iter().map(Row::file_name).collect()
    }

    #[test]
    fn repetitions_are_interleaved() {
        let options = RunOptions {
            repeat: 2,
            ..RunOptions::default()
        };
        let entries = [entry("go-example", &["a", "b"]), entry("js-example", &[])];
        assert_eq!(
            names(&plan(&entries, &options).unwrap()),
            [
                "go-example.a.broadcast.text.1",
                "go-example.b.broadcast.text.1",
                "js-example.default.broadcast.text.1",
                "go-example.a.broadcast.text.2",
                "go-example.b.broadcast.text.2",
                "js-example.default.broadcast.text.2",
            ]
        );
    }

    #[test]
    fn what_is_left_out_is_named() {
        let options = RunOptions {
            dialects: vec![Dialect::Text, Dialect::Binary],
            variants: VariantChoice::First,
            ..RunOptions::default()
        };
        let planned = plan(&[entry("go-example", &["a", "b"])], &options).unwrap();
        assert_eq!(names(&planned), ["go-example.a.broadcast.text.1"]);
        assert_eq!(planned.other_variants, ["go-example (b)"]);
        assert_eq!(planned.unsupported, ["go-example (a) (broadcast binary)"]);
    }

    #[test]
    fn who_speaks_no_text_is_measured_in_what_it_speaks() {
        let mut odd = entry("ruby-example", &["a"]);
        if let Ok(manifest) = &mut odd.manifest {
            manifest.variants[0].dialects = vec![Dialect::ActionCable];
        }
        let entries = [entry("go-example", &["a"]), odd];
        let plan = |dialects| {
            let options = RunOptions {
                dialects,
                ..RunOptions::default()
            };
            plan(&entries, &options).unwrap()
        };
        assert_eq!(
            names(&plan(Vec::new())),
            [
                "go-example.a.broadcast.text.1",
                "ruby-example.a.broadcast.actioncable.1"
            ]
        );
        let text = plan(vec![Dialect::Text]);
        assert_eq!(names(&text), ["go-example.a.broadcast.text.1"]);
        assert_eq!(text.unsupported, ["ruby-example (a) (broadcast text)"]);
    }

    #[test]
    fn a_broken_manifest_is_a_row() {
        let broken = Entry {
            manifest: Manifest::parse("manifest = 1", Path::new("server.toml"), "go-broken"),
            ..entry("go-broken", &[])
        };
        let planned = plan(&[broken], &RunOptions::default()).unwrap();
        assert!(planned.rows[0].subject.is_err());
        assert_eq!(planned.rows[0].identity().language, "unknown");
    }

    #[test]
    fn unknown_variants_and_empty_plans_are_refused() {
        let entries = [entry("go-example", &["clustered"])];
        let named = |name: &str| RunOptions {
            variants: VariantChoice::Named(vec![name.into()]),
            ..RunOptions::default()
        };
        let error = plan(&entries, &named("cluster")).unwrap_err().to_string();
        assert!(error.contains("did you mean \"clustered\"?"), "{error}");
        let mut echo = RunOptions::default();
        echo.workload.plan.audience = Audience::Sender;
        assert!(
            plan(&entries, &echo)
                .unwrap_err()
                .to_string()
                .contains("nothing to measure")
        );
    }
    #[test]
    fn a_workload_gives_its_rows_name_and_dialect_and_decides_who_can() {
        let entries = [entry("go-example", &["a"])];
        let mut options = RunOptions::default();
        options.workload.name = "a/b c".into();
        options.workload.plan.load = Load::Connect(Connect::default());
        options.workload.plan.audience = Audience::Sender;
        let planned = plan(&entries, &options).unwrap();
        assert_eq!(names(&planned), ["go-example.a.a-b-c.text.1"]);
        assert_eq!(planned.rows[0].label(), "go-example (a) a/b c text");

        options.workload.plan.message.dialect = run_record::Dialect::Binary;
        options.workload.fixed.insert("message.dialect".into());
        let error = plan(&entries, &options).unwrap_err().to_string();
        assert!(error.contains("can do connect in binary"), "{error}");
        options.dialects = vec![Dialect::Text];
        assert_eq!(plan(&entries, &options).unwrap().rows.len(), 1);
    }
}
