//! `b2 cat`: the content to standard output, all of it or a range.

use core::ops::Range;

use b2frame::SChunk;

use crate::{
    args::CatArgs,
    content::{self, Guard},
    context::Context,
    error::{Error, Result},
    exit::Code,
    frames::Frames,
    input::{self, Origin},
    progress::Progress,
    sink::Sink,
    span::Span,
};

/// Writes each input behind the other.
pub(crate) fn run(args: &CatArgs, cx: &Context) -> Code {
    let inputs = input::find(&args.inputs, &input::has_frame_suffix);
    cx.each(inputs, |origin| one(args, cx, origin))
}

fn one(args: &CatArgs, cx: &Context, origin: &Origin) -> Result<()> {
    let mut frames = Frames::open(origin, cx.dparams())?;
    let first = frames.next()?;
    let mut out = Sink::stdout_for_text(args.force);
    let mut selection = Selection::new(args, first.as_ref());
    let mut guard = Guard::new(args.limits);
    let done = if selection.span.counts_from_the_end() {
        // The end must be known before the first byte can be chosen.
        let mut all: Vec<SChunk> = first.into_iter().collect();
        while let Some(schunk) = frames.next()? {
            all.push(schunk);
        }
        selection.settle(&all)?;
        all.iter().try_for_each(|schunk| selection.write(schunk, &mut guard, cx, &mut out))
    } else {
        let mut next = first;
        let progress = Progress::new(&cx.console, &origin.name(), frames.input_len());
        while let Some(schunk) = next.filter(|_| !selection.is_done()) {
            selection.write(&schunk, &mut guard, cx, &mut out)?;
            progress.add(schunk.frame_len());
            next = frames.next()?;
        }
        Ok(())
    };
    done.and_then(|()| out.finish())
}

/// What is wanted of the frames of an input, which count as one content.
struct Selection {
    span: Span,
    /// Bytes of what the span counts.
    unit: u64,
    counts_items: bool,
    /// The span in units, once its ends are known.
    wanted: Range<u64>,
    /// Bytes of content before the next frame.
    at: u64,
}

impl Selection {
    fn new(args: &CatArgs, first: Option<&SChunk>) -> Self {
        let typesize = first.map_or(1, |schunk| schunk.typesize() as u64);
        let span = args.items.or(args.bytes).unwrap_or(Span::ALL);
        let counts_items = args.items.is_some();
        let unit = if counts_items { typesize } else { 1 };
        Self { span, unit, counts_items, wanted: span.within(u64::MAX), at: 0 }
    }

    /// Finds the ends of the span in all frames.
    fn settle(&mut self, frames: &[SChunk]) -> Result<()> {
        let nbytes = frames.iter().map(content::nbytes).sum::<Result<u64>>()?;
        self.wanted = self.span.within(nbytes / self.unit);
        Ok(())
    }

    /// Nothing more is wanted.
    fn is_done(&self) -> bool {
        self.at >= self.bytes().end
    }

    /// The wanted bytes of the whole content.
    fn bytes(&self) -> Range<u64> {
        self.wanted.start.saturating_mul(self.unit)..self.wanted.end.saturating_mul(self.unit)
    }

    /// Writes what is wanted of the next frame.
    fn write(&mut self, schunk: &SChunk, guard: &mut Guard, cx: &Context, out: &mut Sink) -> Result<()> {
        guard.admit(schunk)?;
        let typesize = schunk.typesize() as u64;
        if self.counts_items && typesize != self.unit {
            return Err(Error::MixedTypesize { first: self.unit, other: typesize });
        }
        let (nbytes, wanted) = (content::nbytes(schunk)?, self.bytes());
        let place = |end: u64| end.saturating_sub(self.at).min(nbytes);
        let range = place(wanted.start)..place(wanted.end);
        self.at = self.at.saturating_add(nbytes);
        content::part(schunk, range, &cx.read_options(), &mut |bytes| out.write(bytes))
    }
}
