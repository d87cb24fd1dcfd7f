//! What a client sends by the clock.

use super::bytes::{self, Fill};
use super::error::DialectError;
use super::placeholders::with_variables;
use plan::{BeatInterval, DialectFile, Meaning, Nanos, TemplateForm};

/// What each ready client sends by the clock.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heartbeat {
    pub(crate) every: Every,
    /// The share of that by which a beat may come earlier.
    pub(crate) jitter: f64,
    pub(crate) message: Beat,
    /// The server answers each.
    pub(crate) is_answered: bool,
    /// How long its answer may take; `None` for until the next beat.
    pub(crate) within_ns: Option<u64>,
}

/// The time between two beats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Every {
    Fixed(u64),
    /// What the server told the client.
    Told {
        name: String,
        unit_ns: u64,
        /// Where it did not tell it, nor need it.
        otherwise_ns: Option<u64>,
    },
}

/// The message of a beat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Beat {
    /// With what the variables in it stand for, of the client that sends it.
    Text(String),
    /// The same in bytes.
    Fill(Fill),
    AsIs(Vec<u8>),
}

/// What a client was told is no time between two beats.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoBeat {
    #[error("it did not say `{0}`")]
    NotTold(String),
    #[error(
        "it said {text} for `{name}`, the time between two heartbeats, which is to be from {} to {}",
        plan::Heartbeat::BOUNDS.0,
        plan::Heartbeat::BOUNDS.1
    )]
    Unfit { text: String, name: String },
}

impl Every {
    /// What a client was told, in nanoseconds.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn of_client(&self, told: impl Fn(&str) -> Option<String>) -> Result<u64, NoBeat> {
        let (name, unit_ns, otherwise_ns) = match self {
            Self::Fixed(ns) => return Ok(*ns),
            Self::Told {
                name,
                unit_ns,
                otherwise_ns,
            } => (name, *unit_ns, *otherwise_ns),
        };
        let Some(text) = told(name) else {
            return otherwise_ns.ok_or_else(|| NoBeat::NotTold(name.clone()));
        };
        let (least, most) = plan::Heartbeat::BOUNDS;
        let ns = text.parse::<f64>().ok().map(|count| count * unit_ns as f64);
        match ns.filter(|ns| (least.ns() as f64..=most.ns() as f64).contains(ns)) {
            Some(ns) => Ok(ns as u64),
            None => Err(NoBeat::Unfit {
                text: text.chars().take(20).collect(),
                name: name.clone(),
            }),
        }
    }
}

/// The heartbeat of a file, if it has one.
///
/// # Errors
/// The first thing that makes no sense.
pub(super) fn compile(
    file: &DialectFile,
    outline: &DialectFile,
) -> Result<Option<Heartbeat>, DialectError> {
    let is_answer = |means| means == Meaning::Heartbeat;
    let answer = file.receive.iter().position(|rule| is_answer(rule.means));
    let Some(of) = &file.heartbeat else {
        return match answer {
            None => Ok(None),
            Some(index) => Err(DialectError::unfit(
                format!("receive[{}].means", index + 1),
                "is `heartbeat`, and the file has none to be answered",
                "write [heartbeat], or let the rule mean `ignored`",
            )),
        };
    };
    let every = every(outline, of)?;
    if !(0.0..=1.0).contains(&of.jitter) {
        return Err(DialectError::unfit(
            "heartbeat.jitter",
            format!("is {}", of.jitter),
            "write a share of `every`, from 0 to 1",
        ));
    }
    if let Some(within) = of.within {
        if answer.is_none() {
            return Err(DialectError::unfit(
                "heartbeat.within",
                "is given, and no rule says what the answer to a heartbeat is",
                "write [[receive]] with `means = \"heartbeat\"`, or leave it out",
            ));
        }
        let most = match every {
            Every::Fixed(ns) => Nanos(ns),
            Every::Told { .. } => plan::Heartbeat::BOUNDS.1,
        };
        if within.ns() == 0 || within > most {
            return Err(DialectError::unfit(
                "heartbeat.within",
                format!("is {within}"),
                format!("write a time of at most {most}, `every`, or leave it out"),
            ));
        }
    }
    Ok(Some(Heartbeat {
        every,
        jitter: of.jitter,
        message: match file.form {
            TemplateForm::Text => Beat::Text(with_variables("heartbeat.send", &of.send)?),
            TemplateForm::Hex => Beat::Fill(bytes::fill("heartbeat.send", &of.send)?),
        },
        is_answered: answer.is_some(),
        within_ns: of.within.map(Nanos::ns),
    }))
}

fn every(file: &DialectFile, of: &plan::Heartbeat) -> Result<Every, DialectError> {
    const KEY: &str = "heartbeat.every";
    let unfit = |problem: String| {
        let remedy = "write a time like `30s`, or `{name}ms` or `{name}s` for what [open] captures";
        DialectError::unfit(KEY, problem, remedy)
    };
    let shown: String = of.every.chars().take(40).collect();
    match of.interval() {
        Err(why) => Err(unfit(format!("is `{shown}`: {why}"))),
        Ok(BeatInterval::Fixed(every)) => {
            let (least, most) = plan::Heartbeat::BOUNDS;
            match (least..=most).contains(&every) {
                true => Ok(Every::Fixed(every.ns())),
                false => Err(DialectError::unfit(
                    KEY,
                    format!("is {every}"),
                    format!("write a time from {least} to {most}"),
                )),
            }
        }
        Ok(BeatInterval::Told { name, unit_ns }) => {
            let mut rules = file.open.receive.iter();
            match rules.any(|rule| rule.capture.contains_key(name)) {
                true => Ok(Every::Told {
                    name: name.to_owned(),
                    unit_ns,
                    otherwise_ns: None,
                }),
                false => Err(unfit(format!(
                    "is `{shown}`, and no rule of [open] captures `{name}`"
                ))),
            }
        }
    }
}
