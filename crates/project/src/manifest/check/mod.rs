//! Turns the manifest as written into the manifest as meant, and finds what has no meaning.
//!
//! Looks at values only; keys and types were settled by the parser.

mod about;
pub(super) mod needs;
mod nodes;
mod starts;
pub(super) mod values;

use super::problem::Problems;
use super::{DEFAULT_VARIANT, Manifest, Problem, VERSION, Variant, Waiver, raw, suggestion};
use std::time::Duration;
use toml::Spanned;
use values::{Known, command, duration, env, not_empty, path, scope, workloads};

pub(super) const READY_TIMEOUT: Duration = Duration::from_secs(20);
pub(super) const GRACE: Duration = Duration::from_secs(5);

pub(super) fn manifest(
    raw: raw::Manifest,
    folder: &str,
    mut problems: Problems<'_>,
) -> Result<Manifest, Vec<Problem>> {
    let p = &mut problems;
    identity(&raw, folder, p);
    let names: Vec<String> = match raw.variant.as_slice() {
        [] => vec![DEFAULT_VARIANT.into()],
        variants => variants.iter().map(|v| v.name.get_ref().clone()).collect(),
    };
    let requires = raw
        .requires
        .into_iter()
        .map(|raw| needs::requirement(raw, &names, p))
        .collect();
    let build = raw
        .build
        .into_iter()
        .map(|raw| needs::step(raw, &names, p))
        .collect();
    let services = starts::services(raw.service, &names, p);
    let service_names: Vec<String> = services.iter().map(|s| s.name.clone()).collect();
    let known = Known::Server(&service_names);
    let ready_timeout = duration(raw.run.ready_timeout.as_ref(), READY_TIMEOUT, p);
    let grace = duration(raw.run.grace.as_ref(), GRACE, p);
    let base = Variant {
        name: DEFAULT_VARIANT.into(),
        summary: None,
        receipt: needs::receipt(raw.version, p),
        runtime: None,
        command: command(raw.run.command, known, p),
        env: env(&raw.run.env, known, p),
        multi_process: false,
        path: path(&raw.run.path, p),
        dialects: not_empty(&raw.supports.dialects, p),
        workloads: workloads(&raw.supports.workloads, p),
        compression: raw.supports.compression,
        tls: false,
        nodes: None,
        claim: None,
        services: Vec::new(),
    };
    let runtime = raw.runtime.map(|raw| needs::runtime(raw, p));
    let variants: Vec<Variant> = starts::variants(raw.variant, (base, runtime), &service_names, p)
        .into_iter()
        .map(|(variant, place)| {
            starts::told_its_certificate(&variant, place.clone(), p);
            let variant = starts::with_services(variant, place.clone(), &services, p);
            nodes::check(&variant, place, p);
            variant
        })
        .collect();
    let raw_echo = raw
        .raw_echo
        .map(|raw| starts::raw_echo(raw, &variants, &service_names, p));
    about::json(raw.json.as_ref(), &variants, p);
    about::age(raw.released.as_ref(), raw.old_because.as_ref(), p);
    let quick = raw.quick_seconds.map(|raw| quick(&raw, p));
    let step_size = raw.load.map(|load| step_size(&load.step_size, p));
    let waivers = raw
        .waiver
        .into_iter()
        .map(|raw| waiver(raw, &names, p))
        .collect();

    let found = problems.into_vec();
    if !found.is_empty() {
        return Err(found);
    }
    Ok(Manifest {
        name: raw.name.into_inner(),
        language: raw.language,
        library: raw.library,
        homepage: raw.homepage,
        class: raw.class,
        role: raw.role,
        in_2016: raw.in_2016,
        summary: raw.summary,
        json: raw.json.map(Spanned::into_inner),
        released: raw.released.map(Spanned::into_inner),
        old_because: raw.old_because.map(Spanned::into_inner),
        quick,
        requires,
        build,
        ready_timeout,
        grace,
        variants,
        raw_echo,
        step_size,
        waivers,
    })
}

fn identity(raw: &raw::Manifest, folder: &str, p: &mut Problems<'_>) {
    if *raw.manifest.get_ref() != VERSION {
        p.at(
            Some(raw.manifest.span()),
            format!(
                "manifest version {} is not known; this program reads version {VERSION}",
                raw.manifest.get_ref()
            ),
        );
    }
    if raw.name.get_ref() != folder {
        p.at(
            Some(raw.name.span()),
            format!(
                "the name \"{}\" is not the folder's, \"{folder}\"; make them equal",
                raw.name.get_ref()
            ),
        );
    }
}

fn quick(raw: &Spanned<u32>, p: &mut Problems<'_>) -> Duration {
    let seconds = *raw.get_ref();
    if !(1..=3600).contains(&seconds) {
        p.at(Some(raw.span()), "quick-seconds is from 1 to 3600");
    }
    Duration::from_secs(seconds.into())
}

fn step_size(raw: &Spanned<u32>, p: &mut Problems<'_>) -> u32 {
    if *raw.get_ref() == 0 {
        p.at(Some(raw.span()), "a step adds at least one client");
    }
    *raw.get_ref()
}

fn waiver(raw: raw::Waiver, variants: &[String], p: &mut Problems<'_>) -> Waiver {
    let ids = conformance::check_ids();
    if !ids.contains(&raw.check.get_ref().as_str()) {
        p.at(
            Some(raw.check.span()),
            format!(
                "unknown check \"{}\"{}",
                raw.check.get_ref(),
                suggestion(raw.check.get_ref(), ids)
            ),
        );
    }
    if raw.reason.get_ref().trim().is_empty() {
        p.at(Some(raw.reason.span()), "a waiver needs a reason");
    }
    if let Some(date) = &raw.date
        && humantime::parse_rfc3339(&format!("{}T00:00:00Z", date.get_ref())).is_err()
    {
        p.at(
            Some(date.span()),
            format!(
                "\"{}\" is no date; write it like \"2026-11-21\"",
                date.get_ref()
            ),
        );
    }
    Waiver {
        check: raw.check.into_inner(),
        variants: scope(raw.variants, variants, p),
        reason: raw.reason.into_inner(),
        sometimes: raw.sometimes,
        link: raw.link,
        date: raw.date.map(Spanned::into_inner),
    }
}
