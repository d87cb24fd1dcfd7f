//! `import`: a plan of a capture, which has each client say what the captured one said.
//!
//! Captures hold secrets. None is copied: what looks like one becomes a reference or a variable.

mod answers;
mod conversation;
mod document;
mod handshake;
mod har;
mod leaves;
mod variables;

use crate::args::ImportArgs;
use answers::{Look, answers};
use conversation::Conversation;
use document::{
    Clients, Compression, Definition, Document, Kind, Load, Message, Open, Rule, Send, Steps,
    Target, Turn,
};
use handshake::{Handshake, place_of};
use har::Connection;
use plan_file::PlanFile;
use run_record::{DialectFile, LONGEST_NS, Nanos};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use variables::{MOST_VARIABLES, Templates, templates};

/// Most different messages of a client, which are the kinds of a dialect's script.
const MOST_KINDS: usize = 1000;
/// Longest file of a plan, in bytes.
const LONGEST_PLAN: usize = 4 << 20;
/// Clients that begin per second, where each has the gaps of the recording.
const BEGIN_PER_SECOND: f64 = 100.0;
/// Shortest text of a server that is looked for in what the client says later, in bytes.
const SHORTEST_REPEATED: usize = 8;
/// Most names of a list in a note.
const SHOWN: usize = 8;

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
/// In words, when the capture cannot be read or holds what no plan can carry.
pub(crate) fn import(args: &ImportArgs) -> Result<Imported, String> {
    let connections = har::read(&args.capture)?;
    let mut notes = Vec::new();
    let chosen = choose(&connections, args.entry, &mut notes)?;
    let conversation = Conversation::of(chosen)?;
    note_conversation(chosen, &conversation, &mut notes);
    let handshake = Handshake::of(chosen)?;
    note_handshake(&handshake, &mut notes);
    let alike = of_same_place(&connections, chosen);
    let templates = with_variables(&conversation, &alike, args, &mut notes)?;
    let data = write_data(&handshake, &templates, args.data_out.as_deref(), &mut notes)?;
    note_repeated(&conversation, &mut notes);
    let document = document(args, handshake, &conversation, &templates, data, &mut notes)?;
    let plan = format!(
        "# Made by `websocket-bench import`. Change it, and run it with `websocket-bench run FILE [URL]`\n\
         # (docs/replay.md).\n{}",
        toml::to_string(&document)
            .map_err(|error| format!("this plan has no TOML file: {error}"))?
    );
    if plan.len() > LONGEST_PLAN {
        return Err(format!(
            "the plan would have more than {} MiB, and no plan has: record a shorter session",
            LONGEST_PLAN >> 20
        ));
    }
    check(&plan, &args.capture)?;
    Ok(Imported { plan, notes })
}

/// The connection with that number, by default the first. The others are named.
fn choose<'c>(
    connections: &'c [Connection],
    entry: usize,
    notes: &mut Vec<String>,
) -> Result<&'c Connection, String> {
    let Some(chosen) = connections.get(entry - 1) else {
        return Err(format!(
            "there is no connection {entry}: the capture has {}, counted from 1",
            connections.len()
        ));
    };
    if connections.len() > 1 {
        let shown = connections.iter().take(SHOWN).map(|of| {
            let place = place_of(of).unwrap_or_else(|_| "an unreadable URL".to_owned());
            format!("{} {place} ({} messages)", of.number, of.messages.len())
        });
        let shown: Vec<String> = shown.collect();
        notes.push(format!(
            "connection {entry} of {} is taken; --entry N takes another: {}",
            connections.len(),
            shown.join(", ")
        ));
    }
    Ok(chosen)
}

fn note_conversation(
    chosen: &Connection,
    conversation: &Conversation<'_>,
    notes: &mut Vec<String>,
) {
    let place = chosen.number;
    if conversation.heartbeats > 0 {
        notes.push(format!(
            "connection {place} has {} heartbeats of Engine.IO (`2`): each client answers those of \
             its own connection with `3`, and the recorded answers are left out",
            conversation.heartbeats
        ));
    }
    if conversation.left_out > 0 {
        notes.push(format!(
            "connection {place} has {} entries that are no messages (close, ping, pong, errors): \
             they are left out",
            conversation.left_out
        ));
    }
}

fn note_handshake(handshake: &Handshake, notes: &mut Vec<String>) {
    for (variable, what) in &handshake.wanted {
        notes.push(format!(
            "{what} is not copied: set the environment variable {variable} for the run, or write \
             another reference in the plan (docs/plan.md, Secrets)"
        ));
    }
    let mut left_out = handshake.left_out.clone();
    left_out.sort_unstable();
    left_out.dedup();
    if !left_out.is_empty() {
        let shown = left_out.len().min(SHOWN);
        let more = match left_out.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        notes.push(format!(
            "left out of the handshake: {}{more}; connection.headers takes header lines",
            left_out[..shown].join(", ")
        ));
    }
}

/// The other connections to the place of one.
fn of_same_place<'c>(connections: &'c [Connection], chosen: &Connection) -> Vec<&'c Connection> {
    let place = place_of(chosen).ok();
    let others = connections.iter().filter(|of| of.number != chosen.number);
    others.filter(|of| place_of(of).ok() == place).collect()
}

/// The client's texts with variables, where other connections to the same place say the same but for
/// some values.
fn with_variables(
    conversation: &Conversation<'_>,
    others: &[&Connection],
    args: &ImportArgs,
    notes: &mut Vec<String>,
) -> Result<Templates, String> {
    let (mut alike, mut unlike) = (Vec::new(), Vec::new());
    for other in others {
        let read = Conversation::of(other).ok();
        let is_alike = |of: &Conversation<'_>| templates(&[conversation, of]).is_some();
        match read.filter(is_alike) {
            Some(read) => alike.push(read),
            None => unlike.push(other.number.to_string()),
        }
    }
    if !unlike.is_empty() {
        let shown = unlike.len().min(SHOWN);
        notes.push(format!(
            "not used for variables: {} connections to the same place ({}), which differ in more than \
             strings and numbers without quotes and backslashes",
            unlike.len(),
            unlike[..shown].join(", ")
        ));
    }
    let all: Vec<&Conversation<'_>> = std::iter::once(conversation).chain(&alike).collect();
    let differing = match templates(&all) {
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
    } else {
        notes.push(format!(
            "more than {MOST_VARIABLES} values differ: they stay as recorded"
        ));
    }
    templates(&[conversation]).ok_or_else(|| {
        format!(
            "the client's messages have more than {MOST_VARIABLES} secrets: record a shorter session"
        )
    })
}

/// Writes the rows of the connections. Secret columns are empty, and named for the user to fill in.
fn write_data(
    handshake: &Handshake,
    templates: &Templates,
    path: Option<&Path>,
    notes: &mut Vec<String>,
) -> Result<Option<String>, String> {
    let secret: Vec<&String> = handshake.columns.iter().chain(&templates.secret).collect();
    let names: Vec<&str> = secret.iter().map(|name| name.as_str()).collect();
    let Some(path) = path else {
        if !names.is_empty() {
            notes.push(format!(
                "not copied, since it may be secret: {}; give connection.data a file with these \
                 columns, of which --data-out FILE.csv writes the head",
                names.join(", ")
            ));
        }
        return Ok(None);
    };
    if names.is_empty() && templates.differing.is_empty() {
        notes.push(format!(
            "{} is not written: no value differs between connections",
            path.display()
        ));
        return Ok(None);
    }
    let unwritten = |error: &dyn std::fmt::Display| {
        format!("cannot write --data-out {}: {error}", path.display())
    };
    let differing = &templates.differing;
    let rows = differing.first().map_or(1, |(_, row)| row.len());
    let mut out = csv::Writer::from_writer(Vec::new());
    let head = names
        .iter()
        .copied()
        .chain(differing.iter().map(|(name, _)| name.as_str()));
    out.write_record(head).map_err(|error| unwritten(&error))?;
    for row in 0..rows {
        let values = differing.iter().map(|(_, values)| values[row].as_str());
        let empty = names.iter().map(|_| "");
        out.write_record(empty.chain(values))
            .map_err(|error| unwritten(&error))?;
    }
    let bytes = out.into_inner().map_err(|error| unwritten(&error))?;
    // Values of messages are those of users.
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path);
    file.and_then(|mut file| file.write_all(&bytes))
        .map_err(|error| unwritten(&error))?;
    if !names.is_empty() {
        notes.push(format!(
            "fill in the columns {} of {}: they may be secret and are not copied",
            names.join(", "),
            path.display()
        ));
    }
    let absolute = std::path::absolute(path).map_err(|error| unwritten(&error))?;
    Ok(Some(absolute.display().to_string()))
}

/// Names what the client had from the server: each replayed client is told something else.
fn note_repeated(conversation: &Conversation<'_>, notes: &mut Vec<String>) {
    // By value: whether the server was the first to say it.
    let mut told: HashMap<&str, bool> = HashMap::new();
    let mut named = HashSet::new();
    for said in &conversation.said {
        let leaves = leaves::leaves(said.text).into_iter();
        for leaf in leaves.filter(|leaf| leaf.is_string) {
            let value = &said.text[leaf.range];
            if value.len() < SHORTEST_REPEATED {
                continue;
            }
            let is_told = *told.entry(value).or_insert(!said.is_sent);
            let is_repeated = said.is_sent && is_told;
            if is_repeated && named.len() < SHOWN && named.insert(leaf.key.clone()) {
                notes.push(format!(
                    "message {} repeats `{}`, which the server had told: where each client is told its \
                     own, keep it with `capture` (docs/dialects.md) and write it as a variable",
                    said.number, leaf.key
                ));
            }
        }
    }
}

fn document(
    args: &ImportArgs,
    handshake: Handshake,
    conversation: &Conversation<'_>,
    templates: &Templates,
    data: Option<String>,
    notes: &mut Vec<String>,
) -> Result<Document, String> {
    let last = conversation.sends().last().map_or(0, |said| said.at_ns);
    if last > LONGEST_NS && args.rate.is_none() {
        return Err(
            "the messages of the capture are more than a day apart: give --rate".to_owned(),
        );
    }
    let answers = answers(conversation);
    let (kinds, script) = script(args, conversation, templates, &answers);
    if kinds.len() > MOST_KINDS {
        return Err(format!(
            "the client has {} different messages, and {MOST_KINDS} is the most that a plan has: \
             record a shorter session",
            kinds.len()
        ));
    }
    let mut rules = Vec::new();
    if conversation.heartbeats > 0 {
        rules.push(Rule::heartbeat());
    }
    rules.extend(rules_of(&kinds, &script, &answers));
    rules.push(Rule::rest());
    let answered = answers.iter().flatten().count();
    notes.push(format!(
        "{} messages of the client in {}; {answered} of them have an answer that is awaited, the rest \
         is sent and no more. Contents are not checked",
        script.len(),
        Nanos(last)
    ));
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
    let longest = u32::try_from(conversation.longest_heard().saturating_mul(2)).unwrap_or(u32::MAX);
    Ok(Document {
        name: "replay".to_owned(),
        reason: "A recorded session, by many clients at once.".to_owned(),
        audience: "sender",
        target: Target { url: handshake.url },
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
    answers: &[Option<Look>],
) -> (Vec<Kind>, Vec<Turn>) {
    let mut names: HashMap<(&str, bool), String> = HashMap::new();
    let (mut kinds, mut script) = (Vec::new(), Vec::new());
    let sends = conversation.sends().zip(&templates.texts).zip(answers);
    for ((said, text), answer) in sends {
        let known = (text.as_str(), answer.is_some());
        let name = names.entry(known).or_insert_with(|| {
            let name = format!("message-{}", said.number);
            kinds.push(Kind {
                name: name.clone(),
                answered: answer.is_none().then_some(false),
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
fn rules_of(kinds: &[Kind], script: &[Turn], answers: &[Option<Look>]) -> Vec<Rule> {
    let mut of_looks: BTreeMap<&Look, HashSet<&str>> = BTreeMap::new();
    for (turn, look) in script.iter().zip(answers) {
        if let Some(look) = look {
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
    // What asks for more comes first: the first rule that matches decides.
    rules.sort_by_key(|(look, _)| match look {
        Look::Json(_, held) => std::cmp::Reverse(held.len()),
        _ => std::cmp::Reverse(usize::MAX),
    });
    let rules = rules.into_iter();
    rules.map(|(look, kind)| Rule::answer(look, kind)).collect()
}

/// The plan is one that `run` takes.
fn check(plan: &str, capture: &Path) -> Result<(), String> {
    let made = PlanFile::parse("the plan", plan, "").and_then(|file| {
        let plan = file.plan()?;
        plan.validate().map_err(|error| error.to_string())?;
        ws_load::check_message(&plan).map_err(|error| error.to_string())
    });
    made.map_err(|why| format!("{} makes no plan: {why}", capture.display()))
}
