//! Dictionaries ("Dictionaries" in the codec document): bytes to which every stream of a chunk may
//! refer.

use alloc::vec::Vec;

/// Smallest dictionary worth storing (bytes).
const MIN_DICT_NBYTES: usize = 256;

/// A dictionary of raw content: pieces of all samples, `max` bytes at most.
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn samples_share_the_dictionary() {
        let (short, long) = (vec![1; 10], vec![2; 5000]);
        let dict = raw_content(&[&short, &long, &long], 1010).unwrap();
        assert_eq!(dict.len(), 1010);
        assert_eq!(dict.iter().filter(|byte| **byte == 1).count(), 10);
        let dict = raw_content(&[&long, &short], 1000).unwrap();
        assert_eq!((dict.len(), dict[499], dict[500]), (510, 2, 1));
    }

    #[test]
    fn short_dictionaries_are_not_made() {
        let sample = vec![3; 1000];
        assert_eq!(raw_content(&[&sample], 255), None);
        assert_eq!(raw_content(&[&sample[..255]], 1000), None);
        assert_eq!(raw_content(&[], 1000), None);
        assert_eq!(raw_content(&[&sample], 256).map(|dict| dict.len()), Some(256));
        assert_eq!(raw_content(&[&sample[..200], &sample[..100]], 400).map(|d| d.len()), Some(300));
    }
}
