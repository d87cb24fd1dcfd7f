//! The figures that are compared.

use std::fmt;
use std::str::FromStr;

/// A figure of one repetition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A percentile of the latency that the plan's limit applies to, above 0 and below 100.
    Percentile(f64),
    /// Clients carried within the limit.
    Clients,
}

/// Not the name of a figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no figure {0:?}; there are clients, p50, p95, p99, p99.9 and every other percentile")]
pub struct UnknownFigure(String);

impl Figure {
    /// What is compared when nothing is chosen.
    pub const USUAL: [Self; 5] = [
        Self::Percentile(50.0),
        Self::Percentile(95.0),
        Self::Percentile(99.0),
        Self::Percentile(99.9),
        Self::Clients,
    ];

    /// Samples that a repetition must have so that one lies beyond the percentile; with fewer the
    /// percentile is the maximum.
    pub(crate) fn samples_needed(self) -> u64 {
        match self {
            // A little less, since 100 - 99.9 is a little less than 0.1.
            Self::Percentile(percentile) => (100.0 / (100.0 - percentile) - 1e-6).ceil() as u64,
            Self::Clients => 0,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentile(percentile) => write!(f, "p{percentile}"),
            Self::Clients => f.write_str("clients"),
        }
    }
}

impl FromStr for Figure {
    type Err = UnknownFigure;

    fn from_str(name: &str) -> Result<Self, UnknownFigure> {
        if name == "clients" {
            return Ok(Self::Clients);
        }
        name.strip_prefix('p')
            .and_then(|number| number.parse().ok())
            .filter(|percentile| *percentile > 0.0 && *percentile < 100.0)
            .map(Self::Percentile)
            .ok_or_else(|| UnknownFigure(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_names_and_need_samples() {
        for (name, samples) in [
            ("clients", 0),
            ("p50", 2),
            ("p95", 20),
            ("p99", 100),
            ("p99.9", 1_000),
            ("p99.99", 10_000),
        ] {
            let figure: Figure = name.parse().unwrap();
            assert_eq!(
                (figure.to_string().as_str(), figure.samples_needed()),
                (name, samples)
            );
        }
        for wrong in ["p100", "p0", "p", "95", "pp5", "pNaN", "Clients", ""] {
            assert!(wrong.parse::<Figure>().is_err(), "{wrong}");
        }
    }
}
