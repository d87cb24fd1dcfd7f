//! Variants with several nodes, and the service between them.

use super::super::problem::Problems;
use super::super::{Variant, Workload};
use std::ops::Range;
use toml::Spanned;

/// Fewest and most nodes of a variant that has any.
const NODES: (u32, u32) = (2, 16);

pub(super) fn number(raw: &Spanned<u32>, p: &mut Problems<'_>) -> u32 {
    let (least, most) = NODES;
    if !(least..=most).contains(raw.get_ref()) {
        p.at(
            Some(raw.span()),
            format!("\"nodes\" is from {least} to {most}; leave it out where there is one"),
        );
    }
    *raw.get_ref()
}

/// Reports what has no meaning for the number of nodes that the variant has.
pub(super) fn check(variant: &Variant, place: Option<Range<usize>>, p: &mut Problems<'_>) {
    let mut say = |words: String| {
        p.at(
            place.clone(),
            format!("the variant \"{}\" {words}", variant.name),
        );
    };
    let brokers = variant.services.iter().filter(|service| service.broker);
    let brokers: Vec<&str> = brokers.map(|service| service.name.as_str()).collect();
    if brokers.len() > 1 {
        say(format!(
            "has the brokers {}: leave \"broker = true\" with the one that passes messages between \
             the nodes",
            brokers.join(", ")
        ));
    }
    if variant.nodes.is_some() {
        if !variant.workloads.contains(&Workload::Broadcast) {
            say(
                "has \"nodes\" and no \"broadcast\" in its workloads, which shows that its nodes \
                 know each other: add it"
                    .into(),
            );
        }
        return;
    }
    if variant.claim.is_some() {
        say("has a \"claim\", which is about the failure of nodes, and no \"nodes\"".into());
    }
}
