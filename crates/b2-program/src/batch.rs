//! Outputs that take their places together.
//!
//! A disk that syncs many files at a time needs little longer than for one. So the outputs of a run
//! over many inputs wait until there are some: all of them are synced, each is renamed, and each
//! folder is synced once. Lines about an output are printed when it has its place.

use std::{fs::Metadata, path::Path, thread};

use blosc_io::replace::{Carry, directory_of};

use crate::{Console, Held, Program, Staged};

/// Outputs that wait at most: each has an open file.
const MAX_OUTPUTS: usize = 64;
/// Bytes that wait at most: the disk is not idle meanwhile.
const MAX_NBYTES: u64 = 16 << 20;
/// Threads that sync.
const SYNCERS: usize = 8;

/// Outputs that are complete and not in place.
#[derive(Debug)]
pub struct Batch<P> {
    waiting: Vec<Waiting<P>>,
    nbytes: u64,
}

#[derive(Debug)]
struct Waiting<P> {
    /// How messages call the input.
    input: String,
    staged: Staged<P>,
    /// The input whose mode and times the output gets.
    source: Option<Metadata>,
    lines: Held,
}

impl<P> Default for Batch<P> {
    fn default() -> Self {
        Self { waiting: vec![], nbytes: 0 }
    }
}

impl<P: Program> Batch<P> {
    /// Adds the output of `input`, which gets mode and times of `source`. Until
    /// [`told`](Self::told), the console holds back what it is told.
    pub fn push(
        &mut self,
        console: &Console<P>,
        input: String,
        staged: Staged<P>,
        source: Option<Metadata>,
    ) {
        self.nbytes += std::fs::metadata(staged.path()).map_or(0, |it| it.len());
        self.waiting.push(Waiting { input, staged, source, lines: Held::default() });
        console.hold();
    }

    /// Keeps the lines about the output that was added last.
    pub fn told(&mut self, console: &Console<P>) {
        if let Some(last) = self.waiting.last_mut() {
            last.lines.append(console.held());
        }
    }

    /// Whether it is time to [`settle`](Self::settle).
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= MAX_OUTPUTS || self.nbytes >= MAX_NBYTES
    }

    /// Puts all outputs in place, and prints the lines about those that are. `fail` is told of the
    /// others.
    ///
    /// # Errors
    ///
    /// When standard output takes no lines; all outputs are in place then.
    pub fn settle(
        &mut self,
        console: &Console<P>,
        mut fail: impl FnMut(&str, P::Error),
    ) -> Result<(), P::Error>
    where
        P: Sync,
        P::Error: Send,
    {
        self.nbytes = 0;
        let mut waiting = core::mem::take(&mut self.waiting);
        let mut done = complete_all(&waiting);
        for (waiting, done) in waiting.iter_mut().zip(&mut done) {
            if done.is_ok() {
                *done = waiting.staged.put_in_place();
            }
        }
        sync_names(&waiting, &mut done);
        let mut told = Ok(());
        for (waiting, done) in waiting.into_iter().zip(done) {
            match done {
                Ok(()) if told.is_ok() => told = console.tell(waiting.lines),
                Ok(()) => {}
                Err(error) => fail(&waiting.input, error),
            }
        }
        told
    }
}

/// Gives each output what it takes over, and syncs it: several at a time.
fn complete_all<P: Program + Sync>(waiting: &[Waiting<P>]) -> Vec<Result<(), P::Error>>
where
    P::Error: Send,
{
    let share = waiting.len().div_ceil(SYNCERS).max(1);
    thread::scope(|scope| {
        let start = |share| {
            (thread::Builder::new().spawn_scoped(scope, move || complete_each(share)), share)
        };
        let threads: Vec<_> = waiting.chunks(share).map(start).collect();
        let joined = threads.into_iter().map(|(thread, share)| {
            let done = thread.ok().and_then(|thread| thread.join().ok());
            // Without a thread the caller syncs.
            done.unwrap_or_else(|| complete_each(share))
        });
        joined.flatten().collect()
    })
}

fn complete_each<P: Program>(waiting: &[Waiting<P>]) -> Vec<Result<(), P::Error>> {
    let carry = |source| Option::map_or(source, Carry::Target, Carry::All);
    waiting.iter().map(|it| it.staged.complete(carry(it.source.as_ref()))).collect()
}

/// Syncs each folder once in which an output has its place, and again where that failed.
fn sync_names<P: Program>(waiting: &[Waiting<P>], done: &mut [Result<(), P::Error>]) {
    let mut synced: Vec<&Path> = vec![];
    for (waiting, done) in waiting.iter().zip(done) {
        let folder = directory_of(waiting.staged.target());
        if done.is_ok() && !synced.contains(&folder) {
            *done = waiting.staged.sync_name();
            synced.extend(done.is_ok().then_some(folder));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use blosc_io::replace::Unfinished;

    use super::*;
    use crate::{Error, Manner, StageOptions};

    #[derive(Clone, Debug)]
    struct Tool;

    impl Program for Tool {
        type Error = Error;

        fn is_object(_: &Path) -> bool {
            false
        }
    }

    #[test]
    fn each_output_has_its_place_after_the_batch_but_one_whose_place_was_taken() {
        let dir = tempfile::tempdir().unwrap();
        let place = |n| dir.path().join(["a", "b"][n % 2]).join(format!("{n}"));
        let console = Console::<Tool>::new("tool", Manner { quiet: 2, ..Manner::default() });
        let mut batch = Batch::default();
        for folder in ["a", "b"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        for n in 0..MAX_OUTPUTS {
            assert!(!batch.is_full());
            let options = StageOptions { force: false, sync: true };
            let staged = Staged::create(&place(n), options, &Unfinished::default()).unwrap();
            writeln!(staged.handle().unwrap(), "{n}").unwrap();
            batch.push(&console, format!("input {n}"), staged, None);
            batch.told(&console);
        }
        assert!(batch.is_full() && !place(0).exists());
        fs::write(place(7), "of another").unwrap();
        let mut failed = vec![];
        batch.settle(&console, |input, error| failed.push((input.to_owned(), error))).unwrap();
        assert!(matches!(&failed[..], [(input, Error::Exists { .. })] if input == "input 7"));
        for n in (0..MAX_OUTPUTS).filter(|n| *n != 7) {
            assert_eq!(fs::read_to_string(place(n)).unwrap(), format!("{n}\n"));
        }
        assert_eq!(fs::read_to_string(place(7)).unwrap(), "of another");
        let nfiles = |folder| fs::read_dir(dir.path().join(folder)).unwrap().count();
        assert_eq!(nfiles("a") + nfiles("b"), MAX_OUTPUTS);
    }

    #[test]
    fn many_bytes_do_not_wait() {
        let dir = tempfile::tempdir().unwrap();
        let console = Console::<Tool>::new("tool", Manner::default());
        let mut batch = Batch::default();
        let made =
            Staged::create(&dir.path().join("f"), StageOptions::default(), &Unfinished::default());
        let staged = made.unwrap();
        staged.handle().unwrap().set_len(MAX_NBYTES).unwrap();
        batch.push(&console, "f".to_owned(), staged, None);
        assert!(batch.is_full());
    }
}
