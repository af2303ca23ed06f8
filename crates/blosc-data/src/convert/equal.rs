//! Comparison of the output with the input: type, shape, order, values and metadata.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom},
    path::Path,
    sync::Arc,
};

use blosc_io::FileStore;
use serde_json::Value;

use super::{Conversion, OutputFormat, frame};
use crate::content::{Content, Layout, Object, of_file};
use crate::digest::Digest;
use crate::error::{Doing, Error, Result};
use crate::formats::{chunk::BareChunk, csv, parquet};

/// The loss if Fortran order becomes C order.
pub const ORDER: &str = "the Fortran order of the items";

impl Conversion<'_> {
    /// The first thing of the input that the output at `path` lacks: a reason to keep the input.
    ///
    /// # Errors
    ///
    /// An output that cannot be read.
    pub fn lost(&self, path: &Path) -> Result<Option<String>> {
        if self.settings.format == OutputFormat::Raw {
            let is_array = self.content.layout()?.is_some();
            return Ok(is_array.then(|| frame::ARRAY.to_owned()));
        }
        let output = self.open_output(path)?;
        let (given, found) = (self.given_layout()?, output.layout()?);
        match (&given, &found) {
            (None, _) => {}
            (Some(given), Some(found)) if is_same_array(given, found) => {
                if given.fortran_order != found.fortran_order && given.shape.len() > 1 {
                    return Ok(Some(ORDER.to_owned()));
                }
            }
            (Some(_), _) => return Ok(Some(frame::ARRAY.to_owned())),
        }
        let is_text = matches!(self.settings.format, OutputFormat::Csv | OutputFormat::Parquet);
        if is_text && self.digest(&output)? != self.digest(self.content)? {
            return Ok(Some("some of the values".to_owned()));
        }
        let sorted = |source: &Content| -> Result<Vec<(String, Value)>> {
            let mut values = source.metadata()?.without_array().values();
            values.sort_by(|a, b| a.0.cmp(&b.0));
            Ok(values)
        };
        let (given, found) = (sorted(self.content)?, sorted(&output)?);
        let missing = given.into_iter().find(|value| !found.contains(value));
        Ok(missing.map(|(name, _)| format!("the metadata {name:?}")))
    }

    /// The type and the shape of the input, if the output at `path` describes its array otherwise.
    /// The writers of formats without any description report that themselves.
    pub(super) fn lost_of_array(&self, path: &Path) -> Result<Option<String>> {
        let describes = matches!(
            self.settings.format,
            OutputFormat::B2nd
                | OutputFormat::Npy
                | OutputFormat::Blp
                | OutputFormat::Carray
                | OutputFormat::Ctable
        );
        // Metadata that contradict the data describe no array.
        let Some(given) = self.given_layout().ok().flatten().filter(|_| describes) else {
            return Ok(None);
        };
        let Some(found) = self.open_output(path)?.layout()? else { return Ok(None) };
        Ok((!is_same_array(&given, &found)).then(|| frame::ARRAY.to_owned()))
    }

    /// Whether the output at `path` has the values of the input. Text shows items without their
    /// bytes, and is not compared.
    ///
    /// # Errors
    ///
    /// An output that cannot be read.
    pub fn is_equal(&self, path: &Path) -> Result<bool> {
        let start = match self.settings.format {
            OutputFormat::Csv | OutputFormat::Parquet => return Ok(true),
            OutputFormat::B2z | OutputFormat::B2d => {
                return self.is_equal_store(&b2store::Store::open(path)?, None);
            }
            OutputFormat::Raw => Some(0),
            OutputFormat::Npy => Some(crate::content::npy_header(path)?.len as u64),
            _ => None,
        };
        let found = match start {
            Some(start) => digest_of_file(path, start)?,
            None => self.digest(&self.open_output(path)?)?,
        };
        Ok(found == self.digest(self.content)?)
    }

    /// The array of the input, with the type that the settings give it.
    pub(super) fn given_layout(&self) -> Result<Option<Layout>> {
        let layout = self.content.layout()?;
        Ok(layout.map(|layout| layout.typed(self.settings.dtype.as_ref())))
    }

    /// The digest of a content's items in the order of the output.
    pub(super) fn digest(&self, content: &Content) -> Result<Digest> {
        let mut digest = Digest::default();
        self.in_order(content, &mut |bytes| {
            digest.update(bytes);
            Ok::<(), Error>(())
        })?;
        Ok(digest)
    }

    /// Opens the output as content.
    fn open_output(&self, path: &Path) -> Result<Content> {
        let open = &self.settings.open;
        let file = || FileStore::open(path).map(Arc::new).map_err(Error::io(Doing::Open));
        match self.settings.format {
            OutputFormat::Parquet => {
                let table = parquet::open(path, false, open, &self.settings.unfinished)?;
                Ok(Content::Object(table))
            }
            OutputFormat::Csv => {
                let missing = csv::Missing::Text;
                Ok(Content::Items(csv::read(file()?, csv::COMMA, None, missing, &mut |_| ())?))
            }
            // Only its length tells a chunk from other bytes.
            OutputFormat::Chunk => {
                let chunk = BareChunk::open(file()?, 0, open.dparams.clone())?;
                Ok(Content::Object(Object::Chunk(Box::new(chunk))))
            }
            _ => of_file(path, open),
        }
    }
}

/// Whether two arrays have the same type and shape.
fn is_same_array(a: &Layout, b: &Layout) -> bool {
    a.dtype == b.dtype && a.shape == b.shape
}

/// The digest of a file, from a position on.
fn digest_of_file(path: &Path, start: u64) -> Result<Digest> {
    let mut digest = Digest::default();
    let mut file = File::open(path).map_err(Error::io(Doing::Read))?;
    file.seek(SeekFrom::Start(start)).map_err(Error::io(Doing::Read))?;
    io::copy(&mut file, &mut digest).map_err(Error::io(Doing::Read))?;
    Ok(digest)
}
