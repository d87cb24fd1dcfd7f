//! What programs other than this one and its children use.
//!
//! The rule: the processes that are no descendants of this one, without threads of the kernel, and
//! the time that other virtual machines took from this one. Read from the processes and not from
//! the sum of the cores, since kernels differ in where they count interrupts. A process that has
//! ended is counted by the parent that waited for it.

use procfs::CurrentSI as _;
use procfs::process::{Stat, StatFlags, all_processes};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// CPU time that others had used by a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Others {
    at: Instant,
    used: Duration,
    cores: usize,
}

impl Others {
    /// Their time until now; `None` where /proc cannot be read.
    pub fn now() -> Option<Self> {
        let all: Vec<Stat> = all_processes()
            .ok()?
            .filter_map(|process| process.ok()?.stat().ok())
            .collect();
        let kernel = procfs::KernelStats::current().ok()?;
        let ticks = used(&all, std::process::id().cast_signed());
        let ticks = ticks + kernel.total.steal.unwrap_or(0);
        let per_second = procfs::ticks_per_second();
        Some(Self {
            at: Instant::now(),
            used: Duration::from_nanos(ticks * (1_000_000_000 / per_second)),
            cores: kernel.cpu_time.len(),
        })
    }

    /// Share of all cores that they used since `before`, from 0 to 1.
    pub fn share_since(&self, before: &Self) -> f64 {
        let elapsed = self.at.duration_since(before.at).as_secs_f64() * self.cores as f64;
        if elapsed <= 0.0 {
            return 0.0;
        }
        let used = self.used.saturating_sub(before.used).as_secs_f64();
        (used / elapsed).min(1.0)
    }
}

/// Ticks of the processes that neither are `own` nor descend from it.
fn used(all: &[Stat], own: i32) -> u64 {
    let parents: BTreeMap<i32, i32> = all.iter().map(|stat| (stat.pid, stat.ppid)).collect();
    let is_own = |pid: i32| {
        let mut seen = BTreeSet::new();
        let mut at = pid;
        // A number may be given to another process while the list is read.
        while seen.insert(at) {
            if at == own {
                return true;
            }
            match parents.get(&at) {
                Some(parent) => at = *parent,
                None => return false,
            }
        }
        false
    };
    let is_kernel =
        |stat: &Stat| StatFlags::from_bits_truncate(stat.flags).contains(StatFlags::PF_KTHREAD);
    all.iter()
        .filter(|stat| !is_kernel(stat) && !is_own(stat.pid))
        .map(|stat| {
            let waited_for = [stat.cutime, stat.cstime].map(i64::unsigned_abs);
            stat.utime + stat.stime + waited_for.iter().sum::<u64>()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::FromRead as _;
    use std::process::Command;

    fn stat(pid: i32, parent: i32, utime: u64, flags: u32) -> Stat {
        let zeros = "0 ".repeat(43);
        let line = format!("{pid} (p) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {utime} 1 2 3 {zeros}");
        Stat::from_read(line.as_bytes()).unwrap()
    }

    #[test]
    fn descendants_and_the_kernel_are_left_out_and_children_that_ended_are_not() {
        let kernel = StatFlags::PF_KTHREAD.bits();
        let all = [
            stat(1, 0, 1_000, 0),
            stat(2, 0, 50_000, kernel),
            stat(7, 1, 20, 0),
            stat(8, 7, 300, 0),
            stat(9, 8, 4_000, 0),
        ];
        assert_eq!(used(&all, 8), 1_000 + 6 + 20 + 6);
        assert_eq!(used(&all, 7), 1_000 + 6);
    }

    #[test]
    fn what_this_program_has_its_children_do_is_not_of_others() {
        let own = std::process::id().cast_signed();
        let counts = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let counted = Command::new("sh").args(["-c", counts]).status();
        assert!(counted.unwrap().success());
        let all: Vec<Stat> = all_processes()
            .unwrap()
            .filter_map(|process| process.ok()?.stat().ok())
            .collect();
        let mine = all.iter().find(|stat| stat.pid == own).unwrap();
        let children = (mine.cutime + mine.cstime).unsigned_abs();
        assert!(children > 0, "no time of children");
        assert!(used(&all, -1) >= used(&all, own) + mine.utime + mine.stime + children);
    }
}
