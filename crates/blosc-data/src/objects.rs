//! Lists of objects, such as Python's, in frames and in directories of bcolz.

use core::{fmt::Debug, ops::Range};

use std::sync::Arc;

use b2frame::SChunk;
use b2store::{Content, Value};
use bcolz_store::CArray;

use crate::columns::cell_of;
use crate::error::{CellFault, Error, Result};
use crate::formats::bcolz_note;
use crate::size::check_range;
use crate::verify::{self, OnProgress, Report, VerifyOptions};

/// Objects, one after the other. None of them is ever executed.
pub trait ListOfObjects: Debug + Send + Sync {
    /// The name of the format: `objects`, `batches`, `lists`, `carray`.
    fn format(&self) -> &'static str;

    /// Number of objects.
    ///
    /// # Errors
    ///
    /// Sizes of batches that are damaged.
    fn len(&self) -> Result<u64>;

    /// Whether there are no objects.
    ///
    /// # Errors
    ///
    /// As [`len`](Self::len).
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// A range of the objects.
    ///
    /// # Errors
    ///
    /// [`Param::Range`](crate::error::Param::Range); objects that do not decode, or are more than
    /// plain data.
    fn get(&self, items: Range<u64>) -> Result<Vec<Value>>;

    /// The frame that holds the list, if there is one.
    fn frame(&self) -> Option<&Arc<SChunk>> {
        None
    }

    /// Decodes all objects and compares checksums; see [`verify`](crate::verify::verify).
    ///
    /// # Errors
    ///
    /// When the system refuses to read at all. Damage is in the report instead.
    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let _ = (options, progress);
        let len = self.len()?;
        let read = |item| self.get(item..item.saturating_add(1)).map(drop);
        Ok(verify::of_reading((0..len).try_for_each(read), 0))
    }
}

/// The objects of a frame.
#[derive(Clone, Debug)]
pub(crate) struct FrameObjects {
    pub(crate) schunk: Arc<SChunk>,
    pub(crate) content: Content,
}

impl ListOfObjects for FrameObjects {
    fn format(&self) -> &'static str {
        self.content.kind_name()
    }

    fn len(&self) -> Result<u64> {
        match &self.content {
            Content::Objects(objects) => Ok(objects.len()),
            Content::Batches(batches) => Ok(batches.len()?),
            Content::Lists(lists) => Ok(lists.len()?),
            _ => Err(Error::Internal("a frame that holds no objects")),
        }
    }

    fn get(&self, items: Range<u64>) -> Result<Vec<Value>> {
        check_range(&items, self.len()?)?;
        Ok(match &self.content {
            Content::Batches(batches) => batches.items(items)?,
            Content::Lists(lists) => lists.rows(items)?,
            Content::Objects(objects) => {
                items.map(|item| objects.get(item)).collect::<Result<_, _>>()?
            }
            _ => return Err(Error::Internal("a frame that holds no objects")),
        })
    }

    fn frame(&self) -> Option<&Arc<SChunk>> {
        Some(&self.schunk)
    }

    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        Ok(verify::frame(&self.schunk, options, progress))
    }
}

/// The objects of a bcolz array: pickles, of which only plain data are read.
#[derive(Clone, Debug)]
pub(crate) struct Pickles(pub(crate) CArray);

impl ListOfObjects for Pickles {
    fn format(&self) -> &'static str {
        "carray"
    }

    fn len(&self) -> Result<u64> {
        Ok(self.0.len())
    }

    fn get(&self, items: Range<u64>) -> Result<Vec<Value>> {
        check_range(&items, self.0.len())?;
        let name = self.0.path().rsplit('/').next().unwrap_or_default();
        items
            .map(|item| {
                let object = bcolz_store::pickle::load(&self.0.pickle(item)?)
                    .map_err(|_| Error::cell(name, CellFault::NoPlainData))?;
                cell_of(&object, name)
            })
            .collect()
    }

    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        Ok(verify::report(self.0.verify(options, progress)?, bcolz_note))
    }
}
