//! Processes of python-blosc2 that append to the same files.

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

/// With this in their environment, C-Blosc2 and `b2` lock `.b2lock` before each change.
pub(super) const LOCKING: (&str, &str) = ("BLOSC_LOCKING", "1");

/// One process, which makes one change at a time.
#[derive(Clone)]
pub(super) struct Writer {
    pipes: Arc<Mutex<Pipes>>,
}

struct Pipes {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Writer {
    pub(super) fn start(python: &Path) -> Result<Self> {
        let mut process = venv::script(python, "contend.py")
            .env(LOCKING.0, LOCKING.1)
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

    /// Appends the bytes of the file `record` to the frame; what Python says where that fails.
    pub(super) fn append(&self, frame: &Path, record: &Path) -> core::result::Result<(), String> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answer = String::new();
        writeln!(pipes.requests, "{}\t{}", frame.display(), record.display())
            .and_then(|()| pipes.answers.read_line(&mut answer))
            .map_err(|error| error.to_string())?;
        if answer == "ok\n" { Ok(()) } else { Err(answer) }
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
