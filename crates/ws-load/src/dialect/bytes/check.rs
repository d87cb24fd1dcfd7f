//! What a file in bytes has to have, and what it cannot have.

use super::shape::Part;
use crate::dialect::StampForm;
use crate::dialect::error::DialectError;
use crate::dialect::place;
use crate::dialect::placeholders::MOST_TEMPLATE;
use plan::{
    BytePart, DialectFile, HoleForm, Meaning, MessageType, PayloadForm, Rule, TemplateForm,
    byte_parts,
};

/// Checks the keys that files of one form alone have, and that each message is of the notation.
///
/// # Errors
/// The first thing that makes no sense.
pub(in crate::dialect) fn check(file: &DialectFile) -> Result<(), DialectError> {
    if file.form == TemplateForm::Text {
        return check_text(file);
    }
    let unfit =
        |key: &str, problem: &str, remedy: &str| Err(DialectError::unfit(key, problem, remedy));
    if file.opcode != MessageType::Binary {
        return unfit(
            "form",
            "is `hex`, and messages are text",
            "write `opcode = \"binary\"`, or leave `form` out",
        );
    }
    if file.separator.is_some() {
        return unfit(
            "separator",
            "stands in a file in bytes",
            "write `length_prefix`, or `packed = true` where each message shows its own end",
        );
    }
    if file.packed && file.length_prefix.is_some() {
        return unfit(
            "packed",
            "stands beside `length_prefix`",
            "leave one of them out",
        );
    }
    if !file.shape.is_empty() {
        return unfit(
            "shape",
            "looks into JSON, and the file is in bytes",
            "leave it out",
        );
    }
    if !file.open.signatures.is_empty() {
        return unfit(
            "open.signatures",
            "stands in a file in bytes, which signs nothing",
            "leave it out",
        );
    }
    if file.send.http.is_some() {
        return unfit(
            "send.http",
            "stands in a file in bytes, whose messages are no bodies of HTTP",
            "write the file in text",
        );
    }
    for (key, text) in texts(file) {
        let parts = parts(&key, text)?;
        let is_padding = |name: &str, _| name == "padding";
        if count(&parts, &is_padding) > 1 {
            return Err(DialectError::unfit(
                key,
                "carries the padding twice",
                "write {padding} once",
            ));
        }
    }
    check_lengths(file, 0)
}

/// A file in text has no key that is about bytes.
fn check_text(file: &DialectFile) -> Result<(), DialectError> {
    let lists = [
        ("open.receive", &file.open.receive),
        ("receive", &file.receive),
    ];
    let rules = lists.into_iter().flat_map(|(list, rules)| {
        let numbered = rules.iter().enumerate();
        numbered.map(move |(index, rule)| (format!("{list}[{}].at", index + 1), rule))
    });
    let of_rules = rules.map(|(key, rule)| (key, !rule.at.is_empty()));
    let others = [
        ("length_prefix".to_owned(), file.length_prefix.is_some()),
        ("packed".to_owned(), file.packed),
    ];
    match others.into_iter().chain(of_rules).find(|(_, there)| *there) {
        None => Ok(()),
        Some((key, _)) => Err(DialectError::unfit(
            key,
            "is about bytes, and the file is in text",
            "leave it out, or write `form = \"hex\"`",
        )),
    }
}

/// Each length has room for what it counts, with a padding of so many bytes.
///
/// # Errors
/// The first that has not.
pub(in crate::dialect) fn check_lengths(
    file: &DialectFile,
    padding: usize,
) -> Result<(), DialectError> {
    if file.form == TemplateForm::Text {
        return Ok(());
    }
    for (key, text) in texts(file) {
        check_length(&key, &parts(&key, text)?, padding)?;
    }
    Ok(())
}

/// The fewest bytes of parts.
fn check_length(key: &str, parts: &[BytePart], padding: usize) -> Result<usize, DialectError> {
    let mut sum = 0;
    for part in parts {
        sum += match part {
            BytePart::Literal(bytes) => bytes.len(),
            BytePart::Hole(name, None) if name == "padding" => padding,
            BytePart::Hole(name, None) if name == "stamp" => StampForm::Hex.width(),
            BytePart::Hole(_, Some(HoleForm::Bytes(bytes))) => *bytes as usize,
            BytePart::Hole(_, Some(HoleForm::Number(form))) => form.width().unwrap_or(1),
            BytePart::Hole(_, None) => 0,
            BytePart::Length(form, between, inner) => {
                let bytes = check_length(key, inner, padding)?;
                if bytes as u64 > form.highest() {
                    return Err(DialectError::unfit(
                        key,
                        format!(
                            "has a {{length}} up to {} before {bytes} bytes or more, with a padding of \
                             {padding}",
                            form.highest()
                        ),
                        "write a length of more bytes, or a shorter padding",
                    ));
                }
                form.width().unwrap_or(1) + between.len() + bytes
            }
        };
    }
    Ok(sum)
}

/// The form of all stamps of a file.
pub(super) fn only_stamp_form(file: &DialectFile) -> Result<StampForm, DialectError> {
    let mut only = None;
    for (key, text) in texts(file) {
        let mut forms = Vec::new();
        each_hole(&parts(&key, text)?, &mut |name, form| {
            if name == "stamp" {
                forms.push(super::stamp_form(&key, form));
            }
        });
        for form in forms {
            let form = form?;
            if *only.get_or_insert(form) != form {
                return Err(DialectError::unfit(
                    key,
                    "has a stamp of another form than the messages before it",
                    "write the same form in all of them",
                ));
            }
        }
    }
    Ok(only.unwrap_or(StampForm::Hex))
}

/// True where an answer has a length that counts the padding.
pub(super) fn says_size(file: &DialectFile) -> bool {
    let patterns = file
        .receive
        .iter()
        .filter_map(|rule| rule.pattern.as_deref());
    let counts = |part: &BytePart| match part {
        BytePart::Length(_, _, inner) => count(inner, &|name, _| name == "padding") > 0,
        _ => false,
    };
    fn any(parts: &[BytePart], is: &dyn Fn(&BytePart) -> bool) -> bool {
        parts.iter().any(|part| match part {
            BytePart::Length(_, _, inner) => is(part) || any(inner, is),
            part => is(part),
        })
    }
    let mut parts = patterns.filter_map(|text| byte_parts(text).ok());
    parts.any(|parts| any(&parts, &counts))
}

/// The parts of a message of a file.
///
/// # Errors
/// What is not of the notation.
pub(super) fn parts(key: &str, text: &str) -> Result<Vec<BytePart>, DialectError> {
    if text.len() > MOST_TEMPLATE {
        return Err(DialectError::too_long(key, text.len(), MOST_TEMPLATE));
    }
    byte_parts(text).map_err(|error| DialectError::unfit(key, error.problem, error.remedy))
}

fn each_hole(parts: &[BytePart], then: &mut dyn FnMut(&str, Option<HoleForm>)) {
    for part in parts {
        match part {
            BytePart::Literal(_) => {}
            BytePart::Hole(name, form) => then(name, *form),
            BytePart::Length(_, _, inner) => each_hole(inner, then),
        }
    }
}

fn count(parts: &[BytePart], is: &dyn Fn(&str, Option<HoleForm>) -> bool) -> usize {
    let mut count = 0;
    each_hole(parts, &mut |name, form| {
        count += usize::from(is(name, form))
    });
    count
}

/// True where a part, or one that it encloses, is so.
pub(super) fn any_part(parts: &[Part], is: &dyn Fn(&Part) -> bool) -> bool {
    parts.iter().any(|part| match part {
        Part::Group(_, _, inner) => any_part(inner, is),
        part => is(part),
    })
}

/// Every message of a file with its key.
fn texts(file: &DialectFile) -> Vec<(String, &str)> {
    let send = &file.send;
    let single = [
        ("open.send", &file.open.send),
        ("open.returning", &file.open.returning),
        ("send.echo", &send.echo),
        ("send.broadcast", &send.broadcast),
        ("send.publish", &send.publish),
        ("send.subscribe", &send.subscribe),
        ("send.unsubscribe", &send.unsubscribe),
    ];
    let mut texts: Vec<(String, &str)> = single
        .into_iter()
        .filter_map(|(key, text)| Some((key.to_owned(), text.as_deref()?)))
        .collect();
    for (index, kind) in send.kinds.iter().enumerate() {
        texts.push((format!("send.kinds[{}].message", index + 1), &kind.message));
    }
    if let Some(beat) = &file.heartbeat {
        texts.push(("heartbeat.send".to_owned(), &beat.send));
    }
    for (list, rules) in [
        ("open.receive", &file.open.receive),
        ("receive", &file.receive),
    ] {
        for (index, rule) in rules.iter().enumerate() {
            let of_rule = [
                ("text", &rule.text),
                ("prefix", &rule.prefix),
                ("pattern", &rule.pattern),
                ("send", &rule.send),
                ("returning", &rule.returning),
                ("example", &rule.example),
            ];
            for (name, text) in of_rule {
                let key = format!("{list}[{}].{name}", index + 1);
                texts.extend(text.as_deref().map(|text| (key, text)));
            }
        }
    }
    texts
}

/// A rule has no key that is about JSON, and what its meaning needs.
pub(super) fn check_rule(key: &str, rule: &Rule, outline: &Rule) -> Result<(), DialectError> {
    let of_json = [
        ("when", !rule.when.is_empty()),
        ("payload", rule.payload.is_some()),
        ("payload_form", rule.payload_form != PayloadForm::Json),
        ("stamp", rule.stamp.is_some()),
        ("number", rule.number.is_some()),
        ("sequence", rule.sequence.is_some()),
        ("line", rule.line.is_some()),
        ("key", rule.key.is_some()),
        ("sent_at", rule.sent_at.is_some()),
        ("topic", rule.topic.is_some()),
        ("topic_in_string", rule.topic_in_string.is_some()),
        ("capture", !rule.capture.is_empty()),
        ("capture_in_string", rule.capture_in_string.is_some()),
        ("reason", rule.reason.is_some()),
        ("part", rule.part.is_some()),
        ("parts", rule.parts.is_some()),
    ];
    if let Some((name, _)) = of_json.into_iter().find(|(_, there)| *there) {
        return Err(DialectError::unfit(
            format!("{key}.{name}"),
            "looks into JSON, and the file is in bytes",
            "write a hole with a name in `pattern`, or `at` for bytes at a place",
        ));
    }
    if rule.means == Meaning::Progress {
        return Err(DialectError::unfit(
            format!("{key}.means"),
            "is `progress`, and the file is in bytes, whose answers come whole",
            "write the file in text, or `ignored`, which passes over all but the last message of an \
             answer",
        ));
    }
    let needs_topic = matches!(
        rule.means,
        Meaning::Message | Meaning::Subscribed | Meaning::Unsubscribed
    );
    if needs_topic && outline.topic.is_none() {
        return Err(DialectError::unfit(
            key,
            "does not say where its topic is",
            "write {topic} in the pattern",
        ));
    }
    place::check_keys(key, outline)
}

/// The answer to a keep-alive repeats all that its rule captures.
pub(super) fn check_repeated(
    key: &str,
    text: &str,
    names: &[(String, Option<HoleForm>)],
) -> Result<(), DialectError> {
    let parts = parts(key, text)?;
    let is_unused = |name: &&(String, _)| count(&parts, &|of, _| of == name.0) == 0;
    match names.iter().find(is_unused) {
        None => Ok(()),
        Some((name, _)) => Err(DialectError::unfit(
            key,
            format!("does not repeat `{name}`, which its rule captures"),
            format!("write {{{name}}} there, or {{any}} in the pattern"),
        )),
    }
}
