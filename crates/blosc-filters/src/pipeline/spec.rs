//! A pipeline as text, for users and messages.

use core::fmt;

use super::{FilterSlot, Pipeline};
use crate::{Error, FilterId, Result, Spec};

impl Pipeline {
    /// Parses a list of filters in encoding order: names or ids, each with `:meta` if it has one.
    /// `none` and empty parts add no filter. The filters fill the last slots, so that `shuffle` is
    /// [`Self::SHUFFLE`].
    ///
    /// # Errors
    ///
    /// [`Error::Spec`] with the defective part.
    pub fn parse(spec: &str) -> Result<Self> {
        let mut pipeline = Self::EMPTY;
        for (nfilter, part) in spec.split(',').enumerate() {
            let slot = parse_slot(part.trim()).map_err(|what| Error::Spec { nfilter, what })?;
            if slot.id != FilterId::NOFILTER {
                pipeline = pipeline
                    .push(slot)
                    .map_err(|_| Error::Spec { nfilter, what: Spec::TooMany })?;
            }
        }
        Ok(pipeline)
    }
}

impl core::str::FromStr for Pipeline {
    type Err = Error;

    fn from_str(spec: &str) -> Result<Self> {
        Self::parse(spec)
    }
}

/// The text that [`parse`](Pipeline::parse) takes; `none` for an empty pipeline. Empty slots are
/// not shown.
impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        self.active().enumerate().try_for_each(|(nfilter, slot)| {
            f.write_str(if nfilter == 0 { "" } else { ", " })?;
            slot.fmt(f)
        })
    }
}

impl fmt::Display for FilterSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.id, self.meta) {
            (id, meta) if needs_meta(id) && is_signed(id) => {
                write!(f, "{id}:{}", meta.cast_signed())
            }
            (id, 0) if !needs_meta(id) => write!(f, "{id}"),
            (id, meta) => write!(f, "{id}:{meta}"),
        }
    }
}

fn parse_slot(part: &str) -> Result<FilterSlot, Spec> {
    let (name, meta) = match part.split_once(':') {
        Some((name, meta)) => (name.trim(), Some(meta.trim())),
        None => (part, None),
    };
    if name.is_empty() && meta.is_none() {
        return Ok(FilterSlot::default());
    }
    let by_number = name.parse().ok().map(FilterId);
    let id = FilterId::from_name(name).or(by_number).ok_or(Spec::Name)?;
    match meta {
        Some(meta) => Ok(FilterSlot { id, meta: parse_meta(meta)? }),
        None if needs_meta(id) => Err(Spec::MetaNeeded { id }),
        None => Ok(FilterSlot { id, meta: 0 }),
    }
}

/// Negative numbers are stored as two's complement, as in `trunc:-4`.
fn parse_meta(text: &str) -> Result<u8, Spec> {
    let signed = text.parse::<i8>().ok().map(i8::cast_unsigned);
    text.parse().ok().or(signed).ok_or(Spec::Meta)
}

/// Filters for which a meta of 0 is out of range.
fn needs_meta(id: FilterId) -> bool {
    matches!(id, FilterId::TRUNC_PREC | FilterId::INT_TRUNC | FilterId::NDCELL | FilterId::NDMEAN)
}

fn is_signed(id: FilterId) -> bool {
    matches!(id, FilterId::TRUNC_PREC | FilterId::INT_TRUNC)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn filters_come_into_the_last_slots() {
        assert_eq!(Pipeline::parse("shuffle"), Ok(Pipeline::SHUFFLE));
        assert_eq!(Pipeline::parse(" delta , 1 ").unwrap().ids(), [0, 0, 0, 0, 3, 1]);
        assert_eq!(Pipeline::parse("1:4,2,3,4:9,160,255").unwrap().metas(), [4, 0, 0, 9, 0, 0]);
    }

    #[test]
    fn nothing_is_none() {
        for spec in ["none", "", "NONE, none", "0"] {
            assert_eq!(Pipeline::parse(spec), Ok(Pipeline::EMPTY), "{spec:?}");
        }
        assert_eq!(Pipeline::EMPTY.to_string(), "none");
    }

    #[test]
    fn negative_parameters_are_twos_complement() {
        let pipeline = Pipeline::parse("int-trunc:-4, trunc:-13, trunc:20").unwrap();
        assert_eq!(pipeline.metas(), [0, 0, 0, 252, 243, 20]);
        assert_eq!(pipeline.to_string(), "int_trunc:-4, trunc_prec:-13, trunc_prec:20");
    }

    #[test]
    fn the_text_of_a_pipeline_parses_to_the_same() {
        for spec in [
            "delta, shuffle",
            "shuffle:2, bytedelta:4",
            "ndcell:4, 200:7",
            "bytedelta",
            "bitshuffle",
        ] {
            let pipeline = Pipeline::parse(spec).unwrap();
            assert_eq!(pipeline.to_string(), spec);
            assert_eq!(spec.parse(), Ok(pipeline));
        }
    }

    #[test]
    fn an_error_names_the_part() {
        let error = |nfilter, what| Err(Error::Spec { nfilter, what });
        assert_eq!(Pipeline::parse("shuffle, shufle"), error(1, Spec::Name));
        assert_eq!(Pipeline::parse("256"), error(0, Spec::Name));
        assert_eq!(Pipeline::parse(":3"), error(0, Spec::Name));
        assert_eq!(Pipeline::parse("trunc:256"), error(0, Spec::Meta));
        assert_eq!(Pipeline::parse("trunc:-129"), error(0, Spec::Meta));
        assert_eq!(
            Pipeline::parse("trunc"),
            error(0, Spec::MetaNeeded { id: FilterId::TRUNC_PREC })
        );
        assert_eq!(Pipeline::parse("1,1,1,1,1,1,1"), error(6, Spec::TooMany));
    }
}
