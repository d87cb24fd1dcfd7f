//! A site: it passes commands to its workers and combines their reports.

use super::check::{CommandError, Permits};
use super::reporter::{CpuMarks, Reporter};
use crate::control::RunError;
use crate::dialect::check_message;
use crate::io;
use crate::message::{Command, Report, Share};
use crate::net::{Target, TargetError, target_addrs};
use crate::scenario::Work;
use crate::verify::Keeper;
use crate::worker::WorkerPool;
use plan::{Plan, PlanError, Timestamps};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Why a site ended before it was told to close.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The run could not be made, or not go on.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A command that no run of the plan gives.
    #[error(transparent)]
    Command(#[from] CommandError),
}

impl From<PlanError> for NodeError {
    fn from(error: PlanError) -> Self {
        Self::Run(error.into())
    }
}

impl From<TargetError> for NodeError {
    fn from(error: TargetError) -> Self {
        Self::Run(error.into())
    }
}

/// Runs one site until it is told to close or `commands` has an end: then it closes its
/// connections and returns.
///
/// The source addresses of `plan` are those of the whole run; [`Share::addresses`] says which of
/// them this site uses.
///
/// # Errors
/// [`NodeError`] when the plan is not valid or no connection can even be tried, and when a command
/// is one that the plan cannot lead to. Whatever else goes wrong is a report.
pub fn serve(
    plan: &Plan,
    share: Share,
    commands: impl IntoIterator<Item = Command>,
    tell: Box<dyn Fn(Report) + Send + Sync>,
) -> Result<(), NodeError> {
    let mut plan = plan.clone();
    plan.target.local_addrs = share.addresses(&plan.target.local_addrs);
    serve_from_here(&plan, share, commands, tell)
}

/// As [`serve`], where the source addresses of `plan` are this site's own.
///
/// # Errors
/// As [`serve`].
pub fn serve_from_here(
    plan: &Plan,
    share: Share,
    commands: impl IntoIterator<Item = Command>,
    tell: Box<dyn Fn(Report) + Send + Sync>,
) -> Result<(), NodeError> {
    serve_at(plan, share, &target_addrs(plan)?, commands, tell)
}

/// As [`serve_from_here`], where the name of the server has been looked up: that is not done again,
/// and no address but those in `addrs` is connected to.
///
/// # Errors
/// As [`serve`].
pub fn serve_at(
    plan: &Plan,
    share: Share,
    addrs: &[SocketAddr],
    commands: impl IntoIterator<Item = Command>,
    tell: Box<dyn Fn(Report) + Send + Sync>,
) -> Result<(), NodeError> {
    plan.validate()?;
    check_message(plan).map_err(RunError::from)?;
    super::check_sites(plan, share.of)?;
    // Where it gives none, the reads without a stamp are counted.
    let _stamping = match plan.generator.timestamps {
        Timestamps::Kernel => io::keep_stamps_on().ok(),
        Timestamps::User => None,
    };
    let target = Arc::new(Target::at(plan, addrs)?);
    let tell: Arc<dyn Fn(Report) + Send + Sync> = Arc::from(tell);
    let mut node = Node::start(plan, share, &target, &tell)?;
    let mut permits = Permits::new(plan, share);
    for command in commands {
        if let Err(error) = permits.check(&command) {
            node.stop();
            return Err(error.into());
        }
        match command {
            Command::Close => break,
            Command::Renew => {
                node.stop();
                node = Node::start(plan, share, &target, &tell)?;
                tell(Report::Renewed);
            }
            command => node.obey(command),
        }
    }
    node.stop();
    tell(Report::Closed);
    Ok(())
}

/// The workers of a site and the thread that takes their reports.
struct Node {
    pool: WorkerPool,
    reporter: Option<JoinHandle<()>>,
    cpu: Arc<CpuMarks>,
    /// The reporter is to end, even if workers may still report.
    over: Arc<AtomicBool>,
}

impl Node {
    fn start(
        plan: &Plan,
        share: Share,
        target: &Arc<Target>,
        tell: &Arc<dyn Fn(Report) + Send + Sync>,
    ) -> Result<Self, RunError> {
        let keeper = Keeper::Site {
            share,
            in_flight: plan.in_flight(),
        };
        let mut pool = WorkerPool::start(plan, Arc::clone(target), keeper, Work::Plan)
            .map_err(RunError::Worker)?;
        let cpu = Arc::default();
        let over = Arc::default();
        let mut reporter = Reporter::new(&mut pool, Arc::clone(tell), Arc::clone(&cpu), share.of);
        reporter.end_with(&over);
        let reporter = std::thread::Builder::new()
            .name("reporter".into())
            .spawn(move || reporter.run())
            .map_err(RunError::Worker)?;
        Ok(Self {
            pool,
            reporter: Some(reporter),
            cpu,
            over,
        })
    }

    fn obey(&self, command: Command) {
        match command {
            Command::OpenAndHold(_) => self.cpu.began(),
            Command::Finish => self.cpu.ended(),
            _ => {}
        }
        self.pool.tell(command);
    }

    /// Closes all connections; when it returns nothing more is reported.
    fn stop(&mut self) {
        self.pool.stop(&AtomicBool::new(false));
        self.over.store(true, Ordering::Relaxed);
        if let Some(reporter) = self.reporter.take() {
            // It ends with the last worker, or because a worker that hangs never ends.
            let _ = reporter.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;
    use test_servers::{NullOptions, NullServer};

    /// The name does not resolve, so that a second look-up would fail.
    // timed: waits for a report; the end is only for a hang.
    #[test]
    fn a_name_that_was_looked_up_is_not_looked_up_again() {
        let server = NullServer::start(NullOptions::default()).unwrap();
        let port = server.addr().port();
        let plan = crate::test_plan(&format!("ws://no-such-host.invalid:{port}/ws"));
        let (commands, obeyed) = mpsc::channel();
        let (said, reports) = mpsc::channel();
        let addrs = [server.addr()];
        let site = std::thread::spawn(move || {
            let say = Box::new(move |report| {
                let _ = said.send(report);
            });
            serve_at(&plan, Share::WHOLE, &addrs, obeyed, say)
        });
        commands.send(Command::Open { clients: 2 }).unwrap();
        loop {
            match reports.recv_timeout(Duration::from_secs(300)) {
                Ok(Report::Connected(_)) => {}
                Ok(Report::Opened) => break,
                other => panic!("{other:?}"),
            }
        }
        commands.send(Command::Close).unwrap();
        site.join().unwrap().unwrap();
    }
}
