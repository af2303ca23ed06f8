//! Words that would be a part of an array, and stand where files do.

use core::ops::Range;
use std::path::{Path, PathBuf};

use b2frame::nd::Pick;
pub(crate) use blosc_data::slice::Slice;

use crate::{
    args::Span,
    error::{Error, Result, message},
    render::path_text,
};

/// The error of a word that is no file, and would be a part of an array: `0:2` after a file, or
/// `FILE[0:2]`.
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
    match &slice.in_dims(1)[..] {
        [Pick::Index(index)] => {
            let end = index.checked_add(1).filter(|end| *end != 0);
            Ok(Span::new(Some(*index), end).within(nitems))
        }
        [Pick::Slice { start, stop, step: 1 }] => Ok(Span::new(*start, *stop).within(nitems)),
        _ => Err(message::ONE_SLICE.error()),
    }
}
