//! Of the plan that a row gets, and of what the user may say of it.

use super::{NamedPlan, Schedule, Terms, list, plan_file, read_named};
use crate::manifest::Dialect;
use plan::{Clients, Load, Plan};
use plan_file::PlanFile;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads")
}

fn named(name: &str, sets: &[&str]) -> Result<NamedPlan, String> {
    let sets = sets.iter().map(|set| (*set).to_owned()).collect();
    read_named(&folder(), name, sets).map_err(|refusal| refusal.to_string())
}

/// Clients of the first step, those that each adds, and steps.
fn steps(plan: &NamedPlan, own: Option<u32>, capacity: u64) -> (u32, u32, Option<u32>) {
    let schedule = plan.schedule(own).within(capacity);
    (
        schedule.initial_clients,
        schedule.step_size,
        schedule.total_steps,
    )
}

const ADDRESS: [IpAddr; 1] = [IpAddr::V4(Ipv4Addr::LOCALHOST)];

fn row(plan: &NamedPlan, repetition: u32) -> (Plan, plan_file::Given) {
    plan.of_row(&Terms {
        schedule: plan.schedule(None).within(20_000),
        dialect: Dialect::Binary,
        repetition,
        local_addrs: &ADDRESS,
        threads: 3,
        authority: None,
        nodes: &[],
    })
}

#[test]
fn the_default_has_the_parameters_of_2016() {
    let plan = named(super::USUAL, &[]).unwrap();
    assert_eq!(plan.plan.load, Load::closed(4, 100));
    assert_eq!(plan.plan.message.padding, 200);
    assert_eq!(steps(&plan, None, 20_000), (1000, 1000, Some(20)));
    assert_eq!(steps(&plan.quick(), None, 20_000), (1000, 1000, Some(5)));
}

#[test]
fn a_manifest_bounds_steps_that_go_up_to_a_limit_and_that_the_user_has_not_set() {
    for (name, sets, expected) in [
        ("broadcast", &[][..], (100, 100, Some(200))),
        ("broadcast", &["clients.add=500"], (100, 500, Some(40))),
        ("broadcast", &["clients.first=50"], (50, 100, Some(200))),
        ("broadcast", &["clients.count=2"], (100, 100, Some(2))),
        (
            "broadcast",
            &["clients.steps={ first = 300, add = 300 }"],
            (300, 300, Some(66)),
        ),
        ("large", &[], (10, 10, Some(2000))),
        ("ticker", &[], (500, 100, Some(1))),
        ("ticker", &["clients.count=3"], (500, 100, Some(3))),
        ("connect", &[], (10_000, 100, Some(1))),
        ("capacity", &[], (100, 0, None)),
    ] {
        let plan = named(name, sets).unwrap();
        assert_eq!(steps(&plan, Some(100), 20_000), expected, "{name} {sets:?}");
    }
}

#[test]
fn the_machine_bounds_what_the_user_has_set() {
    let plan = named("broadcast", &["clients.count=50"]).unwrap();
    assert_eq!(plan.schedule(None).within(19_744).total_steps, Some(19));
    assert_eq!(plan.schedule(None).within(1000).total_steps, Some(1));
    assert!(plan.schedule(None).within(999).is_empty());
    let level = named("broadcast", &["clients.add=0"]).unwrap();
    assert_eq!(level.schedule(None).within(5000).total_steps, None);
    assert!(level.schedule(None).within(10).is_empty());
    let search = named("capacity", &[]).unwrap();
    assert!(search.schedule(None).within(99).is_empty());
    assert_eq!(search.schedule(None).within(100).last_clients(), 100);
}

#[test]
fn a_short_look_shortens_only_what_has_no_number_of_steps() {
    for (name, sets, count, shortened) in [
        ("broadcast", &[][..], Some(5), true),
        ("broadcast", &["clients.count=7"], Some(7), false),
        ("ticker", &[], Some(1), false),
        ("capacity", &[], None, false),
    ] {
        let plan = named(name, sets).unwrap().quick();
        assert_eq!(plan.plan.steps(), count, "{name}");
        assert_eq!(plan.is_shortened(), shortened, "{name}");
    }
}

#[test]
fn a_row_has_what_machine_and_repetition_bring_unless_it_is_given() {
    let plan = named("broadcast", &[]).unwrap();
    let (first, given) = row(&plan, 1);
    assert_eq!(first.name.as_deref(), Some("broadcast"));
    assert_eq!(first.target.local_addrs, ADDRESS);
    assert_eq!(
        (given.threads, given.io, given.seed),
        (Some(3), None, Some(1))
    );
    assert_eq!(first.message.dialect, plan::Dialect::Binary);
    assert_eq!(row(&plan, 2).1.seed, Some(2));

    let sets = [
        "generator.threads=1",
        "generator.seed=9223372036854775807",
        "generator.io=epoll",
        "target.local_addrs=[]",
    ];
    let plan = named("broadcast", &sets).unwrap();
    let (fixed, given) = row(&plan, 1);
    assert_eq!(given.threads, Some(1));
    assert_eq!(given.io, Some(plan::Io::Epoll));
    assert!(fixed.target.local_addrs.is_empty());
    assert_eq!(row(&plan, 2).1.seed, Some(0));
}

#[test]
fn the_file_of_a_row_is_its_plan() {
    for one in list(&folder()).unwrap() {
        let (plan, given) = row(&named(&one.name, &[]).unwrap(), 1);
        let text = plan_file(&(plan.clone(), given)).unwrap();
        let file = PlanFile::parse("row", text, "").unwrap();
        assert_eq!(file.plan().unwrap(), plan, "{}", one.name);
        assert!(!file.has("target.url") || plan.target.url.is_empty());
    }
}

#[test]
fn every_workload_is_listed_with_its_request_and_reason() {
    let all = list(&folder()).unwrap();
    let about = |name: &str| {
        let one = all.iter().find(|one| one.name == name);
        one.and_then(|one| one.about.clone().ok()).unwrap()
    };
    assert_eq!(about("echo").0, "echo");
    assert_eq!(about("ticker").0, "broadcast");
    assert_eq!(about("connect").0, "connect");
    assert!(about("ticker").1.starts_with("Prices"));
    assert_eq!(list(Path::new("/nowhere")).unwrap(), []);
}

#[test]
fn a_file_of_the_users_own_has_its_name_or_that_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my chat.toml");
    let source = path.to_str().unwrap();
    std::fs::write(&path, "[clients.steps]\nfirst = 3\n").unwrap();
    let plan = named(source, &[]).unwrap();
    assert_eq!(
        (plan.name.as_str(), plan.file_name()),
        ("my chat", "my-chat".into())
    );
    assert_eq!(plan.plan.name.as_deref(), Some("my chat"));
    let text = "name = \"Ünser\"\n[target]\nurl = \"ws://h/\"\n[message]\ndialect = \"binary\"\n";
    std::fs::write(&path, text).unwrap();
    let plan = named(source, &[]).unwrap();
    assert_eq!(
        (plan.name.as_str(), plan.file_name()),
        ("Ünser", "-nser".into())
    );
    assert_eq!(plan.dialect(), Some(Dialect::Binary));
    assert_eq!(plan.plan.target.url, "");
    let plan = named(source, &["clients.search.first=9"]).unwrap();
    assert!(matches!(plan.plan.clients, Clients::Search(_)));
}

#[test]
fn what_cannot_be_run_is_refused_with_the_key() {
    for (name, sets, words) in [
        (
            "tickr",
            &[][..],
            "no workload \"tickr\"; did you mean \"ticker\"?",
        ),
        (
            "tickr",
            &[],
            "; a file of your own is named by its path, like ./mine.toml",
        ),
        ("./none.toml", &[], "cannot read the plan"),
        ("../broadcast", &[], "cannot read the plan"),
        (
            "ticker",
            &["load.rat=3"],
            "--set load.rat=3: unknown key `load.open.rat`",
        ),
        ("ticker", &["load.rate=0"], "ticker.toml, line"),
        ("ticker", &["load"], "--set load: expected KEY=VALUE"),
        ("ticker", &["target.url=ws://h/"], "an address of its own"),
        ("ticker", &["name=x"], "name a file of your own"),
        (
            "ticker",
            &["connection={headers=[\"Authorization: Bearer Kx82nvQ0\"]}"],
            "has a secret",
        ),
        (
            "ticker",
            &["target.proxy=http:u:Kx82nvQ0@h:1"],
            "has a secret",
        ),
    ] {
        let refusal = named(name, sets).unwrap_err();
        assert!(refusal.contains(words), "{name} {sets:?}: {refusal}");
    }
}

#[test]
fn a_schedule_that_is_not_bounded_has_the_clients_of_its_first_step() {
    let schedule = Schedule {
        initial_clients: 7,
        step_size: 0,
        total_steps: None,
    };
    assert_eq!(schedule.last_clients(), 7);
    assert_eq!(schedule.within(u64::MAX), schedule);
}

#[test]
fn a_plan_of_the_folder_has_the_name_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "name = \"auction\"\nreason = \"Why.\"\n").unwrap();
    let words = "mine.toml has the name \"auction\"";
    let listed = super::list(folder.path()).unwrap();
    let problem = listed[0].about.as_ref().unwrap_err();
    assert!(problem.contains(words), "{problem}");
    let refused = super::read_named(folder.path(), "mine", Vec::new()).unwrap_err();
    assert!(refused.to_string().contains(words), "{refused}");
    let own = file.display().to_string();
    let own = super::read_named(folder.path(), &own, Vec::new()).unwrap();
    assert_eq!(own.name, "auction");
}
