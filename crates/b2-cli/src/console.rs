//! The console as the options want it, and the text of failures.
//!
//! A failure is `b2: FILE: what is wrong`, and `hint: what to do` on a line of its own; with
//! `--json` it is an object. `-q` keeps only errors, `-qq` nothing.

use b2_program::{Manner, hint, size::Units};
use blosc_data::error::Refusal;

use crate::{
    args::GeneralArgs,
    error::{Error, chain},
    program::B2,
    render::{ErrorPosition, path_text},
};

/// The only place that prints for people.
pub(crate) type Console = b2_program::Console<B2>;

impl From<&GeneralArgs> for Manner {
    fn from(general: &GeneralArgs) -> Self {
        Self {
            quiet: general.quiet,
            verbose: general.verbose,
            json: general.json,
            units: if general.si { Units::Si } else { Units::Binary },
            color: general.color,
            progress: general.progress,
        }
    }
}

/// Reports the error that stopped `file`.
pub(crate) fn tell_failure(console: &Console, file: Option<&str>, error: &Error) {
    let named = error.path().map(path_text);
    let file = named.as_deref().or(file);
    if let Error::Data(data) = error
        && let blosc_data::Error::Refused(Refusal::Condition { text, error }) = &**data
        && let (false, Some(at)) = (console.json(), error.position())
    {
        return console.marked(file, text, at, &error.reason());
    }
    // Advice about another input names that input.
    let inner = match error {
        Error::Input { file, .. } => Some(file.as_str()),
        _ => None,
    };
    let on_key = || file.and_then(|file| error.hint_on_key(file)).map(Into::into);
    let hint = error.hint().or_else(on_key);
    let hint = hint.filter(|hint| !hint.contains("b2 rescue") || file.is_none_or(is_saved));
    let hint = hint.map(|hint| match inner {
        Some(inner) => hint::named(&hint, inner).into_owned(),
        None => hint.into_owned(),
    });
    let text = chain(error);
    let (message, position) = (without_name(&text, file), ErrorPosition::of_error(error));
    console.problem(file, error.kind(), message, position, hint.as_deref());
}

/// Whether `b2 rescue` may save something: never of NumPy's files.
fn is_saved(file: &str) -> bool {
    let path = file.split_once("::").map_or(file, |(file, _)| file);
    ![".npy", ".npz"].iter().any(|suffix| path.ends_with(suffix))
}

/// The message about a file, without the prefix that names the file or its key in a store.
pub(crate) fn without_name<'a>(text: &'a str, file: Option<&str>) -> &'a str {
    let key = file.and_then(|file| file.split_once("::")).map(|(_, key)| key);
    let mut names = [file, key].into_iter().flatten();
    names.find_map(|name| text.strip_prefix(name)?.strip_prefix(": ")).unwrap_or(text)
}
