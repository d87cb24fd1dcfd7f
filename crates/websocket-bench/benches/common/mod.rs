//! What the benchmarks of this crate share. Measures nothing.

use std::fmt;

/// Pins the calling thread, and what it starts.
///
/// # Panics
/// Where there is no such core.
pub(crate) fn pin(cpu: usize) {
    // SAFETY: an all-zero cpu_set_t is valid; the set outlives the call.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    assert_eq!(done, 0, "this benchmark needs two cores");
}

/// What follows the option `name` on the command line.
pub(crate) fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != name).nth(1)
}

/// The middle one; of an even number, the upper of the two.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    Spread::new(values).median
}

/// The rounds of a figure.
pub(crate) struct Spread {
    least: f64,
    pub(crate) median: f64,
    most: f64,
}

impl Spread {
    /// # Panics
    /// Where there is no round.
    pub(crate) fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Self {
            least: values[0],
            median: values[values.len() / 2],
            most: values[values.len() - 1],
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ({:.2}-{:.2})", self.median, self.least, self.most)
    }
}
