//! `0,:,5`: a part of an array in NumPy's spelling.

use core::{ops::Range, str::FromStr};

use b2frame::nd::Pick;

use crate::tiles::axes;

/// Picks for the first dimensions, and after `...` for the last ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    first: Vec<Pick>,
    last: Vec<Pick>,
}

impl Slice {
    /// The picks for an array of `ndim` dimensions.
    #[must_use]
    pub fn in_dims(&self, ndim: usize) -> Vec<Pick> {
        let between = match self.last.len() {
            0 => 0,
            last => ndim.saturating_sub(self.first.len() + last),
        };
        let whole = core::iter::repeat_n(&Pick::ALL, between);
        self.first.iter().chain(whole).chain(&self.last).cloned().collect()
    }

    /// The rows of a table, cut to its length; `None` for a slice of several dimensions, or with a
    /// step.
    #[must_use]
    pub fn rows(&self, nrows: u64) -> Option<Range<u64>> {
        let pick = match &self.in_dims(1)[..] {
            [Pick::Index(at)] => Pick::slice(*at, at.checked_add(1).filter(|end| *end != 0), 1),
            [pick @ Pick::Slice { step: 1, .. }] => *pick,
            _ => return None,
        };
        let axes = axes(&[pick], &[nrows]).ok()?;
        axes.first().map(|axis| axis.start..axis.start.saturating_add(axis.len))
    }

    /// The range of rows that this part covers among the rows that `matches` finds: the part counts
    /// chosen rows only. `None` as for [`rows`](Self::rows).
    ///
    /// # Errors
    ///
    /// The errors of `matches`.
    pub fn rows_among<E>(
        &self,
        nrows: u64,
        matches: &mut dyn FnMut(Range<u64>) -> Result<Vec<u64>, E>,
    ) -> Result<Option<Range<u64>>, E> {
        let starts = || (0..nrows).step_by(ROWS_AT_ONCE);
        let mut find = |start: u64| matches(start..nrows.min(start + ROWS_AT_ONCE as u64));
        let mut nfound = i64::MAX.unsigned_abs();
        if self.counts_from_the_end() {
            nfound = starts().map(|start| Ok(find(start)?.len() as u64)).sum::<Result<_, E>>()?;
        }
        let Some(wanted) = self.rows(nfound) else { return Ok(None) };
        let (mut number, mut range) = (0, 0..0);
        for start in starts() {
            if number >= wanted.end {
                break;
            }
            for row in find(start)? {
                if wanted.contains(&number) {
                    range.start = if range.is_empty() { row } else { range.start };
                    range.end = row + 1;
                }
                number += 1;
            }
        }
        Ok(Some(range))
    }

    fn counts_from_the_end(&self) -> bool {
        self.first.iter().chain(&self.last).any(|pick| match pick {
            Pick::Slice { start, stop, .. } => {
                [*start, *stop].into_iter().flatten().any(|at| at < 0)
            }
            Pick::Index(at) => *at < 0,
        })
    }
}

/// Rows for which a condition is evaluated at once.
const ROWS_AT_ONCE: usize = 1 << 16;

impl From<Vec<Pick>> for Slice {
    fn from(first: Vec<Pick>) -> Self {
        Self { first, last: vec![] }
    }
}

/// The reason why a text is not a part of an array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a part of an array like 0,:,5 or 10:20,::-1 or ...,0")]
pub struct SliceError {
    text: String,
}

impl FromStr for Slice {
    type Err = SliceError;

    fn from_str(text: &str) -> Result<Self, SliceError> {
        Self::parse(text).ok_or_else(|| SliceError { text: text.to_owned() })
    }
}

impl Slice {
    fn parse(text: &str) -> Option<Self> {
        let mut sides = [vec![], vec![]];
        let mut side = 0;
        // As in Python, a comma may follow the last part.
        let text = text.trim();
        // The brackets of a copied index are accepted.
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let text = inner.unwrap_or(text).trim();
        let text = text.strip_suffix(',').unwrap_or(text);
        for part in text.split(',').map(str::trim) {
            match (part, side) {
                ("...", 0) => side = 1,
                ("...", _) => return None,
                _ => sides[side].push(pick(part)?),
            }
        }
        let [first, last] = sides;
        Some(Self { first, last })
    }
}

/// Parses an index, or `start:stop:step` with optional parts.
fn pick(text: &str) -> Option<Pick> {
    let Some((start, rest)) = text.split_once(':') else {
        return text.parse().ok().map(Pick::Index);
    };
    let (stop, step) = rest.split_once(':').unwrap_or((rest, ""));
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        digits => digits.parse::<i64>().ok().map(Some),
    };
    let step = number(step)?.unwrap_or(1);
    (step != 0).then_some(())?;
    Some(Pick::Slice { start: number(start)?, stop: number(stop)?, step })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_counts_the_rows_that_a_condition_keeps() {
        let among = |text: &str| {
            let slice: Slice = text.parse().unwrap();
            let mut even =
                |rows: Range<u64>| Ok::<_, ()>(rows.filter(|row| row % 2 == 0).collect());
            slice.rows_among(200_000, &mut even).unwrap()
        };
        assert_eq!(among("1:3"), Some(2..5));
        assert_eq!(among("-2:"), Some(199_996..199_999));
        assert_eq!(among("-1"), Some(199_998..199_999));
        assert_eq!(among("40000:40001"), Some(80_000..80_001));
        assert_eq!(among("100000:"), Some(0..0));
        assert_eq!(among("::2"), None);
        assert_eq!(among("0,1"), None);
    }

    #[test]
    fn parts_are_those_of_numpy() {
        let slice = |text: &str| text.parse::<Slice>().map(|slice| slice.in_dims(3));
        assert_eq!(slice("0,:,-5"), Ok(vec![Pick::Index(0), Pick::ALL, Pick::Index(-5)]));
        assert_eq!(slice("10:20, ::-1"), Ok(vec![Pick::slice(10, 20, 1), Pick::ALL.step(-1)]));
        assert_eq!(slice("-3:"), Ok(vec![Pick::slice(-3, None, 1)]));
        assert_eq!(slice("1,"), Ok(vec![Pick::Index(1)]));
        assert_eq!(slice("...,1"), Ok(vec![Pick::ALL, Pick::ALL, Pick::Index(1)]));
        assert_eq!(slice("0,...,1"), Ok(vec![Pick::Index(0), Pick::ALL, Pick::Index(1)]));
        assert_eq!(slice("0,1,...,2"), Ok([0, 1, 2].map(Pick::Index).to_vec()));
        assert_eq!(slice("0,..."), Ok(vec![Pick::Index(0)]));
        assert_eq!(slice("..."), Ok(vec![]));
        assert_eq!(slice("[0, ..., 1]"), slice("0,...,1"));
        for text in ["", ",", "a", "1:2:0", "1:2:3:4", "1,,", "...,...", "1,....", "None", "[0,1"] {
            assert_eq!(slice(text), Err(SliceError { text: text.into() }));
        }
    }
}
