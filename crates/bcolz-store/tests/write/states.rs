//! Every state that an interrupted change can leave.

use std::sync::Arc;

use bcolz_store::Result;
use bcolz_store::tree::{MemTree, Tree};
use blosc_io::testing::{RecordingTree, Step};

/// The tree before a change, and after each of its steps.
pub(crate) fn states(
    before: &MemTree,
    change: impl Fn(Arc<dyn Tree>) -> Result<()>,
) -> Vec<Arc<MemTree>> {
    let recording = RecordingTree::new(before.clone());
    change(Arc::new(recording.clone())).unwrap();
    let tree = before.clone();
    let mut states = vec![Arc::new(tree.clone())];
    for step in recording.take() {
        if matches!(step, Step::Sync(_) | Step::SyncNames(_)) {
            continue; // The state cannot differ.
        }
        step.apply(&tree).unwrap();
        states.push(Arc::new(tree.clone()));
    }
    states
}
