//! `b2 completions`: scripts that teach a shell our commands and options.

use crate::{
    args::{CompletionsArgs, grammar},
    console::Console,
    error::Result,
};

/// Prints the script for one shell.
pub(crate) fn run(args: &CompletionsArgs, console: &Console) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut grammar(), "b2", &mut script);
    console.print(&String::from_utf8_lossy(&script))
}
