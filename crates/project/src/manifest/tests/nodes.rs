//! Variants with several nodes.

use super::*;

fn of_nodes() -> String {
    GOOD.replace(
        "args = [\"--cluster\"]",
        "args = [\"--cluster\", \"{node}\", \"{node-ports}\", \"{service:hub}\"]\nnodes = 3\n\
         claim = \"at-most-once\"",
    ) + r#"
[[service]]
name = "hub"
variants = ["clustered"]
command = ["hub", "{service:hub}"]
broker = true
"#
}

/// The only problem of that with `old` replaced by `new`.
fn problem_of(old: &str, new: &str) -> String {
    only_problem(&of_nodes(), old, new)
}

#[test]
fn a_variant_has_nodes_a_claim_and_a_broker() {
    let manifest = parse(&of_nodes()).unwrap();
    let [single, clustered] = manifest.variants.as_slice() else {
        panic!("{:?}", manifest.variants)
    };
    assert_eq!((single.nodes, single.claim), (None, None));
    assert!(single.broker().is_none());
    let claim = Some(Claim::AtMostOnce);
    assert_eq!((clustered.nodes, clustered.claim), (Some(3), claim));
    assert_eq!(clustered.broker().unwrap().name, "hub");
}

#[test]
fn one_node_may_be_told_that_it_is_the_first() {
    let text = GOOD.replace("\"--cluster\"", "\"{node}\", \"{node-ports}\"");
    assert_eq!(parse(&text).unwrap().variants[1].nodes, None);
}

#[test]
fn what_nodes_cannot_be_is_said() {
    let number = "38:9: \"nodes\" is from 2 to 16; leave it out where there is one";
    assert_eq!(problem_of("nodes = 3", "nodes = 1"), number);
    assert_eq!(problem_of("nodes = 3", "nodes = 17"), number);
    assert_eq!(
        problem_of("nodes = 3\n", ""),
        "36:8: the variant \"clustered\" has a \"claim\", which is about the failure of nodes, and no \
         \"nodes\""
    );
    assert_eq!(
        problem_of("\"at-most-once\"", "\"exactly-once\""),
        "39:9: unknown value \"exactly-once\"; known: at-most-once, at-least-once, resumes"
    );
    assert_eq!(
        problem_of("nodes = 3", "nodes = 3\nworkloads = [\"echo\"]"),
        "36:8: the variant \"clustered\" has \"nodes\" and no \"broadcast\" in its workloads, which shows \
         that its nodes know each other: add it"
    );
    let two = "broker = true\n\n[[service]]\nname = \"other\"\ncommand = [\"x\", \"{service:other}\"]\n\
               broker = true";
    assert!(
        problem_of("broker = true", two)
            .contains("has the brokers hub, other: leave \"broker = true\"")
    );
}
