//! Orders looked at before they are obeyed: they come from a network, and what they say is used as
//! an index, as a size and as a moment.

use super::Share;
use super::order::{Connect, Order, Started, StepTerms};
use crate::clock;
use crate::engine::available_bytes;
use crate::ledger::StepLedger;
use crate::plan::{Schedule, sender_of};
use crate::stamp::Stamps;
use crate::worker::OpenOrder;
use run_record::{LONGEST_NS, MOST_CLIENTS, Plan, PlanError, SearchOf, Workload, within};

/// An order that is not obeyed. The site ends with it.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// It holds a value that no plan of this run can lead to.
    #[error("the order {order} is refused: {source}")]
    Value {
        /// Which order.
        order: &'static str,
        /// The value, and what it may be.
        source: PlanError,
    },
    /// It makes no sense after those before it, or in this run.
    #[error("the order {order} is refused: {reason}")]
    OutOfTurn {
        /// Which order.
        order: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The ledger of the step would take too much of this machine's memory.
    #[error(
        "the order begin is refused: the ledger of {samples} samples takes {bytes} bytes, and half of what this machine has left is {half}; lower --sample-size or --rate, or take a larger machine"
    )]
    Memory {
        /// Samples of the step.
        samples: u32,
        /// What they take.
        bytes: u64,
        /// What they may.
        half: u64,
    },
}

/// What the orders so far permit the next one to say.
pub struct Permits<'a> {
    plan: &'a Plan,
    share: Share,
    /// Clients of all sites that were ordered last.
    clients: Option<u64>,
    step: Option<Step>,
    /// A step has begun and not been finished.
    is_open: bool,
}

struct Step {
    terms: StepTerms,
    /// Samples before this index have been ordered: they are released in their order.
    next: u32,
    started: bool,
}

/// A moment of another clock: a day away at most, and the clocks may differ a little.
const LATEST_NS: u64 = 2 * LONGEST_NS;
/// Standard deviations of a Poisson process that are allowed for; it is beyond them once in 10^23.
const DEVIATIONS: f64 = 10.0;

impl<'a> Permits<'a> {
    /// Before the first order of a run with this plan, which is valid, at that site.
    pub const fn new(plan: &'a Plan, share: Share) -> Self {
        Self {
            plan,
            share,
            clients: None,
            step: None,
            is_open: false,
        }
    }

    /// Checks the next order.
    ///
    /// # Errors
    /// [`OrderError`] when it is not to be obeyed; the site ends then, and nothing more is checked.
    pub fn check(&mut self, order: &Order) -> Result<(), OrderError> {
        match order {
            Order::Open { clients } => self.open(*clients),
            Order::Connect(Connect(order)) => self.connect(order),
            Order::Hold { until_ns } => {
                self.is_for("hold", &[Workload::Connect])?;
                moment("hold", "until_ns", *until_ns)
            }
            Order::Begin(terms) => self.begin(*terms),
            Order::Send(samples) => self.send(samples),
            Order::CountFrom { from_ns } => {
                if !self.is_open {
                    return Err(out_of_turn("count-from", "no step is under way"));
                }
                moment("count-from", "from_ns", *from_ns)
            }
            Order::Start { load, start_ns } => {
                let step = self.step("start", true)?;
                if std::mem::replace(&mut step.started, true) {
                    return Err(out_of_turn("start", "the step has been started"));
                }
                valued("start", load.validate())?;
                moment("start", "start_ns", *start_ns)
            }
            Order::Sent(samples) => self.sent(samples),
            Order::Finish => {
                if !std::mem::replace(&mut self.is_open, false) {
                    return Err(out_of_turn("finish", "no step is under way"));
                }
                Ok(())
            }
            Order::Anew => {
                *self = Self::new(self.plan, self.share);
                Ok(())
            }
            Order::GiveUp { .. } | Order::Close => Ok(()),
        }
    }

    fn is_for(&self, order: &'static str, workloads: &[Workload]) -> Result<(), OrderError> {
        if workloads.contains(&self.plan.workload) {
            return Ok(());
        }
        Err(out_of_turn(order, "the run has another workload"))
    }

    fn open(&mut self, clients: u64) -> Result<(), OrderError> {
        self.is_for("open", &[Workload::Echo, Workload::Broadcast])?;
        valued("open", within("clients", clients, (1, MOST_CLIENTS)))?;
        self.clients = Some(clients);
        Ok(())
    }

    fn connect(&mut self, order: &OpenOrder) -> Result<(), OrderError> {
        self.is_for("connect", &[Workload::Connect])?;
        if std::mem::replace(&mut self.is_open, true) {
            return Err(out_of_turn("connect", "a step is under way"));
        }
        valued("connect", within("wanted", order.wanted, (1, MOST_CLIENTS)))?;
        valued("connect", within("have", order.have, (0, order.wanted)))?;
        let planned = self.plan.connect.and_then(|connect| {
            let rate = connect.rate?;
            Some((rate, connect.arrivals, self.plan.seed))
        });
        let ordered = order
            .by_clock
            .map(|by_clock| (by_clock.rate, by_clock.arrivals, by_clock.seed));
        if planned != ordered {
            return Err(out_of_turn("connect", "its rate is not the plan's"));
        }
        let start_ns = order.by_clock.map_or(0, |by_clock| by_clock.start_ns);
        moment("connect", "start_ns", start_ns)
    }

    fn begin(&mut self, terms: StepTerms) -> Result<(), OrderError> {
        let refused = |reason| Err(out_of_turn("begin", reason));
        self.is_for("begin", &[Workload::Echo, Workload::Broadcast])?;
        if std::mem::replace(&mut self.is_open, true) {
            return refused("a step is under way");
        }
        if self.clients != Some(terms.clients) {
            return refused("its clients are not those that were opened");
        }
        if terms.by_clock != self.plan.open_loop.is_some() {
            return refused("it mixes an open loop with a closed one");
        }
        let samples = (1, self.most_samples());
        valued("begin", within("samples", terms.samples, samples))?;
        valued(
            "begin",
            within("warm_up", terms.warm_up, (0, terms.samples - 1)),
        )?;
        let last = Stamps::SAMPLES - u64::from(terms.samples);
        valued(
            "begin",
            within("first_sample", terms.first_sample, (0, last)),
        )?;
        let bytes = u64::from(terms.samples) * StepLedger::BYTES_PER_SAMPLE;
        if let Some(half) = available_bytes().map(|available| available / 2)
            && bytes > half
        {
            let samples = terms.samples;
            return Err(OrderError::Memory {
                samples,
                bytes,
                half,
            });
        }
        self.step = Some(Step {
            terms,
            next: 0,
            started: false,
        });
        Ok(())
    }

    /// The largest step that the plan can lead to.
    fn most_samples(&self) -> u32 {
        let search = self.plan.search.map(|search| search.of);
        match &self.plan.open_loop {
            None => self.plan.sample_size,
            Some(_) if search == Some(SearchOf::Rate) => u32::MAX,
            Some(load) => {
                let expected = Schedule::new(load.clone(), 0, 0).expected();
                // A float beyond the numbers of the type becomes the largest of them.
                (expected + DEVIATIONS * expected.sqrt() + 100.0) as u32
            }
        }
    }

    fn step(&mut self, order: &'static str, by_clock: bool) -> Result<&mut Step, OrderError> {
        match &mut self.step {
            None => Err(out_of_turn(order, "no step has begun")),
            Some(step) if step.terms.by_clock != by_clock => Err(out_of_turn(
                order,
                "it mixes an open loop with a closed one",
            )),
            Some(step) => Ok(step),
        }
    }

    fn send(&mut self, samples: &[u32]) -> Result<(), OrderError> {
        let (share, seed) = (self.share, self.plan.seed);
        let step = self.step("send", false)?;
        for index in samples {
            let permitted = (step.next, step.terms.samples - 1);
            valued("send", within("index", *index, permitted))?;
            step.next = index + 1;
            let sample = step.terms.first_sample + u64::from(*index);
            let sender = sender_of(seed, sample, step.terms.clients);
            if !share.has(sender) {
                return Err(out_of_turn(
                    "send",
                    "the sample's sender is at another site",
                ));
            }
        }
        Ok(())
    }

    fn sent(&self, samples: &[Started]) -> Result<(), OrderError> {
        self.is_for("sent", &[Workload::Broadcast])?;
        let Some(Step { terms, .. }) = &self.step else {
            return Err(out_of_turn("sent", "no step has begun"));
        };
        for sample in samples {
            let indices = (0, terms.samples - 1);
            valued("sent", within("index", sample.index, indices))?;
            let sender = u64::from(sample.sender);
            valued("sent", within("sender", sender, (0, terms.clients - 1)))?;
            if self.share.has(sender) {
                return Err(out_of_turn("sent", "its sender is a client of this site"));
            }
        }
        Ok(())
    }
}

fn moment(order: &'static str, field: &'static str, at_ns: u64) -> Result<(), OrderError> {
    let latest_ns = clock::now_ns() + LATEST_NS;
    valued(order, within(field, at_ns, (0, latest_ns)))
}

fn valued(order: &'static str, checked: Result<(), PlanError>) -> Result<(), OrderError> {
    checked.map_err(|source| OrderError::Value { order, source })
}

const fn out_of_turn(order: &'static str, reason: &'static str) -> OrderError {
    OrderError::OutOfTurn { order, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run_record::{Arrivals, OpenLoop};

    const LOAD: OpenLoop = OpenLoop {
        rate: 100.0,
        ramp: None,
        arrivals: Arrivals::Constant,
        duration_ns: 1_000_000_000,
        warm_up_ns: 0,
    };

    /// Takes all orders but the last, and says why that is refused.
    fn refused(plan: &Plan, orders: &[Order]) -> String {
        let mut permits = Permits::new(plan, Share { number: 0, of: 2 });
        let (last, others) = orders.split_last().unwrap();
        for order in others {
            permits.check(order).unwrap();
        }
        permits.check(last).unwrap_err().to_string()
    }

    fn begin(by_clock: bool) -> Order {
        Order::Begin(StepTerms {
            first_sample: 0,
            samples: 20,
            warm_up: 0,
            by_clock,
            clients: 10,
        })
    }

    #[test]
    fn an_order_out_of_turn_is_refused_with_the_reason() {
        let plan = crate::test_plan("ws://127.0.0.1:1/");
        let by_clock = Plan {
            open_loop: Some(LOAD),
            ..plan.clone()
        };
        let open = || Order::Open { clients: 10 };
        let start = || Order::Start {
            load: LOAD,
            start_ns: 0,
        };
        let elsewhere = (0..20).find(|sample| sender_of(plan.seed, *sample, 10) % 2 == 1);
        let elsewhere = vec![elsewhere.unwrap() as u32];
        for (words, plan, orders) in [
            (
                "no step is under way",
                &plan,
                vec![Order::CountFrom { from_ns: 0 }],
            ),
            ("no step is under way", &plan, vec![open(), Order::Finish]),
            (
                "a step is under way",
                &plan,
                vec![open(), begin(false), begin(false)],
            ),
            (
                "no step has begun",
                &plan,
                vec![open(), Order::Send(vec![0])],
            ),
            (
                "at another site",
                &plan,
                vec![open(), begin(false), Order::Send(elsewhere)],
            ),
            (
                "mixes an open loop",
                &plan,
                vec![open(), begin(false), start()],
            ),
            ("another workload", &plan, vec![Order::Hold { until_ns: 0 }]),
            (
                "has been started",
                &by_clock,
                vec![open(), begin(true), start(), start()],
            ),
        ] {
            let error = refused(plan, &orders);
            assert!(error.contains(words), "{error}, and not {words}");
        }
    }
}
