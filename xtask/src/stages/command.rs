//! The command of a stage as a process.

use std::{path::PathBuf, process::Command};

use super::times;
use crate::{
    failure::{Result, fail},
    workspace,
};

/// The values of a command's placeholders.
pub(super) struct Setting {
    /// The path of this running program: a stage may build another one in its place.
    xtask: PathBuf,
    target: PathBuf,
    host: String,
    seed: u64,
}

impl Setting {
    pub(super) fn new(seed: u64) -> Result<Self> {
        let (xtask, host) = (std::env::current_exe()?, workspace::host()?);
        Ok(Self { xtask, target: workspace::target(), host, seed })
    }

    /// The process of `words`, which may begin with variables: `NAME=VALUE cargo doc`.
    pub(super) fn command(&self, words: &str) -> Result<Command> {
        let built = self.target.join("debug");
        let words = words
            .replace("$built", &built.to_string_lossy())
            .replace("$target", &self.target.to_string_lossy())
            .replace("$seed", &self.seed.to_string());
        let mut words = words.split_whitespace().peekable();
        let mut variables = vec![];
        while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
            variables.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        let Some(program) = words.next() else { return fail("a stage without a command") };
        let mut command = match program {
            "cargo" => workspace::cargo(),
            "engines" => workspace::engines(words.next().unwrap_or_default()),
            "xtask" => Command::new(&self.xtask),
            other => Command::new(other),
        };
        command.current_dir(workspace::root()).args(words).envs(variables);
        if command.get_args().any(|word| word == "test") {
            command.envs([times::runner(&self.host, &self.xtask)]);
        }
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_paths_and_the_seed() {
        let setting =
            Setting { xtask: "/x".into(), target: "/t".into(), host: "a-b".into(), seed: 7 };
        let command = setting.command("A=b xtask crash --seed $seed --program $built/b2").unwrap();
        assert_eq!(workspace::describe(&command), "/x crash --seed 7 --program /t/debug/b2");
        assert!(command.get_envs().any(|(name, value)| name == "A" && value == Some("b".as_ref())));
        assert!(setting.command("").is_err());
    }
}
