//! Words that would be a part of an array, and stand where files do.

use std::path::{Path, PathBuf};

pub(crate) use blosc_data::slice::Slice;

use crate::{
    error::{Error, message},
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
