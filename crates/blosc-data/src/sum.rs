//! Hashes of content: equal values have equal hashes in all formats.
//!
//! Arrays are hashed in C order, tables as their rows in structured arrays of NumPy.

use blosc_dtype::text::hex;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use xxhash_rust::xxh3::Xxh3;

use crate::Budget;
use crate::content::Content;
use crate::error::{Error, Result};

/// The hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Algorithm {
    /// As `sha256sum` does.
    Sha256,
    /// As `xxh64sum -H3` does: fast, but without protection against forgery.
    Xxh3,
}

/// The hash of some content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The format of the first content; `empty` without content.
    pub format: &'static str,
    /// The hash function.
    pub algorithm: Algorithm,
    /// Bytes of the content.
    pub nbytes: u64,
    /// The hash in hexadecimal digits.
    pub sum: String,
}

/// The hash of one content. `progress` gets the number of bytes that are done.
///
/// ```
/// use blosc_data::{Budget, OpenOptions, content, sum};
///
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("abc.b2frame");
/// std::fs::write(&path, b2frame::to_cframe(b"abc", &b2frame::FrameParams::default())?)?;
/// let abc = content::of_file(&path, &OpenOptions::default())?;
/// let found = sum::sum(&abc, sum::Algorithm::Xxh3, &Budget::default(), &mut |_| ())?;
/// assert_eq!((found.nbytes, found.sum.as_str()), (3, "78af5f94892f3950"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`Sum::add`].
pub fn sum(
    content: &Content,
    algorithm: Algorithm,
    budget: &Budget,
    progress: &mut dyn FnMut(u64),
) -> Result<Report> {
    let mut sum = Sum::new(algorithm);
    sum.add(content, budget, progress)?;
    Ok(sum.finish())
}

/// The hash of several contents in a row, in progress.
pub struct Sum {
    algorithm: Algorithm,
    hasher: Hasher,
    format: Option<&'static str>,
    nbytes: u64,
}

enum Hasher {
    Sha256(Sha256),
    Xxh3(Box<Xxh3>),
}

impl core::fmt::Debug for Sum {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut fields = f.debug_struct("Sum");
        fields.field("algorithm", &self.algorithm).field("nbytes", &self.nbytes);
        fields.finish_non_exhaustive()
    }
}

impl Sum {
    /// The hash of no content.
    #[must_use]
    pub fn new(algorithm: Algorithm) -> Self {
        let hasher = match algorithm {
            Algorithm::Sha256 => Hasher::Sha256(Sha256::new()),
            Algorithm::Xxh3 => Hasher::Xxh3(Box::new(Xxh3::new())),
        };
        Self { algorithm, hasher, format: None, nbytes: 0 }
    }

    /// Adds a content, within the memory of `budget`.
    ///
    /// # Errors
    ///
    /// Content that cannot be read.
    pub fn add(
        &mut self,
        content: &Content,
        budget: &Budget,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        self.format.get_or_insert(content.name());
        content.in_c_order(budget, budget.max_memory / 4, &mut |bytes| {
            self.nbytes = self.nbytes.saturating_add(bytes.len() as u64);
            match &mut self.hasher {
                Hasher::Sha256(hasher) => hasher.update(bytes),
                Hasher::Xxh3(hasher) => hasher.update(bytes),
            }
            progress(bytes.len() as u64);
            Ok::<(), Error>(())
        })
    }

    /// The hash of all contents so far.
    #[must_use]
    pub fn finish(self) -> Report {
        let sum = match self.hasher {
            Hasher::Sha256(hasher) => hex(&hasher.finalize(), ""),
            Hasher::Xxh3(hasher) => format!("{:016x}", hasher.digest()),
        };
        let (algorithm, nbytes) = (self.algorithm, self.nbytes);
        Report { format: self.format.unwrap_or("empty"), algorithm, nbytes, sum }
    }
}

/// A line of a list of hashes, as `sha256sum` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The hash function, from the number of digits.
    pub algorithm: Algorithm,
    /// The hash in hexadecimal digits.
    pub sum: &'a str,
    /// The name of the file.
    pub name: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Parses a line without its line break; `None` for other lines.
    #[must_use]
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let end = line.iter().position(|byte| *byte == b' ')?;
        let (sum, name) = line.split_at_checked(end)?;
        let sum = core::str::from_utf8(sum).ok()?;
        let name = name.strip_prefix(b"  ").or_else(|| name.strip_prefix(b" *"))?;
        let algorithm = match sum.len() {
            64 => Algorithm::Sha256,
            16 => Algorithm::Xxh3,
            _ => return None,
        };
        let is_hex = sum.bytes().all(|digit| digit.is_ascii_hexdigit());
        (is_hex && !name.is_empty()).then_some(Self { algorithm, sum, name })
    }
}
