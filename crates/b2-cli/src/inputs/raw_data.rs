//! Raw data to compress, from a file or standard input. The first bytes are read in advance, as a
//! sample.

use std::{
    fs::{File, Metadata},
    io::{self, Chain, Cursor, Read},
    path::Path,
};

use crate::{
    args::OutputArgs,
    error::{Doing, Error, FileKind, Result, irregular, message},
    inputs::{Origin, Part, Place, origin, typesize::SAMPLE},
    memory::as_len,
};

/// The data, and their properties.
#[derive(Debug)]
pub(crate) struct Data {
    /// The first bytes, up to [`SAMPLE`] of them.
    sample: Vec<u8>,
    rest: Reader,
    /// Mode, times and length of a regular file.
    pub(crate) metadata: Option<Metadata>,
}

/// Where the bytes come from.
#[derive(Debug)]
enum Reader {
    File(File),
    Stdin(io::Stdin),
    /// The sample was all of the data.
    Ended,
}

impl Read for Reader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buf),
            Self::Stdin(stdin) => stdin.lock().read(buf),
            Self::Ended => Ok(0),
        }
    }
}

impl Data {
    /// Opens the data of `origin`.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or needs `-f`.
    pub(crate) fn open(origin: &Origin, output: &OutputArgs) -> Result<Self> {
        let Origin::File { path, part } = origin else {
            return Self::start(Reader::Stdin(io::stdin()), None);
        };
        if *part != Part::Whole && path.symlink_metadata().is_ok() {
            return Err(message::COMPRESSES_FILES.error());
        }
        if *part != Part::Whole {
            return Err(Error::io(Doing::Open)(io::ErrorKind::NotFound.into()));
        }
        check_kind(path, output)?;
        let file = File::open(path).map_err(Error::io(Doing::Open))?;
        let metadata = file.metadata().map_err(Error::io(Doing::Open))?;
        if metadata.is_dir() {
            return Err(Error::NotRegular { path: path.to_path_buf(), kind: FileKind::Directory });
        }
        let regular = metadata.is_file().then_some(metadata);
        Self::start(Reader::File(file), regular)
    }

    fn start(mut rest: Reader, metadata: Option<Metadata>) -> Result<Self> {
        // A buffer longer than a small file reads it by one call, and its end by another.
        let len = metadata.as_ref().map_or(0, Metadata::len);
        let len = as_len(len).min(SAMPLE);
        let mut sample = Vec::with_capacity(len.saturating_add(64));
        (&mut rest).take(SAMPLE as u64).read_to_end(&mut sample).map_err(Error::io(Doing::Read))?;
        let rest = if sample.len() < SAMPLE { Reader::Ended } else { rest };
        Ok(Self { sample, rest, metadata })
    }

    /// The data in a copy, from its position on.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub(crate) fn of_copy(file: File) -> Result<Self> {
        Self::start(Reader::File(file), None)
    }

    /// The first bytes.
    pub(crate) fn sample(&self) -> &[u8] {
        &self.sample
    }

    /// All bytes, if the sample holds them all.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        matches!(self.rest, Reader::Ended).then_some(&self.sample)
    }

    /// Bytes of a regular file.
    pub(crate) fn len(&self) -> Option<u64> {
        self.metadata.as_ref().map(Metadata::len)
    }

    /// All bytes, from the first.
    pub(crate) fn into_reader(self) -> Chain<Cursor<Vec<u8>>, impl Read> {
        Cursor::new(self.sample).chain(self.rest)
    }
}

/// Whether this can be read only once: a named pipe, or a character device.
pub(crate) fn is_stream(path: &Path) -> bool {
    Place::from(path).is_stream()
}

/// A named file with a copy of standard input, or of an input that can be read only once; `None`
/// for other inputs.
///
/// # Errors
///
/// When it cannot be read or kept.
pub(crate) fn copy_of_stream(origin: &Origin) -> Result<Option<tempfile::TempPath>> {
    let spool = |reader: &mut dyn Read| {
        let mut copy = tempfile::NamedTempFile::new().map_err(Error::io(Doing::Spool))?;
        io::copy(reader, &mut copy).map_err(Error::io(Doing::Spool))?;
        Ok(Some(copy.into_temp_path()))
    };
    match origin {
        Origin::Stdin => spool(&mut io::stdin().lock()),
        Origin::File { path, part: Part::Whole } if path.is_stream() => {
            spool(&mut File::open(path).map_err(Error::io(Doing::Open))?)
        }
        Origin::File { .. } | Origin::Opened(_) => Ok(None),
    }
}

/// Refuses links and devices without `-f`: a link would lose its name, a device may have no end.
///
/// # Errors
///
/// When it needs `-f`, or is a directory.
pub(crate) fn check_kind(path: &Path, output: &OutputArgs) -> Result<()> {
    let named = output.stdout || output.output.is_some();
    match irregular(path).map_err(Error::io(Doing::Open))? {
        Some(FileKind::Link) if named && !output.rm => Ok(()),
        Some(FileKind::Pipe) if named => Ok(()),
        Some(FileKind::Directory) if origin::is_object(path) => match output.rm {
            true => Err(message::REMOVES_NO_FOLDER.error()),
            false => Ok(()),
        },
        Some(kind @ FileKind::Directory) => Err(Error::NotRegular { path: path.to_owned(), kind }),
        Some(kind) if !output.force => Err(Error::NotRegular { path: path.to_owned(), kind }),
        _ => Ok(()),
    }
}
