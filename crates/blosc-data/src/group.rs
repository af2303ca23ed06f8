//! Groups of any format: stores, folders, files of other formats.

use core::fmt::Debug;

use serde_json::{Map, Value};

use crate::dataset::Dataset;
use crate::error::Result;
use crate::verify::{Report, Verifier};

/// The kind of a member of a group, known without opening the member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberKind {
    /// Another group.
    Group,
    /// A table.
    Table,
    /// A value, whose kind is known after opening.
    Value,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// The name of the member in the group: a key such as `/a/b` of a store, the name of a file of
    /// a folder.
    pub name: String,
    /// The kind of the member.
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

    /// All members, those of inner groups included, sorted by bytes.
    ///
    /// # Errors
    ///
    /// Errors of listing.
    fn members(&self) -> Result<Vec<Member>>;

    /// Opens a member, and reads no other one.
    ///
    /// # Errors
    ///
    /// [`Error::NoMember`](crate::Error::NoMember); a member that cannot be opened.
    fn open(&self, name: &str) -> Result<Dataset>;

    /// The attributes of the group, as far as JSON can hold them.
    ///
    /// # Errors
    ///
    /// Attributes that are damaged.
    fn attributes(&self) -> Result<Map<String, Value>> {
        Ok(Map::new())
    }

    /// The members and attributes that could not be read, in words for a list.
    fn lost(&self) -> Vec<String> {
        vec![]
    }

    /// Verifies the group and all of its members; see [`verify`](crate::verify::verify).
    ///
    /// # Errors
    ///
    /// When the system refuses to read at all, or the guard of `verifier` refuses. Damage is in the
    /// report instead.
    fn verify(&self, verifier: &mut Verifier<'_>) -> Result<Report> {
        verifier.members(self)
    }
}
