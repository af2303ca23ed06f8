//! A process with one of the Python scripts that answers lines: starting Python takes far longer
//! than answering.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    failure::{Context, Result, fail},
    venv,
};

/// One process, which answers one request at a time.
#[derive(Clone)]
pub(crate) struct Script {
    pipes: Arc<Mutex<Pipes>>,
}

struct Pipes {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Script {
    /// Starts the script of a name with a variable in its environment.
    pub(crate) fn start(python: &Path, name: &str, variable: (&str, &str)) -> Result<Self> {
        let mut process = venv::script(python, name)
            .env(variable.0, variable.1)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .at(python.display())?;
        let (Some(requests), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return fail("python has no pipes");
        };
        let pipes = Pipes { process, requests, answers: BufReader::new(answers) };
        Ok(Self { pipes: Arc::new(Mutex::new(pipes)) })
    }

    /// The text after `ok` in the answer to a request of two words; any other answer is an error.
    pub(crate) fn ask(
        &self,
        first: impl core::fmt::Display,
        second: impl core::fmt::Display,
    ) -> core::result::Result<String, String> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answer = String::new();
        writeln!(pipes.requests, "{first}\t{second}")
            .and_then(|()| pipes.answers.read_line(&mut answer))
            .map_err(|error| error.to_string())?;
        match answer.trim_end().strip_prefix("ok") {
            Some(rest) => Ok(rest.trim_start().to_owned()),
            None => Err(answer),
        }
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
