//! Options of a task: `--name VALUE` and `--name=VALUE`.

use core::str::FromStr;

use crate::failure::{Result, fail};

/// The words after the name of the task. Each option is taken out once; [`Args::finish`] refuses
/// the rest.
pub(crate) struct Args {
    words: Vec<String>,
}

impl Args {
    pub(crate) fn new(words: impl Iterator<Item = String>) -> Self {
        let words = words.flat_map(|word| match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => {
                vec![name.to_owned(), value.to_owned()]
            }
            _ => vec![word],
        });
        Self { words: words.collect() }
    }

    /// The value of `--name`, if it was given.
    pub(crate) fn option<T: FromStr>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(at) = self.words.iter().position(|word| word == name) else { return Ok(None) };
        self.words.remove(at);
        if at == self.words.len() {
            return fail(format!("{name} needs a value"));
        }
        let value = self.words.remove(at);
        match value.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => fail(format!("{name} {value}: not a value of this option")),
        }
    }

    /// Whether `--name`, an option without a value, was given.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let at = self.words.iter().position(|word| word == name);
        at.map(|at| self.words.remove(at)).is_some()
    }

    /// The first word that is no option.
    pub(crate) fn word(&mut self) -> Option<String> {
        let at = self.words.iter().position(|word| !word.starts_with("--"))?;
        Some(self.words.remove(at))
    }

    /// The remaining words, for another program.
    pub(crate) fn into_words(self) -> Vec<String> {
        self.words
    }

    /// Refuses remaining words.
    pub(crate) fn finish(self) -> Result<()> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => fail(format!("{word}: no such option")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &str) -> Args {
        Args::new(words.split(' ').map(str::to_owned))
    }

    #[test]
    fn options_take_both_spellings() {
        let mut args = args("--seed 7 --fast --cases=20 target");
        assert!(args.flag("--fast") && !args.flag("--fast"));
        assert_eq!(args.option("--seed").unwrap(), Some(7));
        assert_eq!(args.option("--cases").unwrap(), Some(20));
        assert_eq!(args.option::<u64>("--case").unwrap(), None);
        assert_eq!(args.word().as_deref(), Some("target"));
        args.finish().unwrap();
    }

    #[test]
    fn wrong_options_are_named() {
        assert_eq!(
            args("--seed").option::<u64>("--seed").unwrap_err().to_string(),
            "--seed needs a value"
        );
        let not_a_number = args("--seed x").option::<u64>("--seed").unwrap_err();
        assert_eq!(not_a_number.to_string(), "--seed x: not a value of this option");
        assert_eq!(
            args("--nothing").finish().unwrap_err().to_string(),
            "--nothing: no such option"
        );
    }
}
