//! The programs that open an object, the first release that does, and the obstacles for the others.

mod releases;

use b2frame::SChunk;
use b2store::{ColumnKind, Store, StoreKind};
use blosc_chunk::{ChunkHeader, SplitMode};
use serde::Serialize;

use crate::error::Result;

pub use releases::{know_filters, opens_chunk, opens_frame};

/// A program or library, and whether it opens the object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reader {
    /// The name of the program.
    pub program: &'static str,
    /// Whether the program opens the object.
    pub opens: bool,
    /// The first release; or the obstacle, with the command of `b2` that avoids it.
    pub note: String,
}

impl Reader {
    fn opening(program: &'static str, note: impl Into<String>) -> Self {
        Self { program, opens: true, note: note.into() }
    }

    fn stopped(program: &'static str, note: impl Into<String>) -> Self {
        Self { program, opens: false, note: note.into() }
    }
}

const C_BLOSC2: &str = "C-Blosc2";
const PYTHON_BLOSC2: &str = "python-blosc2";
const C_BLOSC: &str = "C-Blosc, python-blosc";
const NUMCODECS: &str = "numcodecs, zarr";
const BLOSCPACK: &str = "Bloscpack";
const BCOLZ: &str = "bcolz";

/// Releases of python-blosc2 with a wrong list of split modes.
const NO_FORWARD: &str = ", but 0.6 to 2.0.0, which do not know split mode forward";

/// The readers for the words `text` about C-Blosc2.
fn of_blosc2(text: &str) -> [Reader; 2] {
    let note = text.strip_prefix("C-Blosc2 ").unwrap_or(text);
    if text.starts_with("no ") {
        return [Reader::stopped(C_BLOSC2, note), Reader::stopped(PYTHON_BLOSC2, note)];
    }
    let python = "those with such a C-Blosc2 inside";
    [Reader::opening(C_BLOSC2, note), Reader::opening(PYTHON_BLOSC2, python)]
}

/// The readers of a frame.
#[must_use]
pub fn of_frame(schunk: &SChunk) -> Vec<Reader> {
    let mut readers: Vec<Reader> = of_blosc2(&opens_frame(schunk)).into();
    if schunk.cparams().split == SplitMode::ForwardCompat {
        let python =
            readers.iter_mut().find(|reader| reader.program == PYTHON_BLOSC2 && reader.opens);
        python.into_iter().for_each(|reader| reader.note.push_str(NO_FORWARD));
    }
    let no_chunk = "a frame is no chunk; `b2 extract --chunk N` takes one out";
    readers.push(Reader::stopped(C_BLOSC, no_chunk));
    readers.push(Reader::stopped(NUMCODECS, no_chunk));
    readers.push(Reader::stopped(BLOSCPACK, "`b2 convert --format blp` makes a file for it"));
    readers.push(Reader::stopped(BCOLZ, "`b2 convert --format carray` makes a directory for it"));
    readers
}

/// The readers of a bare chunk.
#[must_use]
pub fn of_chunk(header: &ChunkHeader) -> Vec<Reader> {
    let text = opens_chunk(header);
    let mut readers = vec![];
    if header.version() > 2 {
        readers.extend(of_blosc2(&text));
        let newer =
            "a chunk of Blosc2; `b2 convert --format chunk --target blosc-1.14` makes an older one";
        readers.push(Reader::stopped(C_BLOSC, newer));
        readers.push(Reader::stopped(NUMCODECS, newer));
    } else {
        let is_for_2 = !text.contains("no C-Blosc2");
        for program in [C_BLOSC2, PYTHON_BLOSC2] {
            readers.push(match is_for_2 {
                true => Reader::opening(program, "any release"),
                false => Reader::stopped(program, "built without Snappy"),
            });
        }
        let oldest = text.split([',']).next().unwrap_or_default();
        let oldest = oldest.strip_prefix("C-Blosc ").unwrap_or(oldest);
        readers.push(Reader::opening(C_BLOSC, oldest));
        readers.push(match is_for_2 {
            true => Reader::opening(NUMCODECS, "any release"),
            false => Reader::stopped(NUMCODECS, "built without Snappy"),
        });
    }
    let no_header = "a chunk without its header; `b2 convert --format blp` adds one";
    readers.push(Reader::stopped(BLOSCPACK, no_header));
    readers.push(Reader::stopped(BCOLZ, "`b2 convert --format carray` makes a directory for it"));
    readers
}

/// The readers of a Bloscpack file. Builds of Bloscpack lack Snappy.
#[must_use]
pub fn of_blp(uses_snappy: bool) -> Vec<Reader> {
    let other = "another format; `b2 convert --format b2frame` moves the chunks";
    let python = "Python before 3.10, or 0.16.0 with `collections.MutableMapping` set by hand";
    vec![
        match uses_snappy {
            true => Reader::stopped(BLOSCPACK, "Snappy, which python-blosc is built without"),
            false => Reader::opening(BLOSCPACK, python),
        },
        Reader::stopped(C_BLOSC2, other),
        Reader::stopped(PYTHON_BLOSC2, other),
        Reader::stopped(C_BLOSC, "its chunks are such; the file is none"),
        Reader::stopped(NUMCODECS, "its chunks are such; the file is none"),
        Reader::stopped(BCOLZ, "`b2 convert --format carray` makes a directory for it"),
    ]
}

/// The readers of a directory of bcolz.
#[must_use]
pub fn of_bcolz() -> Vec<Reader> {
    let other = "a directory of another format; `b2 convert` makes .b2nd and .b2z of it";
    vec![
        Reader::opening(BCOLZ, "unmaintained since 2020; bcolz-zipline on newer Pythons"),
        Reader::stopped(C_BLOSC2, other),
        Reader::stopped(PYTHON_BLOSC2, other),
        Reader::stopped(C_BLOSC, "the chunk files have a header of bcolz before the chunk"),
        Reader::stopped(NUMCODECS, "the chunk files have a header of bcolz before the chunk"),
        Reader::stopped(BLOSCPACK, "`b2 convert --format blp` makes a file for it"),
    ]
}

/// The readers of a store, from the release notes of python-blosc2 and the schemas of its tables.
///
/// # Errors
///
/// A table that cannot be opened.
pub fn of_store(store: &Store) -> Result<Vec<Reader>> {
    let mut oldest = Release::new((3, 7), "stores");
    if store.kind() == StoreKind::Table {
        oldest = Release::new((4, 2), "tables");
    }
    for key in store.tables().map(str::to_owned).collect::<Vec<_>>() {
        oldest.raise((4, 2), "tables");
        if key != "/" {
            oldest.raise((4, 3), "a table below a key");
        }
        let table = store.table(&key)?;
        let schema = table.schema();
        for column in &schema.columns {
            match &column.kind {
                ColumnKind::Timestamp { .. }
                | ColumnKind::Dictionary { .. }
                | ColumnKind::NdArray { .. } => {
                    oldest.raise((4, 3), "columns of times, words or arrays");
                }
                ColumnKind::Utf8 => oldest.raise((4, 9), "columns of text of any length"),
                ColumnKind::Remote => oldest.raise((4, 12), "columns that are elsewhere"),
                _ => {}
            }
        }
        if schema.version >= 3 {
            oldest.raise((4, 11), "masks of nulls");
        }
    }
    let frames = "only the frames in it; `b2 unpack` or `b2 convert STORE::/KEY` takes them out";
    let other = "`b2 convert STORE::/KEY` makes a file for it";
    Ok(vec![
        Reader::opening(PYTHON_BLOSC2, oldest.to_string()),
        Reader::stopped(C_BLOSC2, frames),
        Reader::stopped(C_BLOSC, other),
        Reader::stopped(NUMCODECS, other),
        Reader::stopped(BLOSCPACK, other),
        Reader::stopped(BCOLZ, other),
    ])
}

/// The first release with all needed features, and their names.
struct Release {
    number: (u8, u8),
    because: &'static str,
}

impl Release {
    const fn new(number: (u8, u8), because: &'static str) -> Self {
        Self { number, because }
    }

    fn raise(&mut self, number: (u8, u8), because: &'static str) {
        if number > self.number {
            *self = Self { number, because };
        }
    }
}

impl core::fmt::Display for Release {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{} or newer ({})", self.number.0, self.number.1, self.because)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_need_decides() {
        let mut oldest = Release::new((3, 7), "stores");
        oldest.raise((4, 9), "text");
        oldest.raise((4, 2), "tables");
        assert_eq!(oldest.to_string(), "4.9 or newer (text)");
    }

    #[test]
    fn both_programs_refuse_unreadable_objects() {
        let readers = of_blosc2("no release of C-Blosc2 (codec snappy)");
        assert!(readers.iter().all(|reader| !reader.opens && reader.note.contains("snappy")));
        let readers = of_blosc2("C-Blosc2 2.10.0 or newer (bytedelta)");
        assert_eq!(readers[0], Reader::opening(C_BLOSC2, "2.10.0 or newer (bytedelta)"));
    }
}
