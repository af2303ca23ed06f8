//! Measures CPU milliseconds of reading arrays of 4000 x 5000 numbers of 32 bits, as a whole and 20
//! rows: `zarrs-blosc-bench FOLDER`. Prints name, whole, rows and a sum of the numbers for each
//! array.

#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use zarrs::array::{Array, ArraySubset};
use zarrs::filesystem::FilesystemStore;

#[cfg(any(
    all(feature = "c-blosc", feature = "ours"),
    not(any(feature = "c-blosc", feature = "ours"))
))]
compile_error!("one of the features c-blosc and ours");

/// Number of reads of each part; the fastest counts.
const REPEATS: usize = 7;

/// CPU time of all threads of the process so far (ms).
fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The best time of reading a part, and the sum of the bits of its numbers.
fn measure(
    array: &Array<FilesystemStore>,
    part: &ArraySubset,
) -> Result<(f64, u64), Box<dyn Error>> {
    let (mut best, mut sum) = (f64::INFINITY, 0);
    for _ in 0..REPEATS {
        let before = cpu_ms();
        let found: Vec<f32> = array.retrieve_array_subset(part)?;
        best = best.min(cpu_ms() - before);
        sum =
            found.iter().fold(0, |sum: u64, item| sum.wrapping_mul(31) + u64::from(item.to_bits()));
    }
    Ok((best, sum))
}

fn main() -> Result<(), Box<dyn Error>> {
    #[cfg(feature = "ours")]
    zarrs_blosc::register();
    let folder = std::env::args().nth(1).ok_or("name a folder of arrays")?;
    let store = Arc::new(FilesystemStore::new(&folder)?);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    for name in names {
        let array = Array::open(Arc::clone(&store), &format!("/{name}"))?;
        // Rows in the middle of their chunks.
        let rows = ArraySubset::new_with_ranges(&[2240..2260, 0..5000]);
        let (whole, whole_sum) = measure(&array, &array.subset_all())?;
        let (part, part_sum) = measure(&array, &rows)?;
        println!("{name}\t{whole:.1}\t{part:.2}\t{whole_sum:x}-{part_sum:x}");
    }
    Ok(())
}
