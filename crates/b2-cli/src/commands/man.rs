//! `b2 man`: manual pages in roff, one for the program and one per command.

use std::io;

use crate::{
    args::{ManArgs, grammar},
    console::Console,
    error::{Doing, Error, Result, message},
};

/// Prints the page of one command, or of the program.
pub(crate) fn run(args: &ManArgs, console: &Console) -> Result<()> {
    console.print(&page(args.command.as_deref())?)
}

fn page(command: Option<&str>) -> Result<String> {
    let mut grammar = grammar().version(env!("CARGO_PKG_VERSION"));
    grammar.build();
    let subject = match command {
        None => grammar,
        Some("blpk") => crate::blpk::grammar(),
        Some(name) => {
            grammar.find_subcommand(name).cloned().ok_or_else(|| message::NO_COMMAND.about(name))?
        }
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(subject).render(&mut roff).map_err(Error::io(Doing::Stdout))?;
    String::from_utf8(roff).map_err(|error| {
        Error::io(Doing::Stdout)(io::Error::new(io::ErrorKind::InvalidData, error))
    })
}
