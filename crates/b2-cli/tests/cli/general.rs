//! Behaviour that all commands share: calls, help, versions, messages.

use crate::session::{Dir, Run, snapshot, walk};

#[test]
fn a_call_without_words_prints_the_help_as_an_error() {
    let run = Dir::new().b2("");
    assert_eq!(run.code, Some(2));
    assert_eq!(run.text(), "");
    assert!(run.stderr.contains("Usage: b2 COMMAND [OPTIONS] [FILE]..."), "{}", run.stderr);
}

#[test]
fn help_goes_to_standard_output() {
    for line in [
        "--help",
        "-h",
        "help",
        "help compress",
        "c --help",
        "d -h",
        "-d --help",
        "cat --help",
        "list -h",
    ] {
        let run = Dir::new().b2(line).ok();
        assert!(run.text().contains("Usage: b2"), "{line}: {}", run.text());
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn examples_are_in_both_helps_and_general_options_in_the_long_one() {
    let dir = Dir::new();
    let list = dir.b2("--help").ok();
    let names = list.text().lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let names: Vec<String> = names
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let (short, long) = (dir.b2(&format!("{name} -h")).ok(), dir.b2(&format!("{name} --help")));
        assert!(short.text().contains("Examples:\n"), "{name}");
        assert!(long.text().contains("Examples:\n"), "{name}");
        assert!(!short.text().contains("General:"), "{name}: {}", short.text());
        let has_general = !["completions", "man"].contains(&name.as_str());
        assert_eq!(long.text().contains("General:"), has_general, "{name}");
    }
}

#[test]
fn the_version_names_the_codecs_when_asked() {
    let dir = Dir::new();
    let version = format!("b2 {}\n", env!("CARGO_PKG_VERSION"));
    for line in ["-V", "--version", "c -V", "info --version"] {
        assert_eq!(dir.b2(line).ok().text(), version, "{line}");
    }
    let long = dir.b2("-V -v").ok();
    assert!(long.text().starts_with(&version));
    assert!(long.text().contains("codecs   blosclz lz4 lz4hc"), "{}", long.text());
}

#[test]
fn wrong_use_is_exit_code_2() {
    let dir = Dir::new();
    for line in [
        "c --no-such-option",
        "c -l 10 x",
        "c -t 0 x",
        "c -z 5Q x",
        "c -C gzip x",
        "c --filter sharpen x",
        "completions tcsh",
    ] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(2), "{line}");
        assert!(run.stderr.starts_with("b2: "), "{line}: {}", run.stderr);
        assert_eq!(run.text(), "");
    }
}

#[test]
fn a_missing_file_is_exit_code_3_for_every_command() {
    let dir = Dir::new();
    for line in ["c", "d", "cat", "info", "list", "verify"] {
        let run = dir.b2(&format!("{line} missing.b2frame"));
        assert_eq!(run.code, Some(3), "{line}");
        assert_eq!(run.stderr, "b2: missing.b2frame: no such file or directory\n");
    }
}

#[test]
fn mistyped_command_gets_a_hint() {
    snapshot!(Dir::new().b2("comprss x.f32"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: no command and no file has the name "comprss"
    hint: did you mean `compress`?
    "#);
}

#[test]
fn failures_are_json_objects_with_json() {
    snapshot!(Dir::new().b2("info --json missing"), @r#"
    exit 3
    --- stdout
    --- stderr
    {"schema":"b2.error/1","kind":"io","message":"no such file or directory","file":"missing"}
    "#);
}

#[test]
fn quiet_twice_takes_away_the_errors_but_not_the_code() {
    let run = Dir::new().b2("-qq info missing");
    assert_eq!((run.code, run.text(), run.stderr.as_str()), (Some(3), "", ""));
    let run = Dir::new().b2("-q info missing");
    assert_eq!(run.stderr, "b2: missing: no such file or directory\n");
}

#[test]
fn colour_comes_when_asked_for() {
    let dir = Dir::new();
    assert!(dir.b2("info --color always missing").stderr.contains("\u{1b}["));
    assert!(!dir.b2("info missing").stderr.contains("\u{1b}["));
    assert!(!dir.b2("info --color never missing").stderr.contains("\u{1b}["));
}

#[test]
fn a_directory_needs_r() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("sub")).unwrap();
    snapshot!(dir.b2("verify sub"), @r#"
    exit 2
    --- stdout
    --- stderr
    b2: sub: is a directory
    hint: use -r to walk directories
    "#);
}

#[test]
fn many_inputs_go_on_and_the_first_failure_gives_the_code() {
    let dir = Dir::new();
    dir.write("a.f32", walk(1000)).write("b.txt", "no frame");
    dir.b2("c -q a.f32").ok();
    let run = dir.b2("verify missing b.txt a.f32.b2frame");
    assert_eq!(run.code, Some(3));
    assert_eq!(run.text(), "a.f32.b2frame: OK (decoded; xxh3 of 1 chunk checked)\n");
    let run = dir.b2("verify b.txt missing a.f32.b2frame");
    assert_eq!(run.code, Some(4));
    assert_eq!(run.stderr.lines().count(), 2);
}

#[test]
fn completions_and_pages_are_printed() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = dir.b2(&format!("completions {shell}")).ok();
        assert!(script.text().contains("B2_COMPLETE"), "{shell}");
    }
    let script = dir.b2("completions nushell").ok();
    assert!(script.text().contains("export extern \"b2 decompress\""), "{}", script.text());
    assert!(script.text().contains("\"zstd\""));
    assert!(dir.b2("man").ok().text().contains(".TH b2 1"));
    assert!(dir.b2("man compress").ok().text().contains("chunk\\-size"));
    assert!(dir.b2("man b2-recipes.7").ok().text().contains(".TH B2-RECIPES 7"));
    assert_eq!(dir.b2("man nothing").code, Some(2));
    dir.b2("man --output-dir pages").ok();
    for page in ["man1/b2.1", "man1/b2-convert.1", "man1/blpk.1", "man5/b2-formats.5"] {
        assert!(dir.path("pages").join(page).is_file(), "{page}");
    }
}

/// The program's answer to a completion script.
fn completed(dir: &Dir, words: &[&str]) -> Vec<String> {
    let mut command = dir.command("--");
    command.args(words).env("B2_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
    let run = Run::of(command.output().unwrap()).ok();
    run.text().lines().filter(|line| !line.starts_with('-')).map(str::to_owned).collect()
}

#[test]
fn completions_know_names_and_what_is_in_files() {
    let dir = crate::samples::make();
    dir.b2("meta set x.b2nd unit=K source=here").ok();
    let cases: [(&[&str], &[&str]); 12] = [
        (&["b2", "recom"], &["recompress"]),
        (&["b2", "compress", "-C", "lz"], &["lz4", "lz4hc"]),
        (&["b2", "compress", "--filter", "bits"], &["bitshuffle"]),
        (&["b2", "convert", "--target", "blosc2-"], &["blosc2-2.0", "blosc2-3.0"]),
        (&["b2", "convert", "--checksum", "sha2"], &["sha224", "sha256"]),
        (&["b2", "convert", "--format", "b2n"], &["b2nd"]),
        (&["b2", "man", "b2-"], &["b2-formats.5", "b2-recipes.7"]),
        (&["b2", "meta", "get", "x.b2nd", ""], &["unit", "source"]),
        (&["b2", "show", "t.bcolz", "--columns", "p"], &["price"]),
        (&["b2", "show", "t.b2z", "--columns", "id,n"], &["id,name"]),
        (&["b2", "show", "tree.b2z::/a"], &["tree.b2z::/arr"]),
        (&["b2", "show", "t.bcolz::/n"], &["t.bcolz::/name"]),
    ];
    for (words, expected) in cases {
        assert_eq!(completed(&dir, words), expected, "{words:?}");
    }
}

#[test]
fn formats_lists_codecs_and_filters() {
    let dir = Dir::new();
    let text = dir.b2("formats").ok();
    for word in ["b2frame", "blosclz", "zstd", "bitshuffle", "zfp_rate", "bytedelta"] {
        assert!(text.text().contains(word), "{word}");
    }
    let json: serde_json::Value =
        serde_json::from_slice(&dir.b2("formats --json").ok().stdout).unwrap();
    assert_eq!(json["schema"], "b2.formats/1");
    assert_eq!(json["codecs"][1]["name"], "lz4");
    assert_eq!(json["codecs"][1]["available"], true);
}
