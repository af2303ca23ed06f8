//! Syncing many files by one call.

use std::fs::File;

/// The least number of files for which their whole file system is synced. Each sync of a file waits
/// for the disk; a sync of the file system also waits for other programs' data.
const MANY: usize = 32;

/// Syncs the common file system of many files. Returns `false` if the files are few or in several
/// file systems, or if the system lacks the call or does not report its errors. The caller must
/// then sync each file by itself.
#[must_use]
pub fn sync_many(files: &[&File]) -> bool {
    match files.first() {
        Some(first) if files.len() >= MANY => is_in_one_system(files) && sync_file_system(first),
        _ => false,
    }
}

#[cfg(target_os = "linux")]
fn is_in_one_system(files: &[&File]) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let device = |file: &&File| file.metadata().ok().map(|found| found.dev());
    let mut devices = files.iter().map(device);
    devices.next().flatten().is_some_and(|first| devices.all(|other| other == Some(first)))
}

/// Syncs the file system; returns whether it had no error since `file` was opened. Kernels before
/// 5.8 report success for a failed sync.
#[cfg(target_os = "linux")]
fn sync_file_system(file: &File) -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let (major, minor) = (numbers.next(), numbers.next());
    let reports = matches!((major, minor), (Some(Ok(5)), Some(Ok(8..))) | (Some(Ok(6..)), _));
    reports && rustix::fs::syncfs(file).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn is_in_one_system(_: &[&File]) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_are_synced_at_once_and_few_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = |n: usize| File::create(dir.path().join(n.to_string())).unwrap();
        let files: Vec<File> = (0..MANY).map(file).collect();
        let files: Vec<&File> = files.iter().collect();
        assert!(!sync_many(&files[1..]) && !sync_many(&[]));
        assert_eq!(sync_many(&files), sync_file_system(files[0]));
    }
}
