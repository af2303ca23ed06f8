//! Opens names and sources as data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_io::MemStore;

use crate::content;
use crate::dataset::{Data, Dataset};
use crate::error::{Doing, Error, Param, Result};
use crate::format::{Format, recognise};
use crate::formats::{self, blp::Blp, chunk::BareChunk, frame};
use crate::one_column::OneColumn;
use crate::params::OpenOptions;
use crate::source::{Opened, OpenedGroup, Openers, Source};
use crate::word::{Part, Word};

/// Opens a file or a folder of any format of the family, or a part of one:
///
/// | name | part |
/// |---|---|
/// | `FILE` | all of it |
/// | `STORE::/key` | the value, table, column or group with this key |
/// | `TABLE::/name` | a column, as a table of this column alone |
/// | `FOLDER::/name` | the file of this name, in a folder that is no data itself |
/// | `FILE@N` | the frame, chunk or Bloscpack file that starts at byte N |
/// | `FILE#N` | frame number N, from 0 |
///
/// The content tells the format. An existing file with the name of a part is opened as a whole.
///
/// ```no_run
/// use blosc_data::Data;
///
/// match blosc_data::open("unknown")?.data {
///     Data::Array(array) => println!("{:?} items of {}", array.shape(), array.dtype()),
///     Data::Table(table) => println!("{} rows", table.nrows()),
///     Data::Group(group) => println!("{} members", group.members()?.len()),
///     other => println!("{}", other.kind_name()),
/// }
/// # Ok::<(), blosc_data::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Io`] if the path is missing or cannot be read; [`Error::NoFile`] for pipes and devices;
/// [`Error::NotOurs`] and [`Error::NoOpener`] for other formats; the error of the format for
/// damage.
pub fn open(name: impl AsRef<Path>) -> Result<Dataset> {
    open_with(name, &Openers::default(), &OpenOptions::default())
}

/// Opens a name with openers of other formats and of addresses, which are asked first, once for
/// each name.
///
/// # Errors
///
/// As [`open`]; the error of an opener.
pub fn open_with(
    name: impl AsRef<Path>,
    openers: &Openers,
    options: &OpenOptions,
) -> Result<Dataset> {
    let name = name.as_ref();
    let text = name.to_string_lossy();
    // An address may name a member; the store at the address looks it up.
    let (place, part) = Word::of_address(&text);
    let mut opened = openers.open(place).map_err(Error::of_opener)?;
    // The opener of another format looks up members of a group itself.
    if part != Part::Whole && !matches!(opened, Some(Opened::Source(_) | Opened::Table(_))) {
        opened = openers.open(&text).map_err(Error::of_opener)?;
    }
    match opened {
        None => {}
        Some(Opened::Source(source)) => return open_part(source, place, &part, options),
        Some(Opened::Array(array)) => return Ok(foreign(&text, Data::Array(array))),
        Some(Opened::Table(table)) => {
            return match &part {
                Part::Member(key) => member(foreign(place, Data::Table(table)), key),
                _ => Ok(foreign(&text, Data::Table(table))),
            };
        }
        Some(Opened::Group(group)) => {
            let (openers, options) = (openers.clone(), options.clone());
            let group = Arc::new(OpenedGroup { group, openers, options });
            return Ok(foreign(&text, Data::Group(group)));
        }
    }
    let word = Word::of_path(name);
    let source = Source::of_path(&word.path)?;
    let Some(inner) = file_within(&source, &word).map_err(Error::open(&word.path))? else {
        return open_part(source, &word.path.to_string_lossy(), &word.part, options);
    };
    open_with(inner, openers, options)
}

/// The file that a key names in a folder, if the folder is neither a store nor a table.
fn file_within(source: &Source, word: &Word) -> std::io::Result<Option<PathBuf>> {
    let Part::Member(key) = &word.part else { return Ok(None) };
    let format = recognise(source, &word.path.to_string_lossy())?;
    let is_plain = format == Format::Folder;
    Ok(is_plain.then(|| word.path.join(key.trim_start_matches('/'))))
}

fn foreign(name: &str, data: Data) -> Dataset {
    Dataset::new(name.to_owned(), Format::Other("of another format"), data)
}

/// Opens bytes in memory.
///
/// ```
/// use blosc_data::{Data, OpenOptions};
///
/// let frame = b2frame::to_cframe(b"0123456789", &b2frame::FrameParams::default())?;
/// let found = blosc_data::open_bytes(frame, "ten", &OpenOptions::default())?;
/// let mut bytes = [0; 3];
/// found.into_bytes()?.read_at(2, &mut bytes)?;
/// assert_eq!(&bytes, b"234");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`open`].
pub fn open_bytes(bytes: Vec<u8>, name: &str, options: &OpenOptions) -> Result<Dataset> {
    open_source(Source::File(Arc::new(MemStore::new(bytes))), name, options)
}

/// Opens the content of a source. `name` is for messages; its suffix decides where the content
/// leaves a choice.
///
/// # Errors
///
/// As [`open`].
pub fn open_source(source: Source, name: &str, options: &OpenOptions) -> Result<Dataset> {
    open_part(source, name, &Part::Whole, options)
}

/// Opens a part of the content of a source.
///
/// # Errors
///
/// As [`open`].
pub fn open_part(
    source: Source,
    name: &str,
    part: &Part,
    options: &OpenOptions,
) -> Result<Dataset> {
    match part {
        Part::Whole => whole(source, name, options),
        Part::Member(key) => member(whole(source, name, options)?, key),
        Part::Offset(at) => at_byte(source, name, *at, options),
        Part::Nth(number) => {
            let found = whole(source, name, options)?;
            match &found.data {
                Data::Group(group) if group.format() == "sequence" => {
                    group.open(&number.to_string())
                }
                _ if *number == 0 && found.format == Format::Frame => Ok(found),
                _ => Err(Error::NoMember { name: format!("#{number}") }),
            }
        }
    }
}

/// A member of a group, or a column of a table.
fn member(found: Dataset, key: &str) -> Result<Dataset> {
    let Data::Table(table) = &found.data else { return found.into_group()?.open(key) };
    let column = OneColumn::open(Arc::clone(table), key);
    let column = column.ok_or_else(|| Error::NoMember { name: key.to_owned() })?;
    let name = format!("{}::{key}", found.name);
    Ok(Dataset::new(name, found.format, Data::Table(Arc::new(column))))
}

fn whole(source: Source, name: &str, options: &OpenOptions) -> Result<Dataset> {
    let format = recognise(&source, name).map_err(Error::io(Doing::Read))?;
    let data = match (format, source) {
        (Format::Frame, Source::File(file)) => formats::file_data(file, name, options)?,
        (Format::Npz, Source::File(file)) => formats::npz_data(file, name)?,
        (Format::Store, source) => formats::store_data(source, name, &options.store())?,
        (format, source) => {
            content::of_format(format, source, options)?.into_data(name, &options.budget)?
        }
    };
    Ok(Dataset::new(name.to_owned(), format, data))
}

/// Opens the object at a byte of a file: a frame, a Bloscpack file, or else a chunk.
fn at_byte(source: Source, name: &str, at: u64, options: &OpenOptions) -> Result<Dataset> {
    let Source::File(file) = source else {
        return Err(Param::Part("a folder has no bytes of its own").into());
    };
    let len = file.len().map_err(Error::io(Doing::Open))?;
    if at >= len {
        return Err(Param::Range { start: at, end: at.saturating_add(1), len }.into());
    }
    let mut head = [0; crate::format::HEAD_LEN];
    let n = file.read_at(at, &mut head).map_err(Error::io(Doing::Read))?;
    let name = format!("{name}@{at}");
    use b2frame::probe::{Kind, probe};
    let (format, data) = match probe(head.get(..n).unwrap_or_default()) {
        Kind::Frame | Kind::OlderFrame => {
            let schunk = b2frame::SChunk::from_store_with(file, &options.frame().offset(at))?;
            (Format::Frame, frame::data(Arc::new(schunk), &name, &options.budget)?)
        }
        Kind::Bloscpack => (Format::Blp, formats::blp::of_file(Blp::open(file, at, options)?)),
        _ => {
            let chunk = BareChunk::open(file, at, options.dparams.clone())?;
            (Format::Chunk, Data::Bytes(Arc::new(chunk)))
        }
    };
    Ok(Dataset::new(name, format, data))
}
