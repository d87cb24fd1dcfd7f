//! How much memory the ledger of a step takes, and whether this machine has it.

use super::Ended;
use crate::plan::Schedule;
use crate::scenario::BYTES_PER_WAITING_SAMPLE;
use crate::verify::StepLedger;
use record::End;

/// Refuses a schedule that is too long to walk, or whose ledger does not fit.
pub(super) fn affordable(schedule: &Schedule) -> Result<(), Ended> {
    let sends = schedule.expected();
    // In the worst case all of them wait for connections that take no bytes.
    let each = StepLedger::BYTES_PER_SAMPLE + BYTES_PER_WAITING_SAMPLE;
    let ledger_bytes = sends * each as f64;
    if sends < f64::from(u32::MAX)
        && available_bytes().is_none_or(|available| ledger_bytes < available as f64 / 2.0)
    {
        return Ok(());
    }
    Err(Ended::new(
        End::MachineLimit,
        format!(
            "the schedule has about {sends:.0} sends, and their ledger takes {:.1} GB, more than can \
             be kept here; lower load.open.rate or load.open.duration",
            ledger_bytes / 1e9
        ),
    ))
}

/// The numbers of a schedule, as the ledger counts them.
pub(super) fn countable((samples, warm_up): (u64, u64)) -> Result<(u32, u32), Ended> {
    match (u32::try_from(samples), u32::try_from(warm_up)) {
        (Ok(samples), Ok(warm_up)) if samples > warm_up => Ok((samples, warm_up)),
        _ => Err(Ended::new(
            End::MachineLimit,
            format!(
                "the schedule has {samples} sends, {warm_up} of them in the warm-up; \
                 a step can time 1 to {}",
                u32::MAX
            ),
        )),
    }
}

/// Memory that this machine can give without swapping, from /proc/meminfo.
pub(crate) fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
