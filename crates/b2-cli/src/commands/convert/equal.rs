//! Does everything of the input come back from the output? Before an input is removed its type,
//! shape, order, values and metadata have to.

use std::path::Path;

use serde_json::Value;

use super::{Work, frame, from_parquet, source::Source, values};
use crate::{
    args::ConvertedFormat,
    error::{Result, message},
    inputs::{ObjectReader, Origin, Part},
};

/// What is lost by an order that is not kept.
pub(crate) const ORDER: &str = "the Fortran order of the items";

impl Work<'_> {
    /// What the output at `path` has lost of the input, if anything: a reason to keep the input.
    pub(super) fn lost(&self, path: &Path) -> Result<Option<String>> {
        if self.format == ConvertedFormat::Raw {
            let is_array = self.source.layout()?.is_some();
            return Ok(is_array.then(|| frame::ARRAY.to_owned()));
        }
        let output = self.open_output(path)?;
        let (given, found) = (self.source.layout()?, output.layout()?);
        match (&given, &found) {
            (None, _) => {}
            (Some(given), Some(found))
                if given.dtype == found.dtype && given.shape == found.shape =>
            {
                if given.fortran_order != found.fortran_order && given.shape.len() > 1 {
                    return Ok(Some(ORDER.to_owned()));
                }
            }
            (Some(_), _) => return Ok(Some(frame::ARRAY.to_owned())),
        }
        let is_text = matches!(self.format, ConvertedFormat::Csv | ConvertedFormat::Parquet);
        if is_text && self.digest(&output)? != self.digest(&self.source)? {
            return Ok(Some("some of the values".to_owned()));
        }
        let sorted = |source: &Source| -> Result<Vec<(String, Value)>> {
            let mut values = source.metadata()?.without_array().values();
            values.sort_by(|a, b| a.0.cmp(&b.0));
            Ok(values)
        };
        let (given, found) = (sorted(&self.source)?, sorted(&output)?);
        let missing = given.into_iter().find(|value| !found.contains(value));
        Ok(missing.map(|(name, _)| format!("the metadata {name:?}")))
    }

    /// What was written, as another source.
    fn open_output(&self, path: &Path) -> Result<Source> {
        match self.format {
            ConvertedFormat::Csv => {
                values(path, crate::formats::csv_table::COMMA, None).map(Source::Items)
            }
            ConvertedFormat::Parquet => {
                let table = from_parquet::open(self.cx, path, false)?;
                Ok(Source::Object(table))
            }
            ConvertedFormat::Npy => Ok(blosc_data::content::of_file(path, &self.cx.read_params())?),
            _ => {
                let origin = Origin::File { path: path.into(), part: Part::Whole };
                let object = ObjectReader::open(&origin, self.cx.read_params())?.next()?;
                Ok(Source::Object(object.ok_or(message::READ_BACK_DIFFERS.error())?))
            }
        }
    }
}
