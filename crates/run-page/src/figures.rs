//! Figures as people read them. Each is rounded to three digits, so that values below a
//! millisecond can be told apart.

/// A latency or CPU time of so many nanoseconds.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        size if size >= 999_500_000.0 => (ns / 1e9, "s"),
        size if size >= 999_500.0 => (ns / 1e6, "ms"),
        size if size >= 999.5 => (ns / 1e3, "µs"),
        _ => (ns, "ns"),
    };
    format!("{} {unit}", three_digits(value))
}

/// So many bytes.
pub fn bytes(bytes: f64) -> String {
    const KIB: f64 = 1024.0;
    let (value, unit) = match bytes.abs() {
        size if size >= 999.5 * KIB * KIB => (bytes / KIB / KIB / KIB, "GiB"),
        size if size >= 999.5 * KIB => (bytes / KIB / KIB, "MiB"),
        size if size >= 999.5 => (bytes / KIB, "KiB"),
        _ => (bytes, "B"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A count, with its thousands set apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A percentage without needless zeros.
pub fn percentile(percentile: f64) -> String {
    format!("{percentile}")
}

/// A share of one as a percentage.
pub fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A share that was lost, as a percentage of two digits.
pub fn lost_share(share: f64) -> String {
    let percent = share * 100.0;
    format!("{} %", trimmed(format!("{percent:.*}", decimals(percent))))
}

/// The share that came, in nines: with as many digits as two of the share that was lost need. It is
/// rounded down, so that 100 % means that all came.
pub fn came_share(lost: f64) -> String {
    let decimals = decimals(lost * 100.0);
    let unit = 10f64.powi(decimals as i32);
    // A share that is exact in decimal is not in binary.
    let percent = ((100.0 - lost * 100.0) * unit + 1e-6).floor() / unit;
    format!("{} %", trimmed(format!("{percent:.decimals$}")))
}

/// How many decimals show two digits of a percentage, or of what it lacks of a hundred if that is less.
fn decimals(percent: f64) -> usize {
    let less = percent.min(100.0 - percent);
    match less > 0.0 {
        true => (1.0 - less.log10().floor()).clamp(0.0, 9.0) as usize,
        false => 0,
    }
}

fn trimmed(number: String) -> String {
    match number.contains('.') {
        true => number
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        false => number,
    }
}

fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        0.0 => 0,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_three_digits_in_the_nearest_unit() {
        for (ns, expected) in [
            (0.0, "0 ns"),
            (812.0, "812 ns"),
            (999.6, "1.00 µs"),
            (43_210.0, "43.2 µs"),
            (432_100.0, "432 µs"),
            (999_700.0, "1.00 ms"),
            (4_321_000.0, "4.32 ms"),
            (47_251_000.0, "47.3 ms"),
            (499_900_000.0, "500 ms"),
            (1_234_000_000.0, "1.23 s"),
        ] {
            assert_eq!(time(ns), expected);
        }
    }

    #[test]
    fn bytes_are_binary_and_may_be_negative() {
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(4_096.0), "4.00 KiB");
        assert_eq!(bytes(-2_048.0), "-2.00 KiB");
        assert_eq!(bytes(64.0 * 1024.0 * 1024.0), "64.0 MiB");
    }

    #[test]
    fn what_came_is_told_in_nines_and_is_never_rounded_up() {
        for (lost, expected_lost, expected_came) in [
            (0.0, "0 %", "100 %"),
            (1.0, "100 %", "0 %"),
            (0.25, "25 %", "75 %"),
            (0.0002, "0.02 %", "99.98 %"),
            (0.000_234_9, "0.023 %", "99.976 %"),
            (1.0 / 3.0, "33 %", "66 %"),
            (2e-8, "0.000002 %", "99.999998 %"),
            (0.9999, "99.99 %", "0.01 %"),
        ] {
            assert_eq!(lost_share(lost), expected_lost);
            assert_eq!(came_share(lost), expected_came, "{lost}");
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        let shown: Vec<String> = [0, 999, 1_000, 12_345, 1_234_567].map(count).to_vec();
        assert_eq!(shown, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }
}
