//! Groups of any format: stores, folders, files of other formats.

use core::fmt::Debug;

use serde_json::{Map, Value};

use crate::dataset::Dataset;
use crate::error::Result;
use crate::verify::{Report, Verifier};

/// The kind of a member of a group, as far as it is known without opening the member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberKind {
    /// Another group.
    Group,
    /// A table.
    Table,
    /// A value: opening it tells which.
    Value,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Its name in the group: a key such as `/a/b` of a store, the name of a file of a folder.
    pub name: String,
    /// Its kind.
    pub kind: MemberKind,
}

impl Member {
    /// A member of a kind.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: MemberKind) -> Self {
        Self { name: name.into(), kind }
    }
}

/// Members with names.
pub trait Group: Debug + Send + Sync {
    /// The name of the format: `b2z`, `b2d`, `b2e`, `zarr2`, `hdf5`, `folder`.
    fn format(&self) -> &'static str;

    /// All members, those of groups within included, sorted by bytes.
    ///
    /// # Errors
    ///
    /// Errors of listing.
    fn members(&self) -> Result<Vec<Member>>;

    /// Opens a member. Only that member is read.
    ///
    /// # Errors
    ///
    /// [`Error::NoMember`](crate::Error::NoMember); a member that cannot be opened.
    fn open(&self, name: &str) -> Result<Dataset>;

    /// The attributes of the group, as far as JSON can say them.
    ///
    /// # Errors
    ///
    /// Attributes that are damaged.
    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(Map::new())
    }

    /// The members and attributes that could not be read, in words that messages list.
    fn lost(&self) -> Vec<String> {
        vec![]
    }

    /// Looks for damage of the group and of all in it; see [`verify`](crate::verify::verify).
    ///
    /// # Errors
    ///
    /// Only where the system refuses to read at all, or the guard of `verifier` refuses; damage is
    /// in the report.
    fn verify(&self, verifier: &mut Verifier<'_>) -> Result<Report> {
        verifier.members(self)
    }
}
