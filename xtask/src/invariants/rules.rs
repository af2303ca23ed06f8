//! Rules about the sources.

use super::{Finding, source::Source};
use crate::failure::Result;

/// Crates that only convert bytes to bytes.
const PURE: [&str; 5] = ["blosc-filters", "blosc-codecs", "blosc-dtype", "b2-plot", "b2-view"];

pub(super) fn no_io(sources: &[Source]) -> Result<Vec<Finding>> {
    const FILES: [&str; 5] = ["std::fs", "std::net", "std::env", "std::process", "blosc_io"];
    const STREAMS: [&str; 2] = ["std::io", "stdin()"];
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_product()) {
        let is_pure = PURE.iter().any(|name| source.is_of(name));
        if is_pure || source.is_of("blosc-chunk") {
            findings.extend(uses_of(source, &FILES));
        }
        if is_pure {
            findings.extend(uses_of(source, &STREAMS));
        }
    }
    Ok(findings)
}

pub(super) fn no_printing(sources: &[Source]) -> Result<Vec<Finding>> {
    const WORDS: [&str; 6] = ["println!", "print!", "eprintln!", "eprint!", "stdout()", "stderr()"];
    let may_print = |source: &Source| {
        ["b2-cli", "b2-program", "blpk", "blosc-peers"].iter().any(|name| source.is_of(name))
            || source.path.starts_with("xtask/")
            || source.path == "crates/blosc-capi/src/warning.rs"
            || source.path.contains("/src/bin/")
    };
    let libraries = sources.iter().filter(|source| source.is_product() && !may_print(source));
    Ok(libraries.flat_map(|source| uses_of(source, &WORDS)).collect())
}

/// Each crate forbids unsafe code, except for some that deny it and allow it again in single files.
pub(super) fn no_unsafe(sources: &[Source]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in sources {
        let exception = UNSAFE_IN.iter().find(|(name, _)| source.is_of(name));
        let allowed = exception
            .is_some_and(|(_, places)| places.iter().any(|place| source.path.contains(place)));
        if !allowed && !source.path.ends_with(PEER) {
            findings.extend(uses_of(source, &["unsafe"]));
        }
        if is_crate_root(&source.path) {
            let is_in = |attribute: &str| source.code.contains(attribute);
            let denies = exception.is_some() && is_in("#![deny(unsafe_code)]");
            if !denies && !is_in("#![forbid(unsafe_code)]") {
                findings.push(format!("{}: has no #![forbid(unsafe_code)]", source.path));
            }
        }
    }
    Ok(findings)
}

/// The fuzz target that calls libblosc2.
const PEER: &str = "fuzz/fuzz_targets/chunk_peer.rs";

/// The crates with unsafe code, and the parts of the paths of its files.
const UNSAFE_IN: [(&str, &[&str]); 11] = [
    ("blosc-filters", &["/src/arch.rs", "/src/arch/"]),
    (
        "blosc-codecs",
        &[
            "/src/lz/compare.rs",
            "/src/lz/cursor.rs",
            "/src/lz/fast_decode.rs",
            "/src/lz/prefetch.rs",
            "/src/lz/sequence.rs",
            "/src/lz/unsafe_copy.rs",
            "/src/blosclz/decode_fast.rs",
            "/src/lz4/decode_fast.rs",
            "/src/zlib/adler.rs",
            "/src/zlib/inflate_fast.rs",
        ],
    ),
    ("blosc-io", &["/src/mmap.rs", "/src/zeroed.rs"]),
    ("blosc-threads", &["/src/crew.rs"]),
    // Attributes for the linker's names, without an unsafe block.
    ("b2-web", &["/src/exports.rs", "/src/lib.rs"]),
    ("b2-web-codec", &["/src/exports.rs", "/src/lib.rs"]),
    // Pointers and lengths from and to C, which no code can check.
    ("blosc-capi", &["/src/", "/tests/"]),
    ("libblosc", &["/src/", "/tests/"]),
    ("libblosc2", &["/src/", "/tests/"]),
    ("blosc-peers", &["/src/c_blosc2.rs", "/src/c_blosc2/"]),
    ("python", &["/src/memory.rs"]),
];

/// Processor features are detected in a few files; all other code gets a `Simd`.
pub(super) fn feature_detection(sources: &[Source]) -> Result<Vec<Finding>> {
    const FILES: [&str; 3] =
        ["blosc-filters/src/simd.rs", "blosc-codecs/src/simd.rs", "blosc-io/src/file/"];
    const WORDS: [&str; 2] = ["is_x86_feature_detected", "is_aarch64_feature_detected"];
    let others = sources.iter().filter(|source| {
        source.is_product() && !FILES.iter().any(|file| source.path.contains(file))
    });
    Ok(others.flat_map(|source| uses_of(source, &WORDS)).collect())
}

/// Files that assemble the bytes of files: a missing value is an error there. An empty one in its
/// place would be written and synced.
const WRITERS: [&str; 16] = [
    "crates/b2frame/src/compress.rs",
    "crates/b2frame/src/edit",
    "crates/b2frame/src/header/change.rs",
    "crates/b2frame/src/nd/patch.rs",
    "crates/b2frame/src/rewrite.rs",
    "crates/b2frame/src/seal.rs",
    "crates/b2frame/src/writer.rs",
    "crates/b2store/src/value/encode.rs",
    "crates/b2store/src/write",
    "crates/blosc-chunk/src/encode",
    "crates/blosc-chunk/src/transcode",
    "crates/bloscpack/src/append",
    "crates/bloscpack/src/batch.rs",
    "crates/bloscpack/src/change.rs",
    "crates/bloscpack/src/journal.rs",
    "crates/bloscpack/src/writer",
];

pub(super) fn no_neutral_values(sources: &[Source]) -> Result<Vec<Finding>> {
    let writers = sources.iter().filter(|source| {
        source.is_product() && WRITERS.iter().any(|place| source.path.starts_with(place))
    });
    Ok(writers.flat_map(|source| uses_of(source, &["unwrap_or_default"])).collect())
}

/// Files with a `static` that changes: the list that signals work through, the bar that they
/// remove, and on systems without positional reads the lock of a file's position. The features of a
/// processor are constant, and detected once. The interfaces of engines have no place for a cache,
/// a session or a registration. The functions of the C libraries have no context: their settings
/// and threads belong to the process. The functions of the page's module have no context either:
/// one engine belongs to the module. The tables of CRC-32 are constant; the module makes them,
/// since they do not compress.
const STATEFUL: [&str; 18] = [
    "crates/b2-program/src/progress.rs",
    "crates/b2-program/src/signals.rs",
    "crates/b2-web/src/exports.rs",
    "crates/b2-web-codec/src/exports.rs",
    "crates/blosc-capi/src/blosc1/kept.rs",
    "crates/blosc-capi/src/blosc1/settings.rs",
    "crates/blosc-capi/src/blosc2/calls.rs",
    "crates/blosc-capi/src/blosc2/settings.rs",
    "crates/blosc-capi/src/buffers.rs",
    "crates/blosc-capi/src/context.rs",
    "crates/blosc-capi/src/epoch.rs",
    "crates/blosc-capi/src/pool.rs",
    "crates/blosc-container/src/crc32.rs",
    "crates/blosc-filters/src/processor.rs",
    "crates/blosc-io/src/file.rs",
    "engines/blosc-datafusion/src/columns/remote.rs",
    "engines/blosc-object-store/src/session.rs",
    "engines/zarrs-blosc/src/lib.rs",
];

pub(super) fn no_global_state(sources: &[Source]) -> Result<Vec<Finding>> {
    const TYPES: [&str; 8] =
        ["Mutex<", "RwLock<", "Atomic", "OnceLock<", "LazyLock<", "Cell<", "Once ", "PerProcess<"];
    let is_static = |line: &str| {
        let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        line.starts_with("static ") && TYPES.iter().any(|name| line.contains(name))
    };
    let mut findings = vec![];
    for source in sources.iter().filter(|source| source.is_product()) {
        if STATEFUL.contains(&source.path.as_str()) || source.is_of("blosc-peers") {
            continue;
        }
        let lines = source.code.lines().enumerate().filter(|(_, line)| is_static(line));
        findings.extend(lines.map(|(n, _)| format!("{}:{}: a static", source.path, n + 1)));
    }
    Ok(findings)
}

/// Code shared by two commands is in a module that is not a command.
pub(super) fn commands_apart(sources: &[Source]) -> Result<Vec<Finding>> {
    let names: Vec<&str> = sources.iter().filter_map(command_of).collect();
    let mut findings = vec![];
    for source in sources {
        let Some(own) = command_of(source) else { continue };
        let is_head = source.path.ends_with(&format!("/commands/{own}.rs"));
        let imports = |line: &str, name: &str| {
            let is_named = |path: &str| has_word(line, &format!("{path}::{name}"));
            name != own && (is_named("commands") || is_head && is_named("super"))
        };
        for (n, line) in source.product() {
            if let Some(other) = names.iter().find(|name| imports(line, name)) {
                findings.push(format!("{}:{n}: imports the command {other}", source.path));
            }
        }
    }
    Ok(findings)
}

/// The command that a file belongs to.
fn command_of(source: &Source) -> Option<&str> {
    source.path.strip_prefix("crates/b2-cli/src/commands/")?.split(['/', '.']).next()
}

fn is_crate_root(path: &str) -> bool {
    path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs")
}

pub(super) fn nothing_unfinished(sources: &[Source]) -> Result<Vec<Finding>> {
    const WORDS: [&str; 5] = ["todo!", "unimplemented!", "dbg!", "#[ignore", "#[should_panic"];
    let mut findings = Vec::new();
    for source in sources {
        let lines = source.code.lines().enumerate().map(|(i, line)| (i + 1, line));
        findings.extend(words_in(source, lines, &WORDS));
    }
    Ok(findings)
}

pub(super) fn module_files(sources: &[Source]) -> Result<Vec<Finding>> {
    const VAGUE: [&str; 5] = ["mod", "utils", "util", "common", "misc"];
    let mut findings = Vec::new();
    for source in sources {
        let name = source.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
        if VAGUE.contains(&name) {
            findings.push(format!("{}: name the concept", source.path));
        }
        let start = source.text.trim_start_matches("#![no_main]").trim_start();
        if !start.starts_with("//!") {
            findings.push(format!("{}: does not begin with a //! header", source.path));
        }
    }
    Ok(findings)
}

pub(super) fn sizes(sources: &[Source]) -> Result<Vec<Finding>> {
    Ok(sources.iter().filter(|source| source.is_product()).flat_map(size_of).collect())
}

fn size_of(source: &Source) -> Vec<Finding> {
    const FILE: usize = 600;
    const FUNCTION: usize = 100;
    let mut findings = Vec::new();
    let lines = source.product().filter(|(_, line)| !line.trim().is_empty()).count();
    if lines > FILE {
        findings.push(format!("{}: {lines} lines of code, the limit is {FILE}", source.path));
    }
    for (start, lines) in functions(source) {
        if lines > FUNCTION {
            findings.push(format!(
                "{}:{start}: a function of {lines} lines, the limit is {FUNCTION}",
                source.path
            ));
        }
    }
    findings
}

/// First line and number of lines of each function. In rustfmt's style, a function ends at the
/// first closing brace in the column where it began. Functions with `too_many_lines` allowed are
/// left out.
fn functions(source: &Source) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut excused = false;
    for (number, line) in source.product() {
        excused |= line.contains("too_many_lines");
        if begins_function(line) && !line.ends_with(';') {
            let indent: String = line.chars().take_while(|c| *c == ' ').collect();
            if !excused && !line.ends_with('}') {
                open.push((number, indent + "}"));
            }
            excused = false;
        }
        if let Some((start, _)) = open.pop_if(|(_, end)| line == end) {
            found.push((start, number + 1 - start));
        }
    }
    found
}

fn begins_function(line: &str) -> bool {
    let line = line.trim_start();
    line.split("fn ").next().is_some_and(|before| {
        before.len() < line.len() && before.split_whitespace().all(is_qualifier)
    })
}

fn is_qualifier(word: &str) -> bool {
    word.starts_with("pub")
        || matches!(word, "const" | "async" | "unsafe" | "extern" | "in" | "super)" | "crate)")
}

fn uses_of(source: &Source, words: &[&str]) -> Vec<Finding> {
    words_in(source, source.product(), words)
}

/// A finding for each line that contains one of `words`, but not as the end of a longer word.
fn words_in<'a>(
    source: &Source,
    lines: impl Iterator<Item = (usize, &'a str)>,
    words: &[&str],
) -> Vec<Finding> {
    let found = lines.filter_map(|(number, line)| {
        let word = words.iter().find(|word| has_word(line, word))?;
        Some(format!("{}:{number}: {word}", source.path))
    });
    found.collect()
}

fn has_word(line: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        let goes_on = word.ends_with(is_letter) && after.starts_with(is_letter);
        !goes_on && !before.ends_with(is_letter)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::new(path.to_owned(), text.to_owned())
    }

    #[test]
    fn words_are_whole_words() {
        assert!(has_word("unsafe { }", "unsafe"));
        assert!(!has_word("#![forbid(unsafe_code)]", "unsafe"));
        assert!(!has_word("eprintln!()", "println!"));
    }

    #[test]
    fn io_below_the_frame_is_found() {
        let sources = [
            source("crates/blosc-chunk/src/a.rs", "use std::fs;\nuse std::io::Read;\n"),
            source("crates/blosc-codecs/src/a.rs", "use std::io::Read;\n"),
            source("crates/b2frame/src/a.rs", "use std::fs;\n"),
        ];
        let found = no_io(&sources).unwrap();
        assert_eq!(
            found,
            ["crates/blosc-chunk/src/a.rs:1: std::fs", "crates/blosc-codecs/src/a.rs:1: std::io"]
        );
    }

    #[test]
    fn a_command_that_imports_another_is_found() {
        let file = |name: &str, text: &str| source(&format!("crates/b2-cli/src/{name}"), text);
        let sources = [
            file("commands/show.rs", "use super::info::run;\nuse super::content;\n"),
            file("commands/show/rows.rs", "use super::info::run;\nuse crate::commands::show;\n"),
            file("commands/info.rs", "fn f() { crate::commands::show::run() }\n"),
            file("lib.rs", "use commands::show::run;\n"),
        ];
        let found = commands_apart(&sources).unwrap();
        let path = "crates/b2-cli/src/commands";
        let expected = [
            format!("{path}/show.rs:1: imports the command info"),
            format!("{path}/info.rs:1: imports the command show"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn printing_in_a_library_is_found_but_not_in_its_tests() {
        let text = "fn f() { println!() }\n#[cfg(test)]\nmod tests { fn g() { println!() } }\n";
        let sources =
            [source("crates/b2frame/src/a.rs", text), source("crates/b2-cli/src/a.rs", text)];
        assert_eq!(no_printing(&sources).unwrap(), ["crates/b2frame/src/a.rs:1: println!"]);
    }

    #[test]
    fn unsafe_code_outside_its_places_is_found() {
        let sources = [
            source("crates/blosc-filters/src/arch/avx2.rs", "unsafe { f() }\n"),
            source("crates/blosc-filters/src/shuffle.rs", "unsafe { f() }\n"),
            source("crates/b2frame/src/lib.rs", "//! a\n"),
        ];
        let found = no_unsafe(&sources).unwrap();
        assert_eq!(found[0], "crates/blosc-filters/src/shuffle.rs:1: unsafe");
        assert_eq!(found[1], "crates/b2frame/src/lib.rs: has no #![forbid(unsafe_code)]");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn feature_detection_outside_its_files_is_found() {
        let text = "fn f() -> bool { std::is_x86_feature_detected!(\"avx2\") }\n";
        let sources = [
            source("crates/blosc-codecs/src/simd.rs", text),
            source("crates/blosc-codecs/src/lz/compare.rs", text),
        ];
        let found = feature_detection(&sources).unwrap();
        assert_eq!(found, ["crates/blosc-codecs/src/lz/compare.rs:1: is_x86_feature_detected"]);
    }

    #[test]
    fn neutral_values_are_found_where_bytes_are_written() {
        let text = "fn f() { x.get(1..).unwrap_or_default() }\n";
        let sources = [
            source("crates/b2frame/src/edit/commit.rs", text),
            source("crates/b2frame/src/schunk/read.rs", text),
            source("crates/b2store/src/write.rs", text),
        ];
        let found = no_neutral_values(&sources).unwrap();
        assert_eq!(
            found,
            [
                "crates/b2frame/src/edit/commit.rs:1: unwrap_or_default",
                "crates/b2store/src/write.rs:1: unwrap_or_default"
            ]
        );
    }

    #[test]
    fn unfinished_work_is_found_in_tests_too() {
        let text = "//! a\n#[cfg(test)]\nmod tests {\n#[ignore]\nfn f() { todo!() }\n}\n";
        assert_eq!(nothing_unfinished(&[source("crates/a/src/b.rs", text)]).unwrap().len(), 2);
    }

    #[test]
    fn headers_and_names_are_checked() {
        let sources =
            [source("crates/a/src/mod.rs", "fn f() {}\n"), source("crates/a/src/b.rs", "//! b\n")];
        assert_eq!(module_files(&sources).unwrap().len(), 2);
    }

    #[test]
    fn long_files_and_functions_are_found() {
        let body = "    let x = 1;\n".repeat(100);
        let function = format!("fn f() {{\n{body}}}\n");
        assert_eq!(functions(&source("a", &function)), [(1, 102)]);
        assert_eq!(size_of(&source("a", &function)).len(), 1);
        assert_eq!(
            size_of(&source("a", &format!("#[allow(clippy::too_many_lines)]\n{function}"))).len(),
            0
        );
        assert_eq!(size_of(&source("a", &"use x;\n".repeat(601))).len(), 1);
    }

    #[test]
    fn methods_nested_in_functions_are_measured_apart() {
        let text = "impl A {\n    fn f() {\n        fn g() {\n            x\n        }\n    }\n}\n";
        assert_eq!(functions(&source("a", text)), [(3, 3), (2, 5)]);
    }
}
