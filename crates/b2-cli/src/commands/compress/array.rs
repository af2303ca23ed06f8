//! `b2 compress` on arrays: `.npy` files, and raw data with a shape and a type.
//!
//! Boxes of whole chunks pass through memory: each chunk is compressed once, in the same memory for
//! any shape.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use b2frame::{NdArray, NdParams, NdWriter, SChunk};
use blosc_dtype::{Dtype, npy::NpyHeader};
use blosc_io::FileStore;

use super::Work;
use crate::{
    args::{CompressedFormat, Shape, TuningArgs, Typesize},
    error::{ByteOrEnd, Doing, Error, Result, message},
    formats::{
        Boxes, Stored,
        stored_array::{BoxSource as Source, count, selection},
    },
    inputs::Data,
    memory,
    output::{Counts, Digest, Digesting},
};

/// The layout of the items, if the input becomes an array. A `.npy` file does, unless options say
/// otherwise.
///
/// # Errors
///
/// When an array was requested, and the input is none.
pub(super) fn layout(
    tuning: &TuningArgs,
    format: Option<CompressedFormat>,
    data: &Data,
) -> Result<Option<NpyHeader>> {
    let sample = data.sample();
    let is_grid = format != Some(CompressedFormat::Blp);
    let is_cut = is_grid && tuning.chunk_size.or(tuning.block_size).is_some();
    let is_bytes = tuning.typesize != Typesize::Auto || is_cut;
    let given = given(tuning, data)?;
    // In these formats the type only tells what lossy filters may change.
    let is_flat = matches!(format, Some(CompressedFormat::B2frame | CompressedFormat::Chunk));
    let wants_array = given.is_some() && !is_flat;
    let wants_array = wants_array || tuning.chunks.is_some() || tuning.blocks.is_some();
    let wants_array = wants_array || format == Some(CompressedFormat::B2nd);
    if wants_array && is_bytes {
        return Err(message::ARRAY_OPTIONS.error());
    }
    match (given, format) {
        (_, Some(CompressedFormat::B2frame | CompressedFormat::Chunk)) => Ok(None),
        (Some((dtype, shape)), _) => Ok(Some(NpyHeader::new(dtype, shape))),
        (None, _) if !sample.starts_with(blosc_dtype::npy::MAGIC) => {
            if wants_array {
                Err(message::INPUT_IS_NO_ARRAY.error())
            } else {
                Ok(None)
            }
        }
        (None, _) if is_bytes => Ok(None),
        (None, Some(CompressedFormat::B2nd)) => Ok(Some(NpyHeader::parse(sample)?)),
        (None, None) if wants_array => Ok(Some(NpyHeader::parse(sample)?)),
        // Objects, several arrays in one file, and headers of newer versions are compressed as
        // bytes.
        (None, None | Some(CompressedFormat::Blp)) => {
            Ok(NpyHeader::parse(sample).ok().filter(|header| is_all(data, header)))
        }
    }
}

/// Type and shape from the options; without a shape, the array has one dimension.
fn given(tuning: &TuningArgs, data: &Data) -> Result<Option<(Dtype, Vec<u64>)>> {
    let Some(dtype) = &tuning.dtype else { return Ok(None) };
    if tuning.shape.is_none() && data.sample().starts_with(blosc_dtype::npy::MAGIC) {
        return Err(message::NPY_HAS_A_TYPE.error());
    }
    let itemsize = (dtype.itemsize() as u64).max(1);
    let shape = match (&tuning.shape, data.len()) {
        (Some(shape), Some(len)) => shape.of_items(len / itemsize),
        (Some(shape), None) if shape.is_open() => return Err(message::OPEN_SHAPE_OF_PIPE.error()),
        (Some(shape), None) => shape.of_items(0),
        (None, Some(len)) => vec![len / itemsize],
        // The length of a pipe is unknown until it ends.
        (None, None) => return Ok(None),
    };
    Ok(Some((dtype.clone(), shape)))
}

impl Work<'_> {
    /// One array in one file.
    pub(super) fn array_to_file(
        &self,
        data: Data,
        file: File,
        target: &Path,
    ) -> Result<(Counts, Digest)> {
        let size = file.try_clone().map_err(Error::io_at(Doing::Create, target))?;
        let (nbytes, digest) = self.array(data, file).map_err(|error| error.of_output(target))?;
        let stored = size.metadata().map_err(Error::io_at(Doing::Write, target))?.len();
        Ok((Counts { frames: 1, nbytes, stored }, digest))
    }

    /// Compares the array in a finished file with its source, box by box.
    pub(super) fn read_array_back(&self, file: File, layout: &NpyHeader) -> Result<()> {
        let options = self.cx.read_options();
        let schunk = SChunk::from_store(Arc::new(FileStore::from_file(file)))?;
        let array = NdArray::from_schunk(schunk)?.budget(options);
        if *array.dtype() != layout.dtype {
            return Err(message::READ_BACK_DIFFERS.error());
        }
        let mut source = self.stored(layout)?;
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let itemsize = layout.dtype.itemsize() as u64;
        for bounds in Boxes::new(&layout.shape, &array.chunkshape(), itemsize, self.budget() / 2) {
            let len = memory::as_len(count(&bounds) * itemsize);
            expected.resize(len, 0);
            found.resize(len, 0);
            source.fill(&bounds, &mut expected)?;
            array.read_bytes(selection(&bounds), &mut found)?;
            if let Some(at) = expected.iter().zip(&found).position(|(a, b)| a != b) {
                let byte = |bytes: &[u8]| ByteOrEnd(bytes.get(at).copied());
                let (expected, found) = (byte(&expected), byte(&found));
                return Err(Error::ReadBack { at: at as u64, expected, found });
            }
        }
        Ok(())
    }

    /// Writes the array to `file`; returns how many bytes its items have, and the digest of those
    /// of a stream.
    fn array(&self, data: Data, file: File) -> Result<(u64, Digest)> {
        let layout = self.layout.as_ref().ok_or(message::INPUT_IS_NO_ARRAY.error())?;
        let expected = layout.nbytes().ok_or(Error::ArrayLen { expected: u64::MAX, found: 0 })?;
        check_len(&data, layout, expected)?;
        let mut writer =
            NdWriter::create_in(Box::new(FileStore::from_file(file)), &self.nd_params(layout)?)?
                .budget(self.cx.read_options());
        let chunkshape = writer.meta().chunkshape().to_vec();
        let itemsize = layout.dtype.itemsize() as u64;
        let boxes = Boxes::new(&layout.shape, &chunkshape, itemsize, self.budget());
        let (needed, limit) = (boxes.nbytes(itemsize), self.cx.memory());
        memory::check(needed, limit)?;
        let stream = data.len().is_none();
        let mut source =
            if stream { stream_of(data, layout, &boxes)? } else { self.stored(layout)? };
        let mut digest = Digest::default();
        let mut items = Vec::new();
        for bounds in boxes {
            items.resize(memory::as_len(count(&bounds) * itemsize), 0);
            source.fill(&bounds, &mut items).map_err(|error| cut_short(error.into(), expected))?;
            if stream && self.args.tuning.verify {
                digest.update(&items);
            }
            writer.write_bytes(selection(&bounds), &items)?;
            self.progress.add(items.len() as u64);
        }
        source.finish(expected)?;
        writer.commit()?;
        Ok((expected, digest))
    }

    /// The parameters of the array, from the options.
    fn nd_params(&self, layout: &NpyHeader) -> Result<NdParams> {
        let (tuning, frame) = (&self.args.tuning, &self.params);
        let mut params =
            NdParams::new(&layout.shape, layout.dtype.clone()).cparams(frame.cparams.clone());
        params.chunkshape = tuning.chunks.as_ref().map(Shape::lens);
        params.blockshape = tuning.blocks.as_ref().map(Shape::lens);
        params.checksums = frame.checksums;
        params.metalayers.clone_from(&frame.metalayers);
        params.vlmetalayers.clone_from(&frame.vlmetalayers);
        Ok(params)
    }

    /// The items in the input, which is a file.
    fn stored(&self, layout: &NpyHeader) -> Result<Source> {
        let path = self.origin.path().ok_or(message::INPUT_IS_NO_ARRAY.error())?;
        let store = Arc::new(FileStore::open(path).map_err(Error::io(Doing::Open))?);
        Ok(Source::File(Stored {
            store,
            start: layout.len as u64,
            shape: layout.shape.clone(),
            itemsize: layout.dtype.itemsize() as u64,
            fortran_order: layout.fortran_order && layout.shape.len() > 1,
        }))
    }

    /// Bytes of a box. Its compressed chunks and the memory of the threads come on top.
    fn budget(&self) -> u64 {
        self.cx.memory() / 4
    }
}

/// A pipe, or a device, from its first item on.
fn stream_of(data: Data, layout: &NpyHeader, boxes: &Boxes) -> Result<Source> {
    if layout.fortran_order && layout.shape.len() > 1 {
        return Err(message::FORTRAN_PIPE.error());
    }
    if !boxes.are_row_ranges() {
        return Err(message::ROWS_EXCEED_MEMORY.error());
    }
    let mut reader = Digesting::new(data.into_reader(), false);
    let mut header = vec![0; layout.len];
    reader.read_exact(&mut header).map_err(Error::io(Doing::Read))?;
    Ok(Source::Stream(Box::new(reader)))
}

/// Whether the file holds this array and nothing else.
fn is_all(data: &Data, layout: &NpyHeader) -> bool {
    let whole = layout.nbytes().and_then(|nbytes| nbytes.checked_add(layout.len as u64));
    layout.dtype.itemsize() > 0 && data.len().is_none_or(|len| Some(len) == whole)
}

/// Checks that a file has exactly the bytes that its header promises.
pub(super) fn check_len(data: &Data, layout: &NpyHeader, expected: u64) -> Result<()> {
    match data.len().map(|len| len.saturating_sub(layout.len as u64)) {
        Some(found) if found != expected => Err(Error::ArrayLen { expected, found }),
        _ => Ok(()),
    }
}

/// Rewords the error of a pipe that ends too early, which is no failure of a disk.
fn cut_short(error: Error, expected: u64) -> Error {
    match error {
        Error::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof => {
            Error::ArrayCut { expected }
        }
        other => other,
    }
}
