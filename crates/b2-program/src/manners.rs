//! Three forms of a command line, made one before clap parses it.
//!
//! `b2 [OPTIONS] COMMAND [OPTIONS] [FILE]...` may carry its options anywhere; `b2 -d [OPTIONS]
//! [FILE]...` is how gzip, zstd, xz and lz4 are called; `b2 FILE...` describes the files. All
//! become `b2 COMMAND [OPTIONS] [FILE]...`. This module refuses nothing: clap reports what makes no
//! sense.
//!
//! A letter may mean different things: `-t` is a mode until a command is known, and the item size
//! of `compress` afterwards. So `b2 -t FILE` verifies, while `b2 c -t 4 FILE` and `b2 -z -t 4 FILE`
//! set a size.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
};

/// Letters that choose a command when they come before any.
const MODES: [(char, &str); 4] =
    [('z', "compress"), ('d', "decompress"), ('t', "verify"), ('l', "list")];

/// The first word like `-10` of a command that has levels: two digits are no level, and two levels
/// are hardly meant.
#[must_use]
pub fn two_digits(argv: &[OsString]) -> Option<&str> {
    let command = argv.get(1)?.to_str()?;
    if !matches!(command, "compress" | "convert" | "recompress") {
        return None;
    }
    let words = argv.iter().skip(2).map_while(|word| word.to_str().filter(|word| *word != "--"));
    let is_number = |word: &&str| {
        word.strip_prefix('-')
            .is_some_and(|digits| digits.len() > 1 && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    words.into_iter().find(is_number)
}

/// `b2 meta FILE` is `b2 meta get FILE`.
#[must_use]
pub fn with_action(mut argv: Vec<OsString>) -> Vec<OsString> {
    let is_meta = argv.get(1).is_some_and(|word| word == "meta");
    let operands: Vec<usize> = (2..argv.len())
        .filter(|at| !argv[*at].as_encoded_bytes().starts_with(b"-") || argv[*at] == "-")
        .collect();
    if let (true, [only]) = (is_meta, &operands[..])
        && std::path::Path::new(&argv[*only]).symlink_metadata().is_ok()
    {
        argv.insert(2, "get".into());
    }
    argv
}

/// The commands, and the options that take a value.
#[derive(Debug)]
pub struct Shapes {
    /// Command names and aliases, and the proper name.
    commands: HashMap<String, String>,
    /// Per command, its short options with a value.
    shorts: HashMap<String, HashSet<char>>,
    /// Long options with a value, of all commands.
    longs: HashSet<String>,
}

impl Shapes {
    /// Takes them from the grammar.
    #[must_use]
    pub fn from_grammar(grammar: &clap::Command) -> Self {
        let mut shapes =
            Self { commands: HashMap::new(), shorts: HashMap::new(), longs: HashSet::new() };
        shapes.commands.insert("help".into(), "help".into());
        for command in grammar.get_subcommands() {
            shapes.add(command);
        }
        shapes
    }

    fn add(&mut self, command: &clap::Command) {
        let proper = command.get_name().to_owned();
        for name in command.get_all_aliases().chain([command.get_name()]) {
            self.commands.insert(name.to_owned(), proper.clone());
        }
        let valued = || {
            command
                .get_arguments()
                .filter(|arg| arg.get_action().takes_values() && !arg.is_positional())
        };
        self.longs.extend(valued().filter_map(|arg| arg.get_long()).map(str::to_owned));
        self.shorts.insert(proper, valued().filter_map(|arg| arg.get_short()).collect());
    }

    fn short_takes_value(&self, command: Option<&str>, letter: char) -> bool {
        match command {
            Some(command) => {
                self.shorts.get(command).is_some_and(|letters| letters.contains(&letter))
            }
            None => self.shorts.values().any(|letters| letters.contains(&letter)),
        }
    }
}

/// Is no command named, so that it is [`canonical`] that says `info`?
#[must_use]
pub fn has_no_command(argv: &[OsString], shapes: &Shapes) -> bool {
    let mut scan = Scan { shapes, command: None, kept: Vec::new(), operands: false };
    scan.all(argv.iter().skip(1).cloned());
    scan.command.is_none()
}

/// Brings `argv` into the form `b2 COMMAND [OPTIONS] [FILE]...`.
#[must_use]
pub fn canonical(argv: impl IntoIterator<Item = OsString>, shapes: &Shapes) -> Vec<OsString> {
    let mut argv = argv.into_iter();
    let program = argv.next().unwrap_or_else(|| "b2".into());
    let mut scan = Scan { shapes, command: None, kept: Vec::new(), operands: false };
    scan.all(argv);
    let command = scan.command.or_else(|| scan.operands.then(|| "info".to_owned()));
    // `tar -I 'b2 d'` adds a `-d`.
    let is_repeated = |word: &OsString| command.as_deref() == Some("decompress") && word == "-d";
    let dashes = scan.kept.iter().position(|word| word == "--").unwrap_or(scan.kept.len());
    let files = scan.kept.split_off(dashes);
    let kept = scan.kept.into_iter().filter(|word| !is_repeated(word)).collect::<Vec<_>>();
    let command = command.clone().map(OsString::from);
    [program].into_iter().chain(command).chain(kept).chain(files).collect()
}

/// The arguments so far.
struct Scan<'a> {
    shapes: &'a Shapes,
    command: Option<String>,
    kept: Vec<OsString>,
    operands: bool,
}

impl Scan<'_> {
    fn all(&mut self, mut argv: impl Iterator<Item = OsString>) {
        while let Some(word) = argv.next() {
            let value_follows = match word.to_str() {
                Some("--") => return self.rest(word, argv),
                Some(text) if text.starts_with("--") => self.long(&text[2..]),
                Some(text) if text.len() > 1 && text.starts_with('-') => {
                    let (left, value_follows) = self.cluster(&text[1..]);
                    self.kept.extend((!left.is_empty()).then(|| format!("-{left}").into()));
                    self.kept.extend(value_follows.then(|| argv.next()).flatten());
                    continue;
                }
                text if self.is_command(text) => {
                    self.command = text.and_then(|name| self.shapes.commands.get(name).cloned());
                    self.kept.extend(argv);
                    return;
                }
                _ => {
                    self.operands = true;
                    false
                }
            };
            self.kept.push(word);
            self.kept.extend(value_follows.then(|| argv.next()).flatten());
        }
    }

    /// Everything after `--` is a file.
    fn rest(&mut self, dashes: OsString, argv: impl Iterator<Item = OsString>) {
        self.kept.push(dashes);
        let before = self.kept.len();
        self.kept.extend(argv);
        self.operands |= self.kept.len() > before;
    }

    /// Only the first operand can be a command, and only when no mode was chosen.
    fn is_command(&self, word: Option<&str>) -> bool {
        let known = word.is_some_and(|word| self.shapes.commands.contains_key(word));
        known && self.command.is_none() && !self.operands
    }

    /// Whether the value of this long option is the next word.
    fn long(&self, name: &str) -> bool {
        self.shapes.longs.contains(name)
    }

    /// Takes a mode letter out of `-abc`; returns the other letters, and whether a value follows as
    /// a word of its own.
    fn cluster(&mut self, letters: &str) -> (String, bool) {
        let mut left = String::new();
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            let mode = MODES.iter().find(|(mode, _)| *mode == letter).map(|(_, command)| *command);
            match (self.command.as_deref(), mode) {
                (None, Some(command)) => {
                    self.command = Some(command.to_owned());
                    continue;
                }
                // `-dt` tests, as in gzip.
                (Some("decompress"), Some("verify")) => {
                    self.command = Some("verify".to_owned());
                    continue;
                }
                (Some("decompress" | "verify"), Some("decompress")) => continue,
                _ => {}
            }
            left.push(letter);
            if self.shapes.short_takes_value(self.command.as_deref(), letter) {
                let value = letters.as_str();
                left.push_str(value);
                return (left, value.is_empty());
            }
        }
        (left, false)
    }
}
