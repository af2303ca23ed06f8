//! Pictures for the screens of other commands.

use b2frame::nd::Pick;

use super::Drawn;
use crate::{
    args::{PlotArgs, slice::Slice},
    context::Context,
    error::Result,
    inputs::origin::Origin,
    plot::draw::Picture,
};

/// A picture of a part of an input, for a screen.
///
/// # Errors
///
/// When there are no numbers to draw, or they cannot be read.
pub(in crate::commands) fn picture(
    cx: &Context,
    origin: &Origin,
    picks: Vec<Pick>,
    columns: Vec<String>,
) -> Result<Picture> {
    let args = PlotArgs {
        slice: Some(Slice::from(picks)),
        columns,
        bins: 50,
        no_sync: true,
        ..PlotArgs::default()
    };
    Ok(Drawn::new(&args, cx, origin, SCREEN_ROOM)?.picture)
}

/// Dots of a screen that is wide (columns, rows).
const SCREEN_ROOM: (usize, usize) = (400, 120);

/// The last two dimensions at `fixed` positions of the others.
pub(in crate::commands) fn picks_of_plane(fixed: &[u64], ndim: usize) -> Vec<Pick> {
    let index = |at: &u64| Pick::from(i64::try_from(*at).unwrap_or(i64::MAX));
    let all = ndim.saturating_sub(fixed.len());
    fixed.iter().map(index).chain((0..all).map(|_| Pick::from(..))).collect()
}
