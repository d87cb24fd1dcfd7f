//! The revision of the conversation, derived from the types of its messages.
//!
//! Commands and reports travel without the names of their fields: where a field is added, moved or
//! given another type, all that follows it is read wrongly. So two programs may only talk when these
//! types are equal, nested ones included. A number that is raised by hand would not show that.

/// The revision of this program's conversation. A test derives it and says the number that is due.
pub(crate) const REVISION: u32 = 642_396_246;

#[cfg(test)]
mod tests {
    use super::REVISION;
    use plan::{
        Arrivals, Audience, Clients, Dialect, FaultDeed, FaultPart, HttpCapture, Io, JsonType,
        LengthPrefix, Life, Load, Meaning, Measure, MessageType, OriginRule, PayloadForm, Plan,
        RankedBy, Reading, Reconnect, Rooms, Scalar, SearchOf, SentUnit, Sizes, TemplateForm,
        Timestamps, TlsVersion,
    };
    use record::{DropHow, Recorder};
    use serde::Deserialize;
    use serde_reflection::{Error, Registry, Samples, Tracer, TracerConfig};
    use sha1::{Digest as _, Sha1};
    use std::net::{IpAddr, SocketAddr};
    use ws_load::cluster::{Command, Report};

    /// What the two sides say to each other: the messages, with the numbers of their fields.
    const MESSAGES: &str = include_str!("../proto/remote.proto");

    fn fingerprint(shapes: &Registry) -> u32 {
        let mut digest = Sha1::new();
        for line in MESSAGES.lines() {
            let (code, _comment) = line.split_once("//").unwrap_or((line, ""));
            digest.update(code.trim());
        }
        // The encoding of a histogram is not in its type.
        digest.update(postcard::to_stdvec(&example()).unwrap_or_default());
        digest.update(format!("{shapes:?}"));
        let [a, b, c, d, ..]: [u8; 20] = digest.finalize().into();
        u32::from_be_bytes([a, b, c, d])
    }

    /// The types of commands, reports and the plan, down to the last field.
    fn shapes() -> Result<Tracer, Error> {
        let mut tracer = Tracer::new(TracerConfig::default());
        let mut samples = Samples::new();
        // Traced from a value: arbitrary bytes make none.
        tracer.trace_value(&mut samples, &example())?;
        // Within another type, an enum is traced with one of its variants only.
        tracer.trace_simple_type::<Arrivals>()?;
        tracer.trace_simple_type::<Audience>()?;
        tracer.trace_simple_type::<Clients>()?;
        tracer.trace_simple_type::<Dialect>()?;
        tracer.trace_simple_type::<DropHow>()?;
        tracer.trace_simple_type::<FaultDeed>()?;
        tracer.trace_simple_type::<FaultPart>()?;
        tracer.trace_simple_type::<HttpCapture>()?;
        tracer.trace_simple_type::<JsonType>()?;
        tracer.trace_simple_type::<LengthPrefix>()?;
        tracer.trace_simple_type::<Meaning>()?;
        tracer.trace_simple_type::<MessageType>()?;
        tracer.trace_simple_type::<OriginRule>()?;
        tracer.trace_simple_type::<PayloadForm>()?;
        tracer.trace_simple_type::<Scalar>()?;
        tracer.trace_simple_type::<IpAddr>()?;
        tracer.trace_simple_type::<SocketAddr>()?;
        tracer.trace_simple_type::<Io>()?;
        tracer.trace_simple_type::<Life>()?;
        tracer.trace_simple_type::<Load>()?;
        tracer.trace_simple_type::<Measure>()?;
        tracer.trace_simple_type::<RankedBy>()?;
        tracer.trace_simple_type::<Reading>()?;
        tracer.trace_simple_type::<Reconnect>()?;
        tracer.trace_simple_type::<Rooms>()?;
        tracer.trace_simple_type::<SearchOf>()?;
        tracer.trace_simple_type::<SentUnit>()?;
        tracer.trace_simple_type::<Sizes>()?;
        tracer.trace_simple_type::<TemplateForm>()?;
        tracer.trace_simple_type::<Timestamps>()?;
        tracer.trace_simple_type::<TlsVersion>()?;
        tracer.trace_type::<Plan>(&samples)?;
        tracer.trace_type::<Command>(&samples)?;
        tracer.trace_type::<Report>(&samples)?;
        Ok(tracer)
    }

    fn example() -> Recorder {
        let mut recorder = Recorder::default();
        for ns in [1_000, 50_000, 1_000_000] {
            recorder.record(ns);
        }
        recorder
    }

    #[test]
    fn the_revision_is_that_of_these_types() {
        let shapes = shapes().map(Tracer::registry_unchecked).unwrap();
        let due = fingerprint(&shapes);
        assert_eq!(REVISION, due, "what travels has changed: write {due}");
    }

    #[test]
    fn every_type_that_travels_is_in_the_revision() {
        let shapes = shapes().and_then(Tracer::registry).expect(
            "the shape of a command, a report or the plan cannot be read whole: name each enum that \
             they hold in `shapes`, and give a sample of each type that is not made of any value",
        );
        for name in [
            "Plan",
            "Target",
            "Connection",
            "Population",
            "Reading",
            "Life",
            "ComesAndGoes",
            "ChangesRoom",
            "Cut",
            "Reconnect",
            "Backoff",
            "Rooms",
            "Zipf",
            "Compression",
            "Tls",
            "TlsVersion",
            "Clients",
            "Steps",
            "Search",
            "Load",
            "Closed",
            "OpenLoop",
            "Ramp",
            "ConnectLoad",
            "Watch",
            "Fault",
            "FaultPart",
            "Audience",
            "Message",
            "Dialect",
            "Limits",
            "Generator",
            "Command",
            "StepTerms",
            "OpenTerms",
            "StartByClock",
            "SentSample",
            "CompleteSample",
            "Report",
            "Done",
            "Unable",
            "StepPart",
            "RawPart",
            "RawTerms",
            "Samples",
            "Latencies",
            "Recorder",
            "HandshakePart",
            "HandshakeCounts",
            "HeldPart",
            "FeedPart",
            "RatesPart",
            "AgesPart",
            "FeedNumbers",
            "ChurnPart",
            "AttemptFailures",
            "Drops",
            "Faults",
        ] {
            assert!(
                shapes.contains_key(name),
                "{name} is missing in {shapes:#?}"
            );
        }
    }

    #[derive(Deserialize)]
    struct Inner<A, B> {
        #[allow(dead_code)]
        first: A,
        #[allow(dead_code)]
        second: B,
    }

    #[derive(Deserialize)]
    struct Outer<A, B> {
        #[allow(dead_code)]
        inner: Vec<Inner<A, B>>,
    }

    fn of<A: for<'de> Deserialize<'de>, B: for<'de> Deserialize<'de>>() -> u32 {
        let mut tracer = Tracer::new(TracerConfig::default());
        tracer.trace_simple_type::<Outer<A, B>>().unwrap();
        fingerprint(&tracer.registry().unwrap())
    }

    #[test]
    fn a_nested_field_of_another_type_or_place_is_another_revision() {
        let revisions = [
            of::<u32, u64>(),
            of::<u64, u32>(),
            of::<u32, Option<u64>>(),
            of::<u32, u32>(),
        ];
        for (number, revision) in revisions.iter().enumerate() {
            assert!(!revisions[..number].contains(revision), "{revisions:?}");
        }
        assert_eq!(of::<u32, u64>(), revisions[0]);
    }
}
