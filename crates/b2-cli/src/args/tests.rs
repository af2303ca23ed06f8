//! The grammar, command lines that are brought into one form, and the words about wrong ones.

use b2_program::{
    manners::{Shapes, canonical},
    wrong_use::WrongUse,
};

use super::*;

fn form(line: &str) -> String {
    let shapes = Shapes::from_grammar(&grammar());
    let words = canonical(line.split_whitespace().map(OsString::from), &shapes);
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[test]
fn options_before_the_command_move_after_it() {
    assert_eq!(form("b2 -9 c f"), "b2 compress -9 f");
    assert_eq!(form("b2 -q --max-memory 64M verify f"), "b2 verify -q --max-memory 64M f");
    assert_eq!(form("b2 --max-memory=64M -T 2 t f"), "b2 verify --max-memory=64M -T 2 f");
    assert_eq!(form("b2 -T2 info f -v"), "b2 info -T2 f -v");
    assert_eq!(form("b2 -C lz4 compress f"), "b2 compress -C lz4 f");
    assert_eq!(form("b2 -o d d d"), "b2 decompress -o d d");
}

#[test]
fn mode_letters_choose_a_command() {
    assert_eq!(form("b2 -d f"), "b2 decompress f");
    assert_eq!(form("b2 -dc f"), "b2 decompress -c f");
    assert_eq!(form("b2 -cd f"), "b2 decompress -c f");
    assert_eq!(form("b2 -z f -o y"), "b2 compress f -o y");
    assert_eq!(form("b2 -9z f"), "b2 compress -9 f");
    assert_eq!(form("b2 -tv f"), "b2 verify -v f");
    assert_eq!(form("b2 -l -- f"), "b2 list -- f");
    assert_eq!(form("b2 f -t"), "b2 verify f");
    assert_eq!(form("b2 -d"), "b2 decompress");
}

#[test]
fn mode_letters_mean_other_things_once_a_command_is_known() {
    assert_eq!(form("b2 c -t 4 f"), "b2 compress -t 4 f");
    assert_eq!(form("b2 -z -t 4 f"), "b2 compress -t 4 f");
    assert_eq!(form("b2 -zt4 -l 3 f"), "b2 compress -t4 -l 3 f");
    assert_eq!(form("b2 -z -z 64K f"), "b2 compress -z 64K f");
    assert_eq!(form("b2 -d d"), "b2 decompress d");
    assert_eq!(form("b2 d -d f"), "b2 decompress f");
    assert_eq!(form("b2 d -- -d"), "b2 decompress -- -d");
    assert_eq!(form("b2 -d -t f"), "b2 verify f");
    assert_eq!(form("b2 -td f"), "b2 verify f");
}

#[test]
fn files_alone_are_looked_at() {
    assert_eq!(form("b2 f"), "b2 info f");
    assert_eq!(form("b2 -v f y"), "b2 info -v f y");
    assert_eq!(form("b2 f c"), "b2 info f c");
    assert_eq!(form("b2 -- c"), "b2 info -- c");
    assert_eq!(form("b2 -"), "b2 info -");
    assert_eq!(form("b2 -o c f"), "b2 info -o c f");
}

#[test]
fn plain_arguments_are_unchanged() {
    assert_eq!(form("b2"), "b2");
    assert_eq!(form("b2 --help"), "b2 --help");
    assert_eq!(form("b2 -Vv"), "b2 -Vv");
    assert_eq!(form("b2 --"), "b2 --");
    assert_eq!(form("b2 help c"), "b2 help c");
    assert_eq!(form("b2 -d --help"), "b2 decompress --help");
}

fn wrong(line: &str) -> (String, String) {
    let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
    let command = command_name(&words);
    let error = parse(words).unwrap_err();
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

#[test]
fn slips_of_the_pen_are_recognised() {
    assert_eq!(similar_command("comprss").as_deref(), Some("compress"));
    assert_eq!(similar_command("verfiy").as_deref(), Some("verify"));
    assert_eq!(similar_command("data"), None);
    assert_eq!(similar_command("xy"), None);
}

#[test]
fn the_grammar_is_consistent() {
    grammar().debug_assert();
}
