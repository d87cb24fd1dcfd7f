//! Laws of the commands that a site takes from a network: any bytes as `ws_load::cluster::Command`, and any
//! commands before `ws_load::cluster::Permits`.

use plan::{
    Arrivals, Audience, Clients, Connect, Load, MOST_CLIENTS, Nanos, OpenLoop, Plan, Search,
    SearchOf, Workload,
};
use serde_json::Value;
use ws_load::cluster::{Command, Permits, Share};

/// Byte 0: two bits which plan, one bit which site of two. After it commands, each behind a byte with
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
    let mut ledger = Ledger::default();
    while let Some((length, behind)) = rest.split_first() {
        let (item, behind) = behind.split_at(usize::from(*length).min(behind.len()));
        rest = behind;
        let Some(command) = read(item) else { continue };
        // A site ends with a command that it does not obey.
        if permits.check(&command).is_err() {
            return;
        }
        ledger.note(&plan, share, &command);
    }
}

/// A command that can be read is written in no more bytes, and is the same when it is read again.
fn read(item: &[u8]) -> Option<Command> {
    let command: Command = postcard::from_bytes(item).ok()?;
    let written = postcard::to_stdvec(&command).expect("a command can be written");
    assert!(written.len() <= item.len(), "{command:?}");
    let again: Command = postcard::from_bytes(&written).expect("what was written can be read");
    assert_eq!(postcard::to_stdvec(&again), Ok(written));
    Some(command)
}

/// A closed and an open loop, a search by rate and held connections.
fn plan(number: u8) -> Plan {
    let plan = Plan {
        audience: Audience::Everyone,
        load: Load::closed(4, 50),
        clients: Clients::steps(10, 10, Some(1)),
        ..Plan::new("ws://127.0.0.1:1/")
    };
    let open = Load::Open(OpenLoop {
        rate: 100.0,
        duration: Nanos::secs(1),
        ramp: None,
        arrivals: Arrivals::Poisson,
        warm_up: Nanos(0),
    });
    match number {
        0 => plan,
        1 => Plan { load: open, ..plan },
        2 => Plan {
            audience: Audience::Sender,
            load: open,
            clients: Clients::Search(Search {
                of: SearchOf::Rate,
                ..Search::default()
            }),
            ..plan
        },
        _ => Plan {
            audience: Audience::Sender,
            load: Load::Connect(Connect {
                rate: Some(100.0),
                hold: Nanos::secs(1),
                ping_interval: Nanos::secs(1),
                ping_timeout: Nanos::secs(1),
                ..Connect::default()
            }),
            ..plan
        },
    }
}

/// What the commands so far have said, kept independently of the checks.
#[derive(Default)]
struct Ledger {
    clients: u64,
    samples: u64,
    next: u64,
    started: bool,
    under_way: bool,
}

impl Ledger {
    /// Holds a command that was accepted against the plan and the commands before it.
    fn note(&mut self, plan: &Plan, share: Share, command: &Command) {
        let fields = serde_json::to_value(command).expect("a command has a JSON form");
        let number = |path: &str| fields.pointer(path).and_then(Value::as_u64).unwrap();
        let has_requests = plan.workload() != Workload::Connect;
        match command {
            Command::Open { clients } => {
                assert!(has_requests && !self.under_way);
                assert!((1..=MOST_CLIENTS).contains(clients));
                self.clients = *clients;
            }
            Command::OpenAndHold(_) => {
                assert!(!has_requests && !self.under_way);
                let (wanted, have) = (number("/OpenAndHold/wanted"), number("/OpenAndHold/have"));
                assert!(have <= wanted && (1..=MOST_CLIENTS).contains(&wanted));
                let rate = fields.pointer("/OpenAndHold/by_clock/rate");
                assert_eq!(rate.and_then(Value::as_f64), plan.connect().unwrap().rate);
                self.under_way = true;
            }
            Command::Hold { .. } => assert!(!has_requests),
            Command::Watch { .. } => panic!("one process watches messages"),
            Command::Begin(_) => {
                assert!(has_requests && !self.under_way);
                assert_eq!(number("/Begin/clients"), self.clients);
                let samples = number("/Begin/samples");
                let most = match (plan.open_loop(), plan.search()) {
                    (None, _) => u64::from(plan.samples()),
                    // The mean and ten of its standard deviations.
                    (Some(_), None) => 100 + 10 * 10 + 100,
                    (Some(_), Some(_)) => u64::from(u32::MAX),
                };
                assert!((1..=most).contains(&samples), "{samples} of {most}");
                assert!(number("/Begin/warm_up") < samples);
                let by_clock = fields.pointer("/Begin/by_clock").unwrap();
                assert_eq!(by_clock.as_bool(), Some(plan.open_loop().is_some()));
                *self = Self {
                    clients: self.clients,
                    samples,
                    under_way: true,
                    ..Self::default()
                };
            }
            Command::Send(indices) => {
                assert!(plan.open_loop().is_none() && self.under_way);
                for index in indices {
                    let index = u64::from(*index);
                    assert!((self.next..self.samples).contains(&index));
                    self.next = index + 1;
                }
            }
            Command::CountFrom { .. } => assert!(self.under_way),
            Command::Start { load, .. } => {
                assert!(plan.open_loop().is_some() && load.validate().is_ok());
                assert!(!std::mem::replace(&mut self.started, true));
            }
            Command::Sent(samples) => {
                assert_eq!(plan.workload(), Workload::Broadcast);
                for place in 0..samples.len() {
                    assert!(number(&format!("/Sent/{place}/index")) < self.samples);
                    let sender = number(&format!("/Sent/{place}/sender"));
                    assert!(sender < self.clients);
                    assert_ne!(sender % u64::from(share.of), u64::from(share.number));
                }
            }
            Command::Complete(samples) => {
                assert_eq!(plan.workload(), Workload::Broadcast);
                for place in 0..samples.len() {
                    assert!(number(&format!("/Complete/{place}/index")) < self.samples);
                }
            }
            Command::Finish => assert!(std::mem::replace(&mut self.under_way, false)),
            Command::Renew => *self = Self::default(),
            Command::GiveUp { .. } | Command::Close => {}
            Command::Raw(_) => panic!("no site measures a raw echo"),
        }
    }
}
