//! Conversions from any content to any output format.
//!
//! ```text
//! Content: chunks as they are   --- transcoded --->  a destination that holds chunks
//!          items in C order     --- compressed --->  any destination
//!          metadata             ------------------>  as far as there is room
//! ```
//!
//! Each destination is a module. It takes chunks if it can hold them and the settings ask for no
//! other ones, else the content. Nothing is printed: the [`Report`] holds counts, and the names of
//! all losses.

mod anew;
mod array;
mod bcolz;
mod blp;
mod chunk;
mod csv;
mod equal;
mod frame;
mod left_out;
mod pull;
mod raw;
mod selection;
mod settings;
mod sink;
mod store;
mod whole;

use std::path::Path;

use b2frame::SChunkWriter;
use bcolz_store::DataSet;
use serde::Serialize;

use crate::content::{Content, Object, Sink as ContentSink, SinkError};
use crate::error::{Doing, Error, Result};
use crate::spool::Station;

pub use anew::{check_dimensions, know_filters};
pub use bcolz::{each_rows, split};
pub use equal::ORDER;
pub use frame::ARRAY;
pub use left_out::{INDEX, listed};
pub use pull::pull;
pub use selection::select;
pub use settings::{Compression, DataShape, OutputFormat, Settings};
pub use sink::{Sink, convert, create};
pub use whole::{Recompressed, copy_store, recompress_store};

/// The result of one conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Bytes of content.
    pub nbytes: u64,
    /// Bytes that were written.
    pub stored_nbytes: u64,
    /// Chunks that were moved, perhaps with another header.
    pub moved: u64,
    /// Chunks that were compressed anew.
    pub recompressed: u64,
    /// Parts of the input that the format cannot hold: "the metalayer `a`".
    pub left_out: Vec<String>,
    /// Whether a table replaces the requested array, since the items have fields.
    pub is_table_instead: bool,
}

impl Report {
    /// Counts one chunk.
    fn count(&mut self, is_moved: bool) {
        let kind = if is_moved { &mut self.moved } else { &mut self.recompressed };
        *kind += 1;
    }

    /// The report of a conversion with these losses.
    fn without(left_out: Vec<String>) -> Self {
        Self { left_out, ..Self::default() }
    }
}

/// Gets the bytes of content that are done, piece by piece.
pub type OnProgress<'a> = &'a (dyn Fn(u64) + Sync);

/// A conversion of content.
#[derive(Clone, Copy)]
pub struct Conversion<'a> {
    /// The content.
    pub content: &'a Content,
    /// The output that it becomes.
    pub settings: &'a Settings,
    /// Columns that [`fitted`](Content::fitted) has left out.
    pub dropped: &'a [String],
    /// Gets the progress.
    pub progress: OnProgress<'a>,
}

impl core::fmt::Debug for Conversion<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Conversion").field("content", self.content).finish_non_exhaustive()
    }
}

impl<'a> Conversion<'a> {
    /// A conversion of all content.
    #[must_use]
    pub fn new(content: &'a Content, settings: &'a Settings) -> Self {
        Self { content, settings, dropped: &[], progress: &|_| () }
    }

    /// Writes the output to `path`, where nothing is yet.
    ///
    /// # Errors
    ///
    /// Content that cannot be read, settings that do not fit it, a refusal of the system. The
    /// output is then incomplete.
    pub fn write(&self, path: &Path) -> Result<Report> {
        let mut report = match self.settings.format {
            OutputFormat::B2frame | OutputFormat::Sframe => self.frame(path),
            OutputFormat::B2nd => self.array(path),
            OutputFormat::Blp => self.blp(path),
            OutputFormat::Npy => self.npy(path),
            OutputFormat::Chunk => self.chunk(path),
            OutputFormat::Raw => self.raw(path),
            OutputFormat::Carray | OutputFormat::Ctable => self.bcolz(path),
            OutputFormat::Csv => self.csv(path),
            OutputFormat::B2z | OutputFormat::B2d => self.store(path),
            OutputFormat::Parquet => self.parquet(path),
        }
        .map_err(of_output)?;
        match self.settings.format {
            OutputFormat::B2frame | OutputFormat::Sframe | OutputFormat::B2nd => {
                self.compare_input(path)?;
            }
            // Stores compare seals before they take a value.
            _ => self.content.compare_seals()?,
        }
        report.left_out.extend(self.lost_of_table()?);
        report.left_out.extend(self.lost_of_array(path)?);
        report.nbytes = self.content.nbytes().unwrap_or(0);
        report.stored_nbytes = nbytes_at(path)?;
        Ok(report)
    }

    /// Compares the input, after all of it was read, with its seals. If a mismatch is allowed, the
    /// frame at `path` gets a seal that does not match either.
    fn compare_input(&self, path: &Path) -> Result<()> {
        self.content.compare_seals()?;
        let open = &self.settings.open;
        if open.mismatch.is_noted() {
            let options = b2frame::EditOptions::default()
                .open(open.frame().locking(b2frame::lock::Locking::from_env()));
            let mut writer = SChunkWriter::open_with(path, &options)?;
            writer.spoil_seal()?;
            writer.commit()?;
        }
        Ok(())
    }

    /// Hands the content to `sink` in the order of the output. Items for a frame may stay in
    /// Fortran order if its metadata say so, as those of Bloscpack do.
    fn in_order<E: SinkError>(&self, content: &Content, sink: ContentSink<'_, E>) -> Result<(), E> {
        let resources = &self.settings.resources;
        let is_frame = matches!(self.settings.format, OutputFormat::B2frame | OutputFormat::Sframe);
        match is_frame && !matches!(self.content, Content::Items(_)) {
            true => content.stream(&resources.decoding(), sink),
            false => content.in_c_order(&resources.decoding(), resources.held() / 4, sink),
        }
    }

    /// The data set of bcolz that the input is.
    fn data_set(&self) -> Option<&DataSet> {
        match self.content {
            Content::Object(Object::Bcolz(set)) => Some(&set.set),
            _ => None,
        }
    }

    /// A temporary place for intermediate files.
    fn station(&self) -> Result<Station> {
        Station::new(&self.settings.unfinished)
    }
}

/// An error of writing in the words of this crate, without the name of a part of the output. Only
/// full disks count for bcolz, whose files may also be the input's.
fn of_output(error: Error) -> Error {
    match error {
        Error::Store(b2store::Error::Write { source, .. }) => Error::io(Doing::Write)(source),
        Error::Bcolz(bcolz_store::Error::Io { source, .. })
            if source.kind() == std::io::ErrorKind::StorageFull =>
        {
            Error::io(Doing::Write)(source)
        }
        other => other,
    }
}

/// Bytes of a file, or of the files in a folder.
pub(crate) fn nbytes_at(path: &Path) -> Result<u64> {
    let failed = || Error::io_at(Doing::Write, path);
    let metadata = std::fs::metadata(path).map_err(failed())?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    let nbytes = crate::content::stored_nbytes(&blosc_io::tree::DirTree::new(path));
    nbytes.map_err(Error::io_at(Doing::Open, path))
}
