//! Whether the library kept what its documentation promises.

use super::Failover;
use record::Claim;

/// What became of a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Nothing speaks against it.
    Kept,
    /// What speaks against it, in words.
    Broken(String),
    /// Why it cannot be told, in words.
    Untold(&'static str),
}

impl Promise {
    /// That of all repetitions together: one that breaks it decides.
    pub(crate) fn new(claim: Claim, repetitions: &[Failover<'_>]) -> Self {
        let sum =
            |of: fn(&Failover<'_>) -> u64| repetitions.iter().map(of).fold(0, u64::saturating_add);
        let silent = sum(|one| one.counted().lost_silent);
        let counts = match claim {
            Claim::AtMostOnce => vec![
                (sum(|one| one.watched.duplicate), "duplicate", "duplicates"),
                (sum(|one| one.watched.repeated), "repeat", "repeats"),
            ],
            _ if repetitions.iter().any(|one| one.watched.has_no_results) => {
                return Self::Untold("no message is confirmed in this dialect");
            }
            Claim::AtLeastOnce => vec![(silent, "message lost silently", "messages lost silently")],
            Claim::Resumes => {
                // Which client a message was lost to is not in the record.
                if silent == 0 && repetitions.iter().any(|one| one.missing() > 0) {
                    return Self::Untold("not every client came back");
                }
                vec![
                    (silent, "message lost silently", "messages lost silently"),
                    (
                        sum(|one| one.counted().lost_cut),
                        "on a cut connection",
                        "on a cut connection",
                    ),
                    (
                        sum(|one| one.counted().lost_away),
                        "while the client was away",
                        "while clients were away",
                    ),
                ]
            }
        };
        let broken = counts.into_iter().filter(|(count, ..)| *count > 0);
        let broken: Vec<String> = broken
            .map(|(count, one, many)| {
                let word = if count == 1 { one } else { many };
                format!("{} {word}", run_page::figures::count(count))
            })
            .collect();
        match broken.is_empty() {
            true => Self::Kept,
            false => Self::Broken(broken.join(", ")),
        }
    }

    /// In words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Kept => "keeps its claim".to_owned(),
            Self::Broken(what) => format!("breaks it: {what}"),
            Self::Untold(why) => format!("cannot be told: {why}"),
        }
    }
}
