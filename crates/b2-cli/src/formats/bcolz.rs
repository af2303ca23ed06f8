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
