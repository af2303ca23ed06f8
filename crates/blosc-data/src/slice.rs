//! `0,:,5`: a part of an array as NumPy writes it between brackets.

use core::str::FromStr;

use b2frame::nd::Pick;

/// The selection along the first dimensions, and after `...` along the last ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    first: Vec<Pick>,
    last: Vec<Pick>,
}

impl Slice {
    /// The selection in an array of `ndim` dimensions.
    #[must_use]
    pub fn in_dims(&self, ndim: usize) -> Vec<Pick> {
        let between = match self.last.len() {
            0 => 0,
            last => ndim.saturating_sub(self.first.len() + last),
        };
        let whole = core::iter::repeat_n(&Pick::ALL, between);
        self.first.iter().chain(whole).chain(&self.last).cloned().collect()
    }
}

impl From<Vec<Pick>> for Slice {
    fn from(first: Vec<Pick>) -> Self {
        Self { first, last: vec![] }
    }
}

/// Why a text is not a part of an array.
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
        // As in Python, one comma may follow the last part.
        let text = text.trim();
        // With the brackets that a copied index has.
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

/// An index, or `start:stop:step` of which every part may be missing.
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
