//! `b2 completions`: completion scripts for shells.
//!
//! The scripts of most shells ask the program at each key press ([`complete`]), which completes
//! names that nothing else knows: columns of a table, members of a store, names of metadata. The
//! script of nushell is a fixed list of commands, options and values.

mod candidates;

use std::{env, ffi::OsString, path::Path};

use clap::{Command, builder::PossibleValuesParser};
use clap_complete::env::Shells;
use clap_complete_nushell::Nushell;

use crate::{
    args::{CompletionsArgs, Shell, grammar},
    console::Console,
    error::{Doing, Error, Result},
    exit::Code,
};

/// The environment variable by which a script asks; its value is the name of the shell.
const VARIABLE: &str = "B2_COMPLETE";

/// Prints the script for one shell.
pub(crate) fn run(args: &CompletionsArgs, console: &Console) -> Result<()> {
    let mut script = Vec::new();
    let name = match args.shell {
        Shell::Bash => return console.print(BASH),
        Shell::Nushell => {
            clap_complete::generate(Nushell, &mut with_fixed_values(), "b2", &mut script);
            return console.print(&String::from_utf8_lossy(&script));
        }
        Shell::Elvish => "elvish",
        Shell::Fish => "fish",
        Shell::Powershell => "powershell",
        Shell::Zsh => "zsh",
    };
    let shells = Shells::builtins();
    let shell = shells.completer(name).ok_or_else(|| unknown_shell(name))?;
    let written = shell.write_registration(VARIABLE, "b2", "b2", "b2", &mut script);
    written.map_err(Error::io(Doing::Stdout))?;
    console.print(&String::from_utf8_lossy(&script))
}

fn unknown_shell(name: &str) -> Error {
    Error::io(Doing::Stdout)(std::io::Error::other(format!("no completions for {name}")))
}

/// Answers a script: prints what `argv` can go on with. `None` if no script asks.
pub(crate) fn complete(argv: &[OsString]) -> Option<Code> {
    let shell = env::var_os(VARIABLE).filter(|name| !name.is_empty())?;
    let shells = Shells::builtins();
    let name = Path::new(&shell).file_stem()?.to_str()?;
    let Some(shell) = shells.completer(name) else { return Some(Code::Usage) };
    let words: Vec<OsString> =
        argv.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    let mut command = candidates::grammar(&words);
    let mut answer = Vec::new();
    let folder = env::current_dir().ok();
    let done = shell.write_complete(&mut command, words, folder.as_deref(), &mut answer);
    let printed =
        done.and_then(|()| std::io::Write::write_all(&mut std::io::stdout().lock(), &answer));
    Some(if printed.is_ok() { Code::Success } else { Code::System })
}

/// The grammar with the fixed values of options.
fn with_fixed_values() -> Command {
    grammar().mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|arg| match candidates::fixed(&name, arg.get_id().as_str()) {
            // clap wants `'static` names; leaking them is harmless in a program that ends after
            // printing.
            Some(values) => {
                let names = values.into_iter().map(|name| &*name.leak());
                arg.value_parser(PossibleValuesParser::new(names))
            }
            None => arg,
        })
    })
}

/// bash cuts words at `:` and `=`. The script joins them for the program, and removes the text
/// before the last cut from the answers.
const BASH: &str = r#"_b2_complete() {
    local line=${COMP_LINE:0:COMP_POINT} IFS=$' \t\n' words word before
    read -r -a words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[${#words[@]}-1]}
    before=${word%"$2"}
    IFS=$'\v'
    COMPREPLY=( $(
        _CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX=$((${#words[@]} - 1)) \
        _CLAP_COMPLETE_COMP_TYPE=$COMP_TYPE _CLAP_COMPLETE_SPACE=false \
        B2_COMPLETE=bash b2 -- "${words[@]}" 2> /dev/null
    ) ) || COMPREPLY=()
    COMPREPLY=( "${COMPREPLY[@]#"$before"}" )
    [[ ${COMPREPLY-} != *[=/:,] ]] || compopt -o nospace
}
complete -o bashdefault -F _b2_complete b2
"#;
