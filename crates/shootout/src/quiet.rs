//! The wait for a quiet machine.

use crate::interrupt::Interrupt;
use board::quiet::BEFORE;
use std::time::{Duration, Instant};

/// Over how long it is seen whether the machine is quiet.
const LOOK: Duration = Duration::from_secs(2);
/// After so long a row is measured although the machine is busy.
const PATIENCE: Duration = Duration::from_secs(600);

/// Waits until the machine is quiet, ten minutes at most. `say` is told the share of all cores that
/// is busy as long as it is not.
pub(crate) fn wait(interrupt: &Interrupt, say: &mut dyn FnMut(f64)) {
    let until = Instant::now() + PATIENCE;
    wait_while(
        &mut || host_facts::busy_share(LOOK),
        &mut || interrupt.requested() || Instant::now() > until,
        say,
    );
}

fn wait_while(
    look: &mut dyn FnMut() -> Option<f64>,
    is_over: &mut dyn FnMut() -> bool,
    say: &mut dyn FnMut(f64),
) {
    while let Some(busy) = look() {
        if busy <= BEFORE || is_over() {
            return;
        }
        say(busy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a wait was told, with these looks, which may be ended after some.
    fn told(looks: &[Option<f64>], ends_after: usize) -> Vec<f64> {
        let (mut looks, mut asked) = (looks.iter(), 0);
        let mut told = Vec::new();
        wait_while(
            &mut || *looks.next().expect("no further look"),
            &mut || {
                asked += 1;
                asked > ends_after
            },
            &mut |busy| told.push(busy),
        );
        told
    }

    #[test]
    fn a_wait_ends_when_it_is_quiet_or_over_or_cannot_be_known() {
        assert_eq!(told(&[Some(0.9), Some(0.5), Some(0.1)], 9), [0.9, 0.5]);
        assert_eq!(told(&[Some(0.9), Some(0.8)], 1), [0.9]);
        assert_eq!(told(&[Some(BEFORE)], 9), Vec::<f64>::new());
        assert_eq!(told(&[None], 9), Vec::<f64>::new());
    }
}
