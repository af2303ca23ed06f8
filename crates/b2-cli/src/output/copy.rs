//! Objects copied as they are, from file to file.

use blosc_io::ReadAt;

use super::{Sink, Staged, Target};
use crate::{
    args::OutputArgs,
    context::Context,
    error::{Doing, Error, Result, message},
    inputs::{
        Object,
        object_reader::{Found, FoundKind},
    },
};

/// Bytes that are copied at a time.
const COPY_NBYTES: usize = 1 << 20;

/// Counts of a copy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Copied {
    pub(crate) objects: u64,
    pub(crate) nbytes: u64,
}

impl Copied {
    pub(crate) fn add(&mut self, more: Self) {
        self.objects += more.objects;
        self.nbytes += more.nbytes;
    }
}

/// Runs `work` into a target, which appears when `work` is complete.
///
/// # Errors
///
/// When the target cannot be written, or the error of `work`.
pub(crate) fn write<T>(
    cx: &Context,
    output: &OutputArgs,
    target: &Target,
    work: impl FnOnce(&mut Sink) -> Result<T>,
) -> Result<T> {
    let mut sink = match target {
        Target::Stdout => Sink::stdout(output.force)?,
        Target::Device(path) => Sink::device(path)?,
        Target::File(path) => {
            let staged = Staged::create(path, output.into(), &cx.unfinished)?;
            let mut sink = Sink::file(staged.handle()?, path);
            let done = work(&mut sink).map_err(|error| error.of_output(path))?;
            sink.finish()?;
            staged.commit(None)?;
            return Ok(done);
        }
    };
    let done = work(&mut sink)?;
    sink.finish()?;
    Ok(done)
}

/// Copies the bytes of an object that is one piece of a file.
///
/// # Errors
///
/// When the object is not one piece, or cannot be read or written.
pub(crate) fn copy(found: &Found, object: &Object, sink: &mut Sink) -> Result<Copied> {
    let is_one_piece = match object {
        Object::Frame(schunk) => {
            found.kind == FoundKind::Frame && !crate::inputs::object::is_sparse(schunk)
        }
        Object::Chunk(chunk) => !chunk.header().is_lazy(),
        // Copying must not lose a journal: only its own reader undoes an interrupted change.
        Object::Blp(blp) => !blp.file.is_interrupted(),
        Object::Bcolz(_) | Object::Table(_) | Object::Opened(_) => false,
    };
    if !is_one_piece {
        return Err(message::NOT_ONE_PIECE.error());
    }
    let nbytes = match object {
        Object::Blp(blp) => {
            let len = found.store.len().map_err(Error::io(Doing::Read))?;
            len.saturating_sub(found.at).saturating_sub(blp.file.trailing_bytes()?)
        }
        _ => object.stored(),
    };
    copy_range(&*found.store, found.at, nbytes, sink)?;
    Ok(Copied { objects: 1, nbytes })
}

fn copy_range(store: &dyn ReadAt, start: u64, nbytes: u64, sink: &mut Sink) -> Result<()> {
    let mut buffer = vec![0; COPY_NBYTES];
    let mut done = 0;
    while done < nbytes {
        let len = usize::try_from(nbytes - done).map_or(COPY_NBYTES, |left| left.min(COPY_NBYTES));
        let piece = buffer.get_mut(..len).unwrap_or_default();
        store.read_exact_at(start.saturating_add(done), piece).map_err(Error::io(Doing::Read))?;
        sink.write(piece)?;
        done += len as u64;
    }
    Ok(())
}
