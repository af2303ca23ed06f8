//! Requests and their answers.

use blosc_data::Dataset;
use serde_json::{Value, json};

use crate::fault::{Fault, Result};
use crate::request::{Request, TaskRequest};
use crate::session::Session;
use crate::task::{Piece, Task};
use crate::{about, cells, chunks};

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is done.
    Done(Value),
    /// It is done, and these bytes are its result.
    Bytes(Vec<u8>),
    /// These parts of files are needed: `[path, start, end]`, or `[path, -1, length]` for the end
    /// of a file. The request is to be sent again when they were added.
    Fetch(Value),
    /// It cannot be done: the document `error.json`.
    Failed(Value),
}

/// The files and folders that a page looks at.
#[derive(Debug, Default)]
pub struct Engine {
    sessions: Vec<Option<Session>>,
}

impl Engine {
    /// Answers a request, a text of JSON.
    pub fn call(&mut self, request: &[u8]) -> Answer {
        match Request::parse(request).and_then(|request| self.answer(request)) {
            Ok(answer) => answer,
            Err(fault) => Answer::Failed(fault.document()),
        }
    }

    /// Adds bytes of a file of `len` bytes, from position `at` on; `path` is empty but in a folder.
    ///
    /// # Errors
    ///
    /// The document `error.json`: the file has another length now, or is not there.
    pub fn add(
        &mut self,
        session: usize,
        path: &str,
        at: u64,
        bytes: &[u8],
        len: u64,
    ) -> core::result::Result<(), Value> {
        let added = self.session(session).and_then(|session| session.add(path, at, bytes, len));
        added.map_err(|fault| fault.document())
    }

    fn session(&mut self, number: usize) -> Result<&mut Session> {
        let session = self.sessions.get_mut(number).and_then(Option::as_mut);
        session.ok_or_else(|| Fault::request("the session has ended"))
    }

    fn begin(&mut self, session: Session) -> Answer {
        let free = self.sessions.iter().position(Option::is_none);
        let number = free.unwrap_or(self.sessions.len());
        match self.sessions.get_mut(number) {
            Some(place) => *place = Some(session),
            None => self.sessions.push(Some(session)),
        }
        Answer::Done(json!({ "session": number }))
    }

    fn answer(&mut self, request: Request) -> Result<Answer> {
        match request {
            Request::File { name } => Ok(self.begin(Session::of_file(name))),
            Request::Folder { name, files } => Ok(self.begin(Session::of_folder(name, files)?)),
            Request::Close { session } => {
                if let Some(place) = self.sessions.get_mut(session) {
                    *place = None;
                }
                Ok(Answer::Done(json!({})))
            }
            Request::Open { session } => self.about(session, ""),
            Request::About { session, member } => self.about(session, &member),
            Request::Cells { session, member, fixed, rows, columns } => {
                self.of_member(session, &member, |data| {
                    cells::window(&data.data, &fixed, rows, columns)
                })
            }
            Request::Rows { session, member, columns, rows, json } => {
                self.of_member(session, &member, |data| {
                    cells::rows(&data.data, &columns, &rows, json)
                })
            }
            Request::Chunks { session, member, start, count } => {
                self.of_member(session, &member, |data| chunks::sizes(&data.data, start, count))
            }
            Request::Task { session, member, task } => self.task(session, &member, &task),
            Request::Next { session } => self.next(session),
            Request::Found { session } => {
                let task = self.session(session)?.task.as_ref();
                task.map(|task| Answer::Done(task.found())).ok_or_else(no_task)
            }
            Request::Picture { session, width, height } => {
                let task = self.session(session)?.task.as_ref();
                task.ok_or_else(no_task)?.picture(width, height).map(Answer::Bytes)
            }
        }
    }

    /// Opens a member and looks at it.
    fn of_member(
        &mut self,
        session: usize,
        name: &str,
        work: impl FnOnce(&Dataset) -> Result<Value>,
    ) -> Result<Answer> {
        let session = self.session(session)?;
        let step = session.step(|session| {
            let data = session.member(name)?;
            let value = work(&data)?;
            Ok((data, value))
        })?;
        Ok(match step {
            Ok((data, value)) => {
                session.keep(name, data);
                Answer::Done(value)
            }
            Err(fetches) => Answer::Fetch(fetches),
        })
    }

    fn about(&mut self, session: usize, name: &str) -> Result<Answer> {
        self.of_member(session, name, about::document)
    }

    fn task(&mut self, session: usize, name: &str, request: &TaskRequest) -> Result<Answer> {
        let session = self.session(session)?;
        session.task = None;
        let step = session.step(|session| {
            let data = session.member(name)?;
            let task = Task::new(&data, request)?;
            Ok((data, task))
        })?;
        Ok(match step {
            Ok((data, task)) => {
                session.keep(name, data);
                let progress = task.progress();
                session.task = Some(task);
                Answer::Done(progress)
            }
            Err(fetches) => Answer::Fetch(fetches),
        })
    }

    fn next(&mut self, session: usize) -> Result<Answer> {
        let session = self.session(session)?;
        let step = session.step(|session| session.task.as_ref().ok_or_else(no_task)?.read())?;
        let piece = match step {
            Ok(piece) => piece,
            Err(fetches) => return Ok(Answer::Fetch(fetches)),
        };
        let task = session.task.as_mut().ok_or_else(no_task)?;
        if let Some(Piece::Bytes(bytes)) = piece {
            task.skip();
            return Ok(Answer::Bytes(bytes));
        }
        piece.into_iter().for_each(|piece| task.take(piece));
        Ok(Answer::Done(task.progress()))
    }
}

fn no_task() -> Fault {
    Fault::request("no task was begun")
}
