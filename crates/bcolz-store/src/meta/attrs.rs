//! `__attrs__`: the users' notes about their data. The data are readable without them.

use blosc_io::LockWait;

use super::{attrs_path, parse_object};
use crate::error::{Error, Result};
use crate::files::{lock_exclusive, read_metadata};
use crate::note::Fault;
use crate::table_sums::replace_attrs;
use crate::tree::Tree;
use blosc_dtype::json::Json;

/// Attributes in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attrs {
    entries: Vec<(String, Json)>,
}

impl Attrs {
    /// The value of an attribute.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sets an attribute; a new one comes last.
    pub fn set(&mut self, name: &str, value: impl Into<Json>) {
        let value = value.into();
        match self.entries.iter_mut().find(|(found, _)| found == name) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((name.to_owned(), value)),
        }
    }

    /// Removes an attribute; false if it did not exist.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.len();
        self.entries.retain(|(found, _)| found != name);
        self.len() < before
    }

    /// Changes the attributes of the array or table at `path` of a tree, on disk at once and under
    /// the lock of the directory. Returns the result of `change`; after its error the attributes
    /// stay as they were.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # use bcolz_store::{Attrs, CArray, CArrayWriter, CreateOptions, Dtype, LockWait};
    /// # use bcolz_store::tree::DirTree;
    /// # let root = dir.path().join("a");
    /// # CArrayWriter::create(&root, &CreateOptions::new(Dtype::parse("int8")?))?.finish()?;
    /// let set_unit = |attrs: &mut Attrs| Ok::<_, bcolz_store::Error>(attrs.set("unit", "K"));
    /// Attrs::update_in(&DirTree::new(&root), "", &LockWait::default(), set_unit)?;
    /// assert_eq!(CArray::open(&root)?.attrs()?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of `change`; `Locked`; `Io`; [`Corrupt`](Error::Corrupt) if the attributes are
    /// damaged.
    pub fn update_in<T, E: From<Error>>(
        tree: &dyn Tree,
        path: &str,
        wait: &LockWait,
        change: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let _lock = lock_exclusive(tree, path, wait)?;
        let (mut attrs, _) = Self::read(tree, path)?;
        let changed = change(&mut attrs)?;
        replace_attrs(tree, path, &attrs.to_text())?;
        Ok(changed)
    }

    /// The text of the file.
    pub(crate) fn to_text(&self) -> String {
        format!("{}\n", Json::Object(self.entries.clone()))
    }

    /// The attributes of the data set at `path`. A missing or empty file means none, and is a
    /// fault.
    pub(crate) fn read(tree: &dyn Tree, path: &str) -> Result<(Self, Option<Fault>)> {
        let path = attrs_path(path);
        match read_metadata(tree, &path)?.as_deref() {
            None => Ok((Self::default(), Some(Fault::AttrsMissing))),
            Some([]) => Ok((Self::default(), Some(Fault::AttrsEmpty))),
            Some(bytes) => match parse_object(&path, bytes)? {
                Json::Object(entries) => Ok((Self { entries }, None)),
                _ => Ok((Self::default(), None)),
            },
        }
    }
}
