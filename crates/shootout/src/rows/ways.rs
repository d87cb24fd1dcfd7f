//! The ways to a server: straight, and through proxies.

use crate::options::RunOptions;
use project::workload::NamedPlan;
use project::{NO_PROXY, ProxyFolder, Refusal};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A way to a server; `None` where no proxy stands before it.
pub type Way = Option<Arc<ProxyFolder>>;

/// The ways by which the rows of each workload are measured.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// What the user names, for every workload.
    given: Vec<String>,
    folders: BTreeMap<String, Arc<ProxyFolder>>,
}

impl Ways {
    /// Those that the options name, or else each workload, with the folders of the proxies as `find` has
    /// them.
    ///
    /// # Errors
    /// When there is no such proxy, or its manifest cannot be read.
    pub fn new(
        options: &RunOptions,
        find: impl Fn(&str) -> Result<ProxyFolder, Refusal>,
    ) -> Result<Self, Refusal> {
        let mut ways = Self {
            given: options.via.clone(),
            folders: BTreeMap::new(),
        };
        let given = options.via.iter().map(|name| ("--via".to_owned(), name));
        let of_workloads = options.workloads.iter().filter(|_| ways.given.is_empty());
        let of_workloads = of_workloads.flat_map(|workload| {
            let by = format!("workload {}: via", workload.name);
            workload.plan.via.iter().map(move |name| (by.clone(), name))
        });
        for (by, name) in given.chain(of_workloads) {
            if name != NO_PROXY && !ways.folders.contains_key(name) {
                let folder = find(name);
                let folder = folder.map_err(|error| Refusal::new(format!("{by}: {error}")))?;
                ways.folders.insert(name.clone(), Arc::new(folder));
            }
        }
        Ok(ways)
    }

    pub(super) fn to(&self, workload: &NamedPlan) -> Vec<Way> {
        let names = match self.given.is_empty() {
            true => &workload.plan.via,
            false => &self.given,
        };
        match names.as_slice() {
            [] => vec![None],
            names => {
                let way = |name: &String| self.folders.get(name).cloned();
                names.iter().map(way).collect()
            }
        }
    }
}
