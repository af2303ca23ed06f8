//! The default size of an item.
//!
//! The sources are, in this order: the header of a `.npy` file, an extension that names a type
//! (`.f32`, `.i16`, ...), the data. The guess from data compresses a sample with shuffle and LZ4
//! for every candidate; the smallest result wins. A larger size must win by more than 2 %, since it
//! costs time and noise would decide otherwise. Text and other bytes without structure give 1.

use std::path::Path;

use blosc_chunk::{CParams, CodecId, Encoder, Level, Pipeline, max_compressed_len};
use blosc_dtype::{Dtype, npy::NpyHeader};

/// Bytes of the sample for the guess.
pub const SAMPLE: usize = 256 << 10;

/// Item sizes that are tried.
const CANDIDATES: [u8; 5] = [1, 2, 4, 8, 16];

/// The origin of an item size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evidence {
    /// The header of a NumPy file.
    Npy,
    /// The extension of the name.
    Extension,
    /// Trials on the first bytes of the data.
    Data,
}

impl Evidence {
    /// The words for `-v`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Npy => "from the .npy header",
            Self::Extension => "from the name",
            Self::Data => "guessed from the data",
        }
    }
}

/// The item size of data that start with `sample` and are named `name`; `len` is their length, if
/// known. The guess divides the length: otherwise data could not be appended.
#[must_use]
pub fn find(name: Option<&Path>, sample: &[u8], len: Option<u64>) -> (u8, Evidence) {
    Guess::default().find(name, sample, len)
}

/// Guesses item sizes, with encoders that are kept for a run over many small files.
#[derive(Debug, Default)]
pub struct Guess {
    /// An encoder for each candidate.
    encoders: [Option<Encoder>; CANDIDATES.len()],
    chunk: Vec<u8>,
}

/// The longest sample after which encoders are kept: their buffers are of that length (bytes).
const KEPT: usize = 64 << 10;

impl Guess {
    /// As [`find`].
    pub fn find(&mut self, name: Option<&Path>, sample: &[u8], len: Option<u64>) -> (u8, Evidence) {
        let by_name = || Some((of_extension(name?)?, Evidence::Extension));
        let by_header = of_npy(sample).map(|typesize| (typesize, Evidence::Npy));
        by_header.or_else(by_name).unwrap_or_else(|| (self.of_data(sample, len), Evidence::Data))
    }

    /// The candidate with the smallest compressed sample.
    fn of_data(&mut self, sample: &[u8], len: Option<u64>) -> u8 {
        // All candidates get the same bytes, cut to whole items.
        let sample = sample.get(..SAMPLE).unwrap_or(sample);
        let sample = &sample[..sample.len() - sample.len() % 16];
        let mut best: Option<(usize, u8)> = None;
        let fits = |typesize: u8| len.is_none_or(|len| len.is_multiple_of(u64::from(typesize)));
        self.chunk.resize(max_compressed_len(sample.len()), 0);
        for (typesize, encoder) in CANDIDATES.into_iter().zip(&mut self.encoders) {
            let cbytes = || trial(encoder, sample, typesize, &mut self.chunk);
            let Some(cbytes) = fits(typesize).then(cbytes).flatten() else { continue };
            // The candidate must be more than 2 % smaller than the best so far.
            if best.is_none_or(|(least, _)| cbytes.saturating_mul(50) < least.saturating_mul(49)) {
                best = Some((cbytes, typesize));
            }
        }
        best.map_or(1, |(_, typesize)| typesize)
    }
}

/// The item type in the extension of a name: `x.f32`, `x.u16`.
#[must_use]
pub fn dtype_of_name(name: &Path) -> Option<Dtype> {
    let extension = name.extension()?.to_str()?.to_ascii_lowercase();
    let itemsize = of_extension(name)?;
    let kind = extension.chars().next()?;
    let is_numeric = extension.len() > 1 && extension[1..].bytes().all(|b| b.is_ascii_digit());
    if !is_numeric {
        return None;
    }
    let order = if cfg!(target_endian = "big") { '>' } else { '<' };
    Dtype::parse(&format!("{order}{kind}{itemsize}")).ok()
}

/// `x.f32` has items of 4 bytes.
fn of_extension(name: &Path) -> Option<u8> {
    let extension = name.extension()?.to_str()?.to_ascii_lowercase();
    EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, typesize)| *typesize)
}

/// The item size in the header of a `.npy` file; `None` for structured types and other files, which
/// are guessed.
fn of_npy(sample: &[u8]) -> Option<u8> {
    let header = NpyHeader::parse(sample).ok()?;
    u8::try_from(header.dtype.scalar()?.itemsize()).ok().filter(|itemsize| *itemsize > 0)
}

/// Bytes of the compressed sample in `chunk`, with items of `typesize` bytes.
fn trial(
    kept: &mut Option<Encoder>,
    sample: &[u8],
    typesize: u8,
    chunk: &mut [u8],
) -> Option<usize> {
    let params = || {
        CParams::default()
            .codec(CodecId::LZ4)
            .clevel(Level::DEFAULT)
            .typesize(typesize.into())
            .filters(Pipeline::SHUFFLE)
    };
    let mut encoder = kept.take().or_else(|| Encoder::new(params()).ok())?;
    let cbytes = encoder.encode_into(sample, chunk).ok();
    *kept = Some(encoder).filter(|_| sample.len() <= KEPT);
    cbytes
}

const EXTENSIONS: [(&str, u8); 20] = [
    ("f16", 2),
    ("f32", 4),
    ("f64", 8),
    ("c64", 8),
    ("c128", 16),
    ("i8", 1),
    ("i16", 2),
    ("i32", 4),
    ("i64", 8),
    ("u8", 1),
    ("u16", 2),
    ("u32", 4),
    ("u64", 8),
    ("txt", 1),
    ("csv", 1),
    ("json", 1),
    ("log", 1),
    ("md", 1),
    ("xml", 1),
    ("html", 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn find_in(name: &str, sample: &[u8]) -> (u8, Evidence) {
        find(Some(Path::new(name)), sample, None)
    }

    fn of_data(sample: &[u8], len: Option<u64>) -> u8 {
        Guess::default().of_data(sample, len)
    }

    fn guess(sample: &[u8]) -> u8 {
        of_data(sample, None)
    }

    #[test]
    fn earlier_samples_do_not_decide() {
        let walks =
            [2, 4, 8].map(|size| walk(5_000, |v| v.to_le_bytes().repeat(2)[..size].to_vec()));
        let mut kept = Guess::default();
        for sample in walks.iter().chain(walks.iter().rev()) {
            for len in [1000, 100, 10_000] {
                assert_eq!(kept.of_data(&sample[..len], None), guess(&sample[..len]));
            }
        }
    }

    #[test]
    fn a_guess_divides_the_length() {
        let data = walk(30_000, |v| v.to_le_bytes().to_vec());
        assert_eq!(of_data(&data, Some(120_000)), 4);
        assert_eq!(of_data(&data, Some(120_001)), 1);
        assert_eq!(of_data(&data, Some(120_002)), 2);
    }

    #[test]
    fn extensions_name_types() {
        assert_eq!(find_in("air.f32", b""), (4, Evidence::Extension));
        assert_eq!(find_in("AIR.I16", b""), (2, Evidence::Extension));
        assert_eq!(find_in("notes.txt", b""), (1, Evidence::Extension));
        assert_eq!(find_in("air.dat", b""), (1, Evidence::Data));
    }

    #[test]
    fn npy_headers_name_types() {
        let bytes =
            |descr: &str| NpyHeader::new(descr.parse().unwrap(), vec![3]).to_bytes().unwrap();
        assert_eq!(find_in("x.f32", &bytes("'<f8'")), (8, Evidence::Npy));
        assert_eq!(find_in("x", &bytes("'|u1'")), (1, Evidence::Npy));
        assert_eq!(find_in("x", &bytes("'<U5'")), (20, Evidence::Npy));
        assert_eq!(find_in("x", &bytes("'<M8[ns]'")), (8, Evidence::Npy));
        assert_eq!(of_npy(&bytes("[('a', '<i4')]")), None);
        assert_eq!(of_npy(&bytes("'|S0'")), None);
        assert_eq!(of_npy(&bytes("'|S300'")), None);
    }

    /// Items in small steps, like measurements.
    fn walk(nitems: usize, mut item: impl FnMut(u32) -> Vec<u8>) -> Vec<u8> {
        let mut random = blosc_testdata::data::XorShift32::new(7);
        let mut value = 1u32 << 20;
        let mut step = || {
            value = value.wrapping_add(random.next_u32() >> 26).wrapping_sub(32);
            value
        };
        (0..nitems).flat_map(|_| item(step())).collect()
    }

    #[test]
    fn numbers_are_recognised_by_the_gain_of_shuffle() {
        assert_eq!(guess(&walk(30_000, |v| v.to_le_bytes().to_vec())), 4);
        assert_eq!(guess(&walk(30_000, |v| u64::from(v).to_le_bytes().to_vec())), 8);
        assert_eq!(guess(&walk(30_000, |v| f64::from(v).sqrt().to_le_bytes().to_vec())), 8);
        assert_eq!(
            guess(&walk(30_000, |v| u16::try_from(v >> 8 & 0xffff)
                .unwrap()
                .to_le_bytes()
                .to_vec())),
            2
        );
    }

    #[test]
    fn text_random_and_empty_data_are_bytes() {
        let text = "the quick brown fox jumps over the lazy dog; ".repeat(500);
        assert_eq!(guess(text.as_bytes()), 1);
        let mut random = blosc_testdata::data::XorShift32::new(3);
        let noise: Vec<u8> = (0..20_000).flat_map(|_| random.next_u32().to_le_bytes()).collect();
        assert_eq!(guess(&noise), 1);
        assert_eq!(guess(b""), 1);
        assert_eq!(guess(b"abc"), 1);
    }
}
