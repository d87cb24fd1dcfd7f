//! Figures that are held against what the rest of a record makes of them.

use std::fmt;

/// What does not hold in one part of a record.
#[derive(Debug)]
pub(super) struct Claims {
    /// Where the part is.
    place: String,
    wrong: Vec<String>,
}

impl Claims {
    pub(super) fn new(place: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            wrong: Vec::new(),
        }
    }

    /// A figure that follows from others.
    pub(super) fn equal<T: PartialEq + Shown>(
        &mut self,
        name: impl fmt::Display,
        stored: T,
        by: &str,
        made: T,
    ) {
        if stored != made {
            let (stored, made) = (stored.shown(), made.shown());
            self.no(format!("{name} is {stored}, and by {by} {made}"));
        }
    }

    /// A figure that others bound.
    pub(super) fn at_most<T: PartialOrd + Shown>(
        &mut self,
        name: impl fmt::Display,
        stored: T,
        by: &str,
        most: T,
    ) {
        if stored > most {
            let (stored, most) = (stored.shown(), most.shown());
            self.no(format!("{name} is {stored}, and by {by} {most} at most"));
        }
    }

    /// The same from below.
    pub(super) fn at_least<T: PartialOrd + Shown>(
        &mut self,
        name: impl fmt::Display,
        stored: T,
        by: &str,
        least: T,
    ) {
        if stored < least {
            let (stored, least) = (stored.shown(), least.shown());
            self.no(format!("{name} is {stored}, and by {by} {least} at least"));
        }
    }

    /// Something else, in words.
    pub(super) fn no(&mut self, words: impl fmt::Display) {
        self.wrong.push(match self.place.as_str() {
            "" => words.to_string(),
            place => format!("{place}: {words}"),
        });
    }

    pub(super) fn wrong(self) -> Vec<String> {
        self.wrong
    }
}

/// A figure in words.
pub(super) trait Shown {
    fn shown(&self) -> String;
}

impl Shown for u64 {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for f64 {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for bool {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl<T: Shown> Shown for Option<T> {
    fn shown(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), T::shown)
    }
}
