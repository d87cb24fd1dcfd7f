//! The certificate as people read it.

use anstyle::{AnsiColor, Style};
use plan::{Io, Timestamps};
use record::{Certificate, Check, Proof, ProofVerdict, Unit};
use std::io::{self, Write as _};

const GOOD: Style = AnsiColor::Green.on_default();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

const fn style(verdict: ProofVerdict) -> Style {
    match verdict {
        ProofVerdict::Pass => GOOD,
        ProofVerdict::Inconclusive => DOUBTFUL,
        ProofVerdict::Fail => BAD,
    }
}

/// What is tested, and where.
pub(super) fn print_head(certificate: &Certificate) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let Certificate {
        tool, environment, ..
    } = certificate;
    writeln!(
        out,
        "{} {}: does it measure what is there? ({}, {} cores, {}, {}, seed {}{})",
        tool.name,
        tool.version,
        environment.kernel,
        environment.cores,
        match certificate.timestamps {
            Timestamps::Kernel => "receive timestamps of the kernel",
            Timestamps::User => "stamps of its own clock",
        },
        match certificate.io {
            Io::Epoll => "epoll",
            Io::Uring => "io_uring",
        },
        certificate.seed,
        if certificate.short {
            ", short form"
        } else {
            ""
        }
    )?;
    out.flush()
}

/// A part, its checks line by line.
pub(super) fn print_part(proof: &Proof) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let style = style(proof.verdict);
    let tries = match proof.attempts {
        1 => String::new(),
        several => format!(", {several} tries"),
    };
    writeln!(
        out,
        "\n({}) {}: {style}{}{style:#} ({:.1} s{tries})\n    {}",
        proof.id,
        proof.name,
        proof.verdict,
        proof.elapsed_ns as f64 / 1e9,
        proof.proves,
    )?;
    let mut subject = "";
    for check in &proof.checks {
        let (of, what) = check.what.split_once(": ").unwrap_or(("", &check.what));
        if of != subject {
            writeln!(out, "    {of}")?;
            subject = of;
        }
        writeln!(out, "{}", line(what, check))?;
    }
    for note in &proof.notes {
        writeln!(out, "    note: {note}")?;
    }
    out.flush()
}

/// The last line.
pub(super) fn print_verdict(certificate: &Certificate) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let verdict = certificate.verdict();
    let count = |wanted| {
        let parts = certificate.parts.iter();
        parts.filter(|part| part.verdict == wanted).count()
    };
    let (style, word) = if certificate.is_complete() {
        (style(verdict), verdict.to_string())
    } else {
        (DOUBTFUL, "incomplete".to_owned())
    };
    let not_made = certificate.not_made.join(", ");
    writeln!(
        out,
        "\n{style}{word}{style:#}: {} of {} parts passed, {} inconclusive, {} failed{}{}",
        count(ProofVerdict::Pass),
        certificate.parts.len(),
        count(ProofVerdict::Inconclusive),
        count(ProofVerdict::Fail),
        if certificate.is_complete() {
            String::new()
        } else {
            format!("; interrupted before the end of {not_made}")
        },
        match verdict {
            _ if certificate.parts.is_empty() => "",
            ProofVerdict::Pass => "",
            ProofVerdict::Inconclusive =>
                "; the machine was too busy to tell: try again when it is quiet",
            ProofVerdict::Fail =>
                "; do not believe this instrument on this machine until you know why",
        }
    )?;
    out.flush()
}

/// One check: its mark, what, measured, known, what passes.
fn line(what: &str, check: &Check) -> String {
    let (style, mark) = match check.verdict {
        ProofVerdict::Pass => (GOOD, "ok  "),
        ProofVerdict::Inconclusive => (DOUBTFUL, "?   "),
        ProofVerdict::Fail => (BAD, "FAIL"),
    };
    let figure = |value: f64| figure(check.unit, value);
    let passes = match (check.least, check.most) {
        (Some(least), Some(most)) if least < most => {
            format!("{} to {} pass", figure(least), figure(most))
        }
        (None, Some(most)) => format!("up to {} passes", figure(most)),
        (Some(least), None) => format!("from {} passes", figure(least)),
        _ => String::new(),
    };
    let known = check
        .known
        .map_or_else(String::new, |known| format!("known {}", figure(known)));
    let measured = check.measured.map_or_else(|| "nothing".to_owned(), figure);
    let line =
        format!("      {style}{mark}{style:#} {what:<45} {measured:>9}   {known:<15}   {passes}");
    match &check.reason {
        Some(reason) => format!("{}\n           inconclusive: {reason}", line.trim_end()),
        None => line.trim_end().to_owned(),
    }
}

fn figure(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Count => format!("{value:.0}"),
        Unit::Share => format!("{value:.3}"),
        // Three digits are what the histograms hold.
        Unit::Nanoseconds if value.abs() >= 999_500.0 => format!("{:.2}ms", value / 1e6),
        Unit::Nanoseconds if value.abs() < 10_000.0 => format!("{:.2}us", value / 1e3),
        Unit::Nanoseconds => format!("{:.0}us", value / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_known_what_was_measured_and_what_passes() {
        let plain = |check: &Check| anstream::adapter::strip_str(&line("p99", check)).to_string();
        let within = Check::within("", Unit::Nanoseconds, 5e6, 5.2e6, 1e5);
        let words: Vec<String> = plain(&within)
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        assert_eq!(
            words.join(" "),
            "FAIL p99 5.20ms known 5.00ms 4.90ms to 5.10ms pass"
        );
        let doubtful = within.unless(Some("noise".to_owned()));
        assert!(plain(&doubtful).ends_with("\n           inconclusive: noise"));
        assert!(plain(&Check::exactly("", 3, 3)).ends_with("3   known 3"));
        let nothing = Check::between("", Unit::Share, f64::NAN, None, Some(0.05));
        assert!(plain(&nothing).contains("nothing"));
    }
}
