//! Files and folders that appear whole or not at all. Only this module names, makes, renames and
//! sweeps unfinished ones.
//!
//! ```text
//!   make     .NAME.b2tmp-XXXXXX beside NAME, locked, for its owner only
//!   write    by the handle of the file, or at NAME in the folder of that name
//!   sync     the content
//!   place    rename; exchange if either one is a folder
//!   sync     the names in the enclosing folder
//!   sweep    leftovers of killed processes
//! ```
//!
//! | successor of | made by |
//! |---|---|
//! | a file, written by handle | [`Replacement::file`] |
//! | a file or folder, written by path | [`Replacement::folder`] |
//! | an entry of a [`Tree`] | [`TreeStage`], in which its parts are made |
//! | a file inside a container | [`temporary_path`], under the lock of the container |
//!
//! # Names
//!
//! `XXXXXX` are six random letters and digits. A NAME that leaves no room for them is shortened. A
//! sweep also knows the names of earlier versions: `NAME.PID.tmp` and `NAME.N.PID.tmp` beside NAME;
//! `chunks.b2frame.tmp` and `NAME.__temp__` inside containers.
//!
//! # Sweeping
//!
//! A sweep keeps every file that a living process may write. It removes a leftover only if all of
//! these hold:
//!
//! - It is a file or a folder, and not a link.
//! - The sweep gets its lock, which its maker holds until it is renamed or removed. If there are no
//!   locks, everything stays.
//! - The sweep has the lock of the folder around it, which the writer of a container holds.
//! - No process has the number in its name, and a file begins like the one that it was to replace.
//!   Only earlier versions put numbers into names.
//!
//! A process that is ended by a signal can remove its own files: see [`Unfinished`].

mod carry;
mod exchange;
mod name;
mod replacement;
mod stage;
mod sweep;
mod temporary;
mod together;
mod unfinished;

pub use carry::{Carry, carry_to_folder};
pub use exchange::{exchange, rename_new};
pub use name::{is_leftover, is_temporary, temporary_path};
pub use replacement::{ReplaceOptions, Replacement, directory_of, sync_names};
pub use stage::TreeStage;
pub use sweep::{sweep, sweep_in};
pub use temporary::Temporary;
pub use together::sync_many;
pub use unfinished::Unfinished;

pub(crate) use replacement::sync_file;
pub(crate) use temporary::remove;

#[cfg(doc)]
use crate::Tree;
