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

/// Reads `lan`, or values like `delay=20ms jitter=5ms loss=0.1% rate=50mbit`.
///
/// # Errors
/// In words, what is wrong and what would be right.
pub fn parse(text: &str) -> Result<Network, String> {
    let text = text.trim();
    if let Some((name, values)) = NAMED.iter().find(|(name, _)| *name == text) {
        let network = values_of(values)?;
        return Ok(Network {
            name: Some((*name).to_owned()),
            ..network
        });
    }
    if text.is_empty() {
        return Err(format!("no network is named; {}", how()));
    }
    if !text.contains('=') {
        let names = NAMED.iter().map(|(name, _)| *name);
        return Err(format!(
            "no network is called \"{text}\"{}; {}",
            suggestion(text, names),
            how()
        ));
    }
    values_of(text)
}

fn how() -> String {
    let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
    format!(
        "write {}, or values like 'delay=20ms jitter=5ms loss=0.1% rate=50mbit'",
        names.join(", ")
    )
}

fn values_of(text: &str) -> Result<Network, String> {
    let mut network = Network {
        name: None,
        delay_ns: 0,
        jitter_ns: 0,
        loss: 0.0,
        rate: None,
    };
    let mut seen = Vec::new();
    for word in text.split_whitespace() {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| format!("\"{word}\" has no value; {}", how()))?;
        if seen.contains(&key) {
            return Err(format!("{key} is given twice; give it once"));
        }
        seen.push(key);
        let wrong = |words: String| format!("{key}: \"{value}\" {words}");
        match key {
            "delay" => network.delay_ns = time(value).map_err(wrong)?,
            "jitter" => network.jitter_ns = time(value).map_err(wrong)?,
            "loss" => network.loss = share(value).map_err(wrong)?,
            "rate" => network.rate = Some(rate(value).map_err(wrong)?),
            _ => {
                return Err(format!(
                    "a network has no \"{key}\"{}; {}",
                    suggestion(key, KEYS),
                    how()
                ));
            }
        }
    }
    if network.jitter_ns > network.delay_ns {
        return Err(
            "jitter is more than delay, and nothing arrives before it is sent; make it at most as \
             large"
                .to_owned(),
        );
    }
    Ok(network)
}

fn time(text: &str) -> Result<u64, String> {
    let time: Nanos = text
        .parse()
        .map_err(|_| "is no time; write one like 20ms or 500us".to_owned())?;
    if time > LONGEST_DELAY {
        return Err(format!("is too long; at most {LONGEST_DELAY}"));
    }
    Ok(time.ns())
}

fn share(text: &str) -> Result<f64, String> {
    let percent = text
        .strip_suffix('%')
        .and_then(|number| number.parse().ok());
    let percent: f64 = percent.ok_or("is no share; write one like 0.1%")?;
    if !(0.0..=MOST_LOSS).contains(&percent) {
        return Err(format!("is not between 0% and {MOST_LOSS}%"));
    }
    Ok(percent / 100.0)
}

fn rate(text: &str) -> Result<u64, String> {
    let units = [("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3)];
    let found = units.iter().find_map(|(unit, bits)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(number * bits)
    });
    let bits = found.ok_or("is no rate; write one like 50mbit, 1gbit or 500kbit")?;
    if !(LEAST_RATE..=MOST_RATE).contains(&bits) {
        return Err("is not between 100kbit and 100gbit".to_owned());
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
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
