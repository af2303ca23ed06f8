//! Text of any length as an array: each text gets the width of the longest.

use core::ops::Range;
use std::io;

use blosc_data::Array;
use blosc_data::boxes::read_runs;
use blosc_data::verify::{OnProgress, Report, VerifyOptions, by_reading};
use blosc_dtype::Dtype;
use serde_json::{Map, Value};

/// Most bytes of all texts, padded.
const MAX_NBYTES: usize = 1 << 28;

/// The description of an array of another format.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// The name of the format.
    pub(crate) format: &'static str,
    pub(crate) shape: Vec<u64>,
    pub(crate) chunkshape: Vec<u64>,
    pub(crate) pipeline: String,
    /// The kind of the checksums of chunks.
    pub(crate) checksum: Option<&'static str>,
    pub(crate) stored_nbytes: Option<u64>,
    pub(crate) attributes: Map<String, Value>,
    pub(crate) lost: Vec<String>,
}

/// An array of text in memory.
#[derive(Debug)]
pub(crate) struct TextArray {
    about: About,
    dtype: Dtype,
    items: Vec<u8>,
}

impl TextArray {
    /// An array of texts, as many as the shape has items.
    ///
    /// # Errors
    ///
    /// `Unsupported` if they need more than `MAX_NBYTES`.
    pub(crate) fn new<'a>(
        about: About,
        texts: impl Iterator<Item = &'a str> + Clone,
    ) -> io::Result<Self> {
        let longest = texts.clone().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
        let dtype = format!("<U{longest}");
        let mut items = room(&about, longest.saturating_mul(4))?;
        let mut dest = items.chunks_exact_mut(longest.saturating_mul(4));
        for (text, dest) in texts.zip(&mut dest) {
            for (c, dest) in text.chars().zip(dest.chunks_exact_mut(4)) {
                dest.copy_from_slice(&u32::from(c).to_le_bytes());
            }
        }
        Self::with_items(about, &dtype, items)
    }

    /// An array of bytes of any length, as many as the shape has items. NumPy drops zeros at the
    /// end of an item.
    ///
    /// # Errors
    ///
    /// `Unsupported` if they need more than `MAX_NBYTES`, or if one of them ends with a zero.
    pub(crate) fn of_bytes<'a>(
        about: About,
        values: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> io::Result<Self> {
        if values.clone().any(|value| value.last() == Some(&0)) {
            return Err(unsupported("bytes of any length that end with zeros"));
        }
        let longest = values.clone().map(<[u8]>::len).max().unwrap_or(0).max(1);
        let mut items = room(&about, longest)?;
        for (value, dest) in values.zip(items.chunks_exact_mut(longest)) {
            dest.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
        }
        Self::with_items(about, &format!("|S{longest}"), items)
    }

    fn with_items(about: About, dtype: &str, items: Vec<u8>) -> io::Result<Self> {
        let dtype = dtype.parse().map_err(|_| unsupported("text as long as this"))?;
        Ok(Self { about, dtype, items })
    }
}

fn unsupported(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("{text}, which have no counterpart"))
}

/// A buffer of zeros for the items of a shape.
fn room(about: &About, itemsize: usize) -> io::Result<Vec<u8>> {
    let mut lens = about.shape.iter();
    let nbytes = lens.try_fold(itemsize, |nbytes, len| {
        nbytes.checked_mul(usize::try_from(*len).ok()?).filter(|nbytes| *nbytes <= MAX_NBYTES)
    });
    let nbytes = nbytes.ok_or_else(|| {
        unsupported("items of any length, which need more than 256 MiB as items of one length")
    })?;
    Ok(vec![0; nbytes])
}

impl Array for TextArray {
    fn format(&self) -> &'static str {
        self.about.format
    }

    fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.about.shape
    }

    fn chunkshape(&self) -> &[u64] {
        &self.about.chunkshape
    }

    fn pipeline(&self) -> String {
        self.about.pipeline.clone()
    }

    fn stored_nbytes(&self) -> Option<u64> {
        self.about.stored_nbytes
    }

    fn attributes(&self) -> blosc_data::Result<Map<String, Value>> {
        Ok(self.about.attributes.clone())
    }

    fn lost(&self) -> Vec<String> {
        self.about.lost.clone()
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> blosc_data::Result<()> {
        let itemsize = self.dtype.itemsize() as u64;
        read_runs(&self.about.shape, itemsize, bounds, dest, &mut |at, part| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            let items = self.items.get(at..).and_then(|items| items.get(..part.len()));
            let wrong = || blosc_data::Error::Internal("a box within the shape of text");
            part.copy_from_slice(items.ok_or_else(wrong)?);
            Ok(())
        })
    }

    /// Opening the array has read its chunks and compared their checksums.
    fn verify(&self, options: &VerifyOptions, _: OnProgress<'_>) -> blosc_data::Result<Report> {
        let mut report = by_reading(self, options);
        if self.about.checksum.is_some() {
            report.checksum = self.about.checksum;
            report.nchunks = (self as &dyn Array).nchunks();
            report.nsummed = report.nchunks;
        }
        Ok(report)
    }
}
