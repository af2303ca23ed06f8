//! Outputs of a run over many inputs, synced and renamed together.
//!
//! A disk syncs many files at once in little more time than one. So outputs wait until there are
//! some. A thread then syncs them all, renames each, and syncs each folder once, while the next
//! outputs are made. Lines about an output are printed when it has its name.

use std::{
    fs::{File, Metadata},
    path::Path,
    sync::mpsc::{self, SendError},
    thread::{self, JoinHandle},
};

use blosc_io::replace::{Carry, directory_of, sync_many};

use crate::{Console, Held, Program, Staged};

/// Most outputs that wait.
const MAX_OUTPUTS: usize = 400;
/// Files that a run opens besides the waiting outputs.
const OTHER_FILES: usize = 64;
/// Most bytes that wait; more would leave the disk idle.
const MAX_NBYTES: u64 = 16 << 20;
/// Threads that sync.
const SYNCERS: usize = 8;

/// Complete outputs that wait for their names.
#[derive(Debug)]
pub struct Batch<P: Program> {
    waiting: Vec<Waiting<P>>,
    /// The number of outputs that makes the batch full.
    max_outputs: usize,
    nbytes: u64,
    settling: Settling<P>,
}

#[derive(Debug)]
struct Waiting<P> {
    /// The name of the input in messages.
    input: String,
    staged: Staged<P>,
    /// The mode and times that the output gets: those of the input.
    source: Option<Metadata>,
    lines: Held,
}

/// The input of an output, the lines about it, and the result of its renaming.
type Settled<P> = (String, Held, Result<(), <P as Program>::Error>);

/// The outputs of the round before.
#[derive(Debug)]
enum Settling<P: Program> {
    Done(Vec<Settled<P>>),
    Thread(JoinHandle<Vec<Settled<P>>>),
}

impl<P: Program> Default for Settling<P> {
    fn default() -> Self {
        Self::Done(vec![])
    }
}

impl<P: Program> Settling<P> {
    fn done(self) -> Vec<Settled<P>> {
        match self {
            Self::Done(settled) => settled,
            Self::Thread(thread) => {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
        }
    }
}

impl<P: Program> Default for Batch<P> {
    fn default() -> Self {
        let max_outputs = max_outputs(max_open_files());
        Self { waiting: vec![], max_outputs, nbytes: 0, settling: Settling::default() }
    }
}

/// The number of waiting outputs in a process that may open `nfiles` files. Each holds an open
/// file, and as many are renamed at the same time.
fn max_outputs(nfiles: usize) -> usize {
    (nfiles.saturating_sub(OTHER_FILES) / 2).clamp(1, MAX_OUTPUTS)
}

#[cfg(unix)]
fn max_open_files() -> usize {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile)
        .current
        .map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
const fn max_open_files() -> usize {
    512
}

impl<P: Program> Drop for Batch<P> {
    fn drop(&mut self) {
        // Otherwise the end of the process could stop the thread between a sync and a rename.
        core::mem::take(&mut self.settling).done();
    }
}

impl<P: Program> Batch<P> {
    /// Adds the output of `input`, which gets the mode and times of `source`. The console holds
    /// back all lines until [`told`](Self::told).
    pub fn push(
        &mut self,
        console: &Console<P>,
        input: String,
        staged: Staged<P>,
        source: Option<Metadata>,
    ) {
        self.nbytes += staged.len();
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
        self.waiting.len() >= self.max_outputs || self.nbytes >= MAX_NBYTES
    }

    /// Starts to rename all outputs, after those of the round before are done: their lines are
    /// printed, and `fail` gets their errors.
    ///
    /// # Errors
    ///
    /// When standard output cannot be written.
    pub fn settle(
        &mut self,
        console: &Console<P>,
        fail: impl FnMut(&str, P::Error),
    ) -> Result<(), P::Error>
    where
        P: Send + Sync + 'static,
        P::Error: Send,
    {
        let told = self.wait(console, fail);
        let waiting = self.take();
        let (give, take) = mpsc::channel();
        let work = move || take.recv().map_or_else(|_| vec![], put_in_place);
        let started = thread::Builder::new().spawn(work);
        // If no thread starts, the caller does the work.
        match (started, give.send(waiting)) {
            (Ok(thread), Ok(())) => self.settling = Settling::Thread(thread),
            (_, Err(SendError(waiting))) => self.settling = Settling::Done(put_in_place(waiting)),
            (Err(_), Ok(())) => {}
        }
        told
    }

    /// Renames all outputs, and reports as [`settle`](Self::settle) does.
    ///
    /// # Errors
    ///
    /// As [`settle`](Self::settle).
    pub fn finish(
        &mut self,
        console: &Console<P>,
        mut fail: impl FnMut(&str, P::Error),
    ) -> Result<(), P::Error>
    where
        P: Sync,
        P::Error: Send,
    {
        let told = self.wait(console, &mut fail);
        let settled = put_in_place(self.take());
        told.and(tell(settled, console, fail))
    }

    /// The outputs that wait.
    fn take(&mut self) -> Vec<Waiting<P>> {
        self.nbytes = 0;
        core::mem::take(&mut self.waiting)
    }

    /// Waits for the outputs of the round before, and reports them.
    fn wait(
        &mut self,
        console: &Console<P>,
        fail: impl FnMut(&str, P::Error),
    ) -> Result<(), P::Error> {
        tell(core::mem::take(&mut self.settling).done(), console, fail)
    }
}

/// Reports outputs in their order.
fn tell<P: Program>(
    settled: Vec<Settled<P>>,
    console: &Console<P>,
    mut fail: impl FnMut(&str, P::Error),
) -> Result<(), P::Error> {
    let (mut told, mut lines) = (Ok(()), Held::default());
    for (input, of_input, done) in settled {
        match done {
            Ok(()) => lines.append(of_input),
            Err(error) => {
                told = told.and_then(|()| console.tell(core::mem::take(&mut lines)));
                fail(&input, error);
            }
        }
    }
    told.and_then(|()| console.tell(lines))
}

/// Renames each output.
fn put_in_place<P: Program + Sync>(mut waiting: Vec<Waiting<P>>) -> Vec<Settled<P>>
where
    P::Error: Send,
{
    let mut done = complete_all(&waiting);
    for (waiting, done) in waiting.iter_mut().zip(&mut done) {
        if done.is_ok() {
            *done = waiting.staged.put_in_place();
        }
    }
    sync_names(&waiting, &mut done);
    waiting.into_iter().zip(done).map(|(it, done)| (it.input, it.lines, done)).collect()
}

/// Gives each output its owner, mode and times, and syncs it if requested: all files by one call,
/// or several at a time.
fn complete_all<P: Program + Sync>(waiting: &[Waiting<P>]) -> Vec<Result<(), P::Error>>
where
    P::Error: Send,
{
    let carry = |source| Option::map_or(source, Carry::Target, Carry::All);
    let carried = waiting.iter().map(|it| it.staged.carry(carry(it.source.as_ref())));
    let done: Vec<_> = carried.collect();
    let files: Option<Vec<&File>> = waiting.iter().map(|it| it.staged.as_file()).collect();
    let needs_sync = waiting.iter().any(|it| it.staged.needs_sync());
    if !needs_sync || files.is_some_and(|files| sync_many(&files)) {
        return done;
    }
    let share = waiting.len().div_ceil(SYNCERS).max(1);
    let synced: Vec<_> = thread::scope(|scope| {
        let start =
            |share| (thread::Builder::new().spawn_scoped(scope, move || sync_each(share)), share);
        let threads: Vec<_> = waiting.chunks(share).map(start).collect();
        let joined = threads.into_iter().map(|(thread, share)| {
            let done = thread.ok().and_then(|thread| thread.join().ok());
            // If no thread starts, the caller syncs.
            done.unwrap_or_else(|| sync_each(share))
        });
        joined.flatten().collect()
    });
    done.into_iter().zip(synced).map(|(done, synced)| done.and(synced)).collect()
}

fn sync_each<P: Program>(waiting: &[Waiting<P>]) -> Vec<Result<(), P::Error>> {
    waiting.iter().map(|it| it.staged.sync()).collect()
}

/// Syncs each folder with a new output once, and again after a failure.
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
        let max = batch.max_outputs;
        let noutputs = 2 * max + 1;
        let mut failed = vec![];
        let mut fail = |input: &str, error| failed.push((input.to_owned(), error));
        for n in 0..noutputs {
            let options = StageOptions { force: false, sync: true };
            let staged = Staged::create(&place(n), options, &Unfinished::default()).unwrap();
            writeln!(staged.handle().unwrap(), "{n}").unwrap();
            batch.push(&console, format!("input {n}"), staged, None);
            batch.told(&console);
            if n == 7 {
                assert!(!place(0).exists());
                fs::write(place(7), "of another").unwrap();
            }
            assert_eq!(batch.is_full(), (n + 1) % max == 0);
            if batch.is_full() {
                batch.settle(&console, &mut fail).unwrap();
            }
        }
        assert!(matches!(batch.settling, Settling::Thread(_)));
        batch.finish(&console, &mut fail).unwrap();
        assert!(matches!(&failed[..], [(input, Error::Exists { .. })] if input == "input 7"));
        for n in (0..noutputs).filter(|n| *n != 7) {
            assert_eq!(fs::read_to_string(place(n)).unwrap(), format!("{n}\n"));
        }
        assert_eq!(fs::read_to_string(place(7)).unwrap(), "of another");
        let nfiles = |folder| fs::read_dir(dir.path().join(folder)).unwrap().count();
        assert_eq!(nfiles("a") + nfiles("b"), noutputs);
    }

    #[test]
    fn as_many_outputs_wait_as_the_process_may_open() {
        for (nfiles, noutputs) in [(0, 1), (66, 1), (100, 18), (256, 96), (1024, 400)] {
            assert_eq!(max_outputs(nfiles), noutputs);
            assert!(2 * noutputs + OTHER_FILES <= nfiles.max(OTHER_FILES + 2));
        }
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
