//! Parts of an array in NumPy's notation: `a[3, 10:20, ::-1]`.

use core::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo};

use super::NdParam;
use super::axis::Steps;

/// The selection along one dimension.
///
/// Numbers below zero count from the end, as in NumPy. A slice may reach beyond the array and
/// selects only positions inside; an index must be inside, and its dimension is not in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// One position.
    Index(i64),
    /// Every `step`th position from `start` to before `stop`. `None` is the end of the array at
    /// which the slice starts or stops.
    Slice {
        /// First position.
        start: Option<i64>,
        /// Position before which it ends.
        stop: Option<i64>,
        /// Distance, not zero; the slice goes backwards below zero.
        step: i64,
    },
}

impl Pick {
    /// All positions of a dimension.
    pub const ALL: Self = Self::Slice { start: None, stop: None, step: 1 };

    /// NumPy's `start:stop:step`.
    #[must_use]
    pub fn slice(start: impl Into<Option<i64>>, stop: impl Into<Option<i64>>, step: i64) -> Self {
        Self::Slice { start: start.into(), stop: stop.into(), step }
    }

    /// The slice with every `step`th position; negative steps go from the end to the start. An
    /// index stays as it is.
    ///
    /// ```
    /// use b2frame::nd::Pick;
    ///
    /// assert_eq!(Pick::from(2..10).step(3), Pick::slice(2, 10, 3));
    /// assert_eq!(Pick::ALL.step(-1), Pick::slice(None, None, -1));
    /// ```
    #[must_use]
    pub fn step(self, step: i64) -> Self {
        match self {
            Self::Slice { start, stop, .. } => Self::Slice { start, stop, step },
            index @ Self::Index(_) => index,
        }
    }

    /// The positions of a dimension of `len` items.
    fn resolve(self, dim: usize, len: u64) -> Result<Steps, NdParam> {
        match self {
            Self::Index(index) => {
                let len = i128::from(len);
                let at = if index < 0 { len + i128::from(index) } else { index.into() };
                match u64::try_from(at) {
                    Ok(start) if at < len => Ok(Steps::run(start, 1)),
                    _ => Err(NdParam::Index { dim, index, len: u64::try_from(len).unwrap_or(0) }),
                }
            }
            Self::Slice { step: 0, .. } => Err(NdParam::Step { dim }),
            Self::Slice { start, stop, step } => Ok(slice(start, stop, step, len)),
        }
    }
}

/// Python's `slice.indices`, with the positions in ascending order.
fn slice(start: Option<i64>, stop: Option<i64>, step: i64, len: u64) -> Steps {
    let (len, step) = (i128::from(len), i128::from(step));
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let bound = |at: i64| (i128::from(at) + if at < 0 { len } else { 0 }).clamp(low, high);
    let (first, end) = if step > 0 { (low, high) } else { (high, low) };
    let (start, stop) = (start.map_or(first, bound), stop.map_or(end, bound));
    let distance = if step > 0 { stop - start } else { start - stop };
    let size = step.abs();
    let count = if distance > 0 { (distance + size - 1) / size } else { 0 };
    // All of these are positions of the array, or zero.
    let narrow = |at: i128| u64::try_from(at).unwrap_or(0);
    if step > 0 || count == 0 {
        return Steps {
            start: narrow(start),
            step: narrow(size),
            count: narrow(count),
            to: 0,
            down: false,
        };
    }
    let lowest = narrow(start - (count - 1) * size);
    Steps {
        start: lowest,
        step: narrow(size),
        count: narrow(count),
        to: narrow(count - 1),
        down: true,
    }
}

/// A part of an array: a [`Pick`] for each dimension. Dimensions without a [`Pick`] are taken
/// whole.
///
/// ```
/// use b2frame::nd::{Pick, Selection};
///
/// // NumPy: a[3, 10:20], a[:, -1], a[...], a[::-2]
/// let row = Selection::from((3, 10..20));
/// let last = Selection::from((.., -1));
/// let all = Selection::ALL;
/// let backwards = Selection::from([Pick::ALL.step(-2)]);
///
/// let shape = [5, 30];
/// assert_eq!(row.shape(&shape)?, [10]);
/// assert_eq!(last.shape(&shape)?, [5]);
/// assert_eq!(all.shape(&shape)?, [5, 30]);
/// assert_eq!(backwards.shape(&shape)?, [3, 30]);
/// # Ok::<(), b2frame::error::NdParam>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    picks: Vec<Pick>,
}

impl Selection {
    /// The whole array.
    pub const ALL: Self = Self { picks: Vec::new() };

    /// The picks of the first dimensions.
    #[must_use]
    pub fn picks(&self) -> &[Pick] {
        &self.picks
    }

    /// The shape of this part of an array of shape `shape` (items).
    ///
    /// # Errors
    /// [`NdParam`] if the part is outside of such an array.
    pub fn shape(&self, shape: &[u64]) -> Result<Vec<u64>, NdParam> {
        let steps = self.resolve(shape)?;
        let is_index = |dim: usize| matches!(self.picks.get(dim), Some(Pick::Index(_)));
        Ok(steps
            .iter()
            .enumerate()
            .filter(|(dim, _)| !is_index(*dim))
            .map(|(_, s)| s.count)
            .collect())
    }

    /// The positions in each dimension of an array of shape `shape` (items), in the order of the
    /// selection. For arrays in other formats.
    ///
    /// ```
    /// use b2frame::nd::{Pick, Selection};
    ///
    /// let part = Selection::from((-1, Pick::slice(None, None, -4)));
    /// let positions: Vec<Vec<u64>> =
    ///     part.positions(&[5, 10])?.into_iter().map(Iterator::collect).collect();
    /// assert_eq!(positions, [vec![4], vec![9, 5, 1]]);
    /// # Ok::<(), b2frame::error::NdParam>(())
    /// ```
    ///
    /// # Errors
    /// As [`shape`](Self::shape).
    pub fn positions(
        &self,
        shape: &[u64],
    ) -> Result<Vec<impl Iterator<Item = u64> + use<>>, NdParam> {
        Ok(self.resolve(shape)?.into_iter().map(Steps::positions).collect())
    }

    /// The selected positions in each dimension.
    pub(crate) fn resolve(&self, shape: &[u64]) -> Result<Vec<Steps>, NdParam> {
        if self.picks.len() > shape.len() {
            return Err(NdParam::Dims { given: self.picks.len(), ndim: shape.len() });
        }
        let picks = self.picks.iter().chain(core::iter::repeat(&Pick::ALL));
        shape
            .iter()
            .zip(picks)
            .enumerate()
            .map(|(dim, (len, pick))| pick.resolve(dim, *len))
            .collect()
    }
}

impl From<RangeFull> for Pick {
    fn from(_: RangeFull) -> Self {
        Self::ALL
    }
}

/// Numbers that overflow lie beyond any array.
macro_rules! pick_from {
    ($($int:ty),*) => {$(
        impl From<$int> for Pick {
            fn from(index: $int) -> Self {
                Self::Index(i64::try_from(index).unwrap_or(i64::MAX))
            }
        }

        impl From<Range<$int>> for Pick {
            fn from(range: Range<$int>) -> Self {
                let bound = |at| Some(i64::try_from(at).unwrap_or(i64::MAX));
                Self::Slice { start: bound(range.start), stop: bound(range.end), step: 1 }
            }
        }

        impl From<RangeFrom<$int>> for Pick {
            fn from(range: RangeFrom<$int>) -> Self {
                let start = i64::try_from(range.start).unwrap_or(i64::MAX);
                Self::Slice { start: Some(start), stop: None, step: 1 }
            }
        }

        impl From<RangeTo<$int>> for Pick {
            fn from(range: RangeTo<$int>) -> Self {
                let end = i64::try_from(range.end).unwrap_or(i64::MAX);
                Self::Slice { start: None, stop: Some(end), step: 1 }
            }
        }

        impl From<RangeInclusive<$int>> for Pick {
            fn from(range: RangeInclusive<$int>) -> Self {
                let bound = |at: $int| i64::try_from(at).unwrap_or(i64::MAX);
                // The end after -1 has no positive number.
                let stop = bound(*range.end()).checked_add(1).filter(|stop| *stop != 0);
                Self::Slice { start: Some(bound(*range.start())), stop, step: 1 }
            }
        }
    )*};
}
pick_from!(i32, i64, u32, u64, usize);

impl From<RangeFull> for Selection {
    fn from(_: RangeFull) -> Self {
        Self::ALL
    }
}

impl From<Vec<Pick>> for Selection {
    fn from(picks: Vec<Pick>) -> Self {
        Self { picks }
    }
}

impl From<&[Pick]> for Selection {
    fn from(picks: &[Pick]) -> Self {
        Self { picks: picks.to_vec() }
    }
}

impl From<&Self> for Selection {
    fn from(selection: &Self) -> Self {
        selection.clone()
    }
}

impl<P: Into<Pick>, const N: usize> From<[P; N]> for Selection {
    fn from(picks: [P; N]) -> Self {
        Self { picks: picks.into_iter().map(Into::into).collect() }
    }
}

macro_rules! selection_from {
    ($($($name:ident)+;)*) => {$(
        impl<$($name: Into<Pick>),+> From<($($name,)+)> for Selection {
            #[expect(non_snake_case, reason = "types and their values share their names")]
            fn from(($($name,)+): ($($name,)+)) -> Self {
                Self { picks: vec![$($name.into()),+] }
            }
        }
    )*};
}
selection_from!(A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H;);

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(pick: Pick, len: u64) -> Vec<u64> {
        pick.resolve(0, len).unwrap().positions().collect()
    }

    /// NumPy's rule as a loop.
    fn walk(start: Option<i64>, stop: Option<i64>, step: i64, len: i64) -> Vec<u64> {
        let wrap = |at: i64| if at < 0 { at + len } else { at };
        let mut at = match (start.map(wrap), step > 0) {
            (None, true) => 0,
            (None, false) => len - 1,
            (Some(at), true) => at.max(0),
            (Some(at), false) => at.min(len - 1),
        };
        let mut found = vec![];
        let goes_on = |at: i64| match stop.map(wrap) {
            None => true,
            Some(stop) => (at - stop) * step.signum() < 0,
        };
        while (0..len).contains(&at) && goes_on(at) {
            found.push(at.unsigned_abs());
            at += step;
        }
        found
    }

    #[test]
    fn slices_are_those_of_python() {
        let ends: Vec<Option<i64>> = core::iter::once(None).chain((-7..8).map(Some)).collect();
        for len in 0..6_i64 {
            for &start in &ends {
                for &stop in &ends {
                    for step in [-7, -3, -2, -1, 1, 2, 3, 7] {
                        let expected = walk(start, stop, step, len);
                        let found = positions(Pick::slice(start, stop, step), len.unsigned_abs());
                        assert_eq!(found, expected, "{start:?}:{stop:?}:{step} of {len}");
                    }
                }
            }
        }
    }

    #[test]
    fn extreme_numbers_do_not_overflow() {
        let max = i64::MAX.unsigned_abs();
        assert_eq!(positions(Pick::slice(i64::MIN, i64::MAX, i64::MAX), max), [0]);
        assert_eq!(positions(Pick::slice(i64::MAX, i64::MIN, i64::MIN), max), [max - 1]);
        assert_eq!(
            Pick::Index(i64::MIN).resolve(2, 5),
            Err(NdParam::Index { dim: 2, index: i64::MIN, len: 5 })
        );
        assert_eq!(Pick::from(u64::MAX), Pick::Index(i64::MAX));
    }

    #[test]
    fn ranges_are_slices() {
        let last = -1;
        assert_eq!(positions(Pick::from(2..=last), 5), [2, 3, 4]);
        assert_eq!(positions(Pick::from(..2_usize), 5), [0, 1]);
        assert_eq!(positions(Pick::from(-2..), 5), [3, 4]);
        assert_eq!(positions(Pick::from(-2), 5), [3]);
    }

    #[test]
    fn what_is_no_part_is_refused() {
        let shape = [3, 0];
        assert_eq!(
            Selection::from((0, 0, 0)).shape(&shape),
            Err(NdParam::Dims { given: 3, ndim: 2 })
        );
        assert_eq!(
            Selection::from((3,)).shape(&shape),
            Err(NdParam::Index { dim: 0, index: 3, len: 3 })
        );
        assert_eq!(
            Selection::from((0, -1)).shape(&shape),
            Err(NdParam::Index { dim: 1, index: -1, len: 0 })
        );
        assert_eq!(
            Selection::from((Pick::ALL.step(0),)).shape(&shape),
            Err(NdParam::Step { dim: 0 })
        );
        assert_eq!(Selection::from((-1, ..)).shape(&shape), Ok(vec![0]));
    }
}
