//! Values of flags that are more than a number or a name.

use super::Rate;
use plan::{LONGEST_NS, PRECISIONS, RATES};
use std::time::Duration;

/// A text that is no value of its flag.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfit {
    #[error("`{0}` is not a rate: expected a number from {least} to {most} per second", least = RATES.0, most = RATES.1)]
    Rate(String),
    #[error("the ramp has no length: expected A:B/TIME, e.g. 1000:5000/60s")]
    RampWithoutTime,
    #[error("a ramp is not possible here: expected one number per second")]
    Ramp,
    #[error("expected a number from {least} to {most}")]
    Number { least: f64, most: f64 },
    #[error("expected a number from 1 on")]
    Ordinal,
    #[error("expected a number above 0 and at most 100")]
    Percentile,
    #[error("expected printable ASCII on one line, e.g. http://localhost/")]
    Header,
    #[error("{0}; expected something like 250ms or 1m 30s")]
    Time(#[from] humantime::DurationError),
    #[error("expected a time above 0 and at most 24h")]
    LongTime,
    #[error("there is no dialect `{0}`")]
    Dialect(String),
}

/// `A`, or `A:B/TIME`.
pub(super) fn rate(text: &str) -> Result<Rate, Unfit> {
    let one = |text: &str| match text.parse::<f64>() {
        Ok(value) if (RATES.0..=RATES.1).contains(&value) => Ok(value),
        _ => Err(Unfit::Rate(text.to_owned())),
    };
    let Some((from, rest)) = text.split_once(':') else {
        return Ok(Rate {
            from: one(text)?,
            ramp: None,
        });
    };
    let (to, over) = rest.split_once('/').ok_or(Unfit::RampWithoutTime)?;
    Ok(Rate {
        from: one(from)?,
        ramp: Some((one(to)?, duration(over)?)),
    })
}

pub(super) fn connect_rate(text: &str) -> Result<f64, Unfit> {
    match rate(text)? {
        Rate { from, ramp: None } => Ok(from),
        _ => Err(Unfit::Ramp),
    }
}

pub(super) fn precision(text: &str) -> Result<f64, Unfit> {
    match text.parse::<f64>() {
        Ok(value) if (PRECISIONS.0..=PRECISIONS.1).contains(&(value / 100.0)) => Ok(value),
        _ => Err(Unfit::Number {
            least: PRECISIONS.0 * 100.0,
            most: PRECISIONS.1 * 100.0,
        }),
    }
}

pub(super) fn percentile(text: &str) -> Result<f64, Unfit> {
    match text.parse::<f64>() {
        Ok(value) if plan::is_percentile(value) => Ok(value),
        _ => Err(Unfit::Percentile),
    }
}

/// A line break would end the header and begin another.
pub(super) fn header_value(text: &str) -> Result<String, Unfit> {
    if text.is_empty() || !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(Unfit::Header);
    }
    Ok(text.to_owned())
}

pub(super) fn duration(text: &str) -> Result<Duration, Unfit> {
    let parsed = humantime::parse_duration(text)?;
    if parsed.is_zero() || parsed > Duration::from_nanos(LONGEST_NS) {
        return Err(Unfit::LongTime);
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_numbers_or_ramps() {
        let ramp = Rate {
            from: 1000.0,
            ramp: Some((5000.0, Duration::from_secs(60))),
        };
        assert_eq!(rate("1000:5000/60s").unwrap(), ramp);
        assert_eq!(rate("0.5").unwrap().from, 0.5);
        for text in ["0", "-1", "nan", "inf", "1:2", "1:2/", "1:0/5s", "x", ""] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_and_percentiles_out_of_range_are_refused() {
        for text in ["0ms", "-1s", "5", "soon", "2days"] {
            assert!(duration(text).is_err(), "{text}");
        }
        for text in ["0", "100.1", "-5", "nan", "p95"] {
            assert!(percentile(text).is_err(), "{text}");
        }
    }
}
