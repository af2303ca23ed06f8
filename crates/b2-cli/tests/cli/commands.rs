//! Every command on every format: the exit code, and the first line of the output. Every change of
//! behaviour shows here.

use core::fmt::Write as _;

use crate::{
    samples::{self, OBJECTS, copy_to, file_of},
    session::{Dir, Run},
};

/// The outcome of one run, in a line.
fn line(run: &Run) -> String {
    let code = run.code.map_or("signal".to_owned(), |code| code.to_string());
    let stdout = String::from_utf8_lossy(&run.stdout);
    let is_text = !stdout.contains(|c: char| c.is_control() && c != '\n' && c != '\t')
        && !stdout.contains('\u{fffd}');
    let said = match (run.code, run.stderr.lines().next(), stdout.lines().next()) {
        (Some(0), _, Some(first)) if is_text => first.to_owned(),
        (Some(0), None, Some(_)) => format!("({} bytes)", run.stdout.len()),
        (_, Some(first), _) => first.to_owned(),
        (_, None, Some(first)) => first.to_owned(),
        (_, None, None) => String::new(),
    };
    let said: String = said.chars().take(110).collect();
    format!("{code} {}", said.trim_end())
}

/// A table of command x object; `{}` in a command is the object. Commands that change files get
/// copies. Rows of a Parquet file depend on the build and have a test of their own: [`parquet`].
fn table(commands: &[&str]) -> String {
    table_of(|object| object != PARQUET, commands)
}

const PARQUET: &str = "x.parquet";

/// The same of chosen objects.
fn table_of(is_chosen: impl Fn(&str) -> bool, commands: &[&str]) -> String {
    let samples = samples::make();
    let mut text = String::new();
    for command in commands {
        writeln!(text, "b2 {}", command.replace("{}", "OBJECT")).unwrap();
        for object in OBJECTS.iter().filter(|object| is_chosen(object)) {
            let dir = Dir::new();
            for name in [file_of(object), "x.f32", "t.csv"] {
                let (from, to) = (samples.path(name), dir.path(name));
                if !to.exists() {
                    copy_to(&from, &to);
                }
            }
            let run = dir.b2(&command.replace("{}", object));
            writeln!(text, "  {object:17} {}", line(&run)).unwrap();
        }
    }
    text
}

const LOOKING: &[&str] = &[
    "{}",
    "list {}",
    "list --tree {}",
    "verify {}",
    "compat {}",
    "dump {}",
    "scan {}",
    "meta get {}",
    "view {}",
];

const WRITING: &[&str] = &[
    "compress -o OUT {}",
    "rescue -o OUT {}",
    "split --output-dir OUT {}",
    "extract -o OUT {}",
    "extract --chunk 0 -o OUT {}",
    "join -o OUT {}",
    "pack -o OUT.b2z {}",
    "unpack -o OUT.b2d {}",
];

const CONVERTING: &[&str] = &["convert --format raw -o OUT {}", "convert {} OUT.b2nd"];

const CHANGING: &[&str] = &[
    "recompress -C lz4 {}",
    "repack {}",
    "seal {}",
    "append {} x.f32",
    "append {} t.csv",
    "meta set {} k=1",
    "meta del {} k",
];

/// Times differ from run to run, so only the code and the first line are compared: the line names
/// the measurement.
const MEASURING: &[&str] = &["bench -C lz4 -l 1 {}"];

#[test]
fn looking() {
    insta::assert_snapshot!(table(LOOKING));
}

/// The rows of Parquet files depend on the build: see `findings`.
#[test]
fn reading() {
    insta::assert_snapshot!(table(&[
        "cat {}",
        "show -n 2 {}",
        "show --csv -n 1 {}",
        "stats {}",
        "plot {} -o x.svg",
        "sum {}",
        "diff {} {}",
        "decompress -o OUT {}",
        "decompress -c {}",
    ]));
}

#[test]
fn writing() {
    insta::assert_snapshot!(table(WRITING));
}

#[test]
fn converting() {
    insta::assert_snapshot!(table(CONVERTING));
}

#[test]
fn changing() {
    insta::assert_snapshot!(table(CHANGING));
}

#[test]
fn measuring() {
    insta::assert_snapshot!(table(MEASURING));
}

#[test]
fn parquet() {
    let mut settings = insta::Settings::clone_current();
    if cfg!(feature = "parquet") {
        settings.set_snapshot_suffix("parquet");
    }
    let commands = [LOOKING, WRITING, CONVERTING, CHANGING, MEASURING].concat();
    settings.bind(|| insta::assert_snapshot!(table_of(|object| object == PARQUET, &commands)));
}

/// Commands with one input give the same for a pipe, a named pipe and redirected input. Facts that
/// only a name tells are left out: the type of raw data, CSV, a store in one frame.
#[test]
#[cfg(unix)]
fn pipes_give_what_files_give() {
    let dir = samples::make();
    let commands = ["info", "list", "verify", "cat", "show", "stats", "sum", "compat", "dump"];
    let files = OBJECTS.iter().filter(|name| {
        dir.path(name).is_file() && !["x.f32", "t.csv", "embed.b2e", "x.parquet"].contains(*name)
    });
    let mut differences = String::new();
    for object in files {
        let bytes = dir.read(object);
        for command in commands {
            let expected = dir.b2(&format!("{command} {object}"));
            let piped = dir.b2_with(&format!("{command} -"), &bytes);
            let file = std::fs::File::open(dir.path(object)).unwrap();
            let redirected =
                Run::of(dir.command(&format!("{command} -")).stdin(file).output().unwrap());
            let fifo = through_a_fifo(&dir, command, &bytes);
            let text = |run: &Run, name: &str| {
                let name_of = |text: &str| text.replace("it is empty", "").replace(name, "NAME");
                let stdout = name_of(&String::from_utf8_lossy(&run.stdout));
                // Hints name a file, but a placeholder for a pipe.
                let places = ["FILE", "STORE", "TABLE", "FOLDER"].into_iter();
                let stderr = places.fold(name_of(&run.stderr), |it, at| it.replace(at, "NAME"));
                (run.code, stdout, stderr)
            };
            let expected = text(&expected, object);
            let ways =
                [("pipe", &piped, "stdin"), ("<", &redirected, "stdin"), ("fifo", &fifo, "fifo")];
            for (way, run, name) in ways {
                if text(run, name) != expected {
                    let said = line(run);
                    writeln!(differences, "{command} {object} by {way}: {said}").unwrap();
                }
            }
        }
    }
    insta::assert_snapshot!(differences);
}

/// A run that reads a named pipe.
#[cfg(unix)]
fn through_a_fifo(dir: &Dir, command: &str, bytes: &[u8]) -> Run {
    let path = dir.path("fifo");
    let _absent = std::fs::remove_file(&path);
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let bytes = bytes.to_vec();
    let (written, to) = (path.clone(), path);
    let writer = std::thread::spawn(move || {
        // A reader that closes early ends the write with an error.
        let _ = std::fs::write(&written, &bytes);
    });
    let run = dir.b2(&format!("{command} fifo"));
    // A pipe that the program never opened would wait for a reader for ever.
    if !writer.is_finished() {
        drop(std::fs::OpenOptions::new().read(true).write(true).open(&to));
    }
    writer.join().unwrap();
    run
}
