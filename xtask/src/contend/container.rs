//! The files that programs contend for.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    failure::{Context, Result},
    workspace,
};

/// Bytes that one program appends: four numbers, or a row of a table.
pub(super) const RECORD_NBYTES: usize = 16;

/// One format of `b2 append`.
pub(super) struct Container {
    pub(super) name: &'static str,
    /// The name of the file or directory that is changed.
    pub(super) file: &'static str,
    is_table: bool,
    /// Whether python-blosc2 appends to it, too. Its chunks are as long as a record, since C-Blosc2
    /// cannot append to a chunk that is shorter than the others.
    pub(super) is_for_python: bool,
    /// The key of the value that `b2` appends to, in a store. Programs of python-blosc2 then add
    /// other values, with the keys `/1` and up.
    pub(super) key: &'static str,
    /// The runs of `b2` that make it, word by word.
    steps: &'static [&'static str],
}

pub(super) const CONTAINERS: &[Container] = &[
    Container {
        name: "frame",
        file: "T.b2frame",
        is_table: false,
        is_for_python: false,
        key: "",
        steps: &["compress -qf -t4 -z1K base.raw -o T.b2frame"],
    },
    Container {
        name: "sparse-frame",
        file: "T.sframe",
        is_table: false,
        is_for_python: false,
        key: "",
        steps: &["compress -qf -t4 -z1K base.raw -o x.b2frame", "convert -qf x.b2frame T.sframe"],
    },
    Container {
        name: "b2nd",
        file: "T.b2nd",
        is_table: false,
        is_for_python: false,
        key: "",
        steps: &["compress -qf --shape 1000 --dtype <i4 base.raw -o T.b2nd"],
    },
    Container {
        name: "blp",
        file: "T.blp",
        is_table: false,
        is_for_python: false,
        key: "",
        steps: &["compress -qf -t4 --format blp base.raw -o T.blp"],
    },
    Container {
        name: "carray",
        file: "T.carray",
        is_table: false,
        is_for_python: false,
        key: "",
        steps: &[
            "compress -qf --shape 1000 --dtype <i4 base.raw -o x.b2nd",
            "convert -qf --format carray x.b2nd -o T.carray",
        ],
    },
    Container {
        name: "ctable",
        file: "T.bcolz",
        is_table: true,
        is_for_python: false,
        key: "",
        steps: &["convert -qf base.csv T.bcolz"],
    },
    Container {
        name: "b2z",
        file: "T.b2z",
        is_table: true,
        is_for_python: false,
        key: "",
        steps: &["convert -qf base.csv T.b2z"],
    },
    Container {
        name: "b2d",
        file: "T.b2d",
        is_table: true,
        is_for_python: false,
        key: "",
        steps: &["convert -qf base.csv T.b2d"],
    },
    Container {
        name: "b2e",
        file: "T.b2e",
        is_table: false,
        is_for_python: false,
        key: "::/t",
        steps: &[
            "compress -qf --shape 1000 --dtype <i4 base.raw -o x.b2nd",
            "convert -q x.b2nd T.b2e::/t",
        ],
    },
    Container {
        name: "sparse-b2nd",
        file: "T.sframe",
        is_table: false,
        is_for_python: false,
        key: "",
        steps: &[
            "compress -qf --shape 1000 --dtype <i4 base.raw -o x.b2nd",
            "convert -qf x.b2nd T.sframe",
        ],
    },
    Container {
        name: "frame-python",
        file: "T.b2frame",
        is_table: false,
        is_for_python: true,
        key: "",
        steps: &["compress -qf -t4 -z16 base.raw -o T.b2frame"],
    },
    Container {
        name: "sparse-python",
        file: "T.sframe",
        is_table: false,
        is_for_python: true,
        key: "",
        steps: &["compress -qf -t4 -z16 base.raw -o x.b2frame", "convert -qf x.b2frame T.sframe"],
    },
    // Archives do not use the lock of python-blosc2.
    Container {
        name: "b2d-python",
        file: "T.b2d",
        is_table: false,
        is_for_python: true,
        key: "::/t",
        steps: &[
            "compress -qf --shape 1000 --dtype <i4 base.raw -o x.b2nd",
            "convert -q x.b2nd T.b2d::/t",
        ],
    },
];

impl Container {
    /// Makes the file of every trial in `folder`, and the records that programs append.
    pub(super) fn make(&self, b2: &Path, folder: &Path) -> Result<()> {
        fs::write(folder.join("base.raw"), base_data())?;
        fs::write(folder.join("base.csv"), "id,price\n1,2.5\n2,3.5\n")?;
        for mark in 1..=super::GROUP_LEN {
            let input = match self.is_table {
                true => format!("id,price\n{mark},1.5\n").into_bytes(),
                false => self.record(mark),
            };
            fs::write(self.input(folder, mark), input)?;
        }
        remove(&folder.join(self.file))?;
        for step in self.steps {
            let words = step.split(' ');
            workspace::output(Command::new(b2).args(words).current_dir(folder))?;
        }
        let base = base_of(folder);
        remove(&base)?;
        fs::rename(folder.join(self.file), &base).at(base.display())
    }

    /// Makes a new copy of the file, and returns its path.
    pub(super) fn copy(&self, folder: &Path) -> Result<PathBuf> {
        let path = folder.join(self.file);
        remove(&path)?;
        copy(&base_of(folder), &path).at(path.display())?;
        Ok(path)
    }

    /// The target of `b2 append` and the reader, as on their command lines.
    pub(super) fn target(&self, path: &Path) -> PathBuf {
        format!("{}{}", path.display(), self.key).into()
    }

    /// The file with the record that the program of number `mark` appends.
    pub(super) fn input(&self, folder: &Path, mark: usize) -> PathBuf {
        folder.join(format!("{mark}.{}", if self.is_table { "csv" } else { "raw" }))
    }

    /// The record of number `mark`, as `b2 cat` prints it.
    pub(super) fn record(&self, mark: usize) -> Vec<u8> {
        let number = u8::try_from(mark).unwrap_or(0);
        match self.is_table {
            true => [i64::from(number).to_le_bytes(), 1.5_f64.to_le_bytes()].concat(),
            false => i32::from(number).to_le_bytes().repeat(RECORD_NBYTES / 4),
        }
    }

    /// The output of `b2 cat` before the first append.
    pub(super) fn base(&self) -> Vec<u8> {
        if !self.is_table {
            return base_data();
        }
        let rows = [(1_i64, 2.5_f64), (2, 3.5)];
        rows.iter()
            .flat_map(|(id, price)| [id.to_le_bytes(), price.to_le_bytes()].concat())
            .collect()
    }
}

/// A thousand numbers, none of which is a mark.
fn base_data() -> Vec<u8> {
    (0..1000_i32).flat_map(|n| (100 + n * n).to_le_bytes()).collect()
}

fn base_of(folder: &Path) -> PathBuf {
    folder.join("base")
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Removes a file or directory that may be missing.
fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at(path.display()),
        _ => Ok(()),
    }
}
