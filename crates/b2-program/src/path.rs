//! Names of files that mean the same file, or none.

use std::{fs, path::Path};

/// Whether both names lead to the same existing file.
#[must_use]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    // Resolving a path costs a call for each of its folders; these checks cost one each.
    let is_there = b.symlink_metadata().is_ok() && a.symlink_metadata().is_ok();
    is_there && matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// Whether this is a name of standard output.
#[must_use]
pub fn is_stdout(path: &Path) -> bool {
    cfg!(unix) && STDOUT_NAMES.iter().any(|name| path == Path::new(name))
}

/// The names of standard output on systems with `/dev`.
const STDOUT_NAMES: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Whether the shell made this pipe and its name, as in `-o >(wc -c)`. The name is a link, and the
/// output is written through it.
#[must_use]
pub fn is_pipe_of_shell(path: &Path) -> bool {
    let is_named_so = path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd");
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        is_named_so && fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
    }
    #[cfg(not(unix))]
    {
        let _none = is_named_so;
        false
    }
}

/// A name for the output of a rescue: `prices-fixed.bcolz`.
#[must_use]
pub fn fixed(path: &str) -> String {
    let path = path.trim_end_matches('/');
    let stem = Path::new(path)
        .extension()
        .map_or(path.len(), |extension| path.len() - extension.len() - 1);
    format!("{}-fixed{}", &path[..stem], &path[stem..])
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        assert!(!is_same_file(&file, &link));
        fs::write(&file, "").unwrap();
        assert!(is_same_file(&file, &link) && !is_same_file(&file, dir.path()));
    }

    #[test]
    fn standard_output_has_names() {
        assert!(is_stdout(Path::new("/dev/stdout")) && !is_stdout(Path::new("stdout")));
        assert!(!is_pipe_of_shell(Path::new("/dev/null")));
    }
}
