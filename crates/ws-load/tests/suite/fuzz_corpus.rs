//! The laws of the fuzz target of dialects over its committed corpus, without a fuzzer.

#[path = "../../../../fuzz/laws/recogniser.rs"]
mod recogniser;

use proptest::prelude::*;
use std::collections::BTreeSet;

/// The files of the corpus.
fn corpus() -> Vec<Vec<u8>> {
    crate::corpus::files("recogniser")
}

#[test]
fn intact_answers_hold_the_stamp_once_where_their_file_says() {
    let mut met = BTreeSet::new();
    let numbers: Vec<u64> = corpus()
        .iter()
        .filter_map(|bytes| recogniser::check_feed(bytes))
        .collect();
    assert_eq!(numbers.len(), 2);
    let kept: Vec<_> = corpus()
        .iter()
        .map(|bytes| recogniser::check_http(bytes))
        .collect();
    let pages = kept
        .iter()
        .filter_map(|[by_pattern, _]| by_pattern.as_deref());
    assert_eq!(pages.collect::<Vec<_>>(), ["a/b+c=="]);
    assert!(kept.iter().any(|[_, by_pointer]| by_pointer.is_some()));
    let parts = corpus();
    let parts = parts
        .iter()
        .filter_map(|bytes| recogniser::check_part(bytes));
    assert_eq!(parts.collect::<Vec<u64>>(), [7]);
    for bytes in corpus() {
        (0..bytes.len()).for_each(|end| drop(recogniser::check(&bytes[..end])));
        met.extend(recogniser::check(&bytes).into_iter().map(|of| of.dialect));
    }
    let met: Vec<&str> = met.iter().map(String::as_str).collect();
    assert_eq!(met, ["actioncable", "phoenix", "phoenix-2", "text"]);
}

proptest! {
    /// The corpus with a part of one file in the place of a part of another.
    #[test]
    fn the_laws_hold_of_answers_that_were_mixed(
        files: [prop::sample::Index; 2],
        cuts: [prop::sample::Index; 4],
    ) {
        let corpus = corpus();
        let [into, from] = files.map(|index| index.get(&corpus).clone());
        let cut = |of: &[u8], one: usize| {
            let mut at = [cuts[one].index(of.len() + 1), cuts[one + 1].index(of.len() + 1)];
            at.sort_unstable();
            at
        };
        let ([start, end], [first, last]) = (cut(&into, 0), cut(&from, 2));
        recogniser::check(&[&into[..start], &from[first..last], &into[end..]].concat());
    }
}
