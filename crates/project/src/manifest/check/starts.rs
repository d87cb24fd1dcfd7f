//! What is started: variants, the services beside them, and the raw echo mode.

use super::super::placeholder::{self, SERVICE_PREFIX};
use super::super::problem::Problems;
use super::super::{Dialect, RawEcho, Service, Variant, Workload, raw};
use super::needs::{self, RuntimeTold, receipt};
use super::nodes;
use super::values::{
    Known, command, duration, env, name, not_empty, path, scope, words, workloads,
};
use std::ops::Range;
use std::time::Duration;

const READY_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn services(
    raw: Vec<raw::Service>,
    variants: &[String],
    p: &mut Problems<'_>,
) -> Vec<Service> {
    let names: Vec<String> = raw.iter().map(|s| s.name.get_ref().clone()).collect();
    raw.into_iter()
        .enumerate()
        .map(|(number, raw)| {
            name(&raw.name, "service", names[..number].iter().cloned(), p);
            let own = format!("{SERVICE_PREFIX}{}", raw.name.get_ref());
            let told = |word: &toml::Spanned<String>| {
                placeholder::find(word.get_ref()).contains(&own.as_str())
            };
            if !raw.command.get_ref().iter().any(told) {
                p.at(
                    Some(raw.command.span()),
                    format!("the service is not told its port: give it {{{own}}}"),
                );
            }
            Service {
                name: raw.name.into_inner(),
                variants: scope(raw.variants, variants, p),
                command: command(raw.command, Known::Service(&names), p),
                ready_timeout: duration(raw.ready_timeout.as_ref(), READY_TIMEOUT, p),
                receipt: raw.version.map(|version| receipt(version, p)),
                broker: raw.broker,
            }
        })
        .collect()
}

/// The variants, each with its place in the file. `base` and `runtime` are inherited.
pub(super) fn variants(
    raw: Vec<raw::Variant>,
    (base, runtime): (Variant, Option<RuntimeTold>),
    services: &[String],
    p: &mut Problems<'_>,
) -> Vec<(Variant, Option<Range<usize>>)> {
    let with_runtime = |mut variant: Variant, own: Option<RuntimeTold>| {
        let told = own.or_else(|| runtime.clone());
        variant.runtime = told.map(|told| told.beside(&variant.receipt));
        variant
    };
    if raw.is_empty() {
        return vec![(with_runtime(base, None), None)];
    }
    let known = Known::Server(services);
    let names: Vec<String> = raw.iter().map(|v| v.name.get_ref().clone()).collect();
    let mut variants = Vec::new();
    for (number, raw) in raw.into_iter().enumerate() {
        name(&raw.name, "variant", names[..number].iter().cloned(), p);
        one_of(raw.args.as_ref(), raw.command.as_ref(), p);
        let mut variant = base.clone();
        if let Some(replaced) = raw.command {
            variant.command = command(replaced, known, p);
        }
        if let Some(args) = raw.args {
            variant.command.extend(words(args, known, p));
        }
        variant.env.extend(env(&raw.env, known, p));
        if let Some(given) = &raw.path {
            variant.path = path(given, p);
        }
        if let Some(given) = &raw.dialects {
            variant.dialects = not_empty(given, p);
        }
        if let Some(given) = &raw.workloads {
            variant.workloads = workloads(given, p);
        }
        if let Some(given) = raw.compression {
            variant.compression = given;
        }
        if let Some(given) = raw.version {
            variant.receipt = receipt(given, p);
        }
        let own = raw.runtime.map(|given| needs::runtime(given, p));
        if let Some(given) = &raw.nodes {
            variant.nodes = Some(nodes::number(given, p));
        }
        let place = raw.name.span();
        let variant = Variant {
            name: raw.name.into_inner(),
            summary: raw.summary,
            multi_process: raw.multi_process,
            tls: raw.tls,
            claim: raw.claim,
            ..variant
        };
        variants.push((with_runtime(variant, own), Some(place)));
    }
    variants
}

/// Reports a variant with TLS that is not told its certificate, and one without that asks for it.
pub(super) fn told_its_certificate(
    variant: &Variant,
    place: Option<Range<usize>>,
    p: &mut Problems<'_>,
) {
    let words = variant.command.iter().chain(variant.env.values());
    let used: Vec<&str> = words.flat_map(|word| placeholder::find(word)).collect();
    let name = &variant.name;
    for one in placeholder::CERTIFICATE {
        let problem = match (variant.tls, used.contains(&one)) {
            (true, false) => "has \"tls = true\" and is not told",
            (false, true) => "has no \"tls = true\" and asks for",
            _ => continue,
        };
        p.at(
            place.clone(),
            format!("the variant \"{name}\" {problem} {{{one}}}: see docs/adding-a-server.md, TLS"),
        );
    }
}

/// The variant with the services that it needs.
pub(super) fn with_services(
    mut variant: Variant,
    place: Option<Range<usize>>,
    services: &[Service],
    p: &mut Problems<'_>,
) -> Variant {
    variant.services = services
        .iter()
        .filter(|service| service.variants.covers(&variant.name))
        .cloned()
        .collect();
    let of_services = variant.services.iter().flat_map(|service| &service.command);
    let used = variant
        .command
        .iter()
        .chain(variant.env.values())
        .chain(of_services)
        .flat_map(|word| placeholder::find(word))
        .filter_map(|found| found.strip_prefix(SERVICE_PREFIX));
    for used in used {
        let declared = services.iter().any(|service| service.name == used);
        let there = variant.services.iter().any(|service| service.name == used);
        if declared && !there {
            p.at(
                place.clone(),
                format!(
                    "the variant \"{}\" uses {{{SERVICE_PREFIX}{used}}}, but that service is not \
                     for it: add it to the service's \"variants\"",
                    variant.name
                ),
            );
        }
    }
    variant
}

pub(super) fn raw_echo(
    raw: toml::Spanned<raw::RawEcho>,
    variants: &[Variant],
    services: &[String],
    p: &mut Problems<'_>,
) -> RawEcho {
    let place = raw.span();
    let raw = raw.into_inner();
    let given = raw.args.is_some() || raw.command.is_some() || raw.path.is_some();
    if let Some(reason) = raw.none {
        if given || raw.variants.is_some() {
            p.at(
                Some(reason.span()),
                "\"none\" says that there is no such mode: give it alone",
            );
        }
        if reason.get_ref().trim().is_empty() {
            p.at(Some(reason.span()), "\"none\" needs a reason");
        }
        return RawEcho::None(reason.into_inner());
    }
    if !given {
        p.at(
            Some(place),
            "nothing says how to start the raw echo: give \"args\", \"command\" or \"path\", or \
             \"none\" with the reason",
        );
    }
    one_of(raw.args.as_ref(), raw.command.as_ref(), p);
    let known = Known::Server(services);
    let replaced = raw.command.map(|given| command(given, known, p));
    let args = raw.args.map(|given| words(given, known, p));
    let path = raw.path.map(|given| path(&given, p));
    let names: Vec<String> = variants.iter().map(|v| v.name.clone()).collect();
    let chosen = scope(raw.variants, &names, p).0;
    // Without a choice the first has it, and those that compress where their own command is kept.
    let has_mode = |at: usize, variant: &Variant| match &chosen {
        Some(chosen) => chosen.contains(&variant.name),
        None => at == 0 || (variant.compression && replaced.is_none()),
    };
    let mode = |variant: &Variant| {
        let mut mode = variant.clone();
        mode.command = replaced.clone().unwrap_or(mode.command);
        mode.command.extend(args.iter().flatten().cloned());
        mode.path = path.clone().unwrap_or(mode.path);
        // One node answers an echo.
        (mode.nodes, mode.claim) = (None, None);
        // A raw echo sends a message back as it came, which is an echo of either dialect.
        mode.dialects = vec![Dialect::Text, Dialect::Binary];
        mode.workloads = vec![Workload::Echo];
        mode
    };
    RawEcho::Modes(
        variants
            .iter()
            .enumerate()
            .filter(|(at, variant)| has_mode(*at, variant))
            .map(|(_, variant)| mode(variant))
            .collect(),
    )
}

fn one_of(args: Option<&raw::Words>, command: Option<&raw::Words>, p: &mut Problems<'_>) {
    if let (Some(args), Some(_)) = (args, command) {
        p.at(
            Some(args.span()),
            "\"args\" are appended to run.command, \"command\" replaces it: give one of them",
        );
    }
}
