//! Completions by real shells with the scripts of `b2 completions`, where they are installed.

use std::process::{Command, Stdio};

use crate::session::{Dir, Run};

/// Lines up to the cursor, each with its completions.
const CASES: [(&str, &[&str]); 8] = [
    ("b2 recom", &["recompress"]),
    ("b2 compress -C snap", &["snappy"]),
    ("b2 compress -C lz", &["lz4", "lz4hc"]),
    ("b2 convert --filter bits", &["bitshuffle"]),
    ("b2 convert --target blosc2-3", &["blosc2-3.0"]),
    ("b2 show t.bcolz --columns pr", &["price"]),
    ("b2 show tree.b2z::/a", &["tree.b2z::/arr"]),
    ("b2 show t.bcolz::/na", &["t.bcolz::/name"]),
];

/// A shell with our program first in its path; `None` if it is not installed.
fn shell(dir: &Dir, name: &str) -> Option<Command> {
    let is_there = |command: &mut Command| {
        let status = command.args(["-c", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
        status.status().is_ok_and(|status| status.success())
    };
    if !is_there(&mut Command::new(name)) {
        return None;
    }
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_b2")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(name);
    command.current_dir(dir.path("")).env_clear().env("PATH", path).env("HOME", dir.path(""));
    command.env("TERM", "dumb").stdin(Stdio::null());
    Some(command)
}

/// The objects that the lines name, and the script for a shell.
fn with_script(name: &str) -> Dir {
    let dir = crate::samples::make();
    let script = dir.b2(&format!("completions {name}")).ok().stdout;
    dir.write("script", script);
    dir
}

fn answer(command: &mut Command) -> Vec<String> {
    let run = Run::of(command.output().unwrap());
    run.text().lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn bash_completes_names_in_files() {
    let dir = with_script("bash");
    // bash calls the function with the last word cut at a colon.
    let call = r#"
        source ./script
        COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
        _b2_complete b2 "${1##*[ :]}" 2> /dev/null
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    for (line, expected) in CASES {
        let Some(mut bash) = shell(&dir, "bash") else { return };
        let found = answer(bash.args(["--norc", "-c", call, "bash", line]));
        // The part before the colon is on the line already.
        let expected: Vec<&str> =
            expected.iter().map(|word| word.rsplit(':').next().unwrap()).collect();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn fish_completes_names_in_files() {
    let dir = with_script("fish");
    for (line, expected) in CASES {
        let Some(mut fish) = shell(&dir, "fish") else { return };
        let ask = format!("source script; complete -C '{line}'");
        let found = answer(fish.args(["--no-config", "-c", &ask]));
        let words: Vec<&str> = found.iter().map(|it| it.split('\t').next().unwrap()).collect();
        assert_eq!(words, expected, "{line}");
    }
}

/// zsh completes only at a terminal: a key writes the current line to a file.
const ZSH: &str = r#"
zmodload zsh/zpty || exit 9
zpty z zsh -f -i
zpty -w z 'autoload -U compinit; compinit -u -D; source ./script'
zpty -w z 'report() { print -r -- "$BUFFER" > line; exit }; zle -N report'
zpty -w z 'bindkey "^X" report; bindkey "^I" complete-word; print -r "ready now"'
while zpty -r z seen; do [[ $seen == *'ready now'* && $seen != *print* ]] && break; done
zpty -w -n z "$1"$'\t\C-x'
while zpty -r z seen; do :; done
cat line
"#;

#[test]
fn zsh_completes_names_in_files() {
    let dir = with_script("zsh");
    for (line, expected) in CASES {
        let Some(mut zsh) = shell(&dir, "zsh") else { return };
        let output = zsh.args(["-f", "-c", ZSH, "zsh", line]).output().unwrap();
        // zsh without its modules cannot open a terminal.
        if output.status.code() == Some(9) {
            return;
        }
        let run = Run::of(output);
        let found = run.text().trim_end();
        // Of several completions, zsh inserts the common part.
        let word = expected[0];
        let start = line.rsplit_once(' ').unwrap().0;
        assert_eq!(found, format!("{start} {word}"), "{line}");
    }
}
