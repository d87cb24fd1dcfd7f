//! A site at work: orders become commands to its workers, their reports become words.

use super::check::Permits;
use super::reporter::{CpuMarks, Reporter};
use super::{Connect, Order, Share, StepTerms, Word};
use crate::engine::{CLOSE_PATIENCE, Crew, hire, terms};
use crate::error::RunError;
use crate::io;
use crate::ledger::{Sent, Shared, StepLedger};
use crate::plan::{Schedule, share_of};
use crate::target::{Target, target_addrs};
use crate::worker::Command;
use run_record::{OpenLoop, Plan, Timestamps};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Runs one site until it is told to close or `orders` has an end: then it closes its
/// connections and returns.
///
/// The source addresses of `plan` are those of the whole run; [`Share::addresses`] says which of
/// them this site uses.
///
/// # Errors
/// [`RunError`] when the plan is not valid or no connection can even be tried, and when an order is
/// one that the plan cannot lead to. Whatever else goes wrong is a word.
pub fn serve(
    plan: &Plan,
    share: Share,
    orders: impl IntoIterator<Item = Order>,
    words: Box<dyn Fn(Word) + Send + Sync>,
) -> Result<(), RunError> {
    let mut plan = plan.clone();
    plan.target.local_addrs = share.addresses(&plan.target.local_addrs);
    serve_from_here(&plan, share, orders, words)
}

/// As [`serve`], where the source addresses of `plan` are this site's own.
///
/// # Errors
/// As [`serve`].
pub fn serve_from_here(
    plan: &Plan,
    share: Share,
    orders: impl IntoIterator<Item = Order>,
    words: Box<dyn Fn(Word) + Send + Sync>,
) -> Result<(), RunError> {
    serve_at(plan, share, &target_addrs(plan)?, orders, words)
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
    orders: impl IntoIterator<Item = Order>,
    words: Box<dyn Fn(Word) + Send + Sync>,
) -> Result<(), RunError> {
    plan.validate()?;
    crate::check_message(plan)?;
    // Where it gives none, the reads without a stamp are counted.
    let _stamping = match plan.generator.timestamps {
        Timestamps::Kernel => io::keep_stamps_on().ok(),
        Timestamps::User => None,
    };
    let target = Arc::new(Target::at(plan, addrs)?);
    let words: Arc<dyn Fn(Word) + Send + Sync> = Arc::from(words);
    let mut post = Post::man(plan, share, &target, &words)?;
    let mut permits = Permits::new(plan, share);
    for order in orders {
        if let Err(error) = permits.check(&order) {
            post.leave();
            return Err(error.into());
        }
        match order {
            Order::Close => break,
            Order::Anew => {
                post.leave();
                post = Post::man(plan, share, &target, &words)?;
                words(Word::Renewed);
            }
            order => post.obey(order),
        }
    }
    post.leave();
    words(Word::Closed);
    Ok(())
}

/// The workers of a site and the thread that listens to them.
struct Post<'a> {
    plan: &'a Plan,
    share: Share,
    crew: Crew,
    reporter: Option<JoinHandle<()>>,
    step: Option<Arc<StepLedger>>,
    cpu: Arc<CpuMarks>,
    /// The reporter is to end, even if workers may still report.
    over: Arc<AtomicBool>,
}

impl<'a> Post<'a> {
    fn man(
        plan: &'a Plan,
        share: Share,
        target: &Arc<Target>,
        words: &Arc<dyn Fn(Word) + Send + Sync>,
    ) -> Result<Self, RunError> {
        let mut crew = hire(plan, Arc::clone(target), share).map_err(RunError::Worker)?;
        let cpu = Arc::default();
        let over = Arc::default();
        let mut reporter = Reporter::new(&mut crew, Arc::clone(words), Arc::clone(&cpu), share.of);
        reporter.end_with(&over);
        let reporter = std::thread::Builder::new()
            .name("reporter".into())
            .spawn(move || reporter.run())
            .map_err(RunError::Worker)?;
        Ok(Self {
            plan,
            share,
            crew,
            reporter: Some(reporter),
            step: None,
            cpu,
            over,
        })
    }

    /// Closes all connections; when it returns nothing more is said.
    fn leave(&mut self) {
        self.crew.dismiss(CLOSE_PATIENCE, &AtomicBool::new(false));
        self.over.store(true, Ordering::Relaxed);
        if let Some(reporter) = self.reporter.take() {
            // It ends with the last worker, or because a worker that hangs never ends.
            let _ = reporter.join();
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Open { clients } => self.open(clients),
            Order::Connect(Connect(order)) => {
                self.cpu.began();
                self.crew.tell_all(|| Command::Connect(order));
            }
            Order::Hold { until_ns } => self.crew.tell_all(|| Command::Hold { until_ns }),
            Order::Begin(step) => self.begin(step),
            Order::Send(samples) => self.send(&samples),
            Order::CountFrom { from_ns } => self.crew.tell_all(|| Command::CountFrom(from_ns)),
            Order::Start { load, start_ns } => self.start(load, start_ns),
            Order::Sent(samples) => {
                let Some(ledger) = &self.step else { return };
                for sample in samples {
                    ledger.sent_elsewhere(
                        sample.index,
                        Sent {
                            due_ns: sample.due_ns,
                            at_ns: sample.at_ns,
                            sender: sample.sender,
                        },
                    );
                }
            }
            Order::GiveUp { count } => self.crew.tell_all(|| Command::GiveUp { count }),
            Order::Finish => {
                self.cpu.ended();
                self.crew.tell_all(|| Command::Finish);
            }
            Order::Anew | Order::Close => {}
        }
    }

    /// Client `i` of the run belongs to site `i % of`.
    fn own(&self, clients: u64) -> u64 {
        share_of(clients, self.share.number.into(), self.share.of.into())
    }

    fn open(&self, clients: u64) {
        let own = self.own(clients);
        let workers = self.crew.len() as u64;
        for worker in 0..workers {
            let share = share_of(own, worker, workers);
            self.crew.tell(worker as usize, Command::Open(share));
        }
    }

    fn begin(&mut self, step: StepTerms) {
        let own = self.own(step.clients);
        let terms = terms(self.plan, step, self.crew.len() as u64, own);
        let shared = Shared {
            share: self.share,
            in_flight: self.plan.in_flight(),
        };
        let ledger = Arc::new(StepLedger::of_site(terms, shared));
        self.crew.tell_all(|| Command::Begin(Arc::clone(&ledger)));
        self.step = Some(ledger);
    }

    fn send(&self, samples: &[u32]) {
        let Some(ledger) = &self.step else { return };
        let of = u64::from(self.share.of);
        let workers = self.crew.len() as u64;
        let mut told = vec![false; self.crew.len()];
        for &index in samples {
            let client = ledger.sender(index);
            let owner = (client / of % workers) as usize;
            self.crew.tell_later(owner, Command::Send { index, client });
            told[owner] = true;
        }
        for owner in (0..told.len()).filter(|owner| told[*owner]) {
            self.crew.tell(owner, Command::Wake);
        }
    }

    fn start(&self, load: OpenLoop, start_ns: u64) {
        let Some(ledger) = &self.step else { return };
        let schedule = Schedule::new(load, self.plan.generator.seed, ledger.first_sample);
        self.crew.tell_all(|| Command::Start {
            schedule: schedule.clone(),
            start_ns,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;
    use test_servers::{NullOptions, NullServer};

    /// The name does not resolve, so that a second look-up would fail.
    #[test]
    fn a_name_that_was_looked_up_is_not_looked_up_again() {
        let server = NullServer::start(NullOptions::default()).unwrap();
        let port = server.addr().port();
        let plan = crate::test_plan(&format!("ws://no-such-host.invalid:{port}/ws"));
        let (orders, obeyed) = mpsc::channel();
        let (said, words) = mpsc::channel();
        let addrs = [server.addr()];
        let site = std::thread::spawn(move || {
            let say = Box::new(move |word| {
                let _ = said.send(word);
            });
            serve_at(&plan, Share::WHOLE, &addrs, obeyed, say)
        });
        orders.send(Order::Open { clients: 2 }).unwrap();
        loop {
            match words.recv_timeout(Duration::from_secs(30)) {
                Ok(Word::Connected(_)) => {}
                Ok(Word::Opened) => break,
                other => panic!("{other:?}"),
            }
        }
        orders.send(Order::Close).unwrap();
        site.join().unwrap().unwrap();
    }
}
