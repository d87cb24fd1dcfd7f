//! What the benchmarks of this crate share. Measures nothing.

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

/// The middle one; of an even number, the upper of the two.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
