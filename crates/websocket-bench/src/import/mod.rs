//! `import`: a plan of a capture, which has each client say what the captured one said.
//!
//! Captures hold secrets. None is copied unless the user says so: what looks like one becomes a reference
//! or a variable.

mod answers;
mod capture;
mod conversation;
mod data;
mod document;
mod error;
mod frames;
mod handshake;
mod har;
mod leaves;
mod limits;
mod list;
mod looks;
mod loose;
mod notes;
mod prompts;
mod purposes;
mod secrets;
mod source;
mod variables;

use crate::args::ImportArgs;
use answers::{Answer, answers};
use conversation::Conversation;
use data::write_data;
use document::{
    Clients, Compression, Definition, Document, Kind, Load, Message, Open, Rule, Send, Steps,
    Target, Turn,
};
pub(crate) use error::ImportError;
use handshake::{Handshake, place_of};
use har::Connection;
use limits::{LONGEST_PLAN, MOST_KINDS, MOST_VARIABLES};
use looks::{Look, Sight};
use notes::{
    SHOWN, note_answers, note_choice, note_conversation, note_copied, note_handshake, note_repeated,
};
use plan::{DialectFile, LONGEST_NS, Nanos};
use plan_file::PlanFile;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use variables::{Known, Templates, templates};

/// Longest message of a server that a plan permits, in bytes.
const LONGEST_HEARD: u32 = 16 << 20;
/// Clients that begin per second, where each has the gaps of the recording.
const BEGIN_PER_SECOND: f64 = 100.0;

/// A plan of a capture, and what its user has to know.
#[derive(Debug)]
pub(crate) struct Imported {
    /// The TOML file.
    pub(crate) plan: String,
    /// Lines for stderr.
    pub(crate) notes: Vec<String>,
}

/// Makes the plan, and writes the data file that is asked for.
///
/// # Errors
/// When the capture cannot be read or holds what no plan can carry.
pub(crate) fn import(args: &ImportArgs) -> Result<Imported, ImportError> {
    let connections = capture::read(args)?;
    let mut notes = Vec::new();
    let (entry, count) = (args.entry, connections.len());
    let chosen = connections.get(entry - 1);
    let chosen = chosen.ok_or(ImportError::NoEntry { entry, count })?;
    note_choice(&connections, args.entry, &mut notes);
    let conversation = Conversation::new(chosen)?;
    note_conversation(chosen, &conversation, &mut notes);
    let handshake = Handshake::new(chosen, args.keep_values)?;
    note_handshake(&handshake, &mut notes);
    let others = of_same_place(&connections, chosen, &mut notes);
    let known = match args.keep_values {
        true => Known::default(),
        false => {
            let all: Vec<&Conversation<'_>> =
                std::iter::once(&conversation).chain(&others).collect();
            Known::new(&handshake.secrets, &all)
        }
    };
    let sight = Sight::new(&conversation, &others, &known);
    let answers = answers(&conversation, &sight);
    let hides = (!args.keep_values).then_some(&known);
    let templates = with_variables(&conversation, &others, args, hides, &mut notes)?;
    if !args.keep_values {
        note_copied(&handshake, &templates, &known, &mut notes);
    }
    let data = write_data(&handshake, &templates, args.data_out.as_deref(), &mut notes)?;
    note_repeated(&conversation, &mut notes);
    let document = document(args, handshake, &conversation, &templates, &answers, data)?;
    let last = conversation.sends().last().map_or(0, |said| said.at_ns);
    note_answers(&answers, last, &mut notes);
    let plan = format!(
        "# Made by `websocket-bench import`. Change it, and run it with `websocket-bench run FILE [URL]`\n\
         # (docs/replay.md).\n{}",
        toml::to_string(&document)?
    );
    if plan.len() > LONGEST_PLAN {
        return Err(ImportError::LongPlan);
    }
    check(&plan).map_err(|why| ImportError::NoPlan {
        path: args.capture.clone(),
        why: why.to_string(),
    })?;
    let all = std::iter::once(&plan).chain(&notes);
    if let Some(name) = all.filter_map(|text| known.name_in(text)).next() {
        return Err(ImportError::Secret(name.to_owned()));
    }
    Ok(Imported { plan, notes })
}

/// The conversations of other connections to the place of one.
fn of_same_place<'c>(
    connections: &'c [Connection],
    chosen: &Connection,
    notes: &mut Vec<String>,
) -> Vec<Conversation<'c>> {
    let place = place_of(chosen).ok();
    let others = connections.iter().filter(|of| of.number != chosen.number);
    let (mut read, mut unread) = (Vec::new(), Vec::new());
    for other in others.filter(|of| place_of(of).ok() == place) {
        match Conversation::new(other) {
            Ok(conversation) => read.push(conversation),
            Err(_) => unread.push(other.number.to_string()),
        }
    }
    if !unread.is_empty() {
        let shown = unread.len().min(SHOWN);
        notes.push(format!(
            "not used for variables: {} connections to the same place that no plan can carry ({})",
            unread.len(),
            unread[..shown].join(", ")
        ));
    }
    read
}

/// The client's texts with variables, where other connections to the same place say the same but for
/// some values.
fn with_variables(
    conversation: &Conversation<'_>,
    others: &[Conversation<'_>],
    args: &ImportArgs,
    known: Option<&Known>,
    notes: &mut Vec<String>,
) -> Result<Templates, ImportError> {
    let is_alike = |of: &&Conversation<'_>| templates(&[conversation, of], known).is_some();
    let alike: Vec<&Conversation<'_>> = others.iter().filter(is_alike).collect();
    if alike.len() < others.len() {
        notes.push(format!(
            "not used for variables: {} connections to the same place, which differ in more than strings \
             and numbers without quotes and backslashes",
            others.len() - alike.len()
        ));
    }
    let all: Vec<&Conversation<'_>> = std::iter::once(conversation).chain(alike).collect();
    let differing = match templates(&all, known) {
        Some(found) if found.differing.is_empty() || args.data_out.is_some() => return Ok(found),
        Some(found) => found.differing.len(),
        None => 0,
    };
    if differing > 0 {
        notes.push(format!(
            "{differing} values differ between {} connections to the same place: --data-out FILE.csv \
             makes variables of them",
            all.len()
        ));
    } else if all.len() > 1 {
        notes.push(format!(
            "more than {MOST_VARIABLES} values differ: they stay as recorded"
        ));
    }
    templates(&[conversation], known).ok_or(ImportError::ManySecrets)
}

fn document(
    args: &ImportArgs,
    handshake: Handshake,
    conversation: &Conversation<'_>,
    templates: &Templates,
    answers: &[Answer],
    data: Option<String>,
) -> Result<Document, ImportError> {
    let last = conversation.sends().last().map_or(0, |said| said.at_ns);
    if last > LONGEST_NS && args.rate.is_none() {
        return Err(ImportError::Apart);
    }
    let (kinds, script) = script(args, conversation, templates, answers);
    if kinds.len() > MOST_KINDS {
        return Err(ImportError::ManyKinds(kinds.len()));
    }
    let mut rules = Vec::new();
    if conversation.heartbeats > 0 {
        rules.push(Rule::heartbeat());
    }
    rules.extend(rules_of(&kinds, &script, answers));
    rules.push(Rule::rest());
    let requests = script.len() as f64 * f64::from(args.clients);
    let open = match args.rate {
        None => Open {
            arrivals: "recorded",
            rate: BEGIN_PER_SECOND,
            duration: None,
        },
        Some(rate) => Open {
            arrivals: "constant",
            rate,
            duration: Some(Nanos::secs((requests / rate).ceil() as u64 + 1)),
        },
    };
    let longest = u32::try_from(conversation.longest_heard.saturating_mul(2)).unwrap_or(u32::MAX);
    let longest = longest.min(LONGEST_HEARD);
    Ok(Document {
        name: "replay".to_owned(),
        reason: "A recorded session, by many clients at once.".to_owned(),
        audience: "sender",
        target: (!handshake.url.is_empty()).then_some(Target { url: handshake.url }),
        connection: document::Connection {
            origin: handshake.origin,
            subprotocols: handshake.subprotocols,
            headers: handshake.headers,
            cookies: handshake.cookies,
            query: handshake.query,
            data,
            compression: handshake.is_compressed.then_some(Compression {
                client_max_window_bits: 15,
            }),
        },
        clients: Clients {
            steps: Steps {
                first: args.clients,
                add: 0,
                count: 1,
            },
        },
        load: Load { open },
        message: Message {
            dialect: "file",
            definition: Definition {
                name: "replay",
                summary: "Messages of a capture.",
                longest_message: longest.max(DialectFile::ENVELOPE),
                send: Send { kinds, script },
                receive: rules,
            },
        },
    })
}

/// The kinds of messages, one for each text, and their order.
fn script(
    args: &ImportArgs,
    conversation: &Conversation<'_>,
    templates: &Templates,
    answers: &[Answer],
) -> (Vec<Kind>, Vec<Turn>) {
    let mut names: HashMap<(&str, bool), String> = HashMap::new();
    let (mut kinds, mut script) = (Vec::new(), Vec::new());
    let sends = conversation.sends().zip(&templates.texts).zip(answers);
    for ((said, text), answer) in sends {
        let is_awaited = answer.look().is_some();
        let known = (text.as_str(), is_awaited);
        let name = names.entry(known).or_insert_with(|| {
            let name = format!("message-{}", said.number);
            kinds.push(Kind {
                name: name.clone(),
                answered: (!is_awaited).then_some(false),
                message: text.clone(),
            });
            name
        });
        let at = match args.rate {
            None => Nanos(said.at_ns),
            Some(_) => Nanos(0),
        };
        script.push(Turn {
            at,
            kind: name.clone(),
        });
    }
    (kinds, script)
}

/// A rule for each look of answers; it names the kind of requests where that is one alone.
fn rules_of(kinds: &[Kind], script: &[Turn], answers: &[Answer]) -> Vec<Rule> {
    let mut of_looks: BTreeMap<&Look, HashSet<&str>> = BTreeMap::new();
    for (turn, answer) in script.iter().zip(answers) {
        if let Some(look) = answer.look() {
            of_looks.entry(look).or_default().insert(&turn.kind);
        }
    }
    let only = |of: &HashSet<&str>| match of.len() {
        1 if kinds.len() > 1 => of.iter().next().map(|name| (*name).to_owned()),
        _ => None,
    };
    let mut rules: Vec<(&Look, Option<String>)> = of_looks
        .iter()
        .map(|(look, of)| (*look, only(of)))
        .collect();
    rules.sort_by_key(|(look, _)| look.rank());
    let rules = rules.into_iter();
    rules.map(|(look, kind)| Rule::answer(look, kind)).collect()
}

/// The plan is one that `run` takes.
fn check(plan: &str) -> Result<(), Box<dyn Error>> {
    let mut plan = PlanFile::parse("the plan", plan, "")?.plan()?;
    if plan.target.url.is_empty() {
        // `run` gets one.
        plan.target.url.push_str("ws://localhost/");
    }
    plan.validate()?;
    Ok(ws_load::check_message(&plan)?)
}
