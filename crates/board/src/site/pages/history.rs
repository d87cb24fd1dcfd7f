//! The history of a server's rows over the rounds, as its page shows it.

use crate::site::history::{self, Like, Point};

/// Figures of one row that may stand beside each other.
pub(super) struct History {
    pub(super) title: String,
    pub(super) machine: String,
    /// Whether they differ, in a sentence.
    pub(super) change: String,
    pub(super) points: Vec<Shown>,
}

/// One of them.
pub(super) struct Shown {
    pub(super) round: String,
    pub(super) day: String,
    pub(super) version: String,
    pub(super) place: String,
    pub(super) figure: String,
    pub(super) bar: Option<u32>,
    pub(super) interval: String,
    pub(super) status: &'static str,
}

/// The figures of rows that more than one round has, those that may stand beside each other together.
pub(super) fn histories(points: &[Point], name: &str) -> Vec<History> {
    let mut groups: Vec<(&str, &str, &str, &Like, Vec<&Point>)> = Vec::new();
    let points: Vec<&Point> = points.iter().filter(|point| point.server == name).collect();
    for point in points.iter().copied() {
        let at = groups.iter().position(|(key, workload, dialect, like, _)| {
            (*key, *workload, *dialect)
                == (point.key.as_str(), point.workload.as_str(), point.dialect)
                && **like == point.like
        });
        match at {
            Some(at) => groups[at].4.push(point),
            None => groups.push((
                &point.key,
                &point.workload,
                point.dialect,
                &point.like,
                vec![point],
            )),
        }
    }
    let rounds = |key: &str, workload: &str, dialect: &str| {
        let of_it = points.iter().filter(|p| {
            (p.key.as_str(), p.workload.as_str(), p.dialect) == (key, workload, dialect)
        });
        let mut rounds: Vec<&str> = of_it.map(|point| point.round.as_str()).collect();
        rounds.dedup();
        rounds.len()
    };
    groups.retain(|(key, workload, dialect, ..)| rounds(key, workload, dialect) > 1);
    groups.sort_by_key(|(key, workload, dialect, ..)| (*workload, *dialect, *key));
    groups
        .into_iter()
        .map(|(_, workload, dialect, like, points)| {
            let longest = points
                .iter()
                .filter_map(|point| point.value)
                .filter(|v| v.is_finite())
                .fold(0.0, f64::max);
            let bar = |value: Option<f64>| {
                let value = value.filter(|value| value.is_finite() && longest > 0.0)?;
                Some((value.max(0.0) / longest * 100.0).round() as u32)
            };
            History {
                title: format!("{workload} over {dialect}, {}", points[0].name),
                machine: like.words(),
                change: history::change(&points),
                points: points
                    .iter()
                    .map(|point| Shown {
                        round: point.round.clone(),
                        day: point.day.clone(),
                        version: point.version.clone(),
                        place: point.place.clone(),
                        figure: point.figure.clone(),
                        bar: bar(point.value),
                        interval: point.interval.clone(),
                        status: point.status.name(),
                    })
                    .collect(),
            }
        })
        .collect()
}
