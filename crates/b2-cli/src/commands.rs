//! One module per command. Each takes its options and a [`Context`](crate::context::Context), asks
//! the libraries, and prints through the console.

pub(crate) mod append;
pub(crate) mod bench;
pub(crate) mod cat;
pub(crate) mod compat;
pub(crate) mod completions;
pub(crate) mod compress;
pub(crate) mod convert;
pub(crate) mod decompress;
pub(crate) mod diff;
pub(crate) mod dump;
pub(crate) mod formats;
pub(crate) mod frames;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod meta;
pub(crate) mod pack;
pub(crate) mod plot;
pub(crate) mod recompress;
pub(crate) mod repack;
pub(crate) mod rescue;
pub(crate) mod scan;
pub(crate) mod seal;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod sum;
pub(crate) mod table;
pub(crate) mod tune;
pub(crate) mod verify;
pub(crate) mod view;

use crate::content;
