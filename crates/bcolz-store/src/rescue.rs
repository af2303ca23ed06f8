//! Making the most of damage: what cannot be read is left out or filled, so that the rest can
//! ("Crashes and half-written data").
//!
//! Unlike [`repair`](crate::repair()), which loses nothing that can be read, this gives up on
//! parts: it is meant for a copy.

use std::sync::Arc;

use blosc_container::VerifyOptions;

use crate::carray::CArray;
use crate::chunk_file::PREAMBLE;
use crate::ctable_writer::names_text;
use crate::error::{Corrupt, Error, Result};
use crate::files::{self, is_missing, join};
use crate::layout::{chunk_number, chunk_path};
use crate::meta::{self, Attrs};
use crate::names;
use crate::params::OpenOptions;
use crate::repair::{Action, Repair, repair_in};
use crate::tree::Tree;

/// Puts the array or table at `path` of a tree into a state in which all of it can be read, and
/// says what had to go: attributes and lengths that make no sense, columns of which nothing can be
/// read, chunks that do not decode, in whose place the fill value comes, or `None` among objects.
///
/// # Errors
///
/// `Corrupt` where nothing can be saved, `Limit` for chunks that are larger than `options` allow,
/// `Io`.
pub fn rescue_in(tree: Arc<dyn Tree>, path: &str, options: &OpenOptions) -> Result<Vec<Action>> {
    let is_table = names::is_table(&*tree, path)?;
    let mut rescuer = Rescuer { tree, options: options.clone(), actions: Vec::new() };
    if is_table {
        rescuer.table(path)?;
    } else {
        rescuer.array(path)?;
    }
    Ok(rescuer.actions)
}

struct Rescuer {
    tree: Arc<dyn Tree>,
    options: OpenOptions,
    actions: Vec<Action>,
}

impl Rescuer {
    fn table(&mut self, path: &str) -> Result<()> {
        self.attrs(path)?;
        let listed = self.names(path)?;
        let mut kept: Vec<String> = Vec::new();
        for name in &listed {
            let usable = !kept.contains(name) && names::fault(name).is_none();
            let rescued = if usable { self.array(&join(path, name)) } else { Ok(()) };
            match rescued {
                Ok(()) if usable => kept.push(name.clone()),
                Err(error @ (Error::Io { .. } | Error::Limit { .. })) => return Err(error),
                _ => self.did(path, Repair::ColumnDropped { name: name.clone() }),
            }
        }
        if kept != listed {
            self.write(&names::names_path(path), &names_text(kept.iter().map(String::as_str)))?;
        }
        self.actions.extend(repair_in(self.tree.clone(), path)?);
        Ok(())
    }

    /// The names of the columns; where the list is damaged, those of the directories that can be
    /// one.
    fn names(&mut self, path: &str) -> Result<Vec<String>> {
        let names_path = names::names_path(path);
        let names = meta::read_object(&*self.tree, &names_path)
            .and_then(|json| names::parse_names(&json, &names_path));
        let error = match names {
            Ok(names) => return Ok(names),
            Err(error) => error,
        };
        if !matches!(error, Error::Corrupt { .. }) {
            return Err(error);
        }
        let mut names = Vec::new();
        for entry in self.tree.list(path).map_err(|source| Error::io(path, source))? {
            if entry.is_dir
                && files::has_file(&*self.tree, &meta::storage_path(&join(path, &entry.name)))?
            {
                names.push(entry.name);
            }
        }
        names.sort();
        self.write(&names_path, &names_text(names.iter().map(String::as_str)))?;
        self.did(path, Repair::Names { count: names.len() });
        Ok(names)
    }

    fn array(&mut self, path: &str) -> Result<()> {
        self.attrs(path)?;
        let sizes_path = meta::sizes_path(path);
        let repaired = match repair_in(self.tree.clone(), path) {
            // The chunks tell the length as well.
            Err(Error::Corrupt { path: wrong, .. }) if wrong == sizes_path => {
                self.tree.remove(&sizes_path).map_err(|source| Error::io(&sizes_path, source))?;
                repair_in(self.tree.clone(), path)
            }
            repaired => repaired,
        };
        self.actions.extend(repaired?);
        self.chunks(path)
    }

    /// Attributes that cannot be read keep bcolz from opening anything.
    fn attrs(&mut self, path: &str) -> Result<()> {
        match Attrs::read(&*self.tree, path) {
            Err(Error::Corrupt { .. }) => {
                self.write(&meta::attrs_path(path), &Attrs::default().to_text())?;
                self.did(path, Repair::AttrsLost);
                Ok(())
            }
            other => other.map(drop),
        }
    }

    /// Fills the chunks that cannot be read.
    fn chunks(&mut self, path: &str) -> Result<()> {
        let array = CArray::open_column(self.tree.clone(), path, &self.options)?;
        self.check_length(&array)?;
        let report = array.verify(&VerifyOptions::default().max_reported(usize::MAX), |_| ())?;
        for bad in report.bad {
            if let error @ (Error::Io { .. } | Error::Limit { .. }) = bad.error {
                return Err(error);
            }
            let (data, rows) = if array.is_object() {
                (NONE.to_vec(), 1)
            } else {
                let data = array.salvage_chunk(bad.nchunk)?.0;
                let rows = (data.len() / array.rowsize()) as u64;
                (data, rows)
            };
            let file = self.encode(&array, bad.nchunk, &data)?;
            let place = chunk_path(path, bad.nchunk);
            self.tree.write(&place, &file).map_err(|source| Error::io(&place, source))?;
            self.did(path, Repair::Filled { nchunk: bad.nchunk, rows });
        }
        Ok(())
    }

    /// A length of which hardly a chunk is there is a lie, and would be filled forever.
    fn check_length(&self, array: &CArray) -> Result<()> {
        let data = join(array.path(), "data");
        let entries = match self.tree.list(&data) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => Vec::new(),
            Err(source) => return Err(Error::io(data, source)),
        };
        let files = entries.iter().filter_map(|entry| chunk_number(&entry.name)).count() as u64;
        if array.nchunks() > files.saturating_mul(2).saturating_add(1000) {
            return Err(Error::corrupt(chunk_path(array.path(), files), Corrupt::Missing));
        }
        Ok(())
    }

    fn encode(&self, array: &CArray, nchunk: u64, data: &[u8]) -> Result<Vec<u8>> {
        let params = array.cparams().to_chunk(meta::typesize(array.dtype()));
        let wrong =
            |source| Error::Chunk { path: chunk_path(array.path(), nchunk), nchunk, source };
        Ok([&PREAMBLE[..], &blosc_chunk::compress(data, &params).map_err(wrong)?].concat())
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        self.tree.write(path, text.as_bytes()).map_err(|source| Error::io(path, source))
    }

    fn did(&mut self, path: &str, what: Repair) {
        self.actions.push(Action { path: path.to_owned(), what });
    }
}

/// The pickle of `None`.
const NONE: &[u8] = b"\x80\x02N.";
