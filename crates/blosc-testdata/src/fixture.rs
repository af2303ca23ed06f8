//! The files under `testdata/` and `conformance/samples/`, and the manifest of the ones that
//! original programs wrote.
//!
//! `conformance/samples/manifest.json` has one entry per file: its writer, the writer's command,
//! and the digest of the content as its writer decodes it. `cargo xtask fixtures` writes both; a
//! test reads a fixture, decodes it and compares digests.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::sha256_hex;

/// `conformance/samples/manifest.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Sorted by `file`.
    pub fixtures: Vec<Fixture>,
}

/// One file that an original program wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixture {
    /// The path below `conformance/samples/`, with forward slashes.
    pub file: String,
    /// The format of the file.
    pub format: Format,
    /// The program that wrote it, such as `python-blosc2`.
    pub program: String,
    /// Its version, and that of the C library inside.
    pub version: String,
    /// The command that writes the file again.
    pub command: String,
    /// The file's special property, in a few words.
    pub about: String,
    /// Size of the decoded content (bytes).
    pub nbytes: u64,
    /// SHA-256 of the decoded content, in hexadecimal.
    pub sha256: String,
}

/// The format of a fixture, which determines the crate that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// One Blosc 1 chunk.
    Blosc1Chunk,
    /// One Blosc2 chunk.
    Blosc2Chunk,
    /// A contiguous Blosc2 frame.
    Cframe,
}

impl Manifest {
    /// Reads `conformance/samples/manifest.json`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a manifest.
    pub fn load() -> io::Result<Self> {
        Ok(serde_json::from_slice(&read("manifest.json")?)?)
    }

    /// The fixtures of one format.
    pub fn list_format(&self, format: Format) -> impl Iterator<Item = &Fixture> {
        self.fixtures.iter().filter(move |fixture| fixture.format == format)
    }
}

impl Fixture {
    /// The path of the file.
    pub fn path(&self) -> PathBuf {
        path(&self.file)
    }

    /// The whole file.
    ///
    /// # Errors
    ///
    /// If it cannot be read; the message has its name.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        read(&self.file)
    }

    /// Whether `content` is what the fixture's writer decodes from it.
    pub fn holds(&self, content: &[u8]) -> bool {
        content.len() as u64 == self.nbytes && sha256_hex(content) == self.sha256
    }
}

/// The folders of files in the formats, which the conformance suite has for everybody.
const SAMPLES: [&str; 6] = ["bcolz", "bloscpack", "chunks", "frames", "stores", "manifest.json"];

/// The folder `conformance/samples/` of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/samples")
}

/// The path of `file`, given below `conformance/samples/` or `testdata/`.
pub fn path(file: impl AsRef<Path>) -> PathBuf {
    let file = file.as_ref();
    if SAMPLES.iter().any(|folder| file.starts_with(folder)) {
        return root().join(file);
    }
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(file)
}

/// The content of `file`, given as [`path`] takes it.
///
/// # Errors
///
/// If it cannot be read; the message has its name.
pub fn read(file: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path(file);
    fs::read(&path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_is_there_once_and_in_order() {
        let manifest = Manifest::load().unwrap();
        assert!(manifest.fixtures.is_sorted_by(|a, b| a.file < b.file));
        for fixture in &manifest.fixtures {
            assert!(!fixture.read().unwrap().is_empty(), "{}", fixture.file);
            assert_eq!(fixture.sha256.len(), 64, "{}", fixture.file);
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read("no/such/file").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("no/such/file"));
    }

    #[test]
    fn holds_compares_size_and_digest() {
        let fixture = Fixture {
            file: String::new(),
            format: Format::Cframe,
            program: String::new(),
            version: String::new(),
            command: String::new(),
            about: String::new(),
            nbytes: 3,
            sha256: sha256_hex(b"abc"),
        };
        assert!(fixture.holds(b"abc"));
        assert!(!fixture.holds(b"abd"));
    }
}
