//! `blpk compress`.

use std::{
    ffi::OsString,
    fs,
    io::{Read, Write},
    path::Path,
};

use b2_program::SinkWriter;
use blosc_chunk::{CParams, FilterId, Pipeline};
use bloscpack::{WriteOptions, Writer, params::Reserve};

use crate::{
    args::{BloscArgs, CompressArgs, verb_of},
    fail::Result,
    files::{self, Output, Sink, is_stream},
    header, pretty,
    session::Session,
};

/// Compresses a file.
///
/// The number of chunks of a pipe is unknown before its end, and so there are no offsets. The
/// header of an output pipe cannot be rewritten, and then states that the number of chunks is
/// unknown: release 0.16.0 decodes this file to nothing.
pub(crate) fn run(session: &Session<'_>, argv: &[OsString], args: &CompressArgs) -> Result<()> {
    let log = session.log;
    let verb = verb_of(argv);
    let (chunk_size, checksum) = (args.chunk_size(argv)?, args.checksum(verb)?);
    let cparams = cparams(&args.blosc, verb)?;
    let default =
        || if is_stream(&args.in_file) { "-".into() } else { files::with_suffix(&args.in_file) };
    let out_file = args.out_file.clone().unwrap_or_else(default);
    if is_stream(&out_file) {
        log.leave_stdout();
    }
    session.greet("compression")?;
    files::check(session, &args.in_file, &out_file)?;
    let metadata = files::metadata(args.metadata.as_deref())?;
    let (source, nbytes) = files::open(&args.in_file)?;
    if let Some(nbytes) = nbytes {
        log.verbose(&format!("input file size: {}", pretty::double(nbytes)))?;
        if nbytes > 0 && u64::from(chunk_size) > nbytes {
            log.verbose(&smaller(chunk_size.into(), nbytes))?;
        }
    }
    let output = Output::create(session, &out_file)?;
    let can_seek = matches!(output, Output::File(_));
    let options = WriteOptions::default()
        .chunksize(chunk_size)
        .checksum(checksum)
        .offsets(!args.no_offsets && can_seek && nbytes.is_some())
        .reserve(args.max_app_chunks.map_or(Reserve::default(), Reserve::Entries))
        .metadata(metadata)
        .cparams(cparams)
        .nbytes(nbytes)
        .budget(session.budget());
    let progress = session.progress(&args.in_file, nbytes);
    let source = progress.meter(source);
    match &output {
        Output::Stdout => {
            let mut sink = Sink::stdout(session.force)?;
            let mut count = |_| {};
            let mut to = SinkWriter::new(&mut sink, &mut count);
            let packed = pack(session, source, Writer::new(&mut to, options)?).map(|_| ());
            to.check()?;
            packed?;
            sink.finish()?;
        }
        Output::File(staged) => {
            pack(session, source, Writer::seekable(staged.handle()?, options)?)?;
        }
    }
    drop(progress);
    output.commit(&args.in_file)?;
    report(session, nbytes, &out_file)
}

fn pack<W: Write + Send>(
    session: &Session<'_>,
    mut source: impl Read + Send,
    mut writer: Writer<W>,
) -> Result<W> {
    let header = writer.header();
    if let (Some(nchunks), Some(1..)) = (header.nchunks(), header.nbytes()) {
        let (chunk_size, last) =
            (header.chunksize().unwrap_or(0), header.last_chunk().unwrap_or(0));
        divided(session, nchunks, chunk_size, last)?;
    }
    session.log.debug(&header::text(header))?;
    writer.copy_from(&mut source)?;
    Ok(writer.finish()?)
}

fn report(session: &Session<'_>, nbytes: Option<u64>, out_file: &Path) -> Result<()> {
    if is_stream(out_file) {
        return Ok(());
    }
    let stored = fs::metadata(out_file)?.len();
    session.log.verbose(&format!("output file size: {}", pretty::double(stored)))?;
    let Some(nbytes) = nbytes else { return Ok(()) };
    session.log.verbose(&format!("compression ratio: {}", pretty::ratio(nbytes, stored)))
}

/// The division of the data, in three lines.
pub(crate) fn divided(
    session: &Session<'_>,
    nchunks: u64,
    chunk_size: u32,
    last_chunk: u32,
) -> Result<()> {
    let log = session.log;
    log.verbose(&format!("nchunks: {nchunks}"))?;
    log.verbose(&format!("chunk_size: {}", pretty::double(chunk_size.into())))?;
    log.verbose(&format!("last_chunk_size: {}", pretty::double(last_chunk.into())))
}

/// The message for data below one chunk.
pub(crate) fn smaller(chunk_size: u64, nbytes: u64) -> String {
    format!(
        "Input was smaller than the given 'chunk_size': {} using: {}",
        pretty::double(chunk_size),
        pretty::double(nbytes)
    )
}

/// The options for chunks.
pub(crate) fn cparams(args: &BloscArgs, verb: &'static str) -> Result<CParams> {
    let filter = match (args.no_shuffle, args.bitshuffle) {
        (true, _) => Pipeline::EMPTY,
        (_, true) => bitshuffle(),
        _ => Pipeline::SHUFFLE,
    };
    Ok(WriteOptions::default()
        .cparams
        .codec(args.codec(verb)?)
        .clevel(args.level(verb)?)
        .typesize(args.typesize(verb)?.into())
        .filters(filter))
}

fn bitshuffle() -> Pipeline {
    Pipeline::from_slots([0, 0, 0, 0, 0, FilterId::BITSHUFFLE.0], [0; 6])
}
