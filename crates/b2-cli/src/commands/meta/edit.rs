//! A document in the editor of the user.

use std::{env, ffi::OsString, fs, io::Write, process::Command};

use tempfile::NamedTempFile;

use crate::{
    context::Context,
    error::{Doing, Error, Result, chain, message},
};

/// Opens a text in the editor and gives it to `read`. If `read` refuses it, the file stays, since
/// somebody typed it by hand.
///
/// # Errors
///
/// When the editor cannot be started or reports a failure, and those of `read`.
pub(super) fn edited<T>(
    text: &str,
    cx: &Context,
    read: impl FnOnce(&str) -> Result<T>,
) -> Result<T> {
    let create = || tempfile::Builder::new().prefix("b2-meta-").suffix(".json").tempfile();
    let file =
        cx.unfinished.create(create, NamedTempFile::path).map_err(Error::io(Doing::Spool))?;
    let path = file.into_temp_path();
    let name = path.to_path_buf();
    let read = write(&path, text).and_then(|()| run(&path)).map(|typed| read(&typed));
    match read {
        Ok(Err(error)) => {
            let _kept = cx.unfinished.settle(&name, || path.keep());
            let what = match error {
                Error::Metadata { what, .. } => what.to_string(),
                error => chain(&error),
            };
            Err(Error::Edited { path: name, what })
        }
        done => {
            let _removed = cx.unfinished.settle(&name, || path.close());
            done?
        }
    }
}

fn write(path: &std::path::Path, text: &str) -> Result<()> {
    let file = fs::File::create(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(Error::io(Doing::Spool))
}

fn run(path: &std::path::Path) -> Result<String> {
    let editor =
        ["VISUAL", "EDITOR"].iter().find_map(env::var_os).filter(|editor| !editor.is_empty());
    let mut line = editor.unwrap_or_else(|| "vi".into());
    // The variable may hold a command with options, so a shell runs it.
    line.push(" \"$1\"");
    let words: [OsString; 4] = ["-c".into(), line.clone(), "sh".into(), path.into()];
    let status = Command::new("sh").args(words).status().map_err(Error::io(Doing::Editor))?;
    if !status.success() {
        return Err(
            message::EDITOR_FAILED.about(line.to_string_lossy().trim_end_matches(" \"$1\""))
        );
    }
    fs::read_to_string(path).map_err(Error::io(Doing::Spool))
}
