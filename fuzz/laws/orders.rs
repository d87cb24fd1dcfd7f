//! Laws of the orders that a site takes from a network: any bytes as `ws_load::site::Order`, and any
//! orders before `ws_load::site::Permits`.

use run_record::{Arrivals, Connecting, MOST_CLIENTS, OpenLoop, Plan, Search, SearchOf, Workload};
use serde_json::Value;
use ws_load::site::{Order, Permits, Share};

const SECOND_NS: u64 = 1_000_000_000;

/// Byte 0: two bits which plan, one bit which site of two. After it orders, each behind a byte with
/// its length.
pub(crate) fn check(data: &[u8]) {
    let Some((options, mut rest)) = data.split_first() else {
        return;
    };
    let plan = plan(options & 3);
    plan.validate().expect("the plans here are valid");
    let share = Share {
        number: u32::from(options >> 2 & 1),
        of: 2,
    };
    let mut permits = Permits::new(&plan, share);
    let mut books = Books::default();
    while let Some((length, behind)) = rest.split_first() {
        let (item, behind) = behind.split_at(usize::from(*length).min(behind.len()));
        rest = behind;
        let Some(order) = read(item) else { continue };
        // A site ends with an order that it does not obey.
        if permits.check(&order).is_err() {
            return;
        }
        books.note(&plan, share, &order);
    }
}

/// An order that can be read is written in no more bytes, and is the same when it is read again.
fn read(item: &[u8]) -> Option<Order> {
    let order: Order = postcard::from_bytes(item).ok()?;
    let written = postcard::to_stdvec(&order).expect("an order can be written");
    assert!(written.len() <= item.len(), "{order:?}");
    let again: Order = postcard::from_bytes(&written).expect("what was written can be read");
    assert_eq!(postcard::to_stdvec(&again), Ok(written));
    Some(order)
}

/// A closed and an open loop, a search by rate and held connections.
fn plan(number: u8) -> Plan {
    let open_loop = OpenLoop {
        rate: 100.0,
        ramp: None,
        arrivals: Arrivals::Poisson,
        duration_ns: SECOND_NS,
        warm_up_ns: 0,
    };
    let plan = Plan {
        workload: Workload::Broadcast,
        connect: None,
        concurrent: 4,
        sample_size: 50,
        initial_clients: 10,
        step_size: 10,
        ..ws_load::plan_for_port(1, 10, 1)
    };
    match number {
        0 => plan,
        1 => Plan {
            open_loop: Some(open_loop),
            ..plan
        },
        2 => Plan {
            workload: Workload::Echo,
            open_loop: Some(open_loop),
            search: Some(Search {
                of: SearchOf::Rate,
                tries: 3,
                precision: 0.02,
            }),
            total_steps: None,
            ..plan
        },
        _ => Plan {
            workload: Workload::Connect,
            connect: Some(Connecting {
                rate: Some(100.0),
                arrivals: Arrivals::Constant,
                hold_ns: SECOND_NS,
                ping_interval_ns: SECOND_NS,
                ping_timeout_ns: SECOND_NS,
            }),
            ..plan
        },
    }
}

/// What the orders so far have said, kept independently of the checks.
#[derive(Default)]
struct Books {
    clients: u64,
    /// Clients of the step, which an order in mid-step to open others does not change.
    of_step: u64,
    samples: u64,
    next: u64,
    started: bool,
    under_way: bool,
}

impl Books {
    /// Holds an order that was accepted against the plan and the orders before it.
    fn note(&mut self, plan: &Plan, share: Share, order: &Order) {
        let fields = serde_json::to_value(order).expect("an order has a JSON form");
        let number = |path: &str| fields.pointer(path).and_then(Value::as_u64).unwrap();
        let has_requests = plan.workload != Workload::Connect;
        match order {
            Order::Open { clients } => {
                assert!(has_requests && (1..=MOST_CLIENTS).contains(clients));
                self.clients = *clients;
            }
            Order::Connect(_) => {
                assert!(!has_requests && !self.under_way);
                let (wanted, have) = (number("/Connect/wanted"), number("/Connect/have"));
                assert!(have <= wanted && (1..=MOST_CLIENTS).contains(&wanted));
                let rate = fields.pointer("/Connect/by_clock/rate");
                assert_eq!(rate.and_then(Value::as_f64), plan.connect.unwrap().rate);
                self.under_way = true;
            }
            Order::Hold { .. } => assert!(!has_requests),
            Order::Begin(_) => {
                assert!(has_requests && !self.under_way);
                assert_eq!(number("/Begin/clients"), self.clients);
                let samples = number("/Begin/samples");
                let most = match (&plan.open_loop, plan.search) {
                    (None, _) => u64::from(plan.sample_size),
                    // The mean and ten of its standard deviations.
                    (Some(_), None) => 100 + 10 * 10 + 100,
                    (Some(_), Some(_)) => u64::from(u32::MAX),
                };
                assert!((1..=most).contains(&samples), "{samples} of {most}");
                assert!(number("/Begin/warm_up") < samples);
                let by_clock = fields.pointer("/Begin/by_clock").unwrap();
                assert_eq!(by_clock.as_bool(), Some(plan.open_loop.is_some()));
                *self = Self {
                    clients: self.clients,
                    of_step: self.clients,
                    samples,
                    under_way: true,
                    ..Self::default()
                };
            }
            Order::Send(indices) => {
                assert!(plan.open_loop.is_none());
                for index in indices {
                    let index = u64::from(*index);
                    assert!((self.next..self.samples).contains(&index));
                    self.next = index + 1;
                }
            }
            Order::CountFrom { .. } => assert!(self.under_way),
            Order::Start { load, .. } => {
                assert!(plan.open_loop.is_some() && load.validate().is_ok());
                assert!(!std::mem::replace(&mut self.started, true));
            }
            Order::Sent(samples) => {
                assert_eq!(plan.workload, Workload::Broadcast);
                for place in 0..samples.len() {
                    assert!(number(&format!("/Sent/{place}/index")) < self.samples);
                    let sender = number(&format!("/Sent/{place}/sender"));
                    assert!(sender < self.of_step);
                    assert_ne!(sender % u64::from(share.of), u64::from(share.number));
                }
            }
            Order::Finish => assert!(std::mem::replace(&mut self.under_way, false)),
            Order::Anew => *self = Self::default(),
            Order::GiveUp { .. } | Order::Close => {}
        }
    }
}
