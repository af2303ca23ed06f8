//! clap's errors about a command line, in the words of this program: `b2: --level: "x" is no number
//! from 0 to 9`, and a hint that works as it stands.

use clap::{
    Error,
    error::{ContextKind, ErrorKind},
};

use crate::{
    size::distance,
    usage::{NO_VALUE, first_paragraph, text, value},
};

/// A usage error in two lines.
#[derive(Debug, PartialEq, Eq)]
pub struct WrongUse {
    /// The fault.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

/// Options of other programs and of other commands, each with its equivalent here.
const KNOWN_ELSEWHERE: &[(&str, &str)] = &[
    ("-j", "-T N sets the number of threads"),
    ("-p", "-T N sets the number of threads"),
    ("--jobs", "-T N sets the number of threads"),
    ("--ultra", "-9 is the highest level"),
    ("--extreme", "-9 is the highest level"),
    ("-e", "-9 is the highest level"),
    ("--long", "-z SIZE sets the bytes of a chunk"),
    ("-S", "--suffix .S sets the suffix"),
    ("-D", "--dict makes a dictionary of the data"),
    ("--order", "arrays are stored in C order, and items of .npy files are put into it"),
    ("--lossy", "`b2 cat FILE | b2 compress --lossy` loses data, and no other command does"),
    ("--where", "`b2 show`, `b2 plot` and `b2 convert` take --where, and make a table of its rows"),
    ("--slice", "`b2 show --slice`, also with --csv, and `b2 cat --slice` take a part"),
    ("--output-dir-mirror", "-r --output-dir DIR keeps the folders below DIR"),
    ("--output-dir-flat", "--output-dir DIR puts the files into DIR"),
];

/// The levels, which only commands that compress have.
const LEVELS: &[&str] = &["-0", "-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"];

const LEVEL_HINT: &str = "levels are for compressing, as in `b2 -z -9 FILE`";

impl WrongUse {
    /// Of an error that is no text of `--help`, on a line with this command.
    #[must_use]
    pub fn from_error(error: &Error, command: Option<&str>) -> Self {
        // A line without a command is one of `info`, where a level was meant for `-z`.
        let is_default = command == Some("info");
        let command = command.map(|name| format!("{name} ")).unwrap_or_default();
        let arg = text(error, ContextKind::InvalidArg).unwrap_or_default();
        let option = arg.split([' ', '=']).next().unwrap_or_default();
        // `--option[=<N>]` has a value that may be left out.
        let option = option.trim_matches(['<', '>', '[']);
        let help = format!("`b2 {command}-h` lists the options");
        let is_word = !option.is_empty() && !option.starts_with('-');
        match error.kind() {
            ErrorKind::UnknownArgument => {
                let message = format!("no option {option:?}");
                let is_level = LEVELS.contains(&option) && is_default;
                let level = is_level.then(|| LEVEL_HINT.to_owned());
                let hint = level.or_else(|| elsewhere(option, command.trim_end(), error));
                Self { message, hint: hint.unwrap_or(help) }
            }
            // The parser takes every name of a file but the empty one.
            ErrorKind::InvalidValue if is_word && value(error) == NO_VALUE => {
                Self { message: "the name of a file is empty".to_owned(), hint: help }
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation if !arg.is_empty() => {
                Self { message: format!("{option}: {}", value(error)), hint: help }
            }
            ErrorKind::MissingRequiredArgument => {
                let missing = arg.replace(['<', '>'], "");
                Self { message: format!("{missing} is missing"), hint: help }
            }
            ErrorKind::InvalidSubcommand => {
                let (message, hint) = first_paragraph(error);
                let help = "`b2 --help` lists the commands".to_owned();
                Self { message, hint: hint.unwrap_or(help) }
            }
            _ => {
                let (message, hint) = first_paragraph(error);
                Self { message, hint: hint.unwrap_or(help) }
            }
        }
    }
}

/// The replacement for an option that this program lacks.
fn elsewhere(option: &str, command: &str, error: &Error) -> Option<String> {
    if option == "-o" && command == "split" {
        return Some("--output-dir DIR puts the files into DIR".to_owned());
    }
    if option == "-o" {
        return Some("the output is standard output: use `> FILE`".to_owned());
    }
    if let Some((_, hint)) = KNOWN_ELSEWHERE.iter().find(|(known, _)| *known == option) {
        return Some((*hint).to_owned());
    }
    let near = text(error, ContextKind::SuggestedArg)?;
    let slips = distance(near.as_bytes(), option.as_bytes());
    (slips <= 2).then(|| format!("did you mean {near}?"))
}
