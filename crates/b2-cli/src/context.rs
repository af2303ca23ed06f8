//! The common state of all commands: the console, the budget, the list of unfinished files.

use core::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use std::{
    fs::Metadata,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use b2frame::{Budget, CompressOptions, EditOptions, Mismatch, MismatchLog, lock::FrameLock};
use blosc_chunk::{CParams, DParams, Executor, Limits, Registries, Simd};
use blosc_data::{Format, OpenOptions, Opened, Openers, Resources, repack::much_waste};

use blosc_io::{
    Lock, LockWait,
    lock::{DEFAULT_TIMEOUT, Holder, LockTimeout},
};

use crate::{
    args::{CheckArgs, GeneralArgs, InputArgs, LockArgs, OutputArgs},
    console::{Console, tell_failure, without_name},
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::store,
    inputs::{
        Inputs, OpenedInput, Origin, Part, Place, foreign, object_reader,
        origin::{self, Found},
        piped::Piped,
        walk::{self, Choice, LeftOut, Reason},
    },
    memory,
    output::{Batch, Staged, Targets, Unfinished, copy_rest},
    render::{harmless, path_text},
    report::left_out,
};

/// A lock that keeps writers away while a file is read.
pub(crate) struct SharedLock {
    /// The lock of C-Blosc2, which is released first.
    _beside: Option<FrameLock>,
    _file: Lock,
    place: Place,
}

impl Drop for SharedLock {
    fn drop(&mut self) {
        self.place.set_locked(false);
    }
}

/// The surroundings of a command.
#[derive(Debug)]
pub(crate) struct Context {
    /// The console.
    pub(crate) console: Console,
    /// Temporary files that are not complete.
    pub(crate) unfinished: Unfinished,
    resources: Resources,
    simd: Simd,
    mismatch: Mismatch,
    /// Openers of inputs other than files.
    openers: Openers,
    /// Whether a part of an input was left out.
    is_short: AtomicBool,
    /// Outputs that wait for others, in a run over many inputs.
    outputs: Mutex<Option<Batch>>,
    /// Copies of inputs that can be read only once.
    piped: Arc<Mutex<Piped>>,
}

impl Context {
    /// The context for these options.
    pub(crate) fn new(console: Console, general: &GeneralArgs, unfinished: Unfinished) -> Self {
        let threads = match general.threads {
            0 => Executor::auto(),
            n => Executor::threads(n),
        };
        let memory = memory::budget(general.max_memory.map(|size| size.0));
        Self {
            console,
            unfinished,
            resources: Resources { threads, memory },
            simd: general.simd.unwrap_or_default(),
            mismatch: Mismatch::Fail,
            openers: Openers::default(),
            is_short: AtomicBool::new(false),
            outputs: Mutex::default(),
            piped: Arc::default(),
        }
    }

    /// Sets what happens if data do not match their checksum.
    pub(crate) fn mismatch(self, check: CheckArgs) -> Self {
        let note = || Mismatch::Note(MismatchLog::default());
        Self { mismatch: if check.no_check { note() } else { Mismatch::Fail }, ..self }
    }

    /// Adds openers of inputs other than files.
    pub(crate) fn openers(self, openers: Openers) -> Self {
        Self { openers, ..self }
    }

    /// Finds the inputs, also those that openers know; `choice` decides which files of a directory
    /// count.
    pub(crate) fn find(&self, args: &InputArgs, choice: Choice<'_>) -> Inputs {
        origin::find_opened(args, choice, &self.openers, &mut self.piped())
    }

    /// Finds the inputs of a command that reads no data of other formats.
    pub(crate) fn find_ours(&self, args: &InputArgs, choice: Choice<'_>) -> Inputs {
        let refuse = |input: &mut Found| {
            if let Ok(Origin::Opened(OpenedInput { name, .. })) = input {
                let error = foreign::refusal(&name.as_str().into());
                let other = || message::NOT_FOR_COMMAND.about("data of another format");
                *input = Err((harmless(name), error.unwrap_or_else(other)));
            }
        };
        self.find(args, choice).map(|mut found| {
            found.iter_mut().for_each(refuse);
            found
        })
    }

    /// The input that `word` means, which may be one that openers know.
    pub(crate) fn origin(&self, word: &Path) -> Result<Origin> {
        let origin = origin::open(&self.openers, &mut self.piped(), word)?;
        origin.look().map(|()| origin)
    }

    /// The input that `word` means among local files and pipes.
    pub(crate) fn local(&self, word: &Path) -> Result<Origin> {
        self.piped().local(word)
    }

    fn piped(&self) -> MutexGuard<'_, Piped> {
        self.piped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The input of a command with a single one, as a list.
    pub(crate) fn input(&self, word: &Path) -> Vec<Found> {
        vec![self.origin(word).map_err(|error| (path_text(word), error))]
    }

    /// Each group, followed by its arrays.
    pub(crate) fn with_arrays(&self, inputs: Vec<Found>) -> Vec<Found> {
        let mut expanded = vec![];
        for input in inputs {
            let group = input.as_ref().ok().filter(|origin| origin.is_group()).cloned();
            expanded.extend(group.map(Ok));
            expanded.extend(self.expand_groups(vec![input]));
        }
        expanded
    }

    /// Joins the files of foreign data to one input, which lies in one of the folders `roots`. The
    /// result is the opened input, or the error that this program does not read it.
    pub(crate) fn keep_whole<'a>(
        &self,
        inputs: Vec<Found>,
        roots: impl IntoIterator<Item = &'a Path> + Clone,
    ) -> Vec<Found> {
        let mut kept: Vec<Found> = vec![];
        let is_there = |kept: &[Found], path: &Path| {
            let name = path_text(path);
            kept.iter().any(|found| match found {
                Ok(origin) => origin.name() == name,
                Err((known, _)) => *known == name,
            })
        };
        for input in self.with_archives(inputs) {
            let path = input.as_ref().ok().and_then(Origin::path);
            match path.and_then(|path| foreign::whole_of(path, roots.clone())) {
                None => kept.push(input),
                Some(whole) if is_there(&kept, &whole) => {}
                Some(whole) => self.push_whole(&whole, &mut kept),
            }
        }
        // A root may be foreign data in which no file counts as an input.
        for root in roots {
            if root.is_dir() && foreign::kind_of(&root.into()).is_some() && !is_there(&kept, root) {
                self.push_whole(root, &mut kept);
            }
        }
        kept
    }

    /// Replaces each archive of NumPy by the group of its arrays.
    pub(crate) fn with_archives(&self, mut inputs: Vec<Found>) -> Vec<Found> {
        for input in &mut inputs {
            if let Ok(Origin::File { path, part: Part::Whole }) = input
                && path.is_archive()
            {
                let path = path.clone();
                *input = self.origin(&path).map_err(|error| (path_text(&path), error));
            }
        }
        inputs
    }

    /// Decides which files of a folder `list` takes: those that it lists by name.
    pub(crate) fn listed(&self, path: &Place) -> Option<Reason> {
        match path.format() {
            Some(Format::Npy | Format::Npz) => None,
            Some(format) if self.opens_others() && format.is_foreign() => None,
            _ => walk::ours(path),
        }
    }

    /// Joins the files of foreign data in all inputs and their folders.
    pub(crate) fn with_whole(&self, found: Inputs) -> Inputs {
        let roots = found.roots.clone();
        found.map(|found| self.keep_whole(found, roots.iter().map(PathBuf::as_path)))
    }

    /// Adds foreign data as an opener opens them, or the error that none does.
    fn push_whole(&self, path: &Path, inputs: &mut Vec<Found>) {
        let opened = origin::open_by(&self.openers, path).and_then(|opened| {
            let refused =
                || foreign::refusal(&path.into()).map_or_else(|| Ok(Origin::from_word(path)), Err);
            opened.map_or_else(refused, Ok)
        });
        inputs.push(opened.map_err(|error| (path_text(path), error)));
    }

    /// Replaces a group by its arrays.
    pub(crate) fn expand_groups(&self, inputs: Vec<Found>) -> Vec<Found> {
        let mut expanded = vec![];
        for input in inputs {
            let Ok(Origin::Opened(OpenedInput { opened: Opened::Group(group), .. })) = &input
            else {
                expanded.push(input);
                continue;
            };
            for name in &group.members {
                let array = origin::open(&self.openers, &mut self.piped(), Path::new(name));
                expanded.push(array.map_err(|error| (harmless(name), error)));
            }
        }
        expanded
    }

    /// Tells if a changed frame or store has unusually many dead bytes.
    pub(crate) fn tell_waste(&self, origin: &Origin) -> Result<()> {
        let Some(path) = origin.place().filter(|path| path.exists()) else { return Ok(()) };
        let is_store = path.is_store();
        if !is_store && path.format() != Some(Format::Frame) {
            return Ok(());
        }
        if let Some((dead, all)) = much_waste(path, is_store, &self.read_params())? {
            let (path, units) = (path_text(path), self.console.units());
            let (dead, all) = (units.size(dead), units.size(all));
            self.console.note(&format!("{path}: {dead} of {all} are dead: `b2 repack` frees them"));
        }
        Ok(())
    }

    /// Whether the program reads data of other formats.
    pub(crate) fn opens_others(&self) -> bool {
        self.openers.iter().any(|opener| opener.kind_name().is_some())
    }

    /// Reports the error that stops the whole command.
    pub(crate) fn refuse(&self, error: &Error) -> Code {
        self.tell(None, error)
    }

    fn tell(&self, name: Option<&str>, error: &Error) -> Code {
        let of_command = error.of_command().filter(|_| self.opens_others());
        tell_failure(&self.console, name, of_command.as_ref().unwrap_or(error));
        error.code()
    }

    /// Runs `work` on each input, for every command. A failure is reported, and the next input
    /// follows; the first one gives the exit code. Entries that folders lack in the run are
    /// reported at the end. A closed standard output ends the run. An archive that contradicts
    /// itself gets a warning before it is read.
    pub(crate) fn run_on_inputs(
        &self,
        inputs: impl Into<Inputs>,
        work: impl FnMut(&Origin) -> Result<()>,
    ) -> Code {
        self.run_unwarned(inputs, self.warned(work))
    }

    /// Warns of an archive that contradicts itself before `work` reads it.
    fn warned<'a>(
        &'a self,
        mut work: impl FnMut(&Origin) -> Result<()> + 'a,
    ) -> impl FnMut(&Origin) -> Result<()> + 'a {
        let mut last = None;
        move |origin| {
            let path = origin.path().map(Path::to_owned);
            if path != last {
                for text in store::contradictions(origin) {
                    self.console.warning(&origin.name(), &text);
                }
                last = path;
            }
            work(origin)
        }
    }

    /// Runs a command that reports contradictions of archives itself.
    pub(crate) fn run_unwarned(
        &self,
        inputs: impl Into<Inputs>,
        work: impl FnMut(&Origin) -> Result<()>,
    ) -> Code {
        let mut inputs = inputs.into();
        inputs.tell_only(|reason| reason != Reason::EmptyFolder);
        let is_nothing = inputs.is_nothing();
        match self.run_on_each(core::mem::take(&mut inputs.found), work) {
            ControlFlow::Break(code) => code,
            ControlFlow::Continue(code) => self.tell_left_out(code, is_nothing, &inputs, None),
        }
    }

    /// Runs `work` on each input; stops if nobody reads the output.
    fn run_on_each(
        &self,
        inputs: Vec<Found>,
        mut work: impl FnMut(&Origin) -> Result<()>,
    ) -> ControlFlow<Code, Code> {
        let mut code = Code::Success;
        for input in inputs {
            let (name, done) = match input {
                // Reading from a terminal is probably a mistake.
                Ok(Origin::Stdin) if io::stdin().is_terminal() => {
                    ("stdin".to_owned(), Err(message::TERMINAL_INPUT.error()))
                }
                Ok(origin) => {
                    let done = origin.look().and_then(|()| work(&origin));
                    (origin.name(), origin.believed(done))
                }
                Err((name, error)) => (name, Err(error)),
            };
            if let Mismatch::Note(log) = &self.mismatch
                && let Some(mismatch) = log.take()
            {
                let mismatch = without_name(&mismatch, Some(&name));
                self.console.warning(&name, &format!("{mismatch}; read anyway"));
            }
            match done {
                Ok(()) => {}
                Err(error) if error.is_closed_pipe() => return ControlFlow::Break(code),
                Err(Error::Reported { code: reported }) => code = code.and(reported),
                Err(error) => code = code.and(self.tell(Some(&name), &error)),
            }
        }
        ControlFlow::Continue(code)
    }

    /// Reports what was left out of folders; a run that took nothing has failed.
    fn tell_left_out(
        &self,
        code: Code,
        is_nothing: bool,
        inputs: &Inputs,
        hint: Option<&str>,
    ) -> Code {
        let Inputs { roots, left_out, .. } = inputs;
        if !is_nothing {
            left_out::tell(&self.console, roots, left_out, hint);
            return code;
        }
        left_out::name(&self.console, left_out);
        let (name, error) = left_out::nothing_taken(roots, left_out);
        tell_failure(&self.console, Some(&name), &error);
        code.and(error.code())
    }

    /// A copy of the context without output, for a terminal that shows something else.
    pub(crate) fn silent(&self) -> Self {
        let Self { unfinished, resources, simd, mismatch, openers, piped, .. } = self;
        Self {
            console: self.console.silent(),
            unfinished: unfinished.clone(),
            resources: resources.clone(),
            simd: *simd,
            mismatch: mismatch.clone(),
            openers: openers.clone(),
            is_short: AtomicBool::new(false),
            outputs: Mutex::default(),
            piped: Arc::clone(piped),
        }
    }

    /// The exit code of a run that ends with `code`: another one if something was left out.
    pub(crate) fn code_of_all(&self, code: Code) -> Code {
        if self.is_short.load(Ordering::Relaxed) { code.and(Code::Foreign) } else { code }
    }

    /// Notes that a part of an input was left out; the caller has told the user.
    pub(crate) fn note_short(&self) {
        self.is_short.store(true, Ordering::Relaxed);
    }

    /// [`run_on_inputs`](Self::run_on_inputs) for commands that write one output for each input.
    pub(crate) fn run_into_targets(
        &self,
        inputs: impl Into<Inputs>,
        output: &OutputArgs,
        mut work: impl FnMut(&Origin, &mut Targets<'_>) -> Result<()>,
    ) -> Code {
        if output.rm && !matches!(self.mismatch, Mismatch::Fail) {
            return self.refuse(&message::UNCHECKED_IS_KEPT.error());
        }
        let mut inputs = inputs.into();
        // Outputs beside the inputs leave no folder empty.
        let is_elsewhere = output.output_dir.is_some();
        inputs.tell_only(|reason| is_elsewhere || reason != Reason::EmptyFolder);
        let mut targets = match Targets::new(output, inputs.len(), inputs.roots.clone()) {
            Ok(targets) => targets,
            Err(error) => return self.refuse(&error),
        };
        let is_nothing = inputs.is_nothing();
        let found = core::mem::take(&mut inputs.found);
        *self.outputs() = (found.len() > 1).then(Batch::default);
        let mut late = Code::Success;
        let each = self.warned(|origin| {
            let done = work(origin, &mut targets);
            self.settle(done.is_err(), &mut late).and(done)
        });
        let code = match self.run_on_each(found, each) {
            ControlFlow::Break(code) => return code,
            ControlFlow::Continue(code) => code,
        };
        let code = match self.settle(true, &mut late) {
            Ok(()) => code.and(late),
            Err(_) => return code.and(late),
        };
        let (code, copied) = self.copy_rest(code, &mut inputs, &mut targets);
        let code = match targets.finish() {
            Ok(()) => code,
            Err(error) => code.and(self.refuse(&error)),
        };
        let is_file = output.output.is_some() || output.copy_rest;
        let hint = (!is_file).then_some("--output-dir with --copy-rest copies them");
        left_out::tell_copies(&self.console, &inputs.roots, &copied);
        self.tell_left_out(code, is_nothing && copied.is_empty(), &inputs, hint)
    }

    fn outputs(&self) -> MutexGuard<'_, Option<Batch>> {
        self.outputs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renames a complete output to its target, together with others in a run over many inputs.
    ///
    /// # Errors
    ///
    /// When the system refuses, or something else has appeared at the target.
    pub(crate) fn put_in_place(
        &self,
        origin: &Origin,
        staged: Staged,
        source: Option<Metadata>,
    ) -> Result<()> {
        match &mut *self.outputs() {
            Some(batch) => batch.push(&self.console, origin.name(), staged, source),
            None => staged.commit(source.as_ref())?,
        }
        Ok(())
    }

    /// Renames the waiting outputs, if they are many or `is_forced`. A failure is reported, and its
    /// code is added to `code`.
    ///
    /// # Errors
    ///
    /// When nobody reads the output any more.
    fn settle(&self, is_forced: bool, code: &mut Code) -> Result<()> {
        let mut outputs = self.outputs();
        let Some(batch) = &mut *outputs else { return Ok(()) };
        batch.told(&self.console);
        if !is_forced && !batch.is_full() {
            return Ok(());
        }
        let fail = |input: &str, error| *code = code.and(self.tell(Some(input), &error));
        match is_forced {
            true => batch.finish(&self.console, fail),
            false => batch.settle(&self.console, fail),
        }
    }

    /// Copies the entries that were left out, if the options want it, and returns those with a
    /// copy. Others stay left out.
    fn copy_rest(
        &self,
        mut code: Code,
        inputs: &mut Inputs,
        targets: &mut Targets<'_>,
    ) -> (Code, Vec<LeftOut>) {
        let mut copied = vec![];
        if !targets.args.copy_rest {
            return (code, copied);
        }
        inputs.left_out.retain(|item| {
            match copy_rest::copy(item, targets, &self.unfinished) {
                Ok(None) => return true,
                Ok(Some(place)) => {
                    left_out::tell_copied(&self.console, item, &place);
                    copied.push(item.clone());
                }
                Err(error) => {
                    tell_failure(&self.console, Some(&path_text(&item.path)), &error);
                    code = code.and(error.code());
                }
            }
            false
        });
        (code, copied)
    }

    /// The codecs, filters and vector instructions to use.
    pub(crate) fn registries(&self) -> Registries {
        Registries { simd: self.simd, ..Registries::default() }
    }

    /// How chunks are decoded. The size of a chunk is not limited: large ones are decoded in parts.
    pub(crate) fn dparams(&self) -> DParams {
        DParams::default().limits(Limits::none()).registries(self.registries())
    }

    /// How inputs are read.
    pub(crate) fn read_params(&self) -> OpenOptions {
        let params = OpenOptions::from(self.dparams()).mismatch(self.mismatch.clone());
        params.budget(self.read_options())
    }

    /// How inputs are read if the command compares the checksums itself, or none.
    pub(crate) fn unchecked_params(&self) -> OpenOptions {
        self.read_params().mismatch(Mismatch::Ignore)
    }

    /// How to wait for another program that uses a file; after a second the user is told.
    pub(crate) fn lock_wait(&self, args: LockArgs) -> LockWait {
        let timeout = args.lock_timeout.map(Duration::from_secs).unwrap_or(DEFAULT_TIMEOUT);
        let console = self.console.clone();
        let say = move |holder: &Holder| {
            console.note(&format!("{}: waiting for {holder}", console.program()));
        };
        LockWait::default().timeout(Some(timeout)).on_wait(say)
    }

    /// Locks a file that is replaced, against readers and writers.
    ///
    /// # Errors
    ///
    /// When another program keeps the lock for too long, or the file cannot be opened.
    pub(crate) fn lock_exclusive(&self, path: &Path, args: LockArgs) -> Result<Lock> {
        Lock::exclusive(path, &self.lock_wait(args)).map_err(|error| {
            let timeout = LockTimeout::find(&error).cloned();
            timeout.map_or_else(|| Error::io(Doing::Open)(error), Error::Locked)
        })
    }

    /// Keeps other programs from changing an input while it is read. A pipe or a missing file gets
    /// no lock.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] when another program keeps changing it.
    pub(crate) fn lock_shared(
        &self,
        origin: &Origin,
        args: LockArgs,
    ) -> Result<Option<SharedLock>> {
        let Some(path) = origin.place().filter(|path| path.is_file() || path.is_dir()) else {
            return Ok(None);
        };
        let wait = self.lock_wait(args);
        let file = match Lock::shared(path, &wait) {
            Ok(lock) => lock,
            // The reader reports the error of opening.
            Err(error) => match LockTimeout::find(&error) {
                Some(timeout) => return Err(Error::Locked(timeout.clone())),
                None => return Ok(None),
            },
        };
        let beside = object_reader::lock_frame(path, &wait)?;
        path.set_locked(true);
        Ok(Some(SharedLock { _beside: beside, _file: file, place: path.clone() }))
    }

    /// How the frame at `path` is changed: by one writer, and under the lock of C-Blosc2 as well,
    /// if that exists or the environment wants it.
    pub(crate) fn edit_options(&self, offset: u64, lock: LockArgs) -> EditOptions {
        let open = self.read_params().frame().offset(offset);
        EditOptions::default().open(open).lock(self.lock_wait(lock))
    }

    /// Threads and memory.
    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    /// How to decode.
    pub(crate) fn read_options(&self) -> Budget {
        self.resources.decoding()
    }

    /// Working memory for objects that are held as a whole (bytes).
    pub(crate) fn memory(&self) -> u64 {
        self.resources.held()
    }

    /// How to compress chunks of `chunksize` bytes with these parameters, while other work needs
    /// `reserved` bytes.
    ///
    /// # Errors
    ///
    /// When one chunk does not fit.
    pub(crate) fn compress_options(
        &self,
        cparams: &CParams,
        chunksize: usize,
        reserved: u64,
    ) -> Result<CompressOptions> {
        let budget = self.resources.compressing(cparams, chunksize, reserved)?;
        Ok(CompressOptions::default().budget(budget))
    }

    /// Threads to compress `nbytes` bytes to one chunk with these parameters.
    ///
    /// # Errors
    ///
    /// When data and chunk together do not fit into the memory.
    pub(crate) fn one_chunk(&self, cparams: &CParams, nbytes: u64) -> Result<Executor> {
        Ok(self.resources.one_chunk(cparams, nbytes)?)
    }
}
