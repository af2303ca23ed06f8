//! The data sets: typical contents of such files, each made from a seed.

use std::{fs, path::Path};

use blosc_testdata::data::XorShift32;

/// Bytes and the size of the items in them.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) typesize: usize,
    pub(crate) bytes: Vec<u8>,
}

/// Every set, `nbytes` long. The text comes from the sources below `root`.
pub(crate) fn all(root: &Path, nbytes: usize) -> std::io::Result<Vec<Set>> {
    let set = |name, typesize, bytes| Set { name, typesize, bytes };
    Ok(vec![
        set("f64_linspace", 8, linspace(nbytes)),
        set("f32_field", 4, field(nbytes)),
        set("i32_walk", 4, walk(nbytes)),
        set("u8_text", 1, text(root, nbytes)?),
        set("i64_time", 8, times(nbytes)),
        set("random", 4, noise(nbytes)),
        set("zeros", 8, vec![0; nbytes]),
        set("sparse_f64", 8, sparse(nbytes)),
    ])
}

/// 0 to 100 in even steps.
fn linspace(nbytes: usize) -> Vec<u8> {
    let n = count(nbytes / 8);
    (0..n).flat_map(|i| (100.0 * f64::from(i) / f64::from(n - 1)).to_le_bytes()).collect()
}

/// Rows of 4096 points: a sum of sines of amplitude 250 with noise of 0.05.
#[expect(clippy::cast_possible_truncation, reason = "single precision is what is wanted")]
fn field(nbytes: usize) -> Vec<u8> {
    let mut rng = XorShift32::default();
    let value = |i: u32| {
        let (x, y) = (f64::from(i % 4096) / 4096.0, f64::from(i / 4096) / 4096.0);
        let waves =
            (7.0 * x + 3.0 * y).sin() + (23.0 * x - 11.0 * y).sin() * 0.5 + (41.0 * y).sin() * 0.25;
        (143.0 * waves + 0.05 * normal(&mut rng)) as f32
    };
    (0..count(nbytes / 4)).map(value).flat_map(f32::to_le_bytes).collect()
}

/// Steps of -10 to 10.
fn walk(nbytes: usize) -> Vec<u8> {
    let mut rng = XorShift32::default();
    let mut at = 0_i32;
    let step = |_| {
        at += i32::try_from(rng.next_hi() % 21).unwrap_or_default() - 10;
        at.to_le_bytes()
    };
    (0..nbytes / 4).flat_map(step).collect()
}

/// The workspace's sources and documents, one after another, repeatedly.
fn text(root: &Path, nbytes: usize) -> std::io::Result<Vec<u8>> {
    let mut all = Vec::new();
    collect(&root.join("crates"), &mut all)?;
    collect(&root.join("docs"), &mut all)?;
    Ok(all.iter().copied().cycle().take(nbytes).collect())
}

fn collect(folder: &Path, all: &mut Vec<u8>) -> std::io::Result<()> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, all)?;
        } else if path.extension().is_some_and(|end| end == "rs" || end == "md") {
            all.extend(fs::read(&path)?);
        }
    }
    Ok(())
}

/// Nanoseconds, a millisecond apart, with a jitter of whole microseconds up to 20.
fn times(nbytes: usize) -> Vec<u8> {
    let mut rng = XorShift32::default();
    let start = 1_600_000_000_000_000_000_i64;
    let time =
        |i: u32| start + i64::from(i) * 1_000_000 + i64::from(rng.next_hi() % 41) * 1000 - 20_000;
    (0..count(nbytes / 8)).map(time).flat_map(i64::to_le_bytes).collect()
}

fn noise(nbytes: usize) -> Vec<u8> {
    let mut rng = XorShift32::default();
    (0..nbytes.div_ceil(4)).flat_map(|_| rng.next_u32().to_le_bytes()).take(nbytes).collect()
}

/// One item in 100 is a normal number, all others are 0.
fn sparse(nbytes: usize) -> Vec<u8> {
    let mut rng = XorShift32::default();
    let mut value = || if rng.next_hi() % 100 == 0 { normal(&mut rng) } else { 0.0 };
    (0..nbytes / 8).flat_map(|_| value().to_le_bytes()).collect()
}

/// Roughly normal: the sum of twelve even ones.
fn normal(rng: &mut XorShift32) -> f64 {
    (0..12).map(|_| f64::from(rng.next_u32()) / f64::from(u32::MAX)).sum::<f64>() - 6.0
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
