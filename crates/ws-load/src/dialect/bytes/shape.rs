//! The shape of a message in bytes.
//!
//! A shape is matched from left to right without backtracking. A hole of an open length ends where the next
//! bytes of the shape first occur, or so far from the end of its group that what follows it has its place.

use super::number;
use crate::dialect::StampForm;
use crate::dialect::error::DialectError;
use memchr::memmem;
use plan::{BytePart, HoleForm, NumberForm};

/// What a hole holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Number,
    Sequence,
    Padding,
    Topic,
    /// What has the name of this place among those of the shape.
    Named(usize),
    Nothing,
}

/// How far a hole reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// To what follows it.
    Open,
    Bytes(usize),
    Number(NumberForm),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Literal(Vec<u8>),
    Stamp(StampForm),
    Hole(Keep, Extent),
    /// The form of the length, the bytes behind it, and what it bounds.
    Group(NumberForm, Vec<u8>, Vec<Part>),
}

/// The shape of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) parts: Vec<Part>,
    /// Names and forms of what is kept besides.
    pub(super) names: Vec<(String, Option<HoleForm>)>,
}

/// What stands in the holes of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::dialect) struct Held<'m> {
    pub(super) stamp: Option<u64>,
    pub(super) number: Option<u64>,
    pub(super) sequence: Option<u64>,
    pub(super) padding: Option<&'m [u8]>,
    pub(super) topic: Option<&'m [u8]>,
    /// In the order of the names of the shape.
    pub(super) named: Vec<&'m [u8]>,
}

/// What the first bytes of a message say of whether it has a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    Differs,
    MayBe,
    /// As far as both reach.
    Agrees,
}

impl Part {
    /// Bytes, where they are the same in each message.
    fn width(&self) -> Option<usize> {
        match self {
            Self::Literal(bytes) => Some(bytes.len()),
            Self::Stamp(form) => Some(form.width()),
            Self::Hole(_, Extent::Bytes(bytes)) => Some(*bytes),
            Self::Hole(_, Extent::Number(form)) => form.width(),
            Self::Hole(_, Extent::Open) => None,
            Self::Group(form, between, inner) => {
                Some(form.width()? + between.len() + width(inner)?)
            }
        }
    }
}

/// Bytes of parts, where they are the same in each message.
pub(super) fn width(parts: &[Part]) -> Option<usize> {
    parts.iter().map(Part::width).sum()
}

impl Shape {
    /// True where no hole has an open length whose end the shape does not say.
    ///
    /// # Errors
    /// The first such hole, in words.
    pub(super) fn check(&self, key: &str) -> Result<(), DialectError> {
        check_ends(key, &self.parts)
    }

    /// What stands in the holes of a message that begins with this shape, and what follows. Of a whole
    /// message nothing may follow.
    pub(super) fn take<'m>(
        &self,
        message: &'m [u8],
        is_whole: bool,
    ) -> Option<(Held<'m>, &'m [u8])> {
        let mut held = Held::default();
        let rest = take(&self.parts, message, is_whole, &mut held)?;
        (rest.is_empty() || !is_whole).then_some((held, rest))
    }

    /// True where no message that begins with `head` has this shape, or none of `whole` bytes.
    pub(super) fn differs_from(&self, head: &[u8], whole: Option<usize>) -> bool {
        let other_width = whole.is_some_and(|whole| {
            let own = width(&self.parts);
            own.is_some_and(|own| own != whole)
        });
        other_width || walk(&self.parts, &mut &*head) == Walk::Differs
    }
}

fn check_ends(key: &str, parts: &[Part]) -> Result<(), DialectError> {
    for (index, part) in parts.iter().enumerate() {
        let behind = &parts[index + 1..];
        let is_bound = match part {
            Part::Group(_, _, inner) => {
                check_ends(key, inner)?;
                true
            }
            Part::Hole(_, Extent::Open) => {
                width(behind).is_some() || matches!(behind.first(), Some(Part::Literal(_)))
            }
            Part::Hole(_, Extent::Number(NumberForm::Text)) => match behind.first() {
                None => true,
                Some(Part::Literal(bytes)) => !bytes[0].is_ascii_digit(),
                Some(_) => false,
            },
            _ => true,
        };
        if !is_bound {
            return Err(DialectError::unfit(
                key,
                "does not say where one hole ends and the next part begins",
                "write bytes behind it that it does not have, or its length",
            ));
        }
    }
    Ok(())
}

fn take<'m>(
    parts: &[Part],
    bytes: &'m [u8],
    is_whole: bool,
    held: &mut Held<'m>,
) -> Option<&'m [u8]> {
    let mut rest = bytes;
    for (index, part) in parts.iter().enumerate() {
        rest = match part {
            Part::Literal(literal) => rest.strip_prefix(&literal[..])?,
            Part::Stamp(form) => {
                let (stamp, after) = rest.split_at_checked(form.width())?;
                held.stamp = Some(form.read(stamp)?);
                after
            }
            Part::Hole(keep, extent) => {
                let (own, after) = match extent {
                    Extent::Bytes(bytes) => rest.split_at_checked(*bytes)?,
                    Extent::Number(form) => number::split(*form, rest)?,
                    Extent::Open => open(&parts[index + 1..], rest, is_whole)?,
                };
                held.keep(*keep, *extent, own)?;
                after
            }
            Part::Group(form, between, inner) => {
                let (length, after) = number::read(*form, rest)?;
                let after = after.strip_prefix(&between[..])?;
                let (own, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
                let left = take(inner, own, true, held)?;
                left.is_empty().then_some(after)?
            }
        };
    }
    Some(rest)
}

/// Where a hole of an open length ends.
fn open<'m>(behind: &[Part], rest: &'m [u8], is_whole: bool) -> Option<(&'m [u8], &'m [u8])> {
    if is_whole && let Some(width) = width(behind) {
        return rest.split_at_checked(rest.len().checked_sub(width)?);
    }
    match behind.first() {
        Some(Part::Literal(literal)) => {
            let end = memmem::find(rest, literal)?;
            Some(rest.split_at(end))
        }
        _ => Some((rest, &[])),
    }
}

fn walk(parts: &[Part], head: &mut &[u8]) -> Walk {
    for part in parts {
        if head.is_empty() {
            return Walk::Agrees;
        }
        let after = match part {
            Part::Literal(literal) => {
                let common = literal.len().min(head.len());
                if literal[..common] != head[..common] {
                    return Walk::Differs;
                }
                Some(&head[common..])
            }
            Part::Stamp(form) => Some(&head[form.width().min(head.len())..]),
            Part::Hole(_, Extent::Bytes(bytes)) => Some(&head[(*bytes).min(head.len())..]),
            Part::Hole(_, Extent::Number(form)) => number::split(*form, head).map(|of| of.1),
            Part::Hole(_, Extent::Open) => None,
            Part::Group(form, between, inner) => {
                let Some((_, after)) = number::split(*form, head) else {
                    return Walk::MayBe;
                };
                *head = after;
                let literal = [Part::Literal(between.clone())];
                match (walk(&literal, head), walk(inner, head)) {
                    (Walk::Agrees, Walk::Agrees) => Some(*head),
                    (Walk::Differs, _) | (_, Walk::Differs) => return Walk::Differs,
                    _ => return Walk::MayBe,
                }
            }
        };
        match after {
            Some(after) => *head = after,
            None => return Walk::MayBe,
        }
    }
    Walk::Agrees
}

impl<'m> Held<'m> {
    fn keep(&mut self, keep: Keep, extent: Extent, own: &'m [u8]) -> Option<()> {
        let read = || match extent {
            Extent::Number(form) => number::read(form, own).map(|(number, _)| number),
            _ => None,
        };
        match keep {
            Keep::Nothing => {}
            Keep::Number => self.number = Some(read()?),
            Keep::Sequence => self.sequence = Some(read()?),
            Keep::Padding => self.padding = Some(own),
            Keep::Topic => self.topic = Some(own),
            Keep::Named(place) => {
                if self.named.len() <= place {
                    self.named.resize(place + 1, &[]);
                }
                self.named[place] = own;
            }
        }
        Some(())
    }
}

/// Parts of a text as those of a shape; what has a name that is not known is kept under it.
///
/// # Errors
/// A hole that means nothing in a pattern, or one that stands there twice.
pub(super) fn compile(key: &str, parts: &[BytePart]) -> Result<Shape, DialectError> {
    let mut shape = Shape {
        parts: Vec::new(),
        names: Vec::new(),
    };
    let mut seen = Vec::new();
    shape.parts = compile_parts(key, parts, &mut shape.names, &mut seen)?;
    shape.check(key)?;
    Ok(shape)
}

fn compile_parts<'p>(
    key: &str,
    parts: &'p [BytePart],
    names: &mut Vec<(String, Option<HoleForm>)>,
    seen: &mut Vec<&'p str>,
) -> Result<Vec<Part>, DialectError> {
    let mut compiled = Vec::new();
    for part in parts {
        compiled.push(match part {
            BytePart::Literal(bytes) => Part::Literal(bytes.clone()),
            BytePart::Length(form, between, inner) => {
                let is_unclear = |of: &u8| of.is_ascii_digit();
                if *form == NumberForm::Text && between.first().is_none_or(is_unclear) {
                    return Err(DialectError::unfit(
                        key,
                        "has a decimal {length} whose end nothing shows",
                        "write bytes between it and the parentheses, none of them a digit first",
                    ));
                }
                let inner = compile_parts(key, inner, names, seen)?;
                Part::Group(*form, between.clone(), inner)
            }
            BytePart::Hole(name, form) => {
                if name != "any" && seen.contains(&name.as_str()) {
                    return Err(DialectError::unfit(
                        key,
                        format!("has {{{name}}} twice"),
                        "write another name, or {any}",
                    ));
                }
                seen.push(name);
                hole(key, name, *form, names)?
            }
        });
    }
    Ok(compiled)
}

fn hole(
    key: &str,
    name: &str,
    form: Option<HoleForm>,
    names: &mut Vec<(String, Option<HoleForm>)>,
) -> Result<Part, DialectError> {
    let extent = match form {
        None => Extent::Open,
        Some(HoleForm::Bytes(bytes)) => Extent::Bytes(bytes as usize),
        Some(HoleForm::Number(form)) => Extent::Number(form),
    };
    let of_number = |keep| {
        let form = super::number_form(key, name, form)?;
        Ok(Part::Hole(keep, Extent::Number(form)))
    };
    match name {
        "stamp" => super::stamp_form(key, form).map(Part::Stamp),
        "number" => of_number(Keep::Number),
        "sequence" => of_number(Keep::Sequence),
        "padding" | "topic" if form.is_some() => Err(super::formless(key, name)),
        "padding" => Ok(Part::Hole(Keep::Padding, extent)),
        "topic" => Ok(Part::Hole(Keep::Topic, extent)),
        "any" => Ok(Part::Hole(Keep::Nothing, extent)),
        "payload" | "escaped_payload" | "line" | "client" => Err(super::unknown(key, name)),
        name => {
            names.push((name.to_owned(), form));
            Ok(Part::Hole(Keep::Named(names.len() - 1), extent))
        }
    }
}
