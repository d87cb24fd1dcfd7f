//! What a row needs before it is measured: its server built, and its checks passed. Each once in a run.

use super::{Around, Bench, Trouble};
use crate::build::{BuildError, Builds, Built, Order};
use crate::conform::{self, VerifyError};
use crate::passed::{Passed, Subject};
use crate::progress::Progress;
use crate::rows::{Row, Wanted};
use project::contestant;
use project::manifest::{Manifest, Variant};
use record::{Conformance, Status};

/// What the checks said of a variant, and whether that forbids a number.
pub(super) type Verified = (Option<Conformance>, Result<(), Trouble>);

impl Bench<'_> {
    pub(super) fn build(
        &mut self,
        row: &Row,
        variant: &Variant,
        progress: &Progress,
    ) -> Result<Built, Trouble> {
        let server = &row.entry.name;
        if !self.built.contains_key(server) {
            let wanted = self.wanted.iter().find(|w| w.entry.name == *server);
            let builds = wanted.map_or(Builds(Vec::new()), |wanted| {
                self.build_now(wanted, progress)
            });
            self.built.insert(server.clone(), builds);
        }
        match self.built[server].outcome(&variant.name) {
            Some(Ok(built)) => Ok(built.clone()),
            Some(Err(error)) => Err(self.not_built(error)),
            None => Err(Trouble::interrupted()),
        }
    }

    fn build_now(&self, wanted: &Wanted<'_>, progress: &Progress) -> Builds {
        let order = Order {
            project: self.project,
            entry: wanted.entry,
            manifest: wanted.manifest,
            variants: &wanted.variants,
            interrupt: self.interrupt,
        };
        if self.skip_build {
            return order.receipts();
        }
        order.build(false, &mut |phase| progress.phase(phase))
    }

    fn not_built(&self, error: &BuildError) -> Trouble {
        let reason = error.reason(self.project);
        match error {
            BuildError::Interrupted => Trouble::interrupted(),
            BuildError::Missing(_) => Trouble::new(Status::MissingToolchain, reason),
            BuildError::Failed { tail, .. } => {
                Trouble::new(Status::BuildFailed, reason).with_log(tail.clone())
            }
        }
    }

    pub(super) fn verify(
        &mut self,
        row: &Row,
        (manifest, variant): (&Manifest, &Variant),
        built: &Built,
        progress: &Progress,
    ) -> Verified {
        let key = (row.entry.name.clone(), variant.name.clone());
        if let Some(verified) = self.verified.get(&key) {
            return verified.clone();
        }
        let subject = Subject {
            project: self.project,
            entry: &row.entry,
            variant,
            built,
            threads: self.cores.server_threads,
        };
        let passed = subject.passed();
        let before = passed.as_ref().filter(|_| !self.check_again);
        let verified = match before.and_then(Passed::conformance) {
            Some(conformance) => (Some(conformance), Ok(())),
            None => {
                progress.phase("checking conformance");
                let verified = self.verify_now(row, manifest, variant, progress);
                match (&passed, &verified) {
                    (Some(passed), (Some(conformance), Ok(()))) => {
                        passed.keep(&subject, conformance);
                    }
                    (Some(passed), (_, Err(trouble))) if trouble.status != Status::Interrupted => {
                        passed.forget();
                    }
                    _ => {}
                }
                verified
            }
        };
        self.verified.insert(key, verified.clone());
        verified
    }

    /// The servers that were not checked because they had passed before.
    pub fn passed_before(&self) -> Vec<String> {
        let is_from_before = |verified: &Verified| {
            let conformance = verified.0.as_ref();
            conformance.is_some_and(|conformance| conformance.checked.is_some())
        };
        let all = self.verified.iter();
        let mut names: Vec<String> = all
            .filter(|(_, verified)| is_from_before(verified))
            .map(|((server, variant), _)| contestant(server, variant))
            .collect();
        names.sort_unstable();
        names
    }

    fn verify_now(
        &self,
        row: &Row,
        manifest: &Manifest,
        variant: &Variant,
        progress: &Progress,
    ) -> Verified {
        let log = self
            .logs
            .join(format!("{}.{}.verify.log", row.entry.name, variant.name));
        let mut server = match self.start((row, manifest, variant), Around::default(), &log) {
            Ok(server) => server,
            Err(trouble) => return (None, Err(trouble)),
        };
        let mut done = 0;
        let total = conformance::check_ids().len();
        let outcomes = conform::verify(&mut server, variant, self.interrupt, &mut |_| {
            done += 1;
            progress.phase(&format!("checking conformance, {done} done, {total} rules"));
        });
        let tail = server.log_tail();
        let stopped = server.stop();
        let outcomes = match outcomes {
            Ok(outcomes) => outcomes,
            Err(VerifyError::Interrupted) => return (None, Err(Trouble::interrupted())),
            Err(VerifyError::Crashed(death, last)) => {
                let after = last.map(|id| format!(", after {id}")).unwrap_or_default();
                let reason = format!("during the conformance checks{after}, {death}");
                return (
                    None,
                    Err(Trouble::new(Status::Crashed, reason).with_log(tail)),
                );
            }
        };
        let conformance = conform::judge(manifest, variant, &outcomes);
        let failed = conform::failed_ids(&conformance);
        let result = if !failed.is_empty() {
            let reason = format!(
                "fails {} (details: shootout verify {})",
                failed.join(", "),
                row.entry.name
            );
            Err(Trouble::new(Status::Nonconforming, reason).with_log(tail))
        } else if let Some(leak) = stopped.leak() {
            let reason = format!("after the conformance checks {leak}");
            Err(Trouble::new(Status::Leaked, reason).with_log(tail))
        } else {
            Ok(())
        };
        (Some(conformance), result)
    }
}
