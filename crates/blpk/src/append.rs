//! `blpk append`.

use std::{
    ffi::OsString,
    io::{self, Seek},
};

use b2_program::path::is_same_file;
use bloscpack::{AppendOptions, BlpFile, Header, LockWait, LockedFile, ReadOptions, append};

use crate::{
    args::{AppendArgs, verb_of},
    compress::{cparams, divided, smaller},
    fail::{Failure, Result},
    files::{self, SUFFIX, is_stream},
    look, pretty,
    session::Session,
};

/// Appends one file to another, in place; a crash leaves it as it was.
pub(crate) fn run(session: &Session<'_>, argv: &[OsString], args: &AppendArgs) -> Result<()> {
    let log = session.log;
    let (original, new) = (&args.original_file, &args.new_file);
    let cparams = cparams(&args.blosc, verb_of(argv))?;
    session.greet("append")?;
    check(args)?;
    log.verbose(&format!("original file is: '{}'", original.display()))?;
    log.verbose(&format!("new file is: '{}'", new.display()))?;
    let metadata = files::metadata(args.metadata.as_deref())?;
    let (mut source, nbytes) = files::open(new)?;
    let nbytes = match nbytes {
        Some(nbytes) => nbytes,
        None => {
            let mut spooled = tempfile::tempfile()?;
            let nbytes = io::copy(&mut source, &mut spooled)?;
            spooled.rewind()?;
            source = Box::new(spooled);
            nbytes
        }
    };
    // Other processes append before or afterwards.
    let mut store = match LockedFile::open(original, &LockWait::default()) {
        Err(bloscpack::Error::Io { source, .. } | bloscpack::Error::Open { source }) => {
            return Err(Failure::io(original)(source));
        }
        opened => opened?,
    };
    let file = look::open(session, original)??;
    log.verbose(&format!("orig file size before append: {}", pretty::double(file.file_len())))?;
    log.verbose(&format!("new file size: {}", pretty::double(nbytes)))?;
    say_division(session, &file, nbytes)?;
    drop(file);
    let options = AppendOptions::default()
        .cparams(Some(cparams))
        .metadata(metadata)
        .read(ReadOptions::default().budget(session.budget()));
    let bar = session.progress(original, Some(nbytes));
    let report = append(&mut store, bar.meter(source), nbytes, &options)?;
    drop(bar);
    log.debug(&crate::header::text(&report.header))?;
    log.verbose(&format!("orig file size after append: {}", pretty::double(report.len)))?;
    if nbytes == 0 {
        return Ok(());
    }
    #[expect(clippy::cast_precision_loss, reason = "six decimals are printed")]
    let ratio = (report.len as f64 - report.len_before as f64) / nbytes as f64;
    log.verbose(&format!("Approximate compression ratio of appended data: {ratio:.6}"))
}

fn check(args: &AppendArgs) -> Result<()> {
    let (original, new) = (&args.original_file, &args.new_file);
    if !args.no_check_extension && files::without_suffix(original).is_none() {
        let text = format!("original file '{}' does not end with '{SUFFIX}'", original.display());
        return Err(Failure::new(text));
    }
    if !original.exists() {
        return Err(Failure::new(format!(
            "original file '{}' does not exist!",
            original.display()
        )));
    }
    if !is_stream(new) && !new.exists() {
        return Err(Failure::new(format!("new file '{}' does not exist!", new.display())));
    }
    if is_same_file(original, new) {
        return Err(Failure::new(format!("new file '{}' is original_file itself", new.display())));
    }
    Ok(())
}

/// The division of the data after the last chunk, if there are any.
fn say_division(session: &Session<'_>, file: &BlpFile, nbytes: u64) -> Result<()> {
    let header: &Header = file.header();
    let (Some(chunk_size @ 1..), Some(last)) = (header.chunksize(), header.last_chunk()) else {
        return Ok(());
    };
    let room = u64::from(chunk_size.saturating_sub(last));
    let Some(rest @ 1..) = nbytes.checked_sub(room) else { return Ok(()) };
    let size = u64::from(chunk_size).min(rest);
    if u64::from(chunk_size) > rest {
        session.log.verbose(&smaller(chunk_size.into(), rest))?;
    }
    let last = u32::try_from((rest - 1) % size + 1).unwrap_or(u32::MAX);
    divided(session, rest.div_ceil(size), u32::try_from(size).unwrap_or(u32::MAX), last)
}
