//! Data sets of bcolz by their places.

use std::sync::Arc;

use blosc_io::{Tree, tree::DirTree};

pub(crate) use blosc_data::{content::Bcolz, formats::bcolz_note as note};

use crate::inputs::Place;

impl From<&Place> for Arc<dyn Tree> {
    fn from(place: &Place) -> Self {
        place.tree_elsewhere().unwrap_or_else(|| Arc::new(DirTree::new(&**place)))
    }
}

/// Bytes of all files below a directory; what cannot be seen does not count.
pub(crate) fn stored(root: &Place) -> u64 {
    blosc_data::content::stored_nbytes(&*Arc::<dyn Tree>::from(root))
}
