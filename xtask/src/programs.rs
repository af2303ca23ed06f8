//! `cargo xtask bench-programs`: whole programs side by side, run from the shell.
//!
//! Each program compresses one file and decompresses it again, in turns, `--rounds` times. The best
//! time of each counts, with the processor time (user and system, all threads) of that run. The
//! output is compared with the input. Programs that are not installed are left out. Files are in
//! `--folder`: with a RAM disk, the disk does not count.
//!
//! - `bloscpack`: the benchmark of Bloscpack's README, `numpy.linspace(0, 100, 200_000_000)` as raw
//!   float64.
//! - `frames`: a random walk of int32, like the data of sensors. C-Blosc2 takes part as a C program
//!   with the wheel's library (`xtask/c/blosc2_frame.c`, if there is a C compiler), since Python
//!   takes longer to start than a small file. HDF5 and Zarr take part if the environment of the
//!   oracles has `h5py` and `hdf5plugin`, or `zarrs` (the codecs of zarrs for zarr-python, with
//!   C-Blosc).
//!
//! It needs Linux, which reports the processor time of child processes.

use std::{
    fs::{self, File},
    io::{BufWriter, Read, Write},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::Instant,
};

use blosc_testdata::data::{Kind, Recipe};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    venv, workspace,
};

pub(crate) fn run(mut args: Args) -> Result<()> {
    let python = venv::python(args.option("--python")?)?;
    let mib: Option<u64> = args.option("--mib")?;
    let rounds: usize = args.option("--rounds")?.unwrap_or(3);
    let folder: PathBuf =
        args.option("--folder")?.unwrap_or_else(|| workspace::target().join("programs"));
    let subject = match args.word().as_deref() {
        None | Some("bloscpack") => BLOSCPACK,
        Some("frames") => FRAMES,
        Some(word) => return fail(format!("{word}: neither bloscpack nor frames")),
    };
    args.finish()?;
    let mut cargo = workspace::cargo();
    workspace::run(cargo.args(["build", "--quiet", "--release", "--package", "b2-cli"]))?;
    fs::create_dir_all(&folder).at(folder.display())?;
    let folder = fs::canonicalize(&folder).at(folder.display())?;
    let c_program = c_program(&python, &folder)?;
    let bench = Bench { folder: folder.join("bench-programs"), python, c_program };
    fs::create_dir_all(&bench.folder)?;
    let result = bench.all(&subject, mib.map_or(subject.nbytes, |mib| mib << 20), rounds);
    fs::remove_dir_all(&bench.folder).at(bench.folder.display())?;
    result
}

/// A file and the programs that compress it.
struct Subject {
    nbytes: u64,
    write: fn(&mut dyn Write, u64) -> Result<()>,
    programs: &'static [Program],
}

/// The commands of a program in a folder with `data`: to make `packed` from it, and `back` from
/// that.
struct Program {
    name: &'static str,
    /// The program that must be installed.
    needs: &'static str,
    compress: &'static str,
    decompress: &'static str,
    /// Run once only.
    is_slow: bool,
}

const fn program(
    name: &'static str,
    needs: &'static str,
    compress: &'static str,
    decompress: &'static str,
) -> Program {
    Program { name, needs, compress, decompress, is_slow: false }
}

const fn slow(program: Program) -> Program {
    Program { is_slow: true, ..program }
}

const BLOSCPACK: Subject = Subject {
    nbytes: 200_000_000 * 8,
    write: linspace,
    programs: &[
        slow(program("gzip", "gzip", "gzip -c data > packed", "gzip -dc packed > back")),
        program(
            "zstd -1 -T0",
            "zstd",
            "zstd -qf -1 -T0 data -o packed",
            "zstd -dqf packed -o back",
        ),
        program(
            "zstd -3 -T0",
            "zstd",
            "zstd -qf -3 -T0 data -o packed",
            "zstd -dqf packed -o back",
        ),
        program(
            "blpk 0.16.0",
            "python",
            "$py blpk -f c data packed",
            "$py blpk -f d -e packed back",
        ),
        program(
            "blpk 0.16.0, -c zstd -l 3",
            "python",
            "$py blpk -f c -c zstd -l 3 data packed",
            "$py blpk -f d -e packed back",
        ),
        program("**blpk**, ours", "sh", "blpk -f c data packed", "blpk -f d -e packed back"),
        program(
            "**blpk**, ours, -c zstd -l 3",
            "sh",
            "blpk -f c -c zstd -l 3 data packed",
            "blpk -f d -e packed back",
        ),
        program(
            "**b2** c --format blp",
            "sh",
            "b2 c -qft8 --no-sync --format blp -o packed data",
            "b2 d -qf --no-sync -o back packed",
        ),
        program(
            "**b2** c",
            "sh",
            "b2 c -qft8 --no-sync -o packed data",
            "b2 d -qf --no-sync -o back packed",
        ),
    ],
};

const FRAMES: Subject = Subject {
    nbytes: 2_000_000_000,
    write: walk,
    programs: &[
        program(
            "zstd -1 -T0",
            "zstd",
            "zstd -qf -1 -T0 data -o packed",
            "zstd -dqf packed -o back",
        ),
        program(
            "zstd -3 -T0",
            "zstd",
            "zstd -qf -3 -T0 data -o packed",
            "zstd -dqf packed -o back",
        ),
        program("lz4", "lz4", "lz4 -qf data packed", "lz4 -dqf packed back"),
        program("pigz", "pigz", "pigz -c data > packed", "pigz -dc packed > back"),
        program(
            "python-blosc2, lz4 5",
            "python",
            "$py blosc2-compress data packed lz4 5 4",
            "$py blosc2-decompress packed back",
        ),
        program(
            "C-Blosc2, a C program, lz4 5",
            "$c_blosc2",
            "$c_blosc2 compress data packed lz4 5 4",
            "$c_blosc2 decompress packed back",
        ),
        program(
            "HDF5, Blosc2 lz4 5",
            "hdf5plugin",
            "$py hdf5-compress data packed lz4 5 4",
            "$py hdf5-decompress packed back",
        ),
        program(
            "zarrs, Blosc lz4 5",
            "zarrs",
            "$py zarrs-compress data packed lz4 5 4",
            "$py zarrs-decompress packed back",
        ),
        program(
            "**b2** -C lz4",
            "sh",
            "b2 c -qft4 --no-sync -C lz4 -5 -o packed data",
            "b2 d -qf --no-sync -o back packed",
        ),
        program(
            "python-blosc2, zstd 1",
            "python",
            "$py blosc2-compress data packed zstd 1 4",
            "$py blosc2-decompress packed back",
        ),
        program(
            "C-Blosc2, a C program, zstd 1",
            "$c_blosc2",
            "$c_blosc2 compress data packed zstd 1 4",
            "$c_blosc2 decompress packed back",
        ),
        program(
            "**b2** -1",
            "sh",
            "b2 c -qft4 --no-sync -1 -o packed data",
            "b2 d -qf --no-sync -o back packed",
        ),
        program(
            "python-blosc2, zstd 5",
            "python",
            "$py blosc2-compress data packed zstd 5 4",
            "$py blosc2-decompress packed back",
        ),
        program(
            "C-Blosc2, a C program, zstd 5",
            "$c_blosc2",
            "$c_blosc2 compress data packed zstd 5 4",
            "$c_blosc2 decompress packed back",
        ),
        program(
            "HDF5, Blosc2 zstd 5",
            "hdf5plugin",
            "$py hdf5-compress data packed zstd 5 4",
            "$py hdf5-decompress packed back",
        ),
        program(
            "zarrs, Blosc zstd 5",
            "zarrs",
            "$py zarrs-compress data packed zstd 5 4",
            "$py zarrs-decompress packed back",
        ),
        program(
            "**b2**",
            "sh",
            "b2 c -qft4 --no-sync -o packed data",
            "b2 d -qf --no-sync -o back packed",
        ),
    ],
};

/// 0 to 100 in even steps.
fn linspace(sink: &mut dyn Write, nbytes: u64) -> Result<()> {
    let n = u32::try_from(nbytes / 8)?;
    for i in 0..n {
        sink.write_all(&(100.0 * f64::from(i) / f64::from(n - 1)).to_le_bytes())?;
    }
    Ok(())
}

/// Steps of -3 to 3, from 0 again in each piece.
fn walk(sink: &mut dyn Write, nbytes: u64) -> Result<()> {
    const PIECE: u64 = 32 << 20;
    for (seed, at) in (1..).zip((0..nbytes).step_by(32 << 20)) {
        let nbytes = usize::try_from(PIECE.min(nbytes - at))?;
        sink.write_all(&Recipe { kind: Kind::Walk, typesize: 4, seed, nbytes }.bytes())?;
    }
    Ok(())
}

/// Builds the C program with python-blosc2's library; `None` if there is no C compiler.
fn c_program(python: &Path, folder: &Path) -> Result<Option<PathBuf>> {
    const PRINT: &str = "import blosc2, os; print(os.path.dirname(blosc2.__file__))";
    let package = workspace::output(Command::new(python).args(["-c", PRINT]))?;
    let package = PathBuf::from(String::from_utf8_lossy(&package).trim());
    if Command::new("cc").arg("--version").output().is_err() {
        return Ok(None);
    }
    let (program, lib) = (folder.join("blosc2_frame"), package.join("lib"));
    let mut cc = Command::new("cc");
    cc.arg("-O2").arg(workspace::root().join("xtask/c/blosc2_frame.c"));
    cc.arg("-I").arg(package.join("include")).arg("-L").arg(&lib).arg("-lblosc2");
    cc.arg(format!("-Wl,-rpath,{}", lib.display())).arg("-o").arg(&program);
    workspace::run(&mut cc)?;
    Ok(Some(program))
}

/// The folder and the programs.
struct Bench {
    folder: PathBuf,
    python: PathBuf,
    /// The C program with C-Blosc2.
    c_program: Option<PathBuf>,
}

/// Seconds of one run.
#[derive(Clone, Copy)]
struct Time {
    wall: f64,
    processor: f64,
}

/// The best of one program.
#[derive(Clone, Copy)]
struct Best {
    packed: u64,
    compress: Time,
    decompress: Time,
}

impl Bench {
    fn all(&self, subject: &Subject, nbytes: u64, rounds: usize) -> Result<()> {
        let mut data = BufWriter::new(File::create(self.folder.join("data"))?);
        (subject.write)(&mut data, nbytes)?;
        data.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        let programs: Vec<&Program> =
            subject.programs.iter().filter(|program| self.is_there(program)).collect();
        let mut best: Vec<Option<Best>> = programs.iter().map(|_| None).collect();
        for round in 0..rounds {
            for (program, best) in programs.iter().zip(&mut best) {
                if round == 0 || !program.is_slow {
                    let found = self.measure_program(program).at(program.name)?;
                    eprintln!("{round} {}", line(program.name, nbytes, &found));
                    *best = Some(best.map_or(found, |best| best.and(found)));
                }
            }
        }
        println!("{}", heading(nbytes, &self.load()));
        for (program, best) in programs.iter().zip(&best) {
            if let Some(best) = best {
                println!("{}", line(program.name, nbytes, best));
            }
        }
        Ok(())
    }

    fn is_there(&self, program: &Program) -> bool {
        let asked = match program.needs {
            "hdf5plugin" => self.imports("h5py, hdf5plugin"),
            "zarrs" => self.imports("zarr, zarrs"),
            needs => self.shell(&format!("command -v {needs} > /dev/null")).status(),
        };
        let is_there = program.needs == "python" || asked.is_ok_and(|status| status.success());
        if !is_there {
            eprintln!("{}: not installed, left out", program.needs);
        }
        is_there
    }

    /// Whether Python finds these modules; its messages about others are dropped.
    fn imports(&self, modules: &str) -> std::io::Result<ExitStatus> {
        let code = format!("import {modules}");
        Command::new(&self.python).args(["-c", &code]).stderr(Stdio::null()).status()
    }

    fn measure_program(&self, program: &Program) -> Result<Best> {
        // A Zarr array is a directory.
        let _ = fs::remove_dir_all(self.folder.join("packed"));
        for name in ["packed", "back"] {
            let _ = fs::remove_file(self.folder.join(name));
        }
        let compress = self.timed(program.compress)?;
        let decompress = self.timed(program.decompress)?;
        compare_files(&self.folder.join("data"), &self.folder.join("back"))?;
        Ok(Best { packed: nbytes_of(&self.folder.join("packed"))?, compress, decompress })
    }

    fn timed(&self, line: &str) -> Result<Time> {
        let mut command = self.shell(&format!("exec {line}"));
        let (start, before) = (Instant::now(), children()?);
        workspace::run(command.stdout(Stdio::null()))?;
        Ok(Time { wall: start.elapsed().as_secs_f64(), processor: children()? - before })
    }

    /// A line for the shell, with this workspace's programs first and `$py` for Python's.
    fn shell(&self, line: &str) -> Command {
        let ours = workspace::target().join("release");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(core::iter::once(ours).chain(std::env::split_paths(&path)));
        let python = format!(
            "{} -B {}",
            self.python.display(),
            venv::scripts().join("programs.py").display()
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(&self.folder).env("py", python);
        if let Ok(path) = path {
            shell.env("PATH", path);
        }
        if let Some(program) = &self.c_program {
            shell.env("c_blosc2", program);
        }
        shell
    }

    /// The load of the machine, including other programs.
    fn load(&self) -> String {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        load.split(' ').take(3).collect::<Vec<_>>().join(" ")
    }
}

impl Best {
    fn and(self, other: Self) -> Self {
        let better = |a: Time, b: Time| if b.wall < a.wall { b } else { a };
        Self {
            packed: self.packed,
            compress: better(self.compress, other.compress),
            decompress: better(self.decompress, other.decompress),
        }
    }
}

/// The processor time of all children that have ended (seconds), in ticks of the kernel.
fn children() -> Result<f64> {
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").at("/proc/self/stat")?;
    // The fields after the name, which may contain anything: state, and 12 numbers before those of
    // the children.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let times: Vec<f64> = fields.skip(13).take(2).filter_map(|field| field.parse().ok()).collect();
    if times.len() == 2 {
        Ok(times.iter().sum::<f64>() / TICKS)
    } else {
        fail("/proc/self/stat has other fields")
    }
}

/// The bytes of a file, or of all the files of a directory.
fn nbytes_of(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    let mut sum = 0;
    for entry in fs::read_dir(path)? {
        sum += nbytes_of(&entry?.path())?;
    }
    Ok(sum)
}

/// Checks that both files have the same bytes.
fn compare_files(a: &Path, b: &Path) -> Result<()> {
    let (mut a, mut b) = (File::open(a)?, File::open(b)?);
    if a.metadata()?.len() != b.metadata()?.len() {
        return fail("what comes back has another length");
    }
    let (mut left, mut right) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let len = a.read(&mut left)?;
        b.read_exact(&mut right[..len])?;
        match left[..len] == right[..len] {
            _ if len == 0 => return Ok(()),
            true => {}
            false => return fail("what comes back differs"),
        }
    }
}

fn heading(nbytes: u64, load: &str) -> String {
    format!(
        "{nbytes} bytes; load of the machine {load}\n\n\
         | program | compressed | ratio | compress, s | processor, s | decompress, s | processor, s |\n\
         |---|---|---|---|---|---|---|"
    )
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of two digits")]
fn line(name: &str, nbytes: u64, best: &Best) -> String {
    let Best { packed, compress, decompress } = *best;
    format!(
        "| {name} | {:.1} MB | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
        packed as f64 / 1e6,
        nbytes as f64 / packed as f64,
        compress.wall,
        compress.processor,
        decompress.wall,
        decompress.processor
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_is_counted() {
        let before = children().unwrap();
        let spin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        workspace::run(Command::new("sh").args(["-c", spin])).unwrap();
        assert!(children().unwrap() > before);
    }

    #[test]
    fn files_differ_by_length_or_byte() {
        let folder = std::env::temp_dir().join(format!("xtask-programs-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, bytes: &[u8]| {
            fs::write(folder.join(name), bytes).unwrap();
            folder.join(name)
        };
        let a = file("a", b"some bytes");
        assert!(compare_files(&a, &file("b", b"some bytes")).is_ok());
        assert!(compare_files(&a, &file("b", b"some byte")).is_err());
        assert!(compare_files(&a, &file("b", b"some_bytes")).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn data_have_their_length() {
        for write in [linspace, walk] {
            let mut data = vec![];
            write(&mut data, 8 * 5_000_000).unwrap();
            assert_eq!(data.len(), 40_000_000);
        }
        let mut ends = vec![];
        linspace(&mut ends, 80).unwrap();
        assert_eq!(
            (&ends[..8], &ends[72..]),
            (&0_f64.to_le_bytes()[..], &100_f64.to_le_bytes()[..])
        );
    }
}
