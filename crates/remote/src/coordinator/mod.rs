//! The coordinator's side: gathers its sites, hands them their plan, and keeps a conversation with
//! each until the run is over.

mod children;
mod conversation;
mod here;
mod reception;

use crate::address::Address;
use crate::clocks::{Estimate, Exchange};
use crate::credentials::Credentials;
use crate::data_file;
use crate::dial::{self, Pairing, Peer};
use crate::error::RemoteError;
use crate::wire::from_coordinator::Kind as Down;
use crate::wire::from_worker::Kind as Up;
use crate::wire::{Assignment, FromCoordinator, FromWorker, Greeting, Probe};
use crate::{FAREWELL, Tell};
use children::Children;
use conversation::{Conversation, ProcessTransport};
use plan::Plan;
use reception::Reception;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::{JoinHandle, JoinSet};
use ws_load::cluster::{NodeTransport as _, Report, Share, Site, clock_now_ns};

/// Exchanges before a run; the shortest of 16 round trips on an idle network is close to the
/// shortest there is.
const EXCHANGES: u32 = 16;
/// How often the user's interrupt is looked at while workers are gathered.
const LOOK: Duration = Duration::from_millis(50);

/// A worker at the other end, greeted.
pub(crate) struct JoinedWorker {
    pub(crate) peer: Peer<FromWorker, FromCoordinator>,
    pub(crate) greeting: Greeting,
}

/// The sites that a run is to have.
#[derive(Clone, Default)]
pub struct Invitation {
    /// Processes of this program, started here and ended with the run.
    pub processes: u32,
    /// Workers to dial.
    pub workers: Vec<Address>,
    /// Where to wait for workers that dial, and for how many.
    pub awaited: Option<(Address, u32)>,
    /// How long to wait for them.
    pub patience: Duration,
    /// For the two kinds above; processes get a token of their own.
    pub credentials: Credentials,
    /// The user has said how many threads each site is to have.
    pub threads_given: bool,
}

/// What a run needs.
pub struct Gathered {
    /// The sites, in the order of their numbers.
    pub sites: Vec<Site>,
    /// The reports of the sites.
    pub reports: mpsc::Receiver<(u32, Report)>,
    /// Keeps the conversations going.
    pub hub: Hub,
}

/// The conversations of a run, and the processes started for it.
pub struct Hub {
    runtime: Option<Runtime>,
    conversations: Vec<JoinHandle<()>>,
    children: Children,
}

impl Hub {
    /// Waits until the sites know that the run is over, and ends the processes.
    pub fn stop(mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        let conversations = std::mem::take(&mut self.conversations);
        runtime.block_on(async {
            for conversation in conversations {
                // Each has a limit of its own, which begins when its site's transport is dropped.
                let _ = tokio::time::timeout(FAREWELL + LOOK, conversation).await;
            }
        });
        runtime.shutdown_background();
        self.children.end();
    }
}

/// One of the sites to be, before it has its number's conversation.
struct SiteToBe {
    worker: JoinedWorker,
    plan: Plan,
    own_threads: bool,
    /// It was started by this process.
    is_child: bool,
}

/// Gathers the sites of an invitation and gives each its share of `plan`. With `-l` addresses in the
/// plan and workers elsewhere, this process is a site too, with those addresses; processes share
/// them.
///
/// # Errors
/// [`RemoteError`] when one of the sites is missing; the others are free again then.
pub fn gather(
    invitation: &Invitation,
    plan: &Plan,
    interrupted: &AtomicBool,
    tell: &Tell,
) -> Result<Gathered, RemoteError> {
    let runtime = crate::runtime()?;
    let mut children = Children::default();
    let gathering = async {
        tokio::select! {
            places = places(invitation, plan, &mut children, tell) => places,
            () = interruption(interrupted) => Err(RemoteError::Interrupted),
        }
    };
    let places = runtime.block_on(gathering)?;
    let is_site = is_site_itself(invitation, plan);
    let of = places.len() as u32 + u32::from(is_site);
    let (sender, reports) = mpsc::channel();
    let mut sites = Vec::new();
    if is_site {
        let share = Share { number: 0, of };
        sites.push(here::site(plan.clone(), share, sender.clone())?);
    }
    let first = sites.len() as u32;
    let assigning = async {
        tokio::select! {
            started = assign(places, first, of, &sender) => started,
            () = interruption(interrupted) => Err(RemoteError::Interrupted),
        }
    };
    let started = runtime.block_on(assigning)?;
    tell_clocks(&started, invitation, tell);
    let mut conversations = Vec::new();
    for one in started {
        conversations.push(one.conversation);
        sites.push(Site {
            name: one.name,
            transport: Box::new(one.transport),
        });
    }
    Ok(Gathered {
        sites,
        reports,
        hub: Hub {
            runtime: Some(runtime),
            conversations,
            children,
        },
    })
}

/// In the websocket-shootout of 2016, `-l` beside `-w` is for the connections of this machine.
fn is_site_itself(invitation: &Invitation, plan: &Plan) -> bool {
    invitation.processes == 0 && !plan.target.local_addrs.is_empty()
}

async fn interruption(interrupted: &AtomicBool) {
    while !interrupted.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK).await;
    }
}

async fn places(
    invitation: &Invitation,
    plan: &Plan,
    children: &mut Children,
    tell: &Tell,
) -> Result<Vec<SiteToBe>, RemoteError> {
    let mut reception = match &invitation.awaited {
        Some((address, _)) => {
            let reception =
                Reception::open(address, &invitation.credentials, Pairing::Separate, tell).await?;
            tell(&format!("waiting for workers on {}", reception.address()));
            Some(reception)
        }
        None => None,
    };
    let mut places = Vec::new();
    let processes = children.start(invitation.processes).await?;
    for (number, worker) in (0..).zip(processes) {
        let among = Share {
            number,
            of: invitation.processes,
        };
        let threads = if invitation.threads_given {
            plan.generator.threads
        } else {
            (plan.generator.threads / invitation.processes).max(1)
        };
        places.push(SiteToBe {
            worker,
            plan: plan.clone().with(|of| {
                of.target.local_addrs = among.addresses(&plan.target.local_addrs);
                of.generator.threads = threads;
            }),
            own_threads: false,
            is_child: true,
        });
    }
    let mut workers = dial_all(&invitation.workers, &invitation.credentials).await?;
    if let (Some(reception), Some((_, wanted))) = (&mut reception, &invitation.awaited) {
        workers.extend(
            reception
                .await_workers(*wanted, invitation.patience)
                .await?,
        );
    }
    places.extend(workers.into_iter().map(|worker| SiteToBe {
        worker,
        plan: plan.clone().with(|of| {
            // Source addresses are those of a machine: a worker has its own.
            of.target.local_addrs = Vec::new();
        }),
        own_threads: !invitation.threads_given,
        is_child: false,
    }));
    Ok(places)
}

/// All workers at once, in their order.
async fn dial_all(
    workers: &[Address],
    credentials: &Credentials,
) -> Result<Vec<JoinedWorker>, RemoteError> {
    let mut dialled = JoinSet::new();
    for (number, address) in workers.iter().cloned().enumerate() {
        let credentials = credentials.clone();
        dialled.spawn(async move {
            let peer = dial::worker(&address, &credentials).await?;
            Ok::<_, RemoteError>((number, JoinedWorker::greet(peer).await?))
        });
    }
    let mut workers = Vec::new();
    while let Some(done) = dialled.join_next().await {
        workers.push(done.map_err(|error| RemoteError::Runtime(error.into()))??);
    }
    workers.sort_by_key(|(number, _)| *number);
    Ok(workers.into_iter().map(|(_, worker)| worker).collect())
}

impl JoinedWorker {
    /// Exchanges greetings.
    pub(crate) async fn greet(
        mut peer: Peer<FromWorker, FromCoordinator>,
    ) -> Result<Self, RemoteError> {
        peer.send(Down::Greeting(Greeting::own())).await?;
        match peer.next_soon().await?.kind {
            Some(Up::Greeting(greeting)) => {
                greeting.check(&format!("the worker {}", peer.name))?;
                Ok(Self { peer, greeting })
            }
            _ => Err(peer.out_of_turn()),
        }
    }

    async fn accept(&mut self, assignment: Assignment) -> Result<(), RemoteError> {
        self.peer.send(Down::Assignment(assignment)).await?;
        let peer = format!("the worker {}", self.peer.name);
        match self.peer.next_soon().await?.kind {
            Some(Up::Accepted(_)) => Ok(()),
            Some(Up::Refused(refused)) => Err(refused.into_error(peer)),
            _ => Err(self.peer.out_of_turn()),
        }
    }

    async fn compare_clocks(&mut self) -> Result<Estimate, RemoteError> {
        let mut estimate = Estimate::new(self.greeting.same_kernel());
        for _ in 0..EXCHANGES {
            let asked_ns = clock_now_ns();
            self.peer.send(Down::Probe(Probe { asked_ns })).await?;
            match self.peer.next_soon().await?.kind {
                Some(Up::Answer(answer)) => estimate.learn(Exchange {
                    asked_ns,
                    received_ns: answer.received_ns,
                    answered_ns: answer.answered_ns,
                    heard_ns: clock_now_ns(),
                }),
                Some(Up::Ended(ended)) => return Err(self.peer.lost(&ended.trouble)),
                _ => return Err(self.peer.out_of_turn()),
            }
        }
        Ok(estimate)
    }
}

/// A site with its share.
struct Started {
    number: u32,
    name: String,
    transport: ProcessTransport,
    conversation: JoinHandle<()>,
}

/// Gives all their share, and compares the clocks. Each conversation begins at once: a site whose
/// coordinator is silent while it waits for the others would take it for lost.
async fn assign(
    places: Vec<SiteToBe>,
    first: u32,
    of: u32,
    reports: &mpsc::Sender<(u32, Report)>,
) -> Result<Vec<Started>, RemoteError> {
    let mut starting = JoinSet::new();
    for (number, place) in (first..).zip(places) {
        let assignment = assignment(&place, Share { number, of })?;
        let child = place.is_child.then_some(place.worker.greeting.pid);
        let (mut worker, reports) = (place.worker, reports.clone());
        starting.spawn(async move {
            worker.accept(assignment).await?;
            let clock = Arc::new(Mutex::new(worker.compare_clocks().await?));
            let name = worker.peer.name.clone();
            let (commands, told) = tokio::sync::mpsc::unbounded_channel();
            let mut conversation =
                Conversation::new(worker.peer, number, reports, Arc::clone(&clock));
            conversation.child = child;
            Ok::<_, RemoteError>(Started {
                number,
                name,
                transport: ProcessTransport { commands, clock },
                conversation: tokio::spawn(conversation.hold(told)),
            })
        });
    }
    let mut started = Vec::new();
    while let Some(done) = starting.join_next().await {
        started.push(done.map_err(|error| RemoteError::Runtime(error.into()))??);
    }
    started.sort_by_key(|one: &Started| one.number);
    Ok(started)
}

fn assignment(place: &SiteToBe, share: Share) -> Result<Assignment, RemoteError> {
    let content = |path: Option<&PathBuf>| match path {
        None => Ok(Vec::new()),
        Some(path) => std::fs::read(path).map_err(|source| RemoteError::Read {
            path: path.clone(),
            source,
        }),
    };
    let digest = |path: Option<&PathBuf>| match path.filter(|_| !place.is_child) {
        None => Ok(Vec::new()),
        Some(path) => data_file::digest(path).map_err(|source| RemoteError::Read {
            path: path.clone(),
            source,
        }),
    };
    let tls = place.plan.connection.tls.as_ref();
    Ok(Assignment {
        number: share.number,
        of: share.of,
        plan: serde_json::to_vec(&place.plan)
            .map_err(|error| RemoteError::Runtime(error.into()))?,
        authorities: content(place.plan.target.ca_file.as_ref())?,
        client_cert: content(tls.and_then(|tls| tls.client_cert.as_ref()))?,
        client_key: content(tls.and_then(|tls| tls.client_key.as_ref()))?,
        data_sha1: digest(place.plan.connection.data.as_ref())?,
        lines_sha1: digest(place.plan.message.lines.as_ref())?,
        own_threads: place.own_threads,
    })
}

/// Tells the user the clock offsets of other machines; processes here share this clock.
fn tell_clocks(started: &[Started], invitation: &Invitation, tell: &Tell) {
    let others = started.iter().skip(invitation.processes as usize);
    let words: Vec<String> = others.map(Started::clock_words).collect();
    if !words.is_empty() {
        tell(&format!("clocks: {}", words.join("; ")));
    }
}

impl Started {
    fn clock_words(&self) -> String {
        let relation = self.transport.clock();
        if relation.bound_ns == 0 {
            return format!("{} has this machine's", self.name);
        }
        format!(
            "{} {:+.3} ms, known within {:.0} us",
            self.name,
            relation.offset_ns as f64 / 1e6,
            (relation.bound_ns as f64 / 1e3).ceil()
        )
    }
}
