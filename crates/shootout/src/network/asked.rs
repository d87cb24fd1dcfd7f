//! A network as the command line names it.

use plan::Nanos;
use project::manifest::suggestion;
use record::Network;

/// Networks with a name. docs/network.md says where their values are from.
const NAMED: [(&str, &str); 3] = [
    ("lan", "delay=1ms rate=1gbit"),
    ("wan", "delay=28ms jitter=4ms loss=0.1% rate=1gbit"),
    ("mobile", "delay=150ms jitter=30ms loss=0.4% rate=1gbit"),
];
const KEYS: [&str; 4] = ["delay", "jitter", "loss", "rate"];
const LONGEST_DELAY: Nanos = Nanos::secs(10);
/// In percent.
const MOST_LOSS: f64 = 50.0;
/// In bits a second. With less, looking at the network would take longer than measuring over it.
const LEAST_RATE: f64 = 1e5;
const MOST_RATE: f64 = 1e11;

/// A text that names no network.
#[derive(Debug, thiserror::Error)]
pub enum NoNetwork {
    /// It is empty.
    #[error("no network is named; {}", how())]
    Empty,
    /// No network has this name.
    #[error(
        "no network is called \"{name}\"{}; {}",
        suggestion(name, names()),
        how()
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A word has no value.
    #[error("\"{word}\" has no value; {}", how())]
    NoValue {
        /// The word.
        word: String,
    },
    /// A key is given twice.
    #[error("{0} is given twice; give it once")]
    Twice(String),
    /// A network has no such key.
    #[error("a network has no \"{key}\"{}; {}", suggestion(key, KEYS), how())]
    Key {
        /// The key.
        key: String,
    },
    /// A value that a key cannot have.
    #[error("{key}: \"{value}\" {problem}")]
    Value {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What is wrong with it.
        problem: Unfit,
    },
    /// The jitter is more than the delay.
    #[error(
        "jitter is more than delay, and nothing arrives before it is sent; make it at most as large"
    )]
    Jitter,
}

/// What is wrong with a value.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// No time.
    #[error("is no time; write one like 20ms or 500us")]
    Time,
    /// A time beyond the bound.
    #[error("is too long; at most {LONGEST_DELAY}")]
    Long,
    /// No share.
    #[error("is no share; write one like 0.1%")]
    Share,
    /// A share beyond the bound.
    #[error("is not between 0% and {MOST_LOSS}%")]
    Loss,
    /// No rate.
    #[error("is no rate; write one like 50mbit, 1gbit or 500kbit")]
    Rate,
    /// A rate beyond the bounds.
    #[error("is not between 100kbit and 100gbit")]
    Bounds,
}

fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|(name, _)| *name)
}

/// Reads `lan`, or values like `delay=20ms jitter=5ms loss=0.1% rate=50mbit`.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn parse(text: &str) -> Result<Network, NoNetwork> {
    let text = text.trim();
    if let Some((name, values)) = NAMED.iter().find(|(name, _)| *name == text) {
        let network = values_of(values)?;
        return Ok(Network {
            name: Some((*name).to_owned()),
            ..network
        });
    }
    if text.is_empty() {
        return Err(NoNetwork::Empty);
    }
    if !text.contains('=') {
        return Err(NoNetwork::Name {
            name: text.to_owned(),
        });
    }
    values_of(text)
}

fn how() -> String {
    let names: Vec<&str> = names().collect();
    format!(
        "write {}, or values like 'delay=20ms jitter=5ms loss=0.1% rate=50mbit'",
        names.join(", ")
    )
}

fn values_of(text: &str) -> Result<Network, NoNetwork> {
    let mut network = Network {
        name: None,
        delay_ns: 0,
        jitter_ns: 0,
        loss: 0.0,
        rate: None,
    };
    let mut seen = Vec::new();
    for word in text.split_whitespace() {
        let parts = word.split_once('=');
        let (key, value) = parts.ok_or_else(|| NoNetwork::NoValue {
            word: word.to_owned(),
        })?;
        if seen.contains(&key) {
            return Err(NoNetwork::Twice(key.to_owned()));
        }
        seen.push(key);
        let wrong = |problem| NoNetwork::Value {
            key: key.to_owned(),
            value: value.to_owned(),
            problem,
        };
        match key {
            "delay" => network.delay_ns = time(value).map_err(wrong)?,
            "jitter" => network.jitter_ns = time(value).map_err(wrong)?,
            "loss" => network.loss = share(value).map_err(wrong)?,
            "rate" => network.rate = Some(rate(value).map_err(wrong)?),
            _ => {
                return Err(NoNetwork::Key {
                    key: key.to_owned(),
                });
            }
        }
    }
    if network.jitter_ns > network.delay_ns {
        return Err(NoNetwork::Jitter);
    }
    Ok(network)
}

fn time(text: &str) -> Result<u64, Unfit> {
    let time: Nanos = text.parse().map_err(|_| Unfit::Time)?;
    if time > LONGEST_DELAY {
        return Err(Unfit::Long);
    }
    Ok(time.ns())
}

fn share(text: &str) -> Result<f64, Unfit> {
    let percent = text
        .strip_suffix('%')
        .and_then(|number| number.parse().ok());
    let percent: f64 = percent.ok_or(Unfit::Share)?;
    if !(0.0..=MOST_LOSS).contains(&percent) {
        return Err(Unfit::Loss);
    }
    Ok(percent / 100.0)
}

fn rate(text: &str) -> Result<u64, Unfit> {
    let units = [("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3)];
    let found = units.iter().find_map(|(unit, bits)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(number * bits)
    });
    let bits = found.ok_or(Unfit::Rate)?;
    if !(LEAST_RATE..=MOST_RATE).contains(&bits) {
        return Err(Unfit::Bounds);
    }
    Ok(bits as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_names_are_read() {
        let given = parse("delay=20ms jitter=5ms loss=0.1% rate=50mbit").unwrap();
        assert_eq!((given.delay_ns, given.jitter_ns), (20_000_000, 5_000_000));
        assert!((given.loss - 0.001).abs() < 1e-12);
        assert_eq!((given.rate, given.name), (Some(50_000_000), None));
        assert_eq!(parse("delay=0ms").unwrap().delay_ns, 0);
        for (name, values) in NAMED {
            let named = parse(name).unwrap();
            assert_eq!(named.name.as_deref(), Some(name));
            assert!(named.is_like(&parse(values).unwrap()));
            assert!(parse(&named.values()).unwrap().is_like(&named));
        }
        let odd = parse("delay=1500us jitter=7ns loss=0.7% rate=1.5mbit").unwrap();
        assert_eq!(
            odd.values(),
            "delay=1500us jitter=7ns loss=0.7% rate=1500kbit"
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_what_would_be_right() {
        for (text, said) in [
            ("", "no network is named; write lan, wan, mobile, or values"),
            ("wam", "did you mean \"wan\"?"),
            ("moon", "known: lan, wan, mobile"),
            ("delay=-1", "delay: \"-1\" is no time; write one like 20ms"),
            ("delay=20", "delay: \"20\" is no time"),
            ("delay=1h", "delay: \"1h\" is too long; at most 10s"),
            ("loss=200%", "loss: \"200%\" is not between 0% and 50%"),
            ("loss=-1%", "loss: \"-1%\" is not between"),
            ("loss=NaN%", "loss: \"NaN%\" is not between"),
            ("loss=0.1", "loss: \"0.1\" is no share; write one like 0.1%"),
            ("rate=0", "rate: \"0\" is no rate; write one like 50mbit"),
            ("rate=0mbit", "rate: \"0mbit\" is not between 100kbit"),
            ("rate=infmbit", "rate: \"infmbit\" is not between 100kbit"),
            (
                "delai=20ms",
                "a network has no \"delai\"; did you mean \"delay\"?",
            ),
            ("delay=20ms loss", "\"loss\" has no value"),
            ("delay=20ms delay=1ms", "delay is given twice"),
            ("delay=1ms jitter=2ms", "jitter is more than delay"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }
}
