//! `b2 decompress`: frames and chunks back to what they were made from.

use std::{
    fs::{self, File, Metadata},
    io::{self, Seek},
    path::Path,
    time::Instant,
};

use serde::Serialize;

use crate::{
    args::DecompressArgs,
    compare,
    content::{self, Guard},
    context::Context,
    data,
    error::{Doing, Error, Result},
    exit::Code,
    input::{self, Origin, Part},
    object::Object,
    objects::Objects,
    progress::Progress,
    sink::Sink,
    size,
    stage::{StageOptions, Staged},
    targets::{Naming, Target, Targets},
};

/// What was restored.
#[derive(Debug, Serialize)]
struct DecompressReport<'a> {
    schema: &'static str,
    path: &'a str,
    output: &'a str,
    nbytes: u64,
    file_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u64>,
    seconds: f64,
}

/// Restores each input.
pub(crate) fn run(args: &DecompressArgs, cx: &Context) -> Code {
    let inputs = input::find(&args.inputs, &input::has_suffix);
    match Targets::new(&args.output, Naming::Strip, inputs.len()) {
        Ok(mut targets) => cx.each(inputs, |origin| one(args, cx, origin, &mut targets)),
        Err(error) => cx.refuse(&error),
    }
}

fn one(args: &DecompressArgs, cx: &Context, origin: &Origin, targets: &mut Targets<'_>) -> Result<()> {
    if let Some(path) = origin.path() {
        data::check_kind(path, &args.output)?;
    }
    let start = Instant::now();
    let mut objects = Objects::open(origin, cx.dparams())?;
    let work = Work { args, cx, origin };
    let (counts, output) = match targets.next(origin)? {
        Target::Stdout => {
            let mut sink = Sink::stdout_for_text(args.output.force);
            (work.copy(&mut objects, &mut sink).and_then(|counts| sink.finish().map(|()| counts))?, None)
        }
        Target::Device(path) => {
            let mut sink = Sink::device(&path)?;
            let counts = work.copy(&mut objects, &mut sink)?;
            sink.finish()?;
            (counts, Some(path))
        }
        Target::File(path) => (work.to_file(&mut objects, &path)?, Some(path)),
    };
    if objects.trailing() > 0 {
        cx.console.warning(
            &origin.name(),
            &format!("{} bytes behind the last frame are no frame", objects.trailing()),
        );
    }
    work.report(counts, output.as_deref(), start)
}

/// One input on its way.
struct Work<'a> {
    args: &'a DecompressArgs,
    cx: &'a Context,
    origin: &'a Origin,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    frames: u64,
    nbytes: u64,
    stored: u64,
}

impl Work<'_> {
    /// Writes the content of all objects.
    fn copy(&self, objects: &mut Objects, out: &mut Sink) -> Result<Counts> {
        let mut guard = Guard::new(self.args.limits);
        let mut counts = Counts::default();
        let progress = Progress::new(&self.cx.console, &self.origin.name(), objects.input_len());
        while let Some(object) = objects.next()? {
            guard.admit(&object)?;
            let (nbytes, stored) = (content::nbytes(&object)?, object.stored());
            content::all(&object, &self.cx.read_options(), &mut |bytes| {
                progress.add_share(bytes.len() as u64, nbytes, stored);
                out.write(bytes)
            })?;
            counts.frames += u64::from(matches!(object, Object::Frame(_)));
            counts.nbytes += nbytes;
            counts.stored += stored;
        }
        Ok(counts)
    }

    /// Writes a file beside its target, and puts it in place when all is well.
    fn to_file(&self, objects: &mut Objects, target: &Path) -> Result<Counts> {
        let output = &self.args.output;
        let options = StageOptions { force: output.force, sync: !output.no_sync };
        let staged = Staged::create(target, options, &self.cx.unfinished)?;
        let mut sink = Sink::file(staged.handle()?, target);
        let counts = self.copy(objects, &mut sink)?;
        sink.finish()?;
        if output.rm {
            staged.sync()?;
            self.read_back(staged.handle()?)?;
        }
        staged.commit(self.metadata().as_ref())?;
        if let (Some(path), true) = (self.origin.path(), output.rm) {
            self.check_loss(objects.trailing())?;
            fs::remove_file(path).map_err(Error::io(Doing::Remove))?;
        }
        Ok(counts)
    }

    /// What has no place in a raw file would be gone with the input.
    fn check_loss(&self, trailing: u64) -> Result<()> {
        if self.args.output.force {
            return Ok(());
        }
        let lose = |what: String| Err(Error::WouldLose { what });
        if let Origin::File { part: Part::Offset(_) | Part::Nth(_), .. } = self.origin {
            return lose("the other frames of the file".to_owned());
        }
        if trailing > 0 {
            return lose(format!("{trailing} bytes behind the last frame"));
        }
        let mut objects = Objects::open(self.origin, self.cx.dparams())?;
        while let Some(Object::Frame(schunk)) = objects.next()? {
            if let Some(layer) = schunk.meta().iter().chain(schunk.vlmeta().stored().iter()).next() {
                return lose(format!("the metalayer `{}`", layer.name_text()));
            }
        }
        Ok(())
    }

    /// Compares the file with a second decoding of its source.
    fn read_back(&self, mut file: File) -> Result<()> {
        file.rewind().map_err(Error::io(Doing::Read))?;
        compare::equal(
            &mut Objects::open(self.origin, self.cx.dparams())?,
            &mut io::BufReader::new(file),
            &self.cx.read_options(),
        )
    }

    /// Mode and times of a regular file.
    fn metadata(&self) -> Option<Metadata> {
        self.origin.path().and_then(|path| fs::metadata(path).ok()).filter(Metadata::is_file)
    }

    fn report(&self, counts: Counts, output: Option<&Path>, start: Instant) -> Result<()> {
        let console = &self.cx.console;
        let name = self.origin.name();
        let elapsed = start.elapsed();
        let (Some(output), Counts { nbytes, stored, frames }) = (output, counts) else { return Ok(()) };
        let output = output.display().to_string();
        if console.json() {
            let seconds = elapsed.as_secs_f64();
            let schema = "b2.decompress/1";
            let (path, output) = (name.as_str(), output.as_str());
            return console.document(&DecompressReport {
                schema,
                path,
                output,
                nbytes,
                file_bytes: stored,
                frames: (frames > 0).then_some(frames),
                seconds,
            });
        }
        let units = console.units();
        let sizes = format!("{} -> {}", units.size(stored), units.size(nbytes));
        let speed = size::speed(units, nbytes, elapsed);
        console.detail(&format!("{name} -> {output}   {sizes}{speed}"));
        Ok(())
    }
}
