//! Slices among the file names of a command line, which are probably a mistake.

use core::ops::Range;
use std::path::{Path, PathBuf};

pub(crate) use blosc_data::slice::Slice;

use crate::{
    error::{Error, Result, message},
    render::path_text,
};

/// The error for a word that is a slice and not a file: `0:2` after a file, or `FILE[0:2]`.
pub(crate) fn misplaced(words: &[PathBuf]) -> Option<Error> {
    let is_part = |(nword, word): &(usize, &PathBuf)| {
        let Some(text) = word.to_str().filter(|_| word.symlink_metadata().is_err()) else {
            return false;
        };
        let in_brackets = text.strip_suffix(']').and_then(|text| text.split_once('['));
        match in_brackets {
            Some((file, part)) => Path::new(file).exists() && part.parse::<Slice>().is_ok(),
            None => *nword > 0 && text != "-" && text.parse::<Slice>().is_ok(),
        }
    };
    let (_, word) = words.iter().enumerate().find(is_part)?;
    Some(message::A_PART_IS_NO_FILE.about(path_text(word)))
}

/// The range of a slice of items in a list of this length.
///
/// # Errors
///
/// When it is no range: several dimensions, or a step.
pub(crate) fn range(slice: &Slice, nitems: u64) -> Result<Range<u64>> {
    slice.rows(nitems).ok_or_else(|| message::ONE_SLICE.error())
}

/// The range of table rows that covers a slice. With a condition, the slice counts the rows that
/// `matches` finds.
///
/// # Errors
///
/// As [`range`], and those of `matches`.
pub(crate) fn rows(
    slice: Option<&Slice>,
    nrows: u64,
    matches: Option<&mut dyn FnMut(Range<u64>) -> Result<Vec<u64>>>,
) -> Result<Range<u64>> {
    match (slice, matches) {
        (None, _) => Ok(0..nrows),
        (Some(slice), None) => range(slice, nrows),
        (Some(slice), Some(matches)) => {
            slice.rows_among(nrows, matches)?.ok_or_else(|| message::ONE_SLICE.error())
        }
    }
}
