//! Makes and changes arrays. This file writes parts; `resize.rs` changes the shape, `join.rs`
//! copies the items of other arrays.
//!
//! ```text
//! box to write    chunk 0 whole: from zeros        chunk 1 in part: decoded first
//!   +-----+---    then in both: copy the parts of blocks, compress, replace the old chunk
//! ```

use core::fmt;
use std::path::Path;

use blosc_chunk::{CParams, Executor, Special, special_chunk};
use blosc_container::Budget;
use blosc_container::parallel::{Job, in_order};
use blosc_container::pool::Pool;
use blosc_dtype::Dtype;
use blosc_io::WriteAt;

use super::axis::{Axis, Product, Spans};
use super::geometry::{as_len, strides};
use super::params::chunk_cparams;
use super::patch::{Buffer, Items, KEPT_NBYTES, Patch};
use super::{Element, Fill, Geometry, NdArray, NdMeta, NdParam, NdParams, Selection, array};
use crate::edit::SChunkWriter;
use crate::error::{Error, Param, Result};
use crate::offsets::MAX_NCHUNKS;
use crate::params::{EditOptions, FrameParams};

/// Makes and changes an n-dimensional array.
///
/// As with [`SChunkWriter`], changes are collected, and no reader sees them before
/// [`commit`](Self::commit).
///
/// ```
/// use b2frame::{NdParams, NdWriter};
///
/// let params = NdParams::new(&[2, 3], "<i4".parse()?);
/// let mut writer = NdWriter::in_memory(&params)?;
/// writer.write_slice((0, ..), &[1, 2, 3])?;
/// writer.append(0, &[7, 8, 9])?;
/// let array = writer.finish()?;
/// assert_eq!(array.shape(), [3, 3]);
/// assert_eq!(array.read::<i32>()?, [1, 2, 3, 0, 0, 0, 7, 8, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NdWriter {
    pub(super) writer: SChunkWriter,
    pub(super) meta: NdMeta,
    pub(super) geometry: Geometry,
    dtype: Dtype,
    options: Budget,
    buffers: Pool<Buffer>,
}

impl NdWriter {
    /// Creates a file, or empties an existing one. The file holds an array after the first commit.
    ///
    /// # Errors
    /// [`Error::Open`], or as [`create_in`](Self::create_in).
    pub fn create(path: impl AsRef<Path>, params: &NdParams) -> Result<Self> {
        Self::made(params, |frame| SChunkWriter::create(path, frame))
    }

    /// As [`create`](Self::create), but never empties an existing file.
    ///
    /// # Errors
    /// As [`SChunkWriter::create_new`] and [`create_in`](Self::create_in).
    pub fn create_new(path: impl AsRef<Path>, params: &NdParams) -> Result<Self> {
        Self::made(params, |frame| SChunkWriter::create_new(path, frame))
    }

    /// Creates a sparse frame for an array: a directory with one file for every chunk. The
    /// directory holds an array after the first commit.
    ///
    /// # Errors
    /// As [`SChunkWriter::create_sparse`] and [`create_in`](Self::create_in).
    pub fn create_sparse(path: impl AsRef<Path>, params: &NdParams) -> Result<Self> {
        Self::made(params, |frame| SChunkWriter::create_sparse(path, frame))
    }

    /// A new array in memory; get it from [`finish`](Self::finish).
    ///
    /// # Errors
    /// As [`create_in`](Self::create_in).
    pub fn in_memory(params: &NdParams) -> Result<Self> {
        Self::made(params, SChunkWriter::in_memory)
    }

    /// A new array in a store, which should be empty.
    ///
    /// # Errors
    /// [`Error::Param`] when such an array cannot be written.
    pub fn create_in(store: Box<dyn WriteAt>, params: &NdParams) -> Result<Self> {
        Self::made(params, |frame| SChunkWriter::create_in(store, frame))
    }

    /// Opens the array in a file.
    ///
    /// # Errors
    /// As [`SChunkWriter::open`]; [`Param::NotAnArray`]; the error of its description.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &EditOptions::default())
    }

    /// Opens the array in a file.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &EditOptions) -> Result<Self> {
        SChunkWriter::open_as(path.as_ref(), options, Self::from_writer)
    }

    /// Opens the array in a store.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(store: Box<dyn WriteAt>, options: &EditOptions) -> Result<Self> {
        Self::from_writer(SChunkWriter::open_in(store, options)?)
    }

    /// The array of a super-chunk writer.
    ///
    /// # Errors
    /// [`Param::NotAnArray`], or the error of the array's description.
    pub fn from_writer(mut writer: SChunkWriter) -> Result<Self> {
        let meta = writer.schunk()?.nd_meta()?.ok_or(Param::NotAnArray)?;
        Self::over(writer, meta)
    }

    /// A new array in the frame that `make` returns.
    fn made(
        params: &NdParams,
        make: impl FnOnce(&FrameParams) -> Result<SChunkWriter>,
    ) -> Result<Self> {
        let meta = params.meta()?;
        if meta.nchunks() > MAX_NCHUNKS {
            return Err(Param::TooManyChunks { max: MAX_NCHUNKS }.into());
        }
        let writer = make(&params.frame(&meta)?)?;
        Self::over(writer, meta)?.filled(&params.fill)
    }

    fn over(mut writer: SChunkWriter, meta: NdMeta) -> Result<Self> {
        let typesize = writer.schunk()?.typesize();
        let dtype = array::item_dtype(&meta, typesize);
        let cparams = chunk_cparams(writer.cparams(), &meta, &dtype);
        writer.set_cparams(cparams);
        let geometry = Geometry::new(&meta, typesize);
        Ok(Self {
            writer,
            meta,
            geometry,
            dtype,
            options: Budget::default(),
            buffers: Pool::default(),
        })
    }

    /// Adds the first chunks, all of one value.
    fn filled(mut self, fill: &Fill) -> Result<Self> {
        if self.meta.chunk_items() == 0 {
            self.writer.make_variable()?;
        }
        let (typesize, nbytes) = (self.dtype.itemsize(), self.chunk_nbytes());
        let failed = |source| Error::Compress { nchunk: 0, source };
        let special = match fill {
            Fill::Zeros => Special::Zeros,
            Fill::Uninit => Special::Uninit,
            Fill::Nans if !matches!(typesize, 4 | 8) => {
                return Err(Param::NanTypesize { typesize: typesize as u64 }.into());
            }
            Fill::Nans => Special::Nans,
            Fill::Value(item) if item.len() != typesize => {
                return Err(
                    Param::BufferLen { len: item.len() as u64, expected: typesize as u64 }.into()
                );
            }
            Fill::Value(item) => Special::Value(item),
        };
        let nchunks = self.meta.nchunks();
        if nchunks > 0 {
            let chunk = match special {
                // Readers before 3.0 do not support values of more than 255 bytes.
                Special::Value(item) if item.len() > 255 => {
                    let data = item.repeat(nbytes.checked_div(typesize).unwrap_or(0));
                    blosc_chunk::compress(&data, &self.writer.cparams().clone().in_schunk())
                }
                special => special_chunk(special, nbytes, self.writer.cparams()),
            };
            let chunk = chunk.map_err(failed)?;
            (0..nchunks).try_for_each(|_| self.writer.append_chunk(&chunk))?;
        }
        Ok(self)
    }

    /// Takes the lock of the frame and reads the changes of other programs, as any change does: see
    /// [`SChunkWriter::lock`].
    ///
    /// # Errors
    /// As [`SChunkWriter::lock`]; [`Param::NotAnArray`] if the frame holds no array any more.
    pub fn lock(&mut self) -> Result<()> {
        if self.writer.take_lock()? {
            let meta = self.writer.schunk()?.nd_meta()?.ok_or(Param::NotAnArray)?;
            let typesize = self.writer.schunk()?.typesize();
            self.dtype = array::item_dtype(&meta, typesize);
            self.geometry = Geometry::new(&meta, typesize);
            self.buffers = Pool::default();
            self.meta = meta;
        }
        Ok(())
    }

    /// The writer with other threads and working memory for decoding and compressing.
    #[must_use]
    pub fn budget(self, options: Budget) -> Self {
        Self { options, ..self }
    }

    /// Present shapes and type, committed or not.
    #[must_use]
    pub fn meta(&self) -> &NdMeta {
        &self.meta
    }

    /// Length in each dimension (items).
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        self.meta.shape()
    }

    /// The type of the items; raw bytes if the description does not fit (see [`NdArray::dtype`]).
    #[must_use]
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// How new chunks are compressed.
    #[must_use]
    pub fn cparams(&self) -> &CParams {
        self.writer.cparams()
    }

    /// The super-chunk, for metalayers. A change of its chunks or of the metalayer `b2nd` changes
    /// the array.
    pub fn schunk_writer(&mut self) -> &mut SChunkWriter {
        &mut self.writer
    }

    /// Writes a part from bytes in C order. Chunks that the part covers partly are decoded and
    /// compressed again.
    ///
    /// # Errors
    /// [`Param::Nd`] if the part is outside of the array, [`Param::BufferLen`], the error of a
    /// chunk, [`Error::Compress`], or [`Error::Write`].
    pub fn write_bytes(&mut self, selection: impl Into<Selection>, items: &[u8]) -> Result<()> {
        self.lock()?;
        let steps = selection.into().resolve(self.shape())?;
        let axes: Vec<_> = steps.into_iter().map(Axis::Steps).collect();
        self.write_axes(&axes, Items::Bytes(items))
    }

    /// Writes a part from values in C order.
    ///
    /// # Errors
    /// [`NdParam::Dtype`] unless the items have exactly this type, or as
    /// [`write_bytes`](Self::write_bytes).
    pub fn write_slice<T: Element>(
        &mut self,
        selection: impl Into<Selection>,
        items: &[T],
    ) -> Result<()> {
        self.check_dtype::<T>()?;
        self.write_bytes(selection, &T::to_bytes(items))
    }

    /// Writes to all combinations of these positions, one list for each dimension, from bytes in C
    /// order. If a position is repeated, the last item counts.
    ///
    /// # Errors
    /// As [`write_bytes`](Self::write_bytes).
    pub fn write_oindex_bytes(&mut self, positions: &[&[u64]], items: &[u8]) -> Result<()> {
        self.lock()?;
        let lists = super::read::lists(self.shape(), positions)?;
        let axes: Vec<_> = lists.iter().map(|list| Axis::List(list)).collect();
        self.write_axes(&axes, Items::Bytes(items))
    }

    /// Writes to all combinations of these positions from values in C order.
    ///
    /// # Errors
    /// As [`write_slice`](Self::write_slice).
    pub fn write_oindex<T: Element>(&mut self, positions: &[&[u64]], items: &[T]) -> Result<()> {
        self.check_dtype::<T>()?;
        self.write_oindex_bytes(positions, &T::to_bytes(items))
    }

    /// Commits all changes so far. In any case, the array afterwards is the old one or the new one.
    ///
    /// # Errors
    /// As [`SChunkWriter::commit`].
    pub fn commit(&mut self) -> Result<()> {
        self.writer.commit()
    }

    /// Commits, and returns the array for reading.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn finish(self) -> Result<NdArray> {
        NdArray::from_schunk(self.writer.finish()?)
    }

    pub(super) fn check_dtype<T: Element>(&self) -> Result<(), NdParam> {
        let wanted = T::dtype();
        if wanted == self.dtype {
            return Ok(());
        }
        Err(NdParam::Dtype { dtype: self.dtype.to_string(), wanted: wanted.to_string() })
    }

    pub(super) fn max_memory(&self) -> u64 {
        self.options.max_memory
    }

    /// Uncompressed size of a chunk (bytes).
    pub(super) fn chunk_nbytes(&self) -> usize {
        as_len(self.meta.chunk_items()).saturating_mul(self.dtype.itemsize())
    }

    /// Writes the selection of the axes, one for each dimension.
    pub(super) fn write_axes(&mut self, axes: &[Axis<'_>], items: Items<'_>) -> Result<()> {
        let mut axes = axes.to_vec();
        if axes.is_empty() {
            axes.push(Axis::Steps(super::axis::Steps::run(0, 1)));
        }
        let counts: Vec<u64> = axes.iter().map(Axis::count).collect();
        let typesize = self.geometry.typesize();
        let expected = counts.iter().fold(typesize, |nbytes, count| nbytes.saturating_mul(*count));
        items.check_len(expected)?;
        let in_items = strides(&counts, typesize);
        let spans = axes.iter().zip(self.geometry.chunkshape());
        let spans: Vec<_> = spans.map(|(axis, len)| Spans::new(*axis, 0, (*len).max(1))).collect();
        let nchunks =
            spans.iter().fold(1, |nchunks: usize, spans| nchunks.saturating_mul(spans.count()));
        if nchunks == 0 {
            return Ok(());
        }
        let weight = Patch::weight(&self.geometry);
        let threads = self.options.nworkers_for(weight).min(nchunks);
        // Each thread makes a chunk. If that is impossible, the threads share the blocks of one
        // chunk.
        let one = Executor::default();
        let within = if threads == 1 { &self.options.threads } else { &one };
        let cparams = self.writer.cparams().clone().threads(within.clone());
        let budget = self.options.at_most(threads);
        let Self { writer, geometry, buffers, .. } = &mut *self;
        let written = writer.replace_chunks(|schunk, old_sums, done| {
            let is_parallel = threads > 1;
            let patch = Patch {
                schunk,
                old_sums,
                geometry,
                cparams,
                items,
                in_items,
                buffers,
                is_parallel,
            };
            let mut chunks = Product::new(spans).map(|job| Job { job, weight });
            in_order(
                &budget,
                || Ok(chunks.next()),
                || patch.bench(),
                |bench, spans| patch.make_chunk(&spans, bench),
                |made| {
                    let made = made?;
                    done(made.nchunk, made.bytes()?)
                },
            )
        });
        self.buffers.shrink(KEPT_NBYTES);
        written
    }
}

impl fmt::Debug for NdWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NdWriter")
            .field("meta", &self.meta)
            .field("writer", &self.writer)
            .finish_non_exhaustive()
    }
}
