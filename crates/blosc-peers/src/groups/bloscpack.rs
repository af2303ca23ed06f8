//! Files packed and unpacked, against Bloscpack in Python with C-Blosc. Both read and write the
//! same files, which are in the cache of the system, with all processors.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use blosc_chunk::{CodecId, Level};
use bloscpack::{BlpFile, WriteOptions, Writer};
use serde_json::{Value, json};

use super::{
    Bench, Subject,
    python::{Python, compare},
};
use crate::failure::{Result, fail};

/// The first codec is the default of both.
const CODECS: [(&str, CodecId, u8); 3] =
    [("blosclz", CodecId::BLOSCLZ, 7), ("lz4", CodecId::LZ4, 5), ("zstd", CodecId::ZSTD, 3)];
/// 64 MiB for a short run, otherwise 128.
const fn times(is_quick: bool) -> usize {
    if is_quick { 4 } else { 2 }
}

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let mut python = Python::start(bench, "bench_bloscpack.py")?;
    eprintln!("Bloscpack {}", python.ask("version", json!({}))?.result);
    let sets: &[&str] = if bench.quick {
        &["f64_linspace", "i32_walk", "random"]
    } else {
        &[
            "f64_linspace",
            "f32_field",
            "i32_walk",
            "u8_text",
            "i64_time",
            "random",
            "zeros",
            "sparse_f64",
        ]
    };
    for name in sets {
        let set = bench.set(name)?;
        let (bytes, typesize) = (set.bytes.repeat(times(bench.quick)), set.typesize);
        let files = Files::new(&bench.folder);
        fs::write(&files.plain, &bytes)?;
        for (codec_name, codec, level) in CODECS {
            let mut options = WriteOptions::default().nbytes(Some(bytes.len() as u64));
            options.cparams =
                options.cparams.codec(codec).clevel(Level::try_from(level)?).typesize(typesize);
            let setting = format!("{codec_name} {level} shuffle");
            let request = json!({"codec": codec_name, "level": level, "typesize": typesize});
            let job = Job { files: &files, options, request, setting, case: name, plain: &bytes };
            job.both_ways(bench, &mut python)?;
        }
        files.remove()?;
    }
    Ok(())
}

/// The input, the packed file of each side, and the unpacked file.
struct Files {
    plain: PathBuf,
    packed: PathBuf,
    their_packed: PathBuf,
    back: PathBuf,
}

impl Files {
    fn new(folder: &Path) -> Self {
        let path = |name: &str| folder.join(name);
        Self {
            plain: path("plain"),
            packed: path("ours.blp"),
            their_packed: path("theirs.blp"),
            back: path("back"),
        }
    }

    fn remove(self) -> Result<()> {
        let Self { plain, packed, their_packed, back } = self;
        [plain, packed, their_packed, back].iter().try_for_each(fs::remove_file)?;
        Ok(())
    }
}

struct Job<'a> {
    files: &'a Files,
    options: WriteOptions,
    request: Value,
    setting: String,
    case: &'a str,
    plain: &'a [u8],
}

impl Job<'_> {
    fn both_ways(&self, bench: &mut Bench, python: &mut Python) -> Result<()> {
        let Files { plain, packed, their_packed, back } = self.files;
        pack(plain, packed, &self.options)?;
        python.ask("pack", self.request(plain, their_packed))?;
        // Each side reads the other's file.
        for (what, done) in [
            ("they", python.ask("unpack", self.request(back, packed)).map(drop)),
            ("we", unpack(their_packed, back).map(drop)),
        ] {
            done?;
            if fs::read(back)? != self.plain {
                return fail(format!("bloscpack: {}: {what} read other bytes", self.case));
            }
        }
        let len = |path| -> Result<usize> { Ok(usize::try_from(fs::metadata(path)?.len())?) };
        let (ours, theirs) = (len(packed)?, len(their_packed)?);
        let subject = |what| {
            let subject = Subject::new("bloscpack", what, self.setting.as_str(), self.case);
            subject.threads(2).nbytes(self.plain.len()).sizes(ours, theirs)
        };
        compare(
            bench,
            subject("pack"),
            python,
            ("pack", self.request(plain, their_packed)),
            &mut || {
                pack(plain, packed, &self.options)?;
                Ok(Value::Null)
            },
        )?;
        compare(
            bench,
            subject("unpack"),
            python,
            ("unpack", self.request(back, their_packed)),
            &mut || Ok(unpack(their_packed, back)?.into()),
        )
    }

    fn request(&self, plain: &Path, packed: &Path) -> Value {
        let mut request = self.request.clone();
        request["plain"] = plain.to_string_lossy().into();
        request["packed"] = packed.to_string_lossy().into();
        request
    }
}

fn pack(plain: &Path, packed: &Path, options: &WriteOptions) -> Result<()> {
    let mut writer = Writer::seekable(new_file(packed)?, options.clone())?;
    writer.copy_from(&mut File::open(plain)?)?;
    writer.finish()?;
    Ok(())
}

/// Unpacks a file; returns the number of bytes.
fn unpack(packed: &Path, back: &Path) -> Result<u64> {
    let file = BlpFile::open(packed)?;
    Ok(file.copy_to(0..file.nchunks()?, &mut new_file(back)?)?)
}

/// Makes a new file instead of emptying the old one: some systems write an emptied file to the disk
/// when it is closed, and emptying it again waits for that.
fn new_file(path: &Path) -> Result<File> {
    if path.exists() {
        fs::remove_file(path)?;
    }
    Ok(File::create_new(path)?)
}
