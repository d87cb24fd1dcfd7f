use super::*;
use crate::report::fixture::{measured, repeated, unmeasured, waived};
use crate::report::fixture_under::{plans, under};
use plan::{Dialect, Workload};
use record::{
    Ceiling, Certificate, End, Json, Measurement, RunRecord, SELFTEST_FORMAT, Status, VERSION,
};
use std::fs;

/// A project of these servers, each with more lines of its manifest.
fn project(dir: &Path, servers: &[(&str, &str)]) -> Project {
    fs::create_dir_all(dir.join("servers")).unwrap();
    fs::create_dir_all(dir.join("workloads")).unwrap();
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
    for name in ["broadcast.toml", "ticker.toml"] {
        fs::copy(plans.join(name), dir.join("workloads").join(name)).unwrap();
    }
    for (name, more) in servers {
        let folder = dir.join("servers").join(name);
        fs::create_dir_all(&folder).unwrap();
        let text = format!(
            "manifest = 1\nname = \"{name}\"\nlanguage = \"Any\"\nlibrary = \"lib\"\n\
             homepage = \"https://example.org\"\nclass = \"idiomatic\"\nsummary = \"How.\"\njson = \"tree\"\n{more}\n\
             [run]\ncommand = [\"x\", \"{{port}}\"]\npath = \"/ws\"\n[version]\ncommand = [\"x\"]\n\
             matches = '(x)'\n[supports]\ndialects = [\"text\"]\nworkloads = [\"echo\", \"broadcast\"]\n"
        );
        fs::write(folder.join("server.toml"), text).unwrap();
    }
    Project::find(Some(dir)).unwrap()
}

pub(super) fn save(results: &Path, round: &str, day: &str, all: &[Measurement]) {
    let dir = results.join(round);
    fs::create_dir_all(&dir).unwrap();
    for (number, one) in all.iter().enumerate() {
        let one = Measurement {
            started: format!("{day}T00:00:00Z"),
            ..one.clone()
        };
        fs::write(dir.join(format!("{number}.json")), one.to_json().unwrap()).unwrap();
    }
}

/// Scratch, the site's folder, and what was said of it.
pub(super) struct Site {
    dir: tempfile::TempDir,
    pub(super) summary: SiteSummary,
}

impl Site {
    pub(super) fn new(servers: &[(&str, &str)], fill: impl Fn(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = project(&dir.path().join("project"), servers);
        let results = dir.path().join("results");
        fs::create_dir_all(&results).unwrap();
        fill(&results);
        let sources = Sources {
            project: &project,
            results: &results,
        };
        let summary = write(&sources, &dir.path().join("site")).unwrap();
        Self { dir, summary }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.dir.path().join("site").join(name).exists()
    }

    pub(super) fn page(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join("site").join(name)).unwrap()
    }
}

pub(super) fn carrying(name: &str, steps: u64) -> Measurement {
    measured(name, steps, 9_000, End::OverLimit)
}

/// A certificate of the machine of a run, without parts: of broadcasts the generator carried this much.
pub(super) fn certificate(run: &RunRecord) -> Certificate {
    Certificate {
        format: SELFTEST_FORMAT.to_owned(),
        version: VERSION,
        tool: run.tool.clone(),
        started: run.started.clone(),
        ended: run.ended.clone(),
        command: Vec::new(),
        short: false,
        seed: 1,
        timestamps: run.plan.generator.timestamps,
        io: run.plan.generator.io,
        environment: run.environment.clone(),
        parts: Vec::new(),
        not_made: Vec::new(),
        ceilings: vec![Ceiling {
            workload: Workload::Broadcast,
            dialect: Dialect::Text,
            clients: 500,
            payload_padding: 200,
            threads: 1,
            messages_per_second: 941_434.4,
            cpu_ns_per_message: 948.2,
            busiest_thread: 0.9,
        }],
    }
}

/// The text of a row of a table.
pub(super) fn row<'p>(page: &'p str, key: &str) -> &'p str {
    let (_, rest) = page
        .split_once(&format!("<tr data-key=\"{key}/default\""))
        .unwrap();
    rest.split("</tr>").next().unwrap()
}

#[test]
fn without_a_round_there_is_a_site_that_says_so_and_how_to_measure_one() {
    let site = Site::new(&[("alpha", "")], |_| {});
    let front = site.page("index.html");
    assert!(front.contains("No round has been published yet"), "{front}");
    assert!(front.contains("for w in workloads/*.toml; do"), "{front}");
    assert!(front.contains("./shootout run --workload"), "{front}");
    assert!(
        site.page("workloads/ticker.html")
            .contains("./shootout run --workload ticker")
    );
    assert!(
        site.page("servers/alpha.html")
            .contains("No round has been published yet.")
    );
    assert_eq!((site.summary.rounds, site.summary.pages), (0, 8 + 1 + 2));
}

#[test]
fn a_row_that_is_alone_has_no_column_of_places() {
    let site = Site::new(&[("alpha", ""), ("beta", "")], |results| {
        let mut alone = carrying("beta", 5);
        alone.dialect = Dialect::Binary;
        let all = [carrying("alpha", 5), carrying("beta", 3), alone];
        save(results, "2026-01", "2026-01-02", &all);
    });
    let places = site.page("places.html");
    assert!(places.contains(">broadcast</th>"), "{places}");
    assert!(!places.contains("(binary)"), "{places}");
    assert!(!site.page("index.html").contains("alone or shared"));
}

#[test]
fn each_ranking_has_its_figures_their_interval_and_the_command() {
    let site = Site::new(&[("alpha", ""), ("beta", "")], |results| {
        let each =
            |repetition| repeated(carrying("alpha", 5 + u64::from(repetition) % 2), repetition);
        let mut all: Vec<Measurement> = (1..=4).map(each).collect();
        all.push(carrying("beta", 3));
        save(results, "2026-01", "2026-01-02", &all);
    });
    let page = site.page("workloads/broadcast.html");
    let alpha = row(&page, "alpha");
    assert!(alpha.contains("data-value=\"4000\">4,000<"), "{alpha}");
    assert!(
        alpha.contains("4,000 to 5,000, range of 4 repetitions"),
        "{alpha}"
    );
    assert!(
        row(&page, "beta").contains("one repetition: no interval"),
        "{page}"
    );
    let command = "./shootout run --workload broadcast --servers alpha,beta --variants default --dialects \
                   text --repeat 4 --server-cpus 0 --generator-cpus 1";
    assert!(page.contains(command), "{page}");
    assert!(
        page.contains(&command.replace("alpha,beta", "alpha")),
        "{page}"
    );
}

#[test]
fn a_row_without_a_result_has_its_status_and_its_reason() {
    let site = Site::new(&[], |results| {
        let broken = unmeasured("broken", Status::BuildFailed, "no <compiler>");
        save(
            results,
            "one",
            "2026-01-02",
            &[carrying("alpha", 3), broken],
        );
    });
    let page = site.page("workloads/broadcast.html");
    assert!(row(&page, "broken").contains("build-failed"), "{page}");
    assert!(
        page.contains("no &#60;compiler&#62;") && !page.contains("<compiler>"),
        "{page}"
    );
    assert!(
        site.page("servers/broken.html")
            .contains("build-failed: no &#60;compiler&#62;")
    );
}

/// A variant that compresses speaks another format than all that have the workload.
#[test]
fn a_format_in_which_no_row_applies_has_no_ranking() {
    let site = Site::new(&[("a", ""), ("b", "")], |results| {
        let mut other = unmeasured("b", Status::NotApplicable, "its manifest declares no TLS");
        other.dialect = plan::Dialect::SocketIo;
        save(results, "2026-11", "2026-11-01", &[carrying("a", 3), other]);
    });
    let page = site.page("workloads/broadcast.html");
    assert!(page.contains(" over JSON"), "{page}");
    assert!(!page.contains(" over Socket.IO"), "{page}");
}

#[test]
fn figures_of_two_kernels_are_in_two_rankings_and_two_histories() {
    let other = |mut one: Measurement| {
        one.run.as_mut().unwrap().environment.kernel = "Linux 1.1.1-other".into();
        one
    };
    let site = Site::new(&[], |results| {
        save(
            results,
            "new",
            "2026-03-01",
            &[
                carrying("alpha", 5),
                carrying("beta", 4),
                other(carrying("gamma", 9)),
            ],
        );
        save(results, "old", "2026-02-01", &[carrying("alpha", 4)]);
        save(
            results,
            "older",
            "2026-01-01",
            &[other(carrying("alpha", 9))],
        );
    });
    assert_eq!(site.summary.rounds, 3);
    let page = site.page("workloads/broadcast.html");
    let (first, second) = page.split_once("id=\"r1\"").unwrap();
    assert!(first.contains("alpha/default") && !first.contains("gamma/default"));
    assert!(second.contains("gamma/default") && !second.contains("alpha/default"));
    // gamma carried most, and is first on its own machine alone.
    assert!(row(&page, "alpha").starts_with(" data-name=\"alpha\""));
    assert_eq!(page.matches("data-value=\"1\">1<").count(), 2, "{page}");
    let alpha = site.page("servers/alpha.html");
    let histories: Vec<&str> = alpha.split("History: ").skip(1).collect();
    assert_eq!(histories.len(), 2, "{alpha}");
    let rounds = |history: &str| -> Vec<bool> {
        ["new", "old", "older"]
            .map(|round| history.contains(&format!(">{round}</th>")))
            .to_vec()
    };
    assert_eq!(rounds(histories[0]), [true, true, false]);
    assert_eq!(rounds(histories[1]), [false, false, true]);
}

#[test]
fn runs_of_a_round_have_rankings_of_their_own_that_name_them() {
    let site = Site::new(&[], |results| {
        let first = [carrying("alpha", 5), carrying("beta", 3)];
        save(results, "2026-01/first", "2026-01-02", &first);
        let second = [carrying("alpha", 3), carrying("beta", 5)];
        save(results, "2026-01/second", "2026-01-03", &second);
        fs::create_dir_all(results.join("2026-01/notes")).unwrap();
        let about = "label = \"reproduced-by-another\"\nnote = \"In a cellar.\"\n";
        fs::write(results.join("2026-01/round.toml"), about).unwrap();
    });
    assert_eq!(site.summary.rounds, 1);
    let page = site.page("workloads/broadcast.html");
    let (one, two) = page.split_once("id=\"r1\"").unwrap();
    assert!(
        one.contains("2 rows, all of first, begun on 2026-01-02"),
        "{one}"
    );
    assert!(
        two.contains("2 rows, all of second, begun on 2026-01-03"),
        "{two}"
    );
    assert!(row(one, "alpha").contains("data-value=\"1\">1<"), "{one}");
    assert!(row(two, "beta").contains("data-value=\"1\">1<"), "{two}");
    let front = site.page("index.html");
    assert!(front.contains("Round 2026-01, begun 2026-01-02"), "{front}");
    assert!(
        front.contains("reproduced by another than its author."),
        "{front}"
    );
    assert!(front.contains("<p>In a cellar.</p>"), "{front}");
    let places = site.page("places.html");
    for head in ["broadcast, first", "broadcast, second"] {
        assert!(places.contains(&format!(">{head}</th>")), "{head}");
    }
}

/// The history that the page of alpha has of rounds of four repetitions, the last of which carried so
/// many steps.
fn history_of(last: u64) -> String {
    let site = Site::new(&[], |results| {
        for (round, steps) in [("one", 4), ("two", 4), ("three", last)] {
            let day = match round {
                "one" => "2026-01-01",
                "two" => "2026-02-01",
                _ => "2026-03-01",
            };
            let all: Vec<Measurement> = (1..=4)
                .map(|n| repeated(carrying("alpha", steps + u64::from(n == 4)), n))
                .collect();
            save(results, round, day, &all);
        }
    });
    let page = site.page("servers/alpha.html");
    page.split_once("<h3>broadcast over JSON, alpha</h3>")
        .unwrap()
        .1
        .to_owned()
}

#[test]
fn a_change_over_the_rounds_is_named_where_the_repetitions_show_one() {
    let changed = history_of(9);
    let words = "The figures change between round two and round three";
    assert!(changed.contains(words), "{changed}");
    let same = history_of(4);
    assert!(
        same.contains("No change is shown over these 3 rounds"),
        "{same}"
    );
}

#[test]
fn a_ceiling_has_no_place_and_every_figure_is_held_against_it() {
    let site = Site::new(&[("bare", "role = \"ceiling\"")], |results| {
        save(
            results,
            "one",
            "2026-01-02",
            &[
                carrying("bare", 9),
                carrying("alpha", 5),
                carrying("beta", 3),
            ],
        );
    });
    let page = site.page("workloads/broadcast.html");
    assert!(page.contains(">of bare<"), "{page}");
    assert!(
        row(&page, "alpha").contains(">50 %<") && row(&page, "beta").contains(">25 %<"),
        "{page}"
    );
    assert!(
        row(&page, "alpha").contains("data-value=\"1\">1<"),
        "{page}"
    );
    assert!(row(&page, "bare").contains(">ceiling<"), "{page}");
    // The ceiling may be higher, or the row: what is said of the share is what is known.
    let limited = |name: &str, steps: u64| {
        let mut one = measured(name, steps, 9_000, End::GeneratorLimited);
        one.status = Status::GeneratorLimited;
        one
    };
    for (bare, alpha, share) in [
        (limited("bare", 8), carrying("alpha", 5), ">≤ 50 %<"),
        (carrying("bare", 9), limited("alpha", 4), ">≥ 50 %<"),
        (limited("bare", 8), limited("alpha", 4), ">–<"),
    ] {
        let site = Site::new(&[("bare", "role = \"ceiling\"")], |results| {
            save(results, "one", "2026-01-02", &[bare.clone(), alpha.clone()]);
        });
        let page = site.page("workloads/broadcast.html");
        assert!(row(&page, "alpha").contains(share), "{share}: {page}");
    }
    let ticker = plans()
        .into_iter()
        .find(|plan| plan.name.as_deref() == Some("ticker"))
        .unwrap();
    let site = Site::new(&[("bare", "role = \"ceiling\"")], |results| {
        save(
            results,
            "one",
            "2026-01-02",
            &[
                under(&ticker, "bare", 2_000),
                under(&ticker, "alpha", 4_000),
            ],
        );
    });
    let page = site.page("workloads/ticker.html");
    assert!(row(&page, "alpha").contains("×<"), "less is better: {page}");
    let mut given_up = under(&ticker, "alpha", 4_000_000);
    given_up.status = Status::Timeout;
    let site = Site::new(&[("bare", "role = \"ceiling\"")], |results| {
        let bare = under(&ticker, "bare", 2_000);
        save(results, "one", "2026-01-02", &[bare, given_up.clone()]);
    });
    let page = site.page("workloads/ticker.html");
    assert!(!row(&page, "alpha").contains("×<"), "{page}");
}

#[test]
fn a_ranking_says_what_the_generator_carried_at_most_on_its_machine() {
    let rate = "941,434 deliveries of broadcasts a second with one thread";
    for (kernel, is_told) in [(None, true), (Some("Linux 1.1.1-other"), false)] {
        let site = Site::new(&[], |results| {
            let all = [carrying("alpha", 5)];
            save(results, "one", "2026-01-02", &all);
            let mut certificate = certificate(all[0].run.as_ref().unwrap());
            if let Some(kernel) = kernel {
                certificate.environment.kernel = kernel.to_owned();
            }
            let text = certificate.to_json().unwrap();
            fs::write(results.join("one/selftest.json"), text).unwrap();
        });
        assert!(
            site.summary.warnings.is_empty(),
            "{:?}",
            site.summary.warnings
        );
        let page = site.page("workloads/broadcast.html");
        assert_eq!(page.contains(rate), is_told, "{page}");
    }
}

#[test]
fn what_a_record_says_never_becomes_markup_or_a_way_out() {
    let attack = "<script>alert(1)</script>\"'|`*";
    let site = Site::new(&[], |results| {
        let mut odd = waived(carrying("odd", 3), attack, attack);
        odd.server.name = format!("../../{attack}");
        odd.server.variant = attack.into();
        odd.server.language = attack.into();
        odd.server.homepage = "javascript:alert(1)".into();
        odd.workload_name = Some(attack.into());
        odd.run.as_mut().unwrap().environment.kernel = attack.into();
        let check = odd.conformance.as_mut().unwrap().checks.last_mut().unwrap();
        check.link = Some("javascript:alert(1)".into());
        save(results, "one", "2026-01-02", &[odd]);
    });
    let folder = site.dir.path().join("site");
    for part in ["", "servers", "workloads"] {
        for file in fs::read_dir(folder.join(part)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|ending| ending != "html") {
                continue;
            }
            let html = fs::read_to_string(&path).unwrap();
            assert_eq!(html.matches("<script").count(), 1, "{}", path.display());
            assert!(!html.contains("\"javascript:"), "{}", path.display());
        }
    }
    assert_eq!(fs::read_dir(folder.join("servers")).unwrap().count(), 1);
}

#[test]
fn broken_records_are_named_and_harm_nothing() {
    let site = Site::new(&[], |results| {
        save(results, "one", "2026-01-02", &[carrying("alpha", 3)]);
        fs::write(
            results.join("one/torn.json"),
            "{\"format\":\"websocket-shootout/measurement\",",
        )
        .unwrap();
        fs::create_dir(results.join("two")).unwrap();
        fs::write(
            results.join("two/torn.json"),
            "{\"format\":\"websocket-shootout/measurement\",",
        )
        .unwrap();
        fs::create_dir(results.join("notes")).unwrap();
    });
    assert_eq!(site.summary.rounds, 1);
    let told = site.summary.warnings.join("\n");
    assert!(
        told.contains("one/torn.json") && told.contains("two/torn.json"),
        "{told}"
    );
    assert!(!told.contains("notes"), "{told}");
    assert!(site.page("index.html").contains("torn.json"));
}

#[test]
fn local_runs_have_a_board_of_their_own_and_change_nothing_of_the_published_one() {
    let servers = [("go-a", ""), ("rust-b", "")];
    let published = |results: &Path| {
        save(
            results,
            "2026-10",
            "2026-10-01",
            &[carrying("go-a", 4), carrying("rust-b", 3)],
        );
    };
    let before = Site::new(&servers, published);
    let after = Site::new(&servers, |results| {
        published(results);
        save(
            &results.join("local"),
            "a",
            "2026-11-02",
            &[carrying("rust-b", 5)],
        );
        save(
            &results.join("local"),
            "b",
            "2026-11-03",
            &[carrying("rust-b", 6)],
        );
    });
    for page in [
        "servers/go-a.html",
        "servers/rust-b.html",
        "workloads/broadcast.html",
    ] {
        assert_eq!(before.page(page), after.page(page), "{page}");
    }
    let link = "<p><a href=\"local/index.html\">The runs of this checkout, which are not published</a></p>\n";
    let front = after.page("index.html");
    assert_eq!(front.matches(link).count(), 1, "{front}");
    assert_eq!(front.replace(link, "\n"), before.page("index.html"));
    let own = after.page("local/index.html");
    assert!(own.contains("Round local"), "{own}");
    assert!(
        own.contains("href=\"../index.html\">The published round, 2026-10</a>"),
        "{own}"
    );
    assert!(!row(&after.page("local/index.html"), "rust-b").contains("go-a"));
    assert!(after.page("local/servers/rust-b.html").contains("2026-10"));
}

#[test]
fn local_runs_are_the_board_where_nothing_is_published() {
    let site = Site::new(&[("go-a", "")], |results| {
        save(
            &results.join("local"),
            "a",
            "2026-11-02",
            &[carrying("go-a", 5)],
        );
    });
    assert!(site.page("index.html").contains("Round local"));
    assert_eq!(site.summary.rounds, 1);
}
