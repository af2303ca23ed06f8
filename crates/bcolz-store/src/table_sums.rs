//! `.b2sums` of a table: the sum of its attributes, and which of its columns have sums
//! (`docs/formats/bcolz.md`, "Checksums"). The file tells a column that lost its sums from one that
//! bcolz added without any. bcolz ignores the file.
//!
//! ```text
//!  0   b2table\x01           magic and version
//!  8   length, XXH3-64       of __attrs__; the length 2^64 - 1: unknown
//! 24   ncolumns              u64, all numbers are little-endian
//! ..   length, XXH3-64       of the meta/storage of each column with sums,
//! ..   length, name          and its name in UTF-8
//! ..   XXH3-64               of all bytes before
//! ```

use crate::carray::Report;
use crate::error::{Corrupt, Error, Result};
use crate::files::{self, join, read_metadata};
use crate::meta;
use crate::note::{Fault, Note};
use crate::sums::{self, FileSum, Found, Sums, sealed, sums_path, unsealed};
use crate::tree::Tree;

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableSums {
    pub(crate) attrs: FileSum,
    /// The columns that have sums, and the sum of their `meta/storage`.
    pub(crate) columns: Vec<(String, FileSum)>,
}

impl TableSums {
    /// Reads the file of the table at `path`.
    pub(crate) fn read(tree: &dyn Tree, path: &str) -> Result<Found<Self>> {
        Ok(match sums::read_file(tree, path)? {
            // The directory is an array, and the file has the sums of its chunks.
            Found::Sums(bytes) if bytes.starts_with(sums::MAGIC) => Found::Missing,
            found => found.parsed(Self::parse),
        })
    }

    /// Writes the file.
    pub(crate) fn write(&self, tree: &dyn Tree, path: &str) -> Result<()> {
        files::write(tree, &sums_path(path), &self.to_bytes())
    }

    /// Makes the file anew: of the attributes, and of the columns with sums.
    pub(crate) fn create<'a>(
        tree: &dyn Tree,
        path: &str,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        let (attrs, columns) = (FileSum::of_attrs(tree, path)?, vec![]);
        Self { attrs, columns }.of_columns(tree, path, names, false)?.write(tree, path)
    }

    /// Brings the file, if there is one, up to date with the columns of the table. Columns whose
    /// sums are lost stay in it on request.
    pub(crate) fn update<'a>(
        tree: &dyn Tree,
        path: &str,
        names: impl Iterator<Item = &'a str>,
        keeps_lost: bool,
    ) -> Result<()> {
        let Found::Sums(sums) = Self::read(tree, path)? else { return Ok(()) };
        sums.of_columns(tree, path, names, keeps_lost)?.write(tree, path)
    }

    fn of_columns<'a>(
        self,
        tree: &dyn Tree,
        path: &str,
        names: impl Iterator<Item = &'a str>,
        keeps_lost: bool,
    ) -> Result<Self> {
        let mut columns = vec![];
        for name in names {
            let before = self.storage_of(name).filter(|_| keeps_lost);
            let storage = match Sums::read(tree, &join(path, name))? {
                Found::Sums(sums) => Some(sums.storage),
                Found::Missing | Found::Damaged => before,
            };
            columns.extend(storage.map(|storage| (name.to_owned(), storage)));
        }
        Ok(Self { columns, ..self })
    }

    fn storage_of(&self, name: &str) -> Option<FileSum> {
        self.columns.iter().find(|(found, _)| found == name).map(|(_, storage)| *storage)
    }

    /// Whether the sums of a column without any were lost. A column that bcolz made anew under an
    /// old name has another `meta/storage`.
    pub(crate) fn has_lost(&self, tree: &dyn Tree, path: &str, name: &str) -> Result<bool> {
        let Some(storage) = self.storage_of(name) else { return Ok(false) };
        let found = read_metadata(tree, &meta::storage_path(&join(path, name)))?;
        Ok(found.is_some_and(|bytes| FileSum::of_file(&bytes) == storage))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = unsealed(MAGIC, bytes)?;
        let attrs = FileSum { nbytes: number(&mut rest)?, sum: number(&mut rest)? };
        let (ncolumns, mut columns) = (number(&mut rest)?, vec![]);
        for _ in 0..ncolumns {
            let storage = FileSum { nbytes: number(&mut rest)?, sum: number(&mut rest)? };
            let len = usize::try_from(number(&mut rest)?).ok()?;
            let (name, others) = rest.split_at_checked(len)?;
            columns.push((core::str::from_utf8(name).ok()?.to_owned(), storage));
            rest = others;
        }
        rest.is_empty().then_some(Self { attrs, columns })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let mut push = |part: &[u8]| bytes.extend_from_slice(part);
        let file = |push: &mut dyn FnMut(&[u8]), file: FileSum| {
            push(&file.nbytes.to_le_bytes());
            push(&file.sum.to_le_bytes());
        };
        file(&mut push, self.attrs);
        push(&(self.columns.len() as u64).to_le_bytes());
        for (name, storage) in &self.columns {
            file(&mut push, *storage);
            push(&(name.len() as u64).to_le_bytes());
            push(name.as_bytes());
        }
        sealed(bytes)
    }
}

/// Replaces `__attrs__` of the array or table at `path`, and its sum if there are sums. The sum is
/// unknown in between, so that a kill leaves none that is wrong.
pub(crate) fn replace_attrs(tree: &dyn Tree, path: &str, text: &str) -> Result<()> {
    let (mut of_table, mut of_array) = match sums::read_file(tree, path)? {
        Found::Sums(bytes) => (TableSums::parse(&bytes), Sums::parse(&bytes)),
        Found::Missing | Found::Damaged => (None, None),
    };
    let mut set_sum = |attrs| {
        let bytes = match (&mut of_table, &mut of_array) {
            (Some(sums), _) => {
                sums.attrs = attrs;
                sums.to_bytes()
            }
            (_, Some(sums)) => {
                sums.attrs = attrs;
                sums.to_bytes()
            }
            (None, None) => return Ok(()),
        };
        files::write(tree, &sums_path(path), &bytes)
    };
    set_sum(FileSum::UNKNOWN)?;
    files::write(tree, &meta::attrs_path(path), text.as_bytes())?;
    set_sum(FileSum::of_file(text.as_bytes()))
}

/// Compares `__attrs__` of the data set at `path` with its sum: bcolz writes it anew with each
/// attribute, so other attributes are no damage, but none at all are.
pub(crate) fn compare_attrs(tree: &dyn Tree, path: &str, sum: FileSum, report: &mut Report) {
    let attrs_path = meta::attrs_path(path);
    // Attributes that cannot be read are reported on their own.
    let Ok(found) = read_metadata(tree, &attrs_path) else { return };
    match found.filter(|bytes| !bytes.is_empty()) {
        _ if !sum.is_known() => {}
        None => report.other.push(Error::corrupt(attrs_path, Corrupt::Missing)),
        Some(bytes) if FileSum::of_file(&bytes) == sum => {}
        Some(_) => {
            report.notes.push(Note { path: path.to_owned(), fault: Fault::AttrsChanged });
        }
    }
}

/// Takes a number from the front.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let (number, others) = rest.split_first_chunk::<8>()?;
    *rest = others;
    Some(u64::from_le_bytes(*number))
}

/// Magic and version.
const MAGIC: &[u8] = b"b2table\x01";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_as_it_was_written_and_every_flipped_bit_is_noticed() {
        let columns =
            vec![("a".to_owned(), FileSum::of_file(b"x")), ("ü".to_owned(), FileSum::UNKNOWN)];
        let sums = TableSums { attrs: FileSum::of_file(b"{}\n"), columns };
        let bytes = sums.to_bytes();
        assert_eq!(TableSums::parse(&bytes), Some(sums));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(TableSums::parse(&damaged), None, "{bit}");
        }
        assert!((0..bytes.len()).all(|len| TableSums::parse(&bytes[..len]).is_none()));
    }
}
