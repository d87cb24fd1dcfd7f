//! The messages of a connection as a capture lists them: joined where one is in several frames, in one
//! text, without what is no message.

use super::loose::{Collect, LONGEST_TEXT, Loose, Object};
use serde::Deserialize;

/// Longest message of a client in bytes: what a dialect's template has at most.
const LONGEST_SEND: usize = 4096;
/// From here on a time is in milliseconds (as seconds it is in the year 5138), then in microseconds.
const MILLISECONDS_FROM: f64 = 1e11;
const MICROSECONDS_FROM: f64 = 1e14;

/// A message as a capture has it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Raw {
    /// `send` or `receive`; of Chrome also `error`.
    #[serde(rename = "type")]
    direction: Loose,
    time: Loose,
    opcode: Loose,
    data: Loose,
}

impl Raw {
    pub(super) fn new(is_sent: bool, time: Loose, opcode: Loose, data: Loose) -> Self {
        let direction = if is_sent { "send" } else { "receive" };
        Self {
            direction: Loose::Text(direction.to_owned()),
            time,
            opcode,
            data,
        }
    }
}

/// A message. Its text is a part of that of all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Seconds since any moment; not a number where the capture does not say it.
    pub(super) time: f64,
    start: u32,
    length: u32,
    /// Its number in the capture's list, from 1 on.
    pub(super) number: u32,
    pub(super) is_sent: bool,
}

/// A message that may go on in further frames (RFC 6455, 5.4).
#[derive(Debug)]
enum Open {
    Text {
        at: usize,
        text: String,
        length: usize,
    },
    Binary {
        length: usize,
    },
}

/// The messages of a connection.
#[derive(Debug, Default)]
pub(super) struct Frames {
    text: String,
    pub(super) all: Vec<Frame>,
    /// Entries of the capture's list.
    pub(super) total: usize,
    /// Close frames, pings, pongs, and what is no message.
    pub(super) left_out: usize,
    /// Binary messages of the server.
    pub(super) binary_heard: usize,
    /// The longest of them as the capture has it, in base64, in bytes.
    pub(super) longest_binary: usize,
    /// Messages without a time that can be read.
    pub(super) untimed: usize,
    /// The first message that no plan can carry: its number, and why.
    pub(super) unfit: Option<(usize, String)>,
    open: [Option<Open>; 2],
}

impl Frames {
    /// The text of a message.
    pub(super) fn text(&self, frame: &Frame) -> &str {
        let start = frame.start as usize;
        &self.text[start..start + frame.length as usize]
    }

    fn refuse(&mut self, number: usize, why: String) {
        self.unfit.get_or_insert((number, why));
    }

    fn begin(&mut self, is_sent: bool, time: &Loose, data: Loose) {
        let (text, length) = match data {
            Loose::Text(text) => {
                let length = text.len();
                (text, length)
            }
            Loose::Null => (String::new(), 0),
            Loose::Long(length) => (String::new(), length),
            Loose::Number(_) | Loose::Other if is_sent => {
                return self.refuse(self.total, "has data that is no text".to_owned());
            }
            Loose::Number(_) | Loose::Other => return self.left_out += 1,
        };
        let time = seconds(time);
        self.untimed += usize::from(time.is_nan());
        let at = self.all.len();
        self.all.push(Frame {
            time,
            start: 0,
            length: 0,
            number: u32::try_from(self.total).unwrap_or(u32::MAX),
            is_sent,
        });
        self.open[usize::from(is_sent)] = Some(Open::Text { at, text, length });
    }

    fn go_on(&mut self, is_sent: bool, data: Loose) {
        match (&mut self.open[usize::from(is_sent)], data) {
            (Some(Open::Text { text, length, .. }), Loose::Text(more)) => {
                *length += more.len();
                if *length <= LONGEST_TEXT {
                    text.push_str(&more);
                }
            }
            (Some(Open::Text { length, .. }), Loose::Long(more)) => *length += more,
            (Some(Open::Binary { length }), data) => {
                *length += data.length();
                self.longest_binary = self.longest_binary.max(*length);
            }
            (Some(_), _) => {}
            (None, _) if is_sent => self.refuse(
                self.total,
                "goes on (opcode 0) with a message whose beginning the capture lacks".to_owned(),
            ),
            (None, _) => self.left_out += 1,
        }
    }

    /// The message of one side has no further frames.
    fn close(&mut self, is_sent: bool) {
        let Some(Open::Text { at, text, length }) = self.open[usize::from(is_sent)].take() else {
            return;
        };
        let (most, does) = match is_sent {
            true => (LONGEST_SEND, "sends"),
            false => (LONGEST_TEXT, "reads"),
        };
        if length > most {
            let number = self.all[at].number as usize;
            let why = format!("has {length} bytes, and {most} is the most that a plan {does}");
            return self.refuse(number, why);
        }
        // The text is no longer than the capture, whose length fits.
        let frame = &mut self.all[at];
        frame.start = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        frame.length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.text.push_str(&text);
    }
}

impl Collect for Frames {
    type Item = Object<Raw>;

    fn take(&mut self, item: Object<Raw>) {
        self.total += 1;
        let Some(raw) = item.0 else {
            self.left_out += 1;
            return;
        };
        let is_sent = match raw.direction.into_text().to_ascii_lowercase().as_str() {
            "send" | "sent" => true,
            "receive" | "received" => false,
            _ => return self.left_out += 1,
        };
        match opcode(&raw.opcode) {
            Some(0) => self.go_on(is_sent, raw.data),
            Some(1) => {
                self.close(is_sent);
                self.begin(is_sent, &raw.time, raw.data);
            }
            Some(2) => {
                self.close(is_sent);
                let length = raw.data.length();
                self.open[usize::from(is_sent)] = Some(Open::Binary { length });
                if is_sent {
                    let why = "is binary (opcode 2), and a plan of a capture sends text".to_owned();
                    self.refuse(self.total, why);
                } else {
                    self.binary_heard += 1;
                    self.longest_binary = self.longest_binary.max(length);
                }
            }
            _ => self.left_out += 1,
        }
    }

    fn end(&mut self) {
        self.close(false);
        self.close(true);
    }
}

/// The opcode (RFC 6455, 5.2): that of text where there is none.
fn opcode(value: &Loose) -> Option<u8> {
    let number = match value {
        Loose::Null => 1.0,
        Loose::Number(number) => *number,
        Loose::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "text" => 1.0,
            "binary" => 2.0,
            "continuation" => 0.0,
            other => other.parse().ok()?,
        },
        Loose::Long(_) | Loose::Other => return None,
    };
    (number.fract() == 0.0 && (0.0..16.0).contains(&number)).then_some(number as u8)
}

/// A time in seconds, of a number or of a text (RFC 3339 or a number).
fn seconds(value: &Loose) -> f64 {
    let number = match value {
        Loose::Number(number) => *number,
        Loose::Text(text) => match text.trim().parse() {
            Ok(number) => number,
            Err(_) => return of_date(text.trim()).unwrap_or(f64::NAN),
        },
        Loose::Null | Loose::Long(_) | Loose::Other => return f64::NAN,
    };
    match number {
        number if number >= MICROSECONDS_FROM => number / 1e6,
        number if number >= MILLISECONDS_FROM => number / 1e3,
        number if number.is_finite() => number,
        _ => f64::NAN,
    }
}

fn of_date(text: &str) -> Option<f64> {
    let at = text.len().checked_sub("+00:00".len());
    let zone = at.and_then(|at| text.split_at_checked(at));
    let (date, offset) = match zone {
        Some((date, zone)) if zone.starts_with(['+', '-']) => {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let minutes = hours.parse::<f64>().ok()? * 60.0 + minutes.parse::<f64>().ok()?;
            let sign = if zone.starts_with('-') { -1.0 } else { 1.0 };
            (date, sign * minutes * 60.0)
        }
        _ => (text.trim_end_matches(['Z', 'z']), 0.0),
    };
    let time = humantime::parse_rfc3339_weak(date).ok()?;
    let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(since.as_secs_f64() - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_whatever_they_are_written_as() {
        let of = |text: &str| seconds(&serde_json::from_str(text).unwrap());
        for text in [
            "1795651200.5",
            "1795651200500",
            "1795651200500000",
            "\"1795651200.5\"",
            "\"2026-11-26T00:00:00.500Z\"",
            "\"2026-11-26T01:00:00.500+01:00\"",
            "\"2026-11-25T19:00:00.500-05:00\"",
        ] {
            assert!(
                (of(text) - 1_795_651_200.5).abs() < 1e-3,
                "{text}: {}",
                of(text)
            );
        }
        assert_eq!(of("0.25"), 0.25);
        for text in [
            "null",
            "\"noon\"",
            "{}",
            "\"+\"",
            "\"NaN\"",
            "\"\u{e9}\u{e9}\u{e9}\u{e9}\"",
        ] {
            assert!(of(text).is_nan(), "{text}");
        }
    }
}
