//! `-0` to `-9`, `--level N`, `--fast` and `--best`: one value with thirteen spellings, of which
//! the last one on the line counts.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// The compression level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelArgs {
    /// The level, from 0 to 9.
    pub level: u8,
    /// Whether `--fast` gave the level, which chooses a codec as well.
    pub fast: bool,
    /// Whether any of these options was given.
    pub given: bool,
}

/// The default level, which is that of C-Blosc2.
const DEFAULT: u8 = 5;
const HEADING: &str = "Compression";
const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl Default for LevelArgs {
    fn default() -> Self {
        Self { level: DEFAULT, fast: false, given: false }
    }
}

impl Args for LevelArgs {
    fn augment_args(command: Command) -> Command {
        let level = Arg::new("level")
            .short('l')
            .long("level")
            .value_name("N")
            .value_parser(parse_level)
            .action(ArgAction::Append)
            .help_heading(HEADING)
            .help("Level from 0 (store) to 9 (best), also -0 to -9 [default: 5]");
        let fast =
            flag("fast").long("fast").help("Level 1, with the codec lz4 unless -C names another");
        let best = flag("best").long("best").help("Level 9");
        let digits = DIGITS.iter().map(|digit| flag(digit).short(char_of(digit)).hide(true));
        command.arg(level).arg(fast).arg(best).args(digits)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LevelArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let words = [("fast", 1), ("best", 9)];
        let digits = DIGITS.iter().zip(0u8..);
        let flags = words
            .iter()
            .map(|&(id, value)| (id, value))
            .chain(digits.map(|(id, value)| (*id, value)));
        let given = flags
            .filter(|(id, _)| matches.get_flag(id))
            .filter_map(|(id, value)| Some((matches.indices_of(id)?.max()?, value, id == "fast")))
            .chain(last_level(matches));
        let last = given.max();
        let (_, level, fast) = last.unwrap_or((0, DEFAULT, false));
        Ok(Self { level, fast, given: last.is_some() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn parse_level(text: &str) -> Result<u8, String> {
    let level = text.parse().ok().filter(|level| *level <= 9);
    level.ok_or_else(|| format!("{text:?} is no level from 0 to 9"))
}

/// The position of the last `--level` on the line, and its value.
fn last_level(matches: &ArgMatches) -> Option<(usize, u8, bool)> {
    let value = *matches.get_many::<u8>("level")?.next_back()?;
    Some((matches.indices_of("level")?.max()?, value, false))
}

fn flag(id: &'static str) -> Arg {
    // A flag that overrides itself may be repeated, as in `-9 -9`.
    Arg::new(id).action(ArgAction::SetTrue).overrides_with(id).help_heading(HEADING)
}

fn char_of(digit: &str) -> char {
    digit.chars().next().unwrap_or('5')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(argv: &[&str]) -> (u8, bool) {
        let command = LevelArgs::augment_args(Command::new("c").no_binary_name(true));
        let args = LevelArgs::from_arg_matches(&command.get_matches_from(argv)).unwrap();
        (args.level, args.fast)
    }

    #[test]
    fn last_of_repeated_options_counts() {
        assert_eq!(level(&[]), (5, false));
        assert_eq!(level(&["-0"]), (0, false));
        assert_eq!(level(&["-9", "-3"]), (3, false));
        assert_eq!(level(&["-9", "-9"]), (9, false));
        assert_eq!(level(&["-l", "7", "-2", "--level=4"]), (4, false));
        assert_eq!(level(&["-l", "7", "--fast"]), (1, true));
        assert_eq!(level(&["--fast", "--best"]), (9, false));
        assert_eq!(level(&["--fast", "-l3"]), (3, false));
    }
}
