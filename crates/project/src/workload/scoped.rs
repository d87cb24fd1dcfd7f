//! `--set` for every workload of a run, or for one of them by its name.

use crate::Refusal;
use plan_file::shown_key;
use std::path::Path;

/// A `--set`, and the workload that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedSet {
    workload: Option<String>,
    set: String,
}

impl ScopedSet {
    /// Reads `KEY=VALUE` or `WORKLOAD:KEY=VALUE`. No key has a colon.
    pub fn parse(text: &str) -> Self {
        let key = text.split('=').next().unwrap_or_default();
        match key.split_once(':') {
            Some((workload, _)) => Self {
                workload: Some(workload.to_owned()),
                set: text[workload.len() + 1..].to_owned(),
            },
            None => Self {
                workload: None,
                set: text.to_owned(),
            },
        }
    }

    /// What of these sets is for the workload that the user names so, in order.
    pub fn of_workload(sets: &[Self], named: &str) -> Vec<String> {
        let sets = sets.iter().filter(|set| {
            let wanted = set.workload.as_deref();
            wanted.is_none_or(|wanted| wanted == named || Some(wanted) == stem(named))
        });
        sets.map(|set| set.set.clone()).collect()
    }

    /// Refuses a set for a workload that is not one of these.
    ///
    /// # Errors
    /// When there is one.
    pub fn check(sets: &[Self], names: &[&str]) -> Result<(), Refusal> {
        let of_none = |wanted: &str| {
            let mut names = names.iter();
            !names.any(|named| wanted == *named || Some(wanted) == stem(named))
        };
        let wanted = sets.iter().filter_map(|set| {
            let wanted = set.workload.as_deref()?;
            of_none(wanted).then_some((wanted, &set.set))
        });
        match wanted.into_iter().next() {
            Some((wanted, set)) => Err(Refusal::new(format!(
                "--set {wanted}:{}: this run has no workload \"{wanted}\"; it has {}",
                shown_key(set),
                names.join(", ")
            ))),
            None => Ok(()),
        }
    }
}

fn stem(named: &str) -> Option<&str> {
    Path::new(named).file_stem()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_for_all_workloads_or_for_the_one_before_its_key() {
        let sets = [
            "load.rate=5",
            "chat:load.rate=7",
            "mine:message.padding=1",
            "limits.of=a:b",
        ];
        let sets = sets.map(ScopedSet::parse);
        assert_eq!(
            ScopedSet::of_workload(&sets, "ticker"),
            ["load.rate=5", "limits.of=a:b"]
        );
        assert_eq!(
            ScopedSet::of_workload(&sets, "chat"),
            ["load.rate=5", "load.rate=7", "limits.of=a:b"]
        );
        assert_eq!(ScopedSet::of_workload(&sets, "/x/mine.toml").len(), 3);
        assert!(ScopedSet::check(&sets, &["chat", "./mine.toml"]).is_ok());
        let refusal = ScopedSet::check(&sets, &["chat", "ticker"]).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "--set mine:message.padding: this run has no workload \"mine\"; it has chat, ticker"
        );
    }
}
