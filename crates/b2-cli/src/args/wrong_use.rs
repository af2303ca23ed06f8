//! clap's errors about a command line, in the words of this program: `b2: --level: "x" is no number
//! from 0 to 9`, and a hint that works as it stands.

use b2_program::{
    size::distance,
    usage::{first_paragraph, text, value},
};
use clap::{
    Error,
    error::{ContextKind, ErrorKind},
};

/// A usage error in two lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrongUse {
    /// The fault.
    pub(crate) message: String,
    /// The remedy.
    pub(crate) hint: String,
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
    ("--slice", "`b2 show --slice`, also with --csv, and `b2 cat --slice` take a part"),
    ("--output-dir-mirror", "-r --output-dir DIR keeps the folders below DIR"),
    ("--output-dir-flat", "--output-dir DIR puts the files into DIR"),
];

/// The levels, which only commands that compress have.
const LEVELS: &[&str] = &["-0", "-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"];

const LEVEL_HINT: &str = "levels are for compressing, as in `b2 -z -9 FILE`";

impl WrongUse {
    /// Rewords an error of clap, other than a text of `--help`, on a line with this command.
    pub(crate) fn from_error(error: &Error, command: Option<&str>) -> Self {
        // `b2 -5 FILE` runs `info`, but its level suggests that `-z` was meant.
        let is_default = command == Some("info");
        let command = command.map(|name| format!("{name} ")).unwrap_or_default();
        let arg = text(error, ContextKind::InvalidArg).unwrap_or_default();
        let option = arg.split([' ', '=']).next().unwrap_or_default().trim_matches(['<', '>']);
        let help = format!("`b2 {command}-h` lists the options");
        match error.kind() {
            ErrorKind::UnknownArgument => {
                let message = format!("no option {option:?}");
                let is_level = LEVELS.contains(&option) && is_default;
                let level = is_level.then(|| LEVEL_HINT.to_owned());
                let hint = level.or_else(|| elsewhere(option, error));
                Self { message, hint: hint.unwrap_or(help) }
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
fn elsewhere(option: &str, error: &Error) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(line: &str) -> (String, String) {
        let words: Vec<_> = line.split_whitespace().map(std::ffi::OsString::from).collect();
        let command = crate::args::command_name(&words);
        let error = crate::args::parse(words).unwrap_err();
        let WrongUse { message, hint } = WrongUse::from_error(&error, command.as_deref());
        (message, hint)
    }

    #[test]
    fn errors_are_said_in_words_of_the_program() {
        for (line, message, hint) in [
            ("b2 c -j 4 f", "no option \"-j\"", "-T N sets the number of threads"),
            ("b2 c --ultra f", "no option \"--ultra\"", "-9 is the highest level"),
            ("b2 c --levle 3 f", "no option \"--levle\"", "did you mean --level?"),
            ("b2 c --nope f", "no option \"--nope\"", "`b2 compress -h` lists the options"),
            (
                "b2 -9 some.file",
                "no option \"-9\"",
                "levels are for compressing, as in `b2 -z -9 FILE`",
            ),
            ("b2 cat -o x f", "no option \"-o\"", "the output is standard output: use `> FILE`"),
            (
                "b2 c -T x f",
                "--threads: \"x\" is not a whole number in the allowed range",
                "`b2 compress -h` lists the options",
            ),
            (
                "b2 c --color red f",
                "--color: \"red\" is none of auto, always and never",
                "`b2 compress -h` lists the options",
            ),
            ("b2 diff a", "B is missing", "`b2 diff -h` lists the options"),
        ] {
            assert_eq!(wrong(line), (message.to_owned(), hint.to_owned()), "{line}");
        }
    }
}
