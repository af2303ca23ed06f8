//! `cargo xtask memory`: the program works in bounded memory, for inputs of any size.
//!
//! A file and a pipe of `--mib` MiB go through `b2 compress`, `verify`, `cat` and `decompress` with
//! default settings, and the file becomes the rows of a table of a store. The output must equal the
//! input, and the greatest resident set of each process must stay below `--limit` MiB. The task
//! builds the program as users get it, unless `--program` names one. It needs Linux, which reports
//! the resident set.

use core::time::Duration;
use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use blosc_testdata::data::{Kind, Recipe};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    workspace,
};

/// The resident set of a process (MiB).
pub(crate) const LIMIT: u64 = 256;

pub(crate) fn run(mut args: Args) -> Result<()> {
    let mib: u64 = args.option("--mib")?.unwrap_or(5 << 10);
    let limit: u64 = args.option("--limit")?.unwrap_or(LIMIT);
    let program: Option<PathBuf> = args.option("--program")?;
    args.finish()?;
    bound(program.map_or_else(build, Ok)?, mib, limit)
}

/// Sends data of `mib` MiB through the program, whose processes get `limit` MiB.
pub(crate) fn bound(b2: PathBuf, mib: u64, limit: u64) -> Result<()> {
    let folder = workspace::target().join("memory");
    fs::create_dir_all(&folder).at(folder.display())?;
    let bench = Bench { b2, folder, data: Stream::new(mib << 20), limit };
    let result = bench.run();
    fs::remove_dir_all(&bench.folder).at(bench.folder.display())?;
    result
}

/// Builds the program as users get it: optimised.
fn build() -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    workspace::run(cargo.args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "b2-cli",
        "--bin",
        "b2",
    ]))?;
    Ok(workspace::target().join("release").join("b2"))
}

struct Bench {
    b2: PathBuf,
    folder: PathBuf,
    data: Stream,
    /// The limit (MiB).
    limit: u64,
}

impl Bench {
    fn run(&self) -> Result<()> {
        let (raw, frame, piped, back) =
            (self.path("raw"), self.path("frame"), self.path("piped"), self.path("back"));
        self.data.write_to(&mut File::create(&raw)?)?;

        let (table, dtype) = (self.path("table.b2z"), "[('n','<i8'),('v','<i8',(3,))]");
        let rows = ["convert", "-f", "--dtype", dtype, &raw, &table];
        self.step("write a table", &rows, Input::None, Output::None)?;
        fs::remove_file(&table)?;

        self.step(
            "compress a file",
            &["compress", "-f", "-t4", "-o", &frame, &raw],
            Input::None,
            Output::None,
        )?;
        fs::remove_file(&raw)?;
        self.step("verify it", &["verify", &frame], Input::None, Output::None)?;
        self.step("cat it", &["cat", &frame], Input::None, Output::Data)?;
        self.step(
            "decompress it",
            &["decompress", "-f", "-o", &back, &frame],
            Input::None,
            Output::None,
        )?;
        self.data.compare(&mut File::open(&back)?).at("decompress")?;
        fs::remove_file(&back)?;
        fs::remove_file(&frame)?;

        self.step("compress a pipe", &["compress", "-t4"], Input::Data, Output::File(&piped))?;
        self.step("verify it", &["verify", &piped], Input::None, Output::None)?;
        self.step("cat a pipe", &["cat"], Input::File(&piped), Output::Data)
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }

    /// Runs `b2` to its end, watching its memory.
    fn step(
        &self,
        about: &str,
        arguments: &[&str],
        input: Input<'_>,
        output: Output<'_>,
    ) -> Result<()> {
        let start = Instant::now();
        let mut b2 = Command::new(&self.b2);
        b2.args(arguments).stdin(input.stdio()?).stdout(output.stdio()?);
        let mut child = b2.spawn().at(self.b2.display())?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let peak = thread::scope(|scope| {
            let writer = scope
                .spawn(move || stdin.map(|stdin| self.data.write_to(&mut BufWriter::new(stdin))));
            let reader =
                scope.spawn(move || stdout.map(|mut stdout| self.data.compare(&mut stdout)));
            let peak = watch(&mut child);
            joined(writer).and(joined(reader)).and(peak)
        });
        let peak = peak.at(about)?;
        let (status, seconds) = (child.wait()?, start.elapsed().as_secs_f64());
        println!("{about:<16} {peak:>4} MiB at most, {:>6.0} MiB/s", self.data.mib() / seconds);
        if !status.success() {
            return fail(format!("{about}: {}: {status}", workspace::describe(&b2)));
        }
        if peak >= self.limit {
            return fail(format!("{about}: {peak} MiB, the limit is {}", self.limit));
        }
        Ok(())
    }
}

enum Input<'a> {
    None,
    Data,
    File(&'a str),
}

impl Input<'_> {
    fn stdio(&self) -> Result<Stdio> {
        Ok(match self {
            Self::None => Stdio::null(),
            Self::Data => Stdio::piped(),
            Self::File(path) => File::open(path)?.into(),
        })
    }
}

enum Output<'a> {
    None,
    Data,
    File(&'a str),
}

impl Output<'_> {
    fn stdio(&self) -> Result<Stdio> {
        Ok(match self {
            Self::None => Stdio::null(),
            Self::Data => Stdio::piped(),
            Self::File(path) => File::create(path)?.into(),
        })
    }
}

/// The outcome of a thread that may have had no work.
fn joined(thread: thread::ScopedJoinHandle<'_, Option<Result<()>>>) -> Result<()> {
    thread.join().ok().flatten().unwrap_or(Ok(()))
}

/// The greatest resident set of `child` until it ends (MiB). The kernel keeps the maximum; only
/// growth in the last two milliseconds is missed.
fn watch(child: &mut Child) -> Result<u64> {
    let status = Path::new("/proc").join(child.id().to_string()).join("status");
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = fs::read_to_string(&status).ok().and_then(|text| high_water(&text)).unwrap_or(peak);
        thread::sleep(Duration::from_millis(2));
    }
    if peak == 0 { fail("no VmHWM in /proc") } else { Ok(peak / 1024) }
}

/// `VmHWM` of `/proc/PID/status` (KiB).
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Data of any length: one piece repeated, each time with another mark in it, so that a missing or
/// repeated piece is noticed.
struct Stream {
    piece: Vec<u8>,
    nbytes: u64,
}

const PIECE: usize = 8 << 20;

impl Stream {
    fn new(nbytes: u64) -> Self {
        let piece = Recipe { kind: Kind::Mixed, typesize: 4, seed: 11, nbytes: PIECE }.bytes();
        Self { piece, nbytes }
    }

    fn mib(&self) -> f64 {
        // Exact below 2^53.
        self.nbytes as f64 / (1 << 20) as f64
    }

    /// Calls `each` with one piece after the other.
    fn pieces(&self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut piece = self.piece.clone();
        let mut done = 0;
        while done < self.nbytes {
            piece
                .chunks_exact_mut(PIECE / 16)
                .for_each(|part| part[..8].copy_from_slice(&done.to_le_bytes()));
            let len = usize::try_from(self.nbytes - done).map_or(PIECE, |left| left.min(PIECE));
            each(&piece[..len])?;
            done += len as u64;
        }
        Ok(())
    }

    fn write_to(&self, sink: &mut dyn Write) -> Result<()> {
        self.pieces(|piece| Ok(sink.write_all(piece)?))?;
        Ok(sink.flush()?)
    }

    /// Reads `source` to its end and compares it with these bytes.
    fn compare(&self, source: &mut dyn Read) -> Result<()> {
        let mut found = vec![0; PIECE];
        let mut at = 0_u64;
        self.pieces(|piece| {
            let found = &mut found[..piece.len()];
            source.read_exact(found).at(format!("after {at} bytes"))?;
            at += piece.len() as u64;
            if found == piece { Ok(()) } else { fail(format!("other bytes before {at}")) }
        })?;
        match io::copy(source, &mut io::sink())? {
            0 => Ok(()),
            more => fail(format!("{more} bytes too many")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_equals_itself_and_no_other() {
        let stream = Stream::new(20 << 20);
        let mut bytes = Vec::new();
        stream.write_to(&mut bytes).unwrap();
        stream.compare(&mut bytes.as_slice()).unwrap();
        assert!(stream.compare(&mut &bytes[1..]).is_err());
        assert!(stream.compare(&mut &bytes[..10]).is_err());
        bytes.push(0);
        assert_eq!(
            stream.compare(&mut bytes.as_slice()).unwrap_err().to_string(),
            "1 bytes too many"
        );
    }

    #[test]
    fn the_kernels_figure_is_found() {
        assert_eq!(high_water("Name:\tb2\nVmHWM:\t   12345 kB\nVmRSS:\t1 kB\n"), Some(12345));
        assert_eq!(high_water("Name:\tb2\n"), None);
    }
}
