//! `b2 cat`: the content to standard output, all of it or a range.

use core::ops::Range;

use crate::inputs::Place;
use crate::{
    args::{
        CatArgs, Span,
        slice::{self, Slice},
    },
    commands::content::{self, grid::Grid, values},
    context::Context,
    error::{Error, Result, message},
    exit::Code,
    formats::store,
    inputs::{
        before_damage::Reading,
        decoded::{self, Guard},
        object::Object,
        object_reader::ObjectReader,
        origin::{self, Origin},
        walk,
    },
    output::{Digest, Sink},
    render::progress::Progress,
};

/// Writes the inputs one after the other.
pub(crate) fn run(args: &CatArgs, cx: &Context) -> Code {
    if let Some(error) = slice::misplaced(&args.inputs.files) {
        return cx.refuse(&error);
    }
    let inputs = cx.find(&args.inputs, &walk::called_ours);
    cx.run_on_inputs(inputs, |origin| write_input(args, cx, origin))
}

fn write_input(args: &CatArgs, cx: &Context, origin: &Origin) -> Result<()> {
    if let Some(slice) = &args.slice {
        return write_slice(args, cx, origin, slice);
    }
    if origin::is_npy(origin) {
        return write_npy(args, cx, origin);
    }
    // Readers of other formats take a lock, or keep the state that they have opened.
    let is_sparse = origin.place().is_some_and(Place::is_sparse_frame);
    let mut out = Output::new(Sink::stdout_for_text(args.force), is_sparse);
    for _ in 0..MAX_RESTARTS {
        match write_objects(args, cx, origin, &mut out) {
            Err(error) if is_changed_meanwhile(&error) && is_sparse => out.restart(),
            done => return done.and_then(|()| out.finish()),
        }
    }
    write_objects(args, cx, origin, &mut out).and_then(|()| out.finish())
}

/// Attempts to read one state of a sparse frame that another program keeps changing.
const MAX_RESTARTS: usize = 100;

/// Whether a chunk is missing because a sparse frame was changed twice since it was opened.
fn is_changed_meanwhile(error: &Error) -> bool {
    matches!(error, Error::Frame(b2frame::Error::Outdated { .. }))
}

/// Standard output that takes the same content again after a restart: bytes that it has written
/// already are compared instead.
struct Output {
    sink: Sink,
    /// Whether the content may have to be written again, and is hashed for that.
    is_hashed: bool,
    /// The digest of the written data.
    digest: Digest,
    written: u64,
    /// The digest of repeated data, and how many bytes of them are still to come.
    again: Digest,
    left: u64,
}

impl Output {
    fn new(sink: Sink, is_hashed: bool) -> Self {
        let (digest, again) = (Digest::default(), Digest::default());
        Self { sink, is_hashed, digest, written: 0, again, left: 0 }
    }

    /// Starts over: the content comes again from its first byte.
    fn restart(&mut self) {
        self.again = Digest::default();
        self.left = self.written;
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let (known, new) =
            bytes.split_at(usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len()));
        if !known.is_empty() {
            self.again.update(known);
            self.left -= known.len() as u64;
            if self.left == 0 && self.again != self.digest {
                return Err(message::CHANGED_WHILE_READ.error());
            }
        }
        if self.is_hashed {
            self.digest.update(new);
            self.written += new.len() as u64;
        }
        self.sink.write(new)
    }

    fn finish(self) -> Result<()> {
        match self.left {
            0 => self.sink.finish(),
            _ => Err(message::CHANGED_WHILE_READ.error()),
        }
    }
}

fn write_objects(args: &CatArgs, cx: &Context, origin: &Origin, out: &mut Output) -> Result<()> {
    let mut objects = open(args, cx, origin, out)?;
    let first = next(args, cx, &mut objects, out)?;
    let mut selection = Selection::new(args, first.as_ref());
    let mut guard = Guard::new(args.limits);
    if let Some(Object::Frame(schunk)) = &first {
        let name = origin.name();
        store::refuse_recipe(schunk, &name)?;
    }
    if selection.span.counts_from_the_end() {
        // The end must be known before the first byte can be chosen.
        let mut all: Vec<Object> = first.into_iter().collect();
        while let Some(object) = objects.next()? {
            all.push(object);
        }
        selection.settle(&all)?;
        all.iter().try_for_each(|object| selection.write(object, &mut guard, cx, out))
    } else {
        let mut next = first;
        let progress = Progress::new(&cx.console, &origin.name(), objects.input_len());
        while let Some(object) = next.filter(|_| !selection.is_done()) {
            selection.write(&object, &mut guard, cx, out)?;
            progress.add(object.stored());
            next = self::next(args, cx, &mut objects, out)?;
        }
        objects.warn_of_trailing(&cx.console, &origin.name());
        Ok(())
    }
}

/// Writes a part of each array of an input, in C order and bounded memory.
fn write_slice(args: &CatArgs, cx: &Context, origin: &Origin, slice: &Slice) -> Result<()> {
    let sources = content::open_to_look(cx, origin)?;
    let mut out = Sink::stdout_for_text(args.force);
    let mut guard = Guard::new(args.limits);
    for source in sources {
        let stored = source.stored();
        let grid = Grid::new(cx, origin, None, vec![source])?;
        let axes = values::axes(&slice.in_dims(grid.shape().len()), grid.shape())?;
        let itemsize = grid.dtype().itemsize() as u64;
        let nitems = axes.iter().fold(1u64, |nitems, axis| nitems.saturating_mul(axis.len));
        guard.admit_bytes(nitems.saturating_mul(itemsize), stored)?;
        grid.for_each_band(&axes, cx.memory() / 4, &mut |bytes| out.write(bytes))?;
    }
    out.finish()
}

/// Writes the items of a file of NumPy, in C order, or a range of them.
fn write_npy(args: &CatArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let mut out = Sink::stdout_for_text(args.force);
    for source in content::open_to_look(cx, origin)? {
        let unit = if args.items.is_some() { source.typesize() as u64 } else { 1 };
        let span = args.items.or(args.bytes).unwrap_or(Span::ALL);
        let wanted = span.within(source.nbytes()? / unit);
        let (start, end) = (wanted.start.saturating_mul(unit), wanted.end.saturating_mul(unit));
        let mut at = 0u64;
        source.in_c_order(&cx.read_options(), cx.memory() / 4, &mut |bytes| {
            let inside = |end: u64| {
                usize::try_from(end.saturating_sub(at)).map_or(bytes.len(), |n| n.min(bytes.len()))
            };
            let range = inside(start)..inside(end);
            at = at.saturating_add(bytes.len() as u64);
            out.write(bytes.get(range).unwrap_or_default())
        })?;
    }
    out.finish()
}

/// Opens the objects of an input. If a store does not open, the content before the damage is
/// written.
fn open(args: &CatArgs, cx: &Context, origin: &Origin, out: &mut Output) -> Result<ObjectReader> {
    match ObjectReader::open(origin, cx.read_params()) {
        Err(error) if is_all(args) => {
            let reading = Reading { cx, limits: args.limits };
            Err(reading.store(origin, error, &mut |bytes| out.write(bytes))?)
        }
        opened => opened,
    }
}

/// The next object. If it does not open, the content before the damage is written.
fn next(
    args: &CatArgs,
    cx: &Context,
    objects: &mut ObjectReader,
    out: &mut Output,
) -> Result<Option<Object>> {
    match objects.next() {
        Err(error) if is_all(args) => {
            let Some(damaged) = objects.damaged() else { return Err(error) };
            let reading = Reading { cx, limits: args.limits };
            Err(reading.object(&damaged, error, &mut |bytes| out.write(bytes))?)
        }
        found => found,
    }
}

/// Whether the whole content is wanted.
fn is_all(args: &CatArgs) -> bool {
    args.items.is_none() && args.bytes.is_none()
}

/// The selected range of the objects of an input, which count as one content.
struct Selection {
    span: Span,
    /// Bytes of the unit that the span counts.
    unit: u64,
    counts_items: bool,
    /// The span in units, once its ends are known.
    wanted: Range<u64>,
    /// Bytes of content before the next object.
    at: u64,
}

impl Selection {
    fn new(args: &CatArgs, first: Option<&Object>) -> Self {
        let typesize = first.map_or(1, |object| object.typesize());
        let span = args.items.or(args.bytes).unwrap_or(Span::ALL);
        let counts_items = args.items.is_some();
        let unit = if counts_items { typesize } else { 1 };
        Self { span, unit, counts_items, wanted: span.within(u64::MAX), at: 0 }
    }

    /// Finds the ends of the span in all objects.
    fn settle(&mut self, objects: &[Object]) -> Result<()> {
        let nbytes = objects.iter().map(decoded::nbytes).sum::<Result<u64>>()?;
        self.wanted = self.span.within(nbytes / self.unit);
        Ok(())
    }

    /// Whether the range ends before the next object.
    fn is_done(&self) -> bool {
        self.at >= self.bytes().end
    }

    /// The wanted bytes of the whole content.
    fn bytes(&self) -> Range<u64> {
        self.wanted.start.saturating_mul(self.unit)..self.wanted.end.saturating_mul(self.unit)
    }

    /// Writes the selected part of the next object.
    fn write(
        &mut self,
        object: &Object,
        guard: &mut Guard,
        cx: &Context,
        out: &mut Output,
    ) -> Result<()> {
        let typesize = object.typesize();
        if self.counts_items && typesize != self.unit {
            return Err(Error::MixedTypesize { first: self.unit, other: typesize });
        }
        let (nbytes, wanted) = (decoded::nbytes(object)?, self.bytes());
        let inside = |end: u64| end.saturating_sub(self.at).min(nbytes);
        let range = inside(wanted.start)..inside(wanted.end);
        self.at = self.at.saturating_add(nbytes);
        // Data outside of the range need no decoding.
        match range == (0..nbytes) {
            true => guard.admit(object)?,
            false => guard.admit_bytes(range.end - range.start, object.stored())?,
        }
        decoded::part(object, range, &cx.read_options(), &mut |bytes| out.write(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs::File, path::Path};

    fn output(dir: &Path) -> Output {
        let path = dir.join("out");
        Output::new(Sink::file(File::create(&path).unwrap(), &path), true)
    }

    #[test]
    fn content_that_comes_again_is_written_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut out = output(dir.path());
        out.write(b"abc").unwrap();
        out.write(b"de").unwrap();
        out.restart();
        out.write(b"a").unwrap();
        // And breaks off once more.
        out.restart();
        out.write(b"abcd").unwrap();
        out.write(b"efg").unwrap();
        out.finish().unwrap();
        assert_eq!(std::fs::read(dir.path().join("out")).unwrap(), b"abcdefg");
    }

    #[test]
    fn other_content_or_less_of_it_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut out = output(dir.path());
        out.write(b"abc").unwrap();
        out.restart();
        out.write(b"abd").unwrap_err();
        let mut out = output(dir.path());
        out.write(b"abc").unwrap();
        out.restart();
        out.write(b"ab").unwrap();
        out.finish().unwrap_err();
    }
}
