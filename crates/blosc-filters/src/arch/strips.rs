//! How kernels cut a block into pieces of one size.

/// Starts and lengths of strips of `size` items that cover `nitems`. If these are no multiple of `size`, the last strip
/// overlaps the one before: its items are done twice, which costs less than a second, slower way for what is left.
/// Fewer than `size` items are one strip.
pub(super) fn strips(nitems: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    let last = nitems.saturating_sub(size);
    (0..nitems).step_by(size).map(move |first| (first.min(last), size.min(nitems)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_strip_overlaps_the_one_before() {
        assert!(strips(8, 4).eq([(0, 4), (4, 4)]));
        assert!(strips(9, 4).eq([(0, 4), (4, 4), (5, 4)]));
        assert!(strips(3, 4).eq([(0, 3)]));
        assert!(strips(0, 4).eq([]));
    }
}
