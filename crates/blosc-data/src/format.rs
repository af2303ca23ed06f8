//! The format of a file or folder, by its first bytes and the names in the folder.
//!
//! [`SIGNS`] is the only table of magic numbers, marker files and suffixes; each format has a row.

use core::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use b2frame::probe::{Kind, PROBE_LEN, probe};
use blosc_chunk::ChunkHeader;
use blosc_dtype::text::hex;
use blosc_io::{ReadAt, Tree, is_missing};

use crate::size::as_len;
use crate::source::Source;

/// The format of a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// A Blosc2 frame: bytes, an array, or objects (`docs/formats/cframe.md`).
    Frame,
    /// A Blosc2 frame in a folder, one file for each chunk.
    SparseFrame,
    /// A bare chunk: Blosc 1 or Blosc2 (`docs/formats/chunk.md`).
    Chunk,
    /// A Bloscpack file (`docs/formats/bloscpack.md`).
    Blp,
    /// An array or a table of bcolz, in a folder (`docs/formats/bcolz.md`).
    Bcolz,
    /// A store or a table of Blosc2: a folder, an archive or a frame (`docs/formats/store.md`).
    Store,
    /// An array of NumPy in a file.
    Npy,
    /// Comma-separated values, by the suffix.
    Csv,
    /// An array of Zarr in a folder.
    ZarrArray,
    /// A group of Zarr in a folder.
    ZarrGroup,
    /// A group of Zarr in a zip archive.
    ZarrZip,
    /// Arrays of NumPy in a zip archive.
    Npz,
    /// A file of HDF5, as NetCDF 4 has them.
    Hdf5,
    /// A file of Parquet.
    Parquet,
    /// A folder of other files.
    Folder,
    /// Any other zip archive.
    Zip,
    /// A file of another kind.
    Other(&'static str),
    /// A file without a byte.
    Empty,
    /// None of these.
    Unknown,
}

impl Format {
    /// Whether this crate reads it; other formats need an [`Opener`](crate::Opener).
    #[must_use]
    pub const fn is_ours(self) -> bool {
        matches!(
            self,
            Self::Frame
                | Self::SparseFrame
                | Self::Chunk
                | Self::Blp
                | Self::Bcolz
                | Self::Store
                | Self::Npy
                | Self::Csv
        )
    }

    /// Whether it holds arrays or tables, in any format.
    #[must_use]
    pub const fn is_data(self) -> bool {
        self.is_ours()
            || matches!(
                self,
                Self::ZarrArray
                    | Self::ZarrGroup
                    | Self::ZarrZip
                    | Self::Npz
                    | Self::Hdf5
                    | Self::Parquet
            )
    }

    /// Whether only an [`Opener`](crate::Opener) of another crate reads it.
    #[must_use]
    pub const fn is_foreign(self) -> bool {
        matches!(self, Self::ZarrArray | Self::ZarrGroup | Self::ZarrZip | Self::Hdf5)
    }

    /// The name in a sentence: "a Bloscpack file".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "a Blosc2 frame",
            Self::SparseFrame => "a sparse Blosc2 frame",
            Self::Chunk => "a bare Blosc chunk",
            Self::Blp => "a Bloscpack file",
            Self::Bcolz => "a data set of bcolz",
            Self::Store => "a Blosc2 store",
            Self::Npy => "a NumPy array",
            Self::Csv => "comma-separated values",
            Self::ZarrArray => "a Zarr array",
            Self::ZarrGroup => "a Zarr group",
            Self::ZarrZip => "a Zarr group in a zip archive",
            Self::Npz => "NumPy arrays in a zip archive",
            Self::Hdf5 => "an HDF5 file",
            Self::Parquet => "a Parquet file",
            Self::Folder => "a folder",
            Self::Zip => "a zip archive",
            Self::Other(name) => name,
            Self::Empty => "an empty file",
            Self::Unknown => "nothing known",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The sign of a format.
enum Sign {
    /// A file begins with these bytes.
    Begins(&'static [u8]),
    /// A folder has one of these files.
    Has(&'static [&'static str]),
    /// A closer look decides.
    Looks(fn(&Look<'_>) -> io::Result<bool>),
}

/// The formats in the order of the search; the first sign that fits decides.
const SIGNS: &[(Format, Sign)] = &[
    (Format::Store, Sign::Has(&[b2store::EMBED_FILE])),
    (Format::SparseFrame, Sign::Has(&[b2frame::INDEX_FILE])),
    (Format::Bcolz, Sign::Has(&["__rootdirs__", "meta/storage", "meta/sizes"])),
    (Format::Bcolz, Sign::Looks(is_cut_bcolz)),
    (Format::ZarrArray, Sign::Has(&[".zarray"])),
    (Format::ZarrGroup, Sign::Has(&[".zgroup"])),
    (Format::ZarrArray, Sign::Looks(is_zarr3_array)),
    (Format::ZarrGroup, Sign::Has(&["zarr.json"])),
    (Format::SparseFrame, Sign::Has(&["00000000.chunk"])),
    (Format::Store, Sign::Looks(is_cut_store)),
    (Format::Folder, Sign::Looks(|look| Ok(look.tree.is_some()))),
    (Format::Store, Sign::Looks(is_store_file)),
    (Format::Blp, Sign::Begins(b"blpk")),
    (Format::Npy, Sign::Begins(blosc_dtype::npy::MAGIC)),
    (Format::Hdf5, Sign::Begins(b"\x89HDF\r\n\x1a\n")),
    (Format::Parquet, Sign::Begins(b"PAR1")),
    (Format::Frame, Sign::Looks(|look| Ok(matches!(look.kind(), Kind::Frame | Kind::OlderFrame)))),
    (Format::ZarrZip, Sign::Looks(|look| look.begins_with(|it| ZARR_FILES.contains(&it)))),
    (Format::Npz, Sign::Looks(|look| look.begins_with(|it| it.ends_with(".npy")))),
    (Format::Zip, Sign::Looks(|look| Ok(look.kind() == Kind::Zip))),
    (Format::Empty, Sign::Looks(|look| Ok(look.len == 0))),
    (Format::Csv, Sign::Looks(|look| Ok(look.has_suffix("csv")))),
    (Format::Chunk, Sign::Looks(|look| Ok(look.chunk().is_some()))),
];

/// The metadata files of Zarr.
const ZARR_FILES: [&str; 3] = [".zgroup", ".zarray", "zarr.json"];

/// Bytes at the start of a file that the search reads.
pub const HEAD_LEN: usize = PROBE_LEN;

/// The format of a source. The suffix of `name` decides only where the content leaves a choice.
///
/// ```
/// use std::sync::Arc;
/// use blosc_data::{Format, Source, recognise};
/// use blosc_io::MemStore;
///
/// let file = |bytes: &[u8]| Source::File(Arc::new(MemStore::new(bytes.to_vec())));
/// assert_eq!(recognise(&file(b"blpk\x03"), "x.dat")?, Format::Blp);
/// assert_eq!(recognise(&file(b"\x89PNG\r\n\x1a\n"), "x.b2nd")?.name(), "a PNG image");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// A file that cannot be read, or a folder that cannot be listed.
pub fn recognise(source: &Source, name: &str) -> io::Result<Format> {
    let look = Look::new(source, name)?;
    for (format, sign) in SIGNS {
        let fits = match sign {
            Sign::Begins(magic) => look.tree.is_none() && look.head.starts_with(magic),
            Sign::Has(files) => look.has_one_of(files)?,
            Sign::Looks(looks) => looks(&look)?,
        };
        if fits {
            return Ok(*format);
        }
    }
    Ok(match look.kind() {
        Kind::Foreign(name) => Format::Other(name),
        _ => Format::Unknown,
    })
}

/// The first bytes of a file and its kind, for messages: ` (starts with 89 50 4e 47: a PNG image)`.
#[must_use]
pub fn starts_with(start: &[u8]) -> String {
    let hex = hex(start.get(..4).unwrap_or(start), " ");
    match probe(start) {
        Kind::Empty => " (it is empty)".to_owned(),
        Kind::Unknown => format!(" (starts with {hex})"),
        kind => format!(" (starts with {hex}: {kind})"),
    }
}

/// The program that opens a file with these first bytes, in words.
#[must_use]
pub fn opened_by(start: &[u8]) -> Option<&'static str> {
    const PROGRAMS: &[(&str, &str)] = &[
        ("an HDF5 file", "h5py and `h5dump` open it, and the crate `b2-full`: docs/engines.md"),
        ("a NetCDF file", "xarray and `ncdump` open it"),
        (
            "a Parquet file",
            match cfg!(feature = "parquet") {
                true => "`b2 convert FILE NEW.b2z` makes a store of it",
                false => "pandas opens it; `b2 show` does in builds with the feature `parquet`",
            },
        ),
        ("an Arrow file", "pandas opens it with `read_feather`"),
        ("a pickle of Python", "`pickle.load` opens it, which runs what is in it"),
    ];
    match probe(start) {
        Kind::Zip => Some("`unzip -l` lists what is in it"),
        Kind::Foreign(name) => {
            PROGRAMS.iter().find(|(known, _)| *known == name).map(|(_, program)| *program)
        }
        _ => None,
    }
}

/// The part of a source that the search has read.
struct Look<'a> {
    file: Option<&'a Arc<dyn ReadAt>>,
    tree: Option<&'a Arc<dyn Tree>>,
    /// The first bytes of a file.
    head: Vec<u8>,
    /// Bytes of a file.
    len: u64,
    /// The name of the source.
    name: &'a str,
}

impl<'a> Look<'a> {
    fn new(source: &'a Source, name: &'a str) -> io::Result<Self> {
        let mut look = Self { file: None, tree: None, head: vec![], len: 0, name };
        match source {
            Source::File(file) => {
                let mut head = vec![0; HEAD_LEN];
                let n = file.read_at(0, &mut head)?;
                head.truncate(n);
                look.len = file.len()?;
                (look.file, look.head) = (Some(file), head);
            }
            Source::Folder(tree) => look.tree = Some(tree),
        }
        Ok(look)
    }

    fn kind(&self) -> Kind {
        if self.tree.is_some() { Kind::Unknown } else { probe(&self.head) }
    }

    fn has_suffix(&self, suffix: &str) -> bool {
        let end = self.name.rsplit_once('.').map(|(_, end)| end);
        self.tree.is_none() && end.is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    }

    /// Whether a folder has this file, without listing a folder of a million chunks. A link that
    /// leads out counts, since opening it reports the fault. A folder that the system does not
    /// search is an error.
    fn has(&self, path: &str) -> io::Result<bool> {
        let Some(tree) = self.tree else { return Ok(false) };
        match tree.len_of(path) {
            Ok(_) => Ok(true),
            Err(error) if is_missing(&error) => Ok(false),
            // A folder of that name does not count.
            Err(error) if is_no_file(&error) => Ok(tree.list(path).is_err()),
            Err(error) => Err(error),
        }
    }

    fn has_one_of(&self, paths: &[&str]) -> io::Result<bool> {
        for path in paths {
            if self.has(path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The header, if the file is a chunk. Chunks have no magic: the length in the header must be
    /// exactly that of the file.
    fn chunk(&self) -> Option<ChunkHeader> {
        crate::formats::chunk::recognise(&self.head, self.len)
    }

    /// Whether the file is a zip archive whose first member, in any folder, has a matching name.
    fn begins_with(&self, is_such: impl Fn(&str) -> bool) -> io::Result<bool> {
        let Some(file) = self.file.filter(|_| self.kind() == Kind::Zip) else { return Ok(false) };
        let first = b2store::first_member(&**file)?;
        Ok(first.is_some_and(|first| is_such(first.rsplit('/').next().unwrap_or_default())))
    }

    /// Whether the first member of the archive is named like a value of a store, or its marker.
    fn begins_like_store(&self) -> io::Result<bool> {
        let ends = [".b2nd", ".b2f", ".b2b", b2store::EMBED_FILE];
        self.begins_with(|name| ends.iter().any(|it| name.ends_with(it)))
    }
}

/// Whether an error says that the path is not a file.
fn is_no_file(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::IsADirectory)
}

/// Whether a folder is a store that has lost its marker: a table, or a folder named like a store.
fn is_cut_store(look: &Look<'_>) -> io::Result<bool> {
    let is_called = Path::new(look.name).extension().is_some_and(|end| end == "b2d");
    Ok(look.tree.is_some()
        && (is_called || look.has("_meta.b2f")? && look.has("_valid_rows.b2nd")?))
}

/// Whether a file must be opened as a store: an archive with the member of a store, or a file with
/// a store's name and no other known format. An archive may begin with other bytes, and a damaged
/// one with any bytes.
fn is_store_file(look: &Look<'_>) -> io::Result<bool> {
    let Some(file) = look.file else { return Ok(false) };
    let is_called = look.has_suffix("b2z") || look.has_suffix("b2e");
    let marker = || b2store::has_marker(Arc::clone(file));
    Ok(match look.kind() {
        // A sound archive without a marker may have lost it. Looking for the marker costs a read
        // for each member.
        Kind::Zip => is_called && look.begins_like_store()? || marker()?.unwrap_or(is_called),
        Kind::Frame => is_called && marker()? != Some(false),
        Kind::Chunk | Kind::Unknown => is_called && look.chunk().is_none(),
        Kind::Empty => is_called,
        _ => false,
    })
}

/// Whether a folder is the rest of a bcolz data set after a crash: its attributes, with data or a
/// column beside them.
fn is_cut_bcolz(look: &Look<'_>) -> io::Result<bool> {
    let Some(tree) = look.tree else { return Ok(false) };
    if !look.has("__attrs__")? {
        return Ok(false);
    }
    for entry in tree.list("")?.into_iter().filter(|entry| entry.is_dir) {
        if entry.name == "data" || look.has(&format!("{}/meta/storage", entry.name))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Most bytes of `zarr.json` that are read.
const MAX_METADATA_NBYTES: u64 = 64 << 20;

fn is_zarr3_array(look: &Look<'_>) -> io::Result<bool> {
    let Some(tree) = look.tree else { return Ok(false) };
    if !look.has("zarr.json")? {
        return Ok(false);
    }
    let file = match tree.open("zarr.json") {
        Err(error) if is_no_file(&error) => return Ok(false),
        file => file?,
    };
    let len = file.len()?;
    if len > MAX_METADATA_NBYTES {
        return Ok(false);
    }
    let mut bytes = vec![0; as_len(len)];
    file.read_exact_at(0, &mut bytes)?;
    let metadata = serde_json::from_slice::<serde_json::Value>(&bytes).unwrap_or_default();
    Ok(metadata.get("node_type").and_then(|it| it.as_str()) == Some("array"))
}
