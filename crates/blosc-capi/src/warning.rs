//! Messages for users who set `BLOSC_WARN`.

use std::io::Write;

/// Writes a line to the standard error, as C-Blosc does if the variable `BLOSC_WARN` is set. A
/// stream that is closed is no failure of the call.
pub fn warn(is_wanted: bool, text: &str) {
    if is_wanted {
        drop(writeln!(std::io::stderr(), "{text}"));
    }
}
