//! `blpk info`, `blpk verify`, `blpk estimate`: they only read.

use std::path::Path;

use b2_program::error::chain;
use blosc_io::FileStore;
use bloscpack::{
    BlpFile, Error, Offsets, ReadOptions,
    error::{Corrupt, Field, Part},
    report::VerifyOptions,
};

use crate::{
    fail::{Failure, Result},
    header, pretty, python,
    session::Session,
};

/// Number of offsets that are printed.
const SHOWN: usize = 5;

/// Prints headers, offsets and metadata.
pub(crate) fn info(session: &Session<'_>, path: &Path) -> Result<()> {
    session.say_threads()?;
    let file = open(session, path)?
        .map_err(|error| Failure::new(format!("{}\n{NO_BLP}", complaint(&error))))?;
    let chunk = if file.nchunks()? > 0 { Some(file.packed_chunk(0)?) } else { None };
    let log = &session.log;
    log.normal(&header::text(file.header()))?;
    if let Some(offsets) = file.offsets().filter(|offsets| !offsets.is_empty()) {
        log.normal("'offsets':")?;
        log.normal(&format!("[{},...]", first(offsets)))?;
    }
    if let (Some(header), Some(metadata)) = (file.metadata_header(), file.metadata()) {
        if let Some(value) = metadata.json() {
            log.metadata(value)?;
        }
        log.normal(&header::metadata(header))?;
    }
    chunk.map_or(Ok(()), |chunk| log.normal(&header::chunk(&chunk)))
}

fn first(offsets: &Offsets) -> String {
    let shown: Vec<String> = match offsets.positions() {
        Some(positions) => positions.iter().take(SHOWN).map(u64::to_string).collect(),
        None => (0..offsets.len()).take(SHOWN).map(|_| "-1".to_owned()).collect(),
    };
    shown.join(",")
}

/// Decodes everything.
pub(crate) fn verify(session: &Session<'_>, path: &Path) -> Result<()> {
    session.say_threads()?;
    let file = open(session, path)?.map_err(|error| Failure::from(error).about(path))?;
    let report = file
        .verify(&VerifyOptions { budget: session.budget(), ..VerifyOptions::default() }, |_| {})?;
    for note in &report.notes {
        session.log.normal(&format!("'{}': {note}", path.display()))?;
    }
    if report.is_ok() {
        let data = pretty::double(report.nbytes);
        return session.log.normal(&format!(
            "'{}': OK, {} chunks, {data}",
            path.display(),
            report.nchunks
        ));
    }
    let bad = report.bad.iter().map(|bad| chain(&bad.error));
    let verdict = format!(
        "'{}': {} of {} chunks are good",
        path.display(),
        report.nchunks - report.nbad,
        report.nchunks
    );
    Err(Failure::new(bad.chain([verdict]).collect::<Vec<_>>().join("\n")))
}

/// Prints the size of the data.
pub(crate) fn estimate(session: &Session<'_>, path: &Path) -> Result<()> {
    let file = open(session, path)?.map_err(|error| Failure::from(error).about(path))?;
    session.log.normal(&format!("uncompressed size: {}", pretty::double(file.nbytes()?)))
}

/// Opens a file for random access.
pub(crate) fn open(session: &Session<'_>, path: &Path) -> Result<Result<BlpFile, Error>> {
    if !path.exists() {
        return Err(Failure::new(format!("file '{}' does not exist!", path.display())));
    }
    let options = ReadOptions::default().budget(session.budget());
    let store = FileStore::open(path).map_err(|source| Error::Io { at: 0, source });
    Ok(store.and_then(|store| BlpFile::with_options(store, options)))
}

const NO_BLP: &str = "This might not be a bloscpack compressed file.";

/// The message of Bloscpack 0.16.0 for an error, if it has one.
fn complaint(error: &Error) -> String {
    let Error::Corrupt { what, .. } = error else { return chain(error) };
    match what {
        Corrupt::Truncated { part: Part::Header, needed, left } => {
            // The first 8 bytes reach to the version; the shortest header has 32.
            let needed = if *needed == 8 { 32 } else { *needed };
            format!("attempting to decode a bloscpack header of length '{left}', not '{needed}'")
        }
        Corrupt::Magic { found } => format!(
            "the magic marker b'blpk' is missing from the bloscpack header, instead we found: {}",
            python::bytes_repr(found)
        ),
        Corrupt::Range { field, value, min, max } => {
            format!("'{field}' must be in the range {min} <= n <= {max}, not '{value}'")
        }
        Corrupt::LastLarger { last_chunk, chunksize } => {
            format!("'last_chunk' ({last_chunk}) is larger than 'chunk_size' ({chunksize})")
        }
        Corrupt::ChunkCount { nchunks, max_app_chunks } => format!(
            "'nchunks + max_app_chunks' must be in the range 0 <= n <= {}, not '{}'",
            i64::MAX,
            u128::from(*nchunks) + u128::from(*max_app_chunks)
        ),
        Corrupt::CountUnknown { max_app_chunks: 1.. } => {
            format!("'{}' can not be non '0' if 'nchunks' is '-1'", Field::MaxAppChunks)
        }
        _ => chain(error),
    }
}
