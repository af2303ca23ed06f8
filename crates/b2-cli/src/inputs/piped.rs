//! Stores, NumPy arrays and archives from standard input or a named pipe. Reading them needs any
//! position, so they are copied to a file without a name first.

use std::{
    fs::File,
    io::{self, BufRead as _, IsTerminal as _, Read as _},
    path::{Path, PathBuf},
};

use blosc_data::Word;

use super::origin::{self, Origin, Part};
use crate::{
    error::{Doing, Error, Result},
    inputs::Place,
};

/// The copies of inputs that can be read only once. A word finds its copy again.
#[derive(Debug, Default)]
pub(crate) struct Piped(Vec<Place>);

impl Piped {
    /// Keeps the copy open, under its word on the command line.
    fn keep(&mut self, word: &Path, (file, path): (File, PathBuf)) -> Place {
        let place = Place::kept(path, word, file);
        self.0.push(place.clone());
        place
    }

    fn kept(&self, word: &Path) -> Option<Place> {
        self.0.iter().find(|place| place.word() == Some(word)).cloned()
    }

    /// The input that `word` means; one that can be read only once is copied if its format needs
    /// that.
    ///
    /// # Errors
    ///
    /// When it cannot be read or kept.
    pub(crate) fn local(&mut self, word: &Path) -> Result<Origin> {
        if let Some(kept) = self.member(word) {
            return Ok(kept);
        }
        if let Some(kept) = self.store_in(word)? {
            return Ok(kept);
        }
        let origin = origin::local(word)?;
        Ok(self.named_pipe(&origin, word)?.unwrap_or(origin))
    }

    /// The value `PIPE::/KEY` of an input that was copied before.
    fn member(&self, word: &Path) -> Option<Origin> {
        let Word { path: pipe, part } = Word::of_path(word);
        let has_key = pipe != word && matches!(part, Part::Whole | Part::Member(_));
        let path = self.kept(&pipe).filter(|_| has_key)?;
        Some(Origin::File { path, part })
    }
}

/// The first bytes of archives with members, and of empty ones.
const ZIP_MAGICS: [&[u8; 4]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// The first bytes of `.npy` files.
const NPY_MAGIC: &[u8; 4] = b"\x93NUM";

impl Piped {
    /// The store on standard input, or the value in it, that `word` means: `-` or `-::/key`. A
    /// NumPy array is copied as well. Other formats stay unread.
    ///
    /// # Errors
    ///
    /// When it cannot be read or kept.
    fn store_in(&mut self, word: &Path) -> Result<Option<Origin>> {
        let Some(key) = word.to_str().and_then(|word| word.strip_prefix('-')) else {
            return Ok(None);
        };
        let part = match key.strip_prefix("::") {
            None if key.is_empty() => Some(Part::Whole),
            None => None,
            Some(key) => Part::of_key(key),
        };
        let Some(part) = part else { return Ok(None) };
        // The reader refuses a terminal later, with its own message.
        if io::stdin().is_terminal() {
            return Ok(None);
        }
        let stdin = Path::new("-");
        if let Some(path) = self.kept(stdin) {
            return Ok(Some(Origin::File { path, part }));
        }
        let found = match redirected()? {
            Some((file, Some(head))) => is_copied(&head).then(|| (file, "/dev/fd/0".into())),
            Some((_, None)) => None,
            None if cfg!(unix) => {
                let mut stdin = io::stdin().lock();
                match is_copied(stdin.fill_buf().map_err(Error::io(Doing::Read))?) {
                    true => Some(copy_of(&mut stdin)?),
                    false => None,
                }
            }
            None => None,
        };
        let Some(found) = found else { return Ok(None) };
        Ok(Some(Origin::File { path: self.keep(stdin, found), part }))
    }

    /// The input in a named pipe, or in `<(...)` of a shell. A store or a NumPy array is copied; of
    /// other formats only the first bytes are read and put back, so that the rest passes through
    /// bounded memory. `None` for other inputs.
    ///
    /// # Errors
    ///
    /// When it cannot be read or kept.
    #[cfg(unix)]
    fn named_pipe(&mut self, origin: &Origin, word: &Path) -> Result<Option<Origin>> {
        if !origin.place().is_some_and(|place| **place == *word && place.is_pipe()) {
            return Ok(None);
        }
        let part = Part::Whole;
        if let Some(path) = self.kept(word) {
            return Ok(Some(Origin::File { path, part }));
        }
        let mut pipe = File::open(word).map_err(Error::io(Doing::Open))?;
        let mut head = vec![];
        let wanted = NPY_MAGIC.len() as u64;
        (&mut pipe).take(wanted).read_to_end(&mut head).map_err(Error::io(Doing::Read))?;
        let is_copied = is_copied(&head);
        let mut all = io::Cursor::new(head).chain(pipe);
        let found = match is_copied {
            true => copy_of(&mut all)?,
            false => {
                let (reader, mut writer) = io::pipe().map_err(Error::io(Doing::Open))?;
                // A reader that closes early ends the thread.
                std::thread::spawn(move || io::copy(&mut all, &mut writer));
                let reader = File::from(std::os::fd::OwnedFd::from(reader));
                let path = path_of(&reader);
                (reader, path)
            }
        };
        Ok(Some(Origin::File { path: self.keep(word, found), part }))
    }

    #[cfg(not(unix))]
    fn named_pipe(&mut self, _: &Origin, _: &Path) -> Result<Option<Origin>> {
        Ok(None)
    }
}

/// Whether these are the first bytes of a store or a NumPy array, which need any position.
fn is_copied(head: &[u8]) -> bool {
    let mut magics = ZIP_MAGICS.into_iter().chain([NPY_MAGIC]);
    magics.any(|magic| head.starts_with(magic))
}

/// The regular file on standard input, and its first bytes if the position is at its start. The
/// position does not move.
#[cfg(unix)]
fn redirected() -> Result<Option<(File, Option<[u8; 4]>)>> {
    use std::{
        io::Seek as _,
        os::{fd::AsFd as _, unix::fs::FileExt as _},
    };
    let handle = io::stdin().as_fd().try_clone_to_owned().map_err(Error::io(Doing::Read))?;
    let mut file = File::from(handle);
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Ok(None);
    }
    if file.stream_position().map_err(Error::io(Doing::Read))? > 0 {
        return Ok(Some((file, None)));
    }
    let mut head = [0; 4];
    // A file of fewer bytes is not a store.
    let _ = file.read_exact_at(&mut head, 0);
    Ok(Some((file, Some(head))))
}

#[cfg(not(unix))]
fn redirected() -> Result<Option<(File, Option<[u8; 4]>)>> {
    Ok(None)
}

/// All bytes of `reader` in a file without a name, and the path that opens it.
fn copy_of(reader: &mut dyn io::Read) -> Result<(File, PathBuf)> {
    let mut copy = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
    io::copy(reader, &mut copy).map_err(Error::io(Doing::Spool))?;
    let path = path_of(&copy);
    Ok((copy, path))
}

#[cfg(unix)]
fn path_of(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    format!("/dev/fd/{}", file.as_raw_fd()).into()
}

#[cfg(not(unix))]
fn path_of(_: &File) -> PathBuf {
    PathBuf::new()
}
