//! The positions of chunks in a container of any program, found by this workspace's readers.

use core::ops::Range;

use super::{Files, StoredChunk, bloscpack, frames};
use crate::failure::{Result, fail};

/// The chunks of a contiguous frame.
///
/// # Errors
///
/// The files hold no such container.
pub fn of_frame(files: &Files) -> Result<Vec<StoredChunk>> {
    frames::chunks_of_file(files.bytes())
}

/// The chunks of a frame that takes these bytes of a file.
///
/// # Errors
///
/// The files hold no such container.
pub fn of_frame_in(files: &Files, name: &str, place: Range<usize>) -> Result<Vec<StoredChunk>> {
    let nfile = if files.is_one_file() { Some(0) } else { position(files, name) };
    let Some(nfile) = nfile else { return fail(format!("no file {name}")) };
    of_frame_at(files, nfile, place)
}

/// The chunks of a frame that takes these bytes of the file with this number.
pub(super) fn of_frame_at(
    files: &Files,
    nfile: usize,
    place: Range<usize>,
) -> Result<Vec<StoredChunk>> {
    let mut chunks = frames::chunks_of_file(&files.0[nfile].1[place.clone()])?;
    for chunk in &mut chunks {
        let stored = chunk.stored.start + place.start..chunk.stored.end + place.start;
        (chunk.nfile, chunk.stored) = (nfile, stored);
    }
    Ok(chunks)
}

/// The chunks of a sparse frame.
///
/// # Errors
///
/// The files hold no such container.
pub fn of_sparse_frame(files: &Files) -> Result<Vec<StoredChunk>> {
    frames::chunks_of_tree(files)
}

/// The chunks of a Bloscpack file.
///
/// # Errors
///
/// The files hold no such container.
pub fn of_blp(files: &Files) -> Result<Vec<StoredChunk>> {
    bloscpack::chunks_of(files)
}

/// The chunks of bcolz arrays in these directories, each with a file for every chunk.
///
/// # Errors
///
/// The files hold no such container.
pub fn of_bcolz(files: &Files, columns: &[&str]) -> Result<Vec<StoredChunk>> {
    let mut chunks = vec![];
    for column in columns {
        let file = |number: usize| {
            let name = blosc_io::tree::join(column, &format!("data/__{number}.blp"));
            position(files, &name).map(|nfile| (number, nfile))
        };
        chunks.extend((0..).map_while(file).map(|(number, nfile)| {
            let stored = 0..files.0[nfile].1.len();
            StoredChunk { number, nfile, stored, data: vec![] }
        }));
    }
    Ok(chunks)
}

fn position(files: &Files, name: &str) -> Option<usize> {
    files.0.iter().position(|(path, _)| path == name)
}
