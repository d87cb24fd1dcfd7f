//! Laws of the reports that a coordinator takes from its sites: any bytes as `ws_load::cluster::Report`.

use ws_load::cluster::Report;

/// The bytes of one report. What can be read is the same when it is written and read again.
pub(crate) fn check(data: &[u8]) {
    let Ok(report) = postcard::from_bytes::<Report>(data) else {
        return;
    };
    let written = postcard::to_stdvec(&report).expect("a report can be written");
    let again: Report = postcard::from_bytes(&written).expect("what was written can be read");
    assert_eq!(postcard::to_stdvec(&again), Ok(written));
}
