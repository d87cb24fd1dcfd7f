//! What a fault of a workload does to a part of a server that is up, and how it is seen that it is done.

use super::cluster::Server;
use super::part::{Death, LaunchError, Part};
use super::port;
use super::relay::Pace;
use crate::process::describe_exit;
use conformance::Target;
use plan::{FaultDeed, FaultPart};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(10);
/// Longest time until killed processes have gone.
const DYING: Duration = Duration::from_secs(5);
/// Longest time that the command takes that reloads a proxy.
const RELOADING: Duration = Duration::from_secs(10);

/// Why a deed was not done.
#[derive(Debug, thiserror::Error)]
pub enum DeedError {
    /// The server has no such part.
    #[error("the server has no {0}")]
    NotThere(FaultPart),
    /// It is not running.
    #[error("{0} was not running")]
    NotRunning(String),
    /// It is running already.
    #[error("{0} was running")]
    Running(String),
    /// It was to be started while it was still ending.
    #[error("{0} had not ended yet")]
    Ending(String),
    /// It was to go on, and does not stand still.
    #[error("{0} was not frozen")]
    NotFrozen(String),
    /// It did not end.
    #[error("{0} did not end within {time}", time = humantime::format_duration(*.1))]
    DidNotEnd(String, Duration),
    /// It could not be started again.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// It was started again and is not ready.
    #[error("{0} was not ready within {time}; last: {2}", time = humantime::format_duration(*.1))]
    NeverReady(String, Duration, String),
    /// The thread that asks has panicked, which it has printed.
    #[error("it was not asked whether it is ready")]
    Unasked,
    /// Its manifest does not say how it is reloaded.
    #[error("the manifest of {0} has no command that reloads it")]
    NoReload(String),
    /// The command that reloads it failed.
    #[error("{who} did not succeed: {how}{said}", who = .0.who, how = describe_exit(.0.status), said = .1)]
    NotReloaded(Death, String),
    /// The command that reloads it did not end.
    #[error("{0} did not end within {time}", time = humantime::format_duration(*.1))]
    StillReloading(String, Duration),
    /// The thread that passes on what comes has panicked, which it has printed.
    #[error("nothing passes {0} any more")]
    NoLink(FaultPart),
    /// The way is as it was to become.
    #[error("{0} was {1} already")]
    Unchanged(FaultPart, &'static str),
}

/// A deed that was begun. Dropped, nothing more is asked of a part that was started.
#[derive(Debug)]
pub enum UnderWay {
    /// It is done.
    Done,
    /// The part ends.
    Ending {
        /// Which.
        what: FaultPart,
        /// When it is killed, if it has not ended by then.
        kill_at: Option<Instant>,
        /// When it must have gone, and how long that is from the beginning.
        until: (Instant, Duration),
    },
    /// The part was started, and a thread asks it whether it is ready.
    Starting(Readiness),
    /// A command has the proxy take its configuration again.
    Reloading(Reload),
}

/// The command that reloads a proxy. Dropped, it is killed.
#[derive(Debug)]
pub struct Reload {
    command: Box<Part>,
    until: Instant,
}

impl Reload {
    fn look(&mut self) -> Option<Result<(), DeedError>> {
        let who = self.command.who().to_owned();
        match self.command.exited() {
            Some(status) if status.success() => Some(Ok(())),
            Some(status) => {
                let said = self.command.log_tail();
                let said = said.map(|said| format!("; it said: {}", said.replace('\n', " ")));
                let death = Death { who, status };
                Some(Err(DeedError::NotReloaded(death, said.unwrap_or_default())))
            }
            None if Instant::now() >= self.until => {
                Some(Err(DeedError::StillReloading(who, RELOADING)))
            }
            None => None,
        }
    }
}

/// What a thread says of a part that it asks whether it is ready.
#[derive(Debug)]
pub struct Readiness {
    said: Receiver<Result<(), DeedError>>,
    /// The thread asks for as long as this is here.
    _wanted: Arc<()>,
}

impl UnderWay {
    /// Whether it is done, or why it cannot be done; `None` while it goes on.
    pub fn look(&mut self, server: &mut Server) -> Option<Result<(), DeedError>> {
        match self {
            Self::Done => Some(Ok(())),
            Self::Starting(readiness) => match readiness.said.try_recv() {
                Ok(said) => Some(said),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(Err(DeedError::Unasked)),
            },
            Self::Reloading(reload) => reload.look(),
            Self::Ending {
                what,
                kill_at,
                until: (until, time),
            } => {
                let (part, _) = match server.part(*what) {
                    Ok(found) => found,
                    Err(error) => return Some(Err(error)),
                };
                if part.has_gone() {
                    return Some(Ok(()));
                }
                let now = Instant::now();
                if kill_at.is_some_and(|kill_at| now >= kill_at) {
                    *kill_at = None;
                    part.fell();
                }
                let who = part.who().to_owned();
                (now >= *until).then_some(Err(DeedError::DidNotEnd(who, *time)))
            }
        }
    }
}

impl Server {
    /// Begins a deed; [`UnderWay::look`] says when it is done. Must be called from a thread that outlives
    /// the server.
    ///
    /// # Errors
    /// [`DeedError`], where it cannot be done at all.
    pub fn begin(&mut self, deed: FaultDeed, what: FaultPart) -> Result<UnderWay, DeedError> {
        if let FaultPart::Link(number) = what {
            let pace = match deed {
                FaultDeed::Cut => Pace::Cut,
                FaultDeed::Slow => Pace::Slow,
                _ => Pace::Free,
            };
            return self.pace(number, pace);
        }
        if deed == FaultDeed::Start {
            return self.start_again(what);
        }
        let (part, _) = self.part(what)?;
        // What has ended by itself stays a crash.
        let is_down = part.is_felled() || part.exited().is_some();
        let who = || part.who().to_owned();
        if is_down {
            return Err(DeedError::NotRunning(who()));
        }
        let (kill_at, time) = match deed {
            FaultDeed::Reload => return self.reload(what),
            FaultDeed::Freeze => {
                part.freeze();
                return Ok(UnderWay::Done);
            }
            FaultDeed::Thaw if !part.is_frozen() => return Err(DeedError::NotFrozen(who())),
            FaultDeed::Thaw => {
                part.thaw();
                return Ok(UnderWay::Done);
            }
            FaultDeed::Terminate => {
                part.terminate();
                (Some(Instant::now() + part.grace()), part.grace() + DYING)
            }
            _ => {
                part.fell();
                (None, DYING)
            }
        };
        Ok(UnderWay::Ending {
            what,
            kill_at,
            until: (Instant::now() + time, time),
        })
    }

    fn pace(&mut self, number: u32, pace: Pace) -> Result<UnderWay, DeedError> {
        let what = FaultPart::Link(number);
        let link = self.links.get_mut(&number);
        let link = link.ok_or(DeedError::NotThere(what))?;
        if link.pace() == pace {
            return Err(DeedError::Unchanged(what, pace.word()));
        }
        match link.set_pace(pace) {
            true => Ok(UnderWay::Done),
            false => Err(DeedError::NoLink(what)),
        }
    }

    fn reload(&mut self, what: FaultPart) -> Result<UnderWay, DeedError> {
        let front = self.front.as_ref().ok_or(DeedError::NotThere(what))?;
        let who = || front.part.who().to_owned();
        let command = front.reload().ok_or_else(|| DeedError::NoReload(who()))??;
        Ok(UnderWay::Reloading(Reload {
            command: Box::new(command),
            until: Instant::now() + RELOADING,
        }))
    }

    fn start_again(&mut self, what: FaultPart) -> Result<UnderWay, DeedError> {
        let (part, patience) = self.part(what)?;
        let who = part.who().to_owned();
        if !part.is_felled() {
            return Err(DeedError::Running(who));
        }
        if !part.has_gone() {
            return Err(DeedError::Ending(who));
        }
        part.start_again()?;
        let (place, port) = (part.place().clone(), part.port());
        let readiness = match what {
            FaultPart::Node(number) => {
                let target = self.asked[number as usize - 1].clone();
                Readiness::new(who, patience, move || is_ready(&target))
            }
            FaultPart::Proxy => {
                let front = self.front.as_ref().ok_or(DeedError::NotThere(what))?;
                let target = front.asked.0.clone();
                Readiness::new(who, patience, move || is_ready(&target))
            }
            _ => Readiness::new(who, patience, move || match port::listening(&place, port) {
                true => Ok(()),
                false => Err("no connection was accepted".into()),
            }),
        };
        Ok(UnderWay::Starting(readiness))
    }

    /// A part of the server that has processes, and how long it may take to be ready.
    fn part(&mut self, what: FaultPart) -> Result<(&mut Part, Duration), DeedError> {
        let found = match what {
            FaultPart::Node(number) => {
                let at = (number as usize).checked_sub(1);
                let node = at.and_then(|at| self.nodes.get_mut(at));
                node.map(|node| (node, self.patience))
            }
            FaultPart::Broker => self.services.broker(),
            FaultPart::Proxy => {
                let front = self.front.as_mut();
                front.map(|front| (&mut front.part, front.asked.1))
            }
            FaultPart::Link(_) => None,
        };
        found.ok_or(DeedError::NotThere(what))
    }
}

fn is_ready(target: &Target) -> Result<(), String> {
    conformance::ready(target).map_err(|error| error.to_string())
}

impl Readiness {
    /// Asks on a thread until the answer is yes or the time is over.
    fn new(
        who: String,
        patience: Duration,
        ask: impl Fn() -> Result<(), String> + Send + 'static,
    ) -> Self {
        let (say, said) = mpsc::channel();
        let wanted = Arc::new(());
        let is_wanted = Arc::downgrade(&wanted);
        std::thread::spawn(move || {
            // The receiver is gone when the run is over.
            let _ = say.send(asked(who, patience, &ask, &is_wanted));
        });
        Self {
            said,
            _wanted: wanted,
        }
    }
}

fn asked(
    who: String,
    patience: Duration,
    ask: &dyn Fn() -> Result<(), String>,
    is_wanted: &Weak<()>,
) -> Result<(), DeedError> {
    let until = Instant::now() + patience;
    loop {
        let last = match ask() {
            Ok(()) => return Ok(()),
            Err(last) => last,
        };
        if Instant::now() >= until || is_wanted.strong_count() == 0 {
            return Err(DeedError::NeverReady(who, patience, last));
        }
        std::thread::sleep(POLL);
    }
}
