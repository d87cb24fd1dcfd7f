//! Which processes belong to a server.
//!
//! The rule: the processes that were started, the server and its services; every child of a member, even when its parent has
//! ended since; and every process whose process group or session was opened by a member, so that
//! a worker that forked twice and was adopted by init is still counted. A process that is older
//! than the server never belongs to it.

use procfs::process::all_processes;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A process, told apart from later ones of the same number by its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// Its number.
    pub pid: i32,
    /// Clock ticks from boot to the start of the process.
    pub started: u64,
}

/// What /proc/PID/stat says about kinship.
#[derive(Clone, Copy, Debug)]
pub struct Kin {
    /// Which process.
    pub identity: Identity,
    /// Its parent.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// Its session, setsid(2).
    pub session: i32,
    /// It has ended and waits for its parent: it has no memory any more, but still its clock.
    pub zombie: bool,
    /// CPU time in the program itself, ended threads included, to a hundredth of a second.
    pub user: Duration,
    /// CPU time in the kernel on its behalf, ended threads included, to a hundredth of a
    /// second.
    pub kernel: Duration,
}

/// Members of the tree, past and present.
#[derive(Debug)]
pub struct Tree {
    /// Those that were not yet looked for.
    roots: BTreeSet<i32>,
    members: BTreeSet<Identity>,
}

impl Tree {
    /// The tree of the processes `roots`.
    pub fn new(roots: &[u32]) -> Self {
        Self {
            roots: roots.iter().map(|root| *root as i32).collect(),
            members: BTreeSet::new(),
        }
    }

    /// Has the next search look for these processes too, with all that belongs to them.
    pub fn add(&mut self, roots: &[u32]) {
        self.roots.extend(roots.iter().map(|root| *root as i32));
    }

    /// Looks through all processes for members; returns those that are there now.
    pub fn search(&mut self) -> Vec<Kin> {
        let tick = Duration::from_secs(1) / procfs::ticks_per_second() as u32;
        // Processes end while the list is read; those are left out.
        let all: Vec<Kin> = all_processes()
            .into_iter()
            .flatten()
            .filter_map(|process| process.ok()?.stat().ok())
            .map(|stat| Kin {
                identity: Identity {
                    pid: stat.pid,
                    started: stat.starttime,
                },
                parent: stat.ppid,
                group: stat.pgrp,
                session: stat.session,
                zombie: matches!(stat.state, 'Z' | 'X'),
                user: tick * stat.utime as u32,
                kernel: tick * stat.stime as u32,
            })
            .collect();
        self.sort_out(&all)
    }

    fn sort_out(&mut self, all: &[Kin]) -> Vec<Kin> {
        let is_root = |kin: &&Kin| self.roots.contains(&kin.identity.pid);
        let roots: Vec<Identity> = all.iter().filter(is_root).map(|kin| kin.identity).collect();
        if !roots.is_empty() {
            self.members.extend(roots);
            // The number of one that has ended is given to others.
            self.roots.clear();
        }
        let Some(oldest) = self.members.iter().map(|member| member.started).min() else {
            return Vec::new();
        };
        let by_pid: BTreeMap<i32, Identity> = all
            .iter()
            .map(|kin| (kin.identity.pid, kin.identity))
            .collect();
        loop {
            let opened: BTreeSet<i32> = self.members.iter().map(|member| member.pid).collect();
            let found: Vec<Identity> = all
                .iter()
                .filter(|kin| kin.identity.started >= oldest)
                .filter(|kin| !self.members.contains(&kin.identity))
                .filter(|kin| {
                    let child_of_member = by_pid
                        .get(&kin.parent)
                        .is_some_and(|parent| self.members.contains(parent));
                    // A group or session keeps the number of the process that opened it, and the
                    // kernel gives that number to no other process while one is left in it.
                    let number_is_free = |id: i32| {
                        opened.contains(&id)
                            && by_pid.get(&id).is_none_or(|now| self.members.contains(now))
                    };
                    child_of_member || number_is_free(kin.group) || number_is_free(kin.session)
                })
                .map(|kin| kin.identity)
                .collect();
            if found.is_empty() {
                break;
            }
            self.members.extend(found);
        }
        all.iter()
            .filter(|kin| self.members.contains(&kin.identity))
            .copied()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kin(pid: i32, parent: i32, group: i32, session: i32) -> Kin {
        Kin {
            identity: Identity {
                pid,
                started: pid as u64,
            },
            parent,
            group,
            session,
            zombie: false,
            user: Duration::ZERO,
            kernel: Duration::ZERO,
        }
    }

    fn pids(found: &[Kin]) -> Vec<i32> {
        found.iter().map(|kin| kin.identity.pid).collect()
    }

    #[test]
    fn descendants_belong_and_relatives_do_not() {
        let all = [
            kin(1, 0, 1, 1),
            kin(50, 1, 50, 50),
            kin(100, 50, 100, 50),
            kin(101, 100, 100, 50),
            kin(103, 101, 100, 50),
            kin(104, 50, 104, 50),
        ];
        assert_eq!(pids(&Tree::new(&[100]).sort_out(&all)), [100, 101, 103]);
    }

    #[test]
    fn a_worker_adopted_by_init_belongs_by_its_group_or_session() {
        let all = [
            kin(1, 0, 1, 1),
            kin(100, 50, 100, 50),
            kin(105, 1, 100, 50),
            kin(106, 100, 106, 106),
            kin(108, 1, 108, 106),
            kin(109, 1, 109, 109),
        ];
        assert_eq!(
            pids(&Tree::new(&[100]).sort_out(&all)),
            [100, 105, 106, 108]
        );
    }

    #[test]
    fn services_belong_with_their_children() {
        let all = [
            kin(90, 50, 90, 90),
            kin(91, 90, 90, 90),
            kin(95, 50, 95, 95),
            kin(100, 50, 100, 100),
        ];
        assert_eq!(pids(&Tree::new(&[100, 90]).sort_out(&all)), [90, 91, 100]);
    }

    #[test]
    fn a_process_that_is_added_later_belongs_with_its_children() {
        let all = [kin(100, 50, 100, 100), kin(120, 50, 120, 120)];
        let mut tree = Tree::new(&[100]);
        assert_eq!(pids(&tree.sort_out(&all)), [100]);
        tree.add(&[120]);
        let later = [kin(120, 50, 120, 120), kin(121, 120, 120, 120)];
        assert_eq!(pids(&tree.sort_out(&later)), [120, 121]);
        assert_eq!(pids(&tree.sort_out(&all)), [100, 120]);
    }

    #[test]
    fn the_group_that_the_server_was_started_in_is_not_its_own() {
        let all = [kin(100, 50, 50, 50), kin(110, 50, 50, 50)];
        assert_eq!(pids(&Tree::new(&[100]).sort_out(&all)), [100]);
    }

    #[test]
    fn who_once_belonged_stays_although_all_its_kin_has_ended() {
        let mut tree = Tree::new(&[100]);
        tree.sort_out(&[kin(100, 50, 100, 50), kin(107, 100, 107, 107)]);
        assert_eq!(pids(&tree.sort_out(&[kin(107, 1, 107, 107)])), [107]);
    }

    #[test]
    fn a_reused_number_is_another_process() {
        let mut tree = Tree::new(&[100]);
        tree.sort_out(&[kin(100, 50, 100, 50)]);
        let mut stranger = kin(100, 1, 100, 100);
        stranger.identity.started = 900;
        let mut its_child = kin(901, 100, 100, 100);
        its_child.identity.started = 901;
        assert!(tree.sort_out(&[stranger, its_child]).is_empty());
    }

    #[test]
    fn a_process_older_than_the_server_never_belongs() {
        let all = [kin(100, 50, 100, 50), kin(90, 1, 100, 50)];
        assert_eq!(pids(&Tree::new(&[100]).sort_out(&all)), [100]);
    }
}
