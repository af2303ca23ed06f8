//! Outputs that take their places together.
//!
//! A disk that syncs many files at a time needs little longer than for one. So the outputs of a run
//! over many inputs wait until there are some: all of them are synced, each is renamed, and each
//! folder is synced once. A thread does that, while the next outputs are made. Lines about an
//! output are printed when it has its place.

use std::{
    fs::{File, Metadata},
    path::Path,
    sync::mpsc::{self, SendError},
    thread::{self, JoinHandle},
};

use blosc_io::replace::{Carry, directory_of, sync_many};

use crate::{Console, Held, Program, Staged};

/// Outputs that wait at most.
const MAX_OUTPUTS: usize = 400;
/// Files that a run opens beside the outputs that wait.
const OTHER_FILES: usize = 64;
/// Bytes that wait at most: the disk is not idle meanwhile.
const MAX_NBYTES: u64 = 16 << 20;
/// Threads that sync.
const SYNCERS: usize = 8;

/// Outputs that are complete and not in place.
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
    /// How messages call the input.
    input: String,
    staged: Staged<P>,
    /// The input whose mode and times the output gets.
    source: Option<Metadata>,
    lines: Held,
}

/// The input of an output, the lines about it, and whether it has its place.
type Settled<P> = (String, Held, Result<(), <P as Program>::Error>);

/// The outputs before.
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

/// The number of outputs that wait in a process that may open `nfiles` files. Each has an open
/// file, and as many are put in place meanwhile.
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
        // The end of the process would stop it between two names.
        core::mem::take(&mut self.settling).done();
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

    /// Starts to put all outputs in place. Those before have theirs then; the lines about them are
    /// printed, and `fail` is told of those that have none.
    ///
    /// # Errors
    ///
    /// When standard output takes no lines.
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
        // Without a thread the caller does it.
        match (started, give.send(waiting)) {
            (Ok(thread), Ok(())) => self.settling = Settling::Thread(thread),
            (_, Err(SendError(waiting))) => self.settling = Settling::Done(put_in_place(waiting)),
            (Err(_), Ok(())) => {}
        }
        told
    }

    /// Puts all outputs in place, and tells of them as [`settle`](Self::settle) does.
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

    /// Waits for the outputs that are put in place meanwhile, and tells of them.
    fn wait(
        &mut self,
        console: &Console<P>,
        fail: impl FnMut(&str, P::Error),
    ) -> Result<(), P::Error> {
        tell(core::mem::take(&mut self.settling).done(), console, fail)
    }
}

/// Tells of outputs, in their order.
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

/// Puts each output in place.
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

/// Gives each output what it takes over, and syncs it where that is requested: all files by one
/// call, or several at a time.
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
            // Without a thread the caller syncs.
            done.unwrap_or_else(|| sync_each(share))
        });
        joined.flatten().collect()
    });
    done.into_iter().zip(synced).map(|(done, synced)| done.and(synced)).collect()
}

fn sync_each<P: Program>(waiting: &[Waiting<P>]) -> Vec<Result<(), P::Error>> {
    waiting.iter().map(|it| it.staged.sync()).collect()
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
