//! `0,:,5`: a part of an array as NumPy writes it between brackets.

use core::str::FromStr;

use b2frame::nd::Pick;

/// The selection along the first dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slice(pub(crate) Vec<Pick>);

/// Why a text is not a part of an array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a part of an array like 0,:,5 or 10:20,::-1")]
pub(crate) struct SliceError {
    text: String,
}

impl FromStr for Slice {
    type Err = SliceError;

    fn from_str(text: &str) -> Result<Self, SliceError> {
        let picks = text.split(',').map(|part| pick(part.trim())).collect::<Option<Vec<_>>>();
        picks.map(Self).ok_or_else(|| SliceError { text: text.to_owned() })
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
        let slice = |text: &str| text.parse::<Slice>().map(|slice| slice.0);
        assert_eq!(slice("0,:,-5"), Ok(vec![Pick::Index(0), Pick::ALL, Pick::Index(-5)]));
        assert_eq!(slice("10:20, ::-1"), Ok(vec![Pick::slice(10, 20, 1), Pick::ALL.step(-1)]));
        assert_eq!(slice("-3:"), Ok(vec![Pick::slice(-3, None, 1)]));
        for text in ["", "a", "1:2:0", "1:2:3:4", "1,", "..."] {
            assert_eq!(slice(text), Err(SliceError { text: text.into() }));
        }
    }
}
