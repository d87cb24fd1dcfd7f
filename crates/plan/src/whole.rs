//! A whole plan, and what follows from its parts.

use super::{
    Audience, Clients, Connect, Connection, Dialect, DialectFile, Entry, Fault, Generator, Limits,
    Load, Measure, Message, Nanos, OpenLoop, Population, Reference, Search, Target, Watch,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// Which request is measured: the word of command lines and rows. It follows from a plan's load and
/// audience.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// One client asks, the same client is answered.
    Echo,
    /// One client asks, every client is told, then the asker is answered.
    Broadcast,
    /// One client publishes, the subscribers of the topic are told, then the publisher is answered.
    Rooms,
    /// No requests: connections are opened and held, with pings.
    Connect,
}

impl Workload {
    /// The word of records, command lines and manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Broadcast => "broadcast",
            Self::Rooms => "rooms",
            Self::Connect => "connect",
        }
    }
}

/// What ranks servers that kept the limit of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RankedBy {
    /// CPU time of the server for each message delivered.
    Cost,
}

/// The plan of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Name of the workload.
    pub name: Option<String>,
    /// Why the workload exists, in one sentence.
    pub reason: Option<String>,
    /// What ranks servers that kept the limit, where it is not what follows from the load. The load
    /// generator does nothing with it.
    pub ranked_by: Option<RankedBy>,
    /// Whether `shootout run` measures variants of several nodes with it, and no others. It does so with
    /// every plan that has `load.watch`. The load generator does nothing with it.
    pub nodes: bool,
    /// Names of the proxies through which `shootout run` measures each row, and `none` for the way
    /// without one; its option --via takes their place. The load generator does nothing with it.
    pub via: Vec<String>,
    /// The dialects in which `shootout run` measures each variant that speaks them. A variant that
    /// speaks none of them has its own, and the option --dialects or `message.dialect` takes their
    /// place. The load generator does nothing with it.
    pub dialects: Vec<Dialect>,
    /// Where to connect.
    pub target: Target,
    /// How a client connects.
    pub connection: Connection,
    /// The kinds of clients, by their shares.
    pub populations: Vec<Population>,
    /// How many clients, step by step.
    pub clients: Clients,
    /// How long the load of the first step is put on the server before the first step, in whole
    /// steps: for a runtime that compiles while it runs. Their figures are kept beside the others.
    pub warm_up: Nanos,
    /// When requests are sent.
    pub load: Load,
    /// Which clients get each message.
    pub audience: Audience,
    /// What the messages are.
    pub message: Message,
    /// When a step is too slow.
    pub limits: Limits,
    /// How the generator works.
    pub generator: Generator,
    /// What is to fail, and when. `shootout run` carries it out, which starts the servers; the load
    /// generator does nothing with it.
    #[serde(rename = "fault")]
    pub faults: Vec<Fault>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            name: None,
            reason: None,
            ranked_by: None,
            nodes: false,
            via: Vec::new(),
            dialects: Vec::new(),
            target: Target::default(),
            connection: Connection::default(),
            populations: vec![Population::default()],
            clients: Clients::default(),
            warm_up: Nanos(0),
            load: Load::default(),
            audience: Audience::default(),
            message: Message::default(),
            limits: Limits::default(),
            generator: Generator::default(),
            faults: Vec::new(),
        }
    }
}

impl Plan {
    /// A plan with everything at its default: broadcasts in a closed loop, 100 clients more in each
    /// step.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            target: Target {
                url: url.into(),
                ..Target::default()
            },
            ..Self::default()
        }
    }

    /// Whether the dialect file has a request over HTTP with an `https` URL.
    pub fn has_https(&self) -> bool {
        let mut file = self.message.definition.iter();
        file.any(|file| file.has_https())
    }

    /// The plan with a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The files that it names.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let tls = self.connection.tls.as_mut();
        let of_client = tls.map(|tls| [&mut tls.client_cert, &mut tls.client_key]);
        let of_client = of_client.into_iter().flatten().flatten();
        let of_target = self.target.ca_file.iter_mut();
        let of_way = self.target.unix_socket.iter_mut();
        let of_data = self.connection.data.iter_mut();
        let of_lines = self.message.lines.iter_mut();
        let of_clients = of_target.chain(of_client).chain(of_way);
        of_clients.chain(of_data).chain(of_lines)
    }

    /// Has the relative paths of references to secrets begin in a folder.
    pub fn start_references_from(&mut self, folder: &Path) {
        let joined = |entry: Entry<'_>| {
            Ok::<_, Infallible>(match entry.reference() {
                Some((before, Reference::File(path))) => {
                    Some(format!("{before}file:{}", folder.join(path).display()))
                }
                _ => None,
            })
        };
        let Ok(()) = self.connection.change_values(joined);
    }

    /// Which request is measured.
    pub const fn workload(&self) -> Workload {
        match (&self.load, self.audience) {
            (Load::Connect(_), _) => Workload::Connect,
            (_, Audience::Sender) => Workload::Echo,
            (_, Audience::Everyone) => Workload::Broadcast,
            (_, Audience::Room(_)) => Workload::Rooms,
        }
    }

    /// Sends by the clock; `None` of any other load.
    pub const fn open_loop(&self) -> Option<&OpenLoop> {
        match &self.load {
            Load::Open(open) => Some(open),
            _ => None,
        }
    }

    /// How connections are held; `None` of a load with requests.
    pub const fn connect(&self) -> Option<Connect> {
        match &self.load {
            Load::Connect(connect) => Some(*connect),
            _ => None,
        }
    }

    /// How messages are watched; `None` of any other load.
    pub const fn watch(&self) -> Option<Watch> {
        match &self.load {
            Load::Watch(watch) => Some(*watch),
            _ => None,
        }
    }

    /// The search that chooses the loads; `None` where they are chosen by steps.
    pub const fn search(&self) -> Option<Search> {
        match &self.clients {
            Clients::Search(search) => Some(*search),
            Clients::Steps(_) => None,
        }
    }

    /// Requests in flight in a closed loop; 0 of any other load.
    pub const fn in_flight(&self) -> u32 {
        match &self.load {
            Load::Closed(closed) => closed.in_flight,
            _ => 0,
        }
    }

    /// Requests per step of a closed loop; 0 of any other load.
    pub const fn samples(&self) -> u32 {
        match &self.load {
            Load::Closed(closed) => closed.samples,
            _ => 0,
        }
    }

    /// The dialect whose script the clients carry out; `None` where there is none.
    pub fn script(&self) -> Option<&DialectFile> {
        let file = self.message.definition.as_deref()?;
        (self.workload() == Workload::Echo && !file.send.script.is_empty()).then_some(file)
    }

    /// What is not checked of the answers that this load brings, in words; `None` where all of it is.
    pub fn unchecked(&self) -> Option<&'static str> {
        let file = self.message.definition.as_deref();
        file.filter(|_| self.workload() == Workload::Echo)?
            .unchecked()
    }

    /// Number of steps after which the run ends; `None` when the limit or a search ends it.
    pub const fn steps(&self) -> Option<u32> {
        match &self.clients {
            Clients::Steps(steps) => steps.count,
            Clients::Search(_) => None,
        }
    }

    /// The latency that the limit applies to; where the sender alone listens there is only one.
    pub const fn limited(&self) -> Measure {
        match self.workload() {
            Workload::Echo | Workload::Connect => Measure::Completion,
            Workload::Broadcast | Workload::Rooms => self.limits.of,
        }
    }

    /// The number of clients of a step, counted from 0; of a search that of the first.
    pub fn clients_at(&self, step: u32) -> u64 {
        match &self.clients {
            Clients::Steps(steps) => {
                u64::from(steps.first) + u64::from(step) * u64::from(steps.add)
            }
            Clients::Search(search) => search.first.into(),
        }
    }
}
