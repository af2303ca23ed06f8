//! The worker process with the oracles, `xtask/python/oracle.py`.
//!
//! One process serves many cases: a request is a line of JSON and byte strings, and so is the
//! reply. A late reply, or a worker that crashes on this workspace's output, is a failure of the
//! case. The worker may crash on its own files: C-Blosc2 cannot read some files that it writes, and
//! then frees memory twice.

use core::time::Duration;
use std::{
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
};

use serde_json::Value;

use crate::{
    failure::{Context, Result, fail},
    venv,
};

/// Longer than the slowest case takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// The oracles, ready for requests.
pub(super) struct Oracle {
    python: PathBuf,
    worker: Worker,
}

struct Worker {
    process: Child,
    requests: ChildStdin,
    replies: Receiver<Result<Reply>>,
}

/// The reply of the worker.
pub(super) struct Reply {
    /// The facts, by name.
    pub(super) facts: Value,
    /// The byte strings.
    pub(super) parts: Vec<Vec<u8>>,
}

impl Oracle {
    pub(super) fn start(python: &Path) -> Result<Self> {
        Ok(Self { python: python.to_path_buf(), worker: Worker::start(python)? })
    }

    /// One request; `facts` is an object with the key `op`. The death of the worker is a failure.
    pub(super) fn ask(&mut self, facts: Value, parts: &[&[u8]]) -> Result<Reply> {
        match self.worker.ask(facts, parts)? {
            Some(reply) => reply.accepted(),
            None => fail(format!("the oracle died: {}", self.worker.process.wait()?)),
        }
    }

    /// A request that the oracle may refuse or crash on. Then there is no reply, and a new worker
    /// starts, since the memory of the old one may be damaged.
    pub(super) fn try_ask(&mut self, facts: Value, parts: &[&[u8]]) -> Result<Option<Reply>> {
        let reply = self.worker.ask(facts, parts)?.and_then(|reply| reply.accepted().ok());
        if reply.is_none() {
            self.worker = Worker::start(&self.python)?;
        }
        Ok(reply)
    }
}

impl Worker {
    fn start(python: &Path) -> Result<Self> {
        let mut process = venv::script(python, "oracle.py")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .at(python.display())?;
        let (Some(requests), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return fail("the worker has no pipes");
        };
        let (sender, replies) = channel();
        thread::spawn(move || forward(BufReader::new(stdout), &sender));
        Ok(Self { process, requests, replies })
    }

    /// Sends a request; there is no reply if the worker died.
    fn ask(&mut self, mut facts: Value, parts: &[&[u8]]) -> Result<Option<Reply>> {
        facts["lens"] = parts.iter().map(|part| part.len()).collect();
        if self.send(&facts, parts).is_err() {
            return Ok(None);
        }
        match self.replies.recv_timeout(PATIENCE) {
            Ok(reply) => reply.map(Some),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                fail(format!("no answer of the oracle in {} s", PATIENCE.as_secs()))
            }
        }
    }

    fn send(&mut self, facts: &Value, parts: &[&[u8]]) -> Result<()> {
        writeln!(self.requests, "{facts}")?;
        for part in parts {
            self.requests.write_all(part)?;
        }
        Ok(self.requests.flush()?)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Reply {
    /// Fails if the oracle refused.
    fn accepted(self) -> Result<Self> {
        match self.facts["refused"].as_str() {
            Some(message) => fail(format!("refused by the oracle: {message}")),
            None => Ok(self),
        }
    }

    /// The first byte string.
    pub(super) fn into_first(self) -> Result<Vec<u8>> {
        self.parts.into_iter().next().map_or_else(|| fail("an empty reply"), Ok)
    }
}

fn forward(mut stdout: BufReader<ChildStdout>, replies: &Sender<Result<Reply>>) {
    while let Some(reply) = read_reply(&mut stdout).transpose() {
        if reply.is_err() || replies.send(reply).is_err() {
            return;
        }
    }
}

fn read_reply(stdout: &mut BufReader<ChildStdout>) -> Result<Option<Reply>> {
    let mut line = String::new();
    if stdout.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let facts: Value = serde_json::from_str(&line)?;
    let mut parts = Vec::new();
    for len in facts["lens"].as_array().into_iter().flatten() {
        let len = usize::try_from(len.as_u64().unwrap_or(0))?;
        let mut part = vec![0; len];
        stdout.read_exact(&mut part)?;
        parts.push(part);
    }
    Ok(Some(Reply { facts, parts }))
}
