//! Checks an assignment before it is accepted: whether this worker may and can carry it out.

use super::{Shared, WorkerOptions};
use crate::allow;
use crate::data_file;
use crate::wire::refused::Reason;
use crate::wire::{Assignment, Refused};
use plan::Plan;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::NamedTempFile;
use ws_load::TargetError;
use ws_load::cluster::Share;

/// Most sites of a run: 10,000 that dial in, and as many that are dialled.
const MOST_SITES: u32 = 20_000;

/// An assignment that was taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) plan: Plan,
    pub(super) share: Share,
    /// Where the server is: the addresses that were checked, and no others.
    pub(super) addrs: Vec<SocketAddr>,
    /// The plan's certificates and key, removed when the run is over.
    pub(super) _files: Vec<NamedTempFile>,
}

impl Shared {
    /// Marks the worker as busy, or returns what it is busy with.
    pub(super) fn occupy(self: &Arc<Self>, with: String) -> Result<Occupied, Refused> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = &*busy {
            return Err(refusal(Reason::Busy, format!("it has a run for {other}")));
        }
        *busy = Some(with);
        Ok(Occupied(Arc::clone(self)))
    }
}

/// The worker's one place, free again when dropped.
pub(super) struct Occupied(Arc<Shared>);

impl Drop for Occupied {
    fn drop(&mut self) {
        let busy: &Mutex<_> = &self.0.busy;
        *busy.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Makes a run of an assignment.
///
/// # Errors
/// Why this worker does not carry it out, for the coordinator.
pub(super) fn take(options: &WorkerOptions, assignment: &Assignment) -> Result<Taken, Refused> {
    take_with(options, assignment, &ws_load::target_addrs)
}

/// What tells the addresses of a plan's server.
type LookUp<'a> = &'a dyn Fn(&Plan) -> Result<Vec<SocketAddr>, TargetError>;

fn take_with(
    options: &WorkerOptions,
    assignment: &Assignment,
    look_up: LookUp<'_>,
) -> Result<Taken, Refused> {
    let unfit = |words: String| refusal(Reason::Plan, words);
    let mut plan: Plan = serde_json::from_slice(&assignment.plan)
        .map_err(|error| unfit(format!("its plan cannot be read: {error}")))?;
    if assignment.of > MOST_SITES || assignment.number >= assignment.of {
        return Err(unfit(format!(
            "there is no site {} of {}",
            assignment.number, assignment.of
        )));
    }
    let share = Share {
        number: assignment.number,
        of: assignment.of,
    };
    if let Some(threads) = options.threads {
        plan.generator.threads = threads;
    } else if assignment.own_threads {
        plan.generator.threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    }
    if !options.local_addrs.is_empty() {
        plan.target.local_addrs.clone_from(&options.local_addrs);
    }
    plan.validate().map_err(|error| unfit(error.to_string()))?;
    ws_load::check_message(&plan).map_err(|error| unfit(error.to_string()))?;
    take_own_files(options, &mut plan, assignment)?;
    let addrs = checked_destination(options, &plan, look_up)?;
    let files = keep_all(&mut plan, assignment)
        .map_err(|error| unfit(format!("cannot keep its certificates: {error}")))?;
    Ok(Taken {
        plan,
        share,
        addrs,
        _files: files,
    })
}

/// The addresses of the plan's server, all of which this worker may load. They are looked up here
/// and never again: a name server may give another answer the next time.
fn checked_destination(
    options: &WorkerOptions,
    plan: &Plan,
    look_up: LookUp<'_>,
) -> Result<Vec<SocketAddr>, Refused> {
    if let Some(path) = plan
        .target
        .unix_socket
        .as_ref()
        .filter(|_| !options.is_child)
    {
        let words = format!(
            "the Unix socket {} is of this machine, and only processes of --processes connect to one",
            path.display()
        );
        return Err(refusal(Reason::Destination, words));
    }
    if !options.is_child && ws_load::asks_other_servers(plan) {
        let words = "its dialect file makes requests over HTTP at another server than the target, which \
                     only processes of --processes do";
        return Err(refusal(Reason::Destination, words.to_owned()));
    }
    let targets = look_up(plan).map_err(|error| refusal(Reason::Plan, error.to_string()))?;
    match options.allow.refuses(&targets, &allow::look_up) {
        None => Ok(targets),
        Some(target) => Err(refusal(
            Reason::Destination,
            format!(
                "{} ({target}) is not among what it may load ({})",
                plan::redacted_url(&plan.target.url),
                options.allow
            ),
        )),
    }
}

/// Has the plan name the worker's own copies of the data file and of the payload lines: the
/// coordinator's paths are of another machine, unless the coordinator has started this process.
fn take_own_files(
    options: &WorkerOptions,
    plan: &mut Plan,
    assignment: &Assignment,
) -> Result<(), Refused> {
    if options.is_child {
        return Ok(());
    }
    let unfit = |words: String| refusal(Reason::Plan, words);
    let data = (plan.connection.data.as_mut(), &options.data);
    let lines = (plan.message.lines.as_mut(), &options.payload_lines);
    for ((path, own), what, flag, wanted) in [
        (data, "data file", "--data", &assignment.data_sha1),
        (
            lines,
            "file of payload lines",
            "--payload-lines",
            &assignment.lines_sha1,
        ),
    ] {
        let Some(path) = path else { continue };
        let own = own.as_ref().ok_or_else(|| {
            unfit(format!(
                "the run has the {what} {}: copy it to the worker, and start that with {flag} FILE",
                path.display()
            ))
        })?;
        let found = data_file::digest(own)
            .map_err(|error| unfit(format!("cannot read its {flag} {}: {error}", own.display())))?;
        if found != *wanted {
            return Err(unfit(format!(
                "its {flag} {} is not the run's {what} {}: copy it again",
                own.display(),
                path.display()
            )));
        }
        path.clone_from(own);
    }
    Ok(())
}

/// Keeps what the coordinator's files hold, and has the plan name these copies: its paths are of
/// another machine.
fn keep_all(plan: &mut Plan, assignment: &Assignment) -> std::io::Result<Vec<NamedTempFile>> {
    let mut files = Vec::new();
    let tls = plan.connection.tls.as_mut();
    let (cert, key) = tls
        .map(|tls| (&mut tls.client_cert, &mut tls.client_key))
        .unzip();
    for (path, pem) in [
        (Some(&mut plan.target.ca_file), &assignment.authorities),
        (cert, &assignment.client_cert),
        (key, &assignment.client_key),
    ] {
        if let Some(Some(path)) = path {
            let file = keep(pem)?;
            *path = file.path().to_owned();
            files.push(file);
        }
    }
    Ok(files)
}

/// A file that its owner alone can read.
fn keep(pem: &[u8]) -> std::io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(pem)?;
    Ok(file)
}

fn refusal(reason: Reason, words: String) -> Refused {
    Refused {
        reason: reason.into(),
        words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allow::AllowList;
    use plan::Tls;
    use std::cell::Cell;

    #[test]
    fn what_was_checked_is_what_is_loaded_whatever_the_name_stands_for_later() {
        let options = WorkerOptions {
            allow: AllowList(vec!["127.0.0.1".parse().unwrap()]),
            ..WorkerOptions::default()
        };
        let mut plan = ws_load::plan_for_port(9, 1, 1);
        plan.target.url = "ws://rebinds.example:9/".to_owned();
        let assignment = Assignment {
            plan: serde_json::to_vec(&plan).unwrap(),
            number: 0,
            of: 1,
            ..Assignment::default()
        };
        let asked = Cell::new(0);
        let rebinding = |_: &Plan| {
            asked.set(asked.get() + 1);
            Ok(vec![match asked.get() {
                1 => ([127, 0, 0, 1], 9).into(),
                _ => ([10, 0, 0, 1], 9).into(),
            }])
        };
        let taken = take_with(&options, &assignment, &rebinding).unwrap();
        assert_eq!(taken.addrs, [([127, 0, 0, 1], 9).into()]);
        assert_eq!(asked.get(), 1);
        // The name stands for another address the second time, which is not permitted.
        let refused = take_with(&options, &assignment, &rebinding).unwrap_err();
        assert_eq!(refused.reason, i32::from(Reason::Destination));
    }

    fn assignment(number: u32, of: u32) -> Assignment {
        Assignment {
            plan: serde_json::to_vec(&ws_load::plan_for_port(9, 1, 1)).unwrap(),
            number,
            of,
            ..Assignment::default()
        }
    }

    #[test]
    fn an_assignment_that_makes_no_sense_is_refused_with_what_is_wrong() {
        let mut without_threads = ws_load::plan_for_port(9, 1, 1);
        without_threads.generator.threads = 0;
        let with_plan = |plan: Vec<u8>| Assignment {
            plan,
            ..assignment(0, 1)
        };
        for (assignment, words) in [
            (with_plan(b"{".to_vec()), "its plan cannot be read"),
            (
                with_plan(serde_json::to_vec(&without_threads).unwrap()),
                "`generator.threads`",
            ),
            (assignment(0, 0), "no site 0 of 0"),
            (assignment(2, 2), "no site 2 of 2"),
            (assignment(0, MOST_SITES + 1), "no site 0 of 20001"),
        ] {
            let refused = take(&WorkerOptions::default(), &assignment).unwrap_err();
            assert_eq!(refused.reason, i32::from(Reason::Plan), "{refused:?}");
            assert!(refused.words.contains(words), "{refused:?}");
        }
        let taken = take(
            &WorkerOptions::default(),
            &assignment(MOST_SITES - 1, MOST_SITES),
        );
        assert_eq!(taken.unwrap().share.number, MOST_SITES - 1);
    }

    fn assigned(plan: &Plan, data_sha1: Vec<u8>) -> Assignment {
        Assignment {
            plan: serde_json::to_vec(plan).unwrap(),
            data_sha1,
            ..assignment(0, 1)
        }
    }

    #[test]
    fn a_worker_reads_its_own_copy_of_a_data_file_and_no_other() {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(b"token\n1\n").unwrap();
        let digest = data_file::digest(file.path()).unwrap();
        let mut plan = ws_load::plan_for_port(9, 1, 1);
        plan.connection.data = Some("/etc/passwd".into());
        let with_data = WorkerOptions {
            data: Some(file.path().to_owned()),
            ..WorkerOptions::default()
        };
        let taken = take(&with_data, &assigned(&plan, digest.clone())).unwrap();
        assert_eq!(taken.plan.connection.data, with_data.data);
        for (options, digest, words) in [
            (
                WorkerOptions::default(),
                digest,
                "start that with --data FILE",
            ),
            (with_data, vec![0; 20], "copy it again"),
        ] {
            let refused = take(&options, &assigned(&plan, digest)).unwrap_err();
            assert!(refused.words.contains(words), "{refused:?}");
        }
        let child = WorkerOptions {
            is_child: true,
            ..WorkerOptions::default()
        };
        let taken = take(&child, &assigned(&plan, Vec::new())).unwrap();
        assert_eq!(taken.plan.connection.data, plan.connection.data);
    }

    #[test]
    fn a_unix_socket_is_connected_to_by_processes_of_the_coordinator_alone() {
        let mut plan = ws_load::plan_for_port(9, 1, 1);
        plan.target.unix_socket = Some("/var/run/other.sock".into());
        let refused = take(&WorkerOptions::default(), &assigned(&plan, Vec::new())).unwrap_err();
        assert_eq!(refused.reason, i32::from(Reason::Destination));
        let child = WorkerOptions {
            is_child: true,
            ..WorkerOptions::default()
        };
        take(&child, &assigned(&plan, Vec::new())).unwrap();
    }

    /// The path in the plan names a file of the coordinator's machine. A worker must not read it.
    #[test]
    fn files_are_those_of_the_assignment_and_gone_with_it() {
        let mut plan = ws_load::plan_for_port(9, 1, 1);
        plan.target.url = "wss://127.0.0.1:9/".to_owned();
        plan.target.ca_file = Some("/etc/hostname".into());
        plan.connection.tls = Some(Tls {
            client_cert: Some("/etc/hostname".into()),
            client_key: Some("/etc/hostname".into()),
            ..Tls::default()
        });
        let assignment = Assignment {
            plan: serde_json::to_vec(&plan).unwrap(),
            authorities: b"authorities".to_vec(),
            client_cert: b"certificate".to_vec(),
            client_key: b"key".to_vec(),
            ..assignment(0, 1)
        };
        let mut taken = take(&WorkerOptions::default(), &assignment).unwrap();
        let paths: Vec<_> = taken.plan.files_mut().map(|path| path.clone()).collect();
        let read = |path| String::from_utf8(std::fs::read(path).unwrap()).unwrap();
        let contents: Vec<String> = paths.iter().map(read).collect();
        assert_eq!(contents, ["authorities", "certificate", "key"]);
        drop(taken);
        assert!(paths.iter().all(|path| !path.exists()));
    }
}
