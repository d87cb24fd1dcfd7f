//! Which cores are given to the server and which to the generator.
//!
//! The rule: the allowed logical processors are grouped into cores (hyperthreads of one core share
//! its execution units, so they stay on one side). The server gets the lower-numbered half of the
//! cores, the generator the other half. Of an odd number the generator gets the middle core: a
//! generator that is short of CPU time makes a result invalid, a server with one core less is
//! measured with one core less. A single core is not split.

use record::Environment;
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::fs;
use std::io;

/// The cores of the server and those of the generator; `None` when there is only one core.
pub fn split(allowed: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
    split_cores(allowed, lowest_sibling)
}

/// Confines the calling thread, and what it starts from then on, to `cpus`.
///
/// It neither allocates nor takes a lock, so that it may be called between fork and exec
/// (signal-safety(7)).
///
/// # Errors
/// `EINVAL` when no processor is named or one has too high a number; else what
/// sched_setaffinity(2) says.
pub fn pin_current(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(Errno::INVAL.into());
        }
        set.set(cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// The calling thread, and what it starts meanwhile, confined to some cores until this is dropped.
#[derive(Debug)]
pub struct Confined {
    before: Vec<usize>,
}

impl Confined {
    /// Confines the calling thread to `cpus`; to nothing, when there are none.
    ///
    /// # Errors
    /// What [`pin_current`] says.
    pub fn to(cpus: &[usize]) -> io::Result<Option<Self>> {
        if cpus.is_empty() {
            return Ok(None);
        }
        let before = Environment::collect().allowed_cpus;
        pin_current(cpus)?;
        Ok(Some(Self { before }))
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        // It was allowed before. If the machine has changed since, the thread stays where it is.
        let _ = pin_current(&self.before);
    }
}

fn split_cores(
    allowed: &[usize],
    core_of: impl Fn(usize) -> usize,
) -> Option<(Vec<usize>, Vec<usize>)> {
    let mut cores: Vec<usize> = allowed.iter().map(|cpu| core_of(*cpu)).collect();
    cores.sort_unstable();
    cores.dedup();
    if cores.len() < 2 {
        return None;
    }
    let first_of_generator = cores[cores.len() / 2];
    let mut cpus = allowed.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    Some(
        cpus.into_iter()
            .partition(|cpu| core_of(*cpu) < first_of_generator),
    )
}

/// The lowest-numbered hyperthread of a processor's core; the processor itself where the kernel
/// does not tell.
fn lowest_sibling(cpu: usize) -> usize {
    fs::read_to_string(format!(
        "/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
    ))
    .ok()
    .and_then(|list| list.split([',', '-', '\n']).next()?.parse().ok())
    .unwrap_or(cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_alike(count: usize) -> Option<(Vec<usize>, Vec<usize>)> {
        split_cores(&(0..count).collect::<Vec<_>>(), |cpu| cpu)
    }

    #[test]
    fn halves_and_the_odd_core_is_the_generators() {
        assert_eq!(split_alike(1), None);
        assert_eq!(split_alike(2), Some((vec![0], vec![1])));
        assert_eq!(split_alike(3), Some((vec![0], vec![1, 2])));
        assert_eq!(split_alike(4), Some((vec![0, 1], vec![2, 3])));
        assert_eq!(split_alike(8), Some(((0..4).collect(), (4..8).collect())));
        assert_eq!(split_alike(16), Some(((0..8).collect(), (8..16).collect())));
    }

    #[test]
    fn gaps_and_order_do_not_matter() {
        let split = split_cores(&[11, 2, 7, 5], |cpu| cpu);
        assert_eq!(split, Some((vec![2, 5], vec![7, 11])));
        assert_eq!(split_cores(&[], |cpu| cpu), None);
    }

    #[test]
    fn hyperthreads_of_a_core_stay_on_one_side() {
        let numbered_apart = split_cores(&(0..8).collect::<Vec<_>>(), |cpu| cpu % 4);
        assert_eq!(numbered_apart, Some((vec![0, 1, 4, 5], vec![2, 3, 6, 7])));
        assert_eq!(split_cores(&[0, 1], |_| 0), None);
    }

    #[test]
    fn a_pinned_child_sees_only_its_core() {
        use std::os::unix::process::CommandExt;
        let allowed = record::Environment::collect().allowed_cpus;
        let last = vec![*allowed.last().unwrap()];
        let expected = format!("{}", last[0]);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "grep Cpus_allowed_list /proc/self/status"]);
        // SAFETY: pin_current is safe to call between fork and exec, see there.
        unsafe { command.pre_exec(move || pin_current(&last)) };
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert_eq!(output.split_whitespace().last(), Some(expected.as_str()));
    }

    #[test]
    fn an_impossible_core_is_an_error() {
        assert!(pin_current(&[]).is_err());
        assert!(pin_current(&[1 << 20]).is_err());
    }

    #[test]
    fn a_confined_thread_is_free_again_afterwards() {
        std::thread::spawn(|| {
            let before = Environment::collect().allowed_cpus;
            let one = &before[..1];
            let confined = Confined::to(one).unwrap();
            assert_eq!(Environment::collect().allowed_cpus, one);
            drop(confined);
            assert_eq!(Environment::collect().allowed_cpus, before);
            assert!(Confined::to(&[]).unwrap().is_none());
        })
        .join()
        .unwrap();
    }
}
