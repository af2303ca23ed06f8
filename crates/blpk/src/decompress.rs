//! `blpk decompress`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use b2_program::{SinkWriter, Span};
use bloscpack::{BlpFile, Metadata, ReadOptions, Reader, metadata::MetadataCodec};

use crate::{
    args::DecompressArgs,
    fail::{Failure, Result},
    files::{self, Output, SUFFIX, Sink, is_stream},
    look, pretty, python,
    session::Session,
};

/// Decompresses a file, or a part of it.
pub(crate) fn run(session: &Session<'_>, args: &DecompressArgs) -> Result<()> {
    let log = session.log;
    let early = is_stream(&args.in_file) && args.out_file.is_none();
    if early || args.out_file.as_deref().is_some_and(is_stream) {
        log.leave_stdout();
    }
    session.greet("decompression")?;
    let out_file = out_file(args)?;
    files::check(session, &args.in_file, &out_file)?;
    let output = Output::create(session, &out_file)?;
    let mut sink = output.sink(session, &out_file)?;
    let from = if is_stream(&args.in_file) { from_pipe } else { from_file };
    let metadata = from(session, args, &mut sink)?;
    sink.finish()?;
    output.commit(&args.in_file)?;
    report(session, &args.in_file, &out_file)?;
    if let (Some(path), Some(metadata)) = (&args.metadata, &metadata) {
        save(session, path, metadata)?;
    }
    match metadata.as_ref().and_then(Metadata::json).filter(|value| python::is_true(value)) {
        Some(value) => log.metadata(value),
        None => Ok(()),
    }
}

/// The name of the output.
fn out_file(args: &DecompressArgs) -> Result<PathBuf> {
    let in_file = &args.in_file;
    if is_stream(in_file) {
        return Ok(args.out_file.clone().unwrap_or_else(|| "-".into()));
    }
    if args.no_check_extension {
        let missing = || Failure::new("--no-check-extension requires use of <out_file>");
        return args.out_file.clone().ok_or_else(missing);
    }
    let stem = files::without_suffix(in_file).ok_or_else(|| {
        Failure::new(format!("input file '{}' does not end with '{SUFFIX}'", in_file.display()))
    })?;
    Ok(args.out_file.clone().unwrap_or(stem))
}

fn from_pipe(
    session: &Session<'_>,
    args: &DecompressArgs,
    out: &mut Sink,
) -> Result<Option<Metadata>> {
    if args.items.or(args.bytes).is_some() {
        return Err(Failure::usage("decompress", "--items and --bytes need a file"));
    }
    let bar = session.progress(&args.in_file, None);
    let options = ReadOptions::default().budget(session.budget());
    let mut reader = Reader::with_options(bar.meter(io::stdin().lock()), options)?;
    let metadata = reader.metadata().cloned();
    say_metadata(session, metadata.as_ref())?;
    while let Some(data) = reader.next_data()? {
        out.write(data)?;
    }
    Ok(metadata)
}

fn from_file(
    session: &Session<'_>,
    args: &DecompressArgs,
    out: &mut Sink,
) -> Result<Option<Metadata>> {
    let file = look::open(session, &args.in_file)??;
    session.log.verbose(&format!("input file size: {}", pretty::size(file.file_len())))?;
    say_metadata(session, file.metadata())?;
    session.log.debug(&crate::header::text(file.header()))?;
    let bar = session.progress(&args.in_file, file.header().nbytes());
    match (args.items, args.bytes) {
        (None, None) => {
            let mut count = |nbytes| bar.add(nbytes);
            let mut to = SinkWriter::new(out, &mut count);
            let copied = file.copy_to(0..file.nchunks()?, &mut to);
            to.check()?;
            copied?;
        }
        (Some(items), _) => part(&file, items, file.header().typesize().unwrap_or(1).into(), out)?,
        (None, Some(bytes)) => part(&file, bytes, 1, out)?,
    }
    Ok(file.metadata().cloned())
}

/// Writes the items that `span` selects, each of `unit` bytes.
fn part(file: &BlpFile, span: Span, unit: u64, out: &mut Sink) -> Result<()> {
    let unit = unit.max(1);
    let wanted = span.within(file.nbytes()? / unit);
    let range = wanted.start * unit..wanted.end * unit;
    file.decode_range(range, file.options().budget.clone(), |bytes| out.write(bytes))
}

fn say_metadata(session: &Session<'_>, metadata: Option<&Metadata>) -> Result<()> {
    let Some(metadata) = metadata else { return Ok(()) };
    let header = metadata.header();
    let how = if header.codec() == MetadataCodec::None { "uncompressed" } else { "compressed" };
    session.log.verbose(&format!("read {how} metadata of size: '{}'", header.meta_comp_size()))
}

fn report(session: &Session<'_>, in_file: &Path, out_file: &Path) -> Result<()> {
    if is_stream(out_file) || is_stream(in_file) {
        return Ok(());
    }
    let (stored, nbytes) = (fs::metadata(in_file)?.len(), fs::metadata(out_file)?.len());
    session.log.verbose(&format!("output file size: {}", pretty::size(nbytes)))?;
    session.log.verbose(&format!("decompression ratio: {}", pretty::ratio(nbytes, stored)))
}

/// Writes metadata unchanged.
fn save(session: &Session<'_>, path: &Path, metadata: &Metadata) -> Result<()> {
    if path.exists() && !session.force {
        return Err(Failure::new(format!("output file '{}' exists!", path.display())));
    }
    let output = Output::create(session, path)?;
    let mut sink = output.sink(session, path)?;
    sink.write(metadata.text())?;
    sink.write(b"\n")?;
    sink.finish()?;
    output.commit(Path::new(""))
}
