//! A plan drawn at random, with the server that it is carried out against.

mod beats;
pub(super) mod bytes;
pub(super) mod dialogues;
mod feeds;
mod mqtt;
mod parts;
mod populations;
mod tickets;

use super::super::bench::Draws;
use super::returns::Returns;
use plan::{
    Arrivals, Audience, BackLimit, Clients, ComesAndGoes, Compression, Connect, Dialect, Io, Life,
    Load, Message, Nanos, OpenLoop, Plan, Population, Ramp, Reading, Rooms, Search, SearchOf, Size,
    Sizes, Timestamps, Uniform, Watch, Zipf, built_in_dialect,
};
use populations::populations;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use test_servers::Framework;
use test_servers::oracle::{OracleOptions, Strikes};

/// Clients that plans may have at most, rows of the data file that names them.
pub(super) const MOST_CLIENTS: u32 = 3_000;
/// Clients of most plans.
const USUALLY_MOST: u32 = 80;
/// Most lines of the file of payloads.
pub(super) const LINES: usize = 7;
/// Most deliveries per second, their most bytes, and how many seconds of them a closed loop has.
const MOST_DELIVERIES: f64 = 4_000.0;
const MOST_BYTES: f64 = 4e6;
const CLOSED_S: f64 = 2.0;
/// Fewest requests of an open loop.
const FEWEST: f64 = 30.0;
/// From the last delivery of a request to its result where the server makes faults: what it sends
/// beyond what is due has been read when the result ends the sample.
const AFTER_FAULTS: Duration = Duration::from_millis(60);

/// How much longer than a step a client waits for an answer that is not given.
const PATIENCE: Nanos = Nanos::secs(2);
/// A server that is comfortable answers sooner than this, and one that is overloaded answers later.
const COMFORT: Nanos = Nanos::millis(1_000);

/// What is carried out, and against what.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) plan: Plan,
    pub(super) server: OracleOptions,
    pub(super) processes: u32,
    /// Requests carry the lines of a file.
    pub(super) has_lines: bool,
}

/// What the machine lets plans use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Able {
    pub(super) kernel_stamps: bool,
    pub(super) uring: bool,
}

impl Case {
    /// The same, where the machine can carry it out.
    pub(super) fn fit(mut self, able: Able) -> Self {
        let generator = &mut self.plan.generator;
        if !able.uring {
            generator.io = Io::Epoll;
        }
        if !able.kernel_stamps {
            generator.timestamps = Timestamps::User;
        }
        self
    }
}

/// Draws that answer questions.
pub(super) struct Dice(Draws);

impl Dice {
    /// True once in so many times.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.0.up_to(times - 1) == 0
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.up_to(all.len() as u64 - 1) as usize]
    }

    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.up_to(most - least)
    }
}

/// The case of a seed.
pub(super) fn case(seed: u64, able: Able) -> Case {
    let mut dice = Dice(Draws::new(seed, "plans"));
    let mut plan = Plan::new("ws://127.0.0.1:1/");
    plan.generator.seed = seed;
    plan.generator.threads = dice.one_of(&[1, 1, 2, 2, 3, 4, 8]);
    // Drawn on every machine, so that a seed means the same plan on each that is able to carry it out.
    let (uring, own_clock) = (dice.once_in(2), dice.once_in(4));
    plan.generator.io = if uring { Io::Uring } else { Io::Epoll };
    plan.generator.timestamps = match own_clock {
        true => Timestamps::User,
        false => Timestamps::Kernel,
    };
    plan.connection.query = vec!["n={n}".to_owned()];
    let mut processes = dice.one_of(&[1, 1, 1, 2, 2, 3]);
    // A busy machine must not give up what is under way.
    let (server, has_lines, time_out) = match dice.between(0, 99) {
        0 => {
            processes = 1;
            (large(&mut dice, &mut plan), false, Nanos::secs(30))
        }
        1 | 2 => (search(&mut dice, &mut plan), false, Nanos::secs(4)),
        3..=6 => (connect(&mut dice, &mut plan), false, Nanos::secs(4)),
        7..=9 => {
            processes = 1;
            let (server, has_lines) = watch(&mut dice, &mut plan);
            (server, has_lines, Nanos::secs(4))
        }
        _ => {
            let (server, has_lines) = small(&mut dice, &mut plan);
            (server, has_lines, Nanos::secs(4))
        }
    };
    let waits = server.lost.every + server.unanswered.every > 0;
    plan.limits.sample_timeout = match plan.open_loop() {
        _ if !waits => Nanos::secs(30),
        None => Nanos::secs(2),
        // What is lost is waited for until the time-out, and nothing is given up before the end.
        Some(open) => Nanos(open.length().ns() + time_out.ns()),
    };
    plan.limits.time = match plan.clients {
        Clients::Steps(_) => Nanos(plan.limits.sample_timeout.ns() - 1),
        Clients::Search(_) => COMFORT,
    };
    let mut case = Case {
        plan,
        server,
        processes,
        has_lines,
    };
    beats::draw(&mut dice, &mut case);
    feeds::draw(&mut dice, &mut case);
    tickets::draw(&mut dice, &mut case);
    parts::draw(&mut dice, &mut case);
    dialogues::draw(&mut dice, &mut case);
    mqtt::draw(&mut dice, &mut case);
    case.fit(able)
}

/// Few clients, and anything that a plan may ask for.
fn small(dice: &mut Dice, plan: &mut Plan) -> (OracleOptions, bool) {
    plan.audience = audience(dice);
    let framework = speak(dice, plan);
    let returns = Returns::draw(dice, plan);
    plan.populations = populations(dice, plan);
    plan.load = load(dice, plan);
    let is_life = |life: fn(&Life) -> bool| plan.populations.iter().any(|of| life(&of.life));
    // What clients are that change rooms when a step ends shows in the next one.
    let one_in = match is_life(|life| matches!(life, Life::ChangesRoom(_))) {
        true => dice.one_of(&[1, 1, 1, 3]),
        false => 3,
    };
    let steps = 1 + u32::from(dice.once_in(one_in));
    let first = match has_kinds_in_uneven_rooms(plan) && dice.once_in(4) {
        // Of fewer, chance may spread kinds over rooms as unevenly as an error does.
        true => dice.between(200, 400) as u32,
        false => clients(dice),
    };
    plan.clients = Clients::steps(first, dice.between(1, 9) as u32, Some(steps));
    // Each process has one at least.
    plan.connection.at_once = dice.one_of(&[3, 7, 50]);
    if dice.once_in(5) {
        plan.connection.compression = Some(Compression {
            server_no_context_takeover: dice.once_in(2),
            client_no_context_takeover: dice.once_in(2),
            client_max_window_bits: Some(15),
            ..Compression::default()
        });
    }
    if dice.once_in(5) {
        plan.connection.fragment = Some(dice.one_of(&[16, 17, 100]));
    }
    let has_lines = pad(dice, plan);
    slow_down(plan, has_lines);
    limit_returns(dice, plan);
    encrypt(dice, plan);
    let server = returns.given_by(server(dice, plan, framework));
    if let (true, Some(open)) = (server.ignored.every > 0, plan.open_loop()) {
        // What is not answered in a step is given up between two: a fault would end the run before.
        let longer = open.length().ns() + PATIENCE.ns();
        plan.connection.timeout = Nanos(longer);
    }
    if server.ignored.every > 0 && first > USUALLY_MOST {
        // Between two steps each that is passed over keeps a place for as long as that.
        plan.connection.at_once = first;
    }
    (server, has_lines)
}

/// Demands of a storm by when clients are back.
fn limit_returns(dice: &mut Dice, plan: &mut Plan) {
    let cut = plan.populations.iter().find(|of| of.returns_after_cut());
    let Some(Life::Cut(cut)) = cut.map(|of| of.life) else {
        return;
    };
    let (percentile, ms) = (
        dice.one_of(&[50.0, 95.0, 100.0]),
        dice.one_of(&[50, 400, 2_000]),
    );
    let Some(open) = plan.open_loop().filter(|_| dice.once_in(2)) else {
        return;
    };
    let longest = open.length().ns() - cut.at.ns();
    plan.limits.back = Some(BackLimit {
        percentile,
        time: Nanos(Nanos::millis(ms).ns().min(longest)),
    });
}

/// Has some plans speak TLS: those whose clients all read, as its server wants it.
fn encrypt(dice: &mut Dice, plan: &mut Plan) {
    let all_read = plan.populations.iter().all(|of| of.reads == Reading::Full);
    if dice.once_in(5) && all_read {
        plan.target.url = plan.target.url.replacen("ws:", "wss:", 1);
    }
}

/// A search for as many clients as the server is comfortable with.
fn search(dice: &mut Dice, plan: &mut Plan) -> OracleOptions {
    plan.audience = dice.one_of(&[Audience::Sender, Audience::Everyone]);
    let framework = speak(dice, plan);
    plan.message.padding = 64;
    plan.load = Load::closed(8, 8);
    plan.clients = Clients::Search(Search {
        of: SearchOf::Clients,
        first: dice.between(3, 9) as u32,
        tries: 1,
        precision: dice.one_of(&[0.05, 0.3]),
    });
    encrypt(dice, plan);
    OracleOptions {
        framework,
        delay: Duration::from_millis(dice.one_of(&[5, 20])),
        members_only: true,
        comfortable: Some(dice.between(4, 40) as u32),
        ..OracleOptions::default()
    }
}

/// Connections that are held, with pings.
fn connect(dice: &mut Dice, plan: &mut Plan) -> OracleOptions {
    plan.audience = Audience::Sender;
    let framework = speak(dice, plan);
    let steps = dice.between(1, 3) as u32;
    plan.clients = Clients::steps(clients(dice), dice.between(1, 9) as u32, Some(steps));
    plan.connection.at_once = dice.one_of(&[3, 7, 50]);
    let interval = Nanos::millis(dice.one_of(&[1_000, 2_000]));
    plan.load = Load::Connect(Connect {
        rate: dice.once_in(2).then_some(200.0),
        arrivals: dice.one_of(&[Arrivals::Constant, Arrivals::Poisson]),
        hold: Nanos::millis(dice.one_of(&[300, 3_000])),
        ping_interval: interval,
        ping_timeout: interval,
    });
    encrypt(dice, plan);
    OracleOptions {
        framework,
        ..OracleOptions::default()
    }
}

/// Messages that are followed to each client.
fn watch(dice: &mut Dice, plan: &mut Plan) -> (OracleOptions, bool) {
    plan.audience = Audience::Everyone;
    let framework = speak(dice, plan);
    let returns = Returns::draw(dice, plan);
    plan.clients = Clients::steps(clients(dice), 1, Some(1));
    plan.connection.at_once = dice.one_of(&[3, 7, 50]);
    if dice.once_in(5) {
        plan.connection.compression = Some(Compression::default());
    }
    if dice.once_in(5) {
        plan.connection.fragment = Some(dice.one_of(&[16, 100]));
    }
    let has_lines = pad(dice, plan);
    plan.load = Load::Watch(Watch {
        rate: dice.one_of(&[20.0, 50.0, 400.0]),
        duration: Nanos::millis(dice.one_of(&[500, 1_500])),
        // Longer than any pause of a busy machine.
        patience: Nanos::secs(6),
    });
    slow_down(plan, has_lines);
    encrypt(dice, plan);
    (returns.given_by(server(dice, plan, framework)), has_lines)
}

/// Thousands of clients, most of which leave, in small rooms, and tens of thousands of messages: fifty
/// million pairs of a visit and a message, few of which are in one room.
fn large(dice: &mut Dice, plan: &mut Plan) -> OracleOptions {
    plan.audience = Audience::Room(Rooms::Members(dice.one_of(&[2, 3])));
    plan.clients = Clients::steps(MOST_CLIENTS, 1, Some(1));
    plan.message.padding = 64;
    plan.generator.threads = 1;
    let leaves = Life::ComesAndGoes(ComesAndGoes {
        stays: Nanos::secs(40),
        away: Nanos::millis(300),
    });
    plan.populations = vec![
        Population::default(),
        Population {
            share: 4,
            life: leaves,
            ..Population::default()
        },
    ];
    plan.load = Load::Open(OpenLoop {
        rate: 1_000.0,
        ramp: None,
        arrivals: Arrivals::Poisson,
        duration: Nanos::secs(20),
        warm_up: Nanos(0),
    });
    OracleOptions {
        delay: Duration::from_millis(20),
        result: AFTER_FAULTS,
        members_only: true,
        lost: Strikes {
            every: 3,
            first: dice.between(0, 20),
        },
        ..OracleOptions::default()
    }
}

fn audience(dice: &mut Dice) -> Audience {
    match dice.between(0, 8) {
        0 => Audience::Sender,
        1 | 2 => Audience::Everyone,
        3 | 4 => Audience::Room(Rooms::Members(dice.one_of(&[1, 2, 3, 5, 10]))),
        5 | 6 => Audience::Room(Rooms::Equal(dice.one_of(&[1, 2, 3, 7, 20, 50]))),
        _ => Audience::Room(Rooms::Zipf(Zipf {
            rooms: dice.one_of(&[1, 4, 20, 100]),
            exponent: dice.one_of(&[0.0, 1.0, 1.5]),
        })),
    }
}

/// Clients of several kinds are drawn for rooms of several sizes.
fn has_kinds_in_uneven_rooms(plan: &Plan) -> bool {
    matches!(plan.audience, Audience::Room(Rooms::Zipf(zipf)) if zipf.rooms > 1)
        && plan.populations.len() > 1
}

/// One, a few, or some tens.
fn clients(dice: &mut Dice) -> u32 {
    match dice.between(0, 5) {
        0 => dice.between(1, 3) as u32,
        1 | 2 => dice.between(4, 15) as u32,
        _ => dice.between(16, USUALLY_MOST.into()) as u32,
    }
}

fn speak(dice: &mut Dice, plan: &mut Plan) -> Framework {
    let in_rooms = matches!(plan.audience, Audience::Room(_));
    let framework = match dice.between(0, 5) {
        0 if !in_rooms => {
            plan.message.dialect = Dialect::Binary;
            Framework::Plain
        }
        1 => {
            plan.message.dialect = Dialect::Phoenix;
            let version = dice.one_of(&["1.0.0", "2.0.0"]);
            plan.target
                .url
                .push_str(&format!("socket/websocket?vsn={version}"));
            Framework::Phoenix
        }
        2 => {
            plan.message.dialect = Dialect::ActionCable;
            plan.target.url.push_str("cable");
            Framework::ActionCable
        }
        3 => {
            plan.message.dialect = Dialect::SocketIo;
            Framework::SocketIo
        }
        _ => Framework::Plain,
    };
    if dice.once_in(4) {
        describe(&mut plan.message);
    }
    framework
}

/// Has the dialect of a message be that of a file which says the same.
pub(super) fn describe(message: &mut Message) {
    // The serializer of Phoenix follows from the URL, and each has a file of its own.
    let name = match message.dialect {
        Dialect::Phoenix => return,
        dialect => dialect.name(),
    };
    let binary = || Some(bytes::binary()).filter(|file| file.name == name);
    if let Some(file) = built_in_dialect(name).or_else(binary) {
        message.dialect = Dialect::File;
        message.definition = Some(Box::new(file.clone()));
    }
}

fn load(dice: &mut Dice, plan: &Plan) -> Load {
    let leave = plan.populations.iter().any(Population::leaves);
    if !leave && dice.once_in(2) {
        return Load::closed(dice.between(1, 16) as u32, dice.between(1, 200) as u32);
    }
    let rate = dice.one_of(&[20.0, 100.0, 400.0]);
    // Of those that leave, only what they missed for a second says that it was lost.
    let lasting = match leave {
        true => dice.one_of(&[1_000, 3_000, 8_000]),
        false => dice.one_of(&[300, 1_000]),
    };
    open(dice, plan, rate, Nanos::millis(lasting))
}

fn open(dice: &mut Dice, plan: &Plan, rate: f64, duration: Nanos) -> Load {
    let ramp = dice.once_in(4).then(|| Ramp {
        to: rate * dice.one_of(&[0.5, 2.0]),
        over: Nanos(duration.ns() / dice.one_of(&[1, 2])),
    });
    // A cut comes within the measurement.
    let is_cut = |of: &Population| matches!(of.life, Life::Cut(_));
    let has_cut = plan.populations.iter().any(is_cut);
    let warms_up = dice.once_in(4) && !has_cut;
    Load::Open(OpenLoop {
        rate,
        ramp,
        arrivals: match dice.once_in(2) {
            true => Arrivals::Poisson,
            false => Arrivals::Constant,
        },
        duration,
        warm_up: Nanos(Nanos::millis(400).ns() * u64::from(warms_up)),
    })
}

/// Gives payloads their size. True where they are the lines of a file.
fn pad(dice: &mut Dice, plan: &mut Plan) -> bool {
    match dice.between(0, 5) {
        0 => {
            let sizes = [64, 200, 3_000].map(|bytes| Size { bytes, weight: 1 });
            plan.message.sizes = Some(Sizes::Weighted(sizes.to_vec()));
        }
        1 => {
            let (from, to) = (64, 900);
            plan.message.sizes = Some(Sizes::Uniform(Uniform { from, to }));
        }
        2 => return true,
        _ => plan.message.padding = dice.one_of(&[64, 64, 200, 20_000]),
    }
    false
}

/// Has the server send no more in a second than a busy machine can.
fn slow_down(plan: &mut Plan, has_lines: bool) {
    let clients = plan.clients.first();
    let hearers = match plan.audience {
        Audience::Sender => 1,
        Audience::Room(Rooms::Members(members)) => members,
        Audience::Room(Rooms::Equal(rooms)) => clients / rooms + 1,
        Audience::Room(Rooms::Zipf(_)) | Audience::Everyone => clients,
    };
    let bytes = plan
        .message
        .longest_padding()
        .max(u32::from(has_lines) * 1_000)
        + 200;
    let most = MOST_DELIVERIES.min(MOST_BYTES / f64::from(bytes)) / f64::from(hearers);
    match &mut plan.load {
        Load::Open(open) => {
            open.rate = open.rate.min(most);
            let mut slowest = open.rate;
            if let Some(ramp) = &mut open.ramp {
                ramp.to = ramp.to.min(most);
                slowest = slowest.min(ramp.to);
            }
            // A Poisson process of fewer may have no arrival at all.
            let fewest = Nanos((FEWEST * 1e9 / slowest) as u64);
            open.duration = open.duration.max(fewest);
        }
        Load::Closed(closed) => {
            let samples = most * CLOSED_S;
            closed.samples = closed.samples.min(samples as u32 + 1);
            closed.in_flight = closed.in_flight.min(closed.samples);
        }
        Load::Watch(watch) => {
            watch.rate = watch.rate.min(most);
            // One message at least.
            let one = Nanos((1e9 / watch.rate).ceil() as u64);
            watch.duration = watch.duration.max(one);
        }
        Load::Connect(_) => {}
    }
}

fn server(dice: &mut Dice, plan: &Plan, framework: Framework) -> OracleOptions {
    let mut server = OracleOptions {
        framework,
        delay: Duration::from_millis(dice.one_of(&[5, 20, 50])),
        result: Duration::from_millis(dice.one_of(&[0, 10])),
        members_only: !dice.once_in(4),
        ..OracleOptions::default()
    };
    let lives = || plan.populations.iter().map(|of| of.life);
    if lives().any(|life| matches!(life, Life::Cut(_))) && dice.once_in(3) {
        server.closes_door = Some(Duration::ZERO);
    }
    if lives().any(|life| matches!(life, Life::ChangesRoom(_))) && !dice.once_in(3) {
        let (every, first) = (dice.one_of(&[2, 3, 17]), dice.between(0, 5));
        server.ignored = Strikes { every, first };
    }
    if !dice.once_in(2) {
        return server;
    }
    server.result = AFTER_FAULTS;
    let to_others = plan.audience != Audience::Sender;
    let in_rooms = matches!(plan.audience, Audience::Room(_));
    for _ in 0..2 {
        match dice.between(0, 4) {
            0 => server.lost = strikes(dice),
            1 => server.duplicate = strikes(dice),
            2 => server.corrupt = strikes(dice),
            3 if in_rooms => server.misdirected = strikes(dice),
            4 if to_others => server.unanswered = strikes(dice),
            _ => {}
        }
    }
    server
}

fn strikes(dice: &mut Dice) -> Strikes {
    Strikes {
        every: dice.one_of(&[3, 17, 101]),
        first: dice.between(0, 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plan_that_is_drawn_can_be_carried_out() {
        let able = Able {
            kernel_stamps: true,
            uring: true,
        };
        for seed in 0..20_000 {
            let case = case(seed, able);
            assert_eq!(case.plan.validate(), Ok(()), "{seed} {case:?}");
        }
    }

    /// Of a hundred clients the law of rooms tells little. Where clients are hundreds, it finds about half
    /// of the plans whose kinds and rooms are drawn from one number.
    #[test]
    fn one_plan_in_fifty_has_enough_clients_to_tell_how_kinds_are_spread_over_rooms() {
        let able = Able {
            kernel_stamps: true,
            uring: true,
        };
        let tells = |seed: &u64| {
            let plan = case(*seed, able).plan;
            has_kinds_in_uneven_rooms(&plan) && plan.clients.first() >= 200
        };
        let of = 20_000;
        let count = (0..of).filter(tells).count() as u64;
        assert!((of / 60..of / 30).contains(&count), "{count} of {of}");
    }
}
