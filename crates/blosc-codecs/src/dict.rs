//! Dictionaries ("Dictionaries" in the codec document): text that every stream of a chunk may refer
//! to.

use alloc::vec::Vec;

/// Smallest dictionary worth storing (bytes).
const MIN_DICT_NBYTES: usize = 256;

/// A dictionary of raw content: pieces from all over the samples, `max` bytes at most.
pub(crate) fn raw_content(samples: &[&[u8]], max: usize) -> Option<Vec<u8>> {
    let total: usize = samples.iter().map(|s| s.len()).sum();
    if max < MIN_DICT_NBYTES || total < MIN_DICT_NBYTES {
        return None;
    }
    let mut dict = Vec::with_capacity(max.min(total));
    for (i, sample) in samples.iter().enumerate() {
        // The remaining bytes are shared among the remaining samples, so short samples leave more
        // to the others.
        let share = (max - dict.len()) / (samples.len() - i);
        dict.extend_from_slice(&sample[..share.min(sample.len())]);
    }
    (dict.len() >= MIN_DICT_NBYTES).then_some(dict)
}
