//! What the rows of one workload and dialect are about, in words: by which figure they are ranked,
//! and how that figure is shown.

use super::ranking::{self, MOST_BUSY, Row, Score, grows};
use super::{figures, words};
use plan::{Load, Plan, Workload};

/// What a ranking is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    plan: Option<&'a Plan>,
    request: Workload,
    pub(crate) score: Score,
    /// Whether some of them came through a proxy, which counts as well.
    has_proxies: bool,
    /// Latencies are compared at so many clients.
    pub(crate) common: Option<u64>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(rows: &[Row<'a>]) -> Self {
        let ranked = rows.iter().filter(|row| row.place.is_some());
        Self {
            plan: rows.iter().find_map(Row::plan),
            request: rows[0].workload(),
            score: ranking::score(rows),
            has_proxies: rows.iter().any(Row::is_behind_proxy),
            common: ranking::common_clients(ranked),
        }
    }

    /// Whether the rows are told apart by the clients that they carried, and only equal ones by
    /// the score.
    pub(crate) fn grows(&self) -> bool {
        self.plan.is_none_or(grows)
    }

    /// Why the workload exists.
    pub(crate) fn reason(&self) -> Option<&'a str> {
        self.plan?.reason.as_deref()
    }

    /// What is ranked, as the head of a table; `None` when nothing was measured.
    pub(crate) fn head(&self) -> Option<String> {
        let rule = words::rule(self.request, &self.plan?.limits);
        Some(match (self.grows(), self.score) {
            (true, _) => format!("clients with {rule}"),
            (false, Score::Rate) => format!("{} with {rule}", self.name()),
            (false, _) => format!("{}, {}", self.name(), self.load()),
        })
    }

    /// The rule of the places, in a sentence; `None` when nothing was measured.
    pub(crate) fn ranked_by(&self) -> Option<String> {
        let limits = &self.plan?.limits;
        let rule = words::rule(self.request, limits);
        let name = self.name();
        Some(match (self.grows(), self.score) {
            (true, Score::Latency) => format!(
                "Ranked by the clients carried with {rule}; of rows that carried as many, by {name} \
                 at the most clients that all of them have."
            ),
            (true, _) => format!(
                "Ranked by the clients carried with {rule}; of rows that carried as many, by {name}."
            ),
            (false, Score::Rate) => format!("Ranked by {name} with {rule}."),
            (false, Score::Loss) => format!("Ranked by {name}, {}.", self.load()),
            (false, score) => {
                let spared = match score {
                    Score::Cost => format!(
                        " Rows that used more than {:.0} % of their cores have no place.",
                        MOST_BUSY * 100.0
                    ),
                    _ => String::new(),
                };
                format!(
                    "Ranked by {name}, {}. Rows that did not keep the limit ({rule}) stand below the \
                     others.{spared}",
                    self.load()
                )
            }
        })
    }

    /// The score in words.
    pub(crate) fn name(&self) -> String {
        match (self.score, self.plan) {
            (Score::Latency, Some(plan)) => format!(
                "p{} of {}",
                figures::percentile(plan.limits.percentile),
                words::measured(self.request, plan.limits.of)
            ),
            (Score::Latency, None) => "latency".to_owned(),
            (Score::Return, _) => {
                "the time until all clients that were cut off are back".to_owned()
            }
            (Score::Memory, _) => {
                "the memory of the server for one connection, with its sockets in the kernel"
                    .to_owned()
            }
            (Score::Rate, _) => "the highest rate of requests a second".to_owned(),
            (Score::Cost, _) if self.has_proxies => {
                "the CPU time of the server and of the proxy before it for each message delivered"
                    .to_owned()
            }
            (Score::Cost, _) => "the CPU time of the server for each message delivered".to_owned(),
            (Score::Loss, _) => {
                "the share of the deliveries of confirmed messages that did not come".to_owned()
            }
        }
    }

    /// Clients and load of a plan with a fixed number of clients.
    fn load(&self) -> String {
        let Some(plan) = self.plan else {
            return String::new();
        };
        let clients = figures::count(plan.clients_at(0));
        match &plan.load {
            Load::Open(open) => format!("{clients} clients, {} requests a second", open.rate),
            Load::Closed(closed) => {
                format!("{clients} clients, {} requests at a time", closed.in_flight)
            }
            Load::Connect(connect) => format!("{clients} clients, held for {}", connect.hold),
            Load::Watch(watch) => {
                format!("{clients} clients, {} messages a second", watch.rate)
            }
        }
    }

    /// A score as people read it.
    pub(crate) fn show(&self, score: f64) -> String {
        match self.score {
            Score::Latency | Score::Return if score.is_infinite() => "never".to_owned(),
            Score::Latency | Score::Return | Score::Cost => figures::time(score),
            Score::Memory => figures::bytes(score),
            Score::Loss => format!("{} lost", figures::lost_share(score)),
            Score::Rate => format!("{} a second", figures::count(score.round() as u64)),
        }
    }
}
