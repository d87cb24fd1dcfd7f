//! What an attempt to come back failed of.

use crate::net::ConnectError;
use record::AttemptFailures;

/// The count that a failure belongs to.
pub(super) fn reason<'a>(of: &'a mut AttemptFailures, error: &ConnectError) -> &'a mut u64 {
    match error {
        ConnectError::Unreachable { last, .. } => reason(of, last),
        ConnectError::Refused { .. } => &mut of.refused,
        ConnectError::TimedOut { .. }
        | ConnectError::NotOpened { .. }
        | ConnectError::PingUnanswered { .. } => &mut of.timed_out,
        ConnectError::Closed { .. } => &mut of.closed,
        ConnectError::Step { .. }
        | ConnectError::Handshake { .. }
        | ConnectError::Protocol { .. }
        | ConnectError::TooLong { .. }
        | ConnectError::Turned { .. }
        | ConnectError::Tls { .. } => &mut of.rejected,
        error if error.is_machine_limit() => &mut of.machine,
        _ => &mut of.other,
    }
}
