//! The damaged files, and the folder in which commands get them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use blosc_trials::container::{Files, samples};

use crate::{
    failure::{Context, Result, fail},
    workspace,
};

/// A sound file or directory.
pub(super) struct Input {
    pub(super) format: &'static str,
    /// Its name; commands recognise some formats only by their suffixes.
    pub(super) name: &'static str,
    /// Whether the name is that of a directory.
    is_dir: bool,
    pub(super) files: Files,
}

/// Names by the containers of the samples.
const NAMES: &[(&str, &str)] = &[
    ("frame", "x.b2frame"),
    ("b2nd", "x.b2nd"),
    ("sparse-frame", "x.sframe"),
    ("blp", "x.blp"),
    ("carray", "x.carray"),
    ("ctable", "x.bcolz"),
    ("b2z", "x.b2z"),
    ("b2d", "x.b2d"),
    ("b2e", "x.b2e"),
    ("chunk", "x.chunk"),
];

/// Fixtures with contents that the samples lack: columns of every kind, objects.
const FIXTURES: &[(&str, &str, &str)] = &[
    ("b2z-table", "x.b2z", "stores/table-basic.b2z"),
    ("b2d-table", "x.b2d", "stores/table-nulls-mask.b2d"),
    ("carray-objects", "x.carray", "bcolz/ca_object"),
    ("ctable-columns", "x.bcolz", "bcolz/ct_struct_column"),
];

/// The header of two rows of three numbers; 64 bytes with the bytes before it.
const NPY: &[u8] = b"\x93NUMPY\x01\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }                                                          \n";

pub(super) const CSV: &str = "id,price,name\n1,2.5,one\n2,3.5,\"two, three\"\n3,,four\n";

const JSON: &str = "{\"metalayers\": {\"m\": \"xyz\"}, \"vlmetalayers\": {\"unit\": \"K\", \"n\": [1, 2.5, \
                    null, true, {\"base64\": \"gaFhAQ==\"}]}, \"metadata\": {\"a\": [\"b\", 1e5]}}";

/// Samples of all formats that `b2` reads.
pub(super) fn inputs() -> Result<Vec<Input>> {
    let mut all = vec![];
    for sample in samples()? {
        let name = NAMES.iter().find(|(container, _)| *container == sample.container);
        let Some((format, name)) = name.copied() else {
            return fail(format!("{}: a container without a name", sample.container));
        };
        let is_dir = matches!(format, "sparse-frame" | "carray" | "ctable" | "b2d");
        all.push(Input { format, name, is_dir, files: sample.files });
    }
    let sequence: Vec<u8> = all
        .iter()
        .filter(|input| input.format == "frame")
        .flat_map(|input| input.files.0[0].1.clone())
        .collect();
    let npy = [NPY, &[0x40; 48]].concat();
    for (format, name, bytes) in [
        ("sequence", "x.b2frame", sequence),
        ("npy", "x.npy", npy),
        ("csv", "x.csv", CSV.into()),
        ("json", "x.json", JSON.into()),
    ] {
        all.push(Input { format, name, is_dir: false, files: one_file(bytes) });
    }
    for (format, name, fixture) in FIXTURES {
        let path = blosc_testdata::fixture::path(fixture);
        let (is_dir, files) = (path.is_dir(), read(&path)?);
        all.push(Input { format, name, is_dir, files });
    }
    Ok(all)
}

fn one_file(bytes: Vec<u8>) -> Files {
    Files(vec![("file".to_owned(), bytes)])
}

/// A file, or all files of a directory in their order.
fn read(path: &Path) -> Result<Files> {
    if !path.is_dir() {
        return Ok(one_file(fs::read(path).at(path.display())?));
    }
    let mut files = vec![];
    for file in workspace::files(path)? {
        let name = file.strip_prefix(path)?.to_string_lossy().replace('\\', "/");
        files.push((name, fs::read(&file).at(file.display())?));
    }
    Ok(Files(files))
}

/// A folder of this process, in memory if the system has one there.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Result<Self> {
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let folder = root.join(format!("b2-mutate-{}", std::process::id()));
        fs::create_dir_all(&folder).at(folder.display())?;
        Ok(Self(folder))
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes sound files for commands that take two.
    pub(super) fn write_companions(&self, inputs: &[Input]) -> Result<()> {
        for (format, name) in [("frame", "sound.b2frame"), ("b2nd", "sound.b2nd")] {
            let sound = inputs.iter().find(|input| input.format == format);
            let bytes = sound.map(|input| input.files.0[0].1.clone()).unwrap_or_default();
            fs::write(self.0.join(name), bytes)?;
        }
        fs::write(self.0.join("add.raw"), [7; 64])?;
        fs::write(self.0.join("add.csv"), "id,name,a,b,c\n9,word 9,1,2,3\n")?;
        Ok(())
    }

    /// Replaces the previous files by these, and returns their path.
    pub(super) fn place(&self, input: &Input, files: &Files) -> Result<String> {
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("sound") || name.starts_with("add") {
                continue;
            }
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
        let path = self.0.join(input.name);
        if !input.is_dir {
            fs::write(&path, files.0.first().map_or(&[][..], |(_, bytes)| bytes))?;
            return Ok(path.display().to_string());
        }
        fs::create_dir(&path)?;
        for (name, bytes) in &files.0 {
            let file = path.join(name);
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(file, bytes)?;
        }
        Ok(path.display().to_string())
    }

    /// Fails if the files have changed.
    pub(super) fn check(&self, input: &Input, files: &Files) -> Result<()> {
        let path = self.0.join(input.name);
        let wrong = || fail(format!("{}: changed by reading", input.name));
        if !input.is_dir {
            let expected = files.0.first().map_or(&[][..], |(_, bytes)| bytes);
            return if fs::read(&path)? == expected { Ok(()) } else { wrong() };
        }
        let mut expected = files.0.clone();
        expected.sort();
        let mut found = read(&path)?.0;
        // A lock of readers holds no data.
        found.retain(|(name, _)| !name.ends_with(".b2lock"));
        expected.retain(|(name, _)| !name.ends_with(".b2lock"));
        found.sort();
        if found == expected { Ok(()) } else { wrong() }
    }

    /// Keeps the files.
    pub(super) fn keep(self) -> PathBuf {
        let kept = self.0.clone();
        core::mem::forget(self);
        kept
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The remains are small, and in memory.
        let _ = fs::remove_dir_all(&self.0);
    }
}
