//! The command lines for a damaged file, drawn from a table of all commands, so that each command
//! meets each format.

use core::fmt;

use blosc_testdata::data::XorShift32;

use super::inputs::Folder;
use blosc_trials::cases::below;

/// Words of a command line. `X` is the damaged file, `D/` its folder.
const READING: &[&str] = &[
    "cat --max-output=4M X",
    "cat --max-output=4M --bytes=-8: X",
    "cat --max-output=4M --items=3:9 X",
    "cat --max-output=4M --slice=::-2 X",
    "cat --max-output=4M X#1",
    "compat X",
    "compress -f X -o D/out.b2frame",
    "compress -f --format=blp X -o D/out.blp",
    "compress -f --format=chunk X -o D/out.chunk",
    "compress -f --meta-file=X D/add.raw -o D/out.b2frame",
    "convert --max-output=4M -f X -o D/out.b2frame",
    "convert --max-output=4M -f X -o D/out.b2nd",
    "convert --max-output=4M -f X -o D/out.blp",
    "convert --max-output=4M -f X -o D/out.npy",
    "convert --max-output=4M -f X -o D/out.chunk",
    "convert --max-output=4M -f X -o D/out.csv",
    "convert --max-output=4M -f X -o D/out.b2z",
    "convert --max-output=4M -f X -o D/out.b2d",
    "convert --max-output=4M -f X -o D/out.sframe",
    "convert --max-output=4M -f --format=carray X -o D/out.carray",
    "convert --max-output=4M -f --format=ctable X -o D/out.bcolz",
    "convert --max-output=4M -f --format=raw -C lz4 X -o D/out.raw",
    "decompress --max-output=4M -f X -o D/out",
    "decompress --max-output=4M -f --format=npy X -o D/out.npy",
    "diff --max-output=4M X D/sound.b2nd",
    "diff --max-output=4M X X",
    "dump --max-output=4M X",
    "dump --max-output=4M --header --json X",
    "dump --max-output=4M --chunk=1 X",
    "extract -f X#0 -o D/out",
    "extract -f --chunk=1 X -o D/out.chunk",
    "info --max-output=4M -v X",
    "info --max-output=4M -vv X",
    "info --max-output=4M --json -vv X",
    "info --max-output=4M X@0",
    "join -f X D/sound.b2frame -o D/out.b2frame",
    "list X",
    "list --tree X",
    "list --json -r X",
    "meta get X",
    "meta get --json X m",
    "meta export -f X -o D/out.json",
    "pack -f X -o D/out.b2z",
    "plot --max-output=4M -f X -o D/out.svg",
    "plot --max-output=4M -f --kind=histogram X -o D/out.png",
    "plot --max-output=4M --size=40x10 --dtype=<i2 X",
    "recompress --max-output=4M -f X -o D/out-again",
    "rescue --max-output=4M -f X -o D/saved",
    "rescue --max-output=4M -f --cut X -o D/saved",
    "rescue --max-output=4M -f --fill=nan X -o D/saved",
    "scan X",
    "scan --frames --json X",
    "show --max-output=4M X",
    "show --max-output=4M --csv X",
    "show --max-output=4M --json -n 3 X",
    "show --max-output=4M --slice=1:3 X",
    "show --max-output=4M --dtype=<f4 X",
    "show --max-output=4M --where=id>3 --columns=id X",
    "show --max-output=4M X::/group/array",
    "split -f X --output-dir D/out-parts",
    "stats --max-output=4M X",
    "stats --max-output=4M --histogram=5 --json X",
    "sum --max-output=4M X",
    "sum --max-output=4M --check X",
    "sum --max-output=4M -a xxh3 X",
    "tune --max-output=4M --sample=512 X",
    "bench --max-output=4M --sample=512 -C lz4 -l 1 --rounds=1 X",
    "unpack X -o D/out-store.b2d",
    "verify --max-output=4M X",
    "verify --max-output=4M --json X",
    "view X",
];

const CHANGING: &[&str] = &[
    "append --max-output=4M X D/add.raw",
    "append --max-output=4M X D/add.csv",
    "append --max-output=4M D/sound.b2frame X",
    "append --max-output=4M D/sound.b2nd X",
    "compress --rm -f X -o D/out.b2frame",
    "convert --max-output=4M --rm -f X -o D/out.b2nd",
    "decompress --max-output=4M --rm -f X -o D/out",
    "meta set X unit=K n=[1,2]",
    "meta set --meta X m=xyz",
    "meta del X m",
    "meta del X v unit",
    "meta import X D/out.json",
    "meta import D/sound.b2frame X",
    "recompress --max-output=4M -C zstd X",
    "recompress --max-output=4M --checksum=chunks X",
    "repack X",
    "seal X",
    "seal --checksum=chunks X",
    "seal --checksum=none X",
    "table add X c:i4=1",
    "table compact X",
    "table delete X --where=a>0",
    "table set X a=1",
];

/// One command and its arguments.
pub(super) struct Line(Vec<String>);

/// A command that does not change its input.
pub(super) fn reading(draw: &mut XorShift32, path: &str, folder: &Folder) -> Line {
    Line::new(READING[below(draw, READING.len())], path, folder)
}

/// A command that may change its input, or another file.
pub(super) fn changing(draw: &mut XorShift32, path: &str, folder: &Folder) -> Line {
    Line::new(CHANGING[below(draw, CHANGING.len())], path, folder)
}

impl Line {
    fn new(words: &str, path: &str, folder: &Folder) -> Self {
        let dir = folder.path("");
        let word = |word: &str| match word.split_at_checked(1) {
            Some(("X", rest)) => format!("{path}{rest}"),
            _ => word.replace("=X", &format!("={path}")).replace("D/", &dir),
        };
        Self(words.split(' ').map(word).collect())
    }

    /// The command, with the action of `meta`.
    pub(super) fn command(&self) -> String {
        let is_meta = self.0.first().is_some_and(|word| word == "meta");
        self.0[..self.0.len().min(1 + usize::from(is_meta))].join(" ")
    }

    /// All words after the name of the program, with options for all commands.
    pub(super) fn words<'a>(&'a self, general: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
        let (command, rest) = self.0.split_at(self.0.len().min(1));
        let words = |words: &'a [String]| words.iter().map(String::as_str);
        words(command).chain(general.iter().copied()).chain(words(rest))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands that read no file.
    const NOT_OF_FILES: [&str; 3] = ["formats", "completions", "man"];

    #[test]
    fn every_command_of_the_manual_has_a_line() {
        let manual = crate::workspace::root().join("docs/cli.md");
        let manual = std::fs::read_to_string(manual).unwrap();
        let list = manual.split_once("\nCommands: ").and_then(|(_, list)| list.split_once("\n\n"));
        let (list, _) = list.expect("the list of commands");
        let names: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
        assert!(names.len() > 30 && names.contains(&"rescue"), "{names:?}");
        for name in names.into_iter().filter(|name| !NOT_OF_FILES.contains(name)) {
            let mut lines = READING.iter().chain(CHANGING);
            assert!(lines.any(|line| line.split(' ').next() == Some(name)), "{name}");
        }
    }

    #[test]
    fn paths_take_the_place_of_letters() {
        let folder = Folder::new().unwrap();
        let line = Line::new("compress -f --meta-file=X X#1 -o D/out", "/a/x.csv", &folder);
        let words: Vec<&str> = line.words(&["-qq"]).collect();
        let out = folder.path("out");
        let expected =
            ["compress", "-qq", "-f", "--meta-file=/a/x.csv", "/a/x.csv#1", "-o", out.as_str()];
        assert_eq!(words, expected);
        assert_eq!(Line::new("meta set X a=1", "x", &folder).command(), "meta set");
    }
}
