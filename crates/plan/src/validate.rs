//! What a plan may say at all.
//!
//! One rule for the command line and for a worker that takes plans from a network: what is outside
//! of it cannot be measured, or would cost a shared worker its memory, its processor or its life.
//! Pure: whether this machine has the memory, the files and the ports is found out elsewhere.

mod mqtt;

use super::bounds::{
    EXPONENTS, FACTORS, FRAGMENTS, KEPT_BYTES, LONGEST_NS, LONGEST_TEXT, MOST_ADDRESSES,
    MOST_CLIENTS_A_STEP, MOST_HANDSHAKES, MOST_IN_FLIGHT, MOST_PADDING, MOST_POPULATIONS,
    MOST_ROOMS, MOST_SAMPLES, MOST_SHARE, MOST_THREADS, PRECISIONS, RATES, READING_RATES, STAYS,
    TIMES, TIMES_OR_NONE, TRIES, is_percentile,
};
use super::error::{Checked, PlanError, contradiction, within};
use super::redact::redacted_url;
use super::{
    Audience, Backoff, ChangesRoom, Clients, Closed, ComesAndGoes, Connect, Cut, Dialect, Life,
    Load, Nanos, OpenLoop, Plan, Population, RankedBy, Reading, Reconnect, Rooms, Search, SearchOf,
    Steps, Target, Tls, Watch,
};

mod watch;

/// Share of a peer's text that is shown.
const SHOWN: usize = 60;
/// Longest step whose every message is followed: times are kept in 32 bits of microseconds.
const LONGEST: Nanos = Nanos::secs(3600);

impl Plan {
    /// Checks that something can be measured with every value of the plan.
    ///
    /// # Errors
    /// [`PlanError`] for the first value with which nothing can be.
    pub fn validate(&self) -> Checked {
        self.validate_texts()?;
        within(
            "target.local_addrs",
            self.target.local_addrs.len(),
            (0, MOST_ADDRESSES),
        )?;
        let handshakes = (1, MOST_HANDSHAKES);
        within("connection.at_once", self.connection.at_once, handshakes)?;
        within("connection.timeout", self.connection.timeout, TIMES)?;
        self.validate_compression()?;
        self.validate_fragment()?;
        if let Some(tls) = &self.connection.tls {
            tls.validate(self)?;
        }
        self.target.validate_way()?;
        self.target.validate_nodes()?;
        self.connection.validate_handshake(&self.target)?;
        self.validate_populations()?;
        self.clients.validate()?;
        self.load.validate()?;
        self.validate_watch()?;
        self.validate_faults()?;
        self.validate_via()?;
        self.validate_dialects()?;
        self.validate_search()?;
        self.validate_audience()?;
        within("message.padding", self.message.padding, (0, MOST_PADDING))?;
        if let Some(sizes) = &self.message.sizes {
            sizes.validate()?;
            if self.message.padding > 0 {
                return Err(contradiction(
                    "message.padding",
                    "is one size, and message.sizes has several: leave one out",
                ));
            }
        }
        if self.message.lines.is_some() && (self.message.padding, &self.message.sizes) != (0, &None)
        {
            return Err(contradiction(
                "message.lines",
                "is in the place of message.padding and message.sizes: leave one out",
            ));
        }
        let is_file = self.message.dialect == Dialect::File;
        if is_file != self.message.definition.is_some() {
            return Err(contradiction(
                "message.definition",
                "belongs to the dialect `file`, and to no other: name a dialect, or the path of a \
                 dialect file as in dialect = \"./chat.toml\"",
            ));
        }
        self.validate_mqtt()?;
        self.validate_ranked_by()?;
        if self
            .message
            .definition
            .as_ref()
            .is_some_and(|of| of.lacks_secrets())
        {
            return Err(contradiction(
                "message.definition",
                "has REDACTED in the place of a secret, as written plans have: write {column} there, \
                 and give its data file",
            ));
        }
        self.validate_script()?;
        self.validate_warm_up()?;
        self.validate_limits()?;
        within(
            "generator.threads",
            self.generator.threads,
            (1, MOST_THREADS),
        )
    }

    fn validate_texts(&self) -> Checked {
        let texts = [
            ("target.url", Some(&self.target.url)),
            ("connection.origin", self.connection.origin.as_ref()),
            ("name", self.name.as_ref()),
            ("reason", self.reason.as_ref()),
        ];
        for (field, text) in texts {
            let Some(text) = text else { continue };
            within(field, text.len(), (1, LONGEST_TEXT)).map_err(|_| unfit_text(field, text))?;
            // A line break would end the header that holds it and begin another.
            if text.chars().any(char::is_control)
                || field == "connection.origin" && !text.is_ascii()
            {
                return Err(unfit_text(field, text));
            }
        }
        Ok(())
    }

    fn validate_compression(&self) -> Checked {
        match &self.connection.compression {
            None => Ok(()),
            Some(compression) => compression.validate(),
        }
    }

    fn validate_fragment(&self) -> Checked {
        let Some(fragment) = self.connection.fragment else {
            return Ok(());
        };
        within("connection.fragment", fragment, FRAGMENTS)?;
        match self.load {
            Load::Closed(_) | Load::Open(_) | Load::Watch(_) => Ok(()),
            Load::Connect(_) => Err(contradiction(
                "connection.fragment",
                "divides requests, and this load sends none: leave it out, or take load.closed or \
                 load.open",
            )),
        }
    }

    fn validate_populations(&self) -> Checked {
        let populations = (1, MOST_POPULATIONS);
        within("populations", self.populations.len(), populations)?;
        self.populations.iter().try_for_each(Population::validate)?;
        self.validate_lives()?;
        if self.populations.iter().all(reads_all) {
            return Ok(());
        }
        if !self.populations.iter().any(reads_all) {
            return Err(contradiction(
                "populations.reads",
                "is slow in each of them: one must read everything, for its clients are those that \
                 samples wait for",
            ));
        }
        match (&self.load, self.audience) {
            (Load::Closed(_) | Load::Open(_), Audience::Everyone | Audience::Room(_)) => Ok(()),
            _ => Err(contradiction(
                "populations.reads",
                "is slow, which only messages to others can show: audience = \"everyone\" or a \
                 room, with load.closed or load.open",
            )),
        }
    }

    fn validate_lives(&self) -> Checked {
        if !self.populations.iter().any(Population::leaves) {
            return Ok(());
        }
        let Load::Open(open) = &self.load else {
            return Err(contradiction(
                "populations.life",
                "has clients leave, which belongs to load.open: by any other load their leaving \
                 would move what is sent",
            ));
        };
        let changes_room = |of: &Population| matches!(of.life, Life::ChangesRoom(_));
        if self.populations.iter().any(changes_room) && !matches!(self.audience, Audience::Room(_))
        {
            return Err(contradiction(
                "populations.life.changes_room",
                "needs rooms: write [audience.room]",
            ));
        }
        if !self.populations.iter().any(Population::is_awaited) {
            return Err(contradiction(
                "populations.life",
                "has clients leave in each of them: one must stay and read everything, for its \
                 clients are those that send and that samples wait for",
            ));
        }
        let cuts = || {
            let lives = self.populations.iter().map(|of| of.life);
            lives.filter_map(|life| match life {
                Life::Cut(cut) => Some(cut),
                Life::Stays | Life::ComesAndGoes(_) | Life::ChangesRoom(_) => None,
            })
        };
        if cuts().count() > 1 {
            return Err(contradiction(
                "populations.life.cut",
                "stands in several populations: before, during and after are told of one cut",
            ));
        }
        if cuts().any(|cut| cut.at.ns() >= open.length().ns()) {
            return Err(contradiction(
                "populations.life.cut.at",
                "is not before the end of the step, which is load.open.warm_up and \
                 load.open.duration",
            ));
        }
        if cuts().count() > 0 && matches!(self.clients, Clients::Search(_)) {
            return Err(contradiction(
                "clients.search",
                "has steps of other lengths, in which a cut may not come: take clients.steps",
            ));
        }
        Ok(())
    }

    fn validate_search(&self) -> Checked {
        let Clients::Search(search) = &self.clients else {
            return Ok(());
        };
        match (&self.load, search.of) {
            (Load::Connect(_) | Load::Watch(_), _) => Err(contradiction(
                "clients.search",
                "needs requests with a time each: take load.closed or load.open, or clients.steps",
            )),
            (Load::Closed(_), SearchOf::Rate) => Err(contradiction(
                "clients.search.of",
                "is rate, which begins with the rate of load.open: give one",
            )),
            (Load::Open(OpenLoop { ramp: Some(_), .. }), SearchOf::Rate) => Err(contradiction(
                "clients.search.of",
                "is rate, which tries one rate after the other: leave out load.open.ramp",
            )),
            _ => Ok(()),
        }
    }

    fn validate_audience(&self) -> Checked {
        let rooms = match (&self.load, self.audience) {
            (_, Audience::Sender) => return Ok(()),
            (Load::Connect(_), _) => {
                return Err(contradiction(
                    "audience",
                    "is not the sender alone, as it is with load.connect: audience = \"sender\"",
                ));
            }
            (_, Audience::Everyone) => return Ok(()),
            (_, Audience::Room(rooms)) => rooms,
        };
        if self.message.dialect == Dialect::Binary {
            return Err(contradiction(
                "audience.room",
                "has no messages in the dialect `binary`: take `text`",
            ));
        }
        rooms.validate()
    }

    /// Costs are compared under one load that each server is given, and of messages.
    fn validate_ranked_by(&self) -> Checked {
        let has_one_step = matches!(&self.clients, Clients::Steps(steps) if steps.count == Some(1));
        match self.ranked_by {
            Some(RankedBy::Cost) if !has_one_step || !matches!(self.load, Load::Open(_)) => {
                Err(contradiction(
                    "ranked_by",
                    "compares what a server spends under one load: \"cost\" needs [load.open] and \
                     clients.steps.count = 1",
                ))
            }
            _ => Ok(()),
        }
    }

    fn validate_warm_up(&self) -> Checked {
        within("warm_up", self.warm_up, TIMES_OR_NONE)?;
        match &self.load {
            Load::Connect(_) if self.warm_up != Nanos(0) => Err(contradiction(
                "warm_up",
                "is made of requests, and this load has none: leave it out",
            )),
            Load::Watch(_) if self.warm_up != Nanos(0) => Err(contradiction(
                "warm_up",
                "puts the load on the server before the step, and faults come by the clock of the \
                 step: leave it out",
            )),
            _ => Ok(()),
        }
    }

    fn validate_back(&self) -> Checked {
        let Some(back) = self.limits.back else {
            return Ok(());
        };
        percentile("limits.back.percentile", back.percentile)?;
        within("limits.back.time", back.time, TIMES)?;
        let mut populations = self.populations.iter();
        let of = populations.find(|of| of.returns_after_cut());
        let Some(Life::Cut(cut)) = of.map(|of| of.life) else {
            return Err(contradiction(
                "limits.back",
                "is about clients that are cut off and come back, and there are none \
                 (populations.life.cut, populations.reconnect)",
            ));
        };
        match &self.load {
            Load::Open(open) if cut.at.ns() + back.time.ns() > open.length().ns() => {
                Err(contradiction(
                    "limits.back.time",
                    "goes on from populations.life.cut.at to after the end of the step, where nothing \
                     is known of those that are not back; raise load.open.duration",
                ))
            }
            _ => Ok(()),
        }
    }

    fn validate_limits(&self) -> Checked {
        percentile("limits.percentile", self.limits.percentile)?;
        within("limits.time", self.limits.time, TIMES)?;
        within("limits.sample_timeout", self.limits.sample_timeout, TIMES)?;
        if let Some(bytes) = self.limits.kept_bytes {
            within("limits.kept_bytes", bytes, KEPT_BYTES)?;
            if self.populations.iter().all(reads_all) {
                return Err(contradiction(
                    "limits.kept_bytes",
                    "is about clients that read slowly, and there are none (populations.reads)",
                ));
            }
        }
        self.validate_back()?;
        match &self.load {
            Load::Closed(_) | Load::Open(_) if self.limits.time >= self.limits.sample_timeout => {
                Err(contradiction(
                    "limits.time",
                    "is not below limits.sample_timeout: a step would be given up before it can \
                     pass the limit; raise limits.sample_timeout",
                ))
            }
            _ => Ok(()),
        }
    }
}

fn reads_all(population: &Population) -> bool {
    population.reads == Reading::Full
}

impl Tls {
    fn validate(&self, plan: &Plan) -> Checked {
        let refused = |field, reason| Err(contradiction(field, reason));
        let has_plain_target = plan.target.has_scheme("ws:");
        if has_plain_target && !plan.has_https() {
            return refused(
                "connection.tls",
                "is for wss:// alone, and the URL begins with ws://: give a wss:// URL, or leave \
                 it out",
            );
        }
        if has_plain_target && self.server_name.is_some() {
            return refused(
                "connection.tls.server_name",
                "is the name of a wss:// server, and the URL begins with ws://: leave it out; each \
                 https:// URL asks for its own host",
            );
        }
        if self.min > self.max {
            return refused(
                "connection.tls.min",
                "is above connection.tls.max, so that no version is left to offer",
            );
        }
        if let Some(name) = &self.server_name {
            // RFC 1035, 2.3.4.
            within("connection.tls.server_name", name.len(), (1, 253))?;
        }
        let mut key = self.client_key.iter().map(|path| path.to_string_lossy());
        if key.any(|path| path.contains(char::is_control)) {
            return refused(
                "connection.tls.client_key",
                "has a line break: give the path of a PEM file that holds the key, and not the key",
            );
        }
        match (&self.client_cert, &self.client_key) {
            (Some(_), None) => refused(
                "connection.tls.client_cert",
                "is shown by clients that have its key: give connection.tls.client_key",
            ),
            (None, Some(_)) => refused(
                "connection.tls.client_key",
                "belongs to a certificate: give connection.tls.client_cert",
            ),
            _ => Ok(()),
        }
    }
}

impl Population {
    fn validate(&self) -> Checked {
        within("populations.share", self.share, (1, MOST_SHARE))?;
        if let Reading::BytesPerSecond(rate) = self.reads {
            within("populations.reads.bytes_per_second", rate, READING_RATES)?;
        }
        if self.leaves() && self.reads != Reading::Full {
            return Err(contradiction(
                "populations.life",
                "has clients leave that read slowly: what they did not take is not known then",
            ));
        }
        match self.life {
            Life::Stays => {}
            Life::ComesAndGoes(ComesAndGoes { stays, away }) => {
                within("populations.life.comes_and_goes.stays", stays, STAYS)?;
                within("populations.life.comes_and_goes.away", away, TIMES_OR_NONE)?;
            }
            Life::ChangesRoom(ChangesRoom { stays, away }) => {
                within("populations.life.changes_room.stays", stays, STAYS)?;
                within("populations.life.changes_room.away", away, TIMES_OR_NONE)?;
            }
            Life::Cut(Cut { at }) => within("populations.life.cut.at", at, TIMES_OR_NONE)?,
        }
        match self.reconnect {
            Reconnect::Never => Ok(()),
            Reconnect::Backoff(backoff) => backoff.validate(),
        }
    }
}

impl Backoff {
    fn validate(&self) -> Checked {
        within("populations.reconnect.first", self.first, STAYS)?;
        within("populations.reconnect.factor", self.factor, FACTORS)?;
        let most = (self.first, Nanos(LONGEST_NS));
        within("populations.reconnect.most", self.most, most)?;
        within("populations.reconnect.jitter", self.jitter, (0.0, 1.0))
    }
}

impl Rooms {
    fn validate(self) -> Checked {
        let rooms = (1, MOST_ROOMS);
        match self {
            Self::Equal(count) => within("audience.room.equal", count, rooms),
            Self::Members(members) => within("audience.room.members", members, rooms),
            Self::Zipf(zipf) => {
                within("audience.room.zipf.rooms", zipf.rooms, rooms)?;
                within("audience.room.zipf.exponent", zipf.exponent, EXPONENTS)
            }
        }
    }
}

impl Clients {
    fn validate(&self) -> Checked {
        match self {
            Self::Steps(Steps { first, add, count }) => {
                within("clients.steps.first", *first, (1, MOST_CLIENTS_A_STEP))?;
                // 0: every step has as many clients.
                within("clients.steps.add", *add, (0, MOST_CLIENTS_A_STEP))?;
                within("clients.steps.count", count.unwrap_or(1), (1, u32::MAX))
            }
            Self::Search(search) => search.validate(),
        }
    }
}

impl Search {
    fn validate(&self) -> Checked {
        within("clients.search.first", self.first, (1, MOST_CLIENTS_A_STEP))?;
        within("clients.search.tries", self.tries, TRIES)?;
        within("clients.search.precision", self.precision, PRECISIONS)
    }
}

impl Load {
    fn validate(&self) -> Checked {
        match self {
            Self::Closed(Closed { in_flight, samples }) => {
                within("load.closed.in_flight", *in_flight, (1, MOST_IN_FLIGHT))?;
                within("load.closed.samples", *samples, (1, MOST_SAMPLES))
            }
            Self::Open(open) => {
                open.validate()?;
                match open.ramp {
                    Some(ramp) if ramp.over > open.duration => Err(contradiction(
                        "load.open.duration",
                        "is shorter than load.open.ramp.over, so that the end of the ramp would \
                         not be reached; raise it",
                    )),
                    _ => Ok(()),
                }
            }
            Self::Connect(connect) => connect.validate(),
            Self::Watch(watch) => watch.validate(),
        }
    }
}

impl OpenLoop {
    /// Checks that requests can be sent so. A ramp may be longer than the step: the first steps of a
    /// search are short.
    ///
    /// # Errors
    /// As [`Plan::validate`].
    pub fn validate(&self) -> Checked {
        within("load.open.rate", self.rate, RATES)?;
        if let Some(ramp) = &self.ramp {
            within("load.open.ramp.to", ramp.to, RATES)?;
            within("load.open.ramp.over", ramp.over, TIMES)?;
        }
        within("load.open.duration", self.duration, TIMES)?;
        within("load.open.warm_up", self.warm_up, TIMES_OR_NONE)
    }
}

impl Connect {
    fn validate(&self) -> Checked {
        if let Some(rate) = self.rate {
            within("load.connect.rate", rate, RATES)?;
        }
        within("load.connect.hold", self.hold, TIMES_OR_NONE)?;
        within("load.connect.ping_interval", self.ping_interval, TIMES)?;
        // One ping at most is on its way.
        within(
            "load.connect.ping_timeout",
            self.ping_timeout,
            (Nanos(1), self.ping_interval),
        )
    }
}

fn percentile(field: &'static str, value: f64) -> Checked {
    if is_percentile(value) {
        return Ok(());
    }
    Err(PlanError::OutOfRange {
        field,
        value: value.to_string(),
        permitted: "above 0, at most 100".to_owned(),
    })
}

fn unfit_text(field: &'static str, text: &str) -> PlanError {
    let shown: String = redacted_url(text).chars().take(SHOWN).collect();
    PlanError::OutOfRange {
        field,
        value: format!("\"{}\", {} bytes", shown.escape_default(), text.len()),
        permitted: format!("1 to {LONGEST_TEXT} bytes on one line, without control characters"),
    }
}
