//! What a dialect file has to have, so that requests can be written and answers understood.

use super::dialogue;
use super::error::DialectError;
use super::place::OPEN;
use super::placeholders::check_variable;
use super::progress;
use super::script;
use super::template::Template;
use super::{http, kinds, returning};
use plan::{DialectFile, Meaning, Nanos, PLACEHOLDERS, Part, Rule, parts};

/// The key of the rules for a ready client.
pub(super) const READY: &str = "receive";
/// Shortest and longest time after which a client may be ready.
const SHORTEST: Nanos = Nanos::millis(1);
const LONGEST: Nanos = Nanos::secs(60);
/// Longest summary in bytes.
const MOST_SUMMARY: usize = 200;
/// Longest separator in bytes.
const MOST_SEPARATOR: usize = 16;
/// Most kinds of requests that are chosen by weights.
const MOST_KINDS: usize = 64;

/// Checks a file but for its templates, patterns and pointers.
///
/// # Errors
/// The first thing that makes no sense, with its key and a remedy.
pub(super) fn check(file: &DialectFile) -> Result<(), DialectError> {
    check_header(file)?;
    http::check(file)?;
    check_requests(file)?;
    check_meanings(OPEN, &file.open.receive)?;
    check_meanings(READY, &file.receive)?;
    progress::check(file)?;
    check_renewed(file)?;
    check_opening(file)
}

/// What a ready client is told is something that it was told before, and knows from then on. What the
/// answer to a keep-alive repeats is known to that answer alone.
fn check_renewed(file: &DialectFile) -> Result<(), DialectError> {
    let kept = file.kept();
    for (index, rule) in file.receive.iter().enumerate() {
        for name in rule.capture.keys() {
            let key = format!("{READY}[{}].capture.{name}", index + 1);
            let mut opening = file.open.receive.iter();
            let is_known = opening.any(|rule| rule.capture.contains_key(name))
                || file.told_by_steps().any(|of| of == name)
                || kept.contains(&name.as_str());
            match (is_known, rule.means == Meaning::KeepAlive) {
                (true, true) => {
                    return Err(DialectError::unfit(
                        key,
                        "has the name of a value that [open] captures",
                        "write another name; this one is for the rule's own `send`",
                    ));
                }
                (false, false) if !dialogue::is_told_by(file, rule) => {
                    return Err(dialogue::unknown(index + 1, name));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=40).contains(&name.len()) && name.chars().all(is_of_name)
}

fn check_header(file: &DialectFile) -> Result<(), DialectError> {
    if !is_name(&file.name) {
        return Err(DialectError::unfit(
            "name",
            "is no name of a dialect",
            "write 1 to 40 lower-case letters, digits and hyphens",
        ));
    }
    if file.summary.len() > MOST_SUMMARY {
        return Err(DialectError::too_long(
            "summary",
            file.summary.len(),
            MOST_SUMMARY,
        ));
    }
    let separator = file.separator.as_deref().unwrap_or("-");
    if !(1..=MOST_SEPARATOR).contains(&separator.len()) {
        return Err(DialectError::unfit(
            "separator",
            format!("has {} bytes", separator.len()),
            format!("write 1 to {MOST_SEPARATOR}, or leave it out"),
        ));
    }
    // RFC 6455, 4.1: a token of RFC 9110, 5.6.2.
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let subprotocol = file.subprotocol.as_deref().unwrap_or("-");
    if !(1..=100).contains(&subprotocol.len()) || !subprotocol.chars().all(is_token) {
        return Err(DialectError::unfit(
            "subprotocol",
            "cannot stand in a header",
            "write one name without spaces and commas, at most 100 characters",
        ));
    }
    Ok(())
}

/// Each request carries what is verified, and each of its answers has a rule.
fn check_requests(file: &DialectFile) -> Result<(), DialectError> {
    let both = [Meaning::Delivery, Meaning::Result];
    let broadcast = (file.broadcast(), both);
    let of_topic = [Meaning::Message, Meaning::Published];
    let publish = (file.publication(), of_topic);
    let http_url = file.send.http.as_ref().map_or("", |of| &of.url);
    let names_topic = |text: &str| text.contains("{topic}") || http_url.contains("{topic}");
    if publish.0.is_some() != file.send.subscribe.is_some()
        || publish.0.is_some_and(|(text, _)| !names_topic(text))
    {
        return Err(DialectError::unfit(
            "send.publish",
            "does not go with `subscribe`",
            "write both, each with {topic}, or neither",
        ));
    }
    let is_fed = file.receive.iter().any(|rule| rule.means == Meaning::Feed);
    let asks = !kinds::written(file).is_empty() || broadcast.0.is_some() || publish.0.is_some();
    if !asks && !is_fed {
        return Err(DialectError::unfit(
            "send",
            "has no request",
            "write `echo`, `broadcast`, `publish` or [[send.kinds]], or a rule that means `feed`",
        ));
    }
    check_kinds(file)?;
    for (request, answers) in [broadcast, publish] {
        let Some((text, key)) = request else { continue };
        if !Template::is_complete(text) {
            return Err(incomplete(key));
        }
        let [told, result] = answers;
        check_result(file, result)?;
        let by_sequence = |rule: &&Rule| rule.means == result && rule.has_sequence();
        if file.receive.iter().any(|rule| by_sequence(&rule)) && !text.contains("{sequence}") {
            return Err(without_sequence(key));
        }
        let is_acknowledged = file.send.is_acknowledged() && file.send.http.is_none();
        for means in std::iter::once(told).chain(is_acknowledged.then_some(result)) {
            if !file.receive.iter().any(|rule| rule.means == means) {
                let name = meaning_name(means);
                let or_none = match means == result {
                    true => ", or `acknowledged = false` under [send] where the sender gets none",
                    false => "",
                };
                return Err(DialectError::unfit(
                    key,
                    format!("has no rule for its answer `{name}`"),
                    format!("write [[receive]] with `means = \"{name}\"`{or_none}"),
                ));
            }
        }
    }
    match file.send.acknowledged {
        Some(_) if broadcast.0.is_none() && publish.0.is_none() => Err(DialectError::unfit(
            "send.acknowledged",
            "is about `broadcast` and `publish`, and there is neither",
            "leave it out",
        )),
        _ => Ok(()),
    }
}

/// The key that says of a file that there are no results.
pub(super) const fn silencing(file: &DialectFile) -> &'static str {
    match file.send.acknowledged {
        Some(_) => "send.acknowledged",
        None => "send.reaches_sender",
    }
}

/// A sender that gets no result needs no rule for one.
fn check_result(file: &DialectFile, result: Meaning) -> Result<(), DialectError> {
    let has_rule = file.receive.iter().any(|rule| rule.means == result);
    if !has_rule || file.send.is_acknowledged() {
        return Ok(());
    }
    Err(DialectError::unfit(
        silencing(file),
        format!("is false, and a rule means `{}`", meaning_name(result)),
        "leave the rule out, or write `acknowledged = true` under [send]",
    ))
}

fn without_sequence(key: &str) -> DialectError {
    DialectError::unfit(
        key,
        "carries no sequence, by which a rule finds its answers",
        "write {sequence}",
    )
}

fn incomplete(key: &str) -> DialectError {
    DialectError::unfit(
        key,
        "carries no stamp, or not the padding that a plan asks for",
        "write {payload}, {escaped_payload}, or {stamp} and one of {padding} and {line}",
    )
}

/// Requests of one client: each carries what the rules for its answers look for.
fn check_kinds(file: &DialectFile) -> Result<(), DialectError> {
    let kinds = &file.send.kinds;
    if file.send.echo.is_some() && !kinds.is_empty() {
        return Err(DialectError::unfit(
            "send.echo",
            "stands beside [[send.kinds]]",
            "write it as one of them",
        ));
    }
    let most = match file.send.script.is_empty() {
        true => MOST_KINDS,
        false => script::MOST_KINDS,
    };
    if kinds.len() > most {
        return Err(DialectError::TooMuch {
            key: "send.kinds".to_owned(),
            count: format!("{} kinds", kinds.len()),
            most,
        });
    }
    for (index, kind) in kinds.iter().enumerate() {
        let key = |name: &str| format!("send.kinds[{}].{name}", index + 1);
        if !is_name(&kind.name) || kinds[..index].iter().any(|of| of.name == kind.name) {
            return Err(DialectError::unfit(
                key("name"),
                "is no name of a kind, or one that stands there twice",
                "write 1 to 40 lower-case letters, digits and hyphens, another for each kind",
            ));
        }
        if kind.weight == 0 {
            return Err(DialectError::unfit(
                key("weight"),
                "is 0: no request is of this kind",
                "write 1 or more, or leave the kind out",
            ));
        }
    }
    for kind in kinds::written(file).into_iter().filter(|of| of.is_answered) {
        let answers: Vec<&Rule> = file
            .receive
            .iter()
            .filter(|rule| rule.means == Meaning::Echo && kind.is_answered_by(rule))
            .collect();
        if answers.is_empty() {
            return Err(DialectError::unfit(
                kind.key,
                "has no rule for its answer `echo`",
                "write [[receive]] with `means = \"echo\"`",
            ));
        }
        for rule in answers {
            check_carried(&kind, rule)?;
        }
    }
    check_rules_of_kinds(file)?;
    script::check(file)
}

/// A request carries what a rule finds its answer by.
fn check_carried(kind: &kinds::Written<'_>, rule: &Rule) -> Result<(), DialectError> {
    let text = kind.message;
    let by_stamp = rule.stamp.is_some() || rule.is_bare_pattern();
    if rule.line.is_some() && !Template::has_padding(text) {
        return Err(DialectError::unfit(
            kind.key.clone(),
            "carries no line, which a rule for its answers looks for",
            "write {line} or {payload}, or leave `line` out of the rule",
        ));
    }
    let (carries, missing, remedy) = match rule {
        Rule { in_order: true, .. } => return Ok(()),
        rule if rule.has_sequence() => (text.contains("{sequence}"), "sequence", "{sequence}"),
        Rule {
            number: Some(_), ..
        } => (text.contains("{number}"), "number", "{number}"),
        _ if by_stamp => (Template::has_stamp(text), "stamp", "{stamp} or {payload}"),
        _ => (Template::is_complete(text), "", ""),
    };
    match (carries, missing) {
        (true, _) => Ok(()),
        (false, "") => Err(incomplete(&kind.key)),
        (false, missing) => Err(DialectError::unfit(
            kind.key.clone(),
            format!("carries no {missing}, by which a rule finds its answers"),
            format!("write {remedy}"),
        )),
    }
}

fn check_rules_of_kinds(file: &DialectFile) -> Result<(), DialectError> {
    let (mut in_order, mut by_sequence) = (None, None);
    for (index, rule) in file.receive.iter().enumerate() {
        let key = |name: &str| format!("{READY}[{}].{name}", index + 1);
        let names = |kind: &String| file.send.kinds.iter().any(|of| of.name == *kind);
        if let Some(kind) = rule.kind.as_ref().filter(|kind| !names(kind)) {
            return Err(DialectError::unfit(
                key("kind"),
                format!("is `{kind}`, which no request is"),
                "write the `name` of one of [[send.kinds]]",
            ));
        }
        if rule.means != Meaning::Echo {
            continue;
        }
        if *by_sequence.get_or_insert(rule.has_sequence()) != rule.has_sequence() {
            return Err(DialectError::unfit(
                key("sequence"),
                "is not what the other rules for answers say",
                "write `sequence`, or {sequence} in the pattern, in each rule that means `echo`, or in \
                 none",
            ));
        }
        if *in_order.get_or_insert(rule.in_order) != rule.in_order {
            return Err(DialectError::unfit(
                key("in_order"),
                "is not what the other rules for answers say",
                "write `in_order = true` in each rule that means `echo`, or in none",
            ));
        }
    }
    Ok(())
}

fn check_meanings(list: &str, rules: &[Rule]) -> Result<(), DialectError> {
    let of_opening = [
        Meaning::Ready,
        Meaning::Subscribed,
        Meaning::Send,
        Meaning::Refused,
        Meaning::Wait,
        Meaning::Missed,
    ];
    let of_ready = [
        Meaning::Echo,
        Meaning::Delivery,
        Meaning::Result,
        Meaning::Message,
        Meaning::Published,
        Meaning::Subscribed,
        Meaning::Unsubscribed,
        Meaning::Refused,
        Meaning::Ignored,
        Meaning::KeepAlive,
        Meaning::Heartbeat,
        Meaning::Feed,
        Meaning::Progress,
    ];
    let permitted = if list == OPEN {
        &of_opening[..]
    } else {
        &of_ready
    };
    let mut numbered = rules.iter().enumerate();
    match numbered.find(|(_, rule)| !permitted.contains(&rule.means)) {
        None => Ok(()),
        Some((index, rule)) => {
            let names: Vec<&str> = permitted.iter().map(|of| meaning_name(*of)).collect();
            Err(DialectError::unfit(
                format!("{list}[{}].means", index + 1),
                format!(
                    "is `{}`, which has no sense there",
                    meaning_name(rule.means)
                ),
                format!("permitted there: {}", names.join(", ")),
            ))
        }
    }
}

fn check_opening(file: &DialectFile) -> Result<(), DialectError> {
    let has = |means| file.open.receive.iter().any(|rule| rule.means == means);
    check_ready_after(file)?;
    let is_timed = file.open.ready_after.is_some();
    if has_exchange(file) && !has(Meaning::Ready) && !is_timed {
        return Err(DialectError::unfit(
            "open",
            "has no rule that makes a client ready",
            "write [[open.receive]] with `means = \"ready\"`, or `ready_after = \"500ms\"` where \
             nothing says so, or leave [open] out",
        ));
    }
    let subscribe = file.send.subscribe.as_deref();
    if subscribe.is_some() != has(Meaning::Subscribed) && !is_timed
        || subscribe.is_some_and(|text| !text.contains("{topic}"))
    {
        return Err(DialectError::unfit(
            "send.subscribe",
            "does not go with a rule for its answer",
            "write `subscribe` with {topic}, and [[open.receive]] with `means = \"subscribed\"`, or \
             `ready_after` under [open] where nothing confirms it; or none of them",
        ));
    }
    returning::check(file)?;
    check_signatures(file)?;
    check_unsubscribing(file)
}

/// A client is ready after a time where nothing says that it is.
fn check_ready_after(file: &DialectFile) -> Result<(), DialectError> {
    let Some(after) = file.open.ready_after else {
        return Ok(());
    };
    let unfit =
        |problem: &str, remedy: &str| Err(DialectError::unfit("open.ready_after", problem, remedy));
    if !(SHORTEST..=LONGEST).contains(&after) {
        return unfit(
            &format!("is {after}"),
            &format!("write {SHORTEST} to {LONGEST}"),
        );
    }
    let rules = &file.open.receive;
    let of = |means| rules.iter().filter(move |rule| rule.means == means);
    if of(Meaning::Subscribed).next().is_some() || file.send.unsubscribe.is_some() {
        return unfit(
            "stands beside rules that mean `subscribed`, which says when a client is ready",
            "leave it out, or these rules and `unsubscribe`",
        );
    }
    let is_last = |rule: &Rule| rule.send.is_none() && file.send.subscribe.is_none();
    if of(Meaning::Ready).any(is_last) {
        return unfit(
            "stands beside a rule that means `ready` and sends nothing, at which a client is ready",
            "leave it out, or write `send` in that rule for what nothing confirms",
        );
    }
    match of(Meaning::Send).next().is_some() && of(Meaning::Ready).next().is_none() {
        false => Ok(()),
        true => unfit(
            "stands beside rules that mean `send`, none of which is the last",
            "have the one mean `ready` whose `send` is the last message",
        ),
    }
}

/// A signature is made of what the server tells.
fn check_signatures(file: &DialectFile) -> Result<(), DialectError> {
    for (name, signature) in &file.open.signatures {
        let key = format!("open.signatures.{name}");
        check_variable(&key, name)?;
        if [&signature.key, &signature.of]
            .into_iter()
            .any(|text| text.contains("{sequence}"))
        {
            return Err(DialectError::unfit(
                key,
                "has {sequence}, which counts messages",
                "leave it out",
            ));
        }
        let mut rules = file.open.receive.iter();
        if rules.clone().any(|rule| rule.capture.contains_key(name)) {
            return Err(DialectError::unfit(
                key,
                "has the name of a value that is captured",
                "write another name",
            ));
        }
        if rules.all(|rule| rule.capture.is_empty()) {
            return Err(DialectError::unfit(
                key,
                "is made when the server has told something, and nothing is captured",
                "write `capture` in a rule of [[open.receive]]",
            ));
        }
    }
    Ok(())
}

/// A ready client that leaves a topic has to hear that it has, and that it subscribes to the next.
fn check_unsubscribing(file: &DialectFile) -> Result<(), DialectError> {
    let has = |means| file.receive.iter().any(|rule| rule.means == means);
    let answers = [Meaning::Subscribed, Meaning::Unsubscribed];
    let unsubscribe = file.send.unsubscribe.as_deref();
    let subscribe = file.send.subscribe.as_deref().unwrap_or_default();
    let is_own =
        |part: Part<'_>| matches!(part, Part::Variable(name) if !PLACEHOLDERS.contains(&name));
    if unsubscribe.is_some() && parts(subscribe).into_iter().any(is_own) {
        return Err(DialectError::unfit(
            "send.unsubscribe",
            "stands beside a `subscribe` with variables, which a ready client does not fill in",
            "leave the variables out, or `unsubscribe`",
        ));
    }
    let fits = match unsubscribe {
        Some(text) => {
            text.contains("{topic}")
                && file.send.subscribe.is_some()
                && answers.into_iter().all(has)
        }
        None => !answers.into_iter().any(has),
    };
    match fits {
        true => Ok(()),
        false => Err(DialectError::unfit(
            "send.unsubscribe",
            "does not go with rules for the answers of a ready client",
            "write `unsubscribe` with {topic}, `subscribe`, and [[receive]] with \
             `means = \"subscribed\"` and with `means = \"unsubscribed\"`; or none of them",
        )),
    }
}

/// A client without a room has to wait for something before it is ready.
pub(super) fn has_exchange(file: &DialectFile) -> bool {
    let of_topics = |rule: &Rule| rule.means == Meaning::Subscribed;
    let receive = &file.open.receive;
    let others = receive
        .iter()
        .any(|rule| !of_topics(rule) && rule.means != Meaning::Refused);
    let refuses_alone = !receive.is_empty() && !receive.iter().any(of_topics);
    file.open.send.is_some() || others || refuses_alone
}

const fn meaning_name(means: Meaning) -> &'static str {
    match means {
        Meaning::Echo => "echo",
        Meaning::Delivery => "delivery",
        Meaning::Result => "result",
        Meaning::Message => "message",
        Meaning::Published => "published",
        Meaning::Refused => "refused",
        Meaning::Ignored => "ignored",
        Meaning::KeepAlive => "keep-alive",
        Meaning::Heartbeat => "heartbeat",
        Meaning::Feed => "feed",
        Meaning::Progress => "progress",
        Meaning::Ready => "ready",
        Meaning::Subscribed => "subscribed",
        Meaning::Unsubscribed => "unsubscribed",
        Meaning::Send => "send",
        Meaning::Wait => "wait",
        Meaning::Missed => "missed",
    }
}
