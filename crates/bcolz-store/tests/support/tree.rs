//! Trees of files.

use bcolz_store::tree::Tree;

/// Copies everything at `path` of a tree to another.
pub(crate) fn copy(from: &dyn Tree, to: &dyn Tree, path: &str) {
    for entry in from.list(path).unwrap() {
        let path = if path.is_empty() { entry.name } else { format!("{path}/{}", entry.name) };
        if entry.is_dir {
            to.create_dir(&path).unwrap();
            copy(from, to, &path);
        } else {
            let file = from.open(&path).unwrap();
            let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
            file.read_exact_at(0, &mut bytes).unwrap();
            to.write(&path, &bytes).unwrap();
        }
    }
}
