//! Messages for users who set `BLOSC_WARN`.

use std::io::Write;

/// Writes a line to standard error if the variable `BLOSC_WARN` is set, as C-Blosc does. A closed
/// stream does not fail the call.
pub fn warn(is_wanted: bool, text: &str) {
    if is_wanted {
        drop(writeln!(std::io::stderr(), "{text}"));
    }
}
