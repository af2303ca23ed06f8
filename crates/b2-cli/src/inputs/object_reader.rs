//! The objects of an input: one bare chunk, or frames one after the other.
//!
//! A file may hold several frames in a row: `b2 compress` writes them to a pipe. In a file, each
//! frame is opened where it lies. From a pipe, each frame is read to its end first, since its index
//! follows its data: into memory, or into a temporary file without a name if it is larger than
//! [`IN_MEMORY`]. So any number of frames passes through bounded memory.
//!
//! A data set of bcolz is a directory, and the only object of its input.
//!
//! A chunk has no magic. An input counts as one if its first bytes can be the header of a chunk of
//! exactly its length. At a named position (`FILE@N`), the header is enough.

use blosc_data::OpenOptions;
use std::{
    fs::File,
    io::{self, Cursor, Read, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use b2_program::input;
use b2frame::{
    SChunk,
    header::FrameHeader,
    lock::{FrameLock, Locking},
    probe,
    probe::Kind,
};
use blosc_chunk::ChunkHeader;
use blosc_io::{FileStore, LockWait, MemStore, ReadAt, Tree, is_missing};

use blosc_data::{Format, Opened, Shifted, Tail, rescue::Damaged};

use crate::inputs::Place;
use crate::{
    console::Console,
    error::{Doing, Error, Result, message},
    formats::{
        bcolz::Bcolz,
        blp::Blp,
        chunk::{self, BareChunk},
        csv_table, store,
    },
    inputs::{
        foreign,
        object::Object,
        origin::{self, OpenedInput, Origin, Part},
    },
    output::targets::CHUNK_SUFFIX,
};

/// Bytes of a piped frame that stay in memory.
const IN_MEMORY: u64 = 16 << 20;

/// Bytes that are copied at once.
const PIECE_NBYTES: usize = 1 << 20;

/// Bytes of a header that hold the length of its frame or chunk.
const HEADER: usize = 87;

/// The objects of one input.
pub(crate) struct ObjectReader {
    source: Source,
    /// The file or directory of the input.
    path: Option<Place>,
    /// The files of a sparse frame at an address, of which the source is the index file.
    tree: Option<Arc<dyn Tree>>,
    /// The directory of a data set of bcolz, or of a sparse frame (the source is then its index
    /// file).
    folder: Option<Place>,
    params: OpenOptions,
    /// Where the next object starts (bytes).
    at: u64,
    /// Objects still wanted; `None` for all.
    wanted: Option<u64>,
    /// Whether the next object is the first.
    first: bool,
    /// Whether the user named the position.
    named: bool,
    /// Bytes after the last frame or chunk that are not an object.
    tail: Tail,
    /// The bytes of a pipe that were read for the next object, until it is open.
    unopened: Option<Arc<dyn ReadAt>>,
}

enum Source {
    Stored(Arc<dyn ReadAt>),
    /// The directory of a data set of bcolz.
    Folder,
    /// A member of a store, which is open already.
    Member(Option<Box<Object>>),
    /// The unread rest of standard input or of a named pipe.
    Piped(Arc<Mutex<dyn Read + Send>>),
}

/// Where an object is.
pub(crate) struct Found {
    /// The bytes of the object, or the whole input.
    pub(crate) store: Arc<dyn ReadAt>,
    /// Where the object starts in the store (bytes).
    pub(crate) at: u64,
    /// The kind of the object.
    pub(crate) kind: FoundKind,
}

/// The kind of an object that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundKind {
    Frame,
    /// A chunk without a frame around it.
    Chunk,
    /// A Bloscpack file, which ends where the input does.
    Blp,
    /// A data set of bcolz, which is a directory.
    Bcolz,
    /// A frame in a store, which is open already.
    Member,
}

impl ObjectReader {
    /// Opens an input, to be read as `params` say.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or has fewer frames than the name says.
    pub(crate) fn open(origin: &Origin, params: impl Into<OpenOptions>) -> Result<Self> {
        Self::open_as(origin, params.into())
    }

    fn open_as(origin: &Origin, params: OpenOptions) -> Result<Self> {
        let (path, part) = match origin {
            Origin::Stdin => return Ok(Self::stdin(params)),
            Origin::File { path, part } => (path, part),
            Origin::Opened(input) => return Self::opened(input, params),
        };
        if let Some((opened, key)) = store::opened(origin, params.clone())? {
            return Ok(Self::from_object(store::object_of(&opened, key)?, params));
        }
        if path.is_bcolz() {
            let objects = Self::new(Source::Folder, 0, params);
            return Ok(Self { folder: Some(path.clone()), wanted: Some(1), ..objects });
        }
        if path.is_stream() {
            let piped = File::open(path).map_err(Error::io(Doing::Open))?;
            return match part {
                Part::Whole => Ok(Self::new(Source::Piped(Arc::new(Mutex::new(piped))), 0, params)),
                _ => Err(message::PART_OF_PIPE.error()),
            };
        }
        let objects = Self::at_place(path, part, params)?;
        match part {
            Part::Whole | Part::Member(_) => Ok(objects),
            Part::Offset(at) if objects.input_len().is_some_and(|len| *at >= len) => {
                Err(message::AFTER_THE_END.about(objects.input_len().unwrap_or(0)))
            }
            Part::Offset(at) => Ok(Self { at: *at, wanted: Some(1), named: true, ..objects }),
            Part::Nth(nth) => objects.nth(*nth),
        }
    }

    /// The objects of a file or of the folder of a sparse frame.
    fn at_place(path: &Place, part: &Part, params: OpenOptions) -> Result<Self> {
        Ok(match path.elsewhere() {
            Some(blosc_data::Source::File(object)) => Self::from_store(object, params),
            Some(blosc_data::Source::Folder(tree)) => {
                let index = tree.open(origin::INDEX_FILE).map_err(Error::io(Doing::Open))?;
                Self { tree: Some(tree), ..Self::from_store(Arc::from(index), params) }
            }
            None if path.is_dir() && !path.is_sparse_frame() => {
                return Err(foreign::refusal(path).unwrap_or_else(|| message::A_FOLDER.error()));
            }
            None if *part == Part::Whole
                && let Some(error) = foreign::refusal(path) =>
            {
                return Err(error);
            }
            None => {
                let (file, folder) = open_file(path)?;
                let objects = Self::from_store(Arc::new(file), params);
                Self { path: Some(path.clone()), folder, ..objects }
            }
        })
    }

    /// The objects of an input that an opener has opened.
    fn opened(input: &OpenedInput, params: OpenOptions) -> Result<Self> {
        match &input.opened {
            Opened::Array(array) => {
                Ok(Self::from_object(Object::Opened(Arc::clone(array)), params))
            }
            Opened::Group(group) => {
                let example = group.members.first().cloned().unwrap_or_default();
                Err(message::GROUP_OF_ARRAYS.about(example))
            }
            _ => Err(message::DIRECTORY_OF_NOTHING.error()),
        }
    }

    /// The objects of an input, for a copy of their bytes: a value of a store is a frame of its
    /// own.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub(crate) fn open_bytes(origin: &Origin, params: impl Into<OpenOptions>) -> Result<Self> {
        let params = params.into();
        let Some((opened, key)) = store::opened(origin, params.clone())? else {
            return Self::open(origin, params);
        };
        let only = if key == "/" { store::only_value(&opened) } else { None };
        match only.as_deref().or(Some(key)).filter(|key| opened.contains(key)) {
            Some(key) => Ok(Self::from_store(opened.frame_bytes(key)?, params)),
            None => Self::open(origin, params),
        }
    }

    /// One object, which is open already.
    pub(crate) fn from_object(object: Object, params: OpenOptions) -> Self {
        let source = Source::Member(Some(Box::new(object)));
        Self { wanted: Some(1), ..Self::new(source, 0, params) }
    }

    /// The objects in a store.
    pub(crate) fn from_store(store: Arc<dyn ReadAt>, params: impl Into<OpenOptions>) -> Self {
        Self::new(Source::Stored(store), 0, params.into())
    }

    fn new(source: Source, at: u64, params: OpenOptions) -> Self {
        Self {
            source,
            path: None,
            tree: None,
            folder: None,
            params,
            at,
            wanted: None,
            first: true,
            named: false,
            tail: Tail::NONE,
            unopened: None,
        }
    }

    /// Standard input; a file there is read as a file.
    fn stdin(params: OpenOptions) -> Self {
        match input::stdin_file() {
            Some((file, at)) => {
                Self::new(Source::Stored(Arc::new(FileStore::from_file(file))), at, params)
            }
            None => Self::new(Source::Piped(Arc::new(Mutex::new(io::stdin()))), 0, params),
        }
    }

    /// Skips `nth` objects, and limits the rest to one.
    fn nth(mut self, nth: u64) -> Result<Self> {
        for frames in 0..nth {
            if self.next()?.is_none() {
                return Err(Error::NoFrame { wanted: nth, frames });
            }
        }
        let at = self.at;
        if self.next()?.is_none() {
            return Err(Error::NoFrame { wanted: nth, frames: nth });
        }
        Ok(Self { at, wanted: Some(1), named: true, ..self })
    }

    /// Bytes of the whole input, where they are known.
    pub(crate) fn input_len(&self) -> Option<u64> {
        match &self.source {
            Source::Stored(store) => store.len().ok(),
            Source::Folder | Source::Member(_) | Source::Piped(_) => None,
        }
    }

    /// Where the next object starts (bytes).
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// The start of the object that [`next`](Self::next) could not open; `None` if it has no bytes
    /// of its own.
    pub(crate) fn damaged(&self) -> Option<Damaged<'_>> {
        let store = match &self.source {
            Source::Stored(store) => store,
            Source::Piped(_) => self.unopened.as_ref()?,
            Source::Folder | Source::Member(_) => return None,
        };
        let (store, folder) = (Arc::clone(store), self.folder.as_deref());
        Some(Damaged { store, at: self.at, folder })
    }

    /// All bytes of the input, after the format of its first bytes `start` was found unknown.
    ///
    /// # Errors
    ///
    /// When it cannot be read or kept.
    pub(crate) fn rest(self, start: Vec<u8>) -> Result<FileStore> {
        let mut copy = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
        match &self.source {
            Source::Stored(store) => {
                let len = store.len().map_err(Error::io(Doing::Open))?;
                let (mut at, mut piece) = (self.at, vec![0; PIECE_NBYTES]);
                while at < len {
                    let n = usize::try_from(len - at).map_or(piece.len(), |n| n.min(piece.len()));
                    store.read_exact_at(at, &mut piece[..n]).map_err(Error::io(Doing::Read))?;
                    copy.write_all(&piece[..n]).map_err(Error::io(Doing::Spool))?;
                    at += n as u64;
                }
            }
            Source::Piped(pipe) => {
                copy.write_all(&start).map_err(Error::io(Doing::Spool))?;
                io::copy(&mut *locked(pipe), &mut copy).map_err(Error::io(Doing::Spool))?;
            }
            Source::Folder | Source::Member(_) => {}
        }
        Ok(FileStore::from_file(copy))
    }

    /// Bytes after the last frame that are not a frame, known once [`next`](Self::next) has found
    /// the end. For a Bloscpack file they are known when it is open.
    pub(crate) fn tail(&self) -> Tail {
        self.tail
    }

    /// The note on these bytes, if there are any.
    pub(crate) fn trailing_text(&self) -> Option<String> {
        let split = if self.tail.is_ours() { "; `b2 split FILE` takes it out" } else { "" };
        (self.tail.nbytes > 0).then(|| format!("{}{split}", self.tail))
    }

    /// Warns of these bytes.
    pub(crate) fn warn_of_trailing(&self, console: &Console, name: &str) {
        if let Some(text) = self.trailing_text() {
            console.warning(name, &text);
        }
    }

    /// The next object.
    ///
    /// # Errors
    ///
    /// When the next bytes cannot be read, or begin a frame that does not parse; when the first
    /// bytes have an unknown format.
    pub(crate) fn next(&mut self) -> Result<Option<Object>> {
        // C-Blosc2 overwrites index and trailer in place: the lock keeps it from doing so.
        let path = self.path.as_ref();
        let _lock = path.map(|path| lock_frame(path, &LockWait::default())).transpose()?;
        let Some(found) = self.find()? else { return Ok(None) };
        self.open_found(&found).map(Some)
    }

    /// The position and kind of the next object, without parsing it.
    ///
    /// # Errors
    ///
    /// When the next bytes cannot be read, or the first bytes of the input have an unknown format.
    pub(crate) fn find(&mut self) -> Result<Option<Found>> {
        if self.wanted == Some(0) {
            return Ok(None);
        }
        if let Source::Folder = self.source {
            return Ok(Some(Found { store: nothing(), at: 0, kind: FoundKind::Bcolz }));
        }
        if let Source::Member(_) = self.source {
            return Ok(Some(Found { store: nothing(), at: 0, kind: FoundKind::Member }));
        }
        let head = self.head()?;
        match probe(&head) {
            Kind::Frame | Kind::OlderFrame => self.frame(head).map(Some),
            Kind::Bloscpack if self.first || self.named => Ok(Some(Found {
                store: self.store(head, u64::MAX)?,
                at: self.at,
                kind: FoundKind::Blp,
            })),
            _ if self.first || self.named => self.chunk(head).map(Some),
            // A flipped bit in the magic must not hide the rest of a sequence.
            _ if Kind::is_nearly_frame(&head) => {
                Err(Error::Damaged(Error::NotBlosc { start: head }.into()))
            }
            _ => self.no_frame(&head),
        }
    }

    /// Opens the object that was found last, and moves to the next one.
    ///
    /// # Errors
    ///
    /// When it is damaged, or of an unsupported kind.
    pub(crate) fn open_found(&mut self, found: &Found) -> Result<Object> {
        let (store, params) = (Arc::clone(&found.store), &self.params);
        let object = match found.kind {
            FoundKind::Frame => {
                let options = params.frame().offset(found.at);
                Object::Frame(Arc::new(match (&self.tree, &self.folder) {
                    (Some(tree), _) => SChunk::from_tree(Arc::clone(tree), &options)?,
                    (None, Some(folder)) => SChunk::open_with(folder, &options)?,
                    (None, None) => SChunk::from_store_with(store, &options)?,
                }))
            }
            FoundKind::Chunk => {
                let dparams = params.dparams.clone();
                Object::Chunk(Box::new(BareChunk::open(store, found.at, dparams)?))
            }
            FoundKind::Blp => {
                let blp = Blp::open(store, found.at, params)?;
                // The end of a damaged file is unknown, and other code reports the damage.
                self.tail = Tail::of_blp(&blp.file).unwrap_or(Tail::NONE);
                Object::Blp(Box::new(blp))
            }
            FoundKind::Bcolz => {
                let here = || Place::from(".");
                let root = self.folder.clone().unwrap_or_else(here);
                Object::Bcolz(Box::new(Bcolz::open(&root, params.clone())?))
            }
            FoundKind::Member => match &mut self.source {
                Source::Member(object) => {
                    *object.take().ok_or(Error::NotBlosc { start: vec![] })?
                }
                _ => return Err(Error::NotBlosc { start: vec![] }),
            },
        };
        if found.kind != FoundKind::Bcolz {
            self.at = self.at.saturating_add(object.stored());
        }
        self.wanted = self.wanted.map(|wanted| wanted.saturating_sub(1));
        self.first = false;
        self.unopened = None;
        Ok(object)
    }

    /// The next bytes: enough to recognise a format.
    fn head(&self) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        match &self.source {
            Source::Stored(store) => {
                let (mut room, mut len) = ([0; HEADER], 0);
                while let Some(rest) = room.get_mut(len..).filter(|rest| !rest.is_empty()) {
                    match store.read_at(self.at.saturating_add(len as u64), rest) {
                        Ok(0) => break,
                        read => len += read.map_err(Error::io(Doing::Read))?,
                    }
                }
                head.extend_from_slice(&room[..len]);
            }
            Source::Folder | Source::Member(_) => {}
            Source::Piped(pipe) => {
                (&mut *locked(pipe))
                    .take(HEADER as u64)
                    .read_to_end(&mut head)
                    .map_err(Error::io(Doing::Read))?;
            }
        }
        Ok(head)
    }

    /// The frame that begins with `head`.
    fn frame(&mut self, head: Vec<u8>) -> Result<Found> {
        // The library judges a length that makes no sense, with the bytes that exist. Frames of the
        // betas extend to the end of the input.
        let len = match probe(&head) {
            Kind::OlderFrame => u64::MAX,
            _ => FrameHeader::parse(&head).map_or(HEADER as u64, |header| header.frame_len()),
        };
        Ok(Found { store: self.store(head, len)?, at: self.at, kind: FoundKind::Frame })
    }

    /// The chunk that begins with `head`, and must be the whole input.
    fn chunk(&mut self, head: Vec<u8>) -> Result<Found> {
        let header = chunk::header_of(&head).ok_or_else(|| self.not_ours(head.clone()))?;
        // One byte more shows whether something follows.
        let store = self.store(head.clone(), chunk::stored_len(&header).saturating_add(1))?;
        let left = store.len().map_err(Error::io(Doing::Open))?.saturating_sub(self.at);
        if !self.named && chunk::recognise(&head, left).is_none() {
            return Err(self.perhaps_chunk(head, &header, left));
        }
        Ok(Found { store, at: self.at, kind: FoundKind::Chunk })
    }

    /// The error for an unknown format. An index file of a sparse frame with unknown content is
    /// damaged.
    fn not_ours(&self, start: Vec<u8>) -> Error {
        let is_index = self.folder.is_some() || self.tree.is_some();
        let is_nothing = matches!(probe(&start), Kind::Empty | Kind::Unknown);
        match self.path.as_deref().is_some_and(csv_table::is_csv) && !start.is_empty() {
            true => message::SEPARATED_VALUES.error(),
            false if is_index && is_nothing => Error::Damaged(Error::NotBlosc { start }.into()),
            false => Error::NotBlosc { start },
        }
    }

    /// The error for bytes that begin like a chunk and are none.
    fn perhaps_chunk(&self, start: Vec<u8>, header: &ChunkHeader, left: u64) -> Error {
        let path = self.path.as_deref().map(|path| path.as_os_str().as_encoded_bytes());
        let is_called = path.is_some_and(|path| path.ends_with(CHUNK_SUFFIX.as_bytes()));
        if is_called && left < chunk::stored_len(header) {
            return chunk::truncated(self.at, header, left).into();
        }
        let found = match &self.source {
            Source::Stored(_) | Source::Folder | Source::Member(_) => Some(left),
            Source::Piped(_) => Some(left).filter(|left| *left < chunk::stored_len(header)),
        };
        match probe(&start) {
            Kind::Chunk => Error::PerhapsChunk { cbytes: chunk::stored_len(header), found },
            _ => self.not_ours(start),
        }
    }

    /// Skips bytes after a frame that are not a frame, as all readers do.
    fn no_frame(&mut self, head: &[u8]) -> Result<Option<Found>> {
        let nbytes = match &self.source {
            Source::Stored(store) => {
                store.len().map_err(Error::io(Doing::Open))?.saturating_sub(self.at)
            }
            Source::Folder | Source::Member(_) => 0,
            Source::Piped(pipe) => {
                let rest = io::copy(&mut *locked(pipe), &mut io::sink())
                    .map_err(Error::io(Doing::Read))?;
                rest.saturating_add(head.len() as u64)
            }
        };
        if nbytes > 0 {
            self.tail = Tail::of_frames(nbytes, head);
        }
        Ok(None)
    }

    /// A store that holds the `len` bytes from `head` on at [`at`](Self::at).
    fn store(&mut self, head: Vec<u8>, len: u64) -> Result<Arc<dyn ReadAt>> {
        match &self.source {
            Source::Stored(store) => Ok(Arc::clone(store)),
            Source::Folder | Source::Member(_) => Ok(nothing()),
            Source::Piped(pipe) => {
                let inner = spool(Cursor::new(head).chain(&mut *locked(pipe)).take(len))?;
                let store: Arc<dyn ReadAt> = Arc::new(Shifted::new(inner, self.at));
                self.unopened = Some(Arc::clone(&store));
                Ok(store)
            }
        }
    }
}

/// The pipe; this reader is the only one, so that a poisoned lock is harmless.
fn locked<'a>(
    pipe: &'a Mutex<dyn Read + Send + 'static>,
) -> MutexGuard<'a, dyn Read + Send + 'static> {
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An empty store, for a directory.
fn nothing() -> Arc<dyn ReadAt> {
    Arc::new(MemStore::new(Vec::new()))
}

/// Keeps all bytes of `reader`: in memory while they are few, then in a file.
fn spool(mut reader: impl Read) -> Result<Box<dyn ReadAt>> {
    let mut bytes = Vec::new();
    (&mut reader).take(IN_MEMORY).read_to_end(&mut bytes).map_err(Error::io(Doing::Read))?;
    if (bytes.len() as u64) < IN_MEMORY {
        return Ok(Box::new(MemStore::new(bytes)));
    }
    let mut file = tempfile::tempfile().map_err(Error::io(Doing::Spool))?;
    file.write_all(&bytes).map_err(Error::io(Doing::Spool))?;
    drop(bytes);
    io::copy(&mut reader, &mut file).map_err(Error::io(Doing::Spool))?;
    Ok(Box::new(FileStore::from_file(file)))
}

/// Opens a file, or the index file of a sparse frame with its directory.
fn open_file(path: &Place) -> Result<(FileStore, Option<Place>)> {
    let folder = path.is_sparse_frame().then(|| path.clone());
    let file = match &folder {
        Some(folder) => FileStore::open(folder.join(origin::INDEX_FILE)),
        None => path.open_file(),
    };
    let is_none =
        |error: &io::Error| is_missing(error) || error.kind() == io::ErrorKind::IsADirectory;
    let file = file.map_err(|error| match folder.is_some() && is_none(&error) {
        true => Error::Damaged(message::NO_INDEX.error().into()),
        false => Error::io(Doing::Open)(error),
    });
    Ok((file?, folder))
}

/// The shared lock of a frame, by which programs that use C-Blosc2 take turns.
pub(crate) fn lock_frame(path: &Place, wait: &LockWait) -> Result<Option<FrameLock>> {
    let is_folder = match path.format() {
        Some(Format::Frame) => false,
        Some(Format::SparseFrame) => true,
        _ => return Ok(None),
    };
    match path.is_locked() {
        true => Ok(None),
        false => Ok(Locking::Auto.shared_of(path, is_folder, wait)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_things_stay_in_memory_and_large_ones_do_not() {
        for len in [0, 10, IN_MEMORY, IN_MEMORY + 10] {
            let store = spool(io::repeat(7).take(len)).unwrap();
            assert_eq!(store.len().unwrap(), len);
        }
        let store = spool(Cursor::new(vec![1; 20 << 20]).chain(&b"end"[..])).unwrap();
        let mut end = [0; 3];
        store.read_exact_at(20 << 20, &mut end).unwrap();
        assert_eq!(&end, b"end");
    }
}
